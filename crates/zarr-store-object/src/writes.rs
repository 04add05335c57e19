//! Which puts led to a value.
//!
//! The answer to a conditional put may be lost after the value was set. Sent again, the put is refused, as if another had set the
//! value. So each conditional put writes an id of its own, drawn by chance, into the metadata of the object, before the ids of the
//! puts that led to the value which it replaces. By these a look at the object tells whether the put took effect, also after others
//! have built on it. The end of an upload in parts is found out about in the same way.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::SystemTime;

use zarr_store::Precondition;

/// The name of the ids in the metadata of an object. Names with other characters than letters are refused by some services, and
/// headers of them dropped by some proxies.
pub(crate) const NAME: &str = "zarrwrites";

/// Maximum number of ids of an object. They take 1664 bytes, where services keep 2 KB.
const MOST: usize = 128;

/// Number of digits of an id: enough that no two ids are the same.
const DIGITS: usize = 12;

/// Mask of the 48 bits of an id.
const BITS: u64 = (1 << (4 * DIGITS)) - 1;

/// Id of the previous value in the first of several puts to a key, a put that requires that there is no value.
const NONE: &str = "0";

/// The ids of a conditional put, or of an upload in parts.
#[derive(Debug)]
pub(crate) struct Put {
    /// Its own, and those before, newest first, with commas in between.
    text: String,
    own: usize,
    /// Id that stands for the value that the put replaces where it does not know the ids of that value.
    base: String,
}

/// Fate of a put, as the ids of the value that is there say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It set this value.
    Newest,
    /// It set a value on which others have built.
    BuiltOn,
    /// It had no effect: the value that it was to replace led to this one without it.
    Never,
    /// Nothing says.
    Unknown,
}

impl Put {
    /// A put on this condition, on a value that has these ids, if they are known. Without a condition it has an id of its own alone.
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

    /// The ids as an object has them.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Its own id.
    pub(crate) fn own(&self) -> &str {
        &self.text[..self.own]
    }

    /// Returns the fate of the put by the ids of the value that is there.
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

/// Anybody may write into the metadata of an object.
fn is_id(id: &str) -> bool {
    (1..=DIGITS).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The same in all processes (FNV-1a).
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
