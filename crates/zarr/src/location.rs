//! Where a node is: a store, and a path in it.

use crate::{ErrorKind, Result, store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarr_hierarchy::node::OpenNode;
use zarr_meta::NodePath;
use zarr_store::{Store, run};

/// A node's store and path, as [`open`](crate::open) and [`create`](crate::create) take them.
///
/// | given | store and path |
/// |---|---|
/// | `"x.zarr/a/b"`, a [`Path`] | the directory or zip file in which the hierarchy begins, and the rest of the path, see below |
/// | `"x.zarr::/a/b"`, `("x.zarr", "/a/b")` | the address of a store as [`store::open`](crate::store::open) takes it, and the path |
/// | `(&store, "/a/b")`, `&store` | a store that is open, and the path (the root) |
///
/// Where the address does not say where the path begins, the hierarchy does: the store is the outermost directory that has a node and
/// nothing but nodes between it and the path. If there is no node yet, it is the directory whose name ends in `.zarr`, and else the
/// whole path is the store.
#[derive(Clone, Debug)]
pub struct Location(Repr);

#[derive(Clone, Debug)]
enum Repr {
    Url(String),
    UrlAndPath(String, String),
    Store(Arc<dyn Store>, String),
}

impl From<&str> for Location {
    fn from(url: &str) -> Self {
        Self(match url.split_once("::") {
            Some((url, path)) => Repr::UrlAndPath(url.to_owned(), path.to_owned()),
            None => Repr::Url(url.to_owned()),
        })
    }
}

impl From<&String> for Location {
    fn from(url: &String) -> Self {
        Self::from(url.as_str())
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        Self(Repr::Url(path.to_string_lossy().into_owned()))
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl<P: AsRef<str>> From<(&str, P)> for Location {
    fn from((url, path): (&str, P)) -> Self {
        Self(Repr::UrlAndPath(url.to_owned(), path.as_ref().to_owned()))
    }
}

impl<P: AsRef<str>> From<(&Arc<dyn Store>, P)> for Location {
    fn from((store, path): (&Arc<dyn Store>, P)) -> Self {
        Self(Repr::Store(Arc::clone(store), path.as_ref().to_owned()))
    }
}

impl From<&Arc<dyn Store>> for Location {
    fn from(store: &Arc<dyn Store>) -> Self {
        Self(Repr::Store(Arc::clone(store), "/".to_owned()))
    }
}

impl Location {
    /// The store, which must be there, and the path.
    pub(crate) fn open(self) -> Result<(Arc<dyn Store>, String)> {
        match self.0 {
            Repr::Store(store, path) => Ok((store, path)),
            Repr::UrlAndPath(url, path) => Ok((store::open(&url)?, path)),
            Repr::Url(url) => match split(&url)? {
                Some((root, path)) => Ok((store::open(&root)?, path)),
                None => Ok((store::open(&url)?, "/".to_owned())),
            },
        }
    }

    /// The store, which is made if it is not there, and the path.
    pub(crate) fn create(self) -> Result<(Arc<dyn Store>, String)> {
        match self.0 {
            Repr::Store(store, path) => Ok((store, path)),
            Repr::UrlAndPath(url, path) => Ok((store::create(&url)?, path)),
            Repr::Url(url) => match split(&url)?.or_else(|| by_extension(&url)) {
                Some((root, path)) => Ok((store::create(&root)?, path)),
                None => Ok((store::create(&url)?, "/".to_owned())),
            },
        }
    }
}

/// The address of the store in which the hierarchy of the node at `url` begins, and its path there; `None` if there is no hierarchy,
/// or the address is none of files.
fn split(url: &str) -> Result<Option<(String, String)>> {
    let Some(path) = files(url) else { return Ok(None) };
    // What does not exist (yet) lies below what does.
    let Some(exists) = path.ancestors().find(|path| path.exists()) else { return Ok(None) };
    let mut root = None;
    for directory in exists.ancestors().filter(|path| !path.as_os_str().is_empty()) {
        if !is_root(directory)? {
            // A directory without a document may be a group all the same where the path itself is one.
            if directory == exists && directory.is_dir() {
                continue;
            }
            break;
        }
        root = Some(directory);
    }
    let Some(root) = root else { return Ok(None) };
    let rest = path.strip_prefix(root).unwrap_or_else(|_| Path::new(""));
    Ok(Some((root.to_string_lossy().into_owned(), node_path(rest))))
}

/// The store that a path of files names by its extension, where nothing is there yet.
fn by_extension(url: &str) -> Option<(String, String)> {
    let path = files(url)?;
    let root = path.ancestors().find(|path| path.extension().is_some_and(|extension| extension == "zarr"))?;
    let rest = path.strip_prefix(root).ok()?;
    Some((root.to_string_lossy().into_owned(), node_path(rest)))
}

fn node_path(rest: &Path) -> String {
    let names: Vec<_> = rest.iter().map(|name| name.to_string_lossy()).collect();
    format!("/{}", names.join("/"))
}

/// The path of an address of files.
fn files(url: &str) -> Option<&Path> {
    let path = url.strip_prefix("file://localhost").or_else(|| url.strip_prefix("file://")).unwrap_or(url);
    let is_plain =
        !path.contains("://") && !path.contains('%') && !matches!(url, "memory:") && !url.starts_with("zip:");
    is_plain.then(|| Path::new(path))
}

/// Whether a hierarchy is stored in a directory or zip file.
fn is_root(path: &Path) -> Result<bool> {
    let url = path.to_string_lossy();
    match store::open(&url) {
        // Without listing: documents alone tell, and what lies beside a store may be a whole disk.
        Ok(store) => match run(&*store, OpenNode::new(NodePath::root(), None, false)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) if error.kind() == ErrorKind::Store => Err(error),
            // A broken node is one.
            Err(_) => Ok(true),
        },
        Err(_) => Ok(false),
    }
}

#[cfg(all(test, feature = "filesystem"))]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that cannot go on says so")]

    use super::*;
    use crate::{NewArray, NewGroup};

    /// The store and the path of a node to be opened, relative to a folder.
    fn split_in(folder: &Path, url: &str) -> Option<(String, String)> {
        let (root, path) = split(&folder.join(url).to_string_lossy()).unwrap()?;
        let root = Path::new(&root).strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        Some((root, path))
    }

    #[test]
    fn the_hierarchy_tells_where_the_path_begins() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let expected = |root: &str, path: &str| Some((root.to_owned(), path.to_owned()));
        assert_eq!(split_in(folder, "x.zarr/a"), None, "nothing is there");
        crate::create(&folder.join("x.zarr/g/a")).array(NewArray::new(&[2], "int8")).unwrap();
        assert_eq!(crate::open(&folder.join("x.zarr/g/a")).array().unwrap().path().to_string(), "/g/a");
        for (url, path) in [("x.zarr", "/"), ("x.zarr/g", "/g"), ("x.zarr/g/a", "/g/a"), ("x.zarr/none/b", "/none/b")] {
            assert_eq!(split_in(folder, url), expected("x.zarr", path), "{url}");
        }
        // Without the extension, what does not exist is a store.
        crate::create(&folder.join("plain/b")).array(NewArray::new(&[2], "int8")).unwrap();
        assert_eq!(split_in(folder, "plain/b"), expected("plain/b", "/"));
        crate::create(&folder.join("plain/b2")).group(NewGroup::default()).unwrap();
        assert_eq!(split_in(folder, "plain/b2"), expected("plain/b2", "/"));
        // The hierarchy goes on in what is created below it.
        crate::create(&folder.join("plain/b2/c")).group(NewGroup::default()).unwrap();
        assert_eq!(split_in(folder, "plain/b2/c"), expected("plain/b2", "/c"));
    }

    #[test]
    fn addresses_may_say_where_the_path_begins() {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("s").display().to_string();
        crate::create((url.as_str(), "/a/b")).array(NewArray::new(&[2], "int8")).unwrap();
        assert_eq!(crate::open(&format!("{url}::/a/b")).array().unwrap().path().to_string(), "/a/b");
        assert_eq!(crate::open(&format!("file://{url}/a/b")).array().unwrap().path().to_string(), "/a/b");
        let store = store::open(&url).unwrap();
        assert!(matches!(crate::open((&store, "/a")).node().unwrap(), crate::Opened::Group(_)));
        assert!(matches!(crate::open((&store, "/a/b")).node().unwrap(), crate::Opened::Array(_)));
        let error = crate::open((&store, "/a")).array().unwrap_err().to_string();
        assert!(error.contains("/a") && error.contains("group"), "{error}");
        let error = crate::open((&store, "/none")).group().unwrap_err();
        assert!(error.is_not_found() && error.to_string().contains("/none"), "{error}");
    }
}
