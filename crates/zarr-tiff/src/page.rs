//! Pages of a file: their forms, and where their chunks lie.

use std::sync::Arc;

use crate::fault::{Failure, Refusal, TiffFault};
use crate::form::{Compression, Form};
use crate::ifd::{Ifd, Reader};
use crate::warnings::Warnings;
use crate::{shaped, tags};

/// Maximum number of levels of a series.
pub(crate) const MAX_LEVELS: usize = 64;

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
    /// The description, where it may say which pages are an array.
    pub(crate) description: Option<Arc<str>>,
    /// Hash of the tags of the place on Earth, if the page has such tags.
    pub(crate) place: Option<u64>,
    kind: u64,
}

/// Where the chunks of a page lie.
#[derive(Debug)]
pub(crate) enum Data {
    /// All planes lie one behind the other from this offset on, without compression, so that they may be cut anywhere.
    Flat(u64),
    /// Nothing is stored.
    Missing,
    /// Each chunk by itself, plane by plane, row by row.
    Chunks {
        offsets: Vec<u64>,
        counts: Vec<u64>,
        /// Tables that the JPEGs of the chunks have in common.
        tables: Option<Arc<[u8]>>,
    },
}

impl Data {
    /// Tables that the JPEGs of the chunks have in common.
    pub(crate) fn tables(&self) -> Option<Arc<[u8]>> {
        match self {
            Self::Chunks { tables, .. } => tables.clone(),
            _ => None,
        }
    }
}

impl Page {
    /// Reads a page; a refusal for one that is not read here.
    pub(crate) fn read(reader: &Reader<'_>, ifd: &Ifd) -> Result<Result<Self, Refusal>, Failure> {
        let form = match Form::read(reader, ifd)? {
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
        let Some(mut offsets) = reader.numbers(ifd, first, expected)? else {
            return Err(ifd.fault(first, "none", "the offsets of the chunks").into());
        };
        let short =
            |tag, found: usize| ifd.fault(tag, format!("{found} values"), format!("{expected}, one for each chunk"));
        if (offsets.len() as u64) < expected {
            return Err(short(first, offsets.len()).into());
        }
        let second = if ifd.get(of_counts).is_some() { of_counts } else { tags::STRIP_BYTE_COUNTS };
        let mut counts = match reader.numbers(ifd, second, expected)? {
            Some(counts) => counts,
            None if form.compression == Compression::None => stored_sizes(&form).collect(),
            None => return Err(ifd.fault(second, "none", "the numbers of bytes of the chunks").into()),
        };
        if counts.len() < offsets.len() {
            return Err(short(second, counts.len()).into());
        }
        let size = reader.source.size();
        for (chunk, (offset, count)) in offsets.iter_mut().zip(&mut counts).enumerate() {
            if *offset == 0 || *count == 0 {
                (*offset, *count) = (0, 0);
            } else if offset.checked_add(*count).is_none_or(|end| end > size) {
                let found = format!("chunk {chunk} of {count} bytes at byte {offset}");
                return Err(ifd.fault(first, found, format!("one inside the file of {size} bytes")).into());
            } else if form.compression != Compression::None && *count > form.most_stored() {
                let (bytes, most) = (form.chunk_bytes(), form.most_stored());
                return Ok(Err(Refusal::new(format!(
                    "chunk {chunk} has {count} bytes in the file for {bytes} bytes of samples, expected at most {most}"
                ))));
            }
        }
        let tables = if form.compression == Compression::Jpeg { reader.raw(ifd, tags::JPEG_TABLES)? } else { None };
        let kind = reader.number(ifd, tags::NEW_SUBFILE_TYPE, 0)?;
        let data = if counts.iter().all(|count| *count == 0) {
            Data::Missing
        } else if let Some(at) = flat(&form, &offsets, &counts) {
            Data::Flat(at)
        } else if form.chunk_bytes() > crate::form::MAX_CHUNK && !form.is_tiled {
            return Ok(Err(Refusal::new("large strips that do not lie one behind the other are not read")));
        } else {
            Data::Chunks { offsets, counts, tables: tables.map(Arc::from) }
        };
        Ok(Ok(Self {
            ifd: ifd.clone(),
            form,
            data: Arc::new(data),
            below: Vec::new(),
            description: None,
            place: None,
            kind,
        }))
    }

    /// Reads the page whose directory is at an offset; a refusal for one that is not read here, or is damaged.
    pub(crate) fn read_at(reader: &Reader<'_>, at: u64, number: usize) -> Result<Result<Self, Refusal>, Failure> {
        let ifd = match reader.ifd(at, number) {
            Ok(ifd) => ifd,
            Err(failure) => return failure.refusal().map(Err),
        };
        Self::read(reader, &ifd).or_else(|failure| failure.refusal().map(Err))
    }

    /// Whether pages without directories may follow this one.
    pub(crate) fn has_followers(&self) -> bool {
        matches!(*self.data, Data::Flat(_))
    }

    /// Reads the parts of a page that can be left out: the levels below it, and the description.
    pub(crate) fn read_parts(&mut self, reader: &Reader<'_>, warnings: &mut Warnings) -> Result<(), Failure> {
        let below = warnings.part(reader.numbers(&self.ifd, tags::SUB_IFDS, MAX_LEVELS as u64))?;
        self.below = below.unwrap_or_default();
        let text = warnings.part(reader.text(&self.ifd, tags::IMAGE_DESCRIPTION))?;
        self.description = text.filter(|text| self.ifd.page == 0 || shaped::is_shaped(text)).map(Arc::from);
        Ok(())
    }

    /// Whether another page is a part of the same array.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.form == other.form || self.form.of_array() == other.form.of_array()
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
            _ => None,
        };
        let fault =
            || self.ifd.fault(tags::STRIP_OFFSETS, "compressed or tiled chunks", "pages that follow each other");
        at.map(|at| Arc::new(Data::Flat(at))).ok_or_else(fault)
    }
}

/// Sizes of the chunks of a page that is not compressed.
pub(crate) fn stored_sizes(form: &Form) -> impl Iterator<Item = u64> {
    let [down, across] = form.grid();
    let (row, height, chunk_height, is_tiled) = (form.row_bytes(), form.height, form.chunk_height, form.is_tiled);
    let of_plane = move || {
        let rows = (0..down).map(move |at| match is_tiled {
            true => chunk_height,
            false => chunk_height.min(height - at * chunk_height),
        });
        rows.flat_map(move |rows| (0..across).map(move |_| row.saturating_mul(rows)))
    };
    (0..form.planes()).flat_map(move |_| of_plane())
}

/// Where planes begin that lie one behind the other as they are.
fn flat(form: &Form, offsets: &[u64], counts: &[u64]) -> Option<u64> {
    let first = offsets.first().copied().filter(|first| *first != 0 && form.is_of_rows())?;
    let mut end = first;
    for ((offset, count), size) in offsets.iter().zip(counts).zip(stored_sizes(form)) {
        if *offset != end || *count != size {
            return None;
        }
        end = end.checked_add(size)?;
    }
    Some(first)
}
