//! Chunks whose stored bytes no Zarr codec can decode, and which this crate converts.

use std::fmt;
use std::sync::Arc;

use hdf5_reader::ByteOrder;
use hdf5_reader::FilterRegistry;
use hdf5_reader::filters::apply_pipeline_with_limit;
use hdf5_reader::messages::filter_pipeline::FilterDescription;
use zarr_store::{Bytes, Error, ErrorKind, Result};
use zarr_store_virtual::MakeChunk;

use crate::element_type::{Content, Stored, append_elements, made_size};
use crate::fault::{Fault, Refusal};
use crate::file::File;
use crate::filters::registry;
use crate::heap::Reference;
use crate::layout::{Place, StoredChunks};
use crate::wrap::SHUFFLE;

/// Maximum number of bytes of a converted chunk.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// Converter of the chunks of a data set: decodes the filters, and converts elements to the form of Zarr.
pub(crate) struct Maker {
    file: Arc<File>,
    /// Path of the data set, for messages.
    path: String,
    places: StoredChunks,
    filters: Vec<FilterDescription>,
    registry: FilterRegistry,
    stored: Stored,
    /// Number of bytes of an element in the file; of an inner element for array types.
    size: usize,
    /// Number of bytes of an element for the filters: that of the whole array for array types, unless the shuffle filter gives another.
    filtered: usize,
    /// Number of elements of a chunk; of inner elements for array types.
    count: usize,
}

impl Maker {
    /// Creates the converter of the chunks at `places`, each of `count` elements. Refuses chunks of more than [`MAX_BYTES`].
    pub(crate) fn new(
        file: Arc<File>,
        path: &str,
        places: StoredChunks,
        filters: &[FilterDescription],
        stored: Stored,
        count: u64,
    ) -> Result<Self, Refusal> {
        let size = match stored.content {
            Content::Fixed(_) => stored.size,
            Content::Texts | Content::Lists { .. } => Reference::size(file.sizes()),
        };
        // For filters the array of an array type is one element.
        let inner = match stored.content {
            Content::Fixed(_) => stored.count().unwrap_or(usize::MAX),
            Content::Texts | Content::Lists { .. } => 1,
        };
        let shuffled = filters.iter().find(|filter| filter.id == SHUFFLE);
        let shuffled = shuffled.and_then(|filter| filter.client_data.first()).map(|size| *size as usize);
        let filtered = shuffled.filter(|size| *size > 0).unwrap_or(size.saturating_mul(inner));
        let count = usize::try_from(count).ok().filter(|count| {
            u32::try_from(*count).is_ok() && count.checked_mul(size).is_some_and(|bytes| bytes <= MAX_BYTES)
        });
        let too_large = || {
            Refusal::new(format!(
                "its chunks are larger than {MAX_BYTES} bytes, which is the limit for those that are not read as they lie in the file"
            ))
        };
        let count = count.ok_or_else(too_large)?;
        let (filters, path) = (filters.to_vec(), path.to_owned());
        Ok(Self { file, path, places, registry: registry(count * size + ROOM), filters, stored, size, filtered, count })
    }

    fn bytes(&self, number: u32) -> Result<Bytes, Failure> {
        let raw = match &self.places {
            StoredChunks::Inline(data) => self.elements(data, 0)?,
            StoredChunks::At(places) => {
                let place = places.get(number as usize).ok_or_else(|| Refusal::new("there is no such chunk"))?;
                let Place { offset, size, mask, .. } = *place;
                let raw = self.file.source.get(offset, offset.saturating_add(size)).map_err(Failure::Store)?;
                self.elements(&raw, mask)?
            }
        };
        let mut out = Vec::new();
        match &self.stored.content {
            Content::Fixed(parts) => append_elements(parts, self.size, &raw, ByteOrder::LittleEndian, &mut out),
            Content::Texts => self.append_all(&raw, 1, &mut out, |text, out| {
                let text = text.strip_suffix(b"\0").unwrap_or(text);
                std::str::from_utf8(text).map_err(|_| Refusal::new("a text is not UTF-8"))?;
                out.extend_from_slice(text);
                Ok(())
            })?,
            Content::Lists { size, parts, .. } => self.append_all(&raw, *size, &mut out, |items, out| {
                append_elements(parts, *size, items, ByteOrder::LittleEndian, out);
                Ok(())
            })?,
        }
        Ok(out.into())
    }

    /// Returns the elements of the stored chunk `raw`, decoded by all filters that are not in `mask`.
    fn elements(&self, raw: &[u8], mask: u32) -> Result<Vec<u8>, Refusal> {
        let expected = self.count * self.size;
        let elements = if self.filters.is_empty() {
            raw.to_vec()
        } else {
            let limit = Some(expected + ROOM);
            self.file.guard(|| {
                apply_pipeline_with_limit(raw, &self.filters, mask, self.filtered, Some(&self.registry), limit)
            })?
        };
        if elements.len() != expected {
            return Err(Refusal::new(format!("found {} bytes of elements, expected {expected}", elements.len())));
        }
        Ok(elements)
    }

    /// Appends the number of elements, and then each element after its length, in the format of the codecs `vlen-utf8` and `vlen-array`.
    /// `append` converts the bytes of one element.
    fn append_all(
        &self,
        raw: &[u8],
        size: usize,
        out: &mut Vec<u8>,
        append: impl Fn(&[u8], &mut Vec<u8>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let length = |len: usize| u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes();
        out.extend(length(self.count));
        for (index, item) in raw.chunks_exact(self.size).enumerate() {
            let cut_off = || Refusal::new("a reference is cut off");
            let reference = Reference::parse(self.file.sizes(), item).ok_or_else(cut_off)?;
            let at = out.len();
            out.extend([0; 4]);
            let appended = self.file.element(reference, size, |bytes| {
                if bytes.len() > MAX_BYTES.saturating_sub(out.len()) {
                    return Err(Refusal::new(format!("the chunk has more than {MAX_BYTES} bytes")));
                }
                append(bytes, out)
            });
            appended
                .and_then(|appended| appended)
                .map_err(|fault| Refusal::new(format!("element {index}: {fault}")))?;
            let len = length(out.len() - at - 4);
            out[at..at + 4].copy_from_slice(&len);
        }
        Ok(())
    }
}

/// Maximum number of bytes by which checksums make a chunk longer between filters.
const ROOM: usize = 64;

enum Failure {
    Store(Error),
    Fault(Refusal),
}

impl From<Refusal> for Failure {
    fn from(fault: Refusal) -> Self {
        Self::Fault(fault)
    }
}

impl MakeChunk for Maker {
    fn size(&self, number: u32) -> Result<u64> {
        match &self.stored.content {
            Content::Fixed(parts) => Ok(self.count as u64 * made_size(parts) as u64),
            Content::Texts | Content::Lists { .. } => self.make(number).map(|bytes| bytes.len() as u64),
        }
    }

    fn make(&self, number: u32) -> Result<Bytes> {
        // A failure of an earlier chunk in this thread is not of this chunk.
        self.file.source.take_failure();
        self.bytes(number).map_err(|failure| match failure {
            Failure::Store(error) => error,
            Failure::Fault(fault) => self.file.source.take_failure().unwrap_or_else(|| {
                let fault = Fault::new(format!("data set {}, chunk {number}: {fault}", self.path));
                Error::Format { store: self.file.source.to_string(), kind: ErrorKind::Invalid, fault: Box::new(fault) }
            }),
        })
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Maker").field("path", &self.path).field("stored", &self.stored).finish_non_exhaustive()
    }
}
