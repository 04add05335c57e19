//! Read-only store of one snapshot of a repository.

mod list;
mod not_blocking;
mod place;

use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use zarr_store::{
    AccessProfile, Answer, AsyncStore, Below, Blocking, ByteRange, Call, Capabilities, Error, Fetched, GetInto,
    GetOptions, Key, Result, Store, StoreExt, Version, fallback,
};

use crate::checksum::{Checksum, Mismatch};
use crate::chunk_key;
use crate::fault::IcechunkFault;
use crate::file::{self, FileType};
use crate::id::Id;
use crate::manifest::{Manifest, Place};
use crate::outside::{Allowed, OpenFile, Outside};
use crate::refs::{self, Revision};
use crate::snapshot::Snapshot;
use zarr_store_virtual::lookup::{EitherStore, LoadCache, Way, wait};

use not_blocking::NotBlocking;

/// Default of the maximum memory of the cached manifests, in bytes.
const MANIFEST_BYTES: usize = 256 << 20;

/// Options of opening a repository.
///
/// ```
/// use zarr_icechunk::{IcechunkOptions, Revision};
/// let options = IcechunkOptions::default().revision(Revision::parse("tag.v1")).manifest_bytes(1 << 20);
/// assert!(options.clone().allow("s3://bucket/data/,file:///data/").is_some());
/// assert!(options.allow("data").is_none());
/// ```
#[derive(Clone, Debug)]
pub struct IcechunkOptions {
    revision: Revision,
    outside: Outside,
    manifest_bytes: usize,
}

/// Default options: the branch `main`, without chunks in files outside of the repository.
impl Default for IcechunkOptions {
    fn default() -> Self {
        Self { revision: Revision::default(), outside: Outside::default(), manifest_bytes: MANIFEST_BYTES }
    }
}

impl IcechunkOptions {
    /// Sets the revision that is opened.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        Self { revision, ..self }
    }

    /// Allows reading chunks in files outside of the repository whose URLs lie below the URLs of this list, which are separated by commas,
    /// as `s3://bucket/data/`. `NAME=URL` also says where the container `NAME` of the repository is. `None` if an entry is invalid.
    #[must_use]
    pub fn allow(mut self, urls: &str) -> Option<Self> {
        self.outside.allowed = Allowed::parse(urls)?;
        Some(self)
    }

    /// Sets the function that opens files outside of the repository. Without it they are not read.
    #[must_use]
    pub fn open_files(mut self, open: Arc<OpenFile>) -> Self {
        self.outside.open = Some(open);
        self
    }

    /// Sets the maximum memory of the cached manifests in bytes, by default 256 MiB. A manifest that is larger is cached alone until the
    /// next one is read.
    #[must_use]
    pub fn manifest_bytes(self, manifest_bytes: usize) -> Self {
        Self { manifest_bytes, ..self }
    }
}

/// Read-only store of the documents and chunks of one snapshot of an Icechunk repository.
///
/// Later commits do not change the store. The store has a form that does not block ([`Store::as_async`]) if the store that contains the
/// repository has such a form.
#[derive(Clone, Debug)]
pub struct IcechunkStore(Arc<Inner>);

/// State that the form that blocks and the form that does not block share.
#[derive(Debug)]
struct Inner {
    /// Name of the store in messages.
    name: String,
    below: EitherStore,
    snapshot: Snapshot,
    /// Version of all values in the snapshot and its manifests, which never change: the id of the snapshot.
    version: Version,
    manifests: LoadCache<Id, Manifest>,
    outside: Outside,
}

impl IcechunkStore {
    /// Opens a repository, whose files are the values of `store`.
    ///
    /// # Errors
    /// [`Error::NotAStore`] if `store` contains no repository, [`Error::Argument`] if the repository has no such branch, tag or snapshot,
    /// [`Error::Format`] with an [`IcechunkFault`] if a file is missing or invalid, and the errors of `store`.
    pub fn open(store: Arc<dyn Store>, options: IcechunkOptions) -> Result<Self> {
        let below = EitherStore::new(store);
        let id = refs::resolve(&below, &options.revision)?;
        let name = format!("icechunk:{}@{}", below.store(), options.revision);
        let file = Key::new(&format!("snapshots/{id}"))?;
        let content = wait(file::content(&below, Way::Blocking, &file, FileType::Snapshot))?;
        let content = content.ok_or_else(|| {
            let by = format!("revision {}", options.revision);
            IcechunkFault::Missing { file: file.to_string(), by }.in_store(below.store())
        })?;
        let snapshot = Snapshot::parse(file.as_str(), content, id).map_err(|fault| fault.in_store(below.store()))?;
        let manifests = LoadCache::new(options.manifest_bytes, Manifest::size);
        let version = Version::new(&id.to_string());
        Ok(Self(Arc::new(Inner { name, below, snapshot, version, manifests, outside: options.outside })))
    }

    /// Returns the id of the snapshot.
    #[must_use]
    pub fn snapshot_id(&self) -> &str {
        self.0.version.as_str()
    }
}

impl fmt::Display for IcechunkStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}

impl Inner {
    /// Answers a call, for the store `below` of this snapshot in the form `way`. Calls other than gets and lists are answered by these.
    async fn answer<B: Below>(&self, way: Way, below: B, call: Call<'_>) -> Result<Answer> {
        Ok(match call {
            Call::Get { key, ranges, options } => Answer::Got(self.get(way, &key, &ranges, &options).await?),
            Call::ListDir { prefix } => Answer::Listing(self.list_dir(way, &prefix).await?),
            Call::ListPrefix { prefix } => Answer::Keys(self.list_prefix(way, &prefix).await?),
            Call::ListSizes { prefix, visit } => {
                self.visit(way, &prefix, &mut |key, size| visit(key, size)).await?.into()
            }
            call => return fallback(below, call).await,
        })
    }
}

impl Store for IcechunkStore {
    fn call(&self, call: Call<'_>) -> Result<Answer> {
        match call {
            Call::GetInto { key, into } => Ok(Answer::GotInto(self.0.get_into(&key, into)?)),
            call => wait(self.0.answer(Way::Blocking, Blocking(self), call)),
        }
    }

    fn capabilities(&self) -> Capabilities {
        Inner::CAPABILITIES
    }

    fn access_profile(&self) -> AccessProfile {
        self.0.below.store().access_profile()
    }

    fn as_async(&self) -> Option<Arc<dyn AsyncStore>> {
        self.0.below.not_blocking()?;
        Some(Arc::new(NotBlocking(Arc::clone(&self.0))))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.0.below.store().take_warnings()
    }
}

impl Inner {
    const CAPABILITIES: Capabilities = Capabilities::none().list(true).suffix_ranges(true);

    fn fail(&self, fault: IcechunkFault) -> Error {
        fault.in_store(&self.name)
    }

    async fn get(&self, way: Way, key: &Key, ranges: &[ByteRange], options: &GetOptions) -> Result<Option<Fetched>> {
        let value = match self.snapshot.node_at(key.as_str()) {
            Some(node) => self.snapshot.document(node),
            None => match self.place(way, key).await? {
                None => return Ok(None),
                Some(Place::Inline(bytes)) => bytes,
                Some(Place::Native { id, offset, length }) => {
                    let chunk = Chunk { key, offset, length };
                    return self.native(way, chunk, id, ranges, options).await.map(Some);
                }
                Some(Place::Virtual { url, offset, length, checksum }) => {
                    let chunk = Chunk { key, offset, length };
                    return self.outside(way, chunk, (&url, checksum.as_ref()), ranges, options).await.map(Some);
                }
            },
        };
        Fetched::of_value(&self.name, key, value, Some(self.version.clone()), ranges, options).map(Some)
    }

    /// Returns the place of the chunk at `key`; `None` if no chunk is stored there.
    async fn place(&self, way: Way, key: &Key) -> Result<Option<Place>> {
        let Some((path, index)) = chunk_key::parse(key.as_str()) else { return Ok(None) };
        let Some(node) = self.snapshot.array_at(path) else { return Ok(None) };
        let extents = self.snapshot.extents(node, &index).map_err(|fault| self.fail(fault))?;
        for extent in extents.iter().filter(|extent| extent.has_rank(index.len())) {
            let manifest = self.manifest(way, extent.manifest).await?;
            if let Some(place) = manifest.find(&node.id, &index).map_err(|fault| self.fail(fault))? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    async fn manifest(&self, way: Way, id: Id) -> Result<Arc<Manifest>> {
        let load = async {
            let file = Key::new(&format!("manifests/{id}"))?;
            let missing =
                || IcechunkFault::Missing { file: file.to_string(), by: format!("snapshot {}", self.version) };
            let content = file::content(&self.below, way, &file, FileType::Manifest).await?;
            let content = content.ok_or_else(|| self.fail(missing()))?;
            Manifest::parse(file.as_str(), content, id).map_err(|fault| self.fail(fault))
        };
        self.manifests.get(way, id, load).await
    }

    /// Gets ranges of a chunk in a file of the repository, which never changes.
    async fn native(
        &self,
        way: Way,
        chunk: Chunk<'_>,
        id: Id,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Fetched> {
        let version = Version::new(&format!("{id}-{}-{}", chunk.offset, chunk.length));
        if options.has(Some(&version)) {
            return Ok(Fetched::unchanged(version));
        }
        options.check_version(&self.name, chunk.key, Some(&version))?;
        let file = chunk_file(id)?;
        let newest = GetOptions::default().expecting(options.expected_size);
        let mut fetched = match self.part(way, chunk, (&self.below, &file, file.as_str()), ranges, &newest).await? {
            Some(fetched) => fetched,
            None => return Err(self.missing(&file, chunk.key)),
        };
        (fetched.version, fetched.snapshot) = (Some(version), None);
        options.check(&self.name, chunk.key, &mut fetched)?;
        Ok(fetched)
    }

    /// Gets ranges of a chunk in a file outside of the repository, which may change: the version of the chunk is that of the file.
    async fn outside(
        &self,
        way: Way,
        chunk: Chunk<'_>,
        (url, checksum): (&str, Option<&Checksum>),
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Fetched> {
        if ranges.is_empty() {
            // The size is known even if the file must not be read.
            let mut fetched = Fetched::new();
            fetched.size = Some(chunk.length);
            return Ok(fetched);
        }
        let refused = |reason: String| {
            self.fail(IcechunkFault::Outside { chunk: chunk.key.clone(), url: url.to_owned(), reason })
        };
        let full = self.outside.allowed.check(url).map_err(refused)?;
        let open = self.outside.open.as_ref();
        let open = open.ok_or_else(|| refused("nothing opens files outside of the repository here".to_owned()))?;
        let (store, file) = open(&full)?;
        let source = EitherStore::new(store);
        // A directory tells the state of a file where it is asked for it.
        let mut asked = options.clone();
        asked.snapshot |= checksum.is_some();
        let mut fetched = match self.part(way, chunk, (&source, &file, &full), ranges, &asked).await? {
            Some(fetched) => fetched,
            None => return Err(refused("there is no such file".to_owned())),
        };
        // An earlier get has checked a state that is unchanged since.
        if let Some(checksum) = checksum.filter(|_| !fetched.is_unchanged()) {
            let (chunk, url) = (chunk.key.clone(), full.clone());
            checksum.check(&fetched).map_err(|mismatch| {
                self.fail(match mismatch {
                    Mismatch::Changed { found, expected } => IcechunkFault::Changed { chunk, url, found, expected },
                    Mismatch::Unknown(expected) => IcechunkFault::Unchecked { chunk, url, expected },
                })
            })?;
        }
        if !options.snapshot {
            fetched.snapshot = None;
        }
        options.check(&self.name, chunk.key, &mut fetched)?;
        Ok(fetched)
    }

    /// Gets ranges of a chunk that is a part of a file; `None` if the file does not exist. If `ranges` is empty, the file is not read.
    /// Messages show the file as `shown`.
    async fn part(
        &self,
        way: Way,
        chunk: Chunk<'_>,
        (store, file, shown): (&EitherStore, &Key, &str),
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Option<Fetched>> {
        let Chunk { key, offset, length } = chunk;
        let mut fetched = Fetched::new();
        if !ranges.is_empty() {
            let mut asked: SmallVec<[ByteRange; 2]> = SmallVec::new();
            for range in ranges {
                let outside =
                    || Error::Range { store: self.name.clone(), key: key.clone(), range: range.clone(), size: length };
                let at = range.resolve(length).ok_or_else(outside)?;
                // The end of the chunk was checked not to overflow.
                asked.push(ByteRange::Range(offset + at.start..offset + at.end));
            }
            fetched = match store.get(way, file, &asked, options).await {
                Ok(Some(fetched)) => fetched,
                Ok(None) => return Ok(None),
                Err(Error::Range { size, .. }) => {
                    let (chunk, file, end) = (key.clone(), shown.to_owned(), offset + length);
                    return Err(self.fail(IcechunkFault::Short { chunk, file, size, start: offset, end }));
                }
                Err(error) => return Err(error),
            };
        }
        if !fetched.is_unchanged() {
            fetched.size = Some(length);
        }
        Ok(Some(fetched))
    }

    fn get_into(&self, key: &Key, into: &mut [u8]) -> Result<GetInto> {
        if self.snapshot.node_at(key.as_str()).is_some() {
            return Ok(GetInto::Declined);
        }
        match wait(self.place(Way::Blocking, key))? {
            None => Ok(GetInto::Missing),
            Some(Place::Native { id, offset: 0, length }) if length == into.len() as u64 => {
                let file = chunk_file(id)?;
                match self.below.store().get_into(&file, into)? {
                    GetInto::Found(size) if size == length => Ok(GetInto::Found(size)),
                    GetInto::Missing => Err(self.missing(&file, key)),
                    // The chunk is a part of the file.
                    GetInto::Found(_) | GetInto::Declined => Ok(GetInto::Declined),
                }
            }
            Some(_) => Ok(GetInto::Declined),
        }
    }

    fn missing(&self, file: &Key, chunk: &Key) -> Error {
        self.fail(IcechunkFault::Missing { file: file.to_string(), by: format!("chunk {chunk}") })
    }
}

/// Chunk that is a part of a file, with its key, and its offset and length in bytes.
#[derive(Clone, Copy)]
struct Chunk<'k> {
    key: &'k Key,
    offset: u64,
    length: u64,
}

/// Returns the key of the file of the repository that contains the chunk bytes with this id.
fn chunk_file(id: Id) -> Result<Key> {
    Key::new(&format!("chunks/{id}"))
}
