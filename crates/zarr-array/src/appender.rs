//! Appending of elements piece by piece along one axis: a buffer collects them until they fill chunks, and then they are written and
//! published together.

use crate::core::ArrayCore;
use crate::data::copy_elements;
use crate::drive::{Awaiting, Blocking, Drive};
use crate::{Array, ArrayData, AsyncArray, Error, ErrorKind, Result, WriteFrom, reshape, selected_memory};
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::View;
use zarr_drive::now;
use zarr_grid::{ChunkGrid, Region, Shape};

/// Default of the maximum number of buffered bytes; one layer of whole chunks (or shards) is buffered even if it has more.
const BUFFER_SIZE: u64 = 64 << 20;
/// Minimum number of buffered bytes of elements of variable length at which they are written.
const LEAST: u64 = 64 << 10;

/// Appends elements to an array piece by piece, in whole chunks or shards ([`Array::appender`]).
///
/// Elements are buffered until they fill all chunks (of sharded arrays: shards) side by side along the other axes, and further layers of
/// chunks up to [`buffer_size`](Self::buffer_size). Then one [`Array::append`] writes them, and publishes them with one change of the
/// document. So no chunk is written twice, except a chunk in which the array or a [`flush`](Self::flush) ends, and many small pieces cost
/// few requests. Readers do not see buffered elements.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, NewArray, Registry, Store};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[0, 3], "int16").chunks(&[100, 3]).codecs(r#"["bytes"]"#)?;
/// let mut array = Array::create(&store, "/measured", new, &registry)?;
/// let mut appender = array.appender(0)?;
/// for row in 0..250_i16 {
///     appender.append(&[row, row + 1, row + 2])?;
/// }
/// appender.finish()?;
/// assert_eq!(array.shape(), [250, 3]);
/// assert_eq!(array.read::<i16>((249, ..))?, [249, 250, 251]);
/// # Ok::<(), zarr_array::Error>(())
/// ```
///
/// # Errors, and the end
/// Buffered elements are encoded when they are written: a value that a codec refuses fails the flush.
///
/// After an error of the store nobody knows whether the elements were published. The appender then refuses further elements, so that none
/// is appended twice; the shape of the array, opened again, says which elements were published. After other errors [`flush`](Self::flush)
/// may be tried again; [`len`](Self::len) says how many elements along the axis were appended in all. When the appender is dropped,
/// buffered elements are written as well, unless an append failed before, but only [`finish`](Self::finish) reports an error.
#[derive(Debug)]
pub struct Appender<'a> {
    array: &'a mut Array,
    kept: AppendBuffer,
}

impl Array {
    /// Appends elements piece by piece along `axis`, in whole chunks: see [`Appender`].
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if the array has no dimension `axis`.
    pub fn appender(&mut self, axis: usize) -> Result<Appender<'_>> {
        let kept = AppendBuffer::new(&self.core, axis)?;
        Ok(Appender { array: self, kept })
    }
}

impl AsyncArray {
    /// Appends elements piece by piece along `axis`, in whole chunks: see [`AsyncAppender`].
    ///
    /// # Errors
    /// The errors of [`Array::appender`](crate::Array::appender).
    pub fn appender(&mut self, axis: usize) -> Result<AsyncAppender<'_>> {
        let kept = AppendBuffer::new(&self.core, axis)?;
        Ok(AsyncAppender { array: self, kept })
    }
}

impl Appender<'_> {
    /// Sets the maximum number of bytes that are buffered, 64 MiB by default. One layer of chunks (all chunks side by side along the other
    /// axes) is buffered even if it has more bytes.
    #[must_use]
    pub fn buffer_size(mut self, bytes: u64) -> Self {
        self.kept.limit = bytes;
        self
    }

    /// Appends elements, as [`Array::append`] takes them: their shape is the shape of the array except along the axis. A slice is in C
    /// order, and its length says how many elements along the axis are added.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`](crate::ErrorKind::Argument) if shapes or types do not fit, and then no element is appended;
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no memory to buffer a layer of chunks; the errors of [`Array::append`].
    pub fn append(&mut self, elements: impl WriteFrom) -> Result<()> {
        let Array { store, core } = &mut *self.array;
        now(self.kept.append(&Blocking(&**store), core, elements))
    }

    /// Writes and publishes all buffered elements, even if they do not fill a chunk.
    ///
    /// # Errors
    /// The errors of [`Array::append`].
    pub fn flush(&mut self) -> Result<()> {
        let Array { store, core } = &mut *self.array;
        now(self.kept.flush(&Blocking(&**store), core))
    }

    /// Writes and publishes all buffered elements, and consumes the appender.
    ///
    /// # Errors
    /// The errors of [`flush`](Self::flush). Elements that could not be written are lost.
    pub fn finish(mut self) -> Result<()> {
        let flushed = self.flush();
        self.kept.clear();
        flushed
    }

    /// Number of elements along the axis that were appended so far, published or still buffered.
    pub fn len(&self) -> u64 {
        self.kept.published.saturating_add(self.kept.filled)
    }

    /// Whether no element was appended so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of elements along the axis that are buffered, and not yet published.
    pub fn kept(&self) -> u64 {
        self.kept.filled
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() && !self.kept.has_failed {
            // `finish` is there for those who want to know.
            drop(self.flush());
        }
    }
}

/// Appends elements to an async array piece by piece, in whole chunks or shards ([`AsyncArray::appender`]). See [`Appender`].
///
/// Buffered elements are lost when the appender is dropped, since dropping cannot wait. [`finish`](Self::finish) writes them.
#[derive(Debug)]
pub struct AsyncAppender<'a> {
    array: &'a mut AsyncArray,
    kept: AppendBuffer,
}

impl AsyncAppender<'_> {
    /// Sets the maximum number of bytes that are buffered, as [`Appender::buffer_size`] does.
    #[must_use]
    pub fn buffer_size(mut self, bytes: u64) -> Self {
        self.kept.limit = bytes;
        self
    }

    /// Appends elements, as [`Appender::append`] does. If the future is dropped while elements are being published, nobody knows whether
    /// they were published. The appender then refuses further elements, as after an error of the store.
    ///
    /// # Errors
    /// The errors of [`Appender::append`].
    pub async fn append(&mut self, elements: impl WriteFrom) -> Result<()> {
        let AsyncArray { store, core } = &mut *self.array;
        self.kept.append(&Awaiting(&**store), core, elements).await
    }

    /// Writes and publishes all buffered elements, as [`Appender::flush`] does.
    ///
    /// # Errors
    /// The errors of [`Appender::flush`].
    pub async fn flush(&mut self) -> Result<()> {
        let AsyncArray { store, core } = &mut *self.array;
        self.kept.flush(&Awaiting(&**store), core).await
    }

    /// Writes and publishes all buffered elements, and consumes the appender.
    ///
    /// # Errors
    /// The errors of [`flush`](Self::flush). Elements that could not be written are lost.
    pub async fn finish(mut self) -> Result<()> {
        self.flush().await
    }

    /// Number of elements along the axis that were appended so far, published or still buffered.
    pub fn len(&self) -> u64 {
        self.kept.published.saturating_add(self.kept.filled)
    }

    /// Whether no element was appended so far.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of elements along the axis that are buffered, and not yet published.
    pub fn kept(&self) -> u64 {
        self.kept.filled
    }
}

/// Buffer of appended elements that are not yet written.
#[derive(Debug)]
struct AppendBuffer {
    axis: usize,
    /// Maximum number of buffered bytes; one layer of chunks is buffered even if it has more.
    limit: u64,
    /// Buffered elements, with room for elements up to the end of a chunk. Elements from index `filled` along the axis are unused.
    data: Option<ArrayData>,
    /// Number of buffered elements along the axis.
    filled: u64,
    /// Number of elements along the axis that were written and published.
    published: u64,
    /// Whether the last attempt to publish elements failed.
    has_failed: bool,
    /// Whether an append ended without an answer of the store, so that its elements may or may not be published.
    is_uncertain: bool,
}

impl AppendBuffer {
    fn new(core: &ArrayCore, axis: usize) -> Result<Self> {
        let rank = core.grid.rank();
        if axis >= rank {
            let message = format!("dimension {axis} to append along, expected one of {rank}");
            return Err(core.locate(Error::argument(message)));
        }
        Ok(Self {
            axis,
            limit: BUFFER_SIZE,
            data: None,
            filled: 0,
            published: 0,
            has_failed: false,
            is_uncertain: false,
        })
    }

    fn clear(&mut self) {
        (self.data, self.filled) = (None, 0);
    }

    async fn append<D: Drive>(&mut self, drive: &D, core: &mut Arc<ArrayCore>, elements: impl WriteFrom) -> Result<()> {
        let elements = elements.elements(core.data_type()).map_err(|error| core.locate(error))?;
        let data = elements.appended(core.element(), core.grid.shape(), self.axis);
        let data = data.map_err(|error| core.locate(error))?;
        let (_, region) = reshape::appended(core, self.axis, data.shape())?;
        selected_memory::check_items(&data, core.element()).map_err(|error| core.locate(error))?;
        self.check_certain(core)?;
        let total = region.axes().get(self.axis).map_or(0, |axis| axis.len);
        let mut taken = 0;
        while taken < total {
            // Elements that fill chunks by themselves need not be copied.
            let whole = if self.filled == 0 { self.whole(core, total - taken) } else { 0 };
            if whole > 0 {
                let part = data.window(&along(self.axis, data.shape(), taken..taken + whole));
                self.publish(drive, core, part, whole).await?;
                taken += whole;
                continue;
            }
            let room = self.room(core)?;
            let more = (total - taken).min(room - self.filled);
            self.keep(&data.window(&along(self.axis, data.shape(), taken..taken + more)), more)?;
            taken += more;
            if self.filled == room || self.is_large() {
                self.flush(drive, core).await?;
            }
        }
        Ok(())
    }

    async fn flush<D: Drive>(&mut self, drive: &D, core: &mut Arc<ArrayCore>) -> Result<()> {
        self.check_certain(core)?;
        let Some(data) = self.data.take().filter(|_| self.filled > 0) else { return Ok(()) };
        let view = data.view();
        let part = view.window(&along(self.axis, view.shape(), 0..self.filled));
        let published = self.publish(drive, core, part, self.filled).await;
        match published {
            Ok(()) => self.clear(),
            Err(_) => self.data = Some(data),
        }
        published
    }

    /// Appends the elements of `part`, `count` along the axis, to the array in the store.
    async fn publish<D: Drive>(
        &mut self,
        drive: &D,
        core: &mut Arc<ArrayCore>,
        part: View<'_>,
        count: u64,
    ) -> Result<()> {
        // Until there is an answer; the future may be dropped.
        (self.has_failed, self.is_uncertain) = (true, true);
        let appended = reshape::append(drive, core, self.axis, part).await;
        self.is_uncertain = appended
            .as_ref()
            .is_err_and(|error| matches!(error.kind(), ErrorKind::Store | ErrorKind::Cancelled | ErrorKind::Internal));
        *core = appended?;
        self.has_failed = false;
        self.published += count;
        Ok(())
    }

    /// Returns an error if it is not known whether an earlier append published its elements.
    fn check_certain(&self, core: &ArrayCore) -> Result<()> {
        if !self.is_uncertain {
            return Ok(());
        }
        let message = "an append had no answer before, and may have published its elements";
        let error = Error::new(ErrorKind::Store, message);
        Err(core.locate(error.with_hint("open the array again: its shape says whether they are there")))
    }

    /// Whether buffered elements of variable length have reached the maximum number of buffered bytes.
    fn is_large(&self) -> bool {
        let heap = self.data.as_ref().and_then(ArrayData::heap);
        heap.is_some_and(|heap| heap.size() >= self.limit.max(LEAST))
    }

    /// Returns how many of the next `count` elements along the axis can be written without buffering: as many as end with a chunk, if they
    /// would fill the buffer; else 0.
    fn whole(&self, core: &ArrayCore, count: u64) -> u64 {
        let end = self.end(core);
        let whole = chunk_along(&core.grid, self.axis, end.saturating_add(count)).start.saturating_sub(end);
        if whole >= self.most(core) { whole } else { 0 }
    }

    /// Number of elements along the axis that are buffered before they are written: up to the end of a chunk, and at least 1.
    fn most(&self, core: &ArrayCore) -> u64 {
        let end = self.end(core);
        let within = end.saturating_add(self.limit / self.layer(core));
        let first = chunk_along(&core.grid, self.axis, end).end;
        first.max(chunk_along(&core.grid, self.axis, within).start).saturating_sub(end).max(1)
    }

    /// Number of elements along the axis for which the buffer has room. Allocates the buffer if there is none.
    fn room(&mut self, core: &ArrayCore) -> Result<u64> {
        let data = match &self.data {
            Some(data) => data,
            None => {
                let mut shape = Shape::from_slice(core.grid.shape());
                if let Some(len) = shape.get_mut(self.axis) {
                    *len = self.most(core);
                }
                let data = ArrayData::zeroed(core.element(), &shape).map_err(|error| core.locate(error))?;
                self.data.insert(data)
            }
        };
        Ok(data.shape().get(self.axis).copied().unwrap_or_default())
    }

    /// Copies the elements of `part`, `count` along the axis, behind the elements in the buffer.
    fn keep(&mut self, part: &View<'_>, count: u64) -> Result<()> {
        let Some(data) = &mut self.data else { return Err(Error::internal("no room for elements to keep")) };
        let out = data.view_mut();
        let region = along(self.axis, out.shape(), self.filled..self.filled + count);
        copy_elements(part, &mut out.window(&region))?;
        self.filled += count;
        Ok(())
    }

    /// Length of the array along the axis: the index at which the next elements will be written.
    fn end(&self, core: &ArrayCore) -> u64 {
        core.grid.shape().get(self.axis).copied().unwrap_or_default()
    }

    /// Number of bytes of the elements with the same index along the axis, at least 1.
    fn layer(&self, core: &ArrayCore) -> u64 {
        let others = core.grid.shape().iter().enumerate().filter(|(axis, _)| *axis != self.axis);
        let count = others.fold(core.element().item_size() as u64, |size, (_, &len)| size.saturating_mul(len));
        count.max(1)
    }
}

/// Region of data of `shape` that has the indexes `range` along `axis`, and everything along the other axes.
fn along(axis: usize, shape: &[usize], range: Range<u64>) -> Region {
    let ranges =
        shape.iter().enumerate().map(|(other, &len)| if other == axis { range.clone() } else { 0..len as u64 });
    Region::from_ranges(&ranges.collect::<Vec<_>>())
}

/// Range of indexes along `axis` of the chunk that has, or in a grown array will have, the index `position`. If the grid cannot grow to
/// `position`, the range has `position` alone.
fn chunk_along(grid: &ChunkGrid, axis: usize, position: u64) -> Range<u64> {
    let mut shape: Shape = grid.shape().iter().map(|&len| len.max(1)).collect();
    let mut element = Shape::from_elem(0, shape.len());
    let found = (|| {
        *shape.get_mut(axis)? = position.checked_add(1)?;
        *element.get_mut(axis)? = position;
        let grown = grid.resized(&shape).ok()?;
        let chunk = grown.chunk_at(&element).ok()?;
        let start = grown.chunk_region(&chunk).axes().get(axis)?.start;
        Some(start..start.checked_add(*grown.chunk_shape(&chunk).get(axis)?)?)
    })();
    found.unwrap_or(position..position.saturating_add(1))
}
