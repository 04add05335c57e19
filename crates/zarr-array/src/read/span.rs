//! Spans of chunks with their windows of the output, and the context that all jobs of one read share.

use super::cached_read::CachedRead;
use super::shard::Shard;
use crate::cache::Claimed;
use crate::core::ArrayCore;
use crate::kept_indexes::{KeptIndex, KeptIndexes};
use crate::{Checksums, Error, ErrorKind, MissingChunks, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zarr_codec::{Access, Pipeline, Split, ViewMut, Windows};
use zarr_grid::{ChunkIndex, ChunkOverlaps, Region};
use zarr_store::{AccessProfile, Fetched, StoreKind};

/// Approximate minimum number of decoded bytes of a work item: a smaller item is not worth handing to a thread.
pub(super) const LOCAL_GROUP: u64 = 256 << 10;
/// Approximate minimum number of decoded bytes of a work item whose decoding is only a copy, so that opening a file counts.
const COPIED_GROUP: u64 = 512 << 10;
/// Approximate minimum number of decoded bytes of a work item if every request has a long latency.
const REMOTE_GROUP: u64 = 4 << 20;
/// Maximum decoded size in bytes of shards that are fetched by one request if all of the shard is read and every request has a long
/// latency.
const WHOLE_SHARD: u64 = 32 << 20;
/// Maximum number of chunks that one job reads at a time, so that tiny chunks take little memory.
const MAX_CHUNKS: usize = 2048;
/// Maximum number of jobs into which a job forks. The jobs of larger reads fork again.
const MAX_FORKS: usize = 64;

/// Context of one read: the state that all its jobs share.
#[derive(Debug)]
pub(crate) struct ReadContext<'a> {
    pub(crate) core: &'a ArrayCore,
    pub(crate) access: Access,
    store: StoreKind,
    /// Whether the output is fresh memory of zeros, so that zeros need not be written.
    zeroed: bool,
    /// Whether the read is only planned: nothing is decoded, and the output has elements without bytes.
    is_plan: bool,
    /// Cache through which chunks are read, if any.
    pub(super) cached: Option<CachedRead<'a>>,
    /// Retained indexes of shards of the array; `None` if the read leaves them alone.
    kept: Option<&'a KeptIndexes>,
    /// Whether the read uses retained indexes, and does not only replace them.
    uses_kept: bool,
    /// Whether the read used a retained index.
    used_kept: AtomicBool,
    /// Chunks that others replaced or erased after a part of them was read. They are to be read again.
    replaced: Mutex<Vec<ChunkIndex>>,
    /// Chunks that other reads fetch at present, and the claims of these reads. They are to be read when the claims are dropped.
    awaited: Mutex<Vec<(ChunkIndex, Arc<Claimed>)>>,
    /// Number of chunks that were found not to be stored.
    missing: AtomicUsize,
    /// Number of chunks that are not stored according to the cache.
    cached_missing: AtomicUsize,
    /// Whether chunks were requested from the store: not all were in the cache.
    asked: AtomicBool,
}

impl<'a> ReadContext<'a> {
    /// Makes the context of a read without a cache, such as a read of elements that are to be written again.
    pub(crate) fn new(core: &'a ArrayCore, profile: &AccessProfile, zeroed: bool) -> Self {
        let access =
            Access::default().read_size(profile.read_size).skip_checksums(core.options.checksums == Checksums::Skip);
        Self::with_access(core, access, profile.kind, zeroed)
    }

    fn with_access(core: &'a ArrayCore, access: Access, store: StoreKind, zeroed: bool) -> Self {
        Self {
            core,
            access,
            store,
            zeroed,
            is_plan: false,
            cached: None,
            kept: None,
            uses_kept: false,
            used_kept: AtomicBool::new(false),
            replaced: Mutex::default(),
            awaited: Mutex::default(),
            missing: AtomicUsize::new(0),
            cached_missing: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
        }
    }

    /// Makes the context of a read of `size` bytes for the caller, through the cache if the array has one. `joins` says that the read may
    /// wait for other reads.
    pub(crate) fn with_cache(
        core: &'a ArrayCore,
        profile: &AccessProfile,
        zeroed: bool,
        size: usize,
        joins: bool,
    ) -> Self {
        let cached = core.cache().and_then(|cache| CachedRead::new(cache, size, joins));
        // Other stores give an index in less time than it takes to decode it.
        let uses_kept = core.cache().is_none() && profile.kind == StoreKind::Remote;
        let kept = uses_kept.then(|| core.kept_indexes());
        Self { cached, kept, uses_kept, ..Self::new(core, profile, zeroed) }
    }

    /// Makes the context of another attempt at the same read, which uses nothing cached or retained from earlier reads.
    pub(super) fn again(&self) -> Self {
        let Self { core, access, store, is_plan, kept, .. } = *self;
        Self { is_plan, kept, ..Self::with_access(core, access, store, false) }
    }

    /// Adds the counters of another attempt at the read.
    pub(super) fn add(&self, again: &Self) {
        self.missing.fetch_add(again.missing(), Ordering::Relaxed);
        if again.has_asked() {
            self.note_asked();
        }
    }

    /// Returns the retained index of a shard of `shape`, if all inner chunks that `regions` meet are stored by it.
    pub(super) fn kept_index<'r>(
        &self,
        chunk: &[u64],
        codecs: &Pipeline,
        shape: &[u64],
        regions: impl IntoIterator<Item = &'r Region>,
    ) -> Option<Arc<KeptIndex>> {
        let kept = self.kept.filter(|_| self.uses_kept)?.find(chunk)?;
        kept.has_all(codecs, shape, &self.access, regions).then(|| {
            self.used_kept.store(true, Ordering::Relaxed);
            kept
        })
    }

    /// Retains the index of a shard that came with the reply `fetched`.
    pub(super) fn keep_index(&self, chunk: &ChunkIndex, split: &Split, fetched: &Fetched) {
        if let Some(kept) = self.kept {
            kept.keep(chunk, &split.index, fetched);
        }
    }

    /// Makes the context of a planned read, without a cache.
    pub(crate) fn plan(core: &'a ArrayCore, profile: &AccessProfile) -> Self {
        Self { is_plan: true, ..Self::new(core, profile, true) }
    }

    /// Whether an error may come from outdated cached or retained content, so that a read without it may succeed.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.used_kept.load(Ordering::Relaxed) || self.cached.as_ref().is_some_and(CachedRead::is_doubtful)
    }

    /// Notes that a chunk changed after a part of it was read. The whole chunk is read again when the rest of the read is done.
    pub(super) fn note_replaced(&self, chunk: &ChunkIndex) {
        if let Some(cached) = &self.cached {
            cached.forget(chunk);
        }
        if let Some(kept) = self.kept {
            kept.forget(Some(chunk));
        }
        self.replaced.lock().unwrap_or_else(PoisonError::into_inner).push(chunk.clone());
    }

    /// Removes and returns the chunks that are to be read again, sorted.
    pub(crate) fn take_replaced(&self) -> Vec<ChunkIndex> {
        let mut replaced = std::mem::take(&mut *self.replaced.lock().unwrap_or_else(PoisonError::into_inner));
        replaced.sort_unstable();
        replaced.dedup();
        replaced
    }

    /// Notes that another read fetches the chunk, so that this part of the read is to be done when that read has dropped its claim.
    pub(super) fn note_awaited(&self, chunk: &ChunkIndex, other: Arc<Claimed>) {
        self.awaited.lock().unwrap_or_else(PoisonError::into_inner).push((chunk.clone(), other));
    }

    /// Makes the read fetch all further chunks itself, be they claimed by other reads or not.
    pub(super) fn stop_joining(&self) {
        self.cached.iter().for_each(CachedRead::stop_joining);
    }

    /// Removes and returns the chunks that other reads fetch, with the claims of these reads.
    pub(super) fn take_awaited(&self) -> Vec<(ChunkIndex, Arc<Claimed>)> {
        std::mem::take(&mut *self.awaited.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of chunks that were found not to be stored.
    pub(crate) fn missing(&self) -> usize {
        self.missing.load(Ordering::Relaxed)
    }

    /// Number of chunks that were found not to be stored, in the store or by the cache.
    pub(crate) fn known_missing(&self) -> usize {
        self.missing().saturating_add(self.cached_missing.load(Ordering::Relaxed))
    }

    /// Whether the store was asked for chunks.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// Notes that the store is asked for chunks.
    pub(super) fn note_asked(&self) {
        if !self.has_asked() {
            self.asked.store(true, Ordering::Relaxed);
        }
    }

    /// Number of chunks of `chunk_size` decoded bytes that make a group worth handing to a thread.
    pub(super) fn group_len(&self, chunk_size: u64) -> usize {
        self.chunks_of(LOCAL_GROUP, chunk_size)
    }

    /// Whether requests of the store take long.
    pub(super) fn is_remote(&self) -> bool {
        self.store == StoreKind::Remote
    }

    /// Whether the store can read values directly into the output, and gains from it: a local store. Memory stores lend their bytes, and
    /// for remote stores a copy costs little beside the request.
    pub(super) fn reads_into(&self) -> bool {
        self.store == StoreKind::Local
    }

    /// Number of bytes to request of a shard that is fetched by one request, and not index first; `None` if the index is to be fetched
    /// first. One request saves a round of latency, and the shard is small enough for one thread to decode. A shard with more bytes, which
    /// its index does not name, is read by its index.
    pub(super) fn whole_shard(&self, codecs: &Pipeline, shape: &[u64]) -> Option<u64> {
        let small = self.is_remote() && codecs.decoded_size(shape) <= WHOLE_SHARD;
        (small && codecs.part_shape(shape).is_some()).then(|| codecs.max_encoded_size(shape).min(2 * WHOLE_SHARD))
    }

    /// Maximum or expected number of bytes of an encoded chunk; `None` if requests are fast, and the number is not needed.
    pub(super) fn expected_size(&self, codecs: &Pipeline, shape: &[u64]) -> Option<u64> {
        let expected = || {
            let decoded = codecs.decoded_size(shape);
            codecs.encoded_size(shape).bound(decoded.saturating_add(decoded / 8).saturating_add(LOCAL_GROUP))
        };
        self.is_remote().then(expected)
    }

    /// Number of chunks that make a group of `size` bytes, or of [`REMOTE_GROUP`] bytes if requests take long.
    fn chunks_of(&self, size: u64, chunk_size: u64) -> usize {
        chunks_in(if self.is_remote() { REMOTE_GROUP } else { size }, chunk_size)
    }

    /// Notes that a chunk is not stored.
    pub(super) fn note_missing(&self) {
        self.missing.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that a chunk is not stored according to the cache.
    pub(super) fn note_cached_missing(&self) {
        self.cached_missing.fetch_add(1, Ordering::Relaxed);
    }

    /// Handles a chunk that is not stored as [`Options::missing_chunks`](crate::Options::missing_chunks) says: does nothing, adds it to the
    /// report, or returns an error.
    pub(super) fn report_missing(&self, chunk: &ChunkIndex) -> Result<()> {
        if self.is_plan {
            return Ok(());
        }
        match &self.core.options.missing_chunks {
            MissingChunks::Fill => {}
            MissingChunks::Report(report) => report.add(chunk),
            MissingChunks::Error => return Err(Error::new(ErrorKind::MissingChunk, "the chunk is not stored")),
        }
        Ok(())
    }

    /// Fills the output with the fill value.
    pub(crate) fn fill(&self, out: &mut ViewMut<'_>) -> Result<()> {
        let element = self.core.element();
        if self.is_plan {
            return Ok(());
        }
        if self.zeroed && element.fill.bytes().iter().all(|&byte| byte == 0) && !element.is_variable() {
            return Ok(());
        }
        Ok(element.fill(out)?)
    }
}

fn chunks_in(group: u64, chunk_size: u64) -> usize {
    usize::try_from(group / chunk_size.max(1)).unwrap_or(usize::MAX).clamp(1, MAX_CHUNKS)
}

/// Span of chunks whose read has not begun.
#[derive(Debug)]
pub(crate) struct ChunkSpan<'a> {
    pub(super) context: &'a ReadContext<'a>,
    /// Overlaps of the chunks with the region that is read.
    pub(super) overlaps: Arc<ChunkOverlaps>,
    /// Windows of the output for the chunks of the span.
    pub(super) windows: Windows<'a>,
    /// Shard to which the inner chunks belong; `None` for chunks with their own keys.
    pub(super) shard: Option<Arc<Shard>>,
    /// Number of decoded bytes of a chunk.
    pub(super) chunk_size: u64,
}

impl<'a> ChunkSpan<'a> {
    /// Number of chunks that make a group worth handing to a thread.
    fn group_len(&self) -> usize {
        let size = match &self.shard {
            // Behind a network, too, each is decoded when it has come.
            None => return chunks_in(LOCAL_GROUP, self.chunk_size),
            Some(shard) if shard.codecs.is_raw_elements() => COPIED_GROUP,
            Some(_) => LOCAL_GROUP,
        };
        self.context.chunks_of(size, self.chunk_size)
    }

    /// Whether the span is one group, which one job reads.
    pub(super) fn is_group(&self) -> bool {
        self.windows.len() <= self.group_len()
    }

    /// Divides the span into its first `count` chunks and the others.
    pub(super) fn split_at(self, count: usize) -> [Self; 2] {
        let Self { context, overlaps, windows, shard, chunk_size } = self;
        let (first, rest) = windows.split_at(count);
        let first = Self { context, overlaps: Arc::clone(&overlaps), windows: first, shard: shard.clone(), chunk_size };
        [first, Self { context, overlaps, windows: rest, shard, chunk_size }]
    }

    /// Divides the span into parts that can be read at the same time.
    pub(super) fn forks(self) -> Vec<Self> {
        let len = self.group_len();
        let groups = self.windows.len().div_ceil(len);
        let share = groups.div_ceil(groups.clamp(1, MAX_FORKS)).saturating_mul(len);
        let mut forks = Vec::new();
        let mut rest = self;
        while rest.windows.len() > 0 {
            let [fork, others] = rest.split_at(share);
            forks.push(fork);
            rest = others;
        }
        forks
    }
}
