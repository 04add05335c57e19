//! Paths of nodes in a hierarchy.

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

/// Maximum number of names in a path. The paths of all ancestors of a node have a total length of about the number of names times the
/// length of the path, so a few kilobytes of hostile keys could otherwise need gigabytes.
const MAX_NAMES: usize = 128;

/// Path of a node: `/` for the root, else `/a/b`, of at most 128 names.
///
/// Every name in the path is safe as part of a key: not empty, not only periods, without `/` and NUL. When a node is written, the dialect
/// decides which other characters a name may contain, see [`Dialect::check_path`](crate::Dialect::check_path).
///
/// # Example
/// ```
/// use zarr_meta::NodePath;
///
/// let path = NodePath::parse("/a/b")?;
/// assert_eq!(path, NodePath::root().join("a")?.join("b")?);
/// assert_eq!(path.key_prefix(), "a/b/");
/// assert!(NodePath::parse("/a/../b").is_err());
/// # Ok::<(), zarr_meta::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodePath(String);

impl NodePath {
    /// Returns the path of the root, `/`.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// Parses a path spelled `/a/b` or `a/b`; a `/` at the end is allowed, and both `/` and the empty string are the root.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Path`] if a name is not safe, or if there are more than 128 names.
    pub fn parse(text: &str) -> Result<Self> {
        let names = text.strip_prefix('/').unwrap_or(text);
        let names = names.strip_suffix('/').unwrap_or(names);
        if !names.is_empty() {
            check_names(0, names)?;
        } else if text.len() > 1 {
            check_name("")?;
        }
        Ok(Self(names.to_owned()))
    }

    /// Returns this path extended by `text`, one name or several names joined by `/`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Path`] if a name is not safe, if the path would have more than 128 names, or if `text` begins or ends with
    /// `/`.
    pub fn join(&self, text: &str) -> Result<Self> {
        check_names(self.names().count(), text)?;
        Ok(Self(if self.is_root() { text.to_owned() } else { [&self.0, "/", text].concat() }))
    }

    /// Returns whether this is the path of the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the last name of the path; `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.names().next_back()
    }

    /// Returns the names of the path, beginning below the root.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// Returns the path of the parent group; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(Self(self.0.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned())))
    }

    /// Returns the paths of all ancestors, beginning with the root; empty for the root.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        let ends = (!self.is_root()).then_some(0).into_iter().chain(self.0.match_indices('/').map(|(at, _)| at));
        ends.map(|end| Self(self.0.get(..end).unwrap_or_default().to_owned()))
    }

    /// Returns whether this path equals `other` or lies below `other`.
    pub fn is_within(&self, other: &Self) -> bool {
        other.is_root() || self.0.strip_prefix(&other.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the prefix of the node's keys in dialects whose keys begin with the path: empty for the root, else `a/b/`.
    pub fn key_prefix(&self) -> String {
        if self.is_root() { String::new() } else { [&self.0, "/"].concat() }
    }

    /// Returns the key of the document `name` below [`key_prefix`](Self::key_prefix).
    pub(crate) fn key_of(&self, name: &str) -> String {
        if self.is_root() { name.to_owned() } else { [&self.0, "/", name].concat() }
    }

    /// Returns the path without the leading `/`: empty for the root, else `a/b`.
    pub fn as_relative(&self) -> &str {
        &self.0
    }
}

/// Checks `names`, joined by `/`, which follow `before` other names in a path.
fn check_names(before: usize, names: &str) -> Result<()> {
    for (number, name) in names.split('/').enumerate() {
        check_name(name)?;
        if before + number >= MAX_NAMES {
            let found = format!("a node path of more than {MAX_NAMES} names");
            return Err(Error::new(ErrorKind::Path, "", found, "a hierarchy that is less deep"));
        }
    }
    Ok(())
}

/// Returns an error for a name that could lead out of the hierarchy.
fn check_name(name: &str) -> Result<()> {
    let what = if name.is_empty() {
        "an empty name"
    } else if name.bytes().all(|byte| byte == b'.') {
        "a name of periods only"
    } else if name.contains('\0') {
        "a name with a NUL character"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Path, "", format!("{what} in a node path"), "a name that can be part of a key"))
}

impl FromStr for NodePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

impl fmt::Display for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}", self.0)
    }
}

impl fmt::Debug for NodePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // clause: d2022-19, d2022-40, d2022-42
    #[test]
    fn unsafe_names_are_refused() {
        for text in ["//", "a//b", ".", "..", "/a/../b", "/...", "a/./b", "a\0b", "///", "//a"] {
            assert_eq!(NodePath::parse(text).unwrap_err().kind(), ErrorKind::Path, "{text:?}");
        }
        for text in ["", "/a", "a/", "..", "a/../b"] {
            assert!(NodePath::root().join(text).is_err(), "{text:?}");
        }
        for (text, path) in [("", "/"), ("/", "/"), ("a/b", "/a/b"), ("/a/b/", "/a/b"), ("/.a/b..c", "/.a/b..c")] {
            assert_eq!(NodePath::parse(text).unwrap().to_string(), path);
        }
    }

    #[test]
    fn paths_are_bounded() {
        let deep = ["a"; 128].join("/");
        let path = NodePath::parse(&deep).unwrap();
        assert_eq!(path.ancestors().count(), 128);
        assert_eq!(path.join("b").unwrap_err().kind(), ErrorKind::Path);
        assert!(NodePath::root().join(&deep).is_ok());
        let error = NodePath::parse(&format!("{deep}/b")).unwrap_err().to_string();
        assert!(error.contains("more than 128 names"), "{error}");
    }

    proptest! {
        // clause: p2019-6, d2022-8, d2022-17, d2022-18
        #[test]
        fn parts_make_the_whole(names in proptest::collection::vec("[a-z.é ]{0,3}[a-z]", 0..4)) {
            let path = names.iter().try_fold(NodePath::root(), |path, name| path.join(name)).unwrap();
            prop_assert_eq!(NodePath::parse(&path.to_string()).unwrap(), path.clone());
            prop_assert_eq!(path.names().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
            prop_assert_eq!(path.name(), names.last().map(String::as_str));
            let ancestors: Vec<_> = path.ancestors().collect();
            prop_assert_eq!(ancestors.len(), names.len());
            prop_assert_eq!(ancestors.last().cloned(), path.parent());
            for ancestor in ancestors {
                prop_assert!(path.is_within(&ancestor) && !ancestor.is_within(&path));
                prop_assert!(path.key_prefix().starts_with(&ancestor.key_prefix()));
            }
        }
    }
}
