//! Encoder of a file of references in Parquet: one group of rows with the columns `path`, `offset`, `size` and `raw`, as fsspec writes it.

use std::collections::HashMap;

use super::BYTE_ARRAY;
use super::page::{DATA, DICTIONARY, PLAIN, RLE_DICTIONARY, ZSTD};
use super::record::{OFFSET, PATH, RAW, SIZE};
use super::thrift::{BINARY, I32, STRUCT, Writer};

const INT64: i64 = 2;
/// Number of the encoding of levels.
const RLE: i64 = 3;
const LEVEL: i32 = 3;

/// Rows of a file that was not written yet.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Index of the path of each row in the list of different paths; `None` if the row has no path.
    paths: Vec<Option<u32>>,
    offsets: Vec<i64>,
    sizes: Vec<i64>,
    /// Number of bytes of each row in `raw_bytes`; `None` if the row has none.
    raws: Vec<Option<u32>>,
    raw_bytes: Vec<u8>,
    /// Distinct paths, in the order of their numbers.
    texts: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Sum of the lengths of the paths of all rows, in bytes.
    path_bytes: u64,
}

impl Rows {
    pub(super) fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether all rows are missing chunks.
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.raws.iter().all(Option::is_none)
    }

    /// Estimates the size of the columns in bytes without compression: not less than the size of the file.
    pub(super) fn size(&self) -> u64 {
        self.path_bytes + self.raw_bytes.len() as u64 + 32 * self.len() as u64
    }

    /// Appends missing chunks until there are `rows` rows.
    pub(super) fn fill(&mut self, rows: usize) {
        self.paths.resize(rows, None);
        self.offsets.resize(rows, 0);
        self.sizes.resize(rows, 0);
        self.raws.resize(rows, None);
    }

    pub(super) fn push_raw(&mut self, bytes: &[u8]) {
        let row = self.len();
        self.fill(row + 1);
        self.raws[row] = u32::try_from(bytes.len()).ok();
        self.raw_bytes.extend_from_slice(bytes);
    }

    pub(super) fn push_path(&mut self, url: &str, offset: i64, size: i64) {
        let row = self.len();
        self.fill(row + 1);
        self.path_bytes += url.len() as u64;
        self.offsets[row] = offset;
        self.sizes[row] = size;
        let is_last = |number: &u32| self.texts.get(*number as usize).is_some_and(|text| text == url);
        let last = row.checked_sub(1).and_then(|last| self.paths[last]).filter(is_last);
        self.paths[row] = last.or_else(|| self.numbers.get(url).copied()).or_else(|| {
            // The number of paths is at most the number of rows, which has 32 bits.
            let number = u32::try_from(self.texts.len()).ok()?;
            self.texts.push(url.to_owned());
            self.numbers.insert(url.to_owned(), number);
            Some(number)
        });
    }

    /// Returns the bytes of the file.
    pub(super) fn encode(&self) -> std::io::Result<Vec<u8>> {
        let mut file = File { bytes: b"PAR1".to_vec(), columns: Vec::new(), rows: self.len() };
        let is_there = |values: &[Option<u32>]| levels(values.iter().map(Option::is_some));
        let mut page = is_there(&self.paths);
        let indexes: Vec<u32> = self.paths.iter().flatten().copied().collect();
        let nulls = self.len() - indexes.len();
        if indexes.is_empty() {
            file.column(PATH, BYTE_ARRAY, nulls, None, &page)?;
        } else {
            // The column always has a dictionary: pandas 3 reads null in plain strings as NaN, which fsspec does not treat as a missing
            // chunk.
            let mut texts = Vec::new();
            self.texts.iter().for_each(|text| put_text(&mut texts, text.as_bytes()));
            put_indexes(&mut page, &indexes, self.texts.len());
            file.column(PATH, BYTE_ARRAY, nulls, Some((self.texts.len(), &texts)), &page)?;
        }
        for (name, values) in [(OFFSET, &self.offsets), (SIZE, &self.sizes)] {
            let page: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            file.column(name, INT64, 0, None, &page)?;
        }
        let (mut page, mut at) = (is_there(&self.raws), 0);
        for len in self.raws.iter().flatten() {
            let end = at + *len as usize;
            put_text(&mut page, self.raw_bytes.get(at..end).unwrap_or_default());
            at = end;
        }
        let nulls = self.raws.iter().filter(|raw| raw.is_none()).count();
        file.column(RAW, BYTE_ARRAY, nulls, None, &page)?;
        Ok(file.end())
    }
}

/// File that is being written.
struct File {
    bytes: Vec<u8>,
    columns: Vec<Column>,
    rows: usize,
}

struct Column {
    name: &'static str,
    kind: i64,
    dictionary: Option<usize>,
    data: usize,
    nulls: usize,
    /// Bytes of the pages with their headers, before and after compression.
    sizes: (usize, usize),
}

impl File {
    fn column(
        &mut self,
        name: &'static str,
        kind: i64,
        nulls: usize,
        dictionary: Option<(usize, &[u8])>,
        page: &[u8],
    ) -> std::io::Result<()> {
        let start = self.bytes.len();
        let mut size = 0;
        if let Some((count, texts)) = dictionary {
            size += self.page(texts, DICTIONARY, |header| {
                header.structure(7).i32(1, number(count)).i32(2, PLAIN).end();
            })?;
        }
        let data = self.bytes.len();
        let (rows, encoding) = (number(self.rows), if dictionary.is_some() { RLE_DICTIONARY } else { PLAIN });
        size += self.page(page, DATA, |header| {
            header.structure(5).i32(1, rows).i32(2, encoding).i32(3, RLE).i32(4, RLE).end();
        })?;
        let dictionary = dictionary.is_some().then_some(start);
        self.columns.push(Column { name, kind, nulls, dictionary, data, sizes: (size, self.bytes.len() - start) });
        Ok(())
    }

    /// Writes a page with its header, and returns their size in bytes before compression.
    fn page(&mut self, content: &[u8], kind: i64, rest: impl FnOnce(&mut Writer)) -> std::io::Result<usize> {
        let compressed = zstd::bulk::compress(content, LEVEL)?;
        let mut header = Writer::default();
        header.begin().i32(1, kind).i32(2, number(content.len())).i32(3, number(compressed.len()));
        rest(&mut header);
        header.end();
        let header = header.into_bytes();
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(&compressed);
        Ok(header.len() + content.len())
    }

    fn end(mut self) -> Vec<u8> {
        let mut footer = Writer::default();
        footer.begin().i32(1, 1).list(2, STRUCT, self.columns.len() + 1);
        footer.begin().text(4, "schema").i32(5, number(self.columns.len())).end();
        for column in &self.columns {
            let is_text = column.kind == BYTE_ARRAY;
            footer.begin().i32(1, column.kind).i32(3, i64::from(is_text)).text(4, column.name);
            if column.name == PATH {
                // The column has strings in UTF-8, not bytes.
                footer.i32(6, 0);
            }
            footer.end();
        }
        footer.i64(3, number(self.rows)).list(4, STRUCT, 1).begin().list(1, STRUCT, self.columns.len());
        for column in &self.columns {
            let start = column.dictionary.unwrap_or(column.data);
            footer.begin().i64(2, number(start)).structure(3).i32(1, column.kind);
            match column.dictionary {
                None => footer.list(2, I32, 2).integer_item(PLAIN).integer_item(RLE),
                Some(_) => footer.list(2, I32, 3).integer_item(PLAIN).integer_item(RLE).integer_item(RLE_DICTIONARY),
            };
            footer.list(3, BINARY, 1).text_item(column.name).i32(4, ZSTD).i64(5, number(self.rows));
            footer.i64(6, number(column.sizes.0)).i64(7, number(column.sizes.1)).i64(9, number(column.data));
            if let Some(dictionary) = column.dictionary {
                footer.i64(11, number(dictionary));
            }
            // fastparquet reads integers as floats if the number of nulls is absent.
            footer.structure(12).i64(3, number(column.nulls)).end();
            footer.end().end();
        }
        let size = self.columns.iter().map(|column| column.sizes.0).sum();
        footer.i64(2, number(size)).i64(3, number(self.rows)).end();
        footer.text(6, concat!("zarr-references version ", env!("CARGO_PKG_VERSION"))).end();
        let footer = footer.into_bytes();
        self.bytes.extend_from_slice(&footer);
        self.bytes.extend_from_slice(&u32::try_from(footer.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.bytes.extend_from_slice(b"PAR1");
        self.bytes
    }
}

fn number(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn put_text(page: &mut Vec<u8>, text: &[u8]) {
    page.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    page.extend_from_slice(text);
}

fn put_varint(page: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        page.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
        value >>= 7;
    }
    page.push(u8::try_from(value).unwrap_or(0));
}

/// Encodes as runs which values are not null, preceded by the number of bytes of the runs.
fn levels(is_there: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut runs = Vec::new();
    let mut put = |value: bool, count: usize| {
        put_varint(&mut runs, count << 1);
        runs.push(value.into());
    };
    let mut last = None;
    for value in is_there {
        last = match last {
            Some((before, count)) if before == value => Some((value, count + 1)),
            other => {
                if let Some((before, count)) = other {
                    put(before, count);
                }
                Some((value, 1))
            }
        };
    }
    if let Some((value, count)) = last {
        put(value, count);
    }
    let mut page = u32::try_from(runs.len()).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    page.extend_from_slice(&runs);
    page
}

/// Appends the indices of values in a dictionary of `count` values: their number of bits, and one run of groups of eight indices.
fn put_indexes(page: &mut Vec<u8>, indexes: &[u32], count: usize) {
    let width = (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1);
    page.push(u8::try_from(width).unwrap_or(32));
    put_varint(page, indexes.len().div_ceil(8) << 1 | 1);
    let (mut bits, mut held) = (0_u64, 0);
    let groups = indexes.iter().copied().chain(std::iter::repeat(0)).take(indexes.len().next_multiple_of(8));
    for index in groups {
        bits |= u64::from(index) << held;
        held += width;
        while held >= 8 {
            page.push(u8::try_from(bits & 0xff).unwrap_or(0));
            bits >>= 8;
            held -= 8;
        }
    }
}

#[cfg(test)]
mod tests;
