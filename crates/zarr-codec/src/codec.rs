//! The traits of the three kinds of codecs: array to array, array to bytes and bytes to bytes.

use crate::decode::{Access, Decode};
use crate::{Blocks, ElementSpec, EncodeSplit, Error, Patch, Protection, Scratch, Sink, Size, Source, View, ViewMut};
use std::fmt::Debug;
use std::sync::Arc;
use zarr_grid::{Region, Shape};

/// Codec that turns a chunk into another chunk: transpose, delta, scale.
///
/// Built from metadata and bound to an element type; the shape is given per call, since chunks of rectilinear grids differ.
pub trait ArrayToArray: Debug + Send + Sync {
    /// Returns the data type and fill value of encoded elements.
    fn encoded(&self) -> &ElementSpec;

    /// Returns the shape of the encoded chunk for a decoded chunk of `shape`.
    ///
    /// # Errors
    /// [`Error::Metadata`] if the codec cannot take chunks of `shape`.
    fn encoded_shape(&self, shape: &[u64]) -> Result<Shape, Error>;

    /// Returns the number of elements of the decoded one-dimensional chunk whose encoded elements are the bytes `encoded`; `None` if no
    /// chunk encodes to these bytes. By default encoded and decoded chunks have the same number of elements.
    fn decoded_count(&self, encoded: &[u8]) -> Option<u64> {
        let item = self.encoded().item_size();
        (item > 0 && encoded.len().is_multiple_of(item)).then(|| (encoded.len() / item) as u64)
    }

    /// Returns the axis order if permuting axes is all that this codec does: encoded axis `i` is decoded axis `order[i]`. No byte is moved
    /// for such a codec: the axes of views are permuted, and `encode` and `decode` are not called.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// Encodes a whole chunk into `out`, which has the encoded shape and elements.
    ///
    /// # Errors
    /// [`Error::Encode`] for values that cannot be encoded.
    fn encode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error>;

    /// Decodes a whole `chunk`, which has the encoded shape and elements, into `out`.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for invalid values.
    fn decode(&self, chunk: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error>;
}

/// Codec that turns a chunk into bytes: `bytes`, `vlen-utf8`, `sharding_indexed`.
pub trait ArrayToBytes: Debug + Send + Sync {
    /// Checks that chunks of `shape` can be encoded. Called when an array is opened.
    ///
    /// # Errors
    /// [`Error::Metadata`] if chunks cannot be encoded, as if inner chunks do not divide the shard.
    fn check(&self, shape: &[u64]) -> Result<(), Error> {
        let _ = shape;
        Ok(())
    }

    /// Returns the number of bytes of an encoded chunk of `shape`.
    fn encoded_size(&self, shape: &[u64]) -> Size;

    /// Whether the encoded bytes are equal to the elements in memory, in C order. If so, the last decompressor writes into the output,
    /// which is then [normalized](Self::normalize); and elements are [checked](Self::check_items) and copied instead of encoded.
    fn is_memory_order(&self) -> bool {
        false
    }

    /// Converts decoded elements to their form in memory, in place. Called for codecs in [memory order](Self::is_memory_order), whose
    /// elements are decoded by copying them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for invalid elements.
    fn normalize(&self, items: &mut [u8]) -> Result<(), Error> {
        let _ = items;
        Ok(())
    }

    /// Checks that elements can be encoded by copying them. Called for codecs in [memory order](Self::is_memory_order).
    ///
    /// # Errors
    /// [`Error::Encode`] for invalid elements.
    fn check_items(&self, items: &[u8]) -> Result<(), Error> {
        let _ = items;
        Ok(())
    }

    /// Returns how reliably decoding detects changed bytes. `encoded` are the bytes of a chunk, if the caller has them: nested codecs may
    /// tell more from the bytes. The default is [`Protection::None`].
    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let _ = encoded;
        Protection::None
    }

    /// Returns the number of bytes of an encoded element if an encoded chunk consists of its elements in C order and nothing else.
    /// [`scatter`](Self::scatter) then decodes any of the elements. `None` by default.
    fn encoded_item_size(&self) -> Option<usize> {
        None
    }

    /// Decodes the encoded elements `items` into `out`, which has the same shape.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for invalid elements; [`Error::Unsupported`] without an
    /// [encoded element's size](Self::encoded_item_size).
    fn scatter(&self, items: &View<'_>, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let _ = (items, out);
        Err(Error::Unsupported { codec: "", what: "elements are not encoded one by one".to_owned() })
    }

    /// Returns the shape of the smallest part of a chunk of `shape` that can be decoded on its own: the inner chunk of a shard. `None` (the
    /// default): only whole chunks are decoded.
    fn part_shape(&self, shape: &[u64]) -> Option<Shape> {
        let _ = shape;
        None
    }

    /// Encodes `chunk` and appends the bytes to `out`.
    ///
    /// # Errors
    /// [`Error::Encode`] for values that cannot be encoded.
    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error>;

    /// Decodes `region` of a chunk of `shape` into `out`, which has the shape of the region. `encoded` has all bytes of the chunk.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::TooLong`] or [`Error::Corrupt`] if `encoded` is no such chunk.
    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error>;

    /// Starts a decode of `region` that asks for the byte ranges that it needs. `None` (the default): the decode needs all bytes of the
    /// chunk, and is done by [`decode`](Self::decode).
    fn partial(self: Arc<Self>, shape: &[u64], region: &Region, access: &Access) -> Option<Box<dyn Decode>> {
        let _ = (shape, region, access);
        None
    }

    /// Replaces the elements of `patch` in the encoded chunk `old` (`None`: a chunk of fill values) and appends the new encoded chunk to
    /// `out`, if this is cheaper than decoding and encoding the whole chunk. `None` (the default): the codec has no such way.
    fn patch(&self, old: Option<&[u8]>, patch: &Patch<'_>, out: &mut Vec<u8>) -> Option<Result<(), Error>> {
        let _ = (old, patch, out);
        None
    }

    /// Splits an encode into runs of inner chunks that can be encoded at the same time: an encode of the whole chunk if `region` is the
    /// whole chunk and `old` is `None`, a [`patch`](Self::patch) of `region` otherwise. `None` (the default): the chunk can only be encoded
    /// as a whole.
    ///
    /// # Errors
    /// Errors of decoding if `old` is not an encoded chunk.
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

/// Codec that turns bytes into bytes: compressors, checksums.
pub trait BytesToBytes: Debug + Send + Sync {
    /// Returns the name of the codec, for errors about the decoded size.
    fn name(&self) -> &'static str;

    /// Checks that chunks can be encoded and decoded if the input of this codec has `decoded` bytes. Called when an array is opened.
    ///
    /// # Errors
    /// [`Error::Metadata`] or [`Error::Unsupported`] if chunks cannot be encoded or decoded.
    fn check(&self, decoded: Size) -> Result<(), Error> {
        let _ = decoded;
        Ok(())
    }

    /// Returns the number of bytes of an encoded value whose decoded size is `decoded`.
    fn encoded_size(&self, decoded: Size) -> Size;

    /// Encodes `bytes` and appends the result to `out`.
    ///
    /// # Errors
    /// [`Error::Encode`] for input that cannot be encoded: too long for the format.
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Error>;

    /// Encodes the bytes of `source` and appends the result to `out`. Codecs that take their input block by block override the method, so
    /// that each block is in the processor's cache when it is encoded. The default asks `source` for all bytes at once.
    ///
    /// # Errors
    /// The errors of [`encode`](Self::encode) and of the source.
    fn encode_from(&self, source: &dyn Source, out: &mut Vec<u8>) -> Result<(), Error> {
        let mut scratch = Scratch::take();
        self.encode(source.bytes(0..source.size(), &mut scratch)?, out)
    }

    /// Decodes all of `bytes` into `out`. `out` has a hard bound: a longer result is an error, not an allocation.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::TooLong`], [`Error::Checksum`] or [`Error::Corrupt`].
    fn decode(&self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error>;

    /// Returns how reliably decoding detects changed bytes. `encoded` are encoded bytes, if the caller has them: some formats have an
    /// optional checksum. The default is [`Protection::None`].
    fn protection(&self, encoded: Option<&[u8]>) -> Protection {
        let _ = encoded;
        Protection::None
    }

    /// Decodes without a copy: returns the part of `bytes` that is the decoded value, as checksum codecs can. `None` (the default):
    /// decoding changes the bytes.
    fn decode_in_place<'b>(&self, bytes: &'b [u8]) -> Option<Result<&'b [u8], Error>> {
        let _ = bytes;
        None
    }

    /// Returns the blocks of `bytes` that can be decoded on their own; `None` if there are not several. Errors in `bytes` are left for
    /// [`decode`](Self::decode) to report.
    fn blocks<'b>(&self, bytes: &'b [u8]) -> Option<Box<dyn Blocks + 'b>> {
        let _ = bytes;
        None
    }
}

/// Codec of one of the three kinds.
#[derive(Clone, Debug)]
pub enum Codec {
    /// Codec that turns an array into an array.
    ArrayToArray(Arc<dyn ArrayToArray>),
    /// Codec that turns an array into bytes.
    ArrayToBytes(Arc<dyn ArrayToBytes>),
    /// Codec that turns bytes into bytes.
    BytesToBytes(Arc<dyn BytesToBytes>),
}
