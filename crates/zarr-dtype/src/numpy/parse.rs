//! Reading type strings and lists of fields.

use super::{NUMBERS, NumpyField, NumpyType};
use crate::structure::MAX_DEPTH;
use crate::{ByteOrder, DataType, TimeUnit, Unit};
use std::collections::HashSet;
use std::fmt;
use zarr_json::Value;
use zarr_json::pointer::{At, ValueError};

/// Reason why a value is no known type of numpy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumpyTypeError {
    /// The type string is unknown, but may be valid.
    Unknown {
        /// Unknown type string.
        name: String,
        /// Error with the location of the type string.
        error: ValueError,
    },
    /// The value is no type.
    Invalid(ValueError),
}

impl From<ValueError> for NumpyTypeError {
    fn from(error: ValueError) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for NumpyTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { error, .. } | Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NumpyTypeError {}

type Result<T, E = NumpyTypeError> = std::result::Result<T, E>;

impl NumpyType {
    /// Parses a type string, or a list of fields `[name, type]` or `[name, type, shape]`, and returns the type and its byte order.
    ///
    /// A missing byte order is little-endian; a byte order of single bytes is ignored: netCDF-C writes `<u1`. As in numpy, a field without
    /// a name, which is padding, is named `f` and its index; a field with a title and a name has the name.
    ///
    /// # Errors
    /// [`NumpyTypeError`], with the JSON pointer of the wrong part.
    pub fn parse(at: &At<'_>) -> Result<(Self, ByteOrder)> {
        Self::parse_at_depth(at, 0)
    }

    fn parse_at_depth(at: &At<'_>, depth: usize) -> Result<(Self, ByteOrder)> {
        match at.value() {
            Value::String(text) => {
                let unknown = || at.invalid("a type of numpy such as \"<f8\"");
                typestr(text).ok_or_else(|| NumpyTypeError::Unknown { name: text.clone(), error: unknown() })
            }
            Value::Array(_) if depth < MAX_DEPTH => fields(at, depth),
            _ => Err(at.invalid("a type string or an array of fields").into()),
        }
    }
}

fn typestr(text: &str) -> Option<(NumpyType, ByteOrder)> {
    if !text.starts_with(['<', '>', '|', '='])
        && let Some(number) = NumpyType::named(text).filter(|number| !number.is_of_numpy())
    {
        let order = number.all_in(&ByteOrder::Little);
        return Some((number, order));
    }
    // The names that numpy prints.
    for (name, is_span) in [("datetime64", false), ("timedelta64", true)] {
        if let Some(unit) = text.strip_prefix(name) {
            let dtype = time(is_span, unit)?;
            let order = dtype.all_in(&ByteOrder::Little);
            return Some((dtype, order));
        }
    }
    let order = text.chars().next()?;
    let (order, rest) = match order {
        '<' | '>' | '|' | '=' => (order, text.get(1..)?),
        _ => ('<', text),
    };
    let letter = rest.chars().next()?;
    let rest = rest.get(letter.len_utf8()..)?;
    let dtype = match letter {
        'O' if rest.is_empty() || rest == "8" => NumpyType::Object,
        'm' | 'M' => time(letter == 'm', rest.strip_prefix('8')?)?,
        'S' | 'a' => NumpyType::Bytes(digits(rest)?),
        'U' => NumpyType::Text(digits(rest)?),
        'V' => NumpyType::Raw(digits(rest)?),
        _ => NumpyType::Number(number(letter, digits(rest)?)?),
    };
    // Sizes beyond 64 bits are no sizes.
    if dtype != NumpyType::Object {
        dtype.size()?;
    }
    let order = if order == '>' { ByteOrder::Big } else { ByteOrder::Little };
    let order = dtype.all_in(&order);
    Some((dtype, order))
}

/// Returns numpy's number with this letter and `size` bytes; `None` if there is none.
fn number(letter: char, size: u64) -> Option<DataType> {
    let is_it = |(known, number): &&(char, DataType)| *known == letter && u64::try_from(number.item_size()) == Ok(size);
    NUMBERS.iter().find(is_it).map(|(_, number)| number.clone())
}

fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let size: u64 = if plain { text.parse().ok()? } else { return None };
    (size <= i64::MAX as u64).then_some(size)
}

/// Parses the unit of a time: `[ns]`, `[25s]`, or empty for the generic unit.
fn time(is_span: bool, unit: &str) -> Option<NumpyType> {
    if unit.is_empty() {
        return Some(NumpyType::Time { is_span, unit: TimeUnit::new(Unit::Generic) });
    }
    let unit = unit.strip_prefix('[')?.strip_suffix(']')?;
    let count = unit.bytes().take_while(u8::is_ascii_digit).count();
    let (scale, unit) = unit.split_at_checked(count)?;
    let scale: u32 = if scale.is_empty() { 1 } else { scale.parse().ok()? };
    let unit = Unit::from_code(unit)?;
    (scale > 0 && i32::try_from(scale).is_ok()).then_some(NumpyType::Time { is_span, unit: TimeUnit { unit, scale } })
}

fn fields(at: &At<'_>, depth: usize) -> Result<(NumpyType, ByteOrder)> {
    let items = at.items()?;
    if items.is_empty() {
        return Err(at.invalid("at least one field").into());
    }
    let mut fields: Vec<NumpyField> = Vec::new();
    let mut names = HashSet::new();
    let mut orders = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let parts = item.items()?;
        let (name, numpy, shape) = match parts.as_slice() {
            [name, numpy] => (field_name(name)?, numpy, Vec::new()),
            [name, numpy, shape] => (field_name(name)?, numpy, field_shape(shape)?),
            _ => return Err(item.invalid("[name, type] or [name, type, shape]").into()),
        };
        let (numpy, order) = NumpyType::parse_at_depth(numpy, depth + 1)?;
        if numpy == NumpyType::Object {
            let error = item.invalid("fields of a fixed size");
            return Err(NumpyTypeError::Unknown { name: "|O".to_owned(), error });
        }
        // Any number of them would fit into no bytes at all.
        if !shape.is_empty() && numpy.size() == Some(0) {
            return Err(item.invalid("inner elements of at least one byte").into());
        }
        // Padding has no name; numpy names such fields by their index.
        let name_is_made = name.is_empty();
        let mut name = if name_is_made { format!("f{index}") } else { name.to_owned() };
        if names.contains(&name) {
            if !name_is_made {
                return Err(item.invalid("fields of different names").into());
            }
            while names.contains(&name) {
                name.push('_');
            }
        }
        names.insert(name.clone());
        fields.push(NumpyField { name, numpy, shape });
        orders.push(order);
    }
    let dtype = NumpyType::Struct(fields);
    if dtype.size().is_none() {
        return Err(at.invalid("elements of at most 2^64-1 bytes").into());
    }
    Ok((dtype, ByteOrder::Fields(orders.into())))
}

/// Returns the name of a field, which may be the second item of a pair with a title.
fn field_name<'v>(at: &At<'v>) -> Result<&'v str, ValueError> {
    match at.value().as_array() {
        Some([Value::String(_), Value::String(name)]) => Ok(name),
        _ => at.text(),
    }
}

/// Returns the shape of a field: a list, or a number for one dimension.
fn field_shape(at: &At<'_>) -> Result<Vec<u64>, ValueError> {
    if at.value().as_u64().is_some() { Ok(vec![at.size()?]) } else { at.sizes() }
}
