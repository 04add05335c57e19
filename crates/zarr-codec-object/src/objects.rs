//! Chunks of objects: nested lists of values, followed by the data type of numpy and the shape.

use std::fmt::Debug;
use std::sync::Arc;
use zarr_codec::{
    ArrayToBytes, BuildContext, ElementOffsets, Error, Protection, Size, View, ViewMut, read_variable, write_variable,
};
use zarr_dtype::{DataType, print};
use zarr_grid::{Region, element_count};
use zarr_json::Value;

/// Notation in which a list is written.
pub(crate) trait Notation: Debug + Send + Sync + 'static {
    /// Parses `bytes`. An error says what is wrong with `bytes`.
    fn parse(&self, bytes: &[u8]) -> Result<Value, String>;

    /// Appends `list`. An error names a value that cannot be written.
    fn write(&self, list: &Value, out: &mut Vec<u8>) -> Result<(), String>;
}

/// Whether the shape follows the data type in the stored list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Stored,
    Implicit,
}

/// Returns the codec of objects in `notation`, for the data type of an array.
pub(crate) fn build(
    context: &BuildContext<'_>,
    name: &'static str,
    notation: impl Notation,
    shape: Shape,
) -> Result<Arc<dyn ArrayToBytes>, Error> {
    let data_type = context.element.data_type.clone();
    check_type(name, &data_type)?;
    let max_chunk = context.limits.max_chunk;
    Ok(Arc::new(Objects { name, notation, data_type, shape, max_chunk }))
}

/// Checks that `data_type` is a type of objects or strings.
pub(crate) fn check_type(codec: &'static str, data_type: &DataType) -> Result<(), Error> {
    match data_type {
        DataType::Object | DataType::String => Ok(()),
        other => {
            let what = format!("elements of data type {other}, expected v2_object or string");
            Err(Error::Unsupported { codec, what })
        }
    }
}

/// Maximum number of bytes in memory per encoded byte: a single byte may encode a whole value.
const EXPANSION: u64 = 64;

/// Checks that the values that `encoded` may contain fit into `max_chunk` bytes of memory.
pub(crate) fn check_size(encoded: &[u8], max_chunk: u64) -> Result<(), Error> {
    let found = (encoded.len() as u64).saturating_mul(EXPANSION);
    if found <= max_chunk { Ok(()) } else { Err(Error::Limit { what: "values of a chunk", found, limit: max_chunk }) }
}

/// Returns the content of the element with value `value`.
pub(crate) fn content(data_type: &DataType, value: &Value) -> Result<Vec<u8>, String> {
    match (data_type, value) {
        // As in other codecs of texts, None is the empty one.
        (DataType::String, Value::Null) => Ok(Vec::new()),
        _ => print::parse(data_type, value).map_err(|error| error.to_string()),
    }
}

#[derive(Debug)]
struct Objects<N> {
    name: &'static str,
    notation: N,
    data_type: DataType,
    shape: Shape,
    max_chunk: u64,
}

impl<N: Notation> Objects<N> {
    /// Returns the values of `list` for a chunk of `shape`, in C order.
    fn values<'v>(&self, list: &'v Value, shape: &[u64]) -> Result<Vec<&'v Value>, String> {
        let items = list.as_array().ok_or_else(|| format!("found {}, expected an array", list.kind()))?;
        let (values, stored) = match (self.shape, items) {
            (Shape::Stored, [values @ .., _dtype, stored]) => (values, lengths(stored)?),
            (Shape::Implicit, [values @ .., _dtype]) => (values, shape.to_vec()),
            _ => return Err("the list ends before the data type".to_owned()),
        };
        let count = element_count(shape);
        if element_count(&stored) != count {
            return Err(format!("found shape {stored:?}, expected {shape:?} or another of as many elements"));
        }
        // Without dimensions the one value stands in the list itself.
        let nesting: &[u64] = if stored.is_empty() { &[1] } else { &stored };
        let mut level: Vec<&Value> = values.iter().collect();
        for (axis, &len) in nesting.iter().enumerate() {
            if axis == 0 {
                check_length(level.len(), len)?;
                continue;
            }
            let mut inner = Vec::new();
            for value in level {
                let items = value.as_array().ok_or_else(|| format!("found {}, expected an array", value.kind()))?;
                check_length(items.len(), len)?;
                inner.extend(items);
            }
            level = inner;
        }
        Ok(level)
    }

    /// Returns the value of an element with content `content`.
    fn value(&self, content: &[u8]) -> Result<Value, String> {
        let text = std::str::from_utf8(content).map_err(|error| format!("a string is not UTF-8: {error}"))?;
        match self.data_type {
            DataType::String => Ok(Value::from(text)),
            _ if text.is_empty() => Ok(Value::Null),
            _ => Value::from_json(text).map_err(|error| format!("an element is not JSON: {error}")),
        }
    }
}

fn check_length(found: usize, expected: u64) -> Result<(), String> {
    if found as u64 == expected { Ok(()) } else { Err(format!("found an array of {found}, expected {expected}")) }
}

fn lengths(value: &Value) -> Result<Vec<u64>, String> {
    let lengths = value.as_array().and_then(|lengths| lengths.iter().map(Value::as_u64).collect());
    lengths.ok_or_else(|| format!("found {} as shape, expected an array of lengths", value.excerpt()))
}

/// Returns values in C order as nested lists.
fn nested(values: &mut impl Iterator<Item = Value>, shape: &[usize]) -> Vec<Value> {
    match shape {
        [] | [_] => values.take(shape.first().copied().unwrap_or(1)).collect(),
        [len, inner @ ..] => (0..*len).map(|_| Value::Array(nested(values, inner))).collect(),
    }
}

impl<N: Notation> ArrayToBytes for Objects<N> {
    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, _shape: &[u64]) -> Size {
        Size::Unknown
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let failed = |what: String| Error::Encode { codec: self.name, what };
        let mut values = Vec::new();
        read_variable(self.name, chunk, |content| {
            values.push(self.value(content).map_err(failed)?);
            Ok(())
        })?;
        let mut list = nested(&mut values.into_iter(), chunk.shape());
        list.push(Value::from("|O"));
        if self.shape == Shape::Stored {
            list.push(Value::from(chunk.shape().to_vec()));
        }
        self.notation.write(&Value::Array(list), out).map_err(failed)
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let corrupt = |what: String| Error::Corrupt { codec: self.name, what };
        check_size(encoded, self.max_chunk)?;
        let list = self.notation.parse(encoded).map_err(corrupt)?;
        let values = self.values(&list, shape).map_err(corrupt)?;
        let mut offsets = ElementOffsets::new(shape, region);
        write_variable(self.name, out, Vec::new(), |block| {
            let value = offsets.next().and_then(|index| values.get(usize::try_from(index).ok()?));
            if let Some(value) = value {
                block.extend(content(&self.data_type, value).map_err(corrupt)?);
            }
            Ok(())
        })
    }
}
