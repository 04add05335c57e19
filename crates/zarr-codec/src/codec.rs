//! The three kinds of codecs.

use crate::decode::{Access, Decode};
use crate::{Blocks, ElementSpec, EncodeSplit, Error, Patch, Protection, Scratch, Sink, Size, Source, View, ViewMut};
use std::fmt::Debug;
use std::sync::Arc;
use zarr_grid::{Region, Shape};

/// A codec that turns a chunk into another chunk: transpose, delta, scale.
///
/// Built from metadata and bound to an element type; the shape is given per call, since chunks of rectilinear grids differ.
pub trait ArrayToArray: Debug + Send + Sync {
    /// The elements after encoding.
    fn encoded(&self) -> &ElementSpec;

    /// The shape after encoding.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the codec cannot take chunks of `shape`.
    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error>;

    /// How many elements the chunk of one dimension had that was encoded to a chunk of one dimension, whose elements are `encoded`;
    /// `None` if there is no such chunk. By default as many as there are.
    fn decoded_count(&self, encoded: &[u8]) -> Option<u64> {
        let item = self.encoded().item_size();
        (item > 0 && encoded.len().is_multiple_of(item)).then(|| (encoded.len() / item) as u64)
    }

    /// The axis order if permuting axes is all that this codec does: encoded axis `i` is decoded axis `order[i]`. No byte
    /// is moved for such a codec; the axes of views are permuted instead, and `encode` and `decode` are not called.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// Encodes a whole chunk. `out` has the encoded shape and elements.
    ///
    /// # Errors
    /// [`Error::Encode`] for values that cannot be encoded.
    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error>;

    /// Decodes a whole chunk. `chunk` has the encoded shape and elements.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for values that are none.
    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error>;
}

/// The codec that turns a chunk into bytes: `bytes`, `vlen-utf8`, `sharding_indexed`.
pub trait ArrayToBytes: Debug + Send + Sync {
    /// Whether chunks of `shape` can be encoded at all; called when an array is opened.
    ///
    /// # Errors
    /// [`Error::Metadata`] if not: inner chunks that do not divide the shard.
    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let _ = shape;
        Ok(())
    }

    /// The number of bytes of an encoded chunk of `shape`.
    fn encoded_size(&self, shape: &[u64]) -> Size;

    /// Whether the encoded bytes are the elements in C order, just as they lie in memory. Then the last decompressor
    /// writes straight into the output, which is [normalized](Self::normalize) afterwards, and encoded are elements that are
    /// [checked](Self::check_items).
    fn is_memory_order(&self) -> bool {
        false
    }

    /// Brings elements that were decoded by copying them into memory form, where they are in [memory order](Self::is_memory_order).
    ///
    /// # Errors
    /// [`Error::Corrupt`] for elements that are none.
    fn normalize(&self, items: &mut [u8]) -> Result<(), Error> {
        let _ = items;
        Ok(())
    }

    /// Checks that elements can be encoded by copying them, where they are in [memory order](Self::is_memory_order).
    ///
    /// # Errors
    /// [`Error::Encode`] for elements that are none.
    fn check_items(&self, items: &[u8]) -> Result<(), Error> {
        let _ = items;
        Ok(())
    }

    /// How far decoding notices that the bytes are others than those that were encoded, by `encoded`, where these are at hand: the
    /// codecs within may say more of them. By default not at all.
    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let _ = encoded;
        Protection::None
    }

    /// Bytes of an encoded element, if encoded chunks are their elements in C order and nothing else. Then
    /// [`scatter`](Self::scatter) decodes any of them.
    fn encoded_item_size(&self) -> Option<usize> {
        None
    }

    /// Decodes encoded elements into `out`, which has their shape.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for elements that are none; [`Error::Unsupported`] without an
    /// [encoded element's size](Self::encoded_item_size).
    fn scatter(&self, items: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let _ = (items, out);
        Err(Error::Unsupported { codec: "", what: "elements are not encoded one by one".to_owned() })
    }

    /// The shape of the smallest part that can be decoded on its own, if that is less than a chunk: inner chunks.
    fn part_shape(&self, shape: &[u64]) -> Option<Shape> {
        let _ = shape;
        None
    }

    /// Appends the encoded chunk to `out`.
    ///
    /// # Errors
    /// [`Error::Encode`] for values that cannot be encoded.
    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Decodes `region` of an encoded chunk of `shape`, all of whose bytes are here, into `out`, which has the region's
    /// shape.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::TooLong`] or [`Error::Corrupt`] if `encoded` is no such chunk.
    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error>;

    /// A decode of `region` that says which parts of the encoded bytes it wants. `None` (the default): it wants all, to
    /// be given to [`decode`](Self::decode).
    fn partial(self: Arc<Self>, shape: &[u64], region: &Region, access: &Access) -> Option<Box<dyn Decode>> {
        let _ = (shape, region, access);
        None
    }

    /// Appends to `out` the chunk `old` (or one of fill values) with the elements of `patch` replaced, better than by decoding and
    /// encoding all of it. `None` (the default): it cannot.
    fn patch(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Option<Result<(), Error>> {
        let _ = (old, patch, out);
        None
    }

    /// The inner chunks that [`encode`](Self::encode) encodes, if `region` is the whole chunk and there is no `old`, or else
    /// [`patch`](Self::patch), as runs that can be encoded at the same time. `None` (the default): a chunk is encoded as a whole.
    ///
    /// # Errors
    /// If `old` is no such chunk.
    fn split_encode(
        self: Arc<Self>,
        old: Option<&[u8]>,
        shape: &[u64],
        region: &Region,
    ) -> Option<Result<Box<dyn EncodeSplit>, Error>> {
        let _ = (old, shape, region);
        None
    }
}

/// A codec that turns bytes into bytes: compressors, checksums.
pub trait BytesToBytes: Debug + Send + Sync {
    /// The codec's name, for errors about the decoded size.
    fn name(&self) -> &'static str;

    /// Checks whether chunks can be encoded and decoded at all if this codec gets `decoded` bytes of each; called when an array is opened.
    ///
    /// # Errors
    /// [`Error::Metadata`] or [`Error::Unsupported`] if not.
    fn check(&self, decoded: Size) -> Result<(), Error> {
        let _ = decoded;
        Ok(())
    }

    /// The number of bytes that `decoded` bytes are encoded to.
    fn encoded_size(&self, decoded: Size) -> Size;

    /// Appends the encoded bytes to `out`.
    ///
    /// # Errors
    /// [`Error::Encode`] for input that cannot be encoded: too long for the format.
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error>;

    /// Appends the encoded bytes of `source` to `out`, as [`encode`](Self::encode) does: for codecs that take their input
    /// block by block, and get each while it is in the processor's cache. By default all is asked for at once.
    ///
    /// # Errors
    /// As [`encode`](Self::encode), and errors of the source.
    fn encode_from(&self, source: &dyn Source, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut scratch = Scratch::take();
        self.encode(source.bytes(0..source.size(), &mut scratch)?, out)
    }

    /// Decodes all of `bytes` into `out`, which has a hard bound: exceeding it is an error, not an allocation.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::TooLong`], [`Error::Checksum`] or [`Error::Corrupt`].
    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error>;

    /// How far decoding notices that the bytes are others than those that were encoded, by `encoded`, where these are at hand: the form
    /// may have a checksum or not. By default not at all.
    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let _ = encoded;
        Protection::None
    }

    /// The decoded bytes where they lie within `bytes`, if decoding is but a check and a cut: checksums.
    fn decode_in_place<'b>(&self, bytes: &'b [u8]) -> Option<Result<&'b [u8], Error>> {
        let _ = bytes;
        None
    }

    /// The parts of `bytes` that can be decoded on their own, if there are several. Errors in `bytes` are left for
    /// [`decode`](Self::decode) to say.
    fn blocks<'b>(&self, bytes: &'b [u8]) -> Option<Box<dyn Blocks + 'b>> {
        let _ = bytes;
        None
    }
}

/// A codec of one of the three kinds.
#[derive(Clone, Debug)]
pub enum Codec {
    /// Array to array.
    ArrayToArray(Arc<dyn ArrayToArray>),
    /// Array to bytes.
    ArrayToBytes(Arc<dyn ArrayToBytes>),
    /// Bytes to bytes.
    BytesToBytes(Arc<dyn BytesToBytes>),
}
