//! Chunks in files outside of the repository: which files may be read, and who opens them.

use std::fmt;
use std::sync::Arc;

use zarr_store::{Key, Result, Store};

/// Function that takes the URL of a file outside of the repository, and returns the store that contains the file and its key in the store.
pub type OpenFile = dyn Fn(&str) -> Result<(Arc<dyn Store>, Key)> + Send + Sync;

/// URL prefixes of the files outside of the repository that may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    prefixes: Vec<String>,
    /// Names of containers, each with the URL that replaces `vcc://NAME/`.
    containers: Vec<(String, String)>,
}

impl Allowed {
    /// Parses a list of URLs, and of `NAME=URL` for containers, with commas between them; `None` if an entry is invalid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut allowed = Self::default();
        for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (name, url) = match entry.split_once('=') {
                Some((name, url)) if !name.contains("://") => (Some(name), url),
                _ => (None, entry),
            };
            let (scheme, rest) = url.split_once("://")?;
            if scheme.is_empty() || rest.is_empty() || has_steps(url) {
                return None;
            }
            if let Some(name) = name {
                allowed.containers.push((name.to_owned(), url.to_owned()));
            }
            allowed.prefixes.push(url.to_owned());
        }
        Some(allowed)
    }

    /// Returns the URL of a file that may be read, with the name of a container replaced; an error is the reason why the file must not be
    /// read.
    pub(crate) fn check(&self, url: &str) -> Result<String, String> {
        let full = match url.strip_prefix("vcc://") {
            None => url.to_owned(),
            Some(rest) => {
                let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
                let container = self.containers.iter().find(|(other, _)| other == name);
                let missing =
                    || format!("option allow={name}=URL says where the container {name} is, and that it may be read");
                let (_, base) = container.ok_or_else(missing)?;
                format!("{}/{path}", base.trim_end_matches('/'))
            }
        };
        if !full.contains("://") {
            return Err("expected a URL".to_owned());
        }
        if has_steps(&full) {
            return Err("found . or .. in the URL, expected none".to_owned());
        }
        match self.prefixes.iter().any(|prefix| is_below(&full, prefix)) {
            true => Ok(full),
            false => {
                let end = full.rfind('/').map_or(full.len(), |at| at + 1);
                Err(format!("option allow={} lets it be read", full.get(..end).unwrap_or(&full)))
            }
        }
    }
}

/// Whether `url` is equal to `prefix` or lies below it.
fn is_below(url: &str, prefix: &str) -> bool {
    let Some((scheme, rest)) = prefix.split_once("://") else { return false };
    let Some((found, found_rest)) = url.split_once("://") else { return false };
    let behind = found_rest.strip_prefix(rest).filter(|_| scheme.eq_ignore_ascii_case(found));
    behind.is_some_and(|behind| behind.is_empty() || rest.ends_with('/') || behind.starts_with('/'))
}

/// Whether a URL has segments `.` or `..`, which may lead out of an allowed prefix. `%2e` is read as a dot, `%2f` and `%5c` as slashes.
fn has_steps(url: &str) -> bool {
    let plain = url.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/").replace('\\', "/");
    plain.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// Rules for files outside of the repository: which files may be read, and the function that opens them.
#[derive(Clone, Default)]
pub(crate) struct Outside {
    pub(crate) allowed: Allowed,
    pub(crate) open: Option<Arc<OpenFile>>,
}

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outside").field("allowed", &self.allowed).field("open", &self.open.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_below_what_is_allowed() {
        let allowed = Allowed::parse("s3://b/data, file:///x/,https://h/a=b/,mine=gs://b/m/").expect("URLs");
        for url in
            ["s3://b/data/x.nc", "s3://b/data", "S3://b/data/x", "file:///x/y/z.nc", "https://h/a=b/c", "gs://b/m/x"]
        {
            assert_eq!(allowed.check(url).as_deref(), Ok(url));
        }
        assert_eq!(allowed.check("vcc://mine/d/x.nc").as_deref(), Ok("gs://b/m/d/x.nc"));
        for (url, reason) in [
            ("s3://b/data2/x.nc", "option allow=s3://b/data2/ lets it be read"),
            ("s3://b2/data/x.nc", "option allow=s3://b2/data/ lets it be read"),
            ("gs://b/data/x.nc", "option allow=gs://b/data/ lets it be read"),
            ("file:///x/../etc/passwd", "found . or .. in the URL, expected none"),
            ("file:///x/%2E%2e/etc/passwd", "found . or .. in the URL, expected none"),
            ("vcc://mine/../x", "found . or .. in the URL, expected none"),
            ("vcc://other/x", "option allow=other=URL says where the container other is, and that it may be read"),
            ("/etc/passwd", "expected a URL"),
        ] {
            assert_eq!(allowed.check(url), Err(reason.to_owned()), "{url}");
        }
        assert!(Allowed::default().check("s3://b/data/x.nc").is_err());
        for text in ["data", "s3://", "file:///x/..", "=x"] {
            assert_eq!(Allowed::parse(text), None, "{text}");
        }
    }
}
