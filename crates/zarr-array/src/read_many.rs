//! Reads of several regions at once.

use crate::core::ArrayCore;
use crate::drive::Drive;
use crate::elements::Destination;
use crate::read::ManyRegions;
use crate::verbs::Verbs;
use crate::{Array, ArrayData, AsyncArray, Error, ReadInto, Result, selected_memory};
use std::sync::Arc;
use zarr_codec::ViewMut;
use zarr_drive::now;
use zarr_grid::{IntoSelection, Resolved};

/// Selections and outputs of a read of several regions.
struct Regions<O> {
    selections: Vec<Resolved>,
    outputs: Vec<O>,
    /// Elements for an output that has to convert them, for each output; `None` if elements are decoded into the output directly.
    data: Vec<Option<ArrayData>>,
}

impl<O: ReadInto> Regions<O> {
    fn new<S: IntoSelection>(core: &ArrayCore, parts: impl IntoIterator<Item = (S, O)>) -> Result<Self> {
        let mut regions = Self { selections: Vec::new(), outputs: Vec::new(), data: Vec::new() };
        for (selection, mut output) in parts {
            let resolved = selected_memory::resolve(core, selection)?;
            if !matches!(resolved, Resolved::Box(_)) {
                let number = regions.selections.len();
                return Err(Error::argument(format!(
                    "selection {number}: found lists, masks or coordinates, expected ranges"
                )));
            }
            let element = core.element();
            let data = match output.destination(&element.data_type)? {
                Some(destination) => destination.selected(element, &resolved).map(|_| None)?,
                None => {
                    selected_memory::len(&resolved, element.item_size())?;
                    Some(ArrayData::zeroed(element, &resolved.output_shape())?)
                }
            };
            regions.selections.push(resolved);
            regions.outputs.push(output);
            regions.data.push(data);
        }
        // Elements of variable length of all regions are in one heap: chunks that several regions meet are decoded once.
        if let Some(first) = regions.data.iter().flatten().next() {
            let heap = first.heap().cloned();
            regions.data.iter_mut().flatten().for_each(|data| data.share_heap(heap.clone()));
        }
        Ok(regions)
    }

    async fn read<D: Drive>(mut self, verbs: &Verbs<'_, D>) -> Result<()> {
        let core = verbs.core;
        let regions = self.selections.iter().filter_map(|resolved| match resolved {
            Resolved::Box(selected) => Some(&selected.region),
            _ => None,
        });
        let regions = ManyRegions::new(core, regions).map_err(|error| core.locate(error))?;
        let item = core.element().item_size() as u64;
        let sizes = self.selections.iter().map(|resolved| zarr_grid::total_size(&resolved.output_shape(), item));
        let size = usize::try_from(sizes.fold(0, u128::saturating_add)).unwrap_or(usize::MAX);
        let views = self.views(core).map_err(|error| core.locate(error))?;
        // The staging buffer of the first batch is fresh memory.
        let read = verbs.begin_read(size, regions.is_staged_at_once()).await?;
        let done = read.many(&regions, views).await;
        verbs.end_read(read, done).await?;
        self.assign().map_err(|error| core.locate(error))
    }

    /// Returns views of the memory of all outputs, in the output shapes of their selections.
    fn views(&mut self, core: &ArrayCore) -> Result<Vec<ViewMut<'_>>> {
        let mut views = Vec::with_capacity(self.selections.len());
        for ((resolved, output), data) in self.selections.iter().zip(&mut self.outputs).zip(&mut self.data) {
            let view = match data {
                Some(data) => data.view_mut(),
                None => {
                    let missing = || Error::internal("memory that elements were decoded to takes none any more");
                    let destination: Destination<'_> = output.destination(core.data_type())?.ok_or_else(missing)?;
                    destination.selected(core.element(), resolved)?
                }
            };
            let flipped: &[bool] = if let Resolved::Box(selected) = resolved { &selected.flipped } else { &[] };
            views.push(selected_memory::flipped(view, flipped));
        }
        let mut heaps = views.iter().filter_map(ViewMut::heap);
        if let Some(first) = heaps.next()
            && heaps.any(|heap| !Arc::ptr_eq(heap, first))
        {
            return Err(Error::argument("memory with several heaps, expected one heap for all regions"));
        }
        Ok(views)
    }

    /// Assigns elements that have to be converted to their outputs.
    fn assign(self) -> Result<()> {
        for ((resolved, mut output), data) in self.selections.into_iter().zip(self.outputs).zip(self.data) {
            if let Some(data) = data {
                output.assign(&data.reshaped(resolved.result_shape()))?;
            }
        }
        Ok(())
    }
}

impl Array {
    /// Reads several regions, each into its own memory, as one read. Each chunk (inner chunk, if the array is sharded) and each index of a
    /// shard is fetched and decoded once, even if several regions meet it, and many chunks are read at the same time.
    ///
    /// This is for training data, tiles and windows that overlap. Chunks are read in batches: up to 64 MiB of them are in memory beside the
    /// outputs, up to 256 MiB if they lie in one shard, or one chunk that is larger. The index of a shard with more than 256 MiB is fetched
    /// for each batch, unless there is a cache.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_array::{Array, NewArray, Registry, Store};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let new = NewArray::new(&[100, 100], "uint8").chunks(&[50, 50]).codecs("bytes")?;
    /// let array = Array::create(&store, "/a", new, &registry)?;
    /// array.fill((.., 50..), 7_u8)?;
    /// // A batch of four windows, one after the other in one vector.
    /// let corners = [(0_u64, 0_u64), (0, 40), (45, 45), (60, 2)];
    /// let mut batch = vec![0_u8; 4 * 32 * 32];
    /// let windows = corners.map(|(y, x)| (y..y + 32, x..x + 32));
    /// array.read_many(windows.into_iter().zip(batch.chunks_exact_mut(32 * 32)))?;
    /// assert_eq!(batch.iter().filter(|&&value| value == 7).count(), (22 + 27) * 32);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`read_into`](Self::read_into), and [`ErrorKind::Argument`](crate::ErrorKind::Argument) for a selection by lists,
    /// masks or coordinates.
    pub fn read_many<S: IntoSelection, O: ReadInto>(&self, parts: impl IntoIterator<Item = (S, O)>) -> Result<()> {
        let regions = Regions::new(&self.core, parts).map_err(|error| self.core.locate(error))?;
        now(regions.read(&self.verbs()))
    }
}

impl AsyncArray {
    /// Reads several regions, each into its own memory, as one read; see [`Array::read_many`].
    ///
    /// # Errors
    /// The errors of [`Array::read_many`].
    pub async fn read_many<S: IntoSelection, O: ReadInto>(
        &self,
        parts: impl IntoIterator<Item = (S, O)>,
    ) -> Result<()> {
        let regions = Regions::new(&self.core, parts).map_err(|error| self.core.locate(error))?;
        regions.read(&self.verbs()).await
    }
}
