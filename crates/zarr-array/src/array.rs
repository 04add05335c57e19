//! Arrays over blocking stores.

use crate::cache::StoreId;
use crate::core::ArrayCore;
use crate::create::NewArray;
use crate::drive::Blocking;
use crate::seen::Seen;
use crate::verbs::{self, Verbs};
use crate::{ArrayData, EraseProgress, IntoFlow, Options, Plan, ReadInto, Registry, Result, WriteFrom, drive, reshape};
use std::sync::Arc;
use zarr_codec::ViewMut;
use zarr_drive::{map, now};
use zarr_dtype::Element;
use zarr_grid::{ChunkIndex, IntoSelection, Region, Resolved};
use zarr_hierarchy::Erasure;
use zarr_json::Map;
use zarr_meta::StoredNode;
use zarr_store::{Bytes, Store};

/// A Zarr array in a store.
///
/// Opening checks everything that the metadata can show: data type, fill value, chunk grid and the chain of codecs. A clone is cheap and
/// shares the opened array. Several threads may read and write at once. Partial writes of the same chunk do not lose each other's data if
/// the store has conditional sets (memory, file system, object stores).
///
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_store::MemoryStore;
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let new = NewArray::new(&[4, 6], "int16")
///     .chunks(&[2, 3])
///     .codecs(r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#)?;
/// let array = Array::create(&store, "/a", new, &registry)?;
/// array.write(.., &(0..24).collect::<Vec<i16>>())?;
/// assert_eq!(array.read::<i16>((1..3, 5))?, [11, 17]);
/// assert_eq!(array.read::<i16>("::-2, 0")?, [18, 6]);
/// # Ok::<(), zarr_array::Error>(())
/// ```
#[derive(Clone)]
pub struct Array {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) core: Arc<ArrayCore>,
}

impl Array {
    /// Opens the array at `path`.
    ///
    /// # Errors
    /// [`crate::ErrorKind::NotFound`] if there is no array at `path`; the error kinds of faults in its metadata;
    /// [`crate::ErrorKind::Store`].
    pub fn open(store: &Arc<dyn Store>, path: &str, registry: &Arc<Registry>) -> Result<Self> {
        let found = zarr_hierarchy::open_node(&**store, path, None)
            .map_err(|error| zarr_hierarchy::with_hierarchy_hint(error, &**store, path))?;
        Self::from_found_now(store, found, registry, Options::default())
    }

    /// Makes an array from metadata that was read before. The first operation on the array looks whether the document is still in the
    /// store.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), but for the store.
    pub fn from_found(
        store: &Arc<dyn Store>,
        found: StoredNode,
        registry: &Arc<Registry>,
        options: Options,
    ) -> Result<Self> {
        Self::seen(store, found, registry, options, Seen::default())
    }

    /// Makes an array from metadata that was read a moment ago. Unlike after [`from_found`](Self::from_found), the read of `found` counts
    /// as a look at the document ([`Options::look_interval`]).
    ///
    /// # Errors
    /// The errors of [`from_found`](Self::from_found).
    pub fn from_found_now(
        store: &Arc<dyn Store>,
        found: StoredNode,
        registry: &Arc<Registry>,
        options: Options,
    ) -> Result<Self> {
        Self::seen(store, found, registry, options, Seen::now())
    }

    fn seen(
        store: &Arc<dyn Store>,
        found: StoredNode,
        registry: &Arc<Registry>,
        options: Options,
        seen: Seen,
    ) -> Result<Self> {
        let core = ArrayCore::new(found, store.to_string(), Arc::clone(registry), options)?;
        let core = core.cached(StoreId::blocking(store)).seen(seen);
        Ok(Self { store: Arc::clone(store), core: Arc::new(core) })
    }

    /// Creates an array at `path`, and the groups above it that do not exist.
    ///
    /// The array has the dialect of the nearest group above it, or if no group above has a document, the dialect of the nodes in the store,
    /// which are looked for if the store can list. Another [`dialect`](NewArray::dialect) is an error, for the new documents would hide the
    /// existing nodes; only a replacement of the root may change the dialect.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Exists`] if there is a node at `path` and `new` does not say to replace it; [`crate::ErrorKind::Argument`],
    /// [`crate::ErrorKind::UnknownExtension`] or [`crate::ErrorKind::NotExpressible`] if the array cannot be as `new` describes it;
    /// [`crate::ErrorKind::Store`].
    pub fn create(store: &Arc<dyn Store>, path: &str, new: NewArray, registry: &Arc<Registry>) -> Result<Self> {
        let (found, options) = now(verbs::create(&Blocking(&**store), &store.to_string(), path, new, registry))?;
        let array = Self::from_found_now(store, found, registry, options)?;
        // There may have been another one before.
        drop(array.core.invalidation(None));
        Ok(array)
    }

    /// Returns the same array with other options for reading and writing.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Limit`] if the limits of `options` do not allow the codecs of the array, which may be too many or too deep in
    /// each other; the error kinds of options that refuse its metadata. Chunks above [`max_chunk`](zarr_codec::Limits::max_chunk) are
    /// errors when they are decoded as a whole.
    pub fn with(&self, options: Options) -> Result<Self> {
        let core = &self.core;
        Self::seen(&self.store, core.found.clone(), &core.registry, options, core.seen.same())
    }

    /// Returns the same array, read and written through another store with the same values, such as a store that counts or cancels
    /// requests. The array is not opened again, and chunks in a [cache](Options::cache) are shared.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{Array, NewArray, Registry, Store};
    /// # use zarr_store::{Counted, MemoryStore};
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    /// let array = Array::create(&store, "/a", NewArray::new(&[4], "int16").codecs("bytes")?, &Arc::new(registry))?;
    /// let counted = Arc::new(Counted::new(Arc::clone(&store)));
    /// let through: Arc<dyn Store> = counted.clone();
    /// array.through(&through).write(.., &[1_i16, 2, 3, 4])?;
    /// assert_eq!((array.read::<i16>(..)?, counted.counts().sets), (vec![1, 2, 3, 4], 1));
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    #[must_use]
    pub fn through(&self, store: &Arc<dyn Store>) -> Self {
        Self { store: Arc::clone(store), core: Arc::clone(&self.core) }
    }

    /// Store in which the array lies.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Reads a selection into a vector in C order.
    ///
    /// The selection is anything that [`IntoSelection`] takes: `..`, ranges and integers in a tuple, text such as
    /// `"0:10, 5, ::2, ..."`, index lists, masks, coordinates, blocks of chunks.
    ///
    /// # While others write
    /// Each chunk, and each shard, is read in one state, even if others write it: files are held open while they are read in parts, and
    /// other stores are asked for further parts of the same state. If a chunk is replaced or erased meanwhile and its old state is no
    /// longer available, this chunk alone is read again. A read of several chunks may have different states of different chunks. At its end
    /// a read looks whether the array is still in the store as it was opened ([`Options::trust_missing`]). `docs/consistency.md` has the
    /// guarantees of each store.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if `T` does not fit the data type, or the selection lies outside of the array; the error kinds of
    /// broken chunks; [`crate::ErrorKind::Conflict`] if others change a chunk again and again while it is read;
    /// [`crate::ErrorKind::NotFound`] if the array is gone, or another array is at its path; [`crate::ErrorKind::Store`].
    pub fn read<T: Element>(&self, selection: impl IntoSelection) -> Result<Vec<T>> {
        let resolved = self.resolve(selection)?;
        now(self.verbs().read(&resolved))
    }

    /// Reads a selection into [`ArrayData`], for arrays whose data type is known at run time only.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub fn read_data(&self, selection: impl IntoSelection) -> Result<ArrayData> {
        self.read_resolved(&self.resolve(selection)?)
    }

    pub(crate) fn read_resolved(&self, resolved: &Resolved) -> Result<ArrayData> {
        now(self.verbs().read_data(resolved))
    }

    /// Reads a selection into the caller's memory. `out` is a slice of elements in C order, or memory with its own shape and strides
    /// (arrays of `ndarray`, a [`ViewMut`] of bytes; see [`ReadInto`]), whose shape must be the shape of the selection without the
    /// dimensions with a single index. Numbers are decoded directly into `out`; elements of other types are converted.
    ///
    /// If the read fails, the memory has old and new elements.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`crate::ErrorKind::Argument`] if the memory is not of that shape.
    pub fn read_into(&self, selection: impl IntoSelection, out: impl ReadInto) -> Result<()> {
        let resolved = self.resolve(selection)?;
        now(self.verbs().read_into(&resolved, out))
    }

    /// Plans a [`read`](Self::read) of a selection without doing it: the requests, their bytes, and how many requests follow each other.
    ///
    /// The plan is made by the code of the read. It fetches only the indexes of the shards that the selection meets, since they say where
    /// inner chunks are; these requests are in the plan as well. Nothing is decoded.
    ///
    /// The read may make other requests than the plan in these cases:
    /// - A chunk that is not stored is looked for in other locations if the metadata leaves its key open. The document is looked at again
    ///   at the end ([`Plan::if_missing`]). A chunk that others replace meanwhile is read again.
    /// - A shard that is requested whole, with the maximum number of bytes of its codecs, but has more bytes, is read by its index.
    /// - An uncompressed chunk in a file, which the plan has whole, is read in pieces if the output does not lie side by side in memory, or
    ///   begins at an unfavourable address.
    /// - The plan is made without the [cache](Options::cache) of the array. Reads through a cache get chunks whole, and only chunks that
    ///   are not cached. On a remote store a read also uses the indexes of shards that the array retains from earlier reads.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if the selection lies outside of the array, [`crate::ErrorKind::Limit`] if it has more bytes than
    /// can be addressed; of a sharded array the errors of its indexes, and [`crate::ErrorKind::Store`].
    pub fn plan(&self, selection: impl IntoSelection) -> Result<Plan> {
        let resolved = self.resolve(selection)?;
        now(self.verbs().plan(&resolved))
    }

    /// Reads a region into `out`, fresh memory of the same shape as `region`.
    pub(crate) fn read_region(&self, region: &Region, out: ViewMut<'_>) -> Result<()> {
        now(self.verbs().read_region(region, out))
    }

    /// Reads a region of which only `chunks`, sorted, are stored. Elements of other chunks get the fill value without a request to the
    /// store.
    ///
    /// # Errors
    /// The errors of [`read_data`](Self::read_data).
    pub fn read_stored(&self, region: &Region, chunks: &[ChunkIndex]) -> Result<ArrayData> {
        if chunks.len() as u64 >= self.core.grid.intersect(region).len() {
            return self.read_data(region);
        }
        now(self.verbs().read_stored(region, chunks))
    }

    /// Applies the function `each` to all `items`, in parallel if there are many, on the threads that decode this array.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Limit`] if the system refuses the threads.
    pub fn map_parallel<T: Send, R: Send>(&self, items: Vec<T>, each: impl Fn(T) -> R + Sync + Send) -> Result<Vec<R>> {
        drive::within(&self.core, || map(items, each))
    }

    pub(crate) fn of_core(store: Arc<dyn Store>, core: Arc<ArrayCore>) -> Self {
        Self { store, core }
    }

    pub(crate) fn verbs(&self) -> Verbs<'_, Blocking<'_>> {
        Verbs { core: &self.core, drive: Blocking(&*self.store) }
    }

    /// Writes elements to a selection. `elements` is a slice in C order, or elements with the shape of the selection and their own strides
    /// (arrays of `ndarray`, an [`ArrayData`], a [`View`](crate::View) of bytes; see [`WriteFrom`]).
    ///
    /// Chunks that the selection covers are encoded and replaced; in other chunks the selected part is replaced. Each chunk is replaced as
    /// a whole or not at all; if a write fails, some chunks may be written and others not.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if `elements` do not fit the data type, or their number or shape does not fit the selection;
    /// [`crate::ErrorKind::NotFound`] if the array is gone, or another array is at its path; [`crate::ErrorKind::Store`].
    pub fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.resolve(selection)?;
        now(self.verbs().write(&resolved, elements))
    }

    /// Reads the encoded bytes of a chunk as they are stored; `None` if the chunk is not stored.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if `chunk` is not in the chunk grid; [`crate::ErrorKind::Store`].
    pub fn read_chunk_bytes(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        now(self.verbs().read_chunk_bytes(chunk))
    }

    /// Replaces the encoded bytes of a chunk. The bytes are not checked.
    ///
    /// # Errors
    /// The errors of [`read_chunk_bytes`](Self::read_chunk_bytes).
    pub fn write_chunk_bytes(&self, chunk: &[u64], bytes: &[u8]) -> Result<()> {
        now(self.verbs().write_chunk_bytes(chunk, bytes))
    }

    /// Erases a chunk: its elements become the fill value.
    ///
    /// # Errors
    /// The errors of [`read_chunk_bytes`](Self::read_chunk_bytes).
    pub fn erase_chunk(&self, chunk: &[u64]) -> Result<()> {
        now(self.verbs().erase_chunk(chunk))
    }

    /// Lists the stored chunks, in the order of their keys. Keys that are not keys of chunks of this array are skipped.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Store`] if the store fails or cannot list.
    pub fn stored_chunks(&self) -> Result<Vec<ChunkIndex>> {
        now(self.verbs().stored_chunks())
    }

    /// Lists the stored chunks, each with the number of its stored bytes.
    ///
    /// # Errors
    /// The errors of [`stored_chunks`](Self::stored_chunks).
    pub fn stored_chunk_sizes(&self) -> Result<Vec<(ChunkIndex, u64)>> {
        now(self.verbs().stored_chunk_sizes())
    }

    /// Changes the shape. Chunks that lie wholly outside of a smaller shape are erased. Elements that a larger shape adds have the fill
    /// value, whatever the store had in their place before.
    ///
    /// # While others read and write
    /// Others see the array in the old or in the new shape. Added elements are cleared before the new shape is published, and chunks that
    /// are cut off are erased after it is published, so that after an interruption no reader sees elements that should not exist. Calls of
    /// resize and append through this library exclude each other, as [`append`](Self::append) says.
    ///
    /// The newest documents of the array are changed: changes by others since it was opened stay. If others changed the shape meanwhile,
    /// that is an error.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] for another number of dimensions; [`crate::ErrorKind::Conflict`] if another writer changed the
    /// shape; [`crate::ErrorKind::Store`].
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.core = now(reshape::resize(&Blocking(&*self.store), &self.core, shape))?;
        Ok(())
    }

    /// Appends elements along `axis`: writes them behind the end of the array, and then publishes the larger shape. The shape of the
    /// elements is the shape of the array except along `axis`. A slice is in C order, and its length says how many elements along `axis`
    /// are added.
    ///
    /// # While others append
    /// The elements are appended behind elements that others appended since the array was opened, and this array then has the elements of
    /// others, too. An interrupted append leaves the array as it was; the next append overwrites its elements.
    ///
    /// Appends to an array wait for each other, by a lock of the store ([`try_lock`](zarr_store::StoreExt::try_lock)), which is shared
    /// by all processes of a machine on files, and by the threads of a process on other stores. If the lock does not exclude other
    /// processes, and the store has conditional sets ([`Capabilities::conditional`](zarr_store::Capabilities::conditional)), appends take
    /// turns by a claim in the document of the array: white space at its end, which no reader sees. An append then sets the document once
    /// more, or once for each 1024 chunks, and stores chunks that have nothing but fill values, too. It waits for 20 seconds for a claim
    /// whose owner died. In a store with neither such locks nor conditional sets, only one process may append.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Argument`] if shapes do not fit; [`crate::ErrorKind::Conflict`] if others kept changing the array
    /// in between; [`crate::ErrorKind::Store`].
    pub fn append(&mut self, axis: usize, elements: impl WriteFrom) -> Result<()> {
        let elements = elements.elements(self.data_type()).map_err(|error| self.core.locate(error))?;
        let data = elements.appended(self.core.element(), self.shape(), axis);
        let data = data.map_err(|error| self.core.locate(error))?;
        self.core = now(reshape::append(&Blocking(&*self.store), &self.core, axis, data))?;
        Ok(())
    }

    /// Replaces the attributes. Other members of the documents stay. Attributes that others changed since the array was opened stay too, if
    /// `attributes` has them as they were when it was opened; see [`set_attributes`](zarr_hierarchy::set_attributes).
    ///
    /// # Errors
    /// [`crate::ErrorKind::Conflict`] naming an attribute that another writer changed as well; [`crate::ErrorKind::Store`].
    pub fn set_attributes(&mut self, attributes: Map) -> Result<()> {
        self.core.check_writers(self.store.capabilities(), "a change of attributes")?;
        let found = zarr_hierarchy::set_attributes(&*self.store, &self.core.found, attributes)?;
        self.core = Arc::new(self.core.with_found(found)?);
        Ok(())
    }

    /// Erases the array: its metadata documents, and then all keys below its path.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Store`].
    pub fn erase(self) -> Result<()> {
        self.erase_with(|_| {})
    }

    /// Erases the array, as [`erase`](Self::erase) does, and calls `progress` with the progress. `progress` may cancel the erasure; see
    /// [`Erasure`].
    ///
    /// # Errors
    /// [`crate::ErrorKind::Store`]; [`crate::ErrorKind::Cancelled`] if `progress` cancels before all is erased.
    pub fn erase_with<F: IntoFlow>(self, progress: impl Fn(EraseProgress) -> F + Send + Sync) -> Result<()> {
        let _invalidation = self.core.invalidation(None);
        Erasure::of(&self.core.found).progress(progress).erase(&*self.store)
    }
}
