//! Read of one chunk or inner chunk: its requests, and its decoding, which advances with each reply.

use super::shard::{Shard, ShardGeneration};
use super::span::{ChunkSpan, LOCAL_GROUP, ReadContext};
use crate::kept_indexes::KeptIndex;
use crate::{Error, Result, jobs};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use zarr_codec::{Decode, Error as CodecError, Pipeline, Split, Step, ViewMut};
use zarr_grid::{ChunkIndex, ChunkOverlap, Region, Shape};
use zarr_store::{ByteRange, Fetched, GetOptions, Key, Reply, Request, Snapshot, Version};

/// Read of one chunk or inner chunk, in progress.
#[derive(Debug)]
pub(super) struct ChunkRead<'a> {
    /// Window of the output into which the elements are decoded.
    pub(super) out: ViewMut<'a>,
    pub(super) key: Key,
    /// Index of the chunk of the array whose key is `key`: for an inner chunk, its outermost shard.
    pub(super) chunk: ChunkIndex,
    /// Byte range of an inner chunk in the value of `key`; `None` for a chunk that is the whole value.
    pub(super) byte_range: Option<Range<u64>>,
    /// Snapshot of the value from which parts were read so far; `None` if no part was read or the store does not tell.
    pub(super) snapshot: Option<Snapshot>,
    /// Version that the value must have, because a retained index has it; `None` when a reply has confirmed the version.
    due: Option<Version>,
    /// Approximate maximum number of bytes of the value; `None` if requests are fast.
    expected_size: Option<u64>,
    pub(super) codecs: Arc<Pipeline>,
    pub(super) shape: Shape,
    /// Region of the chunk that is read.
    pub(super) region: Region,
    /// Decode in progress, if the codecs need less than all bytes of the chunk.
    pub(super) decode: Option<Box<dyn Decode>>,
    /// Memory into which the encoded bytes are read directly; `None` if their number is not known.
    pub(super) destination: Option<FetchDestination>,
    /// Reply to the last request, by its number, and the parts of the reply that belong to this chunk; `None` if the chunk waits for no
    /// reply.
    pub(super) pending: Option<(usize, Range<usize>)>,
    /// Number of the location of chunks to which `key` belongs.
    pub(super) location: u8,
    /// Whether bytes of the value may have been written to the output.
    touched: bool,
}

/// Memory into which the encoded bytes of a chunk are read directly, if their number is known.
#[derive(Debug)]
pub(super) enum FetchDestination {
    /// The output itself: the encoded bytes are the bytes of the elements.
    Output,
    /// Range of the buffer of the [`ChunkBatch`](super::chunk_batch::ChunkBatch).
    Buffer(Range<usize>),
}

/// State of the read of a chunk after a reply.
pub(super) enum Advance<'f> {
    /// Done: the output has the elements of the chunk.
    Done,
    /// Waiting for the reply to a further request.
    Waiting,
    /// All bytes of the chunk, with the reply that has them. They are to be decoded at once.
    Bytes(&'f [u8], &'f Fetched),
    /// Index of a shard, with the reply that has it. The inner chunks are to be read next.
    Index(Box<Split>, &'f Fetched),
    /// No value is stored under the key.
    NotStored,
    /// Replaced by others after a part of the chunk was read, which the context has noted.
    Replaced,
}

/// Offsets within a page at which the destination of the kernel's copy of a file to memory makes the copy slow.
const ALIASED: Range<usize> = 1..32;
/// Minimum size in bytes of outputs for which slow copies of the kernel are avoided.
const WORTH: usize = 64 << 10;

/// Whether reading a file directly into `bytes` is the fastest way to get the file there.
///
/// Files lie in memory from the beginning of a page on. Processors of AMD copy slowly (`rep movsb`) to addresses that are up to 15
/// bytes further into a page, and less so up to 31. Allocators begin large pieces 16 bytes into a page.
pub(super) fn takes_kernel_copies(bytes: &[u8]) -> bool {
    const PAGE: usize = 4096;
    !cfg!(target_arch = "x86_64") || bytes.len() < WORTH || !ALIASED.contains(&(bytes.as_ptr().addr() % PAGE))
}

impl<'a> ChunkRead<'a> {
    /// Makes the read of one chunk, or of an inner chunk of `shard`, into `out`. If the index of the shard says that the inner chunk is not
    /// stored, fills `out` and returns `None`.
    pub(super) fn new(
        context: &ReadContext<'_>,
        shard: Option<&Shard>,
        overlap: &ChunkOverlap,
        mut out: ViewMut<'a>,
    ) -> Result<Option<Self>> {
        let Some(shard) = shard else {
            let (index, codecs) = (&overlap.index, &context.core.codecs);
            let expected_size = context.expected_size(codecs, &overlap.shape);
            let read = Self::whole(context.core.key(index)?, index.clone(), codecs, overlap, out);
            return Ok(Some(Self { expected_size, ..read }));
        };
        let Some(byte_range) = shard.find(&overlap.index).map_err(|error| shard.locate(error))? else {
            context.fill(&mut out)?;
            return Ok(None);
        };
        let read = Self::whole(shard.key.clone(), shard.chunk.clone(), &shard.codecs, overlap, out);
        let (snapshot, due) = (shard.snapshot.clone(), shard.due.clone());
        Ok(Some(Self { byte_range: Some(byte_range), snapshot, due, ..read }))
    }

    /// Makes the read of the part `overlap` of a chunk that is the whole value of `key`.
    fn whole(key: Key, chunk: ChunkIndex, codecs: &Arc<Pipeline>, overlap: &ChunkOverlap, out: ViewMut<'a>) -> Self {
        Self {
            out,
            key,
            chunk,
            byte_range: None,
            snapshot: None,
            due: None,
            expected_size: None,
            codecs: Arc::clone(codecs),
            shape: overlap.shape.clone(),
            region: overlap.region.clone(),
            decode: None,
            destination: None,
            pending: None,
            location: 0,
            touched: false,
        }
    }

    /// Returns a decode that needs less than all bytes of the chunk; `None` if the codecs have none.
    pub(super) fn partial(&self, context: &ReadContext<'_>) -> Option<Box<dyn Decode>> {
        self.codecs.partial(&self.shape, &self.region, &context.access)
    }

    /// Requests all bytes of a shard at once if that is faster than reading its index first. Returns whether it did.
    pub(super) fn start_whole(&mut self, context: &ReadContext<'_>, requests: &mut Vec<Request>) -> Result<bool> {
        let whole = self.byte_range.is_none() && self.region.is_whole(&self.shape);
        let Some(size) = context.whole_shard(&self.codecs, &self.shape).filter(|_| whole) else { return Ok(false) };
        self.decode = None;
        self.ask(&[ByteRange::First(size)], requests)?;
        Ok(true)
    }

    /// Begins, or begins again: requests the first bytes that `decode` needs, or all bytes if it is `None`.
    pub(super) fn start(&mut self, decode: Option<Box<dyn Decode>>, requests: &mut Vec<Request>) -> Result<()> {
        self.decode = decode;
        let Some(decode) = &mut self.decode else { return self.ask(&[ByteRange::Full], requests) };
        match decode.step(&[], &mut self.out).map_err(|error| self.locate(error.into()))? {
            Step::Need(ranges) => self.ask(&ranges, requests),
            Step::Done => Ok(()),
            Step::Split(_) => Err(self.locate(Error::internal("a shard is split before its index is read"))),
        }
    }

    /// Checks that the chunk waits for a reply, as a shard must after its first step.
    pub(super) fn check_waits(&self) -> Result<()> {
        match self.pending {
            Some(_) => Ok(()),
            None => Err(self.locate(Error::internal("a shard is read without its index"))),
        }
    }

    /// Begins by requesting all bytes, to be read directly into `destination`.
    pub(super) fn start_into(&mut self, destination: FetchDestination, requests: &mut Vec<Request>) -> Result<()> {
        self.destination = Some(destination);
        self.start(None, requests)
    }

    /// Number of bytes of the encoded chunk; `None` if it is not known, or if the store gains nothing from reading directly into memory.
    fn known_size(&self, context: &ReadContext<'_>) -> Option<u64> {
        let alone = self.byte_range.is_none() && context.reads_into();
        alone.then(|| self.codecs.encoded_size(&self.shape).exact()).flatten()
    }

    /// Number of bytes of the encoded chunk if it is known and small enough for the buffer of a group; else `None`.
    pub(super) fn buffered_size(&self, context: &ReadContext<'_>) -> Option<usize> {
        let size = self.known_size(context).filter(|&size| size <= LOCAL_GROUP)?;
        usize::try_from(size).ok()
    }

    /// Whether the encoded chunk can be read directly into the output: its bytes are the bytes of the elements.
    pub(super) fn is_output(&mut self, context: &ReadContext<'_>) -> bool {
        self.codecs.is_native_layout()
            && self.region.is_whole(&self.shape)
            && self.known_size(context).is_some()
            && self.out.as_contiguous().is_some_and(|bytes| takes_kernel_copies(bytes))
    }

    /// Finishes a value of `size` bytes that was read directly into its destination. If `size` is not the expected size, requests all bytes
    /// again, so that decoding can name the error, and returns false.
    fn filled(&mut self, size: u64, buffer: &[u8], requests: &mut Vec<Request>) -> Result<bool> {
        match self.destination.take() {
            Some(FetchDestination::Output) => {
                self.touched = true;
                if size == self.out.size() as u64 {
                    let normalized = self.out.as_contiguous().map_or(Ok(()), |items| self.codecs.normalize(items));
                    return normalized.map(|()| true).map_err(|error| self.locate(error.into()));
                }
            }
            Some(FetchDestination::Buffer(range)) if size == range.len() as u64 => {
                let bytes = buffer.get(range).ok_or_else(|| self.locate(jobs::unfit()))?;
                return self.decode(bytes).map(|()| true);
            }
            _ => {}
        }
        self.ask(&[ByteRange::Full], requests).map(|()| false)
    }

    /// Requests byte ranges of the chunk. Inner chunks of one shard share a request. A chunk that is decoded in parts requests later parts
    /// of the same state.
    pub(super) fn ask(&mut self, ranges: &[ByteRange], requests: &mut Vec<Request>) -> Result<()> {
        let ranges = ranges.iter().map(|range| self.shifted(range)).collect::<Result<Vec<_>>>()?;
        let options = match &self.snapshot {
            Some(snapshot) => GetOptions::if_match(Some(snapshot.clone())),
            // The newest state, of which the reply says what it is: of an older version a store may still have bytes.
            None if self.decode.is_some() || self.due.is_some() => GetOptions::snapshot(),
            None => GetOptions::default(),
        };
        let options = options.expecting(self.expected_size);
        let count = ranges.len();
        if self.byte_range.is_some()
            && let Some(Request::Get { key, ranges: asked, options: before }) = requests.last_mut()
            && (&*key, &*before) == (&self.key, &options)
        {
            let start = asked.len();
            asked.extend(ranges);
            self.pending = Some((requests.len() - 1, start..start + count));
        } else {
            self.pending = Some((requests.len(), 0..count));
            requests.push(Request::Get { key: self.key.clone(), ranges, options });
        }
        Ok(())
    }

    /// Converts a range of the chunk to a range of the value.
    fn shifted(&self, range: &ByteRange) -> Result<ByteRange> {
        let Some(byte_range) = &self.byte_range else { return Ok(range.clone()) };
        let len = byte_range.end - byte_range.start;
        match range.resolve(len) {
            Some(range) => Ok(ByteRange::Range(byte_range.start + range.start..byte_range.start + range.end)),
            None => {
                let error = CodecError::Truncated { codec: "sharding_indexed", found: len, expected: needed(range) };
                Err(self.locate(error.into()))
            }
        }
    }

    /// Continues with the reply for which the chunk waits. Every chunk that is read one by one advances here: whole values, slabs, indexes
    /// of shards, inner chunks. `buffer` has the bytes that were read into [`FetchDestination::Buffer`].
    pub(super) fn advance<'f>(
        &mut self,
        replies: &'f [Reply],
        buffer: &[u8],
        context: &ReadContext<'_>,
        requests: &mut Vec<Request>,
    ) -> Result<Advance<'f>> {
        let Some((reply, parts)) = self.pending.take() else {
            return Err(self.locate(Error::internal("a chunk waits for no reply")));
        };
        let fetched = match replies.get(reply) {
            Some(Reply::Got(Some(fetched))) => fetched,
            Some(Reply::Received(size)) if self.destination.is_some() => {
                context.core.note_location(self.location);
                let is_done = self.filled(*size, buffer, requests)?;
                return Ok(if is_done { Advance::Done } else { Advance::Waiting });
            }
            Some(Reply::Got(None)) if !self.is_begun() => return Ok(Advance::NotStored),
            Some(Reply::Got(None) | Reply::Conflict) => {
                context.note_replaced(&self.chunk);
                return Ok(Advance::Replaced);
            }
            _ => return Err(self.locate(jobs::unfit())),
        };
        context.core.note_location(self.location);
        if let Some(due) = self.due.take()
            && fetched.version.as_ref() != Some(&due)
        {
            context.note_replaced(&self.chunk);
            return Ok(Advance::Replaced);
        }
        if self.snapshot.is_none() {
            self.snapshot.clone_from(&fetched.snapshot);
        }
        let Some(decode) = &mut self.decode else { return Ok(Advance::Bytes(fetched.part(parts.start), fetched)) };
        self.touched = true;
        let got: SmallVec<[&[u8]; 4]> = parts.map(|part| fetched.part(part)).collect();
        match decode.step(&got, &mut self.out).map_err(|error| self.locate(error.into()))? {
            Step::Done => Ok(Advance::Done),
            Step::Need(ranges) => self.ask(&ranges, requests).map(|()| Advance::Waiting),
            Step::Split(split) => Ok(Advance::Index(split, fetched)),
        }
    }

    /// Decodes all bytes of the chunk into the output.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> Result<()> {
        let decoded = self.codecs.decode(bytes, &self.shape, &self.region, &mut self.out);
        decoded.map_err(|error| self.locate(error.into()))
    }

    /// Returns the span of the inner chunks of a shard whose index was received, in a value of `size` bytes. The span takes the output of
    /// the shard.
    pub(super) fn split(
        &mut self,
        split: Split,
        size: Option<u64>,
        generation: Option<ShardGeneration>,
        context: &'a ReadContext<'a>,
    ) -> Result<ChunkSpan<'a>> {
        let nothing = ViewMut::new(&mut [], 1, &[0])?;
        let out = std::mem::replace(&mut self.out, nothing);
        let windows = split.windows(out).map_err(|error| self.locate(error.into()))?;
        let (start, size) = match &self.byte_range {
            Some(byte_range) => (byte_range.start, Some(byte_range.end - byte_range.start)),
            None => (0, size),
        };
        let inner = split.overlaps.cursor().overlap().map(|overlap| overlap.shape.clone()).unwrap_or_default();
        let chunk_size = split.codecs.decoded_size(&inner);
        // Shards may have any number of bytes that nothing refers to. Only their indexes and inner chunks are asked for.
        let has_inner_shards = split.codecs.is_sharded(&inner);
        let max_inner_size = if has_inner_shards { u64::MAX } else { split.codecs.max_encoded_size(&inner) };
        let shard = Shard {
            key: self.key.clone(),
            chunk: self.chunk.clone(),
            start,
            size,
            snapshot: self.snapshot.take(),
            due: self.due.take(),
            index: split.index,
            codecs: split.codecs,
            generation,
            max_inner_size,
        };
        Ok(ChunkSpan { context, overlaps: Arc::new(split.overlaps), windows, shard: Some(Arc::new(shard)), chunk_size })
    }

    /// Returns the retained index of the shard; `None` if there is none, or if it lacks an inner chunk of the regions that are read, this
    /// one and `others`.
    pub(super) fn kept<'r>(
        &'r self,
        context: &ReadContext<'_>,
        others: impl IntoIterator<Item = &'r Region>,
    ) -> Option<Arc<KeptIndex>> {
        let is_value = self.byte_range.is_none() && self.snapshot.is_none();
        let regions = std::iter::once(&self.region).chain(others);
        is_value.then(|| context.kept_index(&self.chunk, &self.codecs, &self.shape, regions)).flatten()
    }

    /// Splits the shard into inner chunks by a retained index. The bytes that are read next must have the version of the index.
    pub(super) fn split_by(&mut self, kept: &KeptIndex, context: &ReadContext<'_>) -> Result<Split> {
        self.due = Some(kept.version.clone());
        let split = self.partial(context).and_then(|decode| decode.split_by(&kept.index));
        split.ok_or_else(|| self.locate(Error::internal("the kept index of the shard is of another grid")))
    }

    /// Notes that the chunk is not stored, and fills the output with the fill value.
    pub(super) fn not_stored(&mut self, context: &ReadContext<'_>) -> Result<()> {
        context.note_missing();
        self.fill_missing(context)
    }

    /// Fills the output with the fill value for a chunk that is not stored, after reporting the chunk as the options say.
    pub(super) fn fill_missing(&mut self, context: &ReadContext<'_>) -> Result<()> {
        context.report_missing(&self.chunk).map_err(|error| self.locate(error))?;
        context.fill(&mut self.out)
    }

    /// Whether a part of the value was read before, so that the value was stored.
    fn is_begun(&self) -> bool {
        self.byte_range.is_some() || self.touched
    }

    /// Adds the chunk and its key to an error.
    pub(super) fn locate(&self, error: Error) -> Error {
        error.at(|location| {
            location.chunk = Some(self.chunk.clone());
            location.key = Some(self.key.to_string());
        })
    }
}

/// Minimum number of bytes of a chunk that has the range.
fn needed(range: &ByteRange) -> u64 {
    match range {
        ByteRange::Full | ByteRange::First(_) => 0,
        ByteRange::Range(range) => range.end,
        ByteRange::From(size) | ByteRange::Suffix(size) => *size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, NewArray, Registry, Store};
    use proptest::prelude::*;

    /// Sizes of chunks in bytes: the first is read into a buffer in one piece, the second in slabs.
    const SIZES: [usize; 2] = [70_000, 1_300_000];

    fn arrays(folder: &tempfile::TempDir) -> [(Array, Vec<u8>); 2] {
        SIZES.map(|size| {
            let store = zarr_store_filesystem::FilesystemStore::create(folder.path().join(size.to_string())).unwrap();
            let store: Arc<dyn Store> = Arc::new(store);
            let mut registry = Registry::default();
            registry.codecs.add(zarr_codec_bytes::BYTES);
            let new = NewArray::new(&[2 * size as u64], "uint8").chunks(&[size as u64]);
            let new = new.codecs(r#"[{"name": "bytes"}]"#).unwrap();
            let array = Array::create(&store, "/", new, &Arc::new(registry)).unwrap();
            let elements: Vec<u8> = (0..2 * size).map(|at| (at % 251) as u8).collect();
            array.write(.., &elements).unwrap();
            (array, elements)
        })
    }

    #[test]
    fn outputs_may_begin_anywhere_in_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let arrays = arrays(&folder);
        let start = prop_oneof![3 => 0usize..70, 1 => 0usize..4096];
        proptest!(ProptestConfig::with_cases(60), |(start in start, which in 0usize..2)| {
            let (array, elements) = &arrays[which];
            let mut buffer = vec![0xEE; elements.len() + 8192];
            let page = buffer.as_ptr().align_offset(4096);
            let (before, out) = buffer.split_at_mut(page + start);
            let (out, after) = out.split_at_mut(elements.len());
            array.read_into(.., ViewMut::new(out, 1, &[elements.len()]).unwrap()).unwrap();
            prop_assert!(out == elements.as_slice());
            prop_assert!(before.iter().chain(&*after).all(|&byte| byte == 0xEE));
        });
    }

    #[test]
    fn only_large_outputs_that_begin_badly_take_another_way() {
        let buffer = vec![0; WORTH + 8192];
        let page = &buffer[buffer.as_ptr().align_offset(4096)..];
        let fast = |start: usize, len: usize| takes_kernel_copies(&page[start..start + len]);
        assert!(fast(0, WORTH) && fast(32, WORTH) && fast(4095, WORTH));
        assert_eq!(fast(16, WORTH), !cfg!(target_arch = "x86_64"));
        assert!(fast(16, WORTH - 1));
    }
}
