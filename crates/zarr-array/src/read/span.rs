//! Runs of chunks that are not begun, with their windows of the output, and the state that all jobs of one read share.

use super::cached_read::CachedRead;
use super::shard::Shard;
use crate::core::ArrayCore;
use crate::kept_indexes::{KeptIndex, KeptIndexes};
use crate::{Checksums, Error, ErrorKind, MissingChunks, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use zarr_codec::{Access, Pipeline, Split, ViewMut, Windows};
use zarr_grid::{ChunkIndex, ChunkOverlaps, Region};
use zarr_store::{AccessProfile, Fetched, StoreKind};

/// Minimum number of bytes that a work item decodes to, about: less is not worth the overhead of handing it to a thread.
pub(super) const LOCAL_GROUP: u64 = 256 << 10;
/// Minimum number of bytes that a work item decodes to, about, where decoding is nothing but a copy, so that opening a file counts.
const COPIED_GROUP: u64 = 512 << 10;
/// Minimum number of bytes that a work item decodes to, about, where every request has a long latency.
const REMOTE_GROUP: u64 = 4 << 20;
/// Maximum decoded size, in bytes, of shards that are fetched whole where all of them is read and every request has a long latency.
const WHOLE_SHARD: u64 = 32 << 20;
/// Maximum number of chunks that one job reads at a time, so that tiny ones take little memory.
const MAX_CHUNKS: usize = 2048;
/// Maximum number of jobs that a job forks into; the jobs of larger reads fork again.
const MAX_FORKS: usize = 64;

/// The state that all jobs of one read share.
#[derive(Debug)]
pub(crate) struct ReadContext<'a> {
    pub(crate) core: &'a ArrayCore,
    pub(crate) access: Access,
    store: StoreKind,
    /// The output is fresh memory: zeros need not be written.
    zeroed: bool,
    /// Nothing is decoded, since only the requests are wanted: the output has elements of no bytes.
    is_plan: bool,
    /// The cache that the read goes through.
    pub(super) cached: Option<CachedRead<'a>>,
    /// Store of kept indexes of shards.
    kept: Option<&'a KeptIndexes>,
    /// Whether kept indexes are used, and not only replaced.
    uses_kept: bool,
    /// Whether one was used.
    used_kept: AtomicBool,
    /// Chunks that others replaced or erased after a part of them was read: to be read again.
    replaced: Mutex<Vec<ChunkIndex>>,
    /// Number of chunks that were found not to be stored.
    missing: AtomicUsize,
    /// How many chunks the cache has as such that are not stored.
    cached_missing: AtomicUsize,
    /// Not all was in the cache.
    asked: AtomicBool,
}

impl<'a> ReadContext<'a> {
    /// A read without a cache, such as one of elements that are written again.
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
            missing: AtomicUsize::new(0),
            cached_missing: AtomicUsize::new(0),
            asked: AtomicBool::new(false),
        }
    }

    /// A read of `size` bytes for the user, through the cache if the array has one.
    pub(crate) fn with_cache(core: &'a ArrayCore, profile: &AccessProfile, zeroed: bool, size: usize) -> Self {
        let cached = core.cache().and_then(|cache| CachedRead::new(cache, size));
        // Other stores give an index in less time than it takes to decode it.
        let uses_kept = core.cache().is_none() && profile.kind == StoreKind::Remote;
        let kept = uses_kept.then(|| core.kept_indexes());
        Self { cached, kept, uses_kept, ..Self::new(core, profile, zeroed) }
    }

    /// Another attempt at the same read, which uses nothing that was kept from earlier reads.
    pub(super) fn again(&self) -> Self {
        let Self { core, access, store, is_plan, kept, .. } = *self;
        Self { is_plan, kept, ..Self::with_access(core, access, store, false) }
    }

    /// Adds what another attempt found.
    pub(super) fn add(&self, again: &Self) {
        self.missing.fetch_add(again.missing(), Ordering::Relaxed);
        if again.has_asked() {
            self.note_asked();
        }
    }

    /// The kept index of a shard of this shape, if it has all inner chunks that regions meet.
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

    /// Keeps the index of a shard that has come in a reply.
    pub(super) fn keep_index(&self, chunk: &ChunkIndex, split: &Split, fetched: &Fetched) {
        if let Some(kept) = self.kept {
            kept.keep(chunk, &split.index, fetched);
        }
    }

    /// As a read without a cache, of which only the requests are wanted.
    pub(crate) fn plan(core: &'a ArrayCore, profile: &AccessProfile) -> Self {
        Self { is_plan: true, ..Self::new(core, profile, true) }
    }

    /// Whether a failure may come from outdated content of the cache, so that the same read without it may succeed.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.used_kept.load(Ordering::Relaxed) || self.cached.as_ref().is_some_and(CachedRead::is_doubtful)
    }

    /// Notes that a chunk changed after a part of it was read. All of it is read again when the rest of the read is done.
    pub(super) fn note_replaced(&self, chunk: &ChunkIndex) {
        if let Some(cached) = &self.cached {
            cached.forget(chunk);
        }
        if let Some(kept) = self.kept {
            kept.forget(Some(chunk));
        }
        self.replaced.lock().unwrap_or_else(PoisonError::into_inner).push(chunk.clone());
    }

    /// The chunks that are to be read again.
    pub(crate) fn take_replaced(&self) -> Vec<ChunkIndex> {
        let mut replaced = std::mem::take(&mut *self.replaced.lock().unwrap_or_else(PoisonError::into_inner));
        replaced.sort_unstable();
        replaced.dedup();
        replaced
    }

    /// Number of chunks that were found not to be stored.
    pub(crate) fn missing(&self) -> usize {
        self.missing.load(Ordering::Relaxed)
    }

    /// The same, and those that are known from the cache.
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

    /// How many chunks of `chunk_size` decoded bytes make a group that is worth handing to a thread.
    pub(super) fn group_len(&self, chunk_size: u64) -> usize {
        self.chunks_of(LOCAL_GROUP, chunk_size)
    }

    /// Whether the store copies values into memory of ours, so that it can be given the output itself. Memory stores lend their
    /// bytes, and for remote ones the copy is little beside the request.
    pub(super) fn reads_into(&self) -> bool {
        self.store == StoreKind::Local
    }

    /// How many bytes a shard has at most, if all of it is fetched by one request, and not its index first: that saves a round of
    /// latency, and the shard is so small that one thread decodes it soon. One that has more bytes, which its index does not name, is
    /// read by its index.
    pub(super) fn whole_shard(&self, codecs: &Pipeline, shape: &[u64]) -> Option<u64> {
        let small = self.store == StoreKind::Remote && codecs.decoded_size(shape) <= WHOLE_SHARD;
        (small && codecs.part_shape(shape).is_some()).then(|| codecs.max_encoded_size(shape).min(2 * WHOLE_SHARD))
    }

    /// How many bytes an encoded chunk has at most, or what it may be expected to have; `None` where requests are short, so that
    /// nobody asks.
    pub(super) fn expected_size(&self, codecs: &Pipeline, shape: &[u64]) -> Option<u64> {
        let expected = || {
            let decoded = codecs.decoded_size(shape);
            codecs.encoded_size(shape).bound(decoded.saturating_add(decoded / 8).saturating_add(LOCAL_GROUP))
        };
        (self.store == StoreKind::Remote).then(expected)
    }

    /// How many chunks make a group of `size` bytes, or of more where requests take long.
    fn chunks_of(&self, size: u64, chunk_size: u64) -> usize {
        chunks_in(if self.store == StoreKind::Remote { REMOTE_GROUP } else { size }, chunk_size)
    }

    /// Notes that a chunk is not stored.
    pub(super) fn note_missing(&self) {
        self.missing.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the cache has a chunk as one that is not stored.
    pub(super) fn note_cached_missing(&self) {
        self.cached_missing.fetch_add(1, Ordering::Relaxed);
    }

    /// Does with a chunk that is not stored as the options say: nothing, a report, or an error.
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

    /// Writes the fill value to the output.
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

/// Chunks that are not begun: `windows` still has their windows.
#[derive(Debug)]
pub(crate) struct ChunkSpan<'a> {
    pub(super) context: &'a ReadContext<'a>,
    /// Which part of each chunk is read.
    pub(super) overlaps: Arc<ChunkOverlaps>,
    /// The windows of the output that they go to.
    pub(super) windows: Windows<'a>,
    /// The shard whose inner chunks they are; `None` if each is stored under its own key.
    pub(super) shard: Option<Arc<Shard>>,
    /// The decoded bytes of a chunk.
    pub(super) chunk_size: u64,
}

impl<'a> ChunkSpan<'a> {
    /// How many chunks make a group that is worth handing to a thread.
    fn group_len(&self) -> usize {
        let size = match &self.shard {
            // Behind a network, too, each is decoded when it has come.
            None => return chunks_in(LOCAL_GROUP, self.chunk_size),
            Some(shard) if shard.codecs.is_raw_elements() => COPIED_GROUP,
            Some(_) => LOCAL_GROUP,
        };
        self.context.chunks_of(size, self.chunk_size)
    }

    /// Whether it is one group, which one job reads.
    pub(super) fn is_group(&self) -> bool {
        self.windows.len() <= self.group_len()
    }

    /// The first `count` chunks, and the others.
    pub(super) fn split_at(self, count: usize) -> [Self; 2] {
        let Self { context, overlaps, windows, shard, chunk_size } = self;
        let (first, rest) = windows.split_at(count);
        let first = Self { context, overlaps: Arc::clone(&overlaps), windows: first, shard: shard.clone(), chunk_size };
        [first, Self { context, overlaps, windows: rest, shard, chunk_size }]
    }

    /// Parts that can be read at the same time.
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
