//! Operations of arrays, written once for arrays over blocking and over async stores.

mod tie;

pub(crate) use tie::Held;

use crate::advanced_selection::count_chunks;
use crate::core::ArrayCore;
use crate::drive::{Drive, find_chunk_location};
use crate::kept_chunk::KeptChunk;
use crate::read::{ArrayRead, RequestLog};
use crate::write::WriteJob;
use crate::{ArrayData, Error, NewArray, Plan, ReadInto, Registry, Result, WriteFrom};
use crate::{chunk_keys, create, jobs, selected_memory};
use std::sync::Arc;
use zarr_codec::{View, ViewMut};
use zarr_dtype::{Cast, CastElement, Element, cast_items};
use zarr_grid::{ChunkIndex, Region, Resolved, SelectedElements};
use zarr_hierarchy::jobs::Operation;
use zarr_hierarchy::node::{Foresee, Knowing, parse_path};
use zarr_store::{Bytes, Durability, Key};

/// Operations of an array, with the driver of its store.
#[derive(Debug)]
pub(crate) struct Verbs<'a, D> {
    pub(crate) core: &'a ArrayCore,
    pub(crate) drive: D,
}

impl<'a, D: Drive> Verbs<'a, D> {
    fn locate(&self, error: Error) -> Error {
        self.core.locate(error)
    }

    /// Reads a selection into a vector in C order.
    pub(crate) async fn read<T: Element>(&self, resolved: &Resolved) -> Result<Vec<T>> {
        let (core, data_type) = (self.core, self.core.data_type());
        core.check_type::<T>()?;
        let len = selected_memory::len(resolved, data_type.item_size())?;
        if T::as_bytes_mut(&mut []).is_some() {
            let mut elements = T::zeroed_vec(len)?;
            self.read_bytes(resolved, T::as_bytes_mut(&mut elements).unwrap_or_default()).await?;
            return Ok(elements);
        }
        // Bytes of which not all are values of the type are checked where they lie; elements of other types have to be converted.
        if size_of::<T>() == 1 && data_type.item_size() == 1 && !data_type.is_variable() {
            let mut items = u8::zeroed_vec(len)?;
            self.read_bytes(resolved, &mut items).await?;
            let elements = data_type.as_taken_by::<T>().and_then(|data_type| T::from_item_vec(data_type, items));
            return elements.map_err(|error| self.locate(error.into()));
        }
        self.read_data(resolved).await?.to_vec()
    }

    /// Reads a selection into `bytes`, fresh memory for the elements in C order.
    async fn read_bytes(&self, resolved: &Resolved, bytes: &mut [u8]) -> Result<()> {
        crate::buffer::advise_large(bytes);
        let out = selected_memory::output(bytes, self.core.element(), resolved, None)?;
        self.read_view(resolved, out, true).await
    }

    /// Reads a selection of numbers or bools as numbers of type `T`.
    pub(crate) async fn read_as<T: CastElement>(&self, resolved: &Resolved, cast: Cast) -> Result<Vec<T>> {
        let data_type = self.core.data_type();
        if T::accepts(data_type) && T::as_bytes(&[]).is_some() && data_type.class().is_some() {
            return self.read(resolved).await;
        }
        let data = self.read_data(resolved).await?;
        cast_items(data_type, data.items(), cast).map_err(|error| self.locate(error.into()))
    }

    /// Reads a selection into [`ArrayData`].
    pub(crate) async fn read_data(&self, resolved: &Resolved) -> Result<ArrayData> {
        selected_memory::len(resolved, self.core.data_type().item_size())?;
        let mut data = ArrayData::zeroed(self.core.element(), &resolved.output_shape())?;
        self.read_view(resolved, data.view_mut(), true).await?;
        Ok(data.reshaped(resolved.result_shape()))
    }

    /// Reads a selection into the caller's memory.
    pub(crate) async fn read_into(&self, resolved: &Resolved, mut out: impl ReadInto) -> Result<()> {
        let element = self.core.element();
        let destination = out.destination(&element.data_type).map_err(|error| self.locate(error))?;
        match destination.map(|destination| destination.selected(element, resolved)) {
            Some(out) => self.read_view(resolved, out.map_err(|error| self.locate(error))?, false).await,
            None => out.assign(&self.read_data(resolved).await?).map_err(|error| self.locate(error)),
        }
    }

    /// Reads a selection into `out`, which has the output shape of the selection. `zeroed` says that `out` is fresh memory of zeros.
    async fn read_view(&self, resolved: &Resolved, out: ViewMut<'_>, zeroed: bool) -> Result<()> {
        // Selections that are no region go through a staging buffer, which is fresh memory.
        let zeroed = zeroed || !matches!(resolved, Resolved::Box(_));
        let read = self.begin_read(out.size(), zeroed).await?;
        let done = read.selection(resolved, out).await;
        self.end_read(read, done).await
    }

    /// Reads a region into `out`, which has the shape of the region and is fresh memory.
    pub(crate) async fn read_region(&self, region: &Region, out: ViewMut<'_>) -> Result<()> {
        let read = self.begin_read(out.size(), true).await?;
        let done = read.region(region, out).await;
        self.end_read(read, done).await
    }

    /// Reads a region of which only `chunks`, sorted, are stored.
    pub(crate) async fn read_stored(&self, region: &Region, chunks: &[ChunkIndex]) -> Result<ArrayData> {
        let mut data = ArrayData::zeroed(self.core.element(), &region.shape())?;
        let mut out = data.view_mut();
        let read = self.begin_read(out.size(), true).await?;
        read.fill(&mut out)?;
        let done = read.chunks(region, chunks, out).await;
        self.end_read(read, done).await?;
        Ok(data)
    }

    /// Plans the read of a selection.
    pub(crate) async fn plan(&self, resolved: &Resolved) -> Result<Plan> {
        let (core, profile) = (self.core, self.drive.access_profile());
        let is_variable = core.element().is_variable();
        let item = core.element().item_size();
        let len = selected_memory::len(resolved, item)?;
        let mut nothing: [u8; 0] = [];
        let out = ViewMut::new(&mut nothing, 0, &selected_memory::dims(&resolved.output_shape())?)?;
        let log = RequestLog::new(profile, self.drive.overlaps());
        ArrayRead::planned(core, &self.drive, &log).selection(resolved, out).await?;
        let planned = log.into_plan();
        Ok(Plan {
            chunks: count_chunks(core, resolved)?,
            selected_bytes: (!is_variable).then(|| len.saturating_mul(item) as u64),
            decoded_bytes: planned.decoded_bytes.filter(|_| !is_variable),
            if_missing: core.looked_at()?,
            ..planned
        })
    }

    /// Begins a read of `size` bytes. `zeroed` says that outputs are fresh memory of zeros.
    pub(crate) async fn begin_read(&self, size: usize, zeroed: bool) -> Result<ArrayRead<'_, D>> {
        Ok(ArrayRead::new(self.core, &self.drive, self.hold().await?, size, zeroed))
    }

    /// Ends a read. Returns its result, or an error if the array is no longer in the store as it was opened.
    pub(crate) async fn end_read(&self, read: ArrayRead<'_, D>, done: Result<()>) -> Result<()> {
        match done {
            Ok(()) if !read.has_asked() => Ok(()),
            done => self.end(read.pinned(), done, read.found_missing()).await,
        }
    }

    /// Writes elements to a selection.
    pub(crate) async fn write(&self, resolved: &Resolved, elements: impl WriteFrom) -> Result<()> {
        let elements = elements.elements(self.core.data_type()).map_err(|error| self.locate(error))?;
        let data = elements.selected(self.core.element(), resolved).map_err(|error| self.locate(error))?;
        self.write_view(resolved, data).await
    }

    /// Writes a view of elements to a selection.
    pub(crate) async fn write_view(&self, resolved: &Resolved, data: View<'_>) -> Result<()> {
        let capabilities = self.drive.capabilities();
        let is_part = || match resolved {
            Resolved::Box(selected) => WriteJob::has_parts(self.core, &selected.region),
            _ => true,
        };
        if self.core.options.strict_writers && is_part() {
            self.core.check_writers(capabilities, "a write of a part of a chunk")?;
        }
        if let Resolved::Box(selected) = resolved {
            return self.write_region(&selected.region, selected_memory::flipped_view(data, &selected.flipped)).await;
        }
        let (core, store) = (self.core, (capabilities, &self.drive.access_profile()));
        let bytes = selected_memory::contiguous(&data)?;
        let data = View::new(&bytes, data.item_size(), data.shape())?.with_heap(data.heap().cloned());
        let chunks = SelectedElements::new(resolved)?.by_chunk(&core.grid)?;
        self.change(WriteJob::selected(core, &chunks, data, store)).await
    }

    /// Writes elements to a region. `data` has the shape of the region.
    pub(crate) async fn write_region(&self, region: &Region, data: View<'_>) -> Result<()> {
        let store = (self.drive.capabilities(), &self.drive.access_profile());
        self.change(WriteJob::new(self.core, region, data, Durability::None, store)).await
    }

    /// Writes buffered chunks, and notes the written chunks. If one fails, other small chunks that were set together with it may be written
    /// without being noted, unless chunks are set `apart`.
    pub(crate) async fn write_kept(&self, chunks: &[&KeptChunk], apart: bool) -> Result<()> {
        let capabilities = self.drive.capabilities();
        if chunks.iter().any(|chunk| !chunk.covers()) {
            self.core.check_writers(capabilities, "a write of a part of a chunk")?;
        }
        let store = (capabilities, &self.drive.access_profile());
        self.change(WriteJob::kept(self.core, chunks, apart, store)).await
    }

    /// Reads the encoded bytes of a chunk; `None` if the chunk is not stored.
    pub(crate) async fn read_chunk_bytes(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        let key = chunk_keys::chunk_key(self.core, chunk)?;
        let pinned = self.hold().await?;
        let found = self.get_chunk(pinned.as_ref(), chunk, key).await;
        let is_missing = matches!(found, Ok(None));
        self.end(pinned.as_ref(), found, is_missing).await
    }

    async fn get_chunk(&self, pinned: Option<&D::Pinned>, chunk: &[u64], key: Key) -> Result<Option<Bytes>> {
        let mut bytes = self.drive.run_pinned(pinned, self.core, jobs::get(key)).await?;
        let mut location = 0;
        while let (None, Some((other, key))) = (&bytes, self.core.other_key(chunk, location)) {
            bytes = self.drive.run_pinned(pinned, self.core, jobs::get(key)).await?;
            location = other;
        }
        Ok(bytes)
    }

    /// Replaces the encoded bytes of a chunk.
    pub(crate) async fn write_chunk_bytes(&self, chunk: &[u64], bytes: &[u8]) -> Result<()> {
        self.find_chunk_location().await?;
        let _invalidation = self.core.invalidation(Some(chunk));
        self.change(jobs::set(chunk_keys::chunk_key(self.core, chunk)?, bytes.to_vec())).await
    }

    /// Erases a chunk, so that its elements have the fill value.
    pub(crate) async fn erase_chunk(&self, chunk: &[u64]) -> Result<()> {
        self.find_chunk_location().await?;
        let _invalidation = self.core.invalidation(Some(chunk));
        self.change(jobs::erase(vec![chunk_keys::chunk_key(self.core, chunk)?])).await
    }

    /// Lists the stored chunks of the grid.
    pub(crate) async fn stored_chunks(&self) -> Result<Vec<ChunkIndex>> {
        Ok(self.stored_chunk_keys().await?.into_iter().map(|(chunk, _)| chunk).collect())
    }

    /// Lists the stored chunks of the grid, each with the number of its stored bytes.
    pub(crate) async fn stored_chunk_sizes(&self) -> Result<Vec<(ChunkIndex, u64)>> {
        self.find_chunk_location().await?;
        let pinned = self.hold().await?;
        let job = jobs::sizes_below(self.core.chunk_prefix())?;
        let sizes = self.drive.run_pinned(pinned.as_ref(), self.core, job).await;
        let chunk = |(key, size): (Key, u64)| Some((self.core.parse_key(key.as_str())?, size));
        let chunks: Result<Vec<_>> = sizes.map(|sizes| sizes.into_iter().filter_map(chunk).collect());
        let is_missing = chunks.as_ref().is_ok_and(Vec::is_empty);
        self.end(pinned.as_ref(), chunks, is_missing).await
    }

    async fn stored_chunk_keys(&self) -> Result<Vec<(ChunkIndex, Key)>> {
        self.find_chunk_location().await?;
        let pinned = self.hold().await?;
        let job = jobs::keys_below(self.core.chunk_prefix())?;
        let keys = self.drive.run_pinned(pinned.as_ref(), self.core, job).await;
        let chunks = keys.map(|keys| chunk_keys::parse_in_grid(self.core, keys));
        let is_missing = chunks.as_ref().is_ok_and(Vec::is_empty);
        self.end(pinned.as_ref(), chunks, is_missing).await
    }

    /// Finds the location of the chunks by listing, if the metadata leaves it open, before new chunks are written.
    pub(crate) async fn find_chunk_location(&self) -> Result<()> {
        if self.core.is_location_unknown() { find_chunk_location(&self.drive, self.core).await } else { Ok(()) }
    }
}

/// Creates the array `new` at `path`. Returns its node, and the options with which to open it.
pub(crate) async fn create<D: Drive>(
    drive: &D,
    store: &str,
    path: &str,
    new: NewArray,
    registry: &Arc<Registry>,
) -> Result<(zarr_meta::StoredNode, crate::Options)> {
    let in_store = |error: Error| error.at(|location| location.store = Some(store.to_owned()));
    let capabilities = drive.capabilities();
    let profile = drive.access_profile();
    let find = create::find_dialect(path, &new, capabilities.list, &profile).map_err(in_store)?;
    let foresee = Foresee::new(parse_path(path).map_err(in_store)?, capabilities, &profile);
    let known = drive.run_alone(foresee.job()).await.map_err(in_store)?;
    let (dialect, known) = drive.run_alone(Knowing::new(find, known).job()).await.map_err(in_store)?;
    let (job, options) =
        create::create(path, &new, dialect, (store.to_owned(), capabilities), registry).map_err(in_store)?;
    let (found, _) = drive.run_alone(Knowing::new(job, known).job()).await.map_err(in_store)?;
    Ok((found, options))
}
