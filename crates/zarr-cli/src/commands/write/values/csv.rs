//! Comma-separated values, RFC 4180, one at a time.
//!
//! The crate csv would accept a table that ends within quotes, like a truncated file, would drop quotes in the middle of a field, and would
//! end a line at a single carriage return, all without an error.

use super::scan::{Scanner, add};
use super::{cell, longest_text};
use crate::commands::write::spool::Spool;
use crate::escape;
use crate::failure::Result;
use zarr::dtype::{DataType, Field, StructType, print};
use zarr::meta::json::{Map, Value};

/// Byte order mark, which other software writes before a table.
const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Reads elements from the rows of a table: a row for each element of one dimension, or for each row of two dimensions. Structs have one
/// element in a row, and a header with the names of the fields, in any order. A surplus value is an error.
pub(super) fn read(scanner: &mut Scanner<'_>, data_type: &DataType, shape: &[u64], into: &mut Spool) -> Result<()> {
    let most = match data_type {
        DataType::Struct(_) => 1,
        _ => 2,
    };
    if shape.len() > most {
        let message = match most {
            1 => format!("expected at most 1 dimension for a table of structs, found {}", shape.len()),
            _ => format!("expected at most 2 dimensions for a table, found {}", shape.len()),
        };
        return Err(scanner.broken(&message));
    }
    let rows = shape.first().copied().unwrap_or(1);
    let mut table = Table::new(scanner, longest_text(data_type));
    match data_type {
        DataType::Struct(fields) => structs(&mut table, data_type, fields, rows, into),
        _ => numbers(&mut table, data_type, (rows, shape.get(1).copied().unwrap_or(1)), into),
    }
}

fn numbers(table: &mut Table<'_, '_>, data_type: &DataType, (rows, row): (u64, u64), into: &mut Spool) -> Result<()> {
    // A row without values is no line.
    let rows = if row == 0 { 0 } else { rows };
    let (mut found, mut in_row) = (0, 0);
    while let Some(is_last) = table.next()? {
        check_room(table, found, rows)?;
        if in_row == row {
            return Err(table.error(&format!("more than {row} values, expected {row}")));
        }
        let value = cell(data_type, table.text()?);
        push(table, data_type, &value, into)?;
        in_row += 1;
        if is_last {
            if in_row != row {
                return Err(table.error(&format!("{in_row} values, expected {row}")));
            }
            (found, in_row) = (found + 1, 0);
            table.row += 1;
        }
    }
    check(table, found, rows)
}

fn structs(
    table: &mut Table<'_, '_>,
    data_type: &DataType,
    fields: &StructType,
    rows: u64,
    into: &mut Spool,
) -> Result<()> {
    let fields = fields.fields();
    let mut names: Vec<String> = Vec::new();
    while let Some(is_last) = table.next()? {
        let text = table.text()?;
        names.push(escape::from_cell(text).unwrap_or_else(|| text.to_owned()));
        if is_last || names.len() > fields.len() {
            break;
        }
    }
    // The field of each column.
    let column = |name: &String| fields.iter().find(|field| field.name == *name);
    if let Some(field) = fields.iter().find(|field| !names.contains(&field.name)) {
        let message = format!("no column {:?} in the header, found {names:?}", field.name);
        return Err(table.scanner.broken(&message));
    }
    let is_used =
        |(at, name): &(usize, &String)| column(name).is_some() && !names.iter().take(*at).any(|it| it == *name);
    if let Some((_, name)) = names.iter().enumerate().find(|column| !is_used(column)) {
        return Err(table.scanner.broken(&format!("the column {name:?} is not a field, or occurs twice")));
    }
    let columns: Vec<&Field> = names.iter().filter_map(column).collect();
    table.row = 2;
    let (mut found, mut values) = (0, Map::new());
    while let Some(is_last) = table.next()? {
        check_room(table, found, rows)?;
        let Some(field) = columns.get(values.len()) else {
            return Err(table.error(&format!("more than {0} values, expected {0}", columns.len())));
        };
        // A field with a shape is an array, whatever its elements.
        let of_field = if field.shape.is_empty() { &field.data_type } else { &DataType::Object };
        let value = cell(of_field, table.text()?);
        values.insert(field.name.clone(), value);
        if is_last {
            if values.len() != columns.len() {
                return Err(table.error(&format!("{} values, expected {}", values.len(), columns.len())));
            }
            push(table, data_type, &Value::Object(std::mem::take(&mut values)), into)?;
            found += 1;
            table.row += 1;
        }
    }
    check(table, found, rows)
}

fn push(table: &Table<'_, '_>, data_type: &DataType, value: &Value, into: &mut Spool) -> Result<()> {
    let element = print::parse(data_type, value);
    let element = element.map_err(|error| table.error(&format!("value {}: {error}", into.len())))?;
    into.push(&element)
}

fn check_room(table: &Table<'_, '_>, found: u64, expected: u64) -> Result<()> {
    if found < expected {
        Ok(())
    } else {
        Err(table.scanner.broken(&format!("more than {expected} rows, expected {expected}")))
    }
}

fn check(table: &Table<'_, '_>, found: u64, expected: u64) -> Result<()> {
    if found == expected { Ok(()) } else { Err(table.scanner.broken(&format!("{found} rows, expected {expected}"))) }
}

/// Reader of the fields of a table, without empty lines.
struct Table<'a, 's> {
    scanner: &'a mut Scanner<'s>,
    longest: usize,
    /// Field that was read last.
    field: Vec<u8>,
    /// Whether the line already had fields before the next one.
    is_within: bool,
    /// Number of the current row, from 1, for messages.
    row: u64,
}

impl<'a, 's> Table<'a, 's> {
    fn new(scanner: &'a mut Scanner<'s>, longest: usize) -> Self {
        Self { scanner, longest, field: Vec::new(), is_within: false, row: 1 }
    }

    /// Reads the next field. Returns whether it is the last field of its row; `None` at the end of the table.
    fn next(&mut self) -> Result<Option<bool>> {
        self.field.clear();
        self.skip_mark()?;
        // Whether the field has begun, and whether its closing quotes were read, after which it must end.
        let (mut begun, mut closed) = (!self.field.is_empty(), false);
        loop {
            let next = self.scanner.next()?;
            match next {
                Some(b'"') if !begun => {
                    (begun, closed) = (true, true);
                    self.quoted()?;
                }
                Some(b',') => {
                    self.is_within = true;
                    return Ok(Some(false));
                }
                Some(b'\r') if self.scanner.peek()? == Some(b'\n') => {}
                Some(b'\n') | None => {
                    let is_field = begun || self.is_within;
                    self.is_within = false;
                    match (is_field, next) {
                        (true, _) => return Ok(Some(true)),
                        (false, None) => return Ok(None),
                        (false, Some(_)) => {}
                    }
                }
                Some(byte) if closed => {
                    let found = match byte.is_ascii() {
                        true => format!("{:?}", char::from(byte)),
                        false => "a character".to_owned(),
                    };
                    return Err(self.error(&format!("found {found} after closing quotes")));
                }
                Some(byte) => {
                    begun = true;
                    self.add(byte)?;
                }
            }
        }
    }

    /// Reads the rest of a quoted field, up to the closing quotes.
    fn quoted(&mut self) -> Result<()> {
        loop {
            match self.scanner.next()? {
                Some(b'"') if self.scanner.peek()? == Some(b'"') => {
                    self.scanner.pass();
                    self.add(b'"')?;
                }
                Some(b'"') => return Ok(()),
                Some(byte) => self.add(byte)?,
                None => return Err(self.scanner.broken("the file ends within quotes")),
            }
        }
    }

    fn add(&mut self, byte: u8) -> Result<()> {
        add(&mut self.field, byte, self.longest).map_err(|what| self.error(&what))
    }

    /// Skips a byte order mark at the beginning. The bytes of another character with the same first bytes become the beginning of the
    /// field.
    fn skip_mark(&mut self) -> Result<()> {
        if self.scanner.offset() > 0 {
            return Ok(());
        }
        for (at, &byte) in MARK.iter().enumerate() {
            if self.scanner.peek()? != Some(byte) {
                return MARK.iter().take(at).try_for_each(|&byte| self.add(byte));
            }
            self.scanner.pass();
        }
        Ok(())
    }

    /// Returns the field that was read last.
    fn text(&self) -> Result<&str> {
        std::str::from_utf8(&self.field).map_err(|_| self.error("the file is not UTF-8"))
    }

    fn error(&self, what: &str) -> crate::failure::Failure {
        self.scanner.broken(&format!("row {}: {what}", self.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of a table.
    fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
        let mut input = text.as_bytes();
        let mut scanner = Scanner::new("x.csv", &mut input);
        let mut table = Table::new(&mut scanner, 100);
        let (mut records, mut record) = (Vec::new(), Vec::new());
        while let Some(is_last) = table.next().map_err(|failure| failure.line.clone())? {
            record.push(table.text().map_err(|failure| failure.line.clone())?.to_owned());
            if is_last {
                records.push(std::mem::take(&mut record));
            }
        }
        Ok(records)
    }

    /// Returns the elements of a table as JSON.
    fn values(data_type: DataType, shape: &[u64], text: &str) -> Result<Vec<String>, String> {
        let mut spool = Spool::new(&data_type);
        let mut input = text.as_bytes();
        let mut scanner = Scanner::new("x.csv", &mut input);
        read(&mut scanner, &data_type, shape, &mut spool).map_err(|failure| failure.line.clone())?;
        let count = spool.len();
        let block = spool.finish().unwrap().take(count).unwrap();
        let print = |item: &[u8]| print::to_json(&data_type, item, block.heap.as_deref()).to_string();
        Ok(block.items.chunks(data_type.item_size()).map(print).collect())
    }

    #[test]
    fn tables_are_split() {
        let text = "\u{feff}a,\"b,\"\"\n\"\r\n\r\n,\n\"\"\n1,2";
        assert_eq!(records(text).unwrap(), [vec!["a", "b,\"\n"], vec!["", ""], vec![""], vec!["1", "2"]]);
        assert_eq!(records("").unwrap(), [[""; 0]; 0]);
        assert_eq!(records("\"a").unwrap_err(), "x.csv: the file ends within quotes");
        assert_eq!(records("\"a\"b").unwrap_err(), "x.csv: row 1: found 'b' after closing quotes");
        assert_eq!(records("a\rb").unwrap(), [["a\rb"]]);
        assert_eq!(records("東,京\n").unwrap(), [["東", "京"]]);
        // Characters that begin with the first bytes of a byte order mark.
        for text in ["\u{ff71}", "\u{f000}x", "\u{fee0}", "\u{ffff}", "\u{feff}\u{feff}"] {
            let expected = text.strip_prefix('\u{feff}').unwrap_or(text);
            assert_eq!(records(&format!("{text},b\n")).unwrap(), [[expected, "b"]], "{text:?}");
        }
        assert_eq!(records("\u{feff}").unwrap(), [[""; 0]; 0]);
        assert!(records(&"a".repeat(101)).unwrap_err().contains("more than 100 bytes of text"));
        assert!(records(&format!("\"{}", "a".repeat(101))).unwrap_err().contains("more than 100 bytes of text"));
    }

    #[test]
    fn cells_are_values_of_the_type() {
        assert_eq!(values(DataType::Float64, &[3], "1\nNaN\n-2.5\n").unwrap(), ["1.0", "\"NaN\"", "-2.5"]);
        assert_eq!(values(DataType::Int8, &[1, 2], "1, 2").unwrap(), ["1", "2"]);
        assert_eq!(values(DataType::Int8, &[3, 0], "").unwrap(), [""; 0]);
        assert_eq!(values(DataType::Int8, &[3, 0], "1").unwrap_err(), "x.csv: more than 0 rows, expected 0");
        assert_eq!(values(DataType::String, &[2], "1\n x").unwrap(), ["\"1\"", "\" x\""]);
        assert_eq!(values(DataType::Complex64, &[], "\"[1,2]\"").unwrap(), ["[1.0,2.0]"]);
        let error = |shape: &[u64], text| values(DataType::Int8, shape, text).unwrap_err();
        assert_eq!(error(&[2], "1"), "x.csv: 1 rows, expected 2");
        assert_eq!(error(&[2], "1\n2\n3"), "x.csv: more than 2 rows, expected 2");
        assert_eq!(error(&[1, 2], "1"), "x.csv: row 1: 1 values, expected 2");
        assert_eq!(error(&[2, 2], "1,2\n3,4,5"), "x.csv: row 2: more than 2 values, expected 2");
        assert!(error(&[2], "1\nx").starts_with("x.csv: row 2: value 1: "));
        assert!(values(DataType::Int8, &[1, 1, 1], "1").is_err());
    }

    #[test]
    fn a_header_names_the_fields_of_structs() {
        let field = |name: &str| Field::new(name.to_owned(), DataType::Int8);
        let both = DataType::Struct(StructType::new(vec![field("a"), field("b")]).unwrap());
        let rows = |text: &str| values(both.clone(), &[2], text);
        assert_eq!(rows("b,a\n1,2\n3,4\n").unwrap(), [r#"{"a":2,"b":1}"#, r#"{"a":4,"b":3}"#]);
        assert!(rows("b\n1\n2\n").unwrap_err().contains("no column \"a\" in the header, found [\"b\"]"));
        for header in ["a,b,c", "a,b,a", "b,a,b"] {
            let error = rows(&format!("{header}\n1,2,3\n4,5,6\n")).unwrap_err();
            assert!(error.contains("is not a field, or occurs twice"), "{error}");
        }
        assert_eq!(rows("a,b\n1,2\n3,4,5\n").unwrap_err(), "x.csv: row 3: more than 2 values, expected 2");
        assert_eq!(rows("a,b\n1,2\n3\n").unwrap_err(), "x.csv: row 3: 1 values, expected 2");
        assert_eq!(rows("").unwrap_err(), "x.csv: no column \"a\" in the header, found []");
    }
}
