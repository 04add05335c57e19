//! Structs: elements that are made of fields.
//!
//! A struct lies in memory packed, field after field, each number in the byte order of the machine, whatever it has in the store. The
//! codec `bytes` reverses the numbers that need it run by run (`SwapRun`), so that fields of mixed order cost a pass each. A field of
//! the elements of a view is a view with the same strides, and an array in a field is further axes of it.

pub(crate) mod config;

use crate::layout::{FieldLayout, Layout};
use crate::name::MAX_ITEM_SIZE;
use crate::{DataType, Error};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// How deep structs may lie in structs.
pub(crate) const MAX_DEPTH: usize = 32;

/// Into how many equally spaced runs of numbers an element may fall apart. Arrays of structs in structs could make that
/// as many as the element has bytes, from a type that takes a few bytes to say.
const MAX_RUNS: usize = 1 << 18;

/// The fields of a `struct`, numpy's structured type: one after another without gaps, each of fixed size.
///
/// A name is there but once. Shared, so that copies cost nothing.
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
    /// Structs on the way to the innermost field, this one included.
    depth: usize,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type of the field, or of its inner elements if it is an array.
    pub data_type: DataType,
    /// The shape if the field is an array, whose inner elements lie in C order; empty if it is not.
    pub shape: Vec<u64>,
}

impl Field {
    /// A field with one value.
    pub fn new(name: impl Into<String>, data_type: DataType) -> Self {
        Self { name: name.into(), data_type, shape: Vec::new() }
    }

    /// A field that is an array of `shape`.
    pub fn array(name: impl Into<String>, data_type: DataType, shape: &[u64]) -> Self {
        Self { name: name.into(), data_type, shape: shape.to_vec() }
    }

    /// How many values the field has: 1, or the number of inner elements if it is an array; `None` if that is more than
    /// can be addressed.
    fn count(&self) -> Option<usize> {
        self.shape.iter().try_fold(1_usize, |count, &len| count.checked_mul(usize::try_from(len).ok()?))
    }
}

impl StructType {
    /// A struct of these fields.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are none, two of one name, one of variable length or with a length of 0, or structs
    /// lie deeper than 32 in each other; [`Error::Limit`] for elements above 64 MiB. The JSON pointer is that of a data
    /// type in a document: `/configuration/fields/1/name`.
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

    /// The fields, in the order in which they lie in memory.
    pub fn fields(&self) -> &[Field] {
        &self.0.fields
    }

    /// The fields, and where each is in the bytes of an element.
    pub fn placed(&self) -> impl ExactSizeIterator<Item = (Range<usize>, &Field)> {
        let ranges = self.0.layouts.iter().map(|layout| layout.offset..layout.offset.saturating_add(layout.size()));
        ranges.zip(&self.0.fields)
    }

    /// The field of this name, and where it is in the bytes of an element.
    pub fn get(&self, name: &str) -> Option<(Range<usize>, &Field)> {
        self.placed().find(|(_, field)| field.name == name)
    }

    /// Bytes of one element.
    pub fn item_size(&self) -> usize {
        self.0.size
    }

    /// How elements lie in memory.
    pub fn layout(&self) -> Layout {
        Layout::Struct { fields: Arc::clone(&self.0.layouts), size: self.0.size }
    }
}
