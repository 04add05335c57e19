//! Part of a chunk key that follows the prefix of the array.

use std::fmt::Write;
use std::ops::Range;

/// Separator between the numbers of a chunk key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Separator {
    /// `/`
    Slash,
    /// `.`
    Dot,
}

impl Separator {
    fn char(self) -> char {
        match self {
            Self::Slash => '/',
            Self::Dot => '.',
        }
    }
}

/// Form of the chunk keys of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkKeyForm {
    /// Chunk key encoding `default` of Zarr v3: `c/0/1`, and `c` for an array without dimensions.
    Default(Separator),
    /// Chunk key encoding `v2`: `0/1`, and `0` for an array without dimensions.
    V2(Separator),
}

/// Chunks whose keys begin with a prefix.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Subtree {
    /// Numbers of the chunks in C order.
    pub(crate) chunks: Range<u64>,
    /// Kind of the names directly under the prefix.
    pub(crate) level: Level,
}

/// Kind of the names directly under a prefix.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// The names are keys of chunks.
    Chunks,
    /// The only name is the folder `c`.
    Head,
    /// The names are folders, each with this number of chunks.
    Folders(u64),
}

impl ChunkKeyForm {
    fn separator(self) -> Separator {
        match self {
            Self::Default(separator) | Self::V2(separator) => separator,
        }
    }

    /// Returns the number in C order of the chunk whose key is the prefix of the array and `key`. `counts` is the number of chunks along
    /// each axis. `None` if the array has no chunk of this key.
    #[must_use]
    pub fn index(self, key: &str, counts: &[u64]) -> Option<u64> {
        let separator = self.separator().char();
        let numbers = match self {
            Self::Default(_) if counts.is_empty() => return (key == "c").then_some(0),
            Self::V2(_) if counts.is_empty() => return (key == "0").then_some(0),
            Self::Default(_) => key.strip_prefix('c')?.strip_prefix(separator)?,
            Self::V2(_) => key,
        };
        let (mut index, mut counts) = (0_u64, counts.iter());
        for text in numbers.split(separator) {
            let count = *counts.next()?;
            index = index.checked_mul(count)?.checked_add(number(text).filter(|number| *number < count)?)?;
        }
        counts.next().is_none().then_some(index)
    }

    /// Appends to `key` the part of the key of the chunk `index` that follows the prefix of the array.
    pub(crate) fn write(self, index: u64, counts: &[u64], key: &mut String) {
        let separator = self.separator().char();
        match self {
            Self::Default(_) => key.push('c'),
            Self::V2(_) if counts.is_empty() => key.push('0'),
            Self::V2(_) => {}
        }
        let mut stride: u64 = counts.iter().product();
        for (axis, count) in counts.iter().enumerate() {
            if axis > 0 || matches!(self, Self::Default(_)) {
                key.push(separator);
            }
            stride = stride.checked_div(*count).unwrap_or(0);
            // Writing to a string does not fail.
            let _ = write!(key, "{}", index.checked_div(stride).and_then(|at| at.checked_rem(*count)).unwrap_or(0));
        }
    }

    /// Returns the chunks of an array whose keys, behind the prefix of the array, begin with `folder`, which is empty or ends with a slash.
    /// `None` if the array has no such folder.
    pub(crate) fn subtree(self, folder: &str, counts: &[u64]) -> Option<Subtree> {
        let all = 0..counts.iter().product();
        let has_folders = self.separator() == Separator::Slash && !counts.is_empty();
        let mut rest = folder;
        if let Self::Default(_) = self {
            if !has_folders {
                return folder.is_empty().then_some(Subtree { chunks: all, level: Level::Chunks });
            }
            if folder.is_empty() {
                return Some(Subtree { chunks: all, level: Level::Head });
            }
            rest = folder.strip_prefix("c/")?;
        }
        if !has_folders {
            return folder.is_empty().then_some(Subtree { chunks: all, level: Level::Chunks });
        }
        let (mut first, mut stride, mut counts) = (0, all.end, counts.iter());
        for text in rest.split_terminator('/') {
            let count = *counts.next()?;
            let at = number(text).filter(|at| *at < count)?;
            stride /= count;
            first += at * stride;
        }
        let level = match counts.as_slice() {
            [] => return None,
            [_] => Level::Chunks,
            [count, ..] => Level::Folders(stride.checked_div(*count).unwrap_or(0)),
        };
        Some(Subtree { chunks: first..first + stride, level })
    }
}

/// Returns the number that a part of a key spells; `None` for other spellings, as with a sign or leading zeros.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMS: [ChunkKeyForm; 4] = [
        ChunkKeyForm::Default(Separator::Slash),
        ChunkKeyForm::Default(Separator::Dot),
        ChunkKeyForm::V2(Separator::Slash),
        ChunkKeyForm::V2(Separator::Dot),
    ];

    #[test]
    fn keys_and_numbers_are_each_other_s_inverse() {
        for (counts, last) in [(&[][..], 0), (&[3], 2), (&[2, 3, 4], 23), (&[1, 1], 0)] {
            for form in FORMS {
                for index in 0..=last {
                    let mut key = String::new();
                    form.write(index, counts, &mut key);
                    assert_eq!(form.index(&key, counts), Some(index), "{form:?} {key}");
                }
            }
        }
        let key = |form: ChunkKeyForm, counts: &[u64], index| {
            let mut key = String::new();
            form.write(index, counts, &mut key);
            key
        };
        assert_eq!(FORMS.map(|form| key(form, &[2, 3, 4], 23)), ["c/1/2/3", "c.1.2.3", "1/2/3", "1.2.3"]);
        assert_eq!(FORMS.map(|form| key(form, &[], 0)), ["c", "c", "0", "0"]);
    }

    #[test]
    fn other_spellings_are_no_keys() {
        for key in
            ["c/1/02", "c/1", "c/1/2/0", "c/1/3", "c/2/0", "c/+1/0", "c/1/", "c1/2", "c/ 1/2", "1/2", "", "c", "c/1/-0"]
        {
            assert_eq!(FORMS[0].index(key, &[2, 3]), None, "{key}");
        }
        assert_eq!(FORMS[3].index("18446744073709551616", &[2]), None);
    }
}
