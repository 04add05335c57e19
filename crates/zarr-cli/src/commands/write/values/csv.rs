//! Comma-separated values.

use super::cell;
use crate::escape;
use zarr::dtype::DataType;
use zarr::meta::json::{Map, Value};

/// The values in the rows of a table: a row for each element, or for each row of a shape of two dimensions. Before rows of structs,
/// a header has the names of the fields, in any order.
pub(super) fn values(data_type: &DataType, shape: &[u64], text: &str) -> Result<Vec<Value>, String> {
    let mut records = records(text)?;
    let DataType::Struct(fields) = data_type else {
        let row = match shape {
            [] | [_] => 1,
            [_, row] => *row,
            _ => return Err(format!("expected at most 2 dimensions for a table, found {}", shape.len())),
        };
        check(records.len(), shape.first().copied().unwrap_or(1))?;
        let mut values = Vec::new();
        for (index, record) in records.iter().enumerate() {
            if record.len() as u64 != row {
                return Err(format!("row {}: {} values, expected {row}", index + 1, record.len()));
            }
            values.extend(record.iter().map(|text| cell(data_type, text)));
        }
        return Ok(values);
    };
    if shape.len() > 1 {
        return Err(format!("expected at most 1 dimension for a table of structs, found {}", shape.len()));
    }
    let mut names = if records.is_empty() { Vec::new() } else { records.remove(0) };
    for name in &mut names {
        if let Some(text) = escape::from_cell(name) {
            *name = text;
        }
    }
    let columns = fields.fields().iter().map(|field| {
        let at = names.iter().position(|name| *name == field.name);
        at.map(|at| (field, at)).ok_or_else(|| format!("no column {:?} in the header, found {names:?}", field.name))
    });
    let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
    if let Some((_, name)) = names.iter().enumerate().find(|(at, _)| !columns.iter().any(|(_, used)| used == at)) {
        return Err(format!("the column {name:?} is not a field, or occurs twice"));
    }
    check(records.len(), shape.first().copied().unwrap_or(1))?;
    let row = |(index, record): (usize, &Vec<String>)| {
        if record.len() != names.len() {
            return Err(format!("row {}: {} values, expected {}", index + 2, record.len(), names.len()));
        }
        let value = |&(field, at): &(&zarr::dtype::Field, usize)| {
            let text = record.get(at).map_or("", String::as_str);
            // A field with a shape is an array, whatever its elements.
            let value =
                if field.shape.is_empty() { cell(&field.data_type, text) } else { cell(&DataType::Object, text) };
            (field.name.clone(), value)
        };
        Ok(Value::Object(columns.iter().map(value).collect::<Map>()))
    };
    records.iter().enumerate().map(row).collect()
}

fn check(found: usize, expected: u64) -> Result<(), String> {
    if found as u64 == expected { Ok(()) } else { Err(format!("{found} rows, expected {expected}")) }
}

/// The rows of a table, RFC 4180, without empty lines.
///
/// The crate csv takes a table that ends within quotes, as a file that was cut off does, drops quotes in the middle of a field, and
/// ends a line at a carriage return alone. None of that is an error to it.
fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut records = Vec::new();
    let mut record = Vec::new();
    let mut field = String::new();
    // Whether the field has begun, and whether its closing quotes were read, after which it must end.
    let (mut begun, mut closed) = (false, false);
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    loop {
        let next = chars.next();
        match next {
            Some('"') if !begun => {
                (begun, closed) = (true, true);
                loop {
                    match chars.next() {
                        Some('"') if chars.peek() == Some(&'"') => field.extend(chars.next()),
                        Some('"') => break,
                        Some(c) => field.push(c),
                        None => return Err("the file ends within quotes".to_owned()),
                    }
                }
            }
            Some(',') => {
                record.push(std::mem::take(&mut field));
                (begun, closed) = (false, false);
            }
            Some('\r') if chars.peek() == Some(&'\n') => {}
            Some('\n') | None => {
                if begun || !record.is_empty() {
                    record.push(std::mem::take(&mut field));
                    records.push(std::mem::take(&mut record));
                }
                (begun, closed) = (false, false);
                if next.is_none() {
                    return Ok(records);
                }
            }
            Some(c) if closed => return Err(format!("row {}: found {c:?} after closing quotes", records.len() + 1)),
            Some(c) => {
                begun = true;
                field.push(c);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr::meta::json;

    #[test]
    fn tables_are_split() {
        let text = "\u{feff}a,\"b,\"\"\n\"\r\n\r\n,\n\"\"\n1,2";
        assert_eq!(records(text).unwrap(), [vec!["a", "b,\"\n"], vec!["", ""], vec![""], vec!["1", "2"]]);
        assert_eq!(records("").unwrap(), [[""; 0]; 0]);
        assert!(records("\"a").is_err() && records("\"a\"b").is_err());
        assert_eq!(records("a\rb").unwrap(), [["a\rb"]]);
    }

    #[test]
    fn cells_are_values_of_the_type() {
        let values = |data_type, shape: &[u64], text| values(&data_type, shape, text);
        assert_eq!(values(DataType::Float64, &[3], "1\nNaN\n-2.5\n").unwrap(), [json!(1), json!("NaN"), json!(-2.5)]);
        assert_eq!(values(DataType::Int8, &[1, 2], "1, 2").unwrap(), [json!(1), json!(2)]);
        assert_eq!(values(DataType::String, &[2], "1\n x").unwrap(), [json!("1"), json!(" x")]);
        assert_eq!(values(DataType::Complex64, &[], "\"[1,2]\"").unwrap(), [json!([1, 2])]);
        assert_eq!(values(DataType::Int8, &[2], "1").unwrap_err(), "1 rows, expected 2");
        assert_eq!(values(DataType::Int8, &[1, 2], "1").unwrap_err(), "row 1: 1 values, expected 2");
        assert!(values(DataType::Int8, &[1, 1, 1], "1").is_err());
    }
}
