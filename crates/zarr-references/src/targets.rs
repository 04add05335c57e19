//! Search for the files that references name, and checks that references may name them.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use zarr_store::{Key, Prefix, Result, Store};
use zarr_store_virtual::{SourceId, VirtualStoreBuilder};

use crate::options::Opener;
use crate::place::{decoded, is_drive, is_web, place, plain, shown};
use crate::{ReferencesFault, ReferencesOptions};

/// Maximum memory in bytes of the names of files of references, in addition to [`NAMES_PER_BYTE`].
const NAMES: u64 = 256 << 20;
/// Maximum memory in bytes of the names of files for each byte of the references.
const NAMES_PER_BYTE: u64 = 8;
/// Estimate of the memory in bytes of a file besides its name.
const FILE: u64 = 64;

/// Search for files by the URLs in references.
pub(crate) struct FileFinder {
    store: Arc<dyn Store>,
    /// Directory of the references in `store`.
    directory: Prefix,
    /// Addresses of the directory, as [`place`] returns them.
    addresses: Vec<String>,
    allowed: Vec<Allowed>,
    open: Option<Arc<Opener>>,
}

/// Search for files by the URLs in references, which adds each file once as a source of a virtual store.
pub(crate) struct Targets {
    finder: FileFinder,
    known: HashMap<String, SourceId>,
    /// Maximum memory in bytes of the names of files, and the part of it that is left.
    names: (u64, u64),
    last: Option<(String, SourceId)>,
}

/// Prefix that the caller allows.
struct Allowed {
    /// Prefix as the caller gave it, maybe with secrets.
    given: String,
    /// Prefix as [`place`] returns it.
    prefix: String,
    store: OnceLock<Arc<dyn Store>>,
}

impl Targets {
    /// Creates a search for the files of references of `size` bytes.
    pub(crate) fn new(finder: FileFinder, size: u64) -> Self {
        let names = size.saturating_mul(NAMES_PER_BYTE).saturating_add(NAMES);
        Self { finder, known: HashMap::new(), names: (names, names), last: None }
    }

    pub(crate) fn finder(&self) -> &FileFinder {
        &self.finder
    }

    /// Returns the source for the file at `url`, and adds it to `builder` if it is new. Errors show `name`, the name of the references, and
    /// `key`, the key of the reference.
    pub(crate) fn source(
        &mut self,
        name: &str,
        key: &str,
        url: &str,
        builder: &mut VirtualStoreBuilder,
    ) -> Result<SourceId> {
        if let Some((last, source)) = &self.last
            && last == url
        {
            return Ok(*source);
        }
        let source = match self.known.get(url) {
            Some(source) => *source,
            None => {
                let (store, target) = self.finder.file(name, key, url)?;
                let (limit, left) = self.names;
                let left = left.checked_sub(url.len() as u64 + FILE);
                self.names.1 = left.ok_or_else(|| ReferencesFault::Work { limit }.of(name))?;
                let source = builder.source(store, target);
                self.known.insert(url.to_owned(), source);
                source
            }
        };
        self.last = Some((url.to_owned(), source));
        Ok(source)
    }
}

impl FileFinder {
    /// Creates a search for the files of references in `directory` of `store`.
    pub(crate) fn new(store: Arc<dyn Store>, directory: Prefix, options: &ReferencesOptions) -> Self {
        let allowed = |given: &String| Allowed { given: given.clone(), prefix: place(given), store: OnceLock::new() };
        Self {
            store,
            directory,
            addresses: options.directories.iter().map(|at| place(at)).collect(),
            allowed: options.allowed.iter().map(allowed).collect(),
            open: options.open.clone(),
        }
    }

    /// Opens and returns the stores at the allowed prefixes that are URLs, and not paths of this machine.
    #[cfg(feature = "parquet")]
    pub(crate) fn far(&self) -> Result<Vec<Arc<dyn Store>>> {
        let Some(open) = &self.open else { return Ok(Vec::new()) };
        let far = self.allowed.iter().filter(|allowed| allowed.prefix.contains("://"));
        far.map(|allowed| allowed.open(&**open)).collect()
    }

    /// Returns the store that contains the file at `url`, and the key of the file in the store. Errors show `name`, the name of the
    /// references, and `key`, the key of the reference.
    pub(crate) fn file(&self, name: &str, key: &str, url: &str) -> Result<(Arc<dyn Store>, Key)> {
        let refuse =
            |reason: String| ReferencesFault::NotAllowed { key: key.to_owned(), url: url.to_owned(), reason }.of(name);
        let target = plain(url);
        if !is_absolute(&target) {
            let inside = self.directory.join(target.trim_start_matches("./"));
            let inside =
                inside.map_err(|_| refuse("which does not lie below the directory of the references".to_owned()))?;
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
            return Err(refuse("a file of this machine, to which references from elsewhere never lead".to_owned()));
        }
        for allowed in &self.allowed {
            let Some(rest) = below(&target, &allowed.prefix) else { continue };
            let inside = unescaped(&target, rest).and_then(|rest| Key::new(&rest).ok());
            let inside = inside.ok_or_else(|| refuse("which is no name of a file".to_owned()))?;
            let open = self.open.as_ref().ok_or_else(|| refuse("which nothing opens here".to_owned()))?;
            return Ok((allowed.open(&**open)?, inside));
        }
        let places: Vec<&str> =
            self.addresses.iter().take(1).chain(self.allowed.iter().map(|it| &it.prefix)).map(|at| shown(at)).collect();
        let places = if places.is_empty() { "the directory of the references".to_owned() } else { places.join(", ") };
        Err(refuse(format!(
            "which does not lie below {places}: references lead elsewhere only where the caller allows it"
        )))
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

fn is_absolute(url: &str) -> bool {
    url.starts_with('/') || url.contains("://") || url.contains("::") || is_drive(url)
}

/// Returns the part of `url` behind `prefix` and a slash; `None` if `url` is not below `prefix`.
fn below<'u>(url: &'u str, prefix: &str) -> Option<&'u str> {
    url.strip_prefix(prefix)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// Returns the key of a file from `rest`, the last part of `url`, in which URLs of the web have escapes.
fn unescaped(url: &str, rest: &str) -> Option<String> {
    if is_web(url) { decoded(rest) } else { Some(rest.to_owned()) }
}
