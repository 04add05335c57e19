//! Identifiers of the puts that led to a value.
//!
//! The response to a conditional put may be lost after the value was set. If the put is repeated, it is refused, as if another writer
//! had set the value. So each conditional put writes a random identifier into the metadata of the object, before the identifiers of
//! the puts that led to the value which it replaces. A look at the object then tells whether the put took effect, even after other
//! puts. The end of an upload in parts is checked in the same way.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::SystemTime;

use zarr_store::Precondition;

/// Name of the metadata entry with the identifiers. Some services refuse names with characters other than letters, and some proxies drop
/// such headers.
pub(crate) const NAME: &str = "zarrwrites";

/// Greatest number of identifiers of an object. They take 1664 bytes; services store 2 KB.
const MOST: usize = 128;

/// Number of digits of an identifier, enough to make it unique.
const DIGITS: usize = 12;

/// Mask of the 48 bits of an identifier.
const BITS: u64 = (1 << (4 * DIGITS)) - 1;

/// Identifier that stands for a missing value, in a put that requires that there is no value.
const NONE: &str = "0";

/// Identifiers of a conditional put, or of an upload in parts.
#[derive(Debug)]
pub(crate) struct Put {
    /// Identifier of the put and those before it, newest first, separated by commas. `own` is the length of the first.
    text: String,
    own: usize,
    /// Identifier that stands for the replaced value if the identifiers of that value are unknown.
    base: String,
}

/// Fate of a put, according to the identifiers of the current value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The put has set the current value.
    Newest,
    /// The put has set a value that later puts have replaced.
    BuiltOn,
    /// The put had no effect: the current value descends from the value before without it.
    Never,
    /// The identifiers do not tell.
    Unknown,
}

impl Put {
    /// Creates the identifiers of a put with a condition, on a value with the identifiers `before` (`None` if unknown). A put without a
    /// condition only has its own identifier.
    pub(crate) fn new(when: &Precondition, before: Option<&str>) -> Self {
        let chance = RandomState::new().hash_one((SystemTime::now(), std::process::id()));
        let mut text = format!("{:0DIGITS$x}", chance & BITS);
        let own = text.len();
        let base = match when {
            Precondition::Version(version) => format!("{:0DIGITS$x}", hash(version.as_str()) & BITS),
            Precondition::NotExists => NONE.to_owned(),
            Precondition::None => String::new(),
        };
        let before = before.unwrap_or(&base);
        for id in before.split(',').filter(|id| is_id(id)).take(MOST - 1) {
            text.push(',');
            text.push_str(id);
        }
        Self { text, own, base }
    }

    /// Returns the identifiers in the form in which they are stored.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the identifier of the put itself.
    pub(crate) fn own(&self) -> &str {
        &self.text[..self.own]
    }

    /// Returns the fate of the put by the identifiers `found` of the current value.
    pub(crate) fn fate(&self, found: &str) -> Fate {
        let at = |id: &str| found.split(',').position(|other| other == id);
        match at(self.own()) {
            Some(0) => Fate::Newest,
            Some(_) => Fate::BuiltOn,
            None => {
                let mut before = self.text.split(',').nth(1).into_iter().chain([self.base.as_str()]);
                let is_there = before.any(|id| !id.is_empty() && at(id).is_some());
                if is_there { Fate::Never } else { Fate::Unknown }
            }
        }
    }
}

/// Returns whether a string is a valid identifier: anyone may write into the metadata of an object.
fn is_id(id: &str) -> bool {
    (1..=DIGITS).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the FNV-1a hash of a string, which is the same in all processes.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_store::Version;

    #[test]
    fn fates() {
        let (of_none, of_version) = (Precondition::NotExists, Precondition::Version(Version::new("\"e\"")));
        let first = Put::new(&of_none, None);
        let other = Put::new(&of_none, None);
        assert_eq!((first.fate(first.as_str()), first.fate(other.as_str())), (Fate::Newest, Fate::Never));
        assert_eq!(first.fate(""), Fate::Unknown);
        // Two who replace the same value, and one who builds on the second.
        let (a, b) = (Put::new(&of_version, Some(first.as_str())), Put::new(&of_version, Some(first.as_str())));
        let c = Put::new(&of_version, Some(b.as_str()));
        assert_eq!((a.fate(c.as_str()), b.fate(c.as_str()), c.fate(c.as_str())), {
            (Fate::Never, Fate::BuiltOn, Fate::Newest)
        });
        assert_eq!((first.fate(c.as_str()), other.fate(c.as_str())), (Fate::BuiltOn, Fate::Never));
        // A value without ids, or with ids that one of them does not know, by its version.
        let (a, b) = (Put::new(&of_version, None), Put::new(&of_version, None));
        assert_eq!((a.fate(b.as_str()), a.fate(first.as_str())), (Fate::Never, Fate::Unknown));
        assert_eq!(Put::new(&of_version, Some(first.as_str())).fate(a.as_str()), Fate::Never);
    }

    #[test]
    fn a_put_without_a_condition_says_nothing_of_others() {
        let upload = Put::new(&Precondition::None, None);
        let first = Put::new(&Precondition::NotExists, None);
        assert_eq!((upload.as_str(), upload.fate(upload.as_str())), (upload.own(), Fate::Newest));
        // It may have replaced the value of the other.
        assert_eq!((first.fate(upload.as_str()), upload.fate(first.as_str())), (Fate::Unknown, Fate::Unknown));
        assert_eq!(upload.fate(""), Fate::Unknown);
        let on_it = Put::new(&Precondition::Version(Version::new("v")), Some(upload.as_str()));
        assert_eq!(upload.fate(on_it.as_str()), Fate::BuiltOn);
    }

    #[test]
    fn they_are_bounded() {
        let mut last = Put::new(&Precondition::NotExists, None);
        let first = last.own().to_owned();
        for number in 1..300 {
            let put = Put::new(&Precondition::Version(Version::new("v")), Some(last.as_str()));
            assert!(put.as_str().len() <= 13 * MOST && put.as_str().contains(&first) == (number < MOST), "{number}");
            last = put;
        }
        let hostile = format!("{},a\r\nb,{},, ", "f".repeat(4000), "7".repeat(DIGITS));
        assert_eq!(Put::new(&Precondition::NotExists, Some(&hostile)).as_str().len(), 2 * DIGITS + 1);
    }
}
