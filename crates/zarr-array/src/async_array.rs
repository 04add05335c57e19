//! Arrays over async stores. They use the same jobs as arrays over blocking stores, with another driver.

use crate::cache::StoreId;
use crate::core::ArrayCore;
use crate::drive::Awaiting;
use crate::seen::Seen;
use crate::verbs::{self, Verbs};
use crate::{
    Array, ArrayData, ArraySizes, EraseProgress, IntoFlow, NewArray, Options, Plan, ReadInto, Registry, Result,
};
use crate::{WriteFrom, reshape};
use std::sync::Arc;
use zarr_drive::{now, unblock};
use zarr_dtype::Element;
use zarr_grid::{ChunkIndex, IntoSelection, Region, Resolved};
use zarr_hierarchy::Erasure;
use zarr_json::Map;
use zarr_meta::StoredNode;
use zarr_store::{AsyncStore, Bytes};

/// Maximum number of bytes of chunks that are decoded in the task that polls the future: decoding them takes less than a millisecond.
const LITTLE: u64 = 512 << 10;

/// A Zarr array in an async store. [`Array`](crate::Array) has the same methods for blocking stores.
///
/// Requests run at the same time, up to [bounds](Options::requests_in_flight), and are polled by the task that polls the future, so that
/// they find the runtime that it runs on; none in particular is needed.
///
/// Reads that return their output ([`read`](Self::read), [`read_data`](Self::read_data) and the like) decode on other threads, unless the
/// chunks have less than 512 KiB; when their future is dropped, pending requests are dropped at once. Operations that read into or write
/// from borrowed memory ([`read_into`](Self::read_into), [`write`](Self::write)) decode and encode in the task that polls the future, and
/// yield to other tasks after each group of chunks: a separate task is right for them.
///
/// Chunks are decoded on the threads of rayon's pool, or of the pool of [`Options::threads`]. These should not wait for the futures
/// (`block_on` in a parallel iterator): if all of them do, none is left to decode. [`Array`](crate::Array) may be used there.
#[derive(Clone)]
pub struct AsyncArray {
    pub(crate) store: Arc<dyn AsyncStore>,
    pub(crate) core: Arc<ArrayCore>,
}

impl AsyncArray {
    /// Opens the array at `path`, as [`Array::open`](crate::Array::open) does.
    ///
    /// # Errors
    /// The errors of [`Array::open`](crate::Array::open).
    pub async fn open(store: &Arc<dyn AsyncStore>, path: &str, registry: &Arc<Registry>) -> Result<Self> {
        let found = zarr_hierarchy::open_node_async(&**store, path, None).await?;
        Self::from_found_now(store, found, registry, Options::default())
    }

    /// Makes an array from metadata that was read before. The first operation on the array looks whether the document is still in the
    /// store.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), but for the store.
    pub fn from_found(
        store: &Arc<dyn AsyncStore>,
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
        store: &Arc<dyn AsyncStore>,
        found: StoredNode,
        registry: &Arc<Registry>,
        options: Options,
    ) -> Result<Self> {
        Self::seen(store, found, registry, options, Seen::now())
    }

    fn seen(
        store: &Arc<dyn AsyncStore>,
        found: StoredNode,
        registry: &Arc<Registry>,
        options: Options,
        seen: Seen,
    ) -> Result<Self> {
        let core = ArrayCore::new(found, store.to_string(), Arc::clone(registry), options)?;
        let core = core.cached(StoreId::waiting(store)).seen(seen);
        Ok(Self { store: Arc::clone(store), core: Arc::new(core) })
    }

    /// Creates an array at `path`, as [`Array::create`](crate::Array::create) does.
    ///
    /// # Errors
    /// The errors of [`Array::create`](crate::Array::create).
    pub async fn create(
        store: &Arc<dyn AsyncStore>,
        path: &str,
        new: NewArray,
        registry: &Arc<Registry>,
    ) -> Result<Self> {
        let (found, options) = verbs::create(&Awaiting(&**store), &store.to_string(), path, new, registry).await?;
        let array = Self::from_found_now(store, found, registry, options)?;
        // There may have been another one before.
        drop(array.core.invalidation(None));
        Ok(array)
    }

    /// Returns the same array with other options for reading and writing.
    ///
    /// # Errors
    /// The errors of [`Array::with`](crate::Array::with).
    pub fn with(&self, options: Options) -> Result<Self> {
        let core = &self.core;
        Self::seen(&self.store, core.found.clone(), &core.registry, options, core.seen.same())
    }

    /// Returns the same array, read and written through another store with the same values, such as a store that counts or cancels
    /// requests. The array is not opened again, and chunks in a [cache](Options::cache) are shared.
    #[must_use]
    pub fn through(&self, store: &Arc<dyn AsyncStore>) -> Self {
        Self { store: Arc::clone(store), core: Arc::clone(&self.core) }
    }

    /// Store in which the array lies.
    pub fn store(&self) -> &Arc<dyn AsyncStore> {
        &self.store
    }

    pub(crate) fn verbs(&self) -> Verbs<'_, Awaiting<'_>> {
        Verbs { core: &self.core, drive: Awaiting(&*self.store) }
    }

    /// Calls `work` with this array as a blocking [`Array`], on another thread.
    pub(crate) async fn unblock<T: Send + 'static>(&self, work: impl FnOnce(Array) -> T + Send + 'static) -> Result<T> {
        let (store, core) = (Arc::clone(&self.store), Arc::clone(&self.core));
        Ok(unblock(move |unblocker| work(Array::of_core(unblocker.store(&store), core))).await?)
    }

    /// Whether the chunks of a selection have so few bytes that decoding them on another thread is not worth it.
    pub(crate) fn is_little(&self, resolved: &Resolved) -> bool {
        let chunk = self.chunk_shape();
        let part = if self.core.codecs.is_sharded(&chunk) { self.part_shape() } else { chunk };
        let chunks = match resolved {
            Resolved::Box(selected) => {
                let axes = selected.region.axes().iter().zip(&part);
                let met = axes.map(|(axis, &part)| {
                    axis.last().map_or(0, |last| last / part.max(1) - axis.start / part.max(1) + 1)
                });
                met.fold(1, u64::saturating_mul)
            }
            _ => zarr_grid::element_count(&resolved.output_shape()).unwrap_or(u64::MAX),
        };
        self.core.codecs.decoded_size(&part).saturating_mul(chunks) <= LITTLE
    }

    /// Reads a selection into a vector in C order, as [`Array::read`](crate::Array::read).
    ///
    /// # Errors
    /// The errors of [`Array::read`](crate::Array::read).
    pub async fn read<T: Element>(&self, selection: impl IntoSelection) -> Result<Vec<T>> {
        let resolved = self.resolve(selection)?;
        if self.is_little(&resolved) {
            return self.verbs().read(&resolved).await;
        }
        self.unblock(move |array| now(array.verbs().read(&resolved))).await?
    }

    /// Reads a selection into [`ArrayData`], for arrays whose data type is known at run time only.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    pub async fn read_data(&self, selection: impl IntoSelection) -> Result<ArrayData> {
        self.read_resolved(self.resolve(selection)?).await
    }

    pub(crate) async fn read_resolved(&self, resolved: Resolved) -> Result<ArrayData> {
        if self.is_little(&resolved) {
            return self.verbs().read_data(&resolved).await;
        }
        self.unblock(move |array| array.read_resolved(&resolved)).await?
    }

    /// Reads a region of which only `chunks` are stored, as [`Array::read_stored`] does.
    ///
    /// # Errors
    /// The errors of [`Array::read_stored`].
    pub async fn read_stored(&self, region: &Region, chunks: &[ChunkIndex]) -> Result<ArrayData> {
        let (region, chunks) = (region.clone(), chunks.to_vec());
        self.unblock(move |array| array.read_stored(&region, &chunks)).await?
    }

    /// Reads a selection into the caller's memory, as [`Array::read_into`](crate::Array::read_into).
    ///
    /// # Errors
    /// The errors of [`Array::read_into`](crate::Array::read_into).
    pub async fn read_into(&self, selection: impl IntoSelection, out: impl ReadInto) -> Result<()> {
        let resolved = self.resolve(selection)?;
        self.verbs().read_into(&resolved, out).await
    }

    /// Plans a [`read`](Self::read) of a selection without doing it, as [`Array::plan`](crate::Array::plan) does.
    ///
    /// # Errors
    /// The errors of [`Array::plan`](crate::Array::plan).
    pub async fn plan(&self, selection: impl IntoSelection) -> Result<Plan> {
        let resolved = self.resolve(selection)?;
        if self.is_little(&resolved) {
            return self.verbs().plan(&resolved).await;
        }
        self.unblock(move |array| now(array.verbs().plan(&resolved))).await?
    }

    /// Writes elements, in C order, to a selection, as [`Array::write`](crate::Array::write).
    ///
    /// # Errors
    /// The errors of [`Array::write`](crate::Array::write).
    pub async fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.resolve(selection)?;
        self.verbs().write(&resolved, elements).await
    }

    /// Reads the encoded bytes of a chunk as they are stored; `None` if the chunk is not stored.
    ///
    /// # Errors
    /// The errors of [`Array::read_chunk_bytes`](crate::Array::read_chunk_bytes).
    pub async fn read_chunk_bytes(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        self.verbs().read_chunk_bytes(chunk).await
    }

    /// Replaces the encoded bytes of a chunk. The bytes are not checked.
    ///
    /// # Errors
    /// The errors of [`read_chunk_bytes`](Self::read_chunk_bytes).
    pub async fn write_chunk_bytes(&self, chunk: &[u64], bytes: &[u8]) -> Result<()> {
        self.verbs().write_chunk_bytes(chunk, bytes).await
    }

    /// Erases a chunk: its elements become the fill value.
    ///
    /// # Errors
    /// The errors of [`read_chunk_bytes`](Self::read_chunk_bytes).
    pub async fn erase_chunk(&self, chunk: &[u64]) -> Result<()> {
        self.verbs().erase_chunk(chunk).await
    }

    /// Lists the stored chunks, in the order of their keys.
    ///
    /// # Errors
    /// The errors of [`Array::stored_chunks`](crate::Array::stored_chunks).
    pub async fn stored_chunks(&self) -> Result<Vec<ChunkIndex>> {
        self.verbs().stored_chunks().await
    }

    /// Lists the stored chunks, each with the number of its stored bytes.
    ///
    /// # Errors
    /// The errors of [`stored_chunks`](Self::stored_chunks).
    pub async fn stored_chunk_sizes(&self) -> Result<Vec<(ChunkIndex, u64)>> {
        self.verbs().stored_chunk_sizes().await
    }

    /// Returns the size of the array, and of its stored part if the store can list, as [`Array::sizes`](crate::Array::sizes) does.
    ///
    /// # Errors
    /// The errors of [`Array::sizes`](crate::Array::sizes).
    pub async fn sizes(&self) -> Result<ArraySizes> {
        let sizes = ArraySizes::of(&self.core);
        match self.store.capabilities().list {
            true => Ok(sizes.stored(&self.core, &self.stored_chunk_sizes().await?)),
            false => Ok(sizes),
        }
    }

    /// Changes the shape, as [`Array::resize`](crate::Array::resize).
    ///
    /// # Errors
    /// The errors of [`Array::resize`](crate::Array::resize).
    pub async fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.core = reshape::resize(&Awaiting(&*self.store), &self.core, shape).await?;
        Ok(())
    }

    /// Appends elements along `axis`, as [`Array::append`](crate::Array::append).
    ///
    /// # Errors
    /// The errors of [`Array::append`](crate::Array::append).
    pub async fn append(&mut self, axis: usize, elements: impl WriteFrom) -> Result<()> {
        let elements = elements.elements(self.data_type()).map_err(|error| self.core.locate(error))?;
        let data = elements.appended(self.core.element(), self.shape(), axis);
        let data = data.map_err(|error| self.core.locate(error))?;
        self.core = reshape::append(&Awaiting(&*self.store), &self.core, axis, data).await?;
        Ok(())
    }

    /// Replaces the attributes, as [`Array::set_attributes`](crate::Array::set_attributes).
    ///
    /// # Errors
    /// The errors of [`Array::set_attributes`](crate::Array::set_attributes).
    pub async fn set_attributes(&mut self, attributes: Map) -> Result<()> {
        self.core.check_writers(self.store.capabilities(), "a change of attributes")?;
        let found = zarr_hierarchy::set_attributes_async(&*self.store, &self.core.found, attributes).await?;
        self.core = Arc::new(self.core.with_found(found)?);
        Ok(())
    }

    /// Sets the names of the dimensions, as [`Array::set_dimension_names`](crate::Array::set_dimension_names) does.
    ///
    /// # Errors
    /// The errors of [`Array::set_dimension_names`](crate::Array::set_dimension_names).
    pub async fn set_dimension_names<N: AsRef<str>>(&mut self, names: &[N]) -> Result<()> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        self.core.check_writers(self.store.capabilities(), "a change of metadata")?;
        let found = zarr_hierarchy::set_dimension_names_async(&*self.store, &self.core.found, &names).await?;
        self.core = Arc::new(self.core.with_found(found)?);
        Ok(())
    }

    /// Erases the array: its metadata documents, and then all keys below its path.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](crate::ErrorKind::Store).
    pub async fn erase(self) -> Result<()> {
        self.erase_with(|_| {}).await
    }

    /// Erases the array and calls `progress` with the progress, as [`Array::erase_with`](crate::Array::erase_with) does.
    ///
    /// # Errors
    /// The errors of [`Array::erase_with`](crate::Array::erase_with).
    pub async fn erase_with<F: IntoFlow>(self, progress: impl Fn(EraseProgress) -> F + Send + Sync) -> Result<()> {
        let _invalidation = self.core.invalidation(None);
        Erasure::of(&self.core.found).progress(progress).erase_async(&*self.store).await
    }
}
