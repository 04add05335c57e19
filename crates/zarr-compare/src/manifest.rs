//! Manifests: a checksum of each value of a node, in the forms of `sha256sum` and of DANDI.

mod check;
mod dandi;
mod hashing;
mod listing;
mod shares;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use zarr_hierarchy::{Error, ErrorKind, IntoFlow, Result, in_store};
use zarr_meta::Dialect;
use zarr_scan::{in_parallel, lock, processors};
use zarr_store::{Prefix, Store, StoreKind};

use crate::progress::{Progress, Reporter};
pub use check::{ManifestCheck, ManifestDifference};
use dandi::MOST_SEGMENTS;
use hashing::{Values, gone};
use listing::{Sizes, is_left_out, listed, prefix_of, state_of};

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
    /// (`zarr-checksum`), that of the node last. Values below `.git`, `.datalad` and `.dandi`, `.gitattributes` and `.gitmodules` are left out,
    /// as the client of DANDI does.
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
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ManifestOptions {
    /// Form of a new manifest. One that is checked has its own.
    pub form: ManifestForm,
    /// Number of values that are read at the same time. By default the number of processors, and 16 at least for a remote store.
    pub threads: Option<NonZeroUsize>,
    /// Number of bytes of values that are in memory at the same time, 1 GiB by default and 64 KiB at least. A store that only has whole
    /// values, such as an archive with compressed files, may take more for a value that is larger.
    pub memory: u64,
    /// Dialect of the node; `None` for any.
    pub dialect: Option<Dialect>,
}

impl Default for ManifestOptions {
    fn default() -> Self {
        Self { form: ManifestForm::default(), threads: None, memory: 1 << 30, dialect: None }
    }
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

    /// Sets [`memory`](Self#structfield.memory).
    #[must_use]
    pub fn memory(self, memory: u64) -> Self {
        Self { memory, ..self }
    }

    /// Sets [`dialect`](Self#structfield.dialect).
    #[must_use]
    pub fn dialect(self, dialect: impl Into<Option<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
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
/// assert!(read.check(&store, "/a", &ManifestOptions::default(), |_| {})?.differences.is_empty());
/// store.set_all(&Key::new("a/c/0")?, &[3, 4])?;
/// let check = read.check(&store, "/a", &ManifestOptions::default(), |_| {})?;
/// assert_eq!(check.differences[0].to_string(), "c/0: differs");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    form: ManifestForm,
    entries: BTreeMap<String, ManifestEntry>,
    /// Checksum of the node in the form of DANDI.
    dandi_checksum: Option<String>,
}

impl Manifest {
    /// Computes the checksums of all values of the node at `path`. Left out are locks and temporary keys that the store does not list, and keys
    /// of unfinished changes by this library: journals of conversions, their temporary elements, nodes that are to replace others, and the
    /// record of a migration.
    ///
    /// Nothing may write to the node meanwhile. The keys are listed again at the end: if a value came, went or changed its size, that is an
    /// error, but a value that was replaced by another of the same size has the checksum of either. In memory are the names and checksums,
    /// about 200 bytes and the length of the name for each value, besides [`memory`](ManifestOptions#structfield.memory).
    ///
    /// # Errors
    /// - [`Argument`](zarr_hierarchy::ErrorKind::Argument) if the store does not list keys, or if not all keys of the node lie below its path,
    ///   as those of documents in a draft of version 3, which lie below `meta/`.
    /// - [`NotFound`](zarr_hierarchy::ErrorKind::NotFound) if there is no node or it has no values.
    /// - [`Conflict`](zarr_hierarchy::ErrorKind::Conflict) if values come, go or change their sizes meanwhile.
    /// - [`Limit`](zarr_hierarchy::ErrorKind::Limit) if a name makes a line of more than 128 KiB, or in the form of DANDI has more than 1,000
    ///   segments.
    /// - [`Store`](zarr_hierarchy::ErrorKind::Store) if a value cannot be read.
    /// - [`Cancelled`](zarr_hierarchy::ErrorKind::Cancelled) if `progress` cancels.
    pub fn of<F: IntoFlow>(
        store: &Arc<dyn Store>,
        path: &str,
        options: &ManifestOptions,
        progress: impl Fn(Progress<'_>) -> F + Sync,
    ) -> Result<Self> {
        let report = |event: Progress<'_>| progress(event).into_flow();
        let reporter = Reporter::new(&report);
        let prefix = prefix_of(&**store, path, options.dialect)?;
        if !store.capabilities().list {
            let error = Error::argument("the store does not list its keys, of which a manifest has all");
            return Err(in_store(&**store, error));
        }
        let list = || -> Result<Sizes> {
            let mut sizes = listed(&**store, &prefix)?;
            sizes.retain(|name, _| !is_left_out(options.form, &prefix, name));
            Ok(sizes)
        };
        let sizes = list()?;
        if sizes.is_empty() {
            let error = Error::new(ErrorKind::NotFound, "found no values below the path of the node");
            return Err(in_store(&**store, error.at(|location| location.path = Some(path.to_owned()))));
        }
        for name in sizes.keys() {
            check_name(options.form, name).map_err(|error| in_store(&**store, error))?;
        }
        let (before, entries) = (state_of(&sizes), Mutex::new(BTreeMap::new()));
        computed(store, &prefix, options.form, sizes, options, &reporter, &|name, found| {
            let Some(entry) = found? else { return Err(gone(&**store, &prefix.join(&name)?)) };
            lock(&entries).insert(name, entry);
            Ok(())
        })?;
        let entries = entries.into_inner().unwrap_or_default();
        let after = list()?;
        if state_of(&after) != before {
            return Err(in_store(&**store, changed(&prefix, &entries, &after)));
        }
        Ok(Self::new(options.form, entries))
    }

    fn new(form: ManifestForm, entries: BTreeMap<String, ManifestEntry>) -> Self {
        let made = Self { form, entries, dandi_checksum: None };
        let dandi_checksum = made.compute_dandi_checksum();
        Self { dandi_checksum, ..made }
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

/// Returns an error for a name that a manifest cannot have.
fn check_name(form: ManifestForm, name: &str) -> Result<()> {
    let (found, most, what) = match (text::line_length(name), name.split('/').count()) {
        (bytes, _) if bytes > text::LONGEST => (bytes, text::LONGEST, "bytes in the line"),
        (_, segments) if form == ManifestForm::Dandi && segments > MOST_SEGMENTS => {
            (segments, MOST_SEGMENTS, "segments")
        }
        _ => return Ok(()),
    };
    let begin = text::excerpt(name);
    Err(Error::new(ErrorKind::Limit, format!("found {found} {what} of the name {begin:?}, expected at most {most}")))
}

/// Returns the error of values that changed while checksums were computed: it names the first that came or went.
fn changed(prefix: &Prefix, before: &BTreeMap<String, ManifestEntry>, after: &Sizes) -> Error {
    let came = after.keys().find(|name| !before.contains_key(*name));
    let went = before.keys().find(|name| !after.contains_key(*name));
    let (what, name) = match (came, went) {
        (Some(name), _) => ("a new value", Some(name)),
        (_, Some(name)) => ("no value any more", Some(name)),
        _ => ("values of other sizes", None),
    };
    let message = format!("found {what} at the end, expected the same values as in the beginning");
    let error = Error::new(ErrorKind::Conflict, message).with_hint("does another process write to the node?");
    let key = name.and_then(|name| prefix.join(name).ok());
    error.at(|location| location.key = key.map(|key| key.to_string()))
}

/// Computes the checksums of values, and calls `each` with the name and the result; `None` for a value that is not there. An error of `each`
/// ends the work.
fn computed(
    store: &Arc<dyn Store>,
    prefix: &Prefix,
    form: ManifestForm,
    sizes: Sizes,
    options: &ManifestOptions,
    reporter: &Reporter<'_>,
    each: &(dyn Fn(String, Result<Option<ManifestEntry>>) -> Result<()> + Sync),
) -> Result<()> {
    let total = sizes.values().map(|size| u128::from(size.unwrap_or(0))).sum();
    reporter.report(Progress::Total(total))?;
    let values = Values::new(&**store, form, options.memory);
    let workers = options.workers(&**store).min(sizes.len()).max(1);
    in_parallel(workers, sizes.into_iter(), &|(name, size): (String, Option<u64>)| {
        let key = prefix.join(&name)?;
        let done = |bytes: u64| reporter.report(Progress::Done(bytes.into()));
        each(name, values.checksum(&key, size, &done))
    })
}
