//! Kinds of values, by data type.

use std::borrow::Cow;
use zarr_array::{Error, Result};
use zarr_dtype::{Class, DataType, print};

/// Kind of the values of a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Integers and floats.
    Number,
    /// Floats of 8, 6 and 4 bits.
    SmallFloat,
    /// Bools, treated as the numbers 0 and 1.
    Truth,
    /// Points in time and lengths of time.
    Time,
    /// Complex numbers. Their extremes, quantiles and histogram are those of their magnitudes.
    Complex,
    /// Strings. Statistics of numbers are those of their lengths in characters.
    Text,
    /// Bytes, lists and objects. Statistics of numbers are those of their lengths in bytes, for lists and objects in memory.
    Bytes,
}

impl Kind {
    /// Returns the kind of the values of a data type.
    ///
    /// # Errors
    /// [`zarr_array::ErrorKind::Argument`] for structs, with the names of their fields.
    pub fn of(data_type: &DataType) -> Result<Self> {
        Ok(match data_type.storage() {
            DataType::Bool => Self::Truth,
            DataType::DateTime64(_) | DataType::TimeDelta64(_) => Self::Time,
            // Dates of other calendars have NaT as numpy has it.
            DataType::Int64 if data_type.class().is_none() && is_time(data_type) => Self::Time,
            DataType::SmallFloat(_) => Self::SmallFloat,
            DataType::String | DataType::FixedUtf32 { .. } => Self::Text,
            DataType::Struct(fields) => {
                let names: Vec<&str> = fields.fields().iter().map(|field| field.name.as_str()).collect();
                let error = Error::argument("elements are structs, which have no statistics as a whole");
                return Err(error.with_hint(format!("name one of the fields: {}", names.join(", "))));
            }
            storage => match storage.class() {
                Some(Class::Complex) => Self::Complex,
                Some(_) => Self::Number,
                None => Self::Bytes,
            },
        })
    }

    /// Whether values are strings or bytes.
    pub fn is_textual(self) -> bool {
        matches!(self, Self::Text | Self::Bytes)
    }
}

fn is_time(data_type: &DataType) -> bool {
    print::to_text(data_type, &i64::MIN.to_ne_bytes(), None) == "NaT"
}

/// Returns the real and the imaginary parts of complex numbers.
pub(crate) fn complex(data_type: &DataType, items: &[u8]) -> (Vec<f64>, Vec<f64>) {
    let part = match data_type.storage() {
        DataType::SmallComplex(small) => DataType::SmallFloat(*small),
        DataType::ComplexFloat16 => DataType::Float16,
        DataType::ComplexBFloat16 => DataType::BFloat16,
        DataType::Complex64 => DataType::Float32,
        _ => DataType::Float64,
    };
    let value = |item: &[u8]| part.to_f64(item).unwrap_or(f64::NAN);
    let pairs = items.chunks_exact(2 * part.item_size()).map(|pair| pair.split_at(part.item_size()));
    pairs.map(|(real, imaginary)| (value(real), value(imaginary))).unzip()
}

/// Converts floats of 8, 6 and 4 bits to `f32`.
pub(crate) fn small_floats(data_type: &DataType, items: &[u8]) -> Vec<f32> {
    let value = |item: &u8| data_type.storage().to_f64(&[*item]).unwrap_or(f64::NAN) as f32;
    items.iter().map(value).collect()
}

/// Returns a string of fixed length as UTF-8, without NULs at its end. Bytes are returned without zeros at their end if the data type pads
/// them.
pub(crate) fn fixed_text<'i>(data_type: &DataType, item: &'i [u8]) -> Cow<'i, [u8]> {
    let trimmed = |item: &'i [u8]| {
        let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        item.get(..end).unwrap_or_default()
    };
    match data_type.storage() {
        DataType::FixedUtf32 { .. } => {
            let points = item.as_chunks::<4>().0.iter().map(|&point| u32::from_ne_bytes(point));
            let text: String =
                points.map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
            Cow::Owned(text.trim_end_matches('\0').as_bytes().to_vec())
        }
        DataType::FixedBytes { .. } => Cow::Borrowed(trimmed(item)),
        _ => Cow::Borrowed(item),
    }
}
