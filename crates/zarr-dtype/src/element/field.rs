//! Rust types of the fields of structs whose fields are copied one by one.

use super::structure::is;
use super::{FieldElement, StructElement, has_size};
use crate::{DataType, Error};
use half::{bf16, f16};
use num_complex::Complex;

/// Rust type that a field of a struct with `#[derive(zarr::Element)]` may have.
///
/// | Rust field | data type of the field |
/// |---|---|
/// | `bool`, numbers, complex numbers | as for [`Element`](crate::Element); `u8` also bool |
/// | `[T; N]` | array of N elements, each of which is a field of type `T` |
/// | `[u8; N]` | also `r*`, `raw_bytes` and `null_terminated_bytes` of N bytes |
/// | `[u32; N]` | also `fixed_length_utf32` of N code points |
/// | with the feature `jiff`: points in time, durations, and `Option` of one of these types | as for [`Element`](crate::Element) |
/// | another such struct, a [`StructElement`] | struct |
///
/// Each type also accepts an [extension](DataType::Extension) that is stored as such a data type.
///
/// Implement this trait for types of fields that are not in the table, such as a number with a unit or an enum stored as `u8`.
///
/// ```
/// use zarr_dtype::{DataType, Error, FieldValue, Offsets};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Sky { Clear, Overcast }
///
/// impl FieldValue for Sky {
///     const SIZE: usize = u8::SIZE;
///     const PARTS: usize = u8::PARTS;
///
///     fn offsets(data_type: &DataType, shape: &[u64], into: &mut Vec<usize>) -> Result<(), Error> {
///         u8::offsets(data_type, shape, into)
///     }
///
///     fn field_type() -> Result<(DataType, Vec<u64>), Error> {
///         u8::field_type()
///     }
///
///     fn zero() -> Self {
///         Self::Clear
///     }
///
///     fn load(&mut self, _: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
///         *self = match bytes {
///             [0] => Self::Clear,
///             [1] => Self::Overcast,
///             _ => return Err(Error::Item { index: 0, found: format!("{bytes:?}"), expected: "a sky: 0 or 1".to_owned() }),
///         };
///         Ok(())
///     }
///
///     fn store(&self, offsets: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
///         (*self as u8).store(offsets, bytes)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of fields of elements, which have a fixed size",
    note = "bools, numbers, complex numbers, arrays of them, `[u8; N]` for bytes, and structs with `#[derive(zarr::Element)]` are",
    note = "strings and vectors have no fixed size: store them as an array of their own"
)]
pub trait FieldValue: Sized + Clone + Send + Sync + 'static {
    /// Size of a value in elements, in bytes.
    const SIZE: usize;

    /// Number of offsets that describe the positions of a value's parts in its bytes: 0 for a type without fields of its own. A type whose
    /// values depend on the configuration of the data type may use some of them for other numbers.
    const PARTS: usize;

    /// Checks that a field of `data_type` (with `shape` if it is an array) is a value of this type, and appends [`PARTS`](Self::PARTS)
    /// offsets to `into`: the offset of each field, followed by the offsets within the field.
    ///
    /// # Errors
    /// [`Error::Field`] with an empty name for the field itself, else with the name of a field in it.
    fn offsets(data_type: &DataType, shape: &[u64], into: &mut Vec<usize>) -> Result<(), Error>;

    /// Returns the default data type of this type, and its shape; the shape is empty unless the field is an array.
    ///
    /// # Errors
    /// The same errors as [`StructType::new`](crate::StructType::new).
    fn field_type() -> Result<(DataType, Vec<u64>), Error>;

    /// Returns the initial value of an element before it is read.
    fn zero() -> Self;

    /// Sets the value from its `bytes`, [`SIZE`](Self::SIZE) bytes in memory form.
    ///
    /// # Errors
    /// [`Error::Item`], whose index has no meaning, if the bytes are no value of this type.
    fn load(&mut self, offsets: Offsets<'_>, bytes: &[u8]) -> Result<(), Error>;

    /// Writes the value to `bytes`, all [`SIZE`](Self::SIZE) bytes of them.
    ///
    /// # Errors
    /// [`Error::Item`], whose index has no meaning, for a value that the data type cannot represent.
    fn store(&self, offsets: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error>;
}

/// Offsets of the fields of a value in its bytes.
///
/// Fields in the order of the Rust struct need no offsets: the compiler knows them, and copies neighbouring fields at once.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'o>(Option<&'o [usize]>);

impl<'o> Offsets<'o> {
    /// Fields in the order of the Rust struct.
    pub(crate) const AS_DECLARED: Self = Self(None);

    pub(crate) const fn new(offsets: &'o [usize]) -> Self {
        Self(Some(offsets))
    }

    /// Returns the offset at `index`, of a field; `declared` if the fields are in the order of the Rust struct.
    #[inline(always)]
    pub fn field(self, index: usize, declared: usize) -> usize {
        match self.0 {
            Some(offsets) => offsets[index],
            None => declared,
        }
    }

    /// Returns the offsets within a field: `count` offsets starting at `index`.
    #[inline(always)]
    pub fn within(self, index: usize, count: usize) -> Self {
        Self(self.0.map(|offsets| &offsets[index..index + count]))
    }
}

/// Returns the error for a field that the Rust type `T` does not accept.
pub(super) fn mismatch<T: FieldValue>(data_type: &DataType, shape: &[u64]) -> Error {
    other_field(T::field_type(), data_type, shape)
}

fn other_field(expected: Result<(DataType, Vec<u64>), Error>, data_type: &DataType, shape: &[u64]) -> Error {
    let expected = expected.map_or_else(|error| error.to_string(), |(data_type, shape)| text(&data_type, &shape));
    Error::Field { element: String::new(), field: String::new(), found: text(data_type, shape), expected }
}

pub(super) fn text(data_type: &DataType, shape: &[u64]) -> String {
    if shape.is_empty() { data_type.to_string() } else { format!("{data_type} in shape {shape:?}") }
}

/// Generates the members of the trait that are equal for all types whose bits in memory are the value.
macro_rules! copied {
    () => {
        const SIZE: usize = size_of::<Self>();
        const PARTS: usize = 0;

        fn offsets(data_type: &DataType, shape: &[u64], _: &mut Vec<usize>) -> Result<(), Error> {
            let accepts = |data_type| <Self as FieldElement>::accepts_field(data_type, shape);
            match accepts(data_type) || accepts(data_type.storage()) {
                true => Ok(()),
                false => Err(mismatch::<Self>(data_type, shape)),
            }
        }

        fn zero() -> Self {
            bytemuck::Zeroable::zeroed()
        }

        #[inline(always)]
        fn load(&mut self, _: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
            *self = bytemuck::pod_read_unaligned(bytes);
            Ok(())
        }

        #[inline(always)]
        fn store(&self, _: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
            bytes.copy_from_slice(bytemuck::bytes_of(self));
            Ok(())
        }
    };
}

macro_rules! numbers {
    ($($rust:ty = $data_type:ident $(($format:expr))? $(or $other:pat)?,)*) => { $(
        impl FieldValue for $rust {
            copied!();

            fn field_type() -> Result<(DataType, Vec<u64>), Error> {
                Ok(<Self as FieldElement>::field_type())
            }
        }
    )* };
}

numbers! {
    u8 = UInt8,
}
super::numbers!(numbers);
#[cfg(feature = "microfloat")]
super::small_floats!(numbers);

impl<T: StructElement> FieldValue for T {
    copied!();

    fn field_type() -> Result<(DataType, Vec<u64>), Error> {
        Ok((DataType::Struct(T::struct_type()?), Vec::new()))
    }
}

impl FieldValue for bool {
    const SIZE: usize = 1;
    const PARTS: usize = 0;

    fn offsets(data_type: &DataType, shape: &[u64], _: &mut Vec<usize>) -> Result<(), Error> {
        match data_type.storage() {
            DataType::Bool if shape.is_empty() => Ok(()),
            _ => Err(mismatch::<Self>(data_type, shape)),
        }
    }

    fn field_type() -> Result<(DataType, Vec<u64>), Error> {
        Ok((DataType::Bool, Vec::new()))
    }

    fn zero() -> Self {
        false
    }

    #[inline(always)]
    fn load(&mut self, _: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
        *self = match bytes {
            [0] => false,
            [1] => true,
            _ => {
                let found = format!("byte {:#04x}", bytes.first().copied().unwrap_or_default());
                return Err(Error::Item { index: 0, found, expected: "a bool: 0x00 or 0x01".to_owned() });
            }
        };
        Ok(())
    }

    #[inline(always)]
    fn store(&self, _: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
        bytes[0] = u8::from(*self);
        Ok(())
    }
}

impl<T: FieldValue, const N: usize> FieldValue for [T; N] {
    const SIZE: usize = N * T::SIZE;
    const PARTS: usize = T::PARTS;

    fn offsets(data_type: &DataType, shape: &[u64], into: &mut Vec<usize>) -> Result<(), Error> {
        let fits = match (shape.split_first(), data_type.storage()) {
            (Some((&len, inner)), _) if u64::try_from(N) == Ok(len) => return T::offsets(data_type, inner, into),
            (Some(_), _) => false,
            (None, DataType::FixedUtf32 { len }) => is::<T, u32>() && u32::try_from(N) == Ok(*len),
            (None, storage) => is::<T, u8>() && has_size(storage, N),
        };
        if fits { Ok(()) } else { Err(mismatch::<Self>(data_type, shape)) }
    }

    fn field_type() -> Result<(DataType, Vec<u64>), Error> {
        match u32::try_from(N) {
            Ok(len) if is::<T, u8>() => Ok((DataType::RawBytes { len }, Vec::new())),
            _ => {
                let (data_type, mut shape) = T::field_type()?;
                shape.insert(0, u64::try_from(N).unwrap_or(u64::MAX));
                Ok((data_type, shape))
            }
        }
    }

    fn zero() -> Self {
        std::array::from_fn(|_| T::zero())
    }

    #[inline(always)]
    fn load(&mut self, offsets: Offsets<'_>, bytes: &[u8]) -> Result<(), Error> {
        // Inner elements of no bytes are arrays without elements.
        for (element, bytes) in self.iter_mut().zip(bytes.chunks_exact(T::SIZE.max(1))) {
            element.load(offsets, bytes)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn store(&self, offsets: Offsets<'_>, bytes: &mut [u8]) -> Result<(), Error> {
        for (element, bytes) in self.iter().zip(bytes.chunks_exact_mut(T::SIZE.max(1))) {
            element.store(offsets, bytes)?;
        }
        Ok(())
    }
}
