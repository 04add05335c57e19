//! The rule by which files of other formats may name further files: those beside or below them, and those that the caller allows.

mod place;

use std::fmt;
use std::sync::{Arc, OnceLock};

use place::{decoded, is_drive, is_web, place, plain, shown};
use zarr_store::{Error, Key, Prefix, Result, Store};

/// Function that opens the store at an address that the caller allows.
type Opener = dyn Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync;

/// Files that a file may name, beside those in its directory and below.
#[derive(Clone, Default)]
pub struct OutsideFiles {
    directories: Vec<String>,
    allowed: Vec<String>,
    open: Option<Arc<Opener>>,
}

impl OutsideFiles {
    /// Adds an address of the directory that contains the naming file, as `/data` or `s3://bucket/data`. Files below this directory may be
    /// named by URLs that begin with the address. Without an address they are named by relative names only.
    #[must_use]
    pub fn directory(mut self, address: impl Into<String>) -> Self {
        self.directories.push(address.into());
        self
    }

    /// Allows files whose URLs lie below `prefix`. If an address of the [directory](Self::directory) is not on this machine, no file of
    /// this machine may be named, even below `prefix`.
    #[must_use]
    pub fn allow(mut self, prefix: impl Into<String>) -> Self {
        self.allowed.push(prefix.into());
        self
    }

    /// Sets the function that opens the store at an [allowed](Self::allow) prefix. It is called with the prefix as the caller gave it.
    #[must_use]
    pub fn open_by(self, open: impl Fn(&str) -> Result<Arc<dyn Store>> + Send + Sync + 'static) -> Self {
        Self { open: Some(Arc::new(open)), ..self }
    }

    /// Returns the search for files that are named in `directory` of `store`. `what` says in messages what names files: references, links.
    #[must_use]
    pub fn finder(&self, what: &'static str, store: Arc<dyn Store>, directory: Prefix) -> FileFinder {
        let allowed = |given: &String| Allowed { given: given.clone(), prefix: place(given), store: OnceLock::new() };
        FileFinder {
            what,
            store,
            directory,
            addresses: self.directories.iter().map(|at| place(at)).collect(),
            allowed: self.allowed.iter().map(allowed).collect(),
            open: self.open.clone(),
        }
    }
}

/// Shows addresses without their secrets.
impl fmt::Debug for OutsideFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |addresses: &[String]| -> Vec<String> {
            addresses.iter().map(|address| shown(&place(address)).to_owned()).collect()
        };
        f.debug_struct("OutsideFiles")
            .field("directories", &shown(&self.directories))
            .field("allowed", &shown(&self.allowed))
            .finish_non_exhaustive()
    }
}

/// Reason why a file that another file names is not found.
#[derive(Debug)]
pub enum OutsideError {
    /// The file may not be named. The text follows the URL in a message.
    Refused(String),
    /// The caller has to allow the file. The text follows the URL in a message.
    NotAllowed(String),
    /// The store at an allowed prefix cannot be opened.
    Store(Error),
}

/// Search for files by the URLs in another file.
pub struct FileFinder {
    what: &'static str,
    store: Arc<dyn Store>,
    /// Directory of the naming file in `store`.
    directory: Prefix,
    /// Addresses of the directory, as [`place`] returns them.
    addresses: Vec<String>,
    allowed: Vec<Allowed>,
    open: Option<Arc<Opener>>,
}

/// Prefix that the caller allows.
struct Allowed {
    /// Prefix as the caller gave it, maybe with secrets.
    given: String,
    /// Prefix as [`place`] returns it.
    prefix: String,
    store: OnceLock<Arc<dyn Store>>,
}

impl FileFinder {
    /// Opens and returns the stores at the allowed prefixes that are URLs, and not paths of this machine.
    ///
    /// # Errors
    /// The errors of opening a store.
    pub fn far(&self) -> Result<Vec<Arc<dyn Store>>> {
        let Some(open) = &self.open else { return Ok(Vec::new()) };
        let far = self.allowed.iter().filter(|allowed| allowed.prefix.contains("://"));
        far.map(|allowed| allowed.open(&**open)).collect()
    }

    /// Returns the addresses of the directory of the naming file, in the order in which they were given, without secrets.
    #[must_use]
    pub fn directories(&self) -> &[String] {
        &self.addresses
    }

    /// Returns whether `url` is no relative name.
    #[must_use]
    pub fn is_absolute(url: &str) -> bool {
        let url = plain(url);
        url.starts_with('/') || url.contains("://") || url.contains("::") || is_drive(&url)
    }

    /// Returns the store that contains the file at `url`, and the key of the file in the store. A relative name is one in the directory of
    /// the naming file.
    ///
    /// # Errors
    /// [`OutsideError::Refused`] or [`OutsideError::NotAllowed`] if the file may not be named, [`OutsideError::Store`] if its store cannot be
    /// opened.
    pub fn file(&self, url: &str) -> Result<(Arc<dyn Store>, Key), OutsideError> {
        let refuse = |reason: String| OutsideError::Refused(reason);
        let what = self.what;
        let target = plain(url);
        if !Self::is_absolute(&target) {
            let inside = self.directory.join(target.trim_start_matches("./"));
            let inside = inside
                .map_err(|_| refuse(format!("which does not lie below the directory of the file with the {what}")))?;
            return Ok((Arc::clone(&self.store), inside));
        }
        if is_web(&target) && target.contains(['?', '#']) {
            return Err(refuse("which has a query, and no name alone".to_owned()));
        }
        if let Some(rest) = self.addresses.iter().find_map(|at| below(&target, at)) {
            let inside = unescaped(&target, rest).and_then(|rest| self.directory.join(&rest).ok());
            let inside = inside.ok_or_else(|| refuse("which is no name of a file".to_owned()))?;
            return Ok((Arc::clone(&self.store), inside));
        }
        let is_local = |address: &String| address.starts_with('/') || is_drive(address);
        if is_local(&target) && self.addresses.iter().any(|at| !is_local(at)) {
            return Err(refuse(format!("a file of this machine, to which {what} from elsewhere never lead")));
        }
        for allowed in &self.allowed {
            let Some(rest) = below(&target, &allowed.prefix) else { continue };
            let inside = unescaped(&target, rest).and_then(|rest| Key::new(&rest).ok());
            let inside = inside.ok_or_else(|| refuse("which is no name of a file".to_owned()))?;
            let open = self.open.as_ref().ok_or_else(|| refuse("which nothing opens here".to_owned()))?;
            return Ok((allowed.open(&**open).map_err(OutsideError::Store)?, inside));
        }
        let places: Vec<&str> =
            self.addresses.iter().take(1).chain(self.allowed.iter().map(|it| &it.prefix)).map(|at| shown(at)).collect();
        let places =
            if places.is_empty() { format!("the directory of the file with the {what}") } else { places.join(", ") };
        let reason =
            format!("which does not lie below {places}: {what} lead elsewhere only where the caller allows it");
        Err(OutsideError::NotAllowed(reason))
    }
}

impl fmt::Debug for FileFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileFinder").field("directory", &self.directory).finish_non_exhaustive()
    }
}

impl Allowed {
    /// Returns the store at the prefix, which the first call opens.
    fn open(&self, open: &Opener) -> Result<Arc<dyn Store>> {
        if let Some(store) = self.store.get() {
            return Ok(Arc::clone(store));
        }
        let store = open(&self.given)?;
        Ok(Arc::clone(self.store.get_or_init(|| store)))
    }
}

/// Returns the part of `url` behind `prefix` and a slash; `None` if `url` is not below `prefix`.
fn below<'u>(url: &'u str, prefix: &str) -> Option<&'u str> {
    url.strip_prefix(prefix)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// Returns the key of a file from `rest`, the last part of `url`, in which URLs of the web have escapes.
fn unescaped(url: &str, rest: &str) -> Option<String> {
    if is_web(url) { decoded(rest) } else { Some(rest.to_owned()) }
}
