//! Footer of a file in Parquet: its columns, and the places of their pages.

use super::Bad;
use super::thrift::Reader;

type Result<T> = std::result::Result<T, Bad>;

const MAGIC: &[u8] = b"PAR1";
/// Last bytes of a file whose footer is encrypted, in place of the magic bytes.
const ENCRYPTED: &[u8] = b"PARE";

/// Maximum number of columns.
const MAX_COLUMNS: usize = 64;
/// Maximum number of groups of rows.
const MAX_GROUPS: usize = 1 << 14;

/// Columns of a file, and its groups of rows.
#[derive(Debug, Default)]
pub(super) struct Footer {
    /// Number of rows of the file.
    pub(super) rows: u64,
    pub(super) columns: Vec<Column>,
    pub(super) groups: Vec<Group>,
}

/// Column of the schema.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// Number of the Parquet type of the values, as in [`type_name`].
    pub(super) kind: i64,
    /// Whether values may be null.
    pub(super) is_optional: bool,
}

/// Group of rows, in which the values of each column lie together.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) rows: u64,
    /// Values of the group in each column, in the order of the schema.
    pub(super) chunks: Vec<ColumnChunk>,
}

/// Place of the values of a column in a group of rows.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnChunk {
    pub(super) codec: i64,
    pub(super) values: u64,
    /// Offset in the file of the first page, in bytes.
    pub(super) start: u64,
    /// Size in the file of all pages of the column in the group, in bytes.
    pub(super) size: u64,
}

impl Footer {
    /// Reads the footer from the bytes of a file.
    pub(super) fn read(file: &[u8]) -> Result<Self> {
        let bad = |at: usize, found: &str, expected: &str| Bad::new(format!("byte {at}"), found, expected);
        if file.get(..4) != Some(MAGIC) {
            return Err(bad(0, "other bytes", "PAR1, with which a file of Parquet begins"));
        }
        let end = file.len().saturating_sub(8);
        match file.get(end..).and_then(|tail| tail.split_first_chunk::<4>()) {
            Some((size, MAGIC)) if end >= 4 => {
                let size = usize::try_from(u32::from_le_bytes(*size)).unwrap_or(usize::MAX);
                let start = end.checked_sub(size).filter(|start| *start >= 4);
                let start = start.ok_or_else(|| bad(end, "a footer that is longer than the file", "a shorter one"))?;
                parse(&mut Reader::new(&file[start..end], start as u64))
            }
            Some((_, ENCRYPTED)) => Err(bad(end, "an encrypted footer", "one that is not encrypted")),
            _ => Err(bad(file.len(), "other bytes", "PAR1, with which a file of Parquet ends")),
        }
    }
}

fn parse(reader: &mut Reader<'_>) -> Result<Footer> {
    let (mut footer, mut last) = (Footer::default(), 0);
    while let Some((number, kind)) = reader.field(&mut last)? {
        match number {
            2 => footer.columns = schema(reader, kind)?,
            3 => footer.rows = unsigned("rows", reader.integer(kind)?)?,
            4 => {
                let (kind, count) = reader.list(kind)?;
                check("groups of rows", footer.groups.len().saturating_add(count), MAX_GROUPS)?;
                for _ in 0..count {
                    footer.groups.push(group(reader, kind)?);
                }
            }
            _ => reader.skip(kind)?,
        }
    }
    for group in &footer.groups {
        if group.chunks.len() != footer.columns.len() {
            let found = format!("{} columns in a group of rows", group.chunks.len());
            return Err(Bad::new("footer", found, &format!("the {} of the schema", footer.columns.len())));
        }
    }
    let rows = footer.groups.iter().try_fold(0_u64, |sum, group| sum.checked_add(group.rows));
    if rows != Some(footer.rows) {
        let found = format!("{} rows, and {rows:?} in its groups", footer.rows);
        return Err(Bad::new("footer", found, "the same number"));
    }
    Ok(footer)
}

fn check(what: &str, found: usize, limit: usize) -> Result<()> {
    if found <= limit {
        Ok(())
    } else {
        Err(Bad::new("footer", format!("{found} {what}"), &format!("at most {limit}")))
    }
}

fn unsigned(what: &str, value: i64) -> Result<u64> {
    u64::try_from(value)
        .map_err(|_| Bad::new("footer", format!("{value} as {what}"), "an integer that is not negative"))
}

/// Reads the columns of the schema. Each column has to be directly below the root.
fn schema(reader: &mut Reader<'_>, kind: u8) -> Result<Vec<Column>> {
    let (kind, count) = reader.list(kind)?;
    check("columns", count, MAX_COLUMNS)?;
    let mut columns = Vec::new();
    for at in 0..count {
        reader.structure(kind)?;
        let (mut column, mut children, mut repetition) =
            (Column { name: String::new(), kind: -1, is_optional: false }, 0, 0);
        let mut last = 0;
        while let Some((number, kind)) = reader.field(&mut last)? {
            match number {
                1 => column.kind = reader.integer(kind)?,
                3 => repetition = reader.integer(kind)?,
                4 => column.name = String::from_utf8_lossy(reader.binary(kind)?).into_owned(),
                5 => children = reader.integer(kind)?,
                _ => reader.skip(kind)?,
            }
        }
        if at == 0 {
            continue;
        }
        column.is_optional = repetition == 1;
        if children != 0 || !(0..=1).contains(&repetition) {
            let what = if children == 0 { "repeated values" } else { "columns inside" };
            return Err(Bad::new(format!("column {}", column.name), what, "single values"));
        }
        columns.push(column);
    }
    Ok(columns)
}

fn group(reader: &mut Reader<'_>, kind: u8) -> Result<Group> {
    reader.structure(kind)?;
    let (mut group, mut last) = (Group::default(), 0);
    while let Some((number, kind)) = reader.field(&mut last)? {
        match number {
            1 => {
                let (kind, count) = reader.list(kind)?;
                check("columns", group.chunks.len().saturating_add(count), MAX_COLUMNS)?;
                for _ in 0..count {
                    group.chunks.push(column_chunk(reader, kind)?);
                }
            }
            3 => group.rows = unsigned("rows", reader.integer(kind)?)?,
            _ => reader.skip(kind)?,
        }
    }
    Ok(group)
}

fn column_chunk(reader: &mut Reader<'_>, kind: u8) -> Result<ColumnChunk> {
    reader.structure(kind)?;
    let (mut chunk, mut last) = (ColumnChunk::default(), 0);
    while let Some((number, kind)) = reader.field(&mut last)? {
        match number {
            1 => {
                let file = String::from_utf8_lossy(reader.binary(kind)?).into_owned();
                return Err(Bad::new("footer", format!("a column in the file {file:?}"), "columns in the same file"));
            }
            3 => {
                reader.structure(kind)?;
                chunk = meta_data(reader)?;
            }
            _ => reader.skip(kind)?,
        }
    }
    Ok(chunk)
}

fn meta_data(reader: &mut Reader<'_>) -> Result<ColumnChunk> {
    let (mut chunk, mut last) = (ColumnChunk::default(), 0);
    let (mut data, mut dictionary) = (0, 0);
    while let Some((number, kind)) = reader.field(&mut last)? {
        match number {
            4 => chunk.codec = reader.integer(kind)?,
            5 => chunk.values = unsigned("values", reader.integer(kind)?)?,
            7 => chunk.size = unsigned("the size of a column", reader.integer(kind)?)?,
            9 => data = unsigned("the offset of a page", reader.integer(kind)?)?,
            11 => dictionary = unsigned("the offset of a dictionary", reader.integer(kind)?)?,
            _ => reader.skip(kind)?,
        }
    }
    // Some writers write 0 if there is no dictionary.
    chunk.start = if dictionary > 0 { dictionary.min(data) } else { data };
    Ok(chunk)
}

/// Returns the name of a Parquet type.
pub(super) fn type_name(kind: i64) -> String {
    const NAMES: [&str; 8] =
        ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"];
    let name = usize::try_from(kind).ok().and_then(|kind| NAMES.get(kind));
    name.map_or_else(|| format!("type {kind}"), |name| (*name).to_owned())
}
