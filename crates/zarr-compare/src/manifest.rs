//! Manifests: a checksum of each value of a node, in the forms of `sha256sum` and of DANDI.

mod check;
mod dandi;
mod hashing;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use zarr_hierarchy::node::is_one_prefix;
use zarr_hierarchy::{Error, IntoFlow, Result, in_store, open_node};
use zarr_scan::{in_parallel, lock, processors};
use zarr_store::{Key, Prefix, Store, StoreExt, StoreKind};

use crate::progress::{Progress, Reporter};
pub use check::ManifestDifference;
use hashing::checksum;

/// Number of values of a remote store that are read at the same time, unless the options name another.
const REMOTE: usize = 16;

/// Hash function of the checksums of a manifest, and form of its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManifestForm {
    /// SHA-256 of each value, as `sha256sum` writes it: `sha256sum -c` checks the text in the directory of the node.
    #[default]
    Sha256sum,
    /// MD5 of each value, as `md5sum` writes it, and in comments the checksums of directories in the form that the archive DANDI uses
    /// (`zarr-checksum`), that of the node last.
    Dandi,
}

impl fmt::Display for ManifestForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sha256sum => "sha256sum",
            Self::Dandi => "dandi",
        })
    }
}

impl FromStr for ManifestForm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let all = [Self::Sha256sum, Self::Dandi];
        all.into_iter().find(|form| form.to_string() == text).ok_or_else(|| {
            Error::argument(format!("found the form {text:?} of a manifest, expected sha256sum or dandi"))
        })
    }
}

/// Options of a [`Manifest`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ManifestOptions {
    /// Form of a new manifest. One that is checked has its own.
    pub form: ManifestForm,
    /// Number of values that are read at the same time. By default the number of processors, and 16 at least for a remote store. Of each
    /// value 8 MiB are in memory.
    pub threads: Option<NonZeroUsize>,
}

impl ManifestOptions {
    /// Sets [`form`](Self#structfield.form).
    #[must_use]
    pub fn form(self, form: ManifestForm) -> Self {
        Self { form, ..self }
    }

    /// Sets [`threads`](Self#structfield.threads).
    #[must_use]
    pub fn threads(self, threads: impl Into<Option<NonZeroUsize>>) -> Self {
        Self { threads: threads.into(), ..self }
    }

    fn workers(&self, store: &dyn Store) -> usize {
        let own = || match store.access_profile().kind {
            StoreKind::Remote => processors().get().max(REMOTE),
            _ => processors().get(),
        };
        self.threads.map_or_else(own, NonZeroUsize::get)
    }
}

/// Checksum of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ManifestEntry {
    /// Hash in lower-case hexadecimal digits.
    pub checksum: String,
    /// Size of the value in bytes; `None` in a manifest that was read from a text.
    pub size: Option<u64>,
}

/// Checksums of the values of a node, with all nodes below it, by their names: keys below the path of the node.
///
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_compare::{Manifest, ManifestOptions};
/// use zarr_store::{Key, MemoryStore, StoreExt};
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let new = NewArray::new(&[2], "int8").codecs("bytes")?;
/// Array::create(&store, "/a", new, &registry)?.write(.., &[1_i8, 2])?;
/// let manifest = Manifest::of(&store, "/a", &ManifestOptions::default(), |_| {})?;
/// let read: Manifest = manifest.to_string().parse()?;
/// assert!(read.check(&store, "/a", &ManifestOptions::default(), |_| {})?.is_empty());
/// store.set_all(&Key::new("a/c/0")?, &[3, 4])?;
/// let differences = read.check(&store, "/a", &ManifestOptions::default(), |_| {})?;
/// assert_eq!(differences[0].to_string(), "c/0: differs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    form: ManifestForm,
    entries: BTreeMap<String, ManifestEntry>,
}

impl Manifest {
    /// Computes the checksums of all values of the node at `path`. Locks, journals and other temporary keys that the store does not list are
    /// left out.
    ///
    /// # Errors
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the store does not list keys, or keys of the node do not lie below its path, as in
    /// old dialects; an error if there is no node; the errors of reading; and
    /// [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled) if `progress` cancels.
    pub fn of<F: IntoFlow>(
        store: &Arc<dyn Store>,
        path: &str,
        options: &ManifestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Self> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&report);
        let prefix = prefix_of(store, path)?;
        if !store.capabilities().list {
            let error = Error::argument("the store does not list its keys, of which a manifest has all");
            return Err(in_store(&**store, error));
        }
        let keys = listed(store, &prefix)?;
        reporter.report(Progress::Total(keys.values().map(|size| u128::from(*size)).sum()))?;
        let names = keys.into_keys().collect();
        let found = computed(store, &prefix, options.form, names, options, &reporter)?;
        let there = |(name, entry): (String, Option<ManifestEntry>)| entry.map(|entry| (name, entry));
        Ok(Self { form: options.form, entries: found.into_iter().filter_map(there).collect() })
    }

    /// Form of the manifest.
    pub fn form(&self) -> ManifestForm {
        self.form
    }

    /// Checksums by names, in the order of names.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, &ManifestEntry)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// Number of bytes of all values; `None` if the manifest was read from a text.
    pub fn size(&self) -> Option<u64> {
        self.entries.values().map(|entry| entry.size).try_fold(0_u64, |sum, size| Some(sum.saturating_add(size?)))
    }
}

/// Returns the prefix of all keys of the node at `path`.
fn prefix_of(store: &Arc<dyn Store>, path: &str) -> Result<Prefix> {
    let found = open_node(&**store, path, None).map_err(|error| in_store(&**store, error))?;
    if !found.path.is_root() && !is_one_prefix(found.dialect, &found.path) {
        let message = format!("keys of a node of dialect {} do not all lie below its path", found.dialect);
        let error = Error::argument(message).with_hint("the root has a manifest of all keys").at_path(&found.path);
        return Err(in_store(&**store, error));
    }
    Ok(Prefix::new(&found.path.key_prefix())?)
}

/// Lists the names of the values below `prefix`, with their sizes.
fn listed(store: &Arc<dyn Store>, prefix: &Prefix) -> Result<BTreeMap<String, u64>> {
    let keys = Arc::new(Mutex::new(BTreeMap::new()));
    let (found, start) = (Arc::clone(&keys), prefix.as_str().len());
    let visit: zarr_store::SizeVisitor = Arc::new(move |key: Key, size| {
        if let Some(name) = key.as_str().get(start..) {
            lock(&found).insert(name.to_owned(), size);
        }
    });
    store.list_sizes(prefix, &visit)?;
    drop(visit);
    Ok(std::mem::take(&mut *lock(&keys)))
}

/// Computes the checksums of values by their names; `None` for a value that is not there.
fn computed(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    form: ManifestForm,
    names: Vec<String>,
    options: &ManifestOptions,
    reporter: &Reporter<'_>,
) -> Result<BTreeMap<String, Option<ManifestEntry>>> {
    let found = Mutex::new(BTreeMap::new());
    let workers = options.workers(&**store).min(names.len()).max(1);
    in_parallel(workers, names.into_iter(), &|name: String| {
        let key = prefix.join(&name)?;
        let done = |bytes: u64| reporter.report(Progress::Done(bytes.into()));
        let entry = checksum(&**store, &key, form, &done)?;
        lock(&found).insert(name, entry);
        Ok(())
    })?;
    Ok(found.into_inner().unwrap_or_default())
}
