//! Keys: names of values.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{Error, KeyFault, Prefix};

/// Name of a value in a store: segments joined by `/`, such as `g/a/c/0/1`.
///
/// A key cannot lead out of a store: it is not empty, has no empty segment (so no slash at the start or end), no segment
/// `.` or `..` (`\` counts as a separator, too), no segment that begins with `\` or is a drive (`C:`), and no NUL.
/// Names that merely begin with dots (`.zarray`) are valid. Keys are ordered byte by byte, like strings. Clones share
/// the string.
///
/// # Example
/// ```
/// # use zarr_store::Key;
/// let key = Key::new("g/a/.zarray")?;
/// assert_eq!(key.name(), ".zarray");
/// assert_eq!(key.parent().as_str(), "g/a/");
/// assert!(Key::new("g/../secret").is_err());
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// Parses `text` as a key.
    ///
    /// # Errors
    /// [`Error::InvalidKey`] if `text` is no key, with the reason.
    pub fn new(text: &str) -> Result<Self, Error> {
        match Self::fault(text) {
            None => Ok(Self(Arc::from(text))),
            Some(fault) => Err(Error::InvalidKey { text: text.to_owned(), fault }),
        }
    }

    /// Returns a key from a string that is known to be valid.
    pub(crate) fn trusted(text: String) -> Self {
        debug_assert!(Self::fault(&text).is_none(), "{text:?}");
        Self(Arc::from(text))
    }

    /// Returns the key as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last segment.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// Returns the prefix of the key: everything before the last segment.
    #[must_use]
    pub fn parent(&self) -> Prefix {
        let end = self.0.rfind('/').map_or(0, |at| at + 1);
        Prefix::trusted(&self.0[..end])
    }

    /// Returns the reason why `text` is no key; `None` if it is a key.
    #[must_use]
    pub fn fault(text: &str) -> Option<KeyFault> {
        if is_plain(text) {
            return None;
        }
        if text.is_empty() {
            return Some(KeyFault::Empty);
        }
        if text.starts_with('/') {
            return Some(KeyFault::Absolute);
        }
        if text.contains('\0') {
            return Some(KeyFault::Nul);
        }
        text.split('/').find_map(segment_fault)
    }
}

/// Whether a fast check finds `text` to be a valid key, as nearly all keys of chunks are. `false` means that further checks are needed.
fn is_plain(text: &str) -> bool {
    let mut before = b'/';
    for &byte in text.as_bytes() {
        if matches!(byte, 0 | b'\\' | b':') || (before == b'/' && matches!(byte, b'/' | b'.')) {
            return false;
        }
        before = byte;
    }
    before != b'/'
}

fn segment_fault(segment: &str) -> Option<KeyFault> {
    if segment.is_empty() {
        return Some(KeyFault::EmptySegment);
    }
    // On Windows a backslash is a separator and `C:` is a drive, wherever they are in a path, so they are checked in
    // each segment.
    let drive = match segment.as_bytes() {
        [letter, b':', rest @ ..] => letter.is_ascii_alphabetic() && matches!(rest.first(), None | Some(b'\\')),
        _ => false,
    };
    if drive || segment.starts_with('\\') {
        return Some(KeyFault::Absolute);
    }
    segment.split('\\').any(|part| part == "." || part == "..").then_some(KeyFault::Relative)
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl AsRef<str> for Key {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}
