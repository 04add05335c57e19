//! Elements as floats, as pictures need them.

use super::sample::Sample;
use crate::fault::Fault;
use crate::nodes::{Nodes, Opened, is_numeric};
use zarr_array::{Array, Cast};
use zarr_dtype::DataType;

/// Elements as floats, exact where a float of the size is.
pub(crate) enum Numbers {
    /// Of types whose values are floats of 32 bits.
    F32(Vec<f32>),
    /// Of all other types; integers beyond 2^53 are rounded.
    F64(Vec<f64>),
}

impl Numbers {
    /// Reads a sample of an array, in the order of the axes `y` and `x`: rows from top to bottom.
    pub(crate) fn read(array: &Array, sample: &Sample, y: Option<usize>, x: Option<usize>) -> Result<Self, Fault> {
        let is_turned = matches!((y, x), (Some(y), Some(x)) if y > x);
        let columns = |axis: Option<usize>| axis.and_then(|axis| sample.axes.get(axis)).map_or(1, |axis| axis.len);
        // Stored rows are columns of the picture.
        let row = usize::try_from(columns(y)).unwrap_or(usize::MAX).max(1);
        let selection = sample.selection();
        Ok(match is_exact_in_f32(array.data_type().storage()) {
            true => {
                let read = array.read_as::<f32>(selection, Cast::Lossy)?;
                Self::F32(if is_turned { turned(&read, row) } else { read })
            }
            false => {
                let read = array.read_as::<f64>(selection, Cast::Lossy)?;
                Self::F64(if is_turned { turned(&read, row) } else { read })
            }
        })
    }

    /// The name of the type.
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

    /// Appends the elements to bytes, little-endian.
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

/// Rows of `len` elements as columns.
fn turned<T: Copy>(elements: &[T], len: usize) -> Vec<T> {
    (0..len).flat_map(|column| elements.iter().skip(column).step_by(len).copied()).collect()
}

/// The array that a question is about: of decoded values, if it asks for these and there are numbers.
pub(crate) fn array_of<'o>(nodes: &Nodes, opened: &'o Opened, is_decoded: bool) -> Result<(&'o Array, bool), Fault> {
    let stored = nodes.array(opened)?;
    if is_decoded
        && let Ok(found) = nodes.variable(opened)
        && let Some(decoded) = found.decoded()?
    {
        return Ok((decoded, true));
    }
    match is_numeric(stored) {
        true => Ok((stored, false)),
        false => {
            let data_type = zarr_meta::text::type_in_short(&stored.data_type().to_config());
            Err(Fault::argument(format!("{}: found elements of type {data_type}, expected numbers", stored.path())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        assert_eq!(turned(&[1, 2, 3, 4, 5, 6], 3), [1, 4, 2, 5, 3, 6]);
        assert_eq!(turned::<u8>(&[], 3), [0; 0]);
    }
}
