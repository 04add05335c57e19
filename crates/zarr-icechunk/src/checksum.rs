//! Checks that a file outside of the repository is still the one that a chunk was referred to in.

use std::time::SystemTime;

use zarr_store::{Fetched, Version};

/// State of a file outside of the repository when the reference to a chunk in it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Checksum {
    /// ETag of the file.
    Etag(String),
    /// Time in seconds since 1970 after which the file has not changed.
    Modified(u32),
}

/// Reason why a file is not known to be in the state of a [`Checksum`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mismatch {
    /// The file has another ETag or was changed later, with what was found and what was expected.
    Changed { found: String, expected: String },
    /// The store of the file does not tell what is compared, with what the reference has.
    Unknown(String),
}

impl Checksum {
    /// Compares the state of the file that a get found.
    pub(crate) fn check(&self, fetched: &Fetched) -> Result<(), Mismatch> {
        let expected = self.to_string();
        let found = match self {
            Self::Etag(etag) => {
                let told = fetched.etag.as_deref().map(|tag| unquoted(tag).to_owned());
                match told.or_else(|| fetched.version.as_ref().and_then(etag_of)) {
                    Some(found) if found == unquoted(etag) => return Ok(()),
                    found => found.map(|found| Self::Etag(found).to_string()),
                }
            }
            Self::Modified(seconds) => {
                // References have whole seconds.
                let since = |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |it| it.as_secs());
                match fetched.modified.map(since) {
                    Some(found) if found <= (*seconds).into() => return Ok(()),
                    found => found.map(|found| format!("was changed at {}", utc(found))),
                }
            }
        };
        Err(match found {
            Some(found) => Mismatch::Changed { found, expected },
            None => Mismatch::Unknown(expected),
        })
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Etag(etag) => write!(f, "has ETag {:?}", unquoted(etag)),
            Self::Modified(seconds) => write!(f, "was not changed after {}", utc((*seconds).into())),
        }
    }
}

/// Returns an ETag without its quotation marks, if it has them: some services write none.
fn unquoted(tag: &str) -> &str {
    tag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(tag)
}

/// Returns the ETag of a version without its quotation marks: that of a server, if it is a strong one, or that which Icechunk gives a file
/// of this machine; `None` if the version is neither.
fn etag_of(version: &Version) -> Option<String> {
    let text = version.as_str();
    if text.starts_with('"') {
        return Some(unquoted(text).to_owned());
    }
    // Inode, nanoseconds and length of the file, of which Icechunk has microseconds.
    let numbers: Option<Vec<u128>> = text.split('-').map(|part| u128::from_str_radix(part, 16).ok()).collect();
    let [inode, nanoseconds, length] = numbers?[..] else { return None };
    Some(format!("{inode:x}-{:x}-{length:x}", nanoseconds / 1000))
}

/// Shows a time in seconds since 1970, as 2006-04-16T12:00:00Z.
fn utc(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Days since March of the year 0, in eras of 400 years (proleptic Gregorian calendar).
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn fetched(version: Option<&str>, modified: Option<u64>) -> Fetched {
        let mut fetched = Fetched::new();
        fetched.version = version.map(Version::new);
        fetched.modified = modified.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        fetched
    }

    #[test]
    fn states_of_files_are_compared() {
        let etag = Checksum::Etag("\"abc\"".to_owned());
        let changed = |found: &str, expected: &str| {
            Err(Mismatch::Changed { found: found.to_owned(), expected: expected.to_owned() })
        };
        let unknown = |expected: &str| Err(Mismatch::Unknown(expected.to_owned()));
        assert_eq!(etag.check(&fetched(Some("\"abc\""), None)), Ok(()));
        assert_eq!(etag.check(&fetched(Some("\"abd\""), None)), changed("has ETag \"abd\"", "has ETag \"abc\""));
        for version in [None, Some("17"), Some("Sun, 06 Nov 1994 08:49:37 GMT"), Some("1-2-x"), Some("1-2")] {
            assert_eq!(etag.check(&fetched(version, Some(7))), unknown("has ETag \"abc\""));
        }
        // An ETag beside a generation, a weak one, one without quotation marks.
        for (own, expected) in [("\"abc\"", "abc"), ("W/\"abc\"", "W/\"abc\""), ("abc", "\"abc\"")] {
            let mut told = fetched(Some("1700000000000001"), None);
            told.etag = Some(own.into());
            assert_eq!(Checksum::Etag(expected.to_owned()).check(&told), Ok(()), "{own}");
            assert!(Checksum::Etag("abd".to_owned()).check(&told).is_err(), "{own}");
        }
        let local = Checksum::Etag("1f-5f5e100-10".to_owned());
        assert_eq!(local.check(&fetched(Some("1f-174876ebe7-10"), None)), Ok(()));
        let later = changed("has ETag \"1f-5f5e101-10\"", "has ETag \"1f-5f5e100-10\"");
        assert_eq!(local.check(&fetched(Some("1f-174876ebe8-10"), None)), later);
        let time = Checksum::Modified(1_145_188_800);
        assert_eq!(time.check(&fetched(None, Some(1_145_188_800))), Ok(()));
        assert_eq!(time.check(&fetched(None, Some(3))), Ok(()));
        let mut within = fetched(None, None);
        within.modified = Some(SystemTime::UNIX_EPOCH + Duration::from_millis(1_145_188_800_700));
        assert_eq!(time.check(&within), Ok(()), "references have whole seconds");
        let expected = "was not changed after 2006-04-16T12:00:00Z";
        assert_eq!(
            time.check(&fetched(None, Some(1_145_188_801))),
            changed("was changed at 2006-04-16T12:00:01Z", expected)
        );
        assert_eq!(time.check(&fetched(Some("\"abc\""), None)), unknown(expected));
    }

    #[test]
    fn times_are_shown() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (4_294_967_295, "2106-02-07T06:28:15Z"),
        ] {
            assert_eq!(utc(seconds), expected);
        }
    }
}
