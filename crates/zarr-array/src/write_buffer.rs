//! Buffer of chunks in memory, until all of their elements are new or their memory is needed.
//!
//! A chunk that is being written is no longer buffered but *busy*. New elements of a busy chunk begin another buffered chunk, which is
//! written only after the first write has ended. So no writer waits for the requests of others, and later values win. A chunk that could
//! not be written goes back into the buffer, under newer elements.

mod region_parts;

use crate::core::ArrayCore;
use crate::drive::Drive;
use crate::kept_chunk::{KeptChunk, LEAST_HEAP};
use crate::verbs::Verbs;
use crate::{Error, Result, WriteFrom, jobs, selected_memory};
use region_parts::{around, covered, relative};
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use zarr_codec::View;
use zarr_grid::{ChunkIndex, Region, Resolved, SelectedElements};

/// Default of the maximum number of buffered bytes.
const LIMIT: u64 = 256 << 20;
/// Number of consecutive chunks that cannot be written after which the remaining chunks are not tried.
const MAX_FAILED: u32 = 8;

/// Buffer of a writer: the chunks with new elements that are not written yet.
#[derive(Debug)]
pub(crate) struct WriteBuffer {
    limit: u64,
    state: Mutex<BufferedChunks>,
}

#[derive(Debug, Default)]
struct BufferedChunks {
    kept: HashMap<ChunkIndex, BufferedChunk>,
    /// Chunks that are being written, with the time of their first new elements.
    busy: HashMap<ChunkIndex, u64>,
    /// Number of bytes of the buffered chunks.
    size: u64,
    /// Clock that gives times to new elements: the number of puts so far.
    clock: u64,
    /// Tasks that wait for chunks that are being written.
    waiting: Vec<Waker>,
    /// Error by which new elements of a chunk were lost that could neither be written nor merged with later elements.
    failed: Option<Error>,
}

/// Chunk in the buffer, with its size and the times of its elements.
#[derive(Debug)]
struct BufferedChunk {
    chunk: SharedChunk,
    size: u64,
    /// Time of the first new elements.
    since: u64,
    /// Time of the last new elements.
    last: u64,
}

/// Chunk that threads share; `None` after it was taken to be written. It is locked for the time of a copy, possibly while
/// [`BufferedChunks`] is locked. Nobody locks [`BufferedChunks`] while a chunk is locked.
type SharedChunk = Arc<Mutex<Option<KeptChunk>>>;

/// New elements of one chunk, of one write.
enum ChunkPiece<'p> {
    Region(&'p Region, View<'p>),
    /// Selected elements of the chunk. The view has all elements of the selection, in C order.
    Selected(SelectedElements<'p>, &'p View<'p>),
}

impl Default for WriteBuffer {
    fn default() -> Self {
        Self { limit: LIMIT, state: Mutex::default() }
    }
}

impl WriteBuffer {
    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Number of buffered bytes.
    pub(crate) fn size(&self) -> u64 {
        self.state().size
    }

    /// Drops all buffered chunks.
    pub(crate) fn clear(&self) {
        let mut state = self.state();
        state.kept.clear();
        state.size = 0;
    }

    /// Buffers or writes elements of a selection, which may have to be converted.
    pub(crate) async fn write_elements<D: Drive>(
        &self,
        verbs: &Verbs<'_, D>,
        resolved: &Resolved,
        elements: impl WriteFrom,
    ) -> Result<()> {
        let core = verbs.core;
        let elements = elements.elements(core.data_type()).map_err(|error| core.locate(error))?;
        let data = elements.selected(core.element(), resolved).map_err(|error| core.locate(error))?;
        self.write(verbs, resolved, data).await
    }

    /// Buffers or writes the elements of a selection. Chunks whose elements are then all new are written.
    pub(crate) async fn write<D: Drive>(
        &self,
        verbs: &Verbs<'_, D>,
        resolved: &Resolved,
        data: View<'_>,
    ) -> Result<()> {
        if let Resolved::Box(selected) = resolved {
            let data = selected_memory::flipped_view(data, &selected.flipped);
            return self.write_region(verbs, &selected.region, &data).await;
        }
        let bytes = selected_memory::contiguous(&data)?;
        let data = View::new(&bytes, data.item_size(), data.shape())?.with_heap(data.heap().cloned());
        let chunks = SelectedElements::new(resolved)?.by_chunk(&verbs.core.grid)?;
        let mut whole = Vec::new();
        for number in 0..chunks.len() {
            let (index, selected) = chunks.get(number).ok_or_else(jobs::too_few_chunks)?;
            whole.extend(self.put(verbs, index, &ChunkPiece::Selected(selected, &data)).await?);
        }
        self.write_out(verbs, self.take(whole)).await
    }

    async fn write_region<D: Drive>(&self, verbs: &Verbs<'_, D>, region: &Region, data: &View<'_>) -> Result<()> {
        if region.is_empty() {
            return Ok(());
        }
        let covered = covered(&verbs.core.grid, region);
        let rest = match covered {
            Some(covered) if self.write_covered(verbs, region, &covered, data).await? => around(region, &covered),
            _ => vec![region.clone()],
        };
        let mut whole = Vec::new();
        for part in &rest {
            let data = data.window(&relative(region, part));
            for overlap in &verbs.core.grid.intersect(part) {
                let piece = ChunkPiece::Region(&overlap.region, data.window(&overlap.output()));
                whole.extend(self.put(verbs, overlap.index, &piece).await?);
            }
        }
        self.write_out(verbs, self.take(whole)).await
    }

    /// Writes the chunks of the region `covered` directly from `data`, in place of their buffered elements. Returns false, without writing,
    /// if others are writing one of the chunks.
    async fn write_covered<D: Drive>(
        &self,
        verbs: &Verbs<'_, D>,
        region: &Region,
        covered: &Region,
        data: &View<'_>,
    ) -> Result<bool> {
        let overlaps = verbs.core.grid.intersect(covered);
        let is_covered = |index: &ChunkIndex| overlaps.position(index).is_some();
        let replaced = {
            let mut state = self.state();
            if state.busy.keys().any(is_covered) {
                return Ok(false);
            }
            let replaced = match overlaps.len() <= state.kept.len() as u64 {
                true => overlaps.iter().map(|overlap| overlap.index).collect(),
                false => state.kept.keys().filter(|index| is_covered(index)).cloned().collect(),
            };
            state.take(replaced)
        };
        let replaced = self.taken(replaced);
        verbs.write_region(covered, data.window(&relative(region, covered))).await?;
        replaced.chunks.iter().for_each(KeptChunk::note_written);
        Ok(true)
    }

    /// Writes all elements that were buffered before the call.
    pub(crate) async fn flush<D: Drive>(&self, verbs: &Verbs<'_, D>) -> Result<()> {
        let until = self.state().clock;
        if let Some(error) = self.state().failed.take() {
            return Err(error);
        }
        loop {
            let kept = self.state().older(until);
            let is_stored = kept.is_empty() && !self.state().is_busy(until);
            if is_stored {
                return Ok(());
            }
            self.write_out(verbs, self.take(kept)).await?;
            self.others(until).await;
        }
    }

    /// Waits until nobody is writing chunks with elements from the time `until` or before.
    async fn others(&self, until: u64) {
        poll_fn(|context| {
            let mut state = self.state();
            if !state.is_busy(until) {
                return Poll::Ready(());
            }
            state.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Buffers new elements of a chunk. Returns the index of the chunk if all of its elements are now new.
    async fn put<D: Drive>(
        &self,
        verbs: &Verbs<'_, D>,
        index: ChunkIndex,
        piece: &ChunkPiece<'_>,
    ) -> Result<Option<ChunkIndex>> {
        loop {
            let Some(shared) = self.slot(verbs.core, &index)? else {
                self.write_oldest(verbs).await?;
                continue;
            };
            let put = {
                let mut chunk = lock(&shared);
                match chunk.as_mut() {
                    Some(chunk) => {
                        match piece {
                            ChunkPiece::Region(region, elements) => chunk.put(region, elements)?,
                            ChunkPiece::Selected(selected, output) => chunk.put_selected(selected, output)?,
                        }
                        Some((chunk.size(), chunk.covers()))
                    }
                    None => None,
                }
            };
            // Others took it meanwhile: another one is begun.
            let Some((size, covers)) = put else { continue };
            if self.note_size(verbs.core, &index, &shared, size) {
                self.write_oldest(verbs).await?;
            }
            return Ok(covers.then_some(index));
        }
    }

    /// Returns the buffered chunk for new elements; `None` if other chunks have to be written first in order to free memory.
    fn slot(&self, core: &ArrayCore, index: &ChunkIndex) -> Result<Option<SharedChunk>> {
        let mut state = self.state();
        let state = &mut *state;
        state.clock += 1;
        let can_write = |state: &BufferedChunks| state.kept.keys().any(|index| !state.busy.contains_key(index));
        if state.size > self.most(core) && can_write(state) {
            return Ok(None);
        }
        if let Some(slot) = state.kept.get_mut(index) {
            slot.last = state.clock;
            return Ok(Some(Arc::clone(&slot.chunk)));
        }
        let size = size_of_items(core, core.grid.chunk_region(index).shape().as_slice());
        if state.size > 0 && state.size.saturating_add(size) > self.limit && can_write(state) {
            return Ok(None);
        }
        let chunk = KeptChunk::new(core, index, state.busy.contains_key(index))?;
        let size = chunk.size();
        let slot =
            BufferedChunk { chunk: Arc::new(Mutex::new(Some(chunk))), size, since: state.clock, last: state.clock };
        let shared = Arc::clone(&slot.chunk);
        state.kept.insert(index.clone(), slot);
        state.size += size;
        Ok(Some(shared))
    }

    /// Notes the size of a chunk after new elements were buffered. Returns whether too many bytes are buffered now.
    fn note_size(&self, core: &ArrayCore, index: &ChunkIndex, shared: &SharedChunk, size: u64) -> bool {
        let mut state = self.state();
        let state = &mut *state;
        if let Some(slot) = state.kept.get_mut(index).filter(|slot| Arc::ptr_eq(&slot.chunk, shared)) {
            state.size = state.size - slot.size + size;
            slot.size = size;
        }
        state.size > self.most(core)
    }

    /// Maximum number of buffered bytes: at least those of one chunk.
    fn most(&self, core: &ArrayCore) -> u64 {
        let chunk = core.grid.largest_chunk_shape();
        let mask = zarr_grid::element_count(&chunk).unwrap_or(u64::MAX);
        let heap = if core.element().is_variable() { LEAST_HEAP } else { 0 };
        self.limit.max(size_of_items(core, &chunk).saturating_add(mask).saturating_add(heap))
    }

    /// Writes together the chunks whose last new elements are oldest: enough chunks to free a quarter of the memory.
    async fn write_oldest<D: Drive>(&self, verbs: &Verbs<'_, D>) -> Result<()> {
        let oldest = {
            let state = self.state();
            let mut kept: Vec<_> = state.kept.iter().filter(|(index, _)| !state.busy.contains_key(*index)).collect();
            kept.sort_unstable_by_key(|(_, slot)| slot.last);
            let mut free = 0;
            let enough = state.size.saturating_sub(self.limit / 4 * 3).max(1);
            let oldest = kept.into_iter().take_while(|(_, slot)| {
                let goes = free < enough;
                free += slot.size;
                goes
            });
            oldest.map(|(index, _)| index.clone()).collect()
        };
        self.write_out(verbs, self.take(oldest)).await
    }

    /// Writes chunks that were taken from the buffer. Chunks that cannot be written go back to the buffer, and the first error is returned.
    async fn write_out<D: Drive>(&self, verbs: &Verbs<'_, D>, taken: TakenChunks<'_>) -> Result<()> {
        let mut first: Option<Error> = None;
        let mut failed: Vec<ChunkIndex> = Vec::new();
        // Those in part may be refused where the store knows no conditions.
        for covers in [true, false] {
            let mut in_a_row = 0;
            loop {
                let is_left = |chunk: &&KeptChunk| !chunk.is_written() && !failed.contains(chunk.index());
                let left: Vec<&KeptChunk> =
                    taken.chunks.iter().filter(|chunk| chunk.covers() == covers).filter(is_left).collect();
                if left.is_empty() {
                    break;
                }
                // One by one if some failed, so that it is known which were written.
                let Err(error) = verbs.write_kept(&left, first.is_some()).await else { break };
                let chunk = failed_chunk(verbs.core, &error).filter(|index| left.iter().any(|it| it.index() == index));
                let goes_on = left.iter().any(|chunk| chunk.is_written());
                in_a_row = if goes_on { 0 } else { in_a_row + 1 };
                let error = match &chunk {
                    Some(chunk) => error.at(|location| location.chunk = Some(chunk.clone())),
                    None => error,
                };
                let first = first.get_or_insert(error);
                match chunk {
                    Some(chunk) if in_a_row < MAX_FAILED => failed.push(chunk),
                    _ => {
                        let first = std::mem::replace(first, Error::internal("reported"));
                        return Err(first);
                    }
                }
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// Takes chunks out of the buffer in order to write them. Chunks that are not buffered, or are being written, are left out.
    fn take(&self, indices: Vec<ChunkIndex>) -> TakenChunks<'_> {
        let taken = self.state().take(indices);
        self.taken(taken)
    }

    fn taken(&self, taken: Vec<(ChunkIndex, SharedChunk)>) -> TakenChunks<'_> {
        let (busy, shared): (_, Vec<SharedChunk>) = taken.into_iter().unzip();
        let mut taken = TakenChunks { buffer: self, busy, chunks: Vec::new() };
        // Who puts elements to one of them ends that before.
        let chunks = shared.iter().filter_map(|shared| lock(shared).take());
        // One that was just begun has no elements yet; its owner begins another.
        taken.chunks.extend(chunks.filter(|chunk| !chunk.is_empty()));
        taken
    }

    fn state(&self) -> MutexGuard<'_, BufferedChunks> {
        lock(&self.state)
    }
}

impl BufferedChunks {
    /// Takes chunks out of the buffer, in C order, and marks them as busy. Chunks that are not buffered, or are busy already, are left out.
    fn take(&mut self, mut indices: Vec<ChunkIndex>) -> Vec<(ChunkIndex, SharedChunk)> {
        indices.sort_unstable();
        indices.retain(|index| !self.busy.contains_key(index));
        let mut taken = Vec::new();
        for index in indices {
            let Some(slot) = self.kept.remove(&index) else { continue };
            self.size -= slot.size;
            self.busy.insert(index.clone(), slot.since);
            taken.push((index, slot.chunk));
        }
        taken
    }

    /// Indices of the chunks with elements from the time `until` or before.
    fn older(&self, until: u64) -> Vec<ChunkIndex> {
        self.kept.iter().filter(|(_, slot)| slot.since <= until).map(|(index, _)| index.clone()).collect()
    }

    fn is_busy(&self, until: u64) -> bool {
        self.busy.values().any(|&since| since <= until)
    }

    /// Puts a chunk that was not written back into the buffer, merged with newer elements that came meanwhile.
    fn put_back(&mut self, mut chunk: KeptChunk, since: u64) {
        let Some(slot) = self.kept.get_mut(chunk.index()) else {
            let (index, size) = (chunk.index().clone(), chunk.size());
            let slot = BufferedChunk { chunk: Arc::new(Mutex::new(Some(chunk))), size, since, last: since };
            self.kept.insert(index, slot);
            self.size += size;
            return;
        };
        let mut later = lock(&slot.chunk);
        if let Some(later) = later.as_mut()
            && let Err(error) = chunk.put_all(later)
        {
            self.failed.get_or_insert(error.at(|location| location.chunk = Some(chunk.index().clone())));
            return;
        }
        self.size = self.size - slot.size + chunk.size();
        (slot.size, slot.since) = (chunk.size(), since);
        *later = Some(chunk);
    }
}

/// Chunks that were taken from the buffer and are being written. When this is dropped, chunks that were not written go back to the buffer.
struct TakenChunks<'b> {
    buffer: &'b WriteBuffer,
    busy: Vec<ChunkIndex>,
    chunks: Vec<KeptChunk>,
}

impl Drop for TakenChunks<'_> {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.buffer.state();
            let mut since: HashMap<ChunkIndex, u64> = HashMap::new();
            for index in self.busy.drain(..) {
                if let Some(time) = state.busy.remove(&index) {
                    since.insert(index, time);
                }
            }
            for chunk in self.chunks.drain(..).filter(|chunk| !chunk.is_written() && !chunk.is_empty()) {
                let since = since.get(chunk.index()).copied().unwrap_or_default();
                state.put_back(chunk, since);
            }
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Number of bytes of the elements of a shape, without their bytes in a heap.
fn size_of_items(core: &ArrayCore, shape: &[u64]) -> u64 {
    u64::try_from(zarr_grid::total_size(shape, core.element().item_size() as u64)).unwrap_or(u64::MAX)
}

/// Chunk that an error names, by its index or its key; `None` if the error names none.
fn failed_chunk(core: &ArrayCore, error: &Error) -> Option<ChunkIndex> {
    let location = error.location();
    location.chunk.clone().or_else(|| core.parse_key(location.key.as_deref()?))
}

#[cfg(test)]
mod tests;
