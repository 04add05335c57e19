//! One chunk or inner chunk that is being read: its requests, and the advance of its decoding with each reply.

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

/// One chunk or inner chunk that is being read.
#[derive(Debug)]
pub(super) struct ChunkRead<'a> {
    /// The window of the output that its elements go to.
    pub(super) out: ViewMut<'a>,
    pub(super) key: Key,
    /// The chunk that the key is of.
    pub(super) chunk: ChunkIndex,
    /// The byte range of this chunk in the value of the key; `None` if it is the whole value.
    pub(super) byte_range: Option<Range<u64>>,
    /// The state of the value that was read so far, if the store tells.
    pub(super) snapshot: Option<Snapshot>,
    /// The version that the value must have, until a reply says that it has it.
    due: Option<Version>,
    /// How many bytes the value has at most, about, where requests take long.
    expected_size: Option<u64>,
    pub(super) codecs: Arc<Pipeline>,
    pub(super) shape: Shape,
    /// The region of the chunk that is read.
    pub(super) region: Region,
    /// The decoding under way, where the codecs can do with less than all bytes.
    pub(super) decode: Option<Box<dyn Decode>>,
    /// The memory for its bytes, where their number is known.
    pub(super) destination: Option<FetchDestination>,
    /// The reply, and its parts, that answer the last request.
    pub(super) pending: Option<(usize, Range<usize>)>,
    /// The number of the chunk location that the key is of.
    pub(super) location: u8,
    /// Whether the output may hold bytes of the value, so that it is not fresh memory any more.
    touched: bool,
}

/// The memory that the bytes of a chunk are read into, where their number is known.
#[derive(Debug)]
pub(super) enum FetchDestination {
    /// The output: encoded chunks are their elements in memory.
    Output,
    /// A range of the buffer of the batch.
    Buffer(Range<usize>),
}

/// How far a chunk has come with a reply.
pub(super) enum Advance<'f> {
    /// The output holds its elements.
    Done,
    /// It asked for more.
    Waiting,
    /// The bytes of the whole chunk have come, in this reply, to be decoded at once.
    Bytes(&'f [u8], &'f Fetched),
    /// The index of a shard has come, in this reply. Its inner chunks are to be read.
    Index(Box<Split>, &'f Fetched),
    /// Nothing is stored under its key.
    NotStored,
    /// It was replaced after a part of it was read, which the context knows now.
    Replaced,
}

/// Where the kernel's copy to memory is slow: beginning so few bytes into a page.
const ALIASED: Range<usize> = 1..32;
/// Outputs of fewer bytes are not worth a way around that.
const WORTH: usize = 64 << 10;

/// Whether reading a file straight into `bytes` is the fastest way to get it there.
///
/// Files lie in memory from the beginning of a page on. Processors of AMD copy slowly (`rep movsb`) to addresses that are up to 15
/// bytes further into a page, and less so up to 31. Allocators begin large pieces 16 bytes into a page.
pub(super) fn takes_kernel_copies(bytes: &[u8]) -> bool {
    const PAGE: usize = 4096;
    !cfg!(target_arch = "x86_64") || bytes.len() < WORTH || !ALIASED.contains(&(bytes.as_ptr().addr() % PAGE))
}

impl<'a> ChunkRead<'a> {
    /// The read of one chunk, or inner chunk of `shard`, into `out`; `None` if the index of the shard tells that it is not stored, so that
    /// `out` was filled.
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

    /// The part of a chunk that `overlap` says, from the whole value of a key.
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

    /// Decoding from less than all bytes, if the codecs can do that.
    pub(super) fn partial(&self, context: &ReadContext<'_>) -> Option<Box<dyn Decode>> {
        self.codecs.partial(&self.shape, &self.region, &context.access)
    }

    /// Begins with all bytes of a shard that is worth it: by one request, and not its index first. Says whether it did.
    pub(super) fn start_whole(&mut self, context: &ReadContext<'_>, requests: &mut Vec<Request>) -> Result<bool> {
        let whole = self.byte_range.is_none() && self.region.is_whole(&self.shape);
        let Some(size) = context.whole_shard(&self.codecs, &self.shape).filter(|_| whole) else { return Ok(false) };
        self.decode = None;
        self.ask(&[ByteRange::First(size)], requests)?;
        Ok(true)
    }

    /// Begins, or begins again: asks for the first bytes that `decode` needs, or for all.
    pub(super) fn start(&mut self, decode: Option<Box<dyn Decode>>, requests: &mut Vec<Request>) -> Result<()> {
        self.decode = decode;
        let Some(decode) = &mut self.decode else { return self.ask(&[ByteRange::Full], requests) };
        match decode.step(&[], &mut self.out).map_err(|error| self.locate(error.into()))? {
            Step::Need(ranges) => self.ask(&ranges, requests),
            Step::Done => Ok(()),
            Step::Split(_) => Err(self.locate(Error::internal("a shard is split before its index is read"))),
        }
    }

    /// Checks that it asked for bytes: the first step of a shard does.
    pub(super) fn check_waits(&self) -> Result<()> {
        match self.pending {
            Some(_) => Ok(()),
            None => Err(self.locate(Error::internal("a shard is read without its index"))),
        }
    }

    /// Begins with all bytes, which are read into a destination.
    pub(super) fn start_into(&mut self, destination: FetchDestination, requests: &mut Vec<Request>) -> Result<()> {
        self.destination = Some(destination);
        self.start(None, requests)
    }

    /// The number of bytes of the encoded chunk, where it is known and reading them into memory of ours gains something.
    fn known_size(&self, context: &ReadContext<'_>) -> Option<u64> {
        let alone = self.byte_range.is_none() && context.reads_into();
        alone.then(|| self.codecs.encoded_size(&self.shape).exact()).flatten()
    }

    /// The same where the bytes fit a buffer.
    pub(super) fn buffered_size(&self, context: &ReadContext<'_>) -> Option<usize> {
        let size = self.known_size(context).filter(|&size| size <= LOCAL_GROUP)?;
        usize::try_from(size).ok()
    }

    /// Whether the bytes of the encoded chunk are the bytes of the output.
    pub(super) fn is_output(&mut self, context: &ReadContext<'_>) -> bool {
        self.codecs.is_native_layout()
            && self.region.is_whole(&self.shape)
            && self.known_size(context).is_some()
            && self.out.as_contiguous().is_some_and(|bytes| takes_kernel_copies(bytes))
    }

    /// Takes a value of `size` bytes that was read into its destination. If the size is not the expected one, asks for all bytes
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

    /// Asks for byte ranges of the chunk; inner chunks of one shard share a request. A chunk that is decoded in parts asks for
    /// more later, of the same state.
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

    /// A range of the chunk as a range of the value.
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

    /// Goes on with the reply that it waits for. Every chunk that is read by itself advances here: whole values, slabs, indexes of
    /// shards, inner chunks. `buffer` has what was read into [`FetchDestination::Buffer`].
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

    /// The inner chunks of a shard whose index has come, in a value of `size` bytes. They take over the output.
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

    /// The inner chunks of a shard, by the index that is kept of it; `None` if none is, or it lacks one of those that are read here or in
    /// `others`, further regions.
    pub(super) fn kept<'r>(
        &'r self,
        context: &ReadContext<'_>,
        others: impl IntoIterator<Item = &'r Region>,
    ) -> Option<Arc<KeptIndex>> {
        let is_value = self.byte_range.is_none() && self.snapshot.is_none();
        let regions = std::iter::once(&self.region).chain(others);
        is_value.then(|| context.kept_index(&self.chunk, &self.codecs, &self.shape, regions)).flatten()
    }

    /// The split by a kept index. What is read of the shard must have the version of the index.
    pub(super) fn split_by(&mut self, kept: &KeptIndex, context: &ReadContext<'_>) -> Result<Split> {
        self.due = Some(kept.version.clone());
        let split = self.partial(context).and_then(|decode| decode.split_by(&kept.index));
        split.ok_or_else(|| self.locate(Error::internal("the kept index of the shard is of another grid")))
    }

    /// Writes the fill value: nothing is stored under its key.
    pub(super) fn not_stored(&mut self, context: &ReadContext<'_>) -> Result<()> {
        context.note_missing();
        self.fill_missing(context)
    }

    /// The same, where that is known from the cache.
    pub(super) fn fill_missing(&mut self, context: &ReadContext<'_>) -> Result<()> {
        context.report_missing(&self.chunk).map_err(|error| self.locate(error))?;
        context.fill(&mut self.out)
    }

    /// Whether a part of the value was read before, so that the value was there.
    fn is_begun(&self) -> bool {
        self.byte_range.is_some() || self.touched
    }

    /// Adds the chunk and the key to an error.
    pub(super) fn locate(&self, error: Error) -> Error {
        error.at(|location| {
            location.chunk = Some(self.chunk.clone());
            location.key = Some(self.key.to_string());
        })
    }
}

/// How many bytes a chunk must have for a range to lie in it.
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

    /// Chunks of these sizes: read into a buffer in one piece; in slabs.
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
