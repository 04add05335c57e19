//! Columns of a file in Parquet: integers, and strings, whose repetitions are mostly stored once.

use std::ops::Range;

use super::footer::{Column, Footer, type_name};
use super::page::{Data, PLAIN, PLAIN_DICTIONARY, Page, Pages, RLE_DICTIONARY};
use super::values::{integer, runs, text};
use super::{BYTE_ARRAY, Bad, Budget};

type Result<T> = std::result::Result<T, Bad>;

const INT32: i64 = 1;
const INT64: i64 = 2;

/// Receiver of the values of a column, page by page.
trait Take {
    /// Begins a group of rows, which has a dictionary of its own.
    fn begin(&mut self);
    fn dictionary(&mut self, kind: i64, count: usize, values: &[u8]) -> Result<()>;
    /// Adds a value of the type `kind` in plain encoding, and removes its bytes from `values`; `None` if it is invalid.
    fn plain(&mut self, kind: i64, values: &mut &[u8]) -> Option<()>;
    /// Adds the value with the number `index` in the dictionary; `None` if the dictionary has no such value.
    fn indexed(&mut self, index: u32) -> Option<()>;
    fn null(&mut self);
}

/// Reads the first `rows` values of a column into `to`. Returns false if the file has no column `name`.
fn read(
    file: &[u8],
    footer: &Footer,
    name: &str,
    rows: usize,
    to: &mut impl Take,
    budget: &mut Budget,
) -> Result<bool> {
    let Some(at) = footer.columns.iter().position(|column| column.name == name) else { return Ok(false) };
    let column = &footer.columns[at];
    let mut taken = 0;
    for group in &footer.groups {
        let Some(chunk) = group.chunks.get(at) else { continue };
        if taken >= rows {
            break;
        }
        if chunk.values != group.rows {
            return Err(Bad::page(format!("{} values", chunk.values), &format!("{} rows", group.rows)));
        }
        let mut pages = Pages::new(file, chunk, column.is_optional)?;
        let mut left = usize::try_from(group.rows).unwrap_or(usize::MAX);
        let mut is_first = true;
        to.begin();
        while left > 0 && taken < rows {
            match pages.next(budget)? {
                // A dictionary may have values that no row of this group has. A value takes at least four bytes of the page.
                Page::Dictionary { count, ref values } if count > values.len() / 4 => {
                    let expected = format!("at most a fourth of its {} bytes", values.len());
                    return Err(Bad::page(format!("a dictionary of {count} values"), &expected));
                }
                Page::Dictionary { count, values } if is_first => to.dictionary(column.kind, count, &values)?,
                Page::Dictionary { .. } => return Err(Bad::page("a second dictionary", "values")),
                Page::Data(data) => {
                    if data.rows > left {
                        return Err(Bad::page(format!("a page of {} rows", data.rows), &format!("at most {left}")));
                    }
                    left -= data.rows;
                    let most = data.rows.min(rows - taken);
                    page(column, &data, most, taken, to)?;
                    taken += most;
                }
            }
            is_first = false;
        }
    }
    Ok(true)
}

/// Gives the first `most` values of a page to `to`. `first` is the number of the first row of the page.
fn page(column: &Column, data: &Data<'_>, most: usize, first: usize, to: &mut impl Take) -> Result<()> {
    let (levels, mut values) = data.parts()?;
    let mut present = Vec::new();
    if let Some(levels) = levels {
        runs(levels, 1, most, &mut present)?;
    }
    let stored = if levels.is_some() { present.iter().filter(|level| **level == 1).count() } else { most };
    let mut indexes = Vec::new();
    let is_indexed = match data.encoding {
        PLAIN => false,
        PLAIN_DICTIONARY | RLE_DICTIONARY => {
            if let Some((width, rest)) = values.split_first() {
                runs(rest, (*width).into(), stored, &mut indexes)?;
            }
            true
        }
        // A column of nulls may have any encoding.
        _ if stored == 0 => false,
        encoding => return Err(Bad::page(format!("values of encoding {encoding}"), "PLAIN or RLE_DICTIONARY")),
    };
    let mut indexes = indexes.into_iter();
    for row in 0..most {
        if levels.is_some() && present.get(row) != Some(&1) {
            to.null();
            continue;
        }
        let taken = if is_indexed {
            indexes.next().and_then(|index| to.indexed(index))
        } else {
            to.plain(column.kind, &mut values)
        };
        taken.ok_or_else(|| {
            let found = if is_indexed { "an index outside of the dictionary" } else { "a value that is cut off" };
            let expected = format!("a value of type {}", type_name(column.kind));
            Bad::new(format!("row {}", first + row), found, &expected)
        })?;
    }
    Ok(())
}

/// Column of integers, in which null is [`NULL`].
#[derive(Debug, Default)]
pub(super) struct Integers {
    pub(super) rows: Vec<i64>,
    dictionary: Vec<i64>,
}

/// Value of a row that is null.
pub(super) const NULL: i64 = i64::MIN;

impl Integers {
    pub(super) fn read(file: &[u8], footer: &Footer, name: &str, rows: usize, budget: &mut Budget) -> Result<Vec<i64>> {
        let mut integers = Self { rows: Vec::with_capacity(rows), dictionary: Vec::new() };
        let read = read(file, footer, name, rows, &mut integers, budget);
        // An absent column has no values.
        read.map_err(|bad| bad.of_column(name)).map(|_| integers.rows)
    }
}

impl Take for Integers {
    fn begin(&mut self) {
        self.dictionary.clear();
    }

    fn dictionary(&mut self, kind: i64, count: usize, mut values: &[u8]) -> Result<()> {
        for _ in 0..count {
            let value = if matches!(kind, INT32 | INT64) { integer(&mut values, kind == INT64) } else { None };
            let fault = || Bad::page("a dictionary that is cut off, or has no integers", &format!("{count} integers"));
            self.dictionary.push(value.ok_or_else(fault)?);
        }
        Ok(())
    }

    fn plain(&mut self, kind: i64, values: &mut &[u8]) -> Option<()> {
        let value = if matches!(kind, INT32 | INT64) { integer(values, kind == INT64)? } else { return None };
        self.rows.push(value);
        Some(())
    }

    fn indexed(&mut self, index: u32) -> Option<()> {
        self.rows.push(*self.dictionary.get(index as usize)?);
        Some(())
    }

    fn null(&mut self) {
        self.rows.push(NULL);
    }
}

/// Column of strings or bytes.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) bytes: Vec<u8>,
    /// End of each string in `bytes`.
    ends: Vec<u32>,
    /// Number of the string of each row, [`NO_TEXT`] if the row is null; empty if all rows are null.
    pub(super) rows: Vec<u32>,
    /// Number of the first string of the current dictionary.
    first: usize,
    /// Number of null rows before the first row that is not null.
    nulls: usize,
}

/// Number in place of the string of a row that is null.
pub(super) const NO_TEXT: u32 = u32::MAX;

impl Texts {
    pub(super) fn read(file: &[u8], footer: &Footer, name: &str, rows: usize, budget: &mut Budget) -> Result<Self> {
        let mut texts = Self::default();
        read(file, footer, name, rows, &mut texts, budget).map_err(|bad| bad.of_column(name))?;
        texts.bytes.shrink_to_fit();
        texts.ends.shrink_to_fit();
        texts.rows.shrink_to_fit();
        Ok(texts)
    }

    /// Returns the range in `bytes` of the string of a row; `None` if the row is null.
    pub(super) fn range(&self, row: usize) -> Option<Range<usize>> {
        let number = *self.rows.get(row)? as usize;
        let end = *self.ends.get(number)? as usize;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        Some(start..end)
    }

    /// Returns each string of the column once.
    pub(super) fn each(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).filter_map(|(start, end)| self.bytes.get(start as usize..*end as usize))
    }

    /// Returns the memory of the column in bytes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + 4 * (self.ends.len() + self.rows.len())
    }

    fn add(&mut self, text: &[u8]) -> Option<u32> {
        self.bytes.extend_from_slice(text);
        self.ends.push(u32::try_from(self.bytes.len()).ok()?);
        u32::try_from(self.ends.len() - 1).ok()
    }

    fn push(&mut self, number: u32) {
        if self.rows.is_empty() {
            self.rows.resize(self.nulls, NO_TEXT);
        }
        self.rows.push(number);
    }
}

impl Take for Texts {
    fn begin(&mut self) {
        self.first = self.ends.len();
    }

    fn dictionary(&mut self, kind: i64, count: usize, mut values: &[u8]) -> Result<()> {
        for _ in 0..count {
            let value = if kind == BYTE_ARRAY { text(&mut values) } else { None };
            let fault = || Bad::page("a dictionary that is cut off, or has no texts", &format!("{count} texts"));
            value.and_then(|value| self.add(value)).ok_or_else(fault)?;
        }
        Ok(())
    }

    fn plain(&mut self, kind: i64, values: &mut &[u8]) -> Option<()> {
        let value = if kind == BYTE_ARRAY { text(values)? } else { return None };
        // References to one file mostly follow each other, so that equal strings mostly follow each other.
        let last = self.rows.last().copied().filter(|_| {
            let row = self.rows.len().saturating_sub(1);
            self.range(row).and_then(|range| self.bytes.get(range)) == Some(value)
        });
        let number = match last {
            Some(number) => number,
            None => self.add(value)?,
        };
        self.push(number);
        Some(())
    }

    fn indexed(&mut self, index: u32) -> Option<()> {
        let number = self.first.checked_add(index as usize).filter(|number| *number < self.ends.len())?;
        self.push(u32::try_from(number).ok()?);
        Some(())
    }

    fn null(&mut self) {
        if self.rows.is_empty() { self.nulls += 1 } else { self.rows.push(NO_TEXT) }
    }
}
