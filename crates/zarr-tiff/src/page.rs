//! Pages of a file: their forms, and where their chunks lie.

use std::sync::Arc;

use crate::fault::{Failure, Refusal, TiffFault};
use crate::form::{Compression, Form};
use crate::ifd::{Ifd, Reader};
use crate::tags;

/// A page of reduced resolution, in the bits of NewSubfileType.
const REDUCED: u64 = 1;
/// A mask of another page.
const MASK: u64 = 4;

/// A page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) ifd: Ifd,
    pub(crate) form: Form,
    pub(crate) data: Arc<Data>,
    /// The offsets of the directories below this one.
    pub(crate) below: Vec<u64>,
    kind: u64,
}

/// Where the chunks of a page lie.
#[derive(Debug)]
pub(crate) enum Data {
    /// All planes lie one behind the other from this offset on, without compression.
    Flat(u64),
    /// Each chunk by itself, plane by plane, row by row.
    Chunks {
        offsets: Vec<u64>,
        counts: Vec<u64>,
        /// Tables that the JPEGs of the chunks have in common.
        tables: Option<Vec<u8>>,
    },
}

impl Page {
    /// Reads a page; a refusal for one that is not read here.
    pub(crate) fn read(reader: &Reader<'_>, ifd: &Ifd) -> Result<Result<Self, Refusal>, Failure> {
        let mut form = match Form::read(reader, ifd)? {
            Ok(form) => form,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let (of_offsets, of_counts) = match form.is_tiled {
            true => (tags::TILE_OFFSETS, tags::TILE_BYTE_COUNTS),
            false => (tags::STRIP_OFFSETS, tags::STRIP_BYTE_COUNTS),
        };
        let [down, across] = form.grid();
        let expected = down.checked_mul(across).and_then(|count| count.checked_mul(form.planes()));
        let expected = expected.unwrap_or(u64::MAX);
        // Some old writers call the offsets of tiles those of strips.
        let first = if ifd.get(of_offsets).is_some() { of_offsets } else { tags::STRIP_OFFSETS };
        let Some(mut offsets) = reader.numbers(ifd, first)? else {
            return Err(ifd.fault(first, "none", "the offsets of the chunks").into());
        };
        let short =
            |tag, found: usize| ifd.fault(tag, format!("{found} values"), format!("{expected}, one for each chunk"));
        if (offsets.len() as u64) < expected {
            return Err(short(first, offsets.len()).into());
        }
        offsets.truncate(usize::try_from(expected).unwrap_or(usize::MAX));
        let second = if ifd.get(of_counts).is_some() { of_counts } else { tags::STRIP_BYTE_COUNTS };
        let mut counts = match reader.numbers(ifd, second)? {
            Some(counts) => counts,
            None if form.compression == Compression::None => stored_sizes(&form),
            None => return Err(ifd.fault(second, "none", "the numbers of bytes of the chunks").into()),
        };
        if counts.len() < offsets.len() {
            return Err(short(second, counts.len()).into());
        }
        counts.truncate(offsets.len());
        let size = reader.source.size();
        for (chunk, (offset, count)) in offsets.iter_mut().zip(&mut counts).enumerate() {
            if *offset == 0 || *count == 0 {
                (*offset, *count) = (0, 0);
            } else if offset.checked_add(*count).is_none_or(|end| end > size) {
                let found = format!("chunk {chunk} of {count} bytes at byte {offset}");
                return Err(ifd.fault(first, found, format!("one inside the file of {size} bytes")).into());
            }
        }
        let tables = if form.compression == Compression::Jpeg { reader.raw(ifd, tags::JPEG_TABLES)? } else { None };
        let below = reader.numbers(ifd, tags::SUB_IFDS)?.unwrap_or_default();
        let kind = reader.number(ifd, tags::NEW_SUBFILE_TYPE, 0)?;
        let flat = flat(&form, &offsets, &counts);
        form.is_flat = flat.is_some();
        if form.is_flat {
            form.chunk_height = form.height;
        } else if form.chunk_bytes() > crate::form::MAX_CHUNK && !form.is_tiled {
            return Ok(Err(Refusal::new("large strips that do not lie one behind the other are not read")));
        }
        let data = Arc::new(flat.map_or(Data::Chunks { offsets, counts, tables }, Data::Flat));
        Ok(Ok(Self { ifd: ifd.clone(), form, data, below, kind }))
    }

    pub(crate) fn is_reduced(&self) -> bool {
        self.kind & REDUCED != 0
    }

    pub(crate) fn is_mask(&self) -> bool {
        self.kind & MASK != 0
    }

    /// Pages without directories of their own that follow this one in the file: how many there are.
    pub(crate) fn following(&self, size: u64) -> u64 {
        let Data::Flat(at) = *self.data else { return 1 };
        let bytes = self.bytes();
        u64::try_from(u128::from(size.saturating_sub(at)) / bytes.max(1)).unwrap_or(u64::MAX)
    }

    /// Bytes of all planes of a page whose chunks lie one behind the other.
    fn bytes(&self) -> u128 {
        self.form.plane_bytes() * u128::from(self.form.planes())
    }

    /// The chunks of a page without a directory that follows this one.
    pub(crate) fn follower(&self, number: u64) -> Result<Arc<Data>, TiffFault> {
        let at = match *self.data {
            Data::Flat(at) => u64::try_from(self.bytes() * u128::from(number) + u128::from(at)).ok(),
            Data::Chunks { .. } => None,
        };
        let fault =
            || self.ifd.fault(tags::STRIP_OFFSETS, "compressed or tiled chunks", "pages that follow each other");
        at.map(|at| Arc::new(Data::Flat(at))).ok_or_else(fault)
    }
}

/// Sizes of the chunks of a page that is not compressed.
fn stored_sizes(form: &Form) -> Vec<u64> {
    let [down, across] = form.grid();
    let row = form.row_bytes();
    let rows = (0..down).map(|at| match form.is_tiled {
        true => form.chunk_height,
        false => form.chunk_height.min(form.height - at * form.chunk_height),
    });
    let of_plane = rows.flat_map(|rows| (0..across).map(move |_| row.saturating_mul(rows)));
    (0..form.planes()).flat_map(|_| of_plane.clone()).collect()
}

/// Where planes begin that lie one behind the other as they are.
fn flat(form: &Form, offsets: &[u64], counts: &[u64]) -> Option<u64> {
    let is_whole = !form.is_tiled || (form.chunk_width == form.width && form.height.is_multiple_of(form.chunk_height));
    let first = offsets.first().copied().filter(|first| *first != 0 && form.is_plain() && is_whole)?;
    let mut end = first;
    for ((offset, count), size) in offsets.iter().zip(counts).zip(stored_sizes(form)) {
        if *offset != end || *count != size {
            return None;
        }
        end += size;
    }
    Some(first)
}
