//! Folder of references as a virtual store. Its documents are read at once, a file of references when a chunk in it is read.

use std::fmt;
use std::sync::{Arc, OnceLock};

use zarr_json::{ParseOptions, Value};
use zarr_store::{AccessProfile, AsyncStore, BoxFuture, Bytes, Error, Key, Prefix, Result, Store, StoreExt, StoreKind};
use zarr_store_virtual::lookup::{EitherStore, LoadCache, Way, wait};
use zarr_store_virtual::{FileFinder, FindChunks, FoundChunk, VirtualStore};

use super::{Bad, Budget, MAX_RECORD, Record, Row};
use crate::arrays::Arrays;
use crate::targets;
use crate::{ReferencesFault, ReferencesOptions};

/// Name of the document that contains all other documents.
pub(super) const METADATA: &str = ".zmetadata";
/// Maximum size in bytes of the document `.zmetadata`.
const MAX_METADATA: u64 = 256 << 20;
/// Maximum number of files of references of an array that are tried one by one if the store cannot list them.
const MAX_LOOKED_FOR: u64 = 1 << 16;

/// Opens a folder of references in Parquet as a virtual store. Relative names in references are relative to the directory that contains the
/// folder.
///
/// Opening reads `.zmetadata` only. A file of references is read when a chunk in it is read, and cached in [limited
/// memory](ReferencesOptions::max_cached).
///
/// # Errors
/// [`Error::NoStore`] if the folder has no `.zmetadata`; [`Error::Format`] with a [`ReferencesFault`] if `.zmetadata` does not belong to
/// references; and the errors of `store`. A get of a chunk returns the faults of its file of references.
pub fn open_parquet(store: Arc<dyn Store>, folder: &Prefix, options: &ReferencesOptions) -> Result<VirtualStore> {
    let name = options.name.clone().unwrap_or_else(|| {
        let below = store.to_string();
        let between = if below.ends_with(['/', ':']) || folder.is_root() { "" } else { "/" };
        format!("{below}{between}{}", folder.as_str().trim_end_matches('/'))
    });
    let below = EitherStore::new(Arc::clone(&store));
    let limit = options.max_size.min(MAX_METADATA);
    let bytes = wait(below.first(Way::Blocking, &folder.join(METADATA)?, limit))?;
    let bytes = bytes.ok_or_else(|| Error::NoStore { store: name.clone() })?;
    if bytes.len() as u64 > limit {
        return Err(ReferencesFault::TooLong { size: bytes.len() as u64, limit }.of(name));
    }
    let (documents, record_size) = documents(&bytes).map_err(|fault| fault.of(&name))?;
    let mut builder = VirtualStore::builder(&name);
    let mut arrays = Arrays::default();
    for (key, text) in documents {
        arrays.note(&key, text.as_bytes()).map_err(|fault| fault.of(&name))?;
        builder.document(Key::new(&key)?, Bytes::from(text.into_bytes()));
    }
    let finder = options.finder(store, parent(folder));
    let (profile, not_blocking) = nearness(&below, &finder)?;
    let cache = LoadCache::new(options.max_cached, Record::size);
    let folder =
        Arc::new(Folder { name, below, folder: folder.clone(), record_size, finder, cache, profile, not_blocking });
    for (number, array) in arrays.list.into_iter().enumerate() {
        let count = array.counts.iter().product();
        let prefix = Prefix::new(&array.prefix)?;
        let at = folder.folder.join_prefix(&prefix);
        let lazy = Lazy { folder: Arc::clone(&folder), number, at, count, files: OnceLock::new() };
        builder.found_chunks(prefix, array.form, &array.counts, Arc::new(lazy));
    }
    builder.build()
}

/// Whether `text`, the content of a `.zmetadata`, belongs to references in Parquet, and not to an ordinary group.
#[must_use]
pub fn is_parquet(text: &[u8]) -> bool {
    documents(text).is_ok()
}

/// Parses a `.zmetadata`: returns the documents with their keys, and the number of references in each file.
fn documents(text: &[u8]) -> std::result::Result<(Vec<(String, String)>, u64), ReferencesFault> {
    let fault = |what: String| ReferencesFault::Document { key: METADATA.to_owned(), what };
    let document = zarr_json::parse(text, ParseOptions::ALL).map_err(|error| fault(error.to_string()))?.value;
    let size = document.get("record_size");
    let record_size = size.and_then(Value::as_u64).filter(|size| *size > 0).ok_or_else(|| {
        let found = size.map_or_else(|| "nothing".to_owned(), Value::excerpt);
        fault(format!("found {found} as record_size, expected the number of references in a file"))
    })?;
    let members = document.get("metadata").and_then(Value::as_object);
    let members =
        members.ok_or_else(|| fault("found no object as metadata, expected documents by their keys".to_owned()))?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Ok((members.iter().map(|(key, value)| (key.to_owned(), text(value))).collect(), record_size))
}

/// Returns the parent of `folder`.
fn parent(folder: &Prefix) -> Prefix {
    let text = folder.as_str().trim_end_matches('/');
    let end = text.rfind('/').map_or(0, |at| at + 1);
    Prefix::new(&text[..end]).unwrap_or_else(|_| Prefix::root())
}

/// Returns the access profile and a store that does not block of the farthest place of files: the store of the references, or an allowed
/// store behind a network.
fn nearness(below: &EitherStore, finder: &FileFinder) -> Result<(AccessProfile, Option<Arc<dyn AsyncStore>>)> {
    let own = (below.store().access_profile(), below.not_blocking().cloned());
    if own.0.kind == StoreKind::Remote {
        return Ok(own);
    }
    for store in finder.far()? {
        let profile = store.access_profile();
        if profile.kind == StoreKind::Remote {
            return Ok((profile, store.as_async()));
        }
    }
    Ok(own)
}

/// Number of an array, and number of one of its files of references.
type Id = (usize, u64);

/// State that all arrays of a folder of references share.
struct Folder {
    name: String,
    below: EitherStore,
    folder: Prefix,
    record_size: u64,
    finder: FileFinder,
    cache: LoadCache<Id, Record>,
    profile: AccessProfile,
    not_blocking: Option<Arc<dyn AsyncStore>>,
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder")
            .field("name", &self.name)
            .field("record_size", &self.record_size)
            .finish_non_exhaustive()
    }
}

/// Chunks of an array, which are looked up in files of references.
#[derive(Debug)]
struct Lazy {
    folder: Arc<Folder>,
    /// Number of the array in the folder, for the cache.
    number: usize,
    /// Prefix of the files of references of the array.
    at: Prefix,
    count: u64,
    /// Numbers of the existing files of references, in order; `None` if the store cannot list them.
    files: OnceLock<Option<Vec<u64>>>,
}

impl Lazy {
    /// Returns the file of references with this number, from the cache if it is there.
    async fn record(&self, way: Way, number: u64) -> Result<Arc<Record>> {
        let folder = &self.folder;
        folder.cache.get(way, (self.number, number), self.load(way, number)).await
    }

    /// Reads the file of references with this number. If the file does not exist, all its chunks are missing.
    async fn load(&self, way: Way, number: u64) -> Result<Record> {
        let folder = &self.folder;
        let key = self.at.join(&format!("refs.{number}.parq"))?;
        let Some(bytes) = folder.below.first(way, &key, MAX_RECORD).await? else { return Ok(Record::default()) };
        let file = || folder.folder.strip(&key).unwrap_or(key.as_str()).to_owned();
        if bytes.len() as u64 > MAX_RECORD {
            let fault = ReferencesFault::Record {
                file: file(),
                place: "file".to_owned(),
                found: "more bytes".to_owned(),
                expected: format!("at most {MAX_RECORD}"),
                is_limit: true,
            };
            return Err(fault.of(&folder.name));
        }
        let first = number.saturating_mul(folder.record_size);
        let rows = self.count.saturating_sub(first).min(folder.record_size);
        Record::read(&bytes, rows, folder.record_size, &mut Budget::of_file(bytes.len() as u64)).map_err(|bad| {
            let Bad { place, found, expected, is_limit } = bad;
            ReferencesFault::Record { file: file(), place, found, expected, is_limit }.of(&folder.name)
        })
    }

    async fn chunk(&self, way: Way, key: &Key, index: u64) -> Result<FoundChunk> {
        let folder = &self.folder;
        let record = self.record(way, index / folder.record_size).await?;
        self.place(&record, key, index)
    }

    /// Where a chunk is, by its file of references.
    fn place(&self, record: &Record, key: &Key, index: u64) -> Result<FoundChunk> {
        let folder = &self.folder;
        let row = usize::try_from(index % folder.record_size).unwrap_or(usize::MAX);
        match record.row(row) {
            Row::Missing => Ok(FoundChunk::Missing),
            Row::Raw(bytes) => Ok(FoundChunk::Inline(bytes)),
            Row::Path(url, range) => {
                let (store, file) = targets::file(&folder.finder, &folder.name, key.as_str(), url)?;
                Ok(FoundChunk::File { store, file, range })
            }
        }
    }

    /// Returns the numbers of the existing files of references; `None` if the store cannot list them.
    fn files(&self) -> Result<Option<&[u64]>> {
        if let Some(files) = self.files.get() {
            return Ok(files.as_deref());
        }
        let store = self.folder.below.store();
        let files = if store.capabilities().list {
            let listed = store.list_dir(&self.at)?.keys;
            let number = |key: &Key| key.name().strip_prefix("refs.")?.strip_suffix(".parq")?.parse().ok();
            let mut files: Vec<u64> = listed.iter().filter_map(number).collect();
            files.sort_unstable();
            Some(files)
        } else {
            let (files, limit) = (self.count.div_ceil(self.folder.record_size), MAX_LOOKED_FOR);
            if files > limit {
                let fault = ReferencesFault::Record {
                    file: self.at.to_string(),
                    place: "files".to_owned(),
                    found: format!("{files} files that cannot be listed"),
                    expected: format!("at most {limit}"),
                    is_limit: true,
                };
                return Err(fault.of(&self.folder.name));
            }
            None
        };
        Ok(self.files.get_or_init(|| files).as_deref())
    }
}

impl FindChunks for Lazy {
    fn count(&self) -> u64 {
        self.count
    }

    fn find(&self, key: &Key, index: u64) -> Result<FoundChunk> {
        wait(self.chunk(Way::Blocking, key, index))
    }

    fn find_without_blocking<'a>(&'a self, key: &'a Key, index: u64) -> BoxFuture<'a, Result<FoundChunk>> {
        Box::pin(self.chunk(Way::NotBlocking, key, index))
    }

    fn known(&self, key: &Key, index: u64) -> Option<FoundChunk> {
        let record = self.folder.cache.known((self.number, index / self.folder.record_size))?;
        // A fault is that of the get.
        self.place(&record, key, index).ok()
    }

    fn next(&self, from: u64) -> Result<Option<u64>> {
        let (size, files) = (self.folder.record_size, self.files()?);
        let (mut number, mut row) = (from / size, from % size);
        loop {
            if let Some(files) = files {
                let Some(next) = files.get(files.partition_point(|file| *file < number)) else { return Ok(None) };
                if *next > number {
                    (number, row) = (*next, 0);
                }
            }
            let Some(first) = number.checked_mul(size).filter(|first| *first < self.count) else { return Ok(None) };
            let record = wait(self.record(Way::Blocking, number))?;
            if let Some(found) = record.next(usize::try_from(row).unwrap_or(usize::MAX)) {
                return Ok(Some(first + found as u64));
            }
            (number, row) = (number + 1, 0);
        }
    }

    fn access_profile(&self) -> AccessProfile {
        self.folder.profile
    }

    fn take_warnings(&self) -> Vec<String> {
        self.folder.below.store().take_warnings()
    }

    fn not_blocking(&self) -> Option<Arc<dyn AsyncStore>> {
        self.folder.not_blocking.clone()
    }
}
