//! Pages of a column: their headers, and their decompressed content.

use std::borrow::Cow;
use std::io::Read;

use super::footer::ColumnChunk;
use super::thrift::Reader;
use super::{Bad, Budget};

type Result<T> = std::result::Result<T, Bad>;

/// Number of the encoding PLAIN of values; the three constants below are further encodings.
pub(super) const PLAIN: i64 = 0;
pub(super) const PLAIN_DICTIONARY: i64 = 2;
const RLE: i64 = 3;
pub(super) const RLE_DICTIONARY: i64 = 8;

/// Number of the kind of a page of data, version 1; the three constants below are further kinds of pages.
pub(super) const DATA: i64 = 0;
const INDEX: i64 = 1;
pub(super) const DICTIONARY: i64 = 2;
const DATA_2: i64 = 3;

/// Number of the compression codec zstd; the three constants below are further codecs.
pub(super) const ZSTD: i64 = 6;
const UNCOMPRESSED: i64 = 0;
const SNAPPY: i64 = 1;
const GZIP: i64 = 2;

/// Page of a column in a group of rows.
pub(super) enum Page<'f> {
    Dictionary { count: usize, values: Cow<'f, [u8]> },
    Data(Data<'f>),
}

/// Page that contains values of rows.
pub(super) struct Data<'f> {
    pub(super) rows: usize,
    pub(super) encoding: i64,
    content: Cow<'f, [u8]>,
    /// Definition levels, which say which values are not null, as runs.
    levels: Levels<'f>,
}

enum Levels<'f> {
    /// The page has no levels, since no value is null.
    None,
    /// The levels are at the beginning of the content, preceded by their length; the values follow.
    Inside,
    Before(&'f [u8]),
}

impl Data<'_> {
    /// Returns the levels as runs, `None` if no value is null, and the encoded values.
    pub(super) fn parts(&self) -> Result<(Option<&[u8]>, &[u8])> {
        match &self.levels {
            Levels::None => Ok((None, &self.content)),
            Levels::Before(levels) => Ok((Some(levels), &self.content)),
            Levels::Inside => {
                let parts = self
                    .content
                    .split_first_chunk::<4>()
                    .and_then(|(len, rest)| rest.split_at_checked(usize::try_from(u32::from_le_bytes(*len)).ok()?));
                let (levels, values) =
                    parts.ok_or_else(|| Bad::page("levels that are cut off", "their length and their runs"))?;
                Ok((Some(levels), values))
            }
        }
    }
}

#[derive(Default)]
struct Header {
    kind: i64,
    size: i64,
    compressed: i64,
    values: i64,
    encoding: i64,
    level_encoding: Option<i64>,
    /// Number of bytes of the definition levels before the values of a page of version 2.
    levels: i64,
    repetitions: i64,
    is_compressed: bool,
}

/// Position in the pages of a column in a group of rows.
pub(super) struct Pages<'f> {
    file: &'f [u8],
    at: usize,
    end: usize,
    codec: i64,
    is_optional: bool,
}

impl<'f> Pages<'f> {
    pub(super) fn new(file: &'f [u8], chunk: &ColumnChunk, is_optional: bool) -> Result<Self> {
        let end = chunk.start.checked_add(chunk.size).filter(|end| *end <= file.len() as u64);
        let range = end.and_then(|end| Some((usize::try_from(chunk.start).ok()?, usize::try_from(end).ok()?)));
        let (at, end) = range.ok_or_else(|| {
            let found = format!("bytes {} and {} more", chunk.start, chunk.size);
            Bad::page(found, &format!("pages inside of the {} bytes of the file", file.len()))
        })?;
        Ok(Self { file, at, end, codec: chunk.codec, is_optional })
    }

    /// Reads and decompresses the next page.
    pub(super) fn next(&mut self, budget: &mut Budget) -> Result<Page<'f>> {
        loop {
            let rest = &self.file[self.at..self.end];
            let mut reader = Reader::new(rest, self.at as u64);
            let header = header(&mut reader)?;
            let size = usize::try_from(header.compressed).ok();
            let content = size.and_then(|size| rest.get(reader.at()..)?.get(..size)).ok_or_else(|| {
                let found = format!("a page of {} bytes", header.compressed);
                Bad::new(format!("byte {}", self.at), found, "one that ends with its column")
            })?;
            self.at += reader.at() + content.len();
            if header.kind != INDEX {
                return self.page(&header, content, budget);
            }
        }
    }

    /// Makes a page of the bytes `content` that follow its header.
    fn page(&self, header: &Header, content: &'f [u8], budget: &mut Budget) -> Result<Page<'f>> {
        let count = usize::try_from(header.values).map_err(|_| negative(header.values, "the number of values"))?;
        let size = usize::try_from(header.size).map_err(|_| negative(header.size, "the size of a page"))?;
        match header.kind {
            DICTIONARY => match header.encoding {
                PLAIN | PLAIN_DICTIONARY => {
                    Ok(Page::Dictionary { count, values: decompress(self.codec, content, size, budget)? })
                }
                encoding => Err(Bad::page(format!("a dictionary of encoding {encoding}"), "PLAIN")),
            },
            DATA => {
                if let Some(encoding) = header.level_encoding.filter(|encoding| self.is_optional && *encoding != RLE) {
                    return Err(Bad::page(format!("levels of encoding {encoding}"), "RLE"));
                }
                let content = decompress(self.codec, content, size, budget)?;
                let levels = if self.is_optional { Levels::Inside } else { Levels::None };
                Ok(Page::Data(Data { rows: count, encoding: header.encoding, content, levels }))
            }
            DATA_2 => {
                let parts = usize::try_from(header.levels).ok().and_then(|levels| content.split_at_checked(levels));
                let (levels, values) = parts.filter(|_| header.repetitions == 0).ok_or_else(|| {
                    let found = format!("levels of {} and {} bytes", header.repetitions, header.levels);
                    Bad::page(found, "none of repetitions, and others inside of the page")
                })?;
                let values_size = size.checked_sub(levels.len());
                let size = values_size.ok_or_else(|| {
                    let found = format!("levels of {} bytes in a page of {size}", levels.len());
                    Bad::page(found, "levels that are not longer than the page")
                })?;
                let codec = if header.is_compressed { self.codec } else { UNCOMPRESSED };
                let content = decompress(codec, values, size, budget)?;
                let levels = if self.is_optional { Levels::Before(levels) } else { Levels::None };
                Ok(Page::Data(Data { rows: count, encoding: header.encoding, content, levels }))
            }
            kind => Err(Bad::page(format!("a page of kind {kind}"), "one of data or of a dictionary")),
        }
    }
}

fn header(reader: &mut Reader<'_>) -> Result<Header> {
    let (mut header, mut last) = (Header { kind: -1, is_compressed: true, ..Header::default() }, 0);
    while let Some((number, kind)) = reader.field(&mut last)? {
        match number {
            1 => header.kind = reader.integer(kind)?,
            2 => header.size = reader.integer(kind)?,
            3 => header.compressed = reader.integer(kind)?,
            // Headers of a page of data, of a dictionary, and of a page of data of version 2.
            5 | 7 | 8 => {
                reader.structure(kind)?;
                let mut last = 0;
                while let Some((inner, kind)) = reader.field(&mut last)? {
                    match (number, inner) {
                        (_, 1) => header.values = reader.integer(kind)?,
                        (5 | 7, 2) | (8, 4) => header.encoding = reader.integer(kind)?,
                        (5, 3) => header.level_encoding = Some(reader.integer(kind)?),
                        (8, 5) => header.levels = reader.integer(kind)?,
                        (8, 6) => header.repetitions = reader.integer(kind)?,
                        (8, 7) => header.is_compressed = reader.boolean(kind)?,
                        _ => reader.skip(kind)?,
                    }
                }
            }
            _ => reader.skip(kind)?,
        }
    }
    Ok(header)
}

/// Makes the error of a number of a page header that is negative.
fn negative(found: i64, what: &str) -> Bad {
    Bad::page(format!("{found} as {what}"), "an integer that is not negative")
}

/// Decompresses the content of a page. A content that does not have `size` bytes is an error.
fn decompress<'f>(codec: i64, bytes: &'f [u8], size: usize, budget: &mut Budget) -> Result<Cow<'f, [u8]>> {
    budget.spend(size as u64)?;
    let by = |name: &str, reason: String| Bad::page(format!("bytes that are no {name}: {reason}"), "a compressed page");
    let content = match codec {
        UNCOMPRESSED => Cow::Borrowed(bytes),
        SNAPPY => {
            let len = snap::raw::decompress_len(bytes).map_err(|error| by("snappy", error.to_string()))?;
            if len == size {
                let content = snap::raw::Decoder::new().decompress_vec(bytes);
                Cow::Owned(content.map_err(|error| by("snappy", error.to_string()))?)
            } else {
                return Err(Bad::page(format!("{len} bytes"), &format!("{size} bytes of a page")));
            }
        }
        GZIP => {
            let mut content = Vec::new();
            // One byte more than `size` shows that the content is longer.
            let decoded = flate2::read::MultiGzDecoder::new(bytes).take(size as u64 + 1).read_to_end(&mut content);
            decoded.map_err(|error| by("gzip", error.to_string()))?;
            Cow::Owned(content)
        }
        ZSTD => {
            let mut content = Vec::new();
            let decoded = zstd::stream::read::Decoder::with_buffer(bytes)
                .and_then(|decoder| decoder.take(size as u64 + 1).read_to_end(&mut content));
            decoded.map_err(|error| by("zstd", error.to_string()))?;
            Cow::Owned(content)
        }
        codec => {
            const NAMES: [&str; 8] = ["", "", "", "LZO", "BROTLI", "LZ4", "", "LZ4_RAW"];
            let name = usize::try_from(codec).ok().and_then(|codec| NAMES.get(codec)).unwrap_or(&"an unknown codec");
            return Err(Bad::page(format!("compression by {name}"), "zstd, snappy, gzip or none"));
        }
    };
    if content.len() != size {
        return Err(Bad::page(format!("{} bytes", content.len()), &format!("{size} bytes of a page")));
    }
    Ok(content)
}
