//! Keys of chunks: `PATH/c/0/1`, the path of the array and the index of the chunk in the grid.

use smallvec::SmallVec;

/// Index of a chunk in the grid, one number for each dimension, or the first numbers of an index.
pub(crate) type Index = SmallVec<[u32; 6]>;

/// Maximum number of dimensions of an array.
pub(crate) const MAX_RANK: usize = 1024;

/// Splits the key of a chunk into the path of the array, empty for the root, and the index of the chunk; `None` if `key` is not the key of
/// a chunk. For a prefix of keys without its last slash, the index has the first numbers of the indices of the chunks under the prefix.
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

/// Returns the number that a part of a key spells; `None` for other spellings, as with a sign or leading zeros.
fn number(text: &str) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

/// Returns the key of a chunk, or a prefix of keys without its last slash if `index` has fewer numbers than the array has dimensions.
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
