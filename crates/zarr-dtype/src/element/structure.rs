//! Rust structs as elements of arrays of structs.

use super::{Element, plain};
use crate::{DataType, Error, Field, Heap, StructType};
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;
use std::any::TypeId;

/// Rust struct whose values in memory equal the elements of a `struct` data type.
///
/// Elements of such a struct are not copied between codecs and the program. For any other struct use `#[derive(zarr::Element)]`, which
/// copies each field and has no requirements on memory.
///
/// Fields of elements follow each other without gaps, so the struct must be `#[repr(C)]` without gaps, or `#[repr(C, packed)]`;
/// `bytemuck`'s `Pod` ensures that. [`struct_element!`](crate::struct_element) implements this trait from the names of the fields. Reads
/// and writes check that the fields equal those of the data type: in number, order and offsets.
///
/// | Rust field | data type of the field |
/// |---|---|
/// | numbers | as for [`Element`]; `u8` also bool |
/// | `[T; N]` | array of N elements, each of which is a field of type `T` |
/// | `[u8; N]` | also `r*`, `raw_bytes` and `null_terminated_bytes` of N bytes |
/// | `[u32; N]` | also `fixed_length_utf32` of N code points |
/// | another such struct | struct |
///
/// ```
/// use zarr_dtype::{DataType, Element, Heap, StructElement, struct_element};
///
/// #[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C, packed)]
/// struct Station {
///     id: i32,
///     place: [f64; 2],
///     kind: u8,
/// }
/// struct_element!(Station { id, place, kind as "type" });
///
/// let data_type = DataType::Struct(Station::struct_type()?);
/// let stations = [Station { id: 7, place: [52.5, 13.4], kind: 1 }];
/// let items = Station::to_items(&data_type, &stations, &Heap::new())?;
/// assert_eq!(items.len(), 21);
/// assert_eq!(Station::from_items(&data_type, &items, &Heap::new())?, stations);
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub trait StructElement: Pod + Send + Sync {
    /// Returns the fields, in their order in memory.
    fn fields() -> Vec<StructField>;

    /// Returns the default data type of this struct: each Rust field has the first data type that it accepts, `[u8; N]` has `raw_bytes`.
    ///
    /// # Errors
    /// The same errors as [`StructType::new`].
    fn struct_type() -> Result<StructType, Error> {
        let field = |field: &StructField| {
            let (data_type, shape) = (field.data_type)();
            Field { name: field.name.to_owned(), data_type, shape }
        };
        StructType::new(Self::fields().iter().map(field).collect())
    }
}

/// Field of a [`StructElement`].
#[derive(Clone, Copy, Debug)]
pub struct StructField {
    name: &'static str,
    offset: usize,
    accepts: fn(&DataType, &[u64]) -> bool,
    data_type: fn() -> (DataType, Vec<u64>),
}

impl StructField {
    /// Describes the field `name` at byte `offset` of the struct `S`. `get` only determines the type of the field.
    pub fn new<S, T: FieldElement>(name: &'static str, offset: usize, get: fn(S) -> T) -> Self {
        let _ = get;
        Self { name, offset, accepts: T::accepts_field, data_type: T::field_type }
    }
}

/// Implements [`StructElement`] for a struct: `struct_element!(Point { x, y, kind as "type" })` lists all fields in order, and the names in
/// arrays of fields whose names differ.
#[macro_export]
macro_rules! struct_element {
    ($name:ident { $($field:ident $(as $label:literal)?),+ $(,)? }) => {
        impl $crate::StructElement for $name {
            fn fields() -> ::std::vec::Vec<$crate::StructField> {
                ::std::vec![$($crate::StructField::new(
                    $crate::struct_element!(@label $field $($label)?),
                    ::core::mem::offset_of!($name, $field),
                    |element: $name| element.$field,
                )),+]
            }
        }
    };
    (@label $field:ident) => { ::core::stringify!($field) };
    (@label $field:ident $label:literal) => { $label };
}

/// Rust type that a field of a [`StructElement`] may have.
pub trait FieldElement: Copy + 'static {
    /// Returns whether a field of `data_type` (with `shape` if it is an array) is a value of this type.
    fn accepts_field(data_type: &DataType, shape: &[u64]) -> bool;

    /// Returns the default data type of this type, and its shape; the shape is empty unless the field is an array.
    fn field_type() -> (DataType, Vec<u64>);
}

macro_rules! fields {
    ($($rust:ty = $data_type:ident $(($format:expr))? $(or $other:pat)?,)*) => { $(
        impl FieldElement for $rust {
            fn accepts_field(data_type: &DataType, shape: &[u64]) -> bool {
                shape.is_empty() && (<$rust>::accepts(data_type) $(|| matches!(data_type, $other))?)
            }

            fn field_type() -> (DataType, Vec<u64>) {
                (DataType::$data_type $(($format))?, Vec::new())
            }
        }
    )* };
}

fields! {
    u8 = UInt8 or DataType::Bool,
}
super::numbers!(fields);
#[cfg(feature = "microfloat")]
super::small_floats!(fields);

impl<T: FieldElement, const N: usize> FieldElement for [T; N] {
    fn accepts_field(data_type: &DataType, shape: &[u64]) -> bool {
        match (shape.split_first(), data_type) {
            (Some((&len, inner)), _) => u64::try_from(N) == Ok(len) && T::accepts_field(data_type, inner),
            (None, DataType::FixedUtf32 { len }) => is::<T, u32>() && u32::try_from(N) == Ok(*len),
            (None, _) => is::<T, u8>() && super::has_size(data_type, N),
        }
    }

    fn field_type() -> (DataType, Vec<u64>) {
        match u32::try_from(N) {
            Ok(len) if is::<T, u8>() => (DataType::RawBytes { len }, Vec::new()),
            _ => {
                let (data_type, mut shape) = T::field_type();
                shape.insert(0, u64::try_from(N).unwrap_or(u64::MAX));
                (data_type, shape)
            }
        }
    }
}

pub(super) fn is<A: 'static, B: 'static>() -> bool {
    TypeId::of::<A>() == TypeId::of::<B>()
}

impl<T: StructElement> FieldElement for T {
    fn accepts_field(data_type: &DataType, shape: &[u64]) -> bool {
        shape.is_empty() && T::accepts(data_type)
    }

    fn field_type() -> (DataType, Vec<u64>) {
        // A type that cannot be a struct is no field either: an array of no bytes is refused instead.
        T::struct_type().map_or((DataType::UInt8, vec![0]), |fields| (DataType::Struct(fields), Vec::new()))
    }
}

impl<T: StructElement> Element for T {
    fn name() -> String {
        std::any::type_name::<T>().to_owned()
    }

    fn accepts(data_type: &DataType) -> bool {
        let DataType::Struct(fields) = data_type else { return false };
        let own = T::fields();
        let fits = |(own, (range, field)): (&StructField, (std::ops::Range<usize>, &Field))| {
            own.name == field.name && own.offset == range.start && (own.accepts)(&field.data_type, &field.shape)
        };
        size_of::<T>() == fields.item_size()
            && own.len() == fields.fields().len()
            && own.iter().zip(fields.placed()).all(fits)
    }

    fn default_data_type() -> Result<DataType, Error> {
        Ok(DataType::Struct(T::struct_type()?))
    }

    plain::methods!();
}
