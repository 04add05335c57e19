//! Type strings of numpy in the headers of `.npy` files.

mod structure;

pub use structure::{from_npy_value, npy_literal};

use crate::{ByteOrder, DataType, Error, NumpyType, NumpyTypeError};
use zarr_json::Value;

/// Returns numpy's type string for elements of `data_type` in little-endian order, such as `<f4`, `|b1`, `<M8[25s]`. `None` for types that
/// numpy lacks (bfloat16 and smaller floats, strings and bytes of variable length, extensions), and for structs, see [`npy_literal`].
///
/// Two- and four-bit integers are stored in whole bytes, so numpy has them as 8-bit integers.
pub fn npy_descr(data_type: &DataType) -> Option<String> {
    let numpy = match data_type {
        DataType::Int2 | DataType::Int4 => NumpyType::Number(DataType::Int8),
        DataType::UInt2 | DataType::UInt4 => NumpyType::Number(DataType::UInt8),
        DataType::Struct(_) | DataType::Extension(_) => return None,
        other => NumpyType::from_config(&other.to_config())?,
    };
    let is_one = numpy.is_of_numpy() && numpy != NumpyType::Object;
    is_one.then(|| numpy.to_value(&numpy.all_in(&ByteOrder::Little)).as_str().map(str::to_owned))?
}

/// Returns the data type and byte order for a type string of numpy.
///
/// # Errors
/// [`Error::Unknown`] for a type that this crate lacks (objects, long doubles), and for a string that is no type string.
///
/// # Example
/// ```
/// # use zarr_dtype::{ByteOrder, DataType, from_npy_descr};
/// assert_eq!(from_npy_descr(">f4")?, (DataType::Float32, ByteOrder::Big));
/// # Ok::<(), zarr_dtype::Error>(())
/// ```
pub fn from_npy_descr(descr: &str) -> Result<(DataType, ByteOrder), Error> {
    let unknown = || Error::Unknown { name: descr.to_owned(), hint: None };
    from_npy_value(&Value::from(descr)).map_err(|_| unknown())
}

/// Returns the data type for a type of numpy, if its size is within the limits. Objects, and types that TensorStore adds to documents, are
/// errors, since files cannot contain them.
fn known(numpy: &NumpyType) -> Result<DataType, Error> {
    if !numpy.is_of_numpy() || *numpy == NumpyType::Object {
        let name = numpy.to_value(&ByteOrder::Irrelevant);
        let name = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        return Err(Error::Unknown { name, hint: None });
    }
    DataType::from_config(&numpy.to_config())
}

impl From<NumpyTypeError> for Error {
    fn from(error: NumpyTypeError) -> Self {
        match error {
            NumpyTypeError::Unknown { name, .. } => Self::Unknown { name, hint: None },
            NumpyTypeError::Invalid(error) => Self::Invalid {
                pointer: error.pointer().to_owned(),
                found: error.found().to_owned(),
                expected: error.expected().to_owned(),
            },
        }
    }
}
