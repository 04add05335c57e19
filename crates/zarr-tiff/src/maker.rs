//! Chunks that no codec of Zarr takes as they lie in the file.

use std::fmt;
use std::sync::Arc;

use zarr_store::{Bytes, Result};
use zarr_store_virtual::{MakeChunk, zlib_copy, zlib_copy_size, zstd_copy, zstd_copy_size};

use crate::TiffFault;
use crate::decode;
use crate::fault::Refusal;
use crate::form::{Compression, Form};
use crate::source::Source;

/// Where the bytes of a chunk are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// The page, by its number in the array, and whether the chunk has the rows of a whole one.
    pub(crate) page: u32,
    pub(crate) is_whole: bool,
    /// The number of the chunk in the tables of the page.
    pub(crate) chunk: u64,
}

/// Makes chunks: decodes them to elements, or, where the codecs of the array expect a compressed chunk, wraps their elements.
pub(crate) struct Maker {
    pub(crate) source: Arc<Source>,
    /// The path of the array.
    pub(crate) path: String,
    pub(crate) form: Form,
    pub(crate) places: Vec<Place>,
    /// The tables of each page, for JPEG.
    pub(crate) tables: Vec<Option<Arc<[u8]>>>,
}

impl Maker {
    fn bytes(&self, place: Place) -> Result<std::result::Result<Bytes, Refusal>> {
        let stored = self.source.get(place.offset..place.offset + place.length)?;
        let tables = self.tables.get(place.page as usize).and_then(Option::as_deref);
        Ok(self.decoded(&stored, tables, place.is_whole).map(Bytes::from))
    }

    fn decoded(&self, stored: &[u8], tables: Option<&[u8]>, is_whole: bool) -> std::result::Result<Vec<u8>, Refusal> {
        let form = &self.form;
        let rows = form.rows(is_whole);
        let size = usize::try_from(form.chunk_bytes()).map_err(|_| Refusal::new("it has too many bytes"))?;
        let is_direct = form.is_direct();
        let mut elements = match is_direct {
            true => decode::stored(form, stored, tables, rows)?,
            false => decode::elements(form, stored, tables, rows)?,
        };
        elements.resize(size, 0);
        Ok(match form.compression {
            Compression::Deflate if is_direct => zlib_copy(&elements),
            Compression::Zstd if is_direct => zstd_copy(&elements),
            _ => elements,
        })
    }
}

impl MakeChunk for Maker {
    fn size(&self, _: u32) -> Result<u64> {
        let size = self.form.chunk_bytes();
        Ok(match self.form.compression {
            Compression::Deflate if self.form.is_direct() => zlib_copy_size(size),
            Compression::Zstd if self.form.is_direct() => zstd_copy_size(size),
            _ => size,
        })
    }

    fn make(&self, number: u32) -> Result<Bytes> {
        let fault = |page, chunk, at, reason: &Refusal| {
            let (array, reason) = (self.path.clone(), reason.to_string());
            TiffFault::Chunk { array, page, chunk, at, reason }.of(&*self.source.name)
        };
        let place = self.places.get(number as usize);
        let place = place.ok_or_else(|| fault(0, u64::from(number), 0, &Refusal::new("there is no such chunk")))?;
        self.bytes(*place)?.map_err(|reason| fault(place.page, place.chunk, place.offset, &reason))
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker").field("path", &self.path).field("form", &self.form).finish_non_exhaustive()
    }
}
