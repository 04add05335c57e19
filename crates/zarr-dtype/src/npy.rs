//! numpy's type strings, as the headers of `.npy` files have them.

mod structure;

pub use structure::{from_npy_value, npy_literal};

use crate::{ByteOrder, DataType, Error, NumpyType, NumpyTypeError};
use zarr_json::Value;

/// numpy's type string for elements of `data_type` in little-endian order, such as `<f4`, `|b1`, `<M8[25s]`; `None` for types that numpy
/// lacks (bfloat16 and smaller floats, strings and bytes of variable length, extensions), and for structs, which [`npy_literal`] spells.
///
/// Two- and four-bit integers lie in whole bytes, and are such to numpy.
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

/// The data type and byte order of numpy's type string.
///
/// # Errors
/// [`Error::Unknown`] for a type that is none of ours: objects, long doubles, and text that is no type string.
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

/// The data type that a type of numpy is, within the limits of sizes. Files have none of the types that TensorStore adds to
/// documents, and no objects.
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
