//! Addresses of nodes: a store, and a path in the store.

use crate::store::{Schemes, StoreAddress, StoreOptions, is_hierarchy, is_zip, schemes, split_path};
use crate::{Error, ErrorKind, Result};
use std::convert::Infallible;
use std::fmt::{Debug, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zarr_store::{AsyncStore, Store};

/// Store and path of a node, as [`open`](crate::open) and [`create`](crate::create) take them.
///
/// | given | store and path |
/// |---|---|
/// | `"x.zarr/a/b"`, a [`Path`] of that form | the directory whose name ends in `.zarr` (of several the outermost) or the zip file, and the rest |
/// | `"directory"` without such a name in it | the directory, and the root |
/// | `"directory::/a/b"`, `("directory", "/a/b")` | the address of a store as [`store::open`](crate::store::open) takes it, and the path |
/// | `(&store, "/a/b")`, `&store` | a store that is open, and the path (the root) |
///
/// Strings and paths may be borrowed or owned. A [`Path`] is never parsed as an address; a string may be any address such as `memory:` or
/// `sqlite:x.sqlite::/a`: [`store::open`](crate::store::open) has the grammar.
///
/// The store may also be an open [`AsyncStore`](crate::AsyncStore): nodes are then opened and created without blocking.
#[derive(Debug)]
pub struct Address<S: AnyStore + ?Sized = dyn Store>(Repr<S>);

#[derive(Debug)]
enum Repr<S: AnyStore + ?Sized> {
    Address(S::Address),
    Store(Arc<S>, String),
}

impl<S: AnyStore + ?Sized> Clone for Address<S> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Repr::Address(address) => Repr::Address(address.clone()),
            Repr::Store(store, path) => Repr::Store(Arc::clone(store), path.clone()),
        })
    }
}

/// Type of a store in which nodes are opened: `dyn Store` or `dyn AsyncStore`.
pub trait AnyStore: Debug + Display {
    /// Address of a store that is not yet open.
    type Address: Clone + Debug;
}

// Implemented for every lifetime: futures that hold a store are checked for `Send` with lifetimes erased.
impl<'s> AnyStore for dyn Store + 's {
    type Address = NodeAddress;
}

/// Async stores are passed only as open stores, since an address opens a blocking store.
impl<'s> AnyStore for dyn AsyncStore + 's {
    type Address = Infallible;
}

/// Address of a store, and path of a node in the store.
#[derive(Clone, Debug)]
pub enum NodeAddress {
    Text(String),
    Path(PathBuf),
    TextAndPath(String, String),
}

/// Table of schemes and options for opening a store by its address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    pub(crate) schemes: Option<Schemes>,
    pub(crate) options: StoreOptions,
}

impl Access {
    fn schemes(&self) -> Schemes {
        self.schemes.clone().unwrap_or_else(schemes)
    }

    /// Checks that no option is set for `store`, which is open already.
    fn check_unused(&self, store: &dyn Display) -> Result<()> {
        match self.options.pairs().first() {
            None => Ok(()),
            Some((name, _)) => Err(Error::argument(format!("{store}: option {name}: the store is open already"))
                .with_hint("options are of a store that is given by its address")),
        }
    }
}

impl From<&str> for Address {
    fn from(text: &str) -> Self {
        Self(Repr::Address(NodeAddress::Text(text.to_owned())))
    }
}

impl From<&String> for Address {
    fn from(url: &String) -> Self {
        Self::from(url.as_str())
    }
}

impl From<String> for Address {
    fn from(url: String) -> Self {
        Self::from(url.as_str())
    }
}

impl From<&Path> for Address {
    fn from(path: &Path) -> Self {
        Self(Repr::Address(NodeAddress::Path(path.to_owned())))
    }
}

impl From<&PathBuf> for Address {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl From<PathBuf> for Address {
    fn from(path: PathBuf) -> Self {
        Self(Repr::Address(NodeAddress::Path(path)))
    }
}

impl<P: AsRef<str>> From<(&str, P)> for Address {
    fn from((url, path): (&str, P)) -> Self {
        Self(Repr::Address(NodeAddress::TextAndPath(url.to_owned(), path.as_ref().to_owned())))
    }
}

impl<P: AsRef<str>> From<(&Arc<dyn Store>, P)> for Address {
    fn from((store, path): (&Arc<dyn Store>, P)) -> Self {
        Self(Repr::Store(Arc::clone(store), path.as_ref().to_owned()))
    }
}

impl From<&Arc<dyn Store>> for Address {
    fn from(store: &Arc<dyn Store>) -> Self {
        Self(Repr::Store(Arc::clone(store), "/".to_owned()))
    }
}

impl<P: AsRef<str>> From<(&Arc<dyn AsyncStore>, P)> for Address<dyn AsyncStore> {
    fn from((store, path): (&Arc<dyn AsyncStore>, P)) -> Self {
        Self(Repr::Store(Arc::clone(store), path.as_ref().to_owned()))
    }
}

impl From<&Arc<dyn AsyncStore>> for Address<dyn AsyncStore> {
    fn from(store: &Arc<dyn AsyncStore>) -> Self {
        Self(Repr::Store(Arc::clone(store), "/".to_owned()))
    }
}

impl Address<dyn AsyncStore> {
    /// Returns the open store and the path.
    pub(crate) fn opened(self) -> (Arc<dyn AsyncStore>, String) {
        match self.0 {
            Repr::Store(store, path) => (store, path),
            Repr::Address(address) => match address {},
        }
    }
}

impl Address {
    /// Opens the store, which must exist, and returns it with the path.
    pub(crate) fn open(self, access: &Access) -> Result<(Arc<dyn Store>, String)> {
        let (address, path) = match self.0 {
            Repr::Store(store, path) => return access.check_unused(&store).map(|()| (store, path)),
            Repr::Address(given) => given.read(&access.schemes())?,
        };
        Ok((access.schemes().open(&address, &access.options)?, path.unwrap_or_else(|| "/".to_owned())))
    }

    /// Opens the store, which is created if it does not exist, and returns it with the path.
    pub(crate) fn create(self, access: &Access) -> Result<(Arc<dyn Store>, String)> {
        let (address, path) = match self.0 {
            Repr::Store(store, path) => return access.check_unused(&store).map(|()| (store, path)),
            Repr::Address(given) => {
                let is_separate = given.is_separate(&access.schemes());
                let (address, path) = given.read(&access.schemes())?;
                if let (Some(root), None, false) = (address.path(), address.scheme(), is_separate) {
                    check_new(root, path.as_deref())?;
                }
                (address, path)
            }
        };
        Ok((access.schemes().create(&address, &access.options)?, path.unwrap_or_else(|| "/".to_owned())))
    }
}

impl NodeAddress {
    fn read(self, schemes: &Schemes) -> Result<(StoreAddress, Option<String>)> {
        Ok(match self {
            Self::Text(text) => schemes.node(&text)?,
            Self::Path(path) => {
                let (root, node) = split(&path)?;
                (StoreAddress::of_path(root), node)
            }
            Self::TextAndPath(text, path) => (schemes.address(&text)?, Some(path)),
        })
    }

    /// Whether the address separates store and path, by `::` or as a pair.
    fn is_separate(&self, schemes: &Schemes) -> bool {
        match self {
            Self::Text(text) => schemes.is_separate(text),
            Self::Path(_) => false,
            Self::TextAndPath(..) => true,
        }
    }
}

/// Refuses to create a store at a path that is given without `::` if the directory lies in another hierarchy, which would not know the new
/// store.
fn check_new(root: &Path, node: Option<&str>) -> Result<()> {
    if let Some(above) = hierarchy_above(root).filter(|_| node.is_none() && !is_hierarchy(root) && !is_zip(root)) {
        let message = format!("{} lies in the hierarchy {}", root.display(), above.display());
        let hint = format!(
            "name the path within it, \"{}::/path\", or \"{}::/\" for a store of its own",
            above.display(),
            root.display()
        );
        return Err(Error::argument(message).with_hint(hint));
    }
    Ok(())
}

/// Splits a path at the first name that is a hierarchy, a zip file or a file: the path of the store, and the path of the node in it, if
/// there is one.
fn split(path: &Path) -> Result<(PathBuf, Option<String>)> {
    split_path(path, |path| is_hierarchy(path) || is_zip(path) || path.is_file())
        .map_err(|message| Error::new(ErrorKind::Path, format!("{}: {message}", path.display())))
}

/// Returns the nearest directory above `path` with a Zarr document: a new store at `path` would lie in the hierarchy of that directory
/// without belonging to it.
fn hierarchy_above(path: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(path).ok()?;
    let has_document =
        |directory: &&Path| ["zarr.json", ".zgroup", ".zarray"].iter().any(|name| directory.join(name).is_file());
    absolute.ancestors().skip(1).find(has_document).map(Path::to_owned)
}

#[cfg(all(test, feature = "filesystem"))]
mod tests {
    use super::*;
    use crate::store::StoreExt;
    use crate::{NewArray, NewGroup};

    #[test]
    fn names_tell_where_the_path_begins() {
        for (path, root, node) in [
            ("x.zarr/g/a", "x.zarr", "/g/a"),
            ("x.zarr", "x.zarr", "/"),
            ("d/x.zarr/", "d/x.zarr", "/"),
            ("/d/X.ZARR/50%/b", "/d/X.ZARR", "/50%/b"),
            ("x.zarr/y.zarr/a", "x.zarr", "/y.zarr/a"),
            ("x.zarr/../y.zarr/a", "x.zarr/../y.zarr", "/a"),
            ("x.zarr/../d/a", "x.zarr/../d/a", "/"),
            ("./d/a", "./d/a", "/"),
            ("n.zip/a", "n.zip", "/a"),
        ] {
            let node = Some(node.to_owned()).filter(|node| node != "/");
            assert_eq!(split(Path::new(path)).unwrap(), (PathBuf::from(root), node), "{path}");
        }
    }

    #[test]
    fn nothing_is_created_but_where_it_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let array = || NewArray::new(&[2], "int8");
        crate::create(folder.join("x.zarr/g/a")).array(array()).unwrap();
        assert_eq!(crate::open(folder.join("x.zarr/g/a")).array().unwrap().path().to_string(), "/g/a");
        // A path is no address, and needs no UTF-8 for the store.
        crate::create(folder.join("memory:")).array(array()).unwrap();
        assert!(folder.join("memory:/zarr.json").exists());
        #[cfg(target_os = "linux")]
        {
            let odd = folder.join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"n\xff.zarr"));
            crate::create(odd.join("a")).array(array()).unwrap();
            assert!(odd.join("a/zarr.json").exists());
        }
        // Below plain names a hierarchy has to be named.
        crate::create(folder.join("plain")).group(NewGroup::default()).unwrap();
        let error = crate::create(folder.join("plain/i/b")).array(array()).unwrap_err();
        assert!(error.to_string().contains("lies in the hierarchy") && !folder.join("plain/i").exists(), "{error}");
        let plain = folder.join("plain").display().to_string();
        crate::create((plain.as_str(), "/i/b")).array(array()).unwrap();
        assert_eq!(crate::open(format!("{plain}::/i/b")).array().unwrap().path().to_string(), "/i/b");
        for address in ["file://host/x.zarr/a", "file:///x.zarr/a?b", "s3://bucket/x.zarr/a"] {
            assert!(crate::create(address).array(array()).is_err(), "{address}");
        }
        // A zip file is there when it is flushed.
        let zip = folder.join("new.zip/a");
        let created = crate::create(&zip).array(array()).unwrap();
        assert!(!folder.join("new.zip").exists());
        created.store().flush().unwrap();
        assert!(folder.join("new.zip").is_file());
        assert_eq!(crate::open(&zip).array().unwrap().path().to_string(), "/a");
    }

    #[test]
    fn addresses_may_say_where_the_path_begins() {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("s.zarr").display().to_string();
        crate::create((url.as_str(), "/a/b")).array(NewArray::new(&[2], "int8")).unwrap();
        assert_eq!(crate::open(format!("{url}::/a/b")).array().unwrap().path().to_string(), "/a/b");
        assert_eq!(crate::open(format!("file://{url}/a/b")).array().unwrap().path().to_string(), "/a/b");
        let store = crate::store::open(&url).unwrap();
        assert!(matches!(crate::open((&store, "/a")).node().unwrap(), crate::Opened::Group(_)));
        assert!(matches!(crate::open((&store, "/a/b")).node().unwrap(), crate::Opened::Array(_)));
        let error = crate::open((&store, "/a")).array().unwrap_err().to_string();
        assert!(error.contains("/a") && error.contains("group"), "{error}");
        let error = crate::open((&store, "/none")).group().unwrap_err();
        assert!(error.is_not_found() && error.to_string().contains("/none"), "{error}");
    }
}
