//! Elements as floats for pictures.

use super::region::SampledRegion;
use crate::nodes::{Nodes, OpenedNode};
use crate::request_error::RequestError;
use zarr_array::{Array, Cast};
use zarr_dtype::DataType;
use zarr_view::shown_array;

/// Elements as floats of 32 bits if those are exact, otherwise of 64 bits.
pub(crate) enum FloatElements {
    /// Elements of types whose values are all exact as 32-bit floats.
    F32(Vec<f32>),
    /// Elements of all other types; integers beyond 2^53 are rounded.
    F64(Vec<f64>),
}

impl FloatElements {
    /// Reads elements of an array, in rows from top to bottom.
    pub(crate) fn read(array: &Array, taken: &SampledRegion) -> Result<Self, RequestError> {
        let (cut, samples, selection) = (&taken.cut, taken.samples(), taken.selection());
        Ok(match is_exact_in_f32(array.data_type().storage()) {
            true => Self::F32(cut.transposed(array.read_as::<f32>(selection, Cast::Lossy)?, samples)),
            false => Self::F64(cut.transposed(array.read_as::<f64>(selection, Cast::Lossy)?, samples)),
        })
    }

    /// Returns the name of the float type.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::F32(_) => "float32",
            Self::F64(_) => "float64",
        }
    }

    pub(crate) fn to_f64(&self) -> Vec<f64> {
        match self {
            Self::F32(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Self::F64(values) => values.clone(),
        }
    }

    /// Appends the elements to `bytes`, little-endian.
    pub(crate) fn append_to(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::F32(values) => bytes.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::F64(values) => bytes.extend(values.iter().flat_map(|value| value.to_le_bytes())),
        }
    }
}

fn is_exact_in_f32(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Bool
            | DataType::Int2
            | DataType::Int4
            | DataType::Int8
            | DataType::Int16
            | DataType::UInt2
            | DataType::UInt4
            | DataType::UInt8
            | DataType::UInt16
            | DataType::SmallFloat(_)
            | DataType::Float16
            | DataType::BFloat16
            | DataType::Float32
    )
}

/// Returns the array that a question is about, and whether it is decoded. If `is_decoded` asks for decoded values and those are numbers,
/// this is the array of decoded values; otherwise the stored array.
pub(crate) fn array_of<'o>(
    nodes: &Nodes,
    opened: &'o OpenedNode,
    is_decoded: bool,
) -> Result<(&'o Array, bool), RequestError> {
    let stored = nodes.array(opened)?;
    let (array, is_decoded) = match nodes.variable(opened) {
        Ok(found) if is_decoded => shown_array(&found.variable)?,
        _ => (stored, false),
    };
    check_numbers(array)?;
    Ok((array, is_decoded))
}

/// Fails if the elements of an array cannot be shown in a picture.
pub(crate) fn check_numbers(array: &Array) -> Result<(), RequestError> {
    match zarr_view::Numbers::of(array.data_type()) {
        Some(_) => Ok(()),
        None => {
            let data_type = zarr_meta::text::type_in_short(&array.data_type().to_config());
            Err(RequestError::argument(format!(
                "{}: found elements of type {data_type}, expected numbers",
                array.path()
            )))
        }
    }
}
