//! References in Parquet as kerchunk and fsspec write them: a folder with the documents in `.zmetadata`, and for each array files of
//! `record_size` references each.
//!
//! The reader and the writer are for these files only: flat columns of strings and of integers.

mod column;
mod encode;
mod folder;
mod footer;
mod page;
mod record;
mod thrift;
mod values;
mod writer;

#[cfg(test)]
mod tests;

pub use folder::{is_parquet, open_parquet};
use record::{Record, Row};
pub use writer::{ArrayWriter, ParquetWriter, write_parquet};

/// Number of the Parquet type of strings and bytes.
const BYTE_ARRAY: i64 = 6;

/// Maximum number of rows of a file.
const MAX_ROWS: u64 = 1 << 22;

/// Maximum size in bytes of the decompressed pages of a file, in addition to [`CONTENT_PER_BYTE`].
const CONTENT: u64 = 96 << 20;
/// Maximum size in bytes of the decompressed pages for each byte of a file.
const CONTENT_PER_BYTE: u64 = 16;
/// Maximum size in bytes of a file, and of its decompressed pages.
const MAX_RECORD: u64 = 256 << 20;

/// Fault of a file in Parquet.
#[derive(Debug)]
struct Bad {
    /// Column and row, or offset in bytes; empty if [`of_column`](Self::of_column) has yet to add the column.
    place: String,
    found: String,
    expected: String,
    /// Whether a limit is exceeded, and the file may be valid.
    is_limit: bool,
}

impl Bad {
    fn new(place: impl Into<String>, found: impl Into<String>, expected: &str) -> Self {
        Self { place: place.into(), found: found.into(), expected: expected.to_owned(), is_limit: false }
    }

    /// Creates a fault of a page, to which [`of_column`](Self::of_column) adds the column.
    fn page(found: impl Into<String>, expected: &str) -> Self {
        Self::new("", found, expected)
    }

    fn of_column(self, name: &str) -> Self {
        let place =
            if self.place.is_empty() { format!("column {name}") } else { format!("column {name}, {}", self.place) };
        Self { place, ..self }
    }
}

/// Limits of reading a file.
#[derive(Debug)]
struct Budget {
    limit: u64,
    /// Number of bytes that may still be decompressed.
    left: u64,
}

impl Budget {
    /// Creates the limits for a file of `size` bytes.
    fn of_file(size: u64) -> Self {
        Self::new(size.saturating_mul(CONTENT_PER_BYTE).saturating_add(CONTENT).min(MAX_RECORD))
    }

    /// Creates limits that allow `limit` decompressed bytes.
    fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    fn spend(&mut self, bytes: u64) -> Result<(), Bad> {
        let expected = || format!("at most {} without compression", self.limit);
        let bad = || Bad { is_limit: true, ..Bad::page("more bytes of pages", &expected()) };
        self.left = self.left.checked_sub(bytes).ok_or_else(bad)?;
        Ok(())
    }

    fn check_rows(&self, rows: u64) -> Result<(), Bad> {
        let bad =
            || Bad { is_limit: true, ..Bad::new("footer", format!("{rows} rows"), &format!("at most {MAX_ROWS}")) };
        if rows <= MAX_ROWS { Ok(()) } else { Err(bad()) }
    }
}
