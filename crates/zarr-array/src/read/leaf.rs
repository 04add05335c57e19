//! A few cells under way: what is asked for, and what is done with what comes.

use super::cached::State;
use super::requests::{Requests, needed};
use super::{LOCAL_GROUP, ReadContext, Shard, Source, Spread, decoded_size, largest_encoded, splits};
use crate::{Error, Result, jobs};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use zarr_codec::{Access, Decode, Error as CodecError, Pipeline, Scratch, Split, Step, ViewMut};
use zarr_grid::{ChunkIndex, Region, Shape};
use zarr_store::{ByteRange, Fetched, GetOptions, Key, Reply, Request, Snapshot};

/// A few cells under way.
#[derive(Debug)]
pub(crate) struct Leaf<'a> {
    context: &'a ReadContext<'a>,
    pub(super) items: Vec<Item<'a>>,
    /// Shards that were met, to be spread when all items are done.
    pub(super) shards: Vec<Spread<'a>>,
    /// Where the bytes of items lie that have [`Room::Buffer`].
    buffer: Scratch,
    /// How much of it they take.
    buffered: usize,
}

/// Where the bytes of a chunk whose encoded size is known may be put.
#[derive(Debug)]
pub(super) enum Room {
    /// They are the output's.
    Output,
    /// In this part of the leaf's buffer.
    Buffer(Range<usize>),
}

/// One chunk or inner chunk under way.
#[derive(Debug)]
pub(super) struct Item<'a> {
    pub(super) out: ViewMut<'a>,
    pub(super) key: Key,
    pub(super) chunk: ChunkIndex,
    /// The part of the value that is this chunk; `None`: all of it.
    pub(super) window: Option<Range<u64>>,
    /// The state of the value that was read so far, if the store tells.
    pub(super) snapshot: Option<Snapshot>,
    pub(super) codecs: Arc<Pipeline>,
    pub(super) shape: Shape,
    pub(super) region: Region,
    /// Where the codecs can do with less than all bytes.
    pub(super) decode: Option<Box<dyn Decode>>,
    /// Where all bytes are known to fit.
    pub(super) room: Option<Room>,
    /// Which reply, and which of its parts, hold what was asked for last.
    pub(super) pending: Option<(usize, Range<usize>)>,
    /// The number of the place that the key is of.
    pub(super) place: u8,
    /// The output may hold bytes of the value: it is not fresh memory any more.
    pub(super) touched: bool,
}

/// Where the kernel's copy to memory is slow: beginning so few bytes into a page.
const ALIASED: Range<usize> = 1..32;
/// Outputs of fewer bytes are not worth a way around that.
const WORTH: usize = 64 << 10;

/// Whether reading a file straight into `bytes` is the fastest way to get it there.
///
/// Files lie in memory from the beginning of a page on. Processors of AMD copy slowly (`rep movsb`) to places that are up to 15
/// bytes further into a page, and less so up to 31. What allocators give in large pieces begins 16 bytes into a page.
fn takes_kernel_copies(bytes: &[u8]) -> bool {
    const PAGE: usize = 4096;
    !cfg!(target_arch = "x86_64") || bytes.len() < WORTH || !ALIASED.contains(&(bytes.as_ptr().addr() % PAGE))
}

pub(super) enum After<'a> {
    Wants(Vec<ByteRange>),
    Shard(Spread<'a>),
    Done,
}

impl<'a> Leaf<'a> {
    pub(super) fn new(context: &'a ReadContext<'a>, items: Vec<Item<'a>>) -> Self {
        Self { context, items, shards: Vec::new(), buffer: Scratch::default(), buffered: 0 }
    }

    /// Asks for the first bytes of all items.
    pub(super) fn begin(&mut self) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        let mut items = std::mem::take(&mut self.items);
        let access = self.context.access;
        for item in &mut items {
            if item.is_output(&access) {
                item.room = Some(Room::Output);
                item.ask(&[ByteRange::Full], &mut requests)?;
                continue;
            }
            item.decode = item.codecs.partial(&item.shape, &item.region, &access);
            match &mut item.decode {
                None => {
                    let small = item.known_size(&access).filter(|&size| size <= LOCAL_GROUP);
                    if let Some(end) = small.and_then(|size| self.buffered.checked_add(usize::try_from(size).ok()?)) {
                        item.room = Some(Room::Buffer(self.buffered..end));
                        self.buffered = end;
                    }
                    item.ask(&[ByteRange::Full], &mut requests)?;
                }
                Some(decode) => match decode.step(&[], &mut item.out).map_err(Error::from)? {
                    Step::Need(ranges) => item.ask(&ranges, &mut requests)?,
                    Step::Done => {}
                    Step::Split(_) => return Err(Error::internal("a shard is split before its index is read")),
                },
            }
        }
        items.retain(|item| item.pending.is_some());
        self.items = items;
        Ok(requests.into_vec())
    }

    /// Where the value asked for by a request may be put.
    pub(super) fn place(&mut self, request: usize) -> Option<&mut [u8]> {
        // Items that wait stand in the order of their requests, and one that has room shares its own with no other.
        let number = |item: &Item<'_>| item.pending.as_ref().map(|(reply, _)| *reply);
        let place = self.items.binary_search_by_key(&Some(request), number).ok()?;
        let item = self.items.get_mut(place)?;
        match item.room.as_ref()? {
            Room::Output => item.out.as_contiguous(),
            Room::Buffer(part) => {
                if self.buffer.len() < self.buffered {
                    self.buffer = Scratch::take();
                }
                self.buffer.sized(self.buffered).ok()?.get_mut(part.clone())
            }
        }
    }

    /// Decodes what came, and asks for more where that is wanted.
    pub(super) fn take(&mut self, replies: &[Reply]) -> Result<Vec<Request>> {
        let mut requests = Requests::default();
        for mut item in std::mem::take(&mut self.items) {
            let Some((reply, parts)) = item.pending.take() else {
                return Err(item.place(Error::internal("a chunk waits for nothing")));
            };
            if let Some(Reply::Filled(size)) = replies.get(reply) {
                self.context.core.found_place(item.place);
                if !item.filled(*size, &self.buffer)? {
                    item.ask(&[ByteRange::Full], &mut requests)?;
                    self.items.push(item);
                }
                continue;
            }
            let fetched = match replies.get(reply) {
                Some(Reply::Got(Some(fetched))) => fetched,
                Some(Reply::Got(None)) => {
                    self.missing(item, &mut requests)?;
                    continue;
                }
                Some(Reply::Conflict) => {
                    self.context.replaced(&item.chunk);
                    continue;
                }
                _ => return Err(item.place(jobs::unfit())),
            };
            self.context.core.found_place(item.place);
            item.note_state(fetched);
            let got: smallvec::SmallVec<[&[u8]; 4]> = parts.map(|part| fetched.part(part)).collect();
            let after = item.go_on(&got, fetched, self.context).map_err(|error| item.place(error))?;
            match after {
                After::Wants(ranges) => {
                    item.ask(&ranges, &mut requests)?;
                    self.items.push(item);
                }
                After::Shard(window) => self.shards.push(window),
                After::Done => {}
            }
        }
        Ok(requests.into_vec())
    }

    /// There is nothing under the item's key.
    fn missing(&mut self, mut item: Item<'a>, requests: &mut Requests) -> Result<()> {
        if item.is_begun() {
            self.context.replaced(&item.chunk);
            return Ok(());
        }
        if let Some((place, key)) = self.context.core.other_key(&item.chunk, item.place) {
            item.key = key;
            item.place = place;
            let ranges = match &mut item.decode {
                None => vec![ByteRange::Full],
                Some(_) => {
                    // The first step is repeated from the start: nothing has been decoded yet.
                    item.decode = item.codecs.partial(&item.shape, &item.region, &self.context.access);
                    match item.decode.as_mut().map(|decode| decode.step(&[], &mut item.out)).transpose()? {
                        Some(Step::Need(ranges)) => ranges,
                        _ => vec![ByteRange::Full],
                    }
                }
            };
            item.ask(&ranges, requests)?;
            self.items.push(item);
            return Ok(());
        }
        item.not_stored(self.context)
    }
}

impl<'a> Item<'a> {
    /// The number of bytes of the encoded chunk, where it is known and reading them into memory of ours gains something.
    fn known_size(&self, access: &Access) -> Option<u64> {
        let local = self.window.is_none() && access.slab.is_some();
        local.then(|| self.codecs.encoded_size(&self.shape).exact()).flatten()
    }

    /// Whether the bytes of the encoded chunk are those of the output.
    fn is_output(&mut self, access: &Access) -> bool {
        self.codecs.is_memory()
            && self.region.is_whole(&self.shape)
            && self.known_size(access).is_some()
            && self.out.as_contiguous().is_some_and(|bytes| takes_kernel_copies(bytes))
    }

    /// Takes a value of `size` bytes that lies where there is room for it. If it is of another size than is due, all of
    /// it is to be asked for again, so that decoding can tell what is wrong.
    fn filled(&mut self, size: u64, buffer: &[u8]) -> Result<bool> {
        match self.room.take() {
            Some(Room::Output) => {
                self.touched = true;
                if size != self.out.size() as u64 {
                    return Ok(false);
                }
                let settled = self.out.as_contiguous().map_or(Ok(()), |items| self.codecs.settle(items));
                settled.map(|()| true).map_err(|error| self.place(error.into()))
            }
            Some(Room::Buffer(part)) if size == part.len() as u64 => {
                let bytes = buffer.get(part).ok_or_else(|| self.place(jobs::unfit()))?;
                let decoded = self.codecs.decode(bytes, &self.shape, &self.region, &mut self.out);
                decoded.map(|()| true).map_err(|error| self.place(error.into()))
            }
            _ => Ok(false),
        }
    }

    /// Notes what to ask for; inner chunks of one shard share a request. An item that has its [`decode`](Self::decode) by then will
    /// ask for more, of the same state.
    pub(super) fn ask(&mut self, ranges: &[ByteRange], requests: &mut Requests) -> Result<()> {
        let ranges = ranges.iter().map(|range| self.shifted(range)).collect::<Result<Vec<_>>>()?;
        let shared = self.window.is_some() && self.room.is_none();
        let options = match &self.snapshot {
            Some(snapshot) => GetOptions::if_match(Some(snapshot.clone())),
            None if self.decode.is_some() => GetOptions::snapshot(),
            None => GetOptions::default(),
        };
        self.pending = Some(requests.add(&self.key, shared, ranges, options));
        Ok(())
    }

    /// A range of the chunk as a range of the value.
    fn shifted(&self, range: &ByteRange) -> Result<ByteRange> {
        let Some(window) = &self.window else { return Ok(range.clone()) };
        let len = window.end - window.start;
        match range.resolve(len) {
            Some(range) => Ok(ByteRange::Range(window.start + range.start..window.start + range.end)),
            None => {
                let error = CodecError::Truncated { codec: "sharding_indexed", found: len, expected: needed(range) };
                Err(self.place(error.into()))
            }
        }
    }

    fn go_on(&mut self, got: &[&[u8]], fetched: &Fetched, context: &'a ReadContext<'a>) -> Result<After<'a>> {
        let Some(decode) = &mut self.decode else {
            let bytes = got.first().copied().ok_or_else(jobs::unfit)?;
            self.codecs.decode(bytes, &self.shape, &self.region, &mut self.out)?;
            return Ok(After::Done);
        };
        self.touched = true;
        match decode.step(got, &mut self.out)? {
            Step::Need(ranges) => Ok(After::Wants(ranges)),
            Step::Done => Ok(After::Done),
            Step::Split(split) => Ok(After::Shard(self.spread(*split, fetched.size, None, context)?)),
        }
    }

    /// The inner chunks of a shard whose index has come. The item gives its output away.
    pub(super) fn spread(
        &mut self,
        split: Split,
        size: Option<u64>,
        state: Option<State>,
        context: &'a ReadContext<'a>,
    ) -> Result<Spread<'a>> {
        let nothing = ViewMut::new(&mut [], 1, &[0])?;
        let out = std::mem::replace(&mut self.out, nothing);
        let tiles = split.tile(out)?;
        let (start, size) = match &self.window {
            Some(window) => (window.start, Some(window.end - window.start)),
            None => (0, size),
        };
        let cell = split.cuts.cursor().cell().map(|cell| cell.shape.clone()).unwrap_or_default();
        let cell_size = decoded_size(&split.codecs, &cell);
        // Shards may have any number of bytes that nothing refers to. Only their indexes and inner chunks are asked for.
        let nests = splits(&split.codecs, &cell);
        let largest = if nests { u64::MAX } else { largest_encoded(&split.codecs, &cell) };
        let shard = Shard {
            key: self.key.clone(),
            chunk: self.chunk.clone(),
            start,
            size,
            snapshot: self.snapshot.take(),
            index: split.index,
            codecs: split.codecs,
            state,
            largest,
        };
        Ok(Spread { context, cuts: Arc::new(split.cuts), tiles, source: Source::Shard(Arc::new(shard)), cell_size })
    }

    /// There is nothing under its key.
    pub(super) fn not_stored(&mut self, context: &ReadContext<'_>) -> Result<()> {
        context.missing.store(true, Ordering::Relaxed);
        self.fill_absent(context)
    }

    /// The same, known from before.
    pub(super) fn fill_absent(&mut self, context: &ReadContext<'_>) -> Result<()> {
        context.not_stored(&self.chunk).map_err(|error| self.place(error))?;
        context.fill(&mut self.out)
    }

    /// Whether a part of the value was read before, so that it cannot be missing.
    pub(super) fn is_begun(&self) -> bool {
        self.window.is_some() || self.touched
    }

    /// Notes the state of the value that a reply is of.
    pub(super) fn note_state(&mut self, fetched: &Fetched) {
        if self.snapshot.is_none() {
            self.snapshot.clone_from(&fetched.snapshot);
        }
    }

    pub(super) fn place(&self, error: Error) -> Error {
        error.at(|place| {
            place.chunk = Some(self.chunk.clone());
            place.key = Some(self.key.to_string());
        })
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
            let store = zarr_store::FilesystemStore::create(folder.path().join(size.to_string())).unwrap();
            let store: Arc<dyn Store> = Arc::new(store);
            let mut registry = Registry::default();
            registry.codecs.add(zarr_codec_bytes::ENTRY);
            let new = NewArray::new(&[2 * size as u64], "uint8").chunks(&[size as u64]);
            let new = new.codecs_text(r#"[{"name": "bytes"}]"#).unwrap();
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
