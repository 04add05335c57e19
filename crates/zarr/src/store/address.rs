//! Addresses of stores.

use std::fmt;
use std::path::{Path, PathBuf};

use zarr_store::Error;

/// Parsed address of a store, returned by [`Schemes::address`](super::Schemes::address). [`zarr::store::open`](super::open) describes the
/// syntax.
///
/// `Display` shows no secrets: neither a user with a password nor a query.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreAddress {
    /// Scheme in lower case; `None` for a path, including one given as `file://`.
    pub(super) scheme: Option<String>,
    pub(super) rest: Rest,
}

/// Part of an address that follows the scheme.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Rest {
    /// No further part, as in `memory:`.
    Nothing,
    /// Path on this machine.
    Path(PathBuf),
    /// Address of another store or file.
    Address(Box<StoreAddress>),
    /// Remainder `authority/path` of a URL; with the query for web addresses.
    Url(String),
}

impl StoreAddress {
    /// Returns the address of a path; the path is not parsed as an address.
    #[must_use]
    pub fn of_path(path: impl Into<PathBuf>) -> Self {
        Self { scheme: None, rest: Rest::Path(path.into()) }
    }

    /// Returns the scheme in lower case, such as `s3`; `None` for a path, including one given as `file:///path`.
    #[must_use]
    pub fn scheme(&self) -> Option<&str> {
        self.scheme.as_deref()
    }

    /// Returns the path on this machine, for addresses that are paths and for addresses like `sqlite:PATH`; otherwise `None`.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.rest {
            Rest::Path(path) => Some(path),
            _ => None,
        }
    }

    /// Returns the address behind the scheme, for addresses like `zip:ADDRESS`; otherwise `None`.
    #[must_use]
    pub fn inner(&self) -> Option<&StoreAddress> {
        match &self.rest {
            Rest::Address(inner) => Some(inner),
            _ => None,
        }
    }

    /// Returns the whole URL of an address with `://`; otherwise `None`. The URL may contain secrets.
    #[must_use]
    pub fn url(&self) -> Option<String> {
        match &self.rest {
            Rest::Url(rest) => Some(format!("{}://{rest}", self.scheme.as_deref().unwrap_or_default())),
            _ => None,
        }
    }

    /// Splits the URL of a file into the address of the store that contains the file, which ends before the name, and the name, which is
    /// the key of the file. `None` if the address is no URL of a file.
    #[must_use]
    pub fn in_store(&self) -> Option<(StoreAddress, String)> {
        let Rest::Url(rest) = &self.rest else { return None };
        let is_web = matches!(self.scheme(), Some("http" | "https"));
        let (plain, query) = match rest.find('?').filter(|_| is_web) {
            Some(at) => rest.split_at(at),
            None => (rest.as_str(), ""),
        };
        let (above, name) = plain.rsplit_once('/').filter(|(above, name)| !above.is_empty() && !name.is_empty())?;
        let name = if is_web { percent_decoded(name)? } else { name.to_owned() };
        // A slash at the end of an address is ignored, so an empty last segment needs a second slash.
        let slash = if above.ends_with('/') { "/" } else { "" };
        Some((Self { scheme: self.scheme.clone(), rest: Rest::Url(format!("{above}{slash}{query}")) }, name))
    }

    /// Splits the address at an `@` in its last segment: the address in front of it, and the string behind it. A path that exists on this
    /// machine is not split. In a URL without a path, an `@` belongs to the host.
    #[cfg(feature = "icechunk")]
    pub(super) fn split_at_sign(&self) -> (StoreAddress, Option<String>) {
        let split = |text: &str| {
            let (before, behind) = text.rsplit_once('@')?;
            (!behind.contains('/')).then(|| (before.to_owned(), behind.to_owned()))
        };
        let (rest, behind) = match &self.rest {
            Rest::Nothing => (Rest::Nothing, None),
            Rest::Path(path) => match path.to_str().filter(|_| !path.exists()).and_then(split) {
                Some((before, behind)) => {
                    (Rest::Path(PathBuf::from(if before.is_empty() { "." } else { &before })), Some(behind))
                }
                None => (self.rest.clone(), None),
            },
            Rest::Address(inner) => {
                let (inner, behind) = inner.split_at_sign();
                (Rest::Address(Box::new(inner)), behind)
            }
            Rest::Url(url) => {
                let is_web = matches!(self.scheme(), Some("http" | "https"));
                let (plain, query) = url.find('?').filter(|_| is_web).map_or((url.as_str(), ""), |at| url.split_at(at));
                match split(plain).filter(|(before, _)| before.contains('/')) {
                    Some((before, behind)) => {
                        (Rest::Url(format!("{}{query}", before.trim_end_matches('/'))), Some(behind))
                    }
                    None => (self.rest.clone(), None),
                }
            }
        };
        (Self { scheme: self.scheme.clone(), rest }, behind)
    }

    /// Returns the error for a refused address or option, of kind [`Argument`](zarr_store::ErrorKind::Argument).
    pub fn refuse(&self, message: impl Into<String>) -> Error {
        Error::Argument { store: self.to_string(), message: message.into() }
    }
}

impl From<&Path> for StoreAddress {
    fn from(path: &Path) -> Self {
        Self::of_path(path)
    }
}

impl fmt::Display for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.scheme, &self.rest) {
            (Some(scheme), Rest::Url(rest)) => f.write_str(&shown(&format!("{scheme}://{rest}"))),
            (Some(scheme), rest) => write!(f, "{scheme}:{rest}"),
            (None, rest) => rest.fmt(f),
        }
    }
}

impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Path(path) => path.display().fmt(f),
            Self::Address(inner) => inner.fmt(f),
            Self::Url(rest) => f.write_str(rest),
        }
    }
}

impl fmt::Debug for StoreAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreAddress({:?})", self.to_string())
    }
}

/// Removes secrets from a string that was given as an address: a user with a password, and everything behind `?` or `#`.
pub(super) fn shown(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let plain = rest.find(['?', '#']).map_or(rest, |at| &rest[..at]);
    let (authority, path) = plain.find('/').map_or((plain, ""), |at| plain.split_at(at));
    // Azure addresses have a container in front of the `@` (`container@account`), which is no secret. A password follows a colon, and the
    // user of a web address may be a token.
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) if user.contains(':') || scheme.to_ascii_lowercase().starts_with("http") => host,
        _ => authority,
    };
    let cut = if plain.len() < rest.len() { "?..." } else { "" };
    format!("{scheme}://{authority}{path}{cut}")
}

/// Decodes percent-encoding; `None` if a digit is missing, or if the result is not UTF-8 or contains NUL.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while let Some(&byte) = bytes.get(i) {
        let (byte, len) = match byte {
            b'%' => (hex(bytes.get(i + 1..i + 3)?)?, 3),
            byte => (byte, 1),
        };
        decoded.push(byte);
        i += len;
    }
    String::from_utf8(decoded).ok().filter(|path| !path.contains('\0'))
}

fn hex(digits: &[u8]) -> Option<u8> {
    digits.iter().try_fold(0_u8, |value, digit| {
        let digit = u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
        Some(value << 4 | digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        for (text, due) in [
            ("https://user:SECRET@host/a?token=SECRET", "https://host/a?..."),
            ("HTTP://SECRET@host/a", "HTTP://host/a"),
            ("s3://KEY:SECRET@bucket/x#SECRET", "s3://bucket/x?..."),
            ("abfss://data@acc.dfs.core.windows.net/x", "abfss://data@acc.dfs.core.windows.net/x"),
            ("a/b?c", "a/b?c"),
            ("s3://b", "s3://b"),
        ] {
            assert_eq!(shown(text), due);
        }
    }

    #[test]
    fn files_lie_in_stores() {
        for (rest, above, name) in [
            ("b/x.zip", "b", "x.zip"),
            ("b/d/x.zip", "b/d", "x.zip"),
            ("b/d//x.zip", "b/d//", "x.zip"),
            ("b/d//e/x.zip", "b/d//e", "x.zip"),
        ] {
            let of = |rest: &str| StoreAddress { scheme: Some("s3".to_owned()), rest: Rest::Url(rest.to_owned()) };
            assert_eq!(of(rest).in_store(), Some((of(above), name.to_owned())), "{rest}");
        }
    }

    #[cfg(feature = "icechunk")]
    #[test]
    fn what_stands_behind_an_at_sign() {
        let schemes = crate::store::schemes();
        for (text, before, behind) in [
            ("no/such/x@main", "no/such/x", Some("main")),
            ("no/such/@tag.v1", "no/such/", Some("tag.v1")),
            ("no@such/x", "no@such/x", None),
            ("file:///no/a@b/x@c@d", "/no/a@b/x@c", Some("d")),
            ("memory:", "memory:", None),
        ] {
            let (found, at) = schemes.address(text).unwrap().split_at_sign();
            assert_eq!((found.to_string().as_str(), at.as_deref()), (before, behind), "{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("x@main")).unwrap();
        let there = StoreAddress::of_path(folder.path().join("x@main"));
        assert_eq!(there.split_at_sign(), (there, None));
        for (scheme, rest, before, behind) in [
            ("s3", "b/x@main", "s3://b/x", Some("main")),
            ("s3", "b/@main", "s3://b", Some("main")),
            ("az", "data@acc.dfs", "az://data@acc.dfs", None),
            ("abfss", "data@acc.dfs/x@tag.v1", "abfss://data@acc.dfs/x", Some("tag.v1")),
            ("https", "h/x@main?a=b@c", "https://h/x?...", Some("main")),
        ] {
            let address = StoreAddress { scheme: Some(scheme.to_owned()), rest: Rest::Url(rest.to_owned()) };
            let (found, at) = address.split_at_sign();
            assert_eq!((found.to_string().as_str(), at.as_deref()), (before, behind), "{rest}");
        }
    }

    #[test]
    fn percents_are_decoded() {
        assert_eq!(percent_decoded("/a%20b/%C3%A4").as_deref(), Some("/a b/\u{e4}"));
        for text in ["%", "%2", "%zz", "%00", "%ff", "%+1"] {
            assert_eq!(percent_decoded(text), None, "{text}");
        }
    }
}
