//! File of references: the places of some consecutive chunks of an array.

use std::ops::Range;

use zarr_store::Bytes;

use super::column::{Integers, NULL, Texts};
use super::footer::Footer;
use super::{Bad, Budget};

type Result<T> = std::result::Result<T, Bad>;

/// Name of the column of URLs; the three constants below are the names of the other columns.
pub(super) const PATH: &str = "path";
pub(super) const OFFSET: &str = "offset";
pub(super) const SIZE: &str = "size";
pub(super) const RAW: &str = "raw";

/// References of a file, in little memory.
#[derive(Debug, Default)]
pub(super) struct Record {
    paths: Texts,
    offsets: Vec<i64>,
    sizes: Vec<i64>,
    raws: Texts,
    raw_bytes: Bytes,
}

/// Reference in a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Row<'r> {
    Missing,
    /// Bytes of the chunk.
    Raw(Bytes),
    /// URL of a file, and the range of the chunk in the file; `None` for the whole file.
    Path(&'r str, Option<Range<u64>>),
}

impl Record {
    /// Reads the first `rows` references of a file. A file with more than `record_size` rows is invalid.
    pub(super) fn read(file: &[u8], rows: u64, record_size: u64, budget: &mut Budget) -> Result<Self> {
        let footer = Footer::read(file)?;
        if footer.rows < rows || footer.rows > record_size {
            let expected = format!("a row for each of {rows} chunks, and no more than the {record_size} of a record");
            return Err(Bad::new("footer", format!("{} rows", footer.rows), &expected));
        }
        budget.check_rows(footer.rows)?;
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let paths = Texts::read(file, &footer, PATH, rows, budget)?;
        let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
        if !paths.rows.is_empty() {
            offsets = Integers::read(file, &footer, OFFSET, rows, budget)?;
            sizes = Integers::read(file, &footer, SIZE, rows, budget)?;
        }
        let mut raws = Texts::read(file, &footer, RAW, rows, budget)?;
        let raw_bytes = Bytes::from(std::mem::take(&mut raws.bytes));
        let record = Self { paths, offsets, sizes, raws, raw_bytes };
        record.check()?;
        Ok(record)
    }

    fn check(&self) -> Result<()> {
        for path in self.paths.each() {
            if let Err(error) = std::str::from_utf8(path) {
                let found = format!(
                    "the bytes {:?}",
                    String::from_utf8_lossy(&path[..path.len().min(error.valid_up_to() + 8)])
                );
                return Err(Bad::new(format!("column {PATH}"), found, "texts in UTF-8"));
            }
        }
        for row in 0..self.paths.rows.len() {
            if self.paths.range(row).is_none() || self.raws.range(row).is_some() {
                continue;
            }
            for (name, values) in [(OFFSET, &self.offsets), (SIZE, &self.sizes)] {
                let found = match values.get(row) {
                    Some(0..) => continue,
                    None | Some(&NULL) => "no value".to_owned(),
                    Some(value) => value.to_string(),
                };
                let expected = "an integer that is not negative, beside a path";
                return Err(Bad::new(format!("column {name}, row {row}"), found, expected));
            }
        }
        Ok(())
    }

    /// Returns the reference in a row. A row behind the end of the file is a missing chunk.
    pub(super) fn row(&self, row: usize) -> Row<'_> {
        if let Some(range) = self.raws.range(row) {
            return Row::Raw(self.raw_bytes.slice(range));
        }
        let path = self.paths.range(row).and_then(|range| std::str::from_utf8(self.paths.bytes.get(range)?).ok());
        let Some(path) = path else { return Row::Missing };
        let number = |values: &[i64]| values.get(row).and_then(|value| u64::try_from(*value).ok()).unwrap_or(0);
        let (offset, size) = (number(&self.offsets), number(&self.sizes));
        // Both numbers are less than 2^63.
        Row::Path(path, ((offset, size) != (0, 0)).then(|| offset..offset.saturating_add(size)))
    }

    /// Returns the first row at or after row `from` that has a reference; `None` if no row follows.
    pub(super) fn next(&self, from: usize) -> Option<usize> {
        let end = self.paths.rows.len().max(self.raws.rows.len());
        (from..end).find(|row| self.paths.range(*row).is_some() || self.raws.range(*row).is_some())
    }

    /// Returns the memory of the references in bytes.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
            + self.paths.size()
            + self.raws.size()
            + self.raw_bytes.len()
            + 8 * (self.offsets.len() + self.sizes.len())
    }
}
