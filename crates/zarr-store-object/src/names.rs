//! Names of objects, which consist of a prefix in the bucket and a key.

use std::borrow::Cow;
use std::sync::Arc;

use object_store::path::{Path, PathPart};
use zarr_store::{Error, Key, KeyFault, Prefix, Result};

use crate::temporary::is_temporary;

/// Names of the objects of a store.
///
/// The prefix may have empty segments (`d//x.zarr/`), which keys cannot have. The client of the service accepts such names in
/// requests, but not in lists. So in pages of lists the prefix is replaced by another one of the same length before the client parses
/// them (`Names::listed`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Names {
    /// Prefix as the service stores it: empty, or with a `/` at its end.
    prefix: Arc<str>,
    /// Prefix that replaces `prefix` in pages of lists: of the same length and without empty segments, which object_store refuses.
    in_lists: Arc<str>,
}

impl Names {
    /// Creates the names below the path of an address. One `/` at the end of `path` is ignored; each further one is an empty segment.
    ///
    /// # Errors
    /// [`Error::InvalidPrefix`] if a segment is not valid in a key; empty segments after the first are allowed.
    pub(crate) fn below(path: &str) -> Result<Self> {
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Ok(Self { prefix: "".into(), in_lists: "".into() });
        }
        let faults = |fault| Err(Error::InvalidPrefix { text: format!("{path}/"), fault });
        if path.starts_with('/') {
            return faults(KeyFault::Absolute);
        }
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        if let Some(fault) = segments.find_map(Key::fault) {
            return faults(fault);
        }
        let prefix = format!("{path}/");
        let in_lists = if Prefix::new(&prefix).is_ok() { prefix.clone() } else { "_".repeat(path.len()) + "/" };
        Ok(Self { prefix: prefix.into(), in_lists: in_lists.into() })
    }

    /// Returns the prefix for addresses, without its last `/` if that may be omitted.
    pub(crate) fn shown(&self) -> &str {
        match self.prefix.strip_suffix('/') {
            Some(path) if !path.ends_with('/') => path,
            _ => &self.prefix,
        }
    }

    /// Returns the name of the object of the key `below`, or the beginning of the names of the objects below a prefix.
    pub(crate) fn object(&self, below: &str) -> String {
        format!("{}{below}", self.prefix)
    }

    /// Returns the key of an object; `None` if its name is outside the prefix, or is no key or a temporary key.
    pub(crate) fn key(&self, object: &str) -> Option<Key> {
        let key = Key::new(object.strip_prefix(&*self.prefix)?).ok();
        key.filter(|key| !is_temporary(key))
    }

    /// Returns a name in a list, of an object or (with a `/` at its end) a folder, in the form that the client accepts; `None` if it is no
    /// key.
    pub(crate) fn listed<'n>(&self, name: &'n str) -> Option<Cow<'n, str>> {
        let below = name.strip_prefix(&*self.prefix)?;
        if !is_key(below.strip_suffix('/').unwrap_or(below)) {
            return None;
        }
        let is_same = self.prefix == self.in_lists;
        Some(if is_same { Cow::Borrowed(name) } else { Cow::Owned(format!("{}{below}", self.in_lists)) })
    }

    /// Returns the key or prefix of a name from a parsed list.
    fn below_listed<'n>(&self, listed: &'n Path) -> Option<&'n str> {
        listed.as_ref().strip_prefix(&*self.in_lists)
    }

    /// Returns the key of a name from a parsed list; `None` if it is no key or a temporary key.
    pub(crate) fn listed_key(&self, listed: &Path) -> Option<Key> {
        Key::new(self.below_listed(listed)?).ok().filter(|key| !is_temporary(key))
    }

    /// Returns the real name of an object from a parsed list.
    pub(crate) fn listed_object(&self, listed: Path) -> Path {
        match self.below_listed(&listed) {
            Some(below) if self.prefix != self.in_lists => path(&self.object(below)).unwrap_or(listed),
            _ => listed,
        }
    }
}

/// Returns the path of an object for the client; `None` if the client would change the name.
pub(crate) fn path(name: &str) -> Option<Path> {
    let mut path = Path::ROOT;
    // `Path::parse` refuses empty segments.
    for segment in name.split('/') {
        path = path.join(PathPart::parse(segment).ok()?);
    }
    (path.as_ref() == name).then_some(path)
}

/// Returns whether an object with this name is a value of a store. The client refuses control characters.
fn is_key(name: &str) -> bool {
    Key::fault(name).is_none() && !name.bytes().any(|byte| byte.is_ascii_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_may_have_empty_segments() {
        for (given, prefix, shown) in [
            ("", "", ""),
            ("a", "a/", "a"),
            ("a/", "a/", "a"),
            ("a/b", "a/b/", "a/b"),
            ("a//b", "a//b/", "a//b"),
            ("a///b/", "a///b/", "a///b"),
            ("a//", "a//", "a//"),
            ("a///", "a///", "a///"),
        ] {
            let names = Names::below(given).expect(given);
            assert_eq!((&*names.prefix, names.shown()), (prefix, shown), "{given}");
            assert_eq!(Names::below(names.shown()).expect(shown), names, "the text that is shown is the same address");
            assert_eq!(names.object("c/0"), format!("{prefix}c/0"));
            assert_eq!(names.key(&names.object("c/0")).expect("a key").as_str(), "c/0");
            assert_eq!(path(&names.object("c/0")).expect("a path").as_ref(), format!("{prefix}c/0"));
        }
        for given in ["/", "//", "/a", "a/../b", "a//./b", "..", "a//..", "a/\0", "C:"] {
            // One slash alone is none.
            assert_eq!(Names::below(given).is_err(), given != "/", "{given:?}");
        }
    }

    #[test]
    fn keys() {
        let names = Names::below("p").expect("names");
        assert_eq!(names.key("p/a/c"), Some(Key::new("a/c").expect("a key")));
        for other in ["q/a/c", "p/", "p/a//b", "p/a/.0123456789abcdef0123456789abcdef.zarr-tmp"] {
            assert_eq!(names.key(other), None, "{other}");
        }
    }

    #[test]
    fn lists_have_names_that_the_client_reads() {
        for given in ["", "p", "d//x.zarr", "d//", "d///e"] {
            let names = Names::below(given).expect(given);
            let object = names.object("a/c");
            let listed = names.listed(&object).expect("an object of the store").into_owned();
            assert_eq!(listed.len(), object.len());
            let listed = Path::parse(listed).expect("the client reads it");
            assert_eq!(names.listed_key(&listed).expect("a key").as_str(), "a/c");
            assert_eq!(names.listed_object(listed).as_ref(), object);
            assert!(names.listed(&names.object("a/")).is_some(), "a folder");
            for none in ["a//b", "/a", "a//", "", "/", "../a", "a\u{1}"] {
                assert_eq!(names.listed(&names.object(none)), None, "{given}: {none:?}");
            }
        }
        let names = Names::below("d//x").expect("names");
        assert_eq!((names.listed("d/x/a"), names.listed("____/a"), names.key("____/a")), (None, None, None));
    }

    #[test]
    fn paths_keep_names_or_there_is_none() {
        for name in ["a", "a//b", "a b/\u{e4}%2F", "a///b//c"] {
            assert_eq!(path(name).expect(name).as_ref(), name);
        }
        // No path of the client begins with a slash.
        for name in ["/a", "//a", "a/../b", ".", "a\u{7f}", "a/\n"] {
            assert_eq!(path(name), None, "{name:?}");
        }
    }
}
