//! Keys of chunks: `PATH/c/0/1`.

use smallvec::SmallVec;

/// The position of a chunk in the grid, or the beginning of one.
pub(crate) type Index = SmallVec<[u32; 6]>;

/// Most dimensions that an array may have.
pub(crate) const MAX_RANK: usize = 1024;

/// The path of the array, empty for the root, and the position of the chunk; `None` if this is the key of no chunk. Of a prefix without its
/// last slash it gives the beginning of the positions under it.
pub(crate) fn parse(key: &str) -> Option<(&str, Index)> {
    let (mut index, mut rest) = (Index::new(), key);
    loop {
        let (above, name) = rest.rsplit_once('/').unwrap_or(("", rest));
        if name == "c" {
            index.reverse();
            return Some((above, index));
        }
        if index.len() == MAX_RANK || rest.len() == name.len() {
            return None;
        }
        index.push(number(name)?);
        rest = above;
    }
}

/// A number as it stands in keys: one that could be written otherwise is none.
fn number(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

/// The key of a chunk, or a prefix of keys without its last slash.
pub(crate) fn text(path: &str, index: impl IntoIterator<Item = u32>) -> String {
    let mut text = if path.is_empty() { "c".to_owned() } else { format!("{path}/c") };
    for number in index {
        text.push('/');
        text.push_str(&number.to_string());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_chunks() {
        for (key, path, index) in [
            ("c", "", &[][..]),
            ("a/c", "a", &[]),
            ("c/0", "", &[0]),
            ("a/c/12/0", "a", &[12, 0]),
            ("c/0/c/4294967295", "c/0", &[u32::MAX]),
            ("a/c/c/1", "a/c", &[1]),
        ] {
            let (found, at) = parse(key).expect("a chunk");
            assert_eq!((found, &at[..]), (path, index), "{key}");
            assert_eq!(text(path, at), key);
        }
        for key in [
            "",
            "0",
            "a/0",
            "a/c/",
            "a/c/00",
            "a/c/+1",
            "a/c/-1",
            "a/c/4294967296",
            "a/c/0/x",
            "d/1",
            "ac/1",
            "zarr.json",
        ] {
            assert_eq!(parse(key), None, "{key}");
        }
        assert_eq!(parse(&text("a", vec![1; MAX_RANK])).map(|(_, index)| index.len()), Some(MAX_RANK));
        assert_eq!(parse(&text("a", vec![1; MAX_RANK + 1])), None);
    }
}
