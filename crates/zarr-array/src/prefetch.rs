//! Reads ahead of a loop: selections are read while the ones before are used.

use crate::core::ArrayCore;
use crate::{Array, ArrayData, AsyncArray, Result, selected_memory};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::iter::Fuse;
use std::pin::Pin;
use std::task::{Context, Poll};
use zarr_drive::Ahead;
use zarr_grid::{IntoSelection, Resolved};

/// Default of [`Prefetch::max_bytes`].
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of threads that read ahead, of a prefetch of any depth.
const MAX_THREADS: usize = 64;

/// Selections that are still to be read, and what is read ahead at present.
#[derive(Debug)]
struct Parts<I> {
    rest: Fuse<I>,
    /// Selection that did not fit, with its number of elements.
    next: Option<(Result<Resolved>, u64)>,
    /// Number of elements of each selection that is read ahead.
    sizes: VecDeque<u64>,
    /// Number of bytes that an element takes; for elements of variable length the largest mean of a selection so far, and `None` before the
    /// first is read.
    item: Option<u64>,
    depth: usize,
    max_bytes: u64,
}

impl<S: IntoSelection, I: Iterator<Item = S>> Parts<I> {
    fn new(core: &ArrayCore, parts: impl IntoIterator<IntoIter = I>, depth: usize) -> Self {
        let (rest, sizes) = (parts.into_iter().fuse(), VecDeque::new());
        let element = core.element();
        let item = (!element.data_type.is_variable()).then_some(element.item_size() as u64);
        Self { rest, next: None, sizes, item, depth: depth.max(1), max_bytes: MAX_BYTES }
    }

    /// Returns the next selection to read, if the bounds allow it; `None` also at the end.
    fn next(&mut self, core: &ArrayCore) -> Option<Result<Resolved>> {
        if self.sizes.len() >= self.depth {
            return None;
        }
        if self.next.is_none() {
            let resolved = selected_memory::resolve(core, self.rest.next()?);
            let size = resolved.as_ref().map_or(0, |resolved| {
                u64::try_from(zarr_grid::total_size(&resolved.output_shape(), 1)).unwrap_or(u64::MAX)
            });
            self.next = Some((resolved.map_err(|error| core.locate(error)), size));
        }
        let (_, size) = self.next.as_ref()?;
        let elements = self.sizes.iter().fold(*size, |sum, &size| sum.saturating_add(size));
        let fits = self.item.is_some_and(|item| elements.saturating_mul(item) <= self.max_bytes);
        // One is read in any case.
        if !self.sizes.is_empty() && !fits {
            return None;
        }
        let (resolved, size) = self.next.take()?;
        self.sizes.push_back(size);
        Some(resolved)
    }

    /// Notes the bytes of what was read, for elements of variable length.
    fn note(&mut self, read: &Result<ArrayData>) {
        if let Ok(data) = read
            && let Some(heap) = data.heap()
            // An empty selection says nothing about the bytes of elements.
            && !data.is_empty()
        {
            let bytes = (data.items().len() as u64).saturating_add(heap.size());
            self.item = self.item.max(Some(bytes.div_ceil(data.len() as u64)));
        }
    }
}

/// Iterator over the elements of selections, which are read ahead of the loop, from [`Array::prefetch`].
pub struct Prefetch<I> {
    array: Array,
    parts: Parts<I>,
    ahead: Ahead<Result<ArrayData>>,
}

impl<I> Prefetch<I> {
    /// Sets the maximum number of bytes of elements that are read ahead; 256 MiB by default. One selection is read in any case. The memory
    /// in which chunks are decoded is beside that. Elements of variable length count as those of the selections before them, in the mean,
    /// and the first selection of such elements is read alone.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.parts.max_bytes = bytes;
        self
    }
}

impl<I> fmt::Debug for Prefetch<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prefetch").field("array", &self.array).field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

impl<S: IntoSelection, I: Iterator<Item = S>> Iterator for Prefetch<I> {
    type Item = Result<ArrayData>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read_ahead();
        // Before the read is taken, which panics if it did.
        self.parts.sizes.pop_front();
        let taken = self.ahead.take()?;
        self.parts.note(&taken);
        // The next ones are read while this one is used.
        self.read_ahead();
        Some(taken)
    }
}

impl<S: IntoSelection, I: Iterator<Item = S>> Prefetch<I> {
    fn read_ahead(&mut self) {
        while let Some(resolved) = self.parts.next(&self.array.core) {
            let array = self.array.clone();
            self.ahead.push(move || array.read_resolved(&resolved?));
        }
    }
}

impl Array {
    /// Reads selections ahead of a loop: while one is used, the next `depth` ones are read on other threads. Selections are read lazily,
    /// and come in order. An error is the item of its selection, and those behind it are read nevertheless. If the iterator is dropped,
    /// selections whose reads have not begun are not read. A loop on a thread of a rayon pool reads each selection when it takes it, since
    /// a read on another thread may need the pool.
    ///
    /// At most 256 MiB are read ahead; see [`Prefetch::max_bytes`]. Chunks that several selections meet are read for each of them, unless
    /// the array has a [cache](crate::Options::cache), or the selections are read together by [`read_many`](Self::read_many).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use zarr_array::{Array, NewArray, Registry, Store};
    ///
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
    /// let new = NewArray::new(&[100, 100], "uint8").chunks(&[10, 100]).codecs("bytes")?;
    /// let array = Array::create(&store, "/a", new, &registry)?;
    /// array.fill((40..50, ..), 7_u8)?;
    /// let mut sevens = 0;
    /// for slab in array.prefetch((0..100_u64).step_by(10).map(|row| (row..row + 10, ..)), 4) {
    ///     sevens += slab?.to_vec::<u8>()?.into_iter().filter(|&value| value == 7).count();
    /// }
    /// assert_eq!(sevens, 1000);
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    pub fn prefetch<S: IntoSelection, P: IntoIterator<Item = S>>(
        &self,
        parts: P,
        depth: usize,
    ) -> Prefetch<P::IntoIter> {
        let parts = Parts::new(&self.core, parts, depth);
        let ahead = Ahead::new(parts.depth.min(MAX_THREADS));
        Prefetch { array: self.clone(), parts, ahead }
    }
}

/// Read of a selection, until it has ended.
enum Ongoing {
    Reading(Pin<Box<dyn Future<Output = Result<ArrayData>> + Send>>),
    Ended(Result<ArrayData>),
}

/// Elements of selections, which are read ahead of the loop, from [`AsyncArray::prefetch`].
pub struct AsyncPrefetch<I> {
    array: AsyncArray,
    parts: Parts<I>,
    ahead: VecDeque<Ongoing>,
}

impl<I> AsyncPrefetch<I> {
    /// Sets the maximum number of bytes of elements that are read ahead; see [`Prefetch::max_bytes`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.parts.max_bytes = bytes;
        self
    }
}

impl<I> fmt::Debug for AsyncPrefetch<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncPrefetch").field("ahead", &self.ahead.len()).finish_non_exhaustive()
    }
}

impl<S: IntoSelection, I: Iterator<Item = S>> AsyncPrefetch<I> {
    /// Returns the elements of the next selection; `None` at the end. Requests proceed while this future is polled. A future that is dropped
    /// loses no selection.
    pub async fn next(&mut self) -> Option<Result<ArrayData>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<ArrayData>>> {
        while let Some(resolved) = self.parts.next(&self.array.core) {
            let array = self.array.clone();
            self.ahead.push_back(Ongoing::Reading(Box::pin(async move { array.read_resolved(resolved?).await })));
        }
        for ongoing in &mut self.ahead {
            if let Ongoing::Reading(read) = ongoing
                && let Poll::Ready(ended) = read.as_mut().poll(context)
            {
                *ongoing = Ongoing::Ended(ended);
            }
        }
        match self.ahead.pop_front() {
            None => Poll::Ready(None),
            Some(Ongoing::Ended(ended)) => {
                self.parts.sizes.pop_front();
                self.parts.note(&ended);
                Poll::Ready(Some(ended))
            }
            Some(reading) => {
                self.ahead.push_front(reading);
                Poll::Pending
            }
        }
    }
}

impl AsyncArray {
    /// Reads selections ahead of a loop, up to `depth` at the same time; see [`Array::prefetch`].
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use zarr_array::{AsyncArray, AsyncStore, NewArray, Registry};
    /// # let mut registry = Registry::default();
    /// # registry.codecs.add(zarr_codec_bytes::BYTES);
    /// # let registry = Arc::new(registry);
    /// # let memory = Arc::new(zarr_store::MemoryStore::new());
    /// # let store: Arc<dyn AsyncStore> = Arc::new(zarr_drive::SyncAsAsync::new(memory));
    /// # zarr_drive::block_on(async {
    /// # let new = NewArray::new(&[100], "uint8").chunks(&[10]).codecs("bytes")?;
    /// # let array = AsyncArray::create(&store, "/a", new, &registry).await?;
    /// let mut windows = array.prefetch((0..91_u64).map(|start| start..start + 10), 8);
    /// while let Some(window) = windows.next().await {
    ///     assert_eq!(window?.shape(), [10]);
    /// }
    /// # Ok::<(), zarr_array::Error>(())
    /// # })?;
    /// # Ok::<(), zarr_array::Error>(())
    /// ```
    pub fn prefetch<S: IntoSelection, P: IntoIterator<Item = S>>(
        &self,
        parts: P,
        depth: usize,
    ) -> AsyncPrefetch<P::IntoIter> {
        AsyncPrefetch { array: self.clone(), parts: Parts::new(&self.core, parts, depth), ahead: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests;
