//! Structs: elements that consist of fields.
//!
//! A struct in memory is packed, field after field, with each number in the byte order of the machine. The codec `bytes` reverses the bytes
//! of numbers run by run (`SwapRun`), so that fields of mixed byte orders cost one pass each. A field of the elements of a view is a view
//! with the same strides, and an array in a field adds axes to it.

pub(crate) mod config;

use crate::layout::{FieldLayout, Layout};
use crate::name::MAX_ITEM_SIZE;
use crate::{DataType, Error};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Maximum depth of nested structs.
pub(crate) const MAX_DEPTH: usize = 32;

/// Maximum number of equally spaced runs of numbers in an element. Nested arrays of structs could otherwise have as many runs as bytes,
/// from a data type that takes a few bytes in a document.
const MAX_RUNS: usize = 1 << 18;

/// Fields of a `struct`, numpy's structured type: side by side without gaps, each of fixed size.
///
/// Names of fields are unique. Clones share the fields, so cloning is cheap.
///
/// ```
/// # use zarr_dtype::{DataType, Field, StructType};
/// let fields = StructType::new(vec![
///     Field::new("id", DataType::Int32),
///     Field::array("position", DataType::Float64, &[3]),
/// ])?;
/// assert_eq!(fields.item_size(), 28);
/// let (bytes, position) = fields.get("position").expect("a field");
/// assert_eq!((bytes, &position.data_type), (4..28, &DataType::Float64));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType(Arc<Fields>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Fields {
    fields: Vec<Field>,
    layouts: Arc<[FieldLayout]>,
    size: usize,
    /// Number of nested structs down to the innermost field, including this one.
    depth: usize,
}

/// Field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Type of the field, or of its inner elements if the field is an array.
    pub data_type: DataType,
    /// Shape of the inner elements, in C order, if the field is an array; empty if not.
    pub shape: Vec<u64>,
}

impl Field {
    /// Creates a field with one value.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, shape: Vec::new() }
    }

    /// Creates a field that is an array of `shape`.
    pub fn array(name: impl Into<String>, data_type: DataType, shape: &[u64]) -> Self {
        Self { name: name.into(), data_type, shape: shape.to_vec() }
    }

    /// Returns the number of values in the field: 1, or the number of inner elements if it is an array; `None` if that exceeds `usize`.
    fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(usize::try_from(len).ok()?))
    }
}

impl StructType {
    /// Creates a struct with these fields.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are no fields, if two have the same name, if one has variable length or a length of 0 in its shape, or
    /// if structs are nested more than 32 deep; [`Error::Limit`] for elements above 64 MiB. The JSON pointer is relative to a data type in
    /// a document: `/configuration/fields/1/name`.
    pub fn new(fields: Vec<Field>) -> Result<Self, Error> {
        let mut names = HashSet::new();
        let mut layouts = Vec::with_capacity(fields.len());
        let (mut size, mut depth) = (0_usize, 1);
        for (index, field) in fields.iter().enumerate() {
            let invalid = |member: &str, found: String, expected: &str| Error::Invalid {
                pointer: format!("/configuration/fields/{index}{member}"),
                found,
                expected: expected.to_owned(),
            };
            if !names.insert(field.name.as_str()) {
                return Err(invalid("/name", format!("{:?} again", field.name), "names that differ"));
            }
            if field.data_type.is_variable() {
                return Err(invalid("/data_type", field.data_type.to_string(), "a data type of fixed size"));
            }
            if field.shape.contains(&0) {
                return Err(invalid("/data_type", format!("an array of shape {:?}", field.shape), "lengths above 0"));
            }
            if let DataType::Struct(inner) = field.data_type.storage() {
                depth = depth.max(inner.0.depth + 1);
            }
            if depth > MAX_DEPTH {
                return Err(invalid("/data_type", "a struct".to_owned(), "structs that are at most 32 deep"));
            }
            let item = field.data_type.item_size();
            let end = field.count().and_then(|count| count.checked_mul(item)).and_then(|bytes| bytes.checked_add(size));
            let limit = usize::try_from(MAX_ITEM_SIZE).unwrap_or(usize::MAX);
            let Some(end) = end.filter(|&end| end <= limit) else {
                let found = end.and_then(|end| u64::try_from(end).ok()).unwrap_or(u64::MAX);
                let pointer = format!("/configuration/fields/{index}");
                return Err(Error::Limit { pointer, found, limit: u64::from(MAX_ITEM_SIZE) });
            };
            let count = field.count().unwrap_or(1);
            layouts.push(FieldLayout { offset: size, layout: field.data_type.layout(), count });
            size = end;
        }
        let fault = |found: &str, expected: String| Error::Invalid {
            pointer: "/configuration/fields".to_owned(),
            found: found.to_owned(),
            expected,
        };
        if fields.is_empty() {
            return Err(fault("no fields", "at least one".to_owned()));
        }
        let layouts: Arc<[FieldLayout]> = layouts.into();
        if !(Layout::Struct { fields: Arc::clone(&layouts), size }).has_runs_within(MAX_RUNS) {
            let expected = format!("elements in which numbers of one kind lie in at most {MAX_RUNS} runs");
            return Err(fault("arrays of structs in structs", expected));
        }
        Ok(Self(Arc::new(Fields { fields, layouts, size, depth })))
    }

    /// Returns the fields, in memory order.
    pub fn fields(&self) -> &[Field] {
        &self.0.fields
    }

    /// Returns the fields, each with its range in the bytes of an element.
    pub fn placed(&self) -> impl ExactSizeIterator<Item = (Range<usize>, &Field)> {
        let ranges = self.0.layouts.iter().map(|layout| layout.offset..layout.offset.saturating_add(layout.size()));
        ranges.zip(&self.0.fields)
    }

    /// Returns the field `name` with its range in the bytes of an element; `None` if there is no such field.
    pub fn get(&self, name: &str) -> Option<(Range<usize>, &Field)> {
        self.placed().find(|(_, field)| field.name == name)
    }

    /// Returns the size of one element in bytes.
    pub fn item_size(&self) -> usize {
        self.0.size
    }

    /// Returns the layout of elements in memory.
    pub fn layout(&self) -> Layout {
        Layout::Struct { fields: Arc::clone(&self.0.layouts), size: self.0.size }
    }
}
