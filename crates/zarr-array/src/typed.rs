//! Reads with casts, writes of one value to all elements, and work chunk by chunk.

use crate::core::ArrayCore;
use crate::{Array, AsyncArray, Error, Result, drive, selected_memory};
use std::sync::Arc;
use zarr_codec::{Dims, View};
use zarr_drive::now;
use zarr_dtype::{Cast, CastElement, DataType, Heap, WriteElement};
use zarr_grid::{AxisRange, ChunkGrid, ChunkOverlaps, IntoSelection, Region, Resolved};

/// Maximum number of regions that are processed in one parallel batch.
const BATCH: usize = 4096;

/// One element that is written to all elements of a selection.
pub(crate) struct Repeated {
    item: Vec<u8>,
    heap: Arc<Heap>,
}

impl Repeated {
    pub(crate) fn new<T: WriteElement>(data_type: &DataType, value: T) -> Result<Self> {
        let heap = Arc::new(Heap::new());
        Ok(Self { item: T::make_items(data_type, &[value], &heap)?, heap })
    }

    /// Returns a view that has the element at each index of the output of a selection: all strides are 0.
    pub(crate) fn view(&self, resolved: &Resolved) -> Result<View<'_>> {
        let dims: Dims = selected_memory::dims(&resolved.output_shape())?;
        let strides = vec![0; dims.len()];
        Ok(View::from_strides(&self.item, self.item.len(), &dims, 0, &strides)?.with_heap(Some(Arc::clone(&self.heap))))
    }
}

impl Array {
    /// Reads a selection of numbers or bools of any data type as numbers of type `T`, in C order.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_array::{Array, Cast, NewArray, Registry, Store};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let array = Array::create(&store, "/a", NewArray::new(&[3], "int16").codecs(r#"["bytes"]"#)?, &registry)?;
    /// array.write(.., &[1_i16, -300, 5])?;
    /// assert_eq!(array.read_as::<f64>(.., Cast::Exact)?, [1.0, -300.0, 5.0]);
    /// assert!(array.read_as::<u8>(.., Cast::Exact).is_err(), "-300 is no u8");
    /// assert_eq!(array.read_as::<u8>(.., Cast::Lossy)?, [1, 0, 5]);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`read`](Self::read), and [`ErrorKind::Argument`](crate::ErrorKind::Argument) if elements are neither numbers nor
    /// bools, or `T` has no such value and `cast` is [`Cast::Exact`]; it says which element, counted in C order of the selection.
    pub fn read_as<T: CastElement>(&self, selection: impl IntoSelection, cast: Cast) -> Result<Vec<T>> {
        let resolved = self.resolve(selection)?;
        now(self.verbs().read_as(&resolved, cast))
    }

    /// Writes one value to all elements of a selection. Chunks that then hold nothing but the fill value are not stored, as
    /// [`Options::write_empty_chunks`](crate::Options::write_empty_chunks) says.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn fill<T: WriteElement>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        let resolved = self.resolve(selection)?;
        let repeated = Repeated::new(self.data_type(), value).map_err(|error| self.core.locate(error))?;
        now(self.verbs().write_view(&resolved, repeated.view(&resolved)?))
    }

    /// Calls `each` with each region of the selection that lies in one chunk (one shard, if the array is sharded), on the threads that
    /// decode the array, several at the same time. Calls that read and write only their region never wait for each other, and each chunk is
    /// encoded once.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_array::{Array, NewArray, Registry, Store};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let new = NewArray::new(&[100, 100], "float32").chunks(&[30, 100]).codecs(r#"["bytes"]"#)?;
    /// let array = Array::create(&store, "/a", new, &registry)?;
    /// array.for_each_chunk(.., |region| {
    ///     let row = region.axes()[0].start as f32;
    ///     array.fill(region, row)
    /// })?;
    /// assert_eq!(array.read::<f32>((29..31, 0))?, [0.0, 30.0]);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the selection is not a box of ranges, with or without steps; the first error
    /// that `each` returns, after which no further regions are begun.
    pub fn for_each_chunk(
        &self,
        selection: impl IntoSelection,
        each: impl Fn(&Region) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        let resolved = self.resolve(selection)?;
        let regions = ChunkRegions::new(&self.core, &resolved)?;
        let mut rest = regions.iter();
        loop {
            let regions = rest.by_ref().take(BATCH).collect::<Result<Vec<Region>>>()?;
            if regions.is_empty() {
                return Ok(());
            }
            drive::within(&self.core, || zarr_drive::try_for_each(&regions, &each))??;
        }
    }
}

/// Regions of a selection that lie in one chunk each.
struct ChunkRegions<'c> {
    grid: &'c ChunkGrid,
    overlaps: ChunkOverlaps,
}

impl<'c> ChunkRegions<'c> {
    fn new(core: &'c ArrayCore, resolved: &Resolved) -> Result<Self> {
        let Some(region) = resolved.as_region() else {
            let error = Error::argument("a selection by lists, masks or coordinates, expected ranges");
            return Err(core.locate(error));
        };
        Ok(Self { grid: &core.grid, overlaps: core.grid.intersect(region) })
    }

    fn iter(&self) -> impl Iterator<Item = Result<Region>> + Send {
        self.overlaps.iter().map(|overlap| absolute(&self.grid.chunk_region(&overlap.index), &overlap.region))
    }
}

/// Converts `inner`, a region of a chunk, to a region of the array.
fn absolute(chunk: &Region, inner: &Region) -> Result<Region> {
    let axes = inner.axes().iter().zip(chunk.axes());
    Ok(Region::new(axes.map(|(inner, chunk)| AxisRange { start: chunk.start + inner.start, ..*inner }))?)
}

impl AsyncArray {
    /// Reads a selection of numbers or bools of any data type as numbers of type `T`, as [`Array::read_as`] does. Decodes on the threads
    /// that [`read`](Self::read) uses.
    ///
    /// # Errors
    /// The errors of [`Array::read_as`].
    pub async fn read_as<T: CastElement>(&self, selection: impl IntoSelection, cast: Cast) -> Result<Vec<T>> {
        let resolved = self.resolve(selection)?;
        if self.is_little(&resolved) {
            return self.verbs().read_as(&resolved, cast).await;
        }
        self.unblock(move |array| now(array.verbs().read_as(&resolved, cast))).await?
    }

    /// Writes one value to all elements of a selection, as [`Array::fill`] does.
    ///
    /// # Errors
    /// The errors of [`Array::fill`].
    pub async fn fill<T: WriteElement>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        let resolved = self.resolve(selection)?;
        let repeated = Repeated::new(self.data_type(), value).map_err(|error| self.core.locate(error))?;
        self.verbs().write_view(&resolved, repeated.view(&resolved)?).await
    }

    /// Calls `each` with each region of the selection that lies in one chunk (one shard, if the array is sharded), as
    /// [`Array::for_each_chunk`] does, and waits for the futures. Up to [`Options::requests_in_flight`](crate::Options::requests_in_flight)
    /// futures run at the same time.
    ///
    /// # Errors
    /// The errors of [`Array::for_each_chunk`].
    pub async fn for_each_chunk<F: Future<Output = Result<()>> + Send>(
        &self,
        selection: impl IntoSelection,
        each: impl Fn(Region) -> F + Sync + Send,
    ) -> Result<()> {
        let resolved = self.resolve(selection)?;
        let regions = ChunkRegions::new(&self.core, &resolved)?;
        let limits = drive::limits(&self.core, &self.store().access_profile());
        let chunk = self.core.codecs.decoded_size(&self.chunk_shape()).max(1);
        let limit = limits.requests.min(usize::try_from(limits.bytes / chunk).unwrap_or(usize::MAX)).max(1);
        zarr_drive::for_each(regions.iter(), limit, |region| Box::pin(async { each(region?).await })).await
    }

    /// Applies the function `each` to all `items` on the threads that decode this array, as [`Array::map_parallel`] does. If the future is
    /// dropped, `each` is not called with further items.
    ///
    /// # Errors
    /// The errors of [`Array::map_parallel`].
    pub async fn map_parallel<T: Send + 'static, R: Send + 'static>(
        &self,
        items: Vec<T>,
        each: impl Fn(T) -> R + Sync + Send + 'static,
    ) -> Result<Vec<R>> {
        let core = Arc::clone(&self.core);
        let done = zarr_drive::unblock(move |unblocker| {
            let one = |item| unblocker.is_awaited().then(|| each(item));
            drive::within(&core, || zarr_drive::map(items, one))
        });
        let done: Option<Vec<R>> = done.await??.into_iter().collect();
        done.ok_or_else(|| Error::internal("values are left out of a future that is there"))
    }
}
