//! Arrays over stores that do not block. The same jobs as over blocking ones; only who drives them differs.

use crate::advanced_selection::AdvancedSelection;
use crate::cache::StoreId;
use crate::core::ArrayCore;
use crate::drive::{Waiting, find_chunk_location};
use crate::read::ReadPlan;
use crate::write::WriteJob;
use crate::{ArrayData, EraseProgress, Error, IntoFlow, NewArray, Options, ReadInto, Registry, Result, WriteFrom};
use crate::{chunk_keys, create, jobs, reshape, selected_memory};
use std::sync::Arc;
use zarr_codec::{View, ViewMut};
use zarr_dtype::{DataType, Element};
use zarr_grid::{ChunkIndex, IntoSelection, Region, Resolved};
use zarr_hierarchy::Erasure;
use zarr_json::Map;
use zarr_meta::{ArrayMetadata, NodePath, StoredNode};
use zarr_store::{AsyncStore, Bytes, Durability, Job, Key, run_async};

/// A Zarr array in a store that does not block. [`Array`](crate::Array) has the same verbs for blocking stores.
///
/// Requests run at the same time, up to a bound; chunks are decoded where the future is polled, so a runtime with
/// several threads should poll reads of much data on one that may be kept busy.
#[derive(Clone)]
pub struct AsyncArray {
    store: Arc<dyn AsyncStore>,
    pub(crate) core: Arc<ArrayCore>,
}

impl AsyncArray {
    /// Opens the array at `path`, as [`Array::open`](crate::Array::open).
    ///
    /// # Errors
    /// As there.
    pub async fn open(store: &Arc<dyn AsyncStore>, path: &str, registry: &Arc<Registry>) -> Result<Self> {
        let found = zarr_hierarchy::open_node_async(&**store, path, None).await?;
        Self::from_found(store, found, registry, Options::default())
    }

    /// An array whose metadata was read before.
    ///
    /// # Errors
    /// As [`open`](Self::open), but for the store.
    pub fn from_found(
        store: &Arc<dyn AsyncStore>,
        found: StoredNode,
        registry: &Arc<Registry>,
        options: Options,
    ) -> Result<Self> {
        let core = ArrayCore::new(found, store.to_string(), Arc::clone(registry), options)?;
        let core = core.cached(StoreId::waiting(store));
        Ok(Self { store: Arc::clone(store), core: Arc::new(core) })
    }

    /// Creates an array at `path`, as [`Array::create`](crate::Array::create).
    ///
    /// # Errors
    /// As there.
    pub async fn create(
        store: &Arc<dyn AsyncStore>,
        path: &str,
        new: NewArray,
        registry: &Arc<Registry>,
    ) -> Result<Self> {
        let in_store = |error: Error| error.at(|location| location.store = Some(store.to_string()));
        let can_list = store.capabilities().list;
        let find = create::find_dialect(path, &new, can_list).map_err(in_store)?;
        let dialect = run_async(&**store, find).await.map_err(in_store)?;
        let (job, options) = create::create(path, &new, dialect, (store.to_string(), store.capabilities()), registry)
            .map_err(in_store)?;
        let found = run_async(&**store, job).await.map_err(in_store)?;
        let array = Self::from_found(store, found, registry, options)?;
        // There may have been another one before.
        drop(array.core.invalidation(None));
        Ok(array)
    }

    /// Its path in the hierarchy.
    pub fn path(&self) -> &NodePath {
        self.core.path()
    }

    /// Its metadata in the vocabulary of Zarr v3, whatever dialect it is stored in.
    pub fn metadata(&self) -> &ArrayMetadata {
        self.core.metadata()
    }

    /// The metadata documents it was opened from.
    pub fn found(&self) -> &StoredNode {
        &self.core.found
    }

    /// Elements per dimension.
    pub fn shape(&self) -> &[u64] {
        &self.core.metadata().shape
    }

    /// The store it lies in.
    pub fn store(&self) -> &Arc<dyn AsyncStore> {
        &self.store
    }

    /// The type of its elements.
    pub fn data_type(&self) -> &DataType {
        self.core.data_type()
    }

    pub(crate) async fn run<J: Job<Error = Error>>(&self, job: J) -> Result<J::Output> {
        run_async(&*self.store, job).await.map_err(|error| self.core.locate(error))
    }

    pub(crate) fn resolve(&self, selection: impl IntoSelection) -> Result<Resolved> {
        selected_memory::resolve(&self.core, selection).map_err(|error| self.core.locate(error))
    }

    /// Reads a selection into a vector in C order, as [`Array::read`](crate::Array::read).
    ///
    /// # Errors
    /// As there.
    pub async fn read<T: Element>(&self, selection: impl IntoSelection) -> Result<Vec<T>> {
        let resolved = self.resolve(selection)?;
        self.core.check_type::<T>()?;
        let mut memory = selected_memory::Memory::<T>::zeroed(
            self.data_type(),
            selected_memory::len(&resolved, self.data_type().item_size())?,
        )?;
        let Some(bytes) = memory.bytes() else {
            return self.read_resolved(&resolved).await?.to_vec();
        };
        let out = selected_memory::output(bytes, self.core.element(), &resolved, None)?;
        self.read_planned(&resolved, out, true).await?;
        memory.into_elements(self.data_type()).map_err(|error| self.core.locate(error))
    }

    /// The shape that a selection has, as [`Array::selected_shape`](crate::Array::selected_shape).
    ///
    /// # Errors
    /// As there.
    pub fn selected_shape(&self, selection: impl IntoSelection) -> Result<Vec<usize>> {
        Ok(selected_memory::result_shape(&self.resolve(selection)?))
    }

    /// Reads a selection of elements of a type known at run time.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn read_data(&self, selection: impl IntoSelection) -> Result<ArrayData> {
        let resolved = self.resolve(selection)?;
        self.read_resolved(&resolved).await
    }

    pub(crate) async fn read_resolved(&self, resolved: &Resolved) -> Result<ArrayData> {
        selected_memory::len(resolved, self.data_type().item_size())?;
        let mut data = ArrayData::zeroed(self.core.element(), &resolved.output_shape())?;
        self.read_planned(resolved, data.view_mut(), true).await?;
        Ok(data.reshaped(resolved.result_shape()))
    }

    /// Reads a selection into the caller's memory, as [`Array::read_into`](crate::Array::read_into).
    ///
    /// # Errors
    /// As there.
    pub async fn read_into(&self, selection: impl IntoSelection, mut out: impl ReadInto) -> Result<()> {
        let resolved = self.resolve(selection)?;
        let element = self.core.element();
        let destination = out.destination(&element.data_type).map_err(|error| self.core.locate(error))?;
        match destination.map(|destination| destination.selected(element, &resolved)) {
            Some(out) => self.read_planned(&resolved, out.map_err(|error| self.core.locate(error))?, false).await,
            None => out.assign(&self.read_resolved(&resolved).await?).map_err(|error| self.core.locate(error)),
        }
    }

    /// Reads into `out`, which has the output shape.
    async fn read_planned(&self, resolved: &Resolved, out: ViewMut<'_>, zeroed: bool) -> Result<()> {
        let plan = ReadPlan::new(&self.core, &self.store.access_profile(), resolved, out.size(), zeroed)?;
        self.read_all(&plan, out).await
    }

    /// Reads a region into `out`, which has its shape and is fresh memory.
    pub(crate) async fn read_region(&self, region: &Region, out: ViewMut<'_>) -> Result<()> {
        let plan = ReadPlan::region(&self.core, &self.store.access_profile(), region, out.size());
        self.read_all(&plan, out).await
    }

    async fn read_all(&self, plan: &ReadPlan<'_>, out: ViewMut<'_>) -> Result<()> {
        let mut reading = plan.begin(out)?;
        while let Some(job) = reading.job()? {
            let done = self.run(job).await;
            reading.ended(done)?;
        }
        Ok(())
    }

    /// Writes elements, in C order, to a selection, as [`Array::write`](crate::Array::write).
    ///
    /// # Errors
    /// As there.
    pub async fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.resolve(selection)?;
        let elements = elements.elements(self.data_type()).map_err(|error| self.core.locate(error))?;
        let data = elements.selected(self.core.element(), &resolved).map_err(|error| self.core.locate(error))?;
        self.write_planned(&resolved, data).await
    }

    pub(crate) async fn write_planned(&self, resolved: &Resolved, data: View<'_>) -> Result<()> {
        self.find_chunk_location().await?;
        let (capabilities, profile) = (self.store.capabilities(), self.store.access_profile());
        if let Resolved::Box(selected) = resolved {
            let flipped = selected_memory::flipped_view(data, &selected.flipped);
            let region = &selected.region;
            let job = WriteJob::new(&self.core, region, flipped, Durability::None, capabilities, &profile);
            return self.run(job).await;
        }
        let selection = AdvancedSelection::new(&self.core, resolved)?;
        let bytes = selected_memory::contiguous(&data)?;
        for write in selection.writes(self.core.element().item_size(), &bytes, data.heap()) {
            self.run(WriteJob::chunk_selection(&self.core, write, capabilities, &profile)?).await?;
        }
        Ok(())
    }

    /// The encoded bytes of a chunk as they are stored; `None` if it is not stored.
    ///
    /// # Errors
    /// As [`Array::read_chunk_bytes`](crate::Array::read_chunk_bytes).
    pub async fn read_chunk_bytes(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        let mut bytes = self.run(jobs::get(chunk_keys::chunk_key(&self.core, chunk)?)).await?;
        let mut location = 0;
        while let (None, Some((other, key))) = (&bytes, self.core.other_key(chunk, location)) {
            bytes = self.run(jobs::get(key)).await?;
            location = other;
        }
        Ok(bytes)
    }

    /// Replaces the encoded bytes of a chunk, which are not checked.
    ///
    /// # Errors
    /// As [`read_chunk_bytes`](Self::read_chunk_bytes).
    pub async fn write_chunk_bytes(&self, chunk: &[u64], bytes: &[u8]) -> Result<()> {
        self.find_chunk_location().await?;
        let _invalidation = self.core.invalidation(Some(chunk));
        self.run(jobs::All::set(chunk_keys::chunk_key(&self.core, chunk)?, bytes.to_vec())).await
    }

    /// Erases a chunk: its elements become the fill value.
    ///
    /// # Errors
    /// As [`read_chunk_bytes`](Self::read_chunk_bytes).
    pub async fn erase_chunk(&self, chunk: &[u64]) -> Result<()> {
        self.find_chunk_location().await?;
        let _invalidation = self.core.invalidation(Some(chunk));
        self.run(jobs::All::erase(vec![chunk_keys::chunk_key(&self.core, chunk)?])).await
    }

    /// The chunks that are stored, in the order of their keys.
    ///
    /// # Errors
    /// As [`Array::stored_chunks`](crate::Array::stored_chunks).
    pub async fn stored_chunks(&self) -> Result<Vec<ChunkIndex>> {
        self.find_chunk_location().await?;
        Ok(self.stored_chunk_keys().await?.into_iter().map(|(chunk, _)| chunk).collect())
    }

    async fn stored_chunk_keys(&self) -> Result<Vec<(ChunkIndex, Key)>> {
        let keys = self.run(jobs::keys_below(self.core.chunk_prefix())?).await?;
        Ok(chunk_keys::parse_in_grid(&self.core, keys))
    }

    async fn find_chunk_location(&self) -> Result<()> {
        find_chunk_location(&Waiting(&*self.store), &self.core).await
    }

    /// Changes the shape, as [`Array::resize`](crate::Array::resize).
    ///
    /// # Errors
    /// As there.
    pub async fn resize(&mut self, shape: &[u64]) -> Result<()> {
        self.core = reshape::resize(&Waiting(&*self.store), &self.core, shape).await?;
        Ok(())
    }

    /// Appends elements along `axis`, as [`Array::append`](crate::Array::append).
    ///
    /// # Errors
    /// As there.
    pub async fn append(&mut self, axis: usize, elements: impl WriteFrom) -> Result<()> {
        let elements = elements.elements(self.data_type()).map_err(|error| self.core.locate(error))?;
        let data = elements.appended(self.core.element(), self.shape(), axis);
        let data = data.map_err(|error| self.core.locate(error))?;
        self.core = reshape::append(&Waiting(&*self.store), &self.core, axis, data).await?;
        Ok(())
    }

    /// Replaces the attributes, as [`Array::set_attributes`](crate::Array::set_attributes).
    ///
    /// # Errors
    /// As there.
    pub async fn set_attributes(&mut self, attributes: Map) -> Result<()> {
        let found = zarr_hierarchy::set_attributes_async(&*self.store, &self.core.found, attributes).await?;
        self.core = Arc::new(self.core.with_found(found)?);
        Ok(())
    }

    /// Names the dimensions, as [`Array::set_dimension_names`](crate::Array::set_dimension_names).
    ///
    /// # Errors
    /// As there.
    pub async fn set_dimension_names<N: AsRef<str>>(&mut self, names: &[N]) -> Result<()> {
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        let found = zarr_hierarchy::set_dimension_names_async(&*self.store, &self.core.found, &names).await?;
        self.core = Arc::new(self.core.with_found(found)?);
        Ok(())
    }

    /// Erases the array: its metadata, and then all keys below it.
    ///
    /// # Errors
    /// [`ErrorKind::Store`](crate::ErrorKind::Store).
    pub async fn erase(self) -> Result<()> {
        self.erase_with(|_| {}).await
    }

    /// As [`erase`](Self::erase), and calls a function with the progress, as [`Array::erase_with`](crate::Array::erase_with).
    ///
    /// # Errors
    /// As there.
    pub async fn erase_with<F: IntoFlow>(self, progress: impl Fn(EraseProgress) -> F + Send + Sync) -> Result<()> {
        let _invalidation = self.core.invalidation(None);
        Erasure::of(&self.core.found).progress(progress).erase_async(&*self.store).await
    }
}
