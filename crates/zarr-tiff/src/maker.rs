//! Chunks that no codec of Zarr takes as they lie in the file.

use std::fmt;
use std::sync::Arc;

use zarr_store::{Bytes, Result};
use zarr_store_virtual::MakeChunk;

use crate::TiffFault;
use crate::decode;
use crate::fault::Refusal;
use crate::form::{Compression, Form};
use crate::page::Data;
use crate::source::Source;

/// Where the bytes of a chunk are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// The page, by its number in the array, and whether the chunk has the rows of a whole one.
    pub(crate) page: u32,
    pub(crate) is_whole: bool,
}

/// Makes chunks: decodes them to elements, or, where the codecs of the array expect a compressed chunk, wraps their elements.
pub(crate) struct Maker {
    pub(crate) source: Arc<Source>,
    /// The path of the array.
    pub(crate) path: String,
    pub(crate) form: Form,
    pub(crate) places: Vec<Place>,
    pub(crate) pages: Vec<Option<Arc<Data>>>,
}

/// Maximum number of bytes of a stored block of deflate.
const DEFLATE_BLOCK: usize = 0xffff;
/// Maximum number of bytes of a block of Zstandard.
const ZSTD_BLOCK: usize = 1 << 17;

impl Maker {
    fn bytes(&self, place: Place) -> Result<std::result::Result<Bytes, Refusal>> {
        let stored = self.source.get(place.offset..place.offset + place.length)?;
        let page = self.pages.get(place.page as usize).and_then(Option::as_deref);
        let tables = match page {
            Some(Data::Chunks { tables, .. }) => tables.as_deref(),
            _ => None,
        };
        Ok(self.decoded(&stored, tables, place.is_whole).map(Bytes::from))
    }

    fn decoded(&self, stored: &[u8], tables: Option<&[u8]>, is_whole: bool) -> std::result::Result<Vec<u8>, Refusal> {
        let form = &self.form;
        let rows = match is_whole {
            true => form.chunk_height,
            false => form.height - (form.height - 1) / form.chunk_height * form.chunk_height,
        };
        let size = usize::try_from(form.chunk_bytes()).map_err(|_| Refusal::new("it has too many bytes"))?;
        let is_direct = form.is_direct();
        let mut elements = match is_direct {
            true => decode::stored(form, stored, tables, rows)?,
            false => decode::elements(form, stored, tables, rows)?,
        };
        elements.resize(size, 0);
        Ok(match form.compression {
            Compression::Deflate if is_direct => deflate(&elements),
            Compression::Zstd if is_direct => zstd(&elements),
            _ => elements,
        })
    }
}

impl MakeChunk for Maker {
    fn size(&self, _: u32) -> Result<u64> {
        let size = self.form.chunk_bytes();
        Ok(match self.form.compression {
            Compression::Deflate if self.form.is_direct() => size + 6 + 5 * size.div_ceil(DEFLATE_BLOCK as u64).max(1),
            Compression::Zstd if self.form.is_direct() => size + 13 + 3 * size.div_ceil(ZSTD_BLOCK as u64).max(1),
            _ => size,
        })
    }

    fn make(&self, number: u32) -> Result<Bytes> {
        let fault = |at, reason: &Refusal| {
            let (array, reason) = (self.path.clone(), reason.to_string());
            TiffFault::Chunk { array, chunk: number, at, reason }.of(&*self.source.name)
        };
        let place =
            self.places.get(number as usize).ok_or_else(|| fault(0, &Refusal::new("there is no such chunk")))?;
        self.bytes(*place)?.map_err(|reason| fault(place.offset, &reason))
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker").field("path", &self.path).field("form", &self.form).finish_non_exhaustive()
    }
}

/// A stream of zlib that is a copy.
fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    let mut blocks = bytes.chunks(DEFLATE_BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let len = block.len() as u16;
        out.push(u8::from(blocks.peek().is_none()));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend_from_slice(block);
    }
    let mut sum = simd_adler32::Adler32::new();
    sum.write(bytes);
    out.extend(sum.finish().to_be_bytes());
    out
}

/// A frame of Zstandard that is a copy.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xe0];
    out.extend((bytes.len() as u64).to_le_bytes());
    let mut blocks = bytes.chunks(ZSTD_BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        out.extend_from_slice(&header.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn copies_are_streams_of_their_bytes() {
        for len in [1, 7, DEFLATE_BLOCK, DEFLATE_BLOCK + 1, 200_000] {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            let (mut out, stream) = (Vec::new(), deflate(&bytes));
            flate2::read::ZlibDecoder::new(&*stream).read_to_end(&mut out).expect("a stream");
            assert_eq!(out, bytes);
            assert_eq!(stream.len(), len + 6 + 5 * len.div_ceil(DEFLATE_BLOCK));
            assert_eq!(zstd(&bytes).len(), len + 13 + 3 * len.div_ceil(ZSTD_BLOCK));
        }
    }
}
