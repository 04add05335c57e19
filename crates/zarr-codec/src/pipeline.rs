//! Pipelines: chains of codecs that are bound to the elements of an array.

mod build;
mod compressors;
mod count;
mod protection;
mod shared;
mod split;
mod turned;

pub(crate) use shared::Last;

use crate::blocks::{Blocks, ChunkRegion, Elements};
use crate::decode::{Access, Decode};
use crate::scratch::Scratch;
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, ElementSpec, Error, Limits, Patch, Sink, Size, View, ViewMut};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;
use turned::Turned;
use zarr_grid::{Region, Shape};

/// Factor by which requests of uncompressed data are larger than [`Access::read_size`] if the chunk is transposed.
const TURNED: u64 = 8;

/// Codecs of an array, bound to its data type and fill value: array-to-array codecs, one array-to-bytes codec and bytes-to-bytes codecs.
///
/// Built once when an array is opened ([`Pipeline::build`]) and used for every chunk. A shard uses one for its inner
/// chunks.
#[derive(Debug)]
pub struct Pipeline {
    element: ElementSpec,
    array: Vec<Arc<dyn ArrayToArray>>,
    to_bytes: Arc<dyn ArrayToBytes>,
    bytes: Vec<Arc<dyn BytesToBytes>>,
    names: Vec<String>,
    /// Position of each codec in the list of the metadata, in the order array-to-array, array-to-bytes, bytes-to-bytes. Ignored codecs of
    /// the list are left out.
    indices: Vec<usize>,
    limits: Limits,
}

impl Pipeline {
    /// Returns the data type and fill value of the array.
    pub fn element(&self) -> &ElementSpec {
        &self.element
    }

    /// Returns the limits on sizes while decoding.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the names of the codecs as spelled in the metadata.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Shape of the input of the array-to-bytes codec for a chunk of `shape`.
    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error> {
        self.array.iter().try_fold(Shape::from_slice(shape), |shape, codec| codec.encoded_shape(&shape))
    }

    /// Returns the number of bytes of an encoded chunk of `shape`.
    pub fn encoded_size(&self, shape: &[u64]) -> Size {
        match self.encoded_shape(shape) {
            Ok(shape) => {
                self.bytes.iter().fold(self.to_bytes.encoded_size(&shape), |size, codec| codec.encoded_size(size))
            }
            Err(_) => Size::Unknown,
        }
    }

    /// Returns the number of bytes of a decoded chunk of `shape`, without the content of elements of variable length.
    pub fn decoded_size(&self, shape: &[u64]) -> u64 {
        let item = self.element.item_size() as u64;
        shape.iter().fold(item, |size, &len| size.saturating_mul(len))
    }

    /// Returns an upper bound on the number of bytes of an encoded chunk of `shape`, whatever software encodes it: twice the bound of our
    /// encoders and room for headers.
    pub fn max_encoded_size(&self, shape: &[u64]) -> u64 {
        self.encoded_size(shape).bound(self.limits.max_chunk).saturating_mul(2).saturating_add(1 << 10)
    }

    /// Whether chunks of `shape` are shards whose inner chunks can be fetched one by one.
    pub fn is_sharded(&self, shape: &[u64]) -> bool {
        self.part_shape(shape).is_some() && self.partial(shape, &Region::whole(shape), &Access::default()).is_some()
    }

    /// Whether an encoded chunk consists of its elements in C order and nothing else, each element encoded on its own. If so,
    /// [`decode_all`](Self::decode_all) decodes many chunks at once.
    pub fn is_raw_elements(&self) -> bool {
        self.array.is_empty() && self.bytes.is_empty() && self.to_bytes.encoded_item_size().is_some()
    }

    /// Decodes whole chunks that are concatenated in `encoded`, if chunks [are raw elements](Self::is_raw_elements). The first axis of
    /// `out` counts the chunks.
    ///
    /// # Errors
    /// [`Error::Buffer`] if `encoded` has not their length, and as [`decode`](Self::decode).
    pub fn decode_all(&self, encoded: &[u8], out: &mut ViewMut<'_>) -> Result<(), Error> {
        let item = self.to_bytes.encoded_item_size().unwrap_or(0);
        self.to_bytes.scatter(&View::new(encoded, item, out.shape())?, out)
    }

    /// Whether the bytes of an encoded chunk, once [normalized](Self::normalize), are its elements in memory, in C order.
    pub fn is_native_layout(&self) -> bool {
        self.array.is_empty() && self.bytes.is_empty() && self.to_bytes.is_memory_order()
    }

    /// Whether `encoded` needs no decoding: its bytes are the valid elements of a chunk of `shape`, as in memory.
    pub fn is_in_memory_form(&self, encoded: &[u8], shape: &[u64]) -> bool {
        let size = encoded.len() as u64;
        self.is_native_layout()
            && size == self.decoded_size(shape)
            && size <= self.limits.max_chunk
            && self.to_bytes.check_items(encoded).is_ok()
    }

    /// Converts the bytes of a chunk in [native layout](Self::is_native_layout) to their form in memory, in place.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for invalid elements.
    pub fn normalize(&self, items: &mut [u8]) -> Result<(), Error> {
        self.to_bytes.normalize(items)
    }

    /// Returns the shape, in the axes of the array, of the smallest part of a chunk of `shape` that is encoded on its own: the innermost
    /// inner chunk of a shard. `None` if a chunk is encoded as a whole.
    pub fn part_shape(&self, shape: &[u64]) -> Option<Shape> {
        let mut part = self.to_bytes.part_shape(&self.encoded_shape(shape).ok()?)?;
        for codec in self.array.iter().rev() {
            let order = codec.permutation()?;
            let mut decoded = part.clone();
            for (&axis, &len) in order.iter().zip(&part) {
                *decoded.get_mut(axis)? = len;
            }
            part = decoded;
        }
        Some(part)
    }

    /// Encodes `chunk` and appends the bytes to `out`.
    ///
    /// # Errors
    /// [`Error::Encode`] for values that a codec cannot encode.
    pub fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some((first, others)) = self.bytes.split_first() else { return self.encode_array(&self.array, chunk, out) };
        let shape: Shape = chunk.shape().iter().map(|&len| len as u64).collect();
        let region = Region::whole(&shape);
        let elements = self.target(&shape, &region).map(|target| Elements { target, chunk });
        if let (Some(elements), []) = (&elements, others) {
            return first.encode_from(elements, out);
        }
        let mut bytes = Scratch::empty();
        match elements {
            Some(elements) => {
                first.encode_from(&elements, &mut bytes)?;
                Self::encode_bytes(others, bytes, out)
            }
            None => {
                self.encode_array(&self.array, chunk, &mut bytes)?;
                Self::encode_bytes(&self.bytes, bytes, out)
            }
        }
    }

    /// Encodes `chunk` by the remaining array-to-array codecs `codecs` and then by the array-to-bytes codec.
    fn encode_array(&self, codecs: &[Arc<dyn ArrayToArray>], chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some((codec, inner)) = codecs.split_first() else { return self.to_bytes.encode(chunk, out) };
        if let Some(order) = codec.permutation() {
            return self.encode_array(inner, &chunk.clone().permuted(order), out);
        }
        let shape: Shape = chunk.shape().iter().map(|&len| len as u64).collect();
        let mut scratch = Scratch::take();
        let encoded_shape = codec.encoded_shape(&shape)?;
        let mut encoded =
            chunk_view(&mut scratch, codec.encoded(), &encoded_shape, &self.limits)?.with_heap(chunk.heap().cloned());
        codec.encode(chunk, &mut encoded)?;
        self.encode_array(inner, &encoded.as_view(), out)
    }

    /// Encodes `bytes` by the remaining bytes-to-bytes codecs `codecs`.
    fn encode_bytes(codecs: &[Arc<dyn BytesToBytes>], mut bytes: Scratch, out: &mut Vec<u8>) -> Result<(), Error> {
        let Some((last, others)) = codecs.split_last() else {
            out.extend_from_slice(&bytes);
            return Ok(());
        };
        for codec in others {
            let mut next = Scratch::empty();
            codec.encode(&bytes, &mut next)?;
            bytes = next;
        }
        last.encode(&bytes, out)
    }

    /// Decodes `region` of a chunk of `shape` into `out`, which has the shape of the region. `encoded` has all bytes of the chunk.
    ///
    /// # Errors
    /// If `encoded` is no such chunk: [`Error::Truncated`], [`Error::TooLong`], [`Error::Checksum`], [`Error::Corrupt`].
    pub fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        if self.bytes.is_empty() {
            return self.decode_array(&self.array, encoded, shape, region, out);
        }
        let decoded = self.to_bytes.encoded_size(&self.encoded_shape(shape)?);
        if self.array.is_empty()
            && self.to_bytes.is_memory_order()
            && region.is_whole(shape)
            && let Some(destination) = out.as_contiguous()
        {
            self.decode_bytes(encoded, decoded, Some(&mut *destination), None, |_| Ok(()))?;
            return self.to_bytes.normalize(destination);
        }
        let target = self.target(shape, region);
        self.decode_bytes(encoded, decoded, None, target.as_ref(), |plain| match plain {
            Plain::Bytes(bytes) => self.decode_array(&self.array, bytes, shape, region, out),
            Plain::Blocks(blocks, target) => target.decode(blocks, out),
        })
    }

    /// Returns the region of a chunk for decoding and encoding block by block; `None` if elements are not encoded one by one, or if there
    /// are array-to-array codecs.
    fn target<'c>(&'c self, shape: &'c [u64], region: &'c Region) -> Option<ChunkRegion<'c>> {
        // A block of a transposed chunk is a thin slice of each row of the array: cache lines would be written or read in parts.
        let item = if self.array.is_empty() { self.to_bytes.encoded_item_size()? } else { return None };
        (item > 0).then(|| ChunkRegion { codec: &*self.to_bytes, item, shape, region })
    }

    /// Decodes `encoded` by the bytes-to-bytes codecs. With a `destination`, of exactly `size` bytes, decodes to it, and does not call
    /// `then`. Otherwise calls `then` with the decoded bytes; or with the blocks in which the first codec of the chain, the last one to
    /// decode, has encoded them, if these blocks can be decoded one by one to the elements of `target`.
    fn decode_bytes(
        &self,
        encoded: &[u8],
        size: Size,
        destination: Option<&mut [u8]>,
        target: Option<&ChunkRegion<'_>>,
        then: impl FnOnce(Plain<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // sizes[i]: the decoded size of codec i.
        let mut sizes: SmallVec<[Size; 4]> = SmallVec::new();
        self.bytes.iter().fold(size, |size, codec| {
            sizes.push(size);
            codec.encoded_size(size)
        });
        let mut stage = Stage::Borrowed(encoded);
        let mut codecs = self.bytes.iter().zip(&sizes).rev().peekable();
        let mut destination = destination;
        while let Some((codec, &size)) = codecs.next() {
            if let Stage::Borrowed(bytes) = stage
                && let Some(cut) = codec.decode_in_place(bytes)
            {
                // Checked first: truncated bytes would otherwise be reported as a wrong checksum.
                check_size(codec.name(), bytes.len(), codec.encoded_size(size))?;
                let cut = cut?;
                check_size(codec.name(), cut.len(), size)?;
                stage = Stage::Borrowed(cut);
                continue;
            }
            let bytes = stage.bytes();
            if codecs.peek().is_none()
                && let Some(destination) = destination.take()
            {
                let mut sink = Sink::exact(destination).of(codec.name());
                codec.decode(bytes, &mut sink)?;
                sink.finish()?;
                return Ok(());
            }
            if codecs.peek().is_none()
                && let Some(target) = target
                && let Some(blocks) =
                    codec.blocks(bytes).filter(|blocks| target.suits(&**blocks, self.limits.max_chunk))
            {
                return then(Plain::Blocks(&*blocks, target));
            }
            let mut buffer = Scratch::take();
            let mut sink = Sink::growing(&mut buffer, size, self.limits.max_chunk)?.of(codec.name());
            codec.decode(bytes, &mut sink)?;
            let len = sink.finish()?;
            stage = Stage::Owned(buffer, len);
        }
        let bytes = stage.bytes();
        match destination {
            Some(destination) => {
                check_size("bytes", bytes.len(), Size::Exact(destination.len() as u64))?;
                destination.copy_from_slice(bytes);
                Ok(())
            }
            None => then(Plain::Bytes(bytes)),
        }
    }

    /// Decodes `bytes` by the array-to-bytes codec and then by the remaining array-to-array codecs `codecs`, last one first.
    fn decode_array(
        &self,
        codecs: &[Arc<dyn ArrayToArray>],
        bytes: &[u8],
        shape: &[u64],
        region: &Region,
        out: &mut ViewMut<'_>,
    ) -> Result<(), Error> {
        let Some((codec, inner)) = codecs.split_first() else {
            return self.to_bytes.decode(bytes, shape, region, out);
        };
        let encoded_shape = codec.encoded_shape(shape)?;
        if let Some(order) = codec.permutation() {
            let mut transposed = out.reborrow().permuted(order);
            return self.decode_array(inner, bytes, &encoded_shape, &region.permuted(order), &mut transposed);
        }
        let mut scratch = Scratch::take();
        let mut encoded =
            chunk_view(&mut scratch, codec.encoded(), &encoded_shape, &self.limits)?.with_heap(out.heap().cloned());
        self.decode_array(inner, bytes, &encoded_shape, &Region::whole(&encoded_shape), &mut encoded)?;
        if region.is_whole(shape) {
            return codec.decode(&encoded.as_view(), out);
        }
        let element = Element { item_size: out.item_size() };
        let mut scratch = Scratch::take();
        let mut whole = element.view(&mut scratch, shape, &self.limits)?.with_heap(out.heap().cloned());
        codec.decode(&encoded.as_view(), &mut whole)?;
        out.copy_from(&whole.as_view().window(region));
        Ok(())
    }

    /// Starts a decode of `region` of a chunk of `shape` that asks for the byte ranges that it needs. `None` if the decode needs all bytes
    /// of the chunk: [`decode`](Self::decode) takes them.
    pub fn partial(&self, shape: &[u64], region: &Region, access: &Access) -> Option<Box<dyn Decode>> {
        if !self.bytes.is_empty() {
            return None;
        }
        // A codec that changes values needs all bytes.
        let (shape, order) = self.permutation(shape)?;
        let region = order.as_ref().map_or_else(|| region.clone(), |order| region.permuted(order));
        let mut access = *access;
        if order.is_some() {
            // A thin slab of a transposed chunk is a thin slice of each row of the output: cache lines are written in parts,
            // and fetched for each part.
            access.read_size = access.read_size.map(|size| size.saturating_mul(TURNED));
        }
        let inner = Arc::clone(&self.to_bytes).partial(&shape, &region, &access)?;
        Some(match order {
            Some(order) => Box::new(Turned::new(order, inner)),
            None => inner,
        })
    }

    /// Effect of the array-to-array codecs on a chunk of `shape`: the encoded shape, and the combined permutation of axes (`None` if there
    /// are no codecs). `None` if a codec does not just permute axes.
    fn permutation(&self, shape: &[u64]) -> Option<(Shape, Option<SmallVec<[usize; 6]>>)> {
        let mut shape = Shape::from_slice(shape);
        let mut order: Option<SmallVec<[usize; 6]>> = None;
        for codec in &self.array {
            let encoded = codec.encoded_shape(&shape).ok()?;
            let permutation = codec.permutation()?;
            shape = encoded;
            order = Some(match order {
                None => permutation.into(),
                Some(before) => permutation.iter().map(|&axis| before.get(axis).copied().unwrap_or(axis)).collect(),
            });
        }
        Some((shape, order))
    }

    /// Replaces the elements of `patch` in the encoded chunk `old` (`None`: a chunk of fill values) and appends the new encoded chunk to
    /// `out`. `old` is ignored if the patch replaces every element.
    ///
    /// # Errors
    /// The errors of [`encode`](Self::encode), and of [`decode`](Self::decode) for `old`.
    pub fn patch(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        if let Some(chunk) = patch.as_whole() {
            return self.encode(chunk, out);
        }
        let covers = patch.covers();
        let old = old.filter(|_| !covers);
        if let Some(done) = self.patch_parts(old, patch, out) {
            return done;
        }
        let shape = patch.shape();
        let mut scratch = Scratch::take();
        // The chunk has its own heap, so that old elements are not added to the heap of the caller's new elements.
        let heap = self.element.new_heap();
        let mut chunk = chunk_view(&mut scratch, &self.element, shape, &self.limits)?.with_heap(heap);
        match old {
            Some(old) => self.decode(old, shape, &Region::whole(shape), &mut chunk)?,
            None if covers => {}
            None => self.element.fill(&mut chunk)?,
        }
        patch.apply(&mut chunk)?;
        self.encode(&chunk.as_view(), out)
    }

    /// Patches by the array-to-bytes codec; `None` if this codec cannot, or if an array-to-array codec changes values.
    fn patch_parts(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Option<Result<(), Error>> {
        let mut patch = Cow::Borrowed(patch);
        for codec in &self.array {
            patch = Cow::Owned(patch.permuted(codec.permutation()?));
        }
        if self.bytes.is_empty() {
            return self.to_bytes.patch(old, &patch, out);
        }
        let Some(old) = old else {
            let mut plain = Scratch::empty();
            let done = self.to_bytes.patch(None, &patch, &mut plain)?;
            return Some(done.and_then(|()| Self::encode_bytes(&self.bytes, plain, out)));
        };
        let mut patched = None;
        let decoded = self.decode_bytes(old, self.to_bytes.encoded_size(patch.shape()), None, None, |decoded| {
            let Plain::Bytes(bytes) = decoded else { return Ok(()) };
            let mut plain = Scratch::empty();
            patched = self.to_bytes.patch(Some(bytes), &patch, &mut plain).map(|done| done.map(|()| plain));
            Ok(())
        });
        match decoded {
            Err(error) => Some(Err(error)),
            Ok(()) => patched.map(|done| done.and_then(|plain| Self::encode_bytes(&self.bytes, plain, out))),
        }
    }
}

/// Output of the bytes-to-bytes codecs.
enum Plain<'b> {
    Bytes(&'b [u8]),
    /// Blocks to be decoded into a region.
    Blocks(&'b dyn Blocks, &'b ChunkRegion<'b>),
}

enum Stage<'b> {
    Borrowed(&'b [u8]),
    Owned(Scratch, usize),
}

impl Stage<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(buffer, len) => buffer.get(..*len).unwrap_or_default(),
        }
    }
}

fn check_size(codec: &'static str, found: usize, due: Size) -> Result<(), Error> {
    let found = found as u64;
    match due {
        Size::Exact(expected) if found < expected => Err(Error::Truncated { codec, found, expected }),
        Size::Exact(expected) | Size::AtMost(expected) if found > expected => {
            Err(Error::TooLong { codec, found, expected })
        }
        _ => Ok(()),
    }
}

struct Element {
    item_size: usize,
}

impl Element {
    /// Returns a view of scratch memory for a chunk of `shape`, if the chunk is within the limits.
    fn view<'s>(&self, scratch: &'s mut Scratch, shape: &[u64], limits: &Limits) -> Result<ViewMut<'s>, Error> {
        let size = shape.iter().try_fold(self.item_size as u64, |size, &len| size.checked_mul(len));
        let size = size.unwrap_or(u64::MAX);
        if size > limits.max_chunk {
            return Err(Error::Limit { what: "decoded chunk", found: size, limit: limits.max_chunk });
        }
        let dims: SmallVec<[usize; 6]> = shape.iter().map(|&len| len as usize).collect();
        let bytes = scratch.sized(usize::try_from(size).map_err(|_| Error::Allocation { size })?)?;
        ViewMut::new(bytes, self.item_size, &dims)
    }
}

/// Returns a view of scratch memory for a whole chunk of `shape`; the content of the view is arbitrary.
///
/// # Errors
/// [`Error::Limit`] if the chunk is larger than the limits allow, [`Error::Allocation`] if memory cannot be allocated.
pub fn chunk_view<'s>(
    scratch: &'s mut Scratch,
    element: &ElementSpec,
    shape: &[u64],
    limits: &Limits,
) -> Result<ViewMut<'s>, Error> {
    Element { item_size: element.item_size() }.view(scratch, shape, limits)
}
