//! Floating-point numbers as bits.

use zarr_array::{Array, Error, ErrorKind, Result};
use zarr_cf::fill::{FILL_VALUE, Fill, MISSING_VALUE, from_attribute, from_plain};
use zarr_dtype::DataType;

/// Maximum number of marks of missing data of an array, with each of which elements are compared.
const MOST_MARKS: usize = 64;

/// Form of binary floating-point numbers of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FloatForm {
    Half,
    Single,
    Double,
}

impl FloatForm {
    /// Returns the form of the elements of a data type; `None` if they are no such numbers.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        match data_type.to_string().as_str() {
            "float16" => Some(Self::Half),
            "float32" => Some(Self::Single),
            "float64" => Some(Self::Double),
            _ => None,
        }
    }

    /// Number of bits of an element.
    pub(crate) fn width(self) -> u32 {
        match self {
            Self::Half => 16,
            Self::Single => 32,
            Self::Double => 64,
        }
    }

    /// Number of bits of the mantissa.
    pub(crate) fn mantissa(self) -> u32 {
        match self {
            Self::Half => 10,
            Self::Single => 23,
            Self::Double => 52,
        }
    }

    /// Bits of the elements in `items`, in the machine's byte order.
    pub(crate) fn bits(self, items: &[u8]) -> Vec<u64> {
        let size = self.width() as usize / 8;
        let of_item = |item: &[u8]| match self {
            Self::Half => item.try_into().map_or(0, |item| u64::from(u16::from_ne_bytes(item))),
            Self::Single => item.try_into().map_or(0, |item| u64::from(u32::from_ne_bytes(item))),
            Self::Double => item.try_into().map_or(0, u64::from_ne_bytes),
        };
        items.chunks_exact(size).map(of_item).collect()
    }

    /// Returns bits with the exponent as a sign and an absolute value, in place of a sum with a constant: so that the exponents of numbers a
    /// little below and above 1 differ in few bits.
    pub(crate) fn with_signed_exponent(self, bits: u64) -> u64 {
        let mantissa = self.mantissa();
        let width = self.width() - 1 - mantissa;
        let mask = (1_u64 << width) - 1;
        let bias = mask >> 1;
        let biased = (bits >> mantissa) & mask;
        let is_below = biased < bias;
        // The only exponent that does not fit is that of NaN and infinities.
        let exponent = biased.abs_diff(bias) & bias | u64::from(is_below) << (width - 1);
        bits & !(mask << mantissa) | exponent << mantissa
    }

    /// Returns the number that has these bits.
    pub(crate) fn value(self, bits: u64) -> f64 {
        match self {
            Self::Half => half::f16::from_bits(bits as u16).to_f64(),
            Self::Single => f64::from(f32::from_bits(bits as u32)),
            Self::Double => f64::from_bits(bits),
        }
    }

    /// Rounds a number to one that elements can have.
    pub(crate) fn nearest(self, value: f64) -> f64 {
        match self {
            Self::Half => half::f16::from_f64(value).to_f64(),
            Self::Single => f64::from(value as f32),
            Self::Double => value,
        }
    }

    /// Elements in `items`, in the machine's byte order, as numbers.
    pub(crate) fn values(self, items: &[u8]) -> Vec<f64> {
        self.bits(items).into_iter().map(|bits| self.value(bits)).collect()
    }

    /// Returns the bits of a number that is rounded to `keep` mantissa bits as the codec `bitround` does: to the nearest one, a tie to even.
    /// NaN may become another number, as it does by the codec.
    pub(crate) fn round_bits(self, bits: u64, keep: u32) -> u64 {
        let drop = self.mantissa().saturating_sub(keep);
        if drop == 0 {
            return bits;
        }
        let half = (1_u64 << (drop - 1)) - 1;
        let rounded = bits.wrapping_add(half + ((bits >> drop) & 1)) >> drop << drop;
        // A carry out of the highest bit is lost.
        rounded & (u64::MAX >> (64 - self.width()))
    }

    /// Rounds a number that elements can have to `keep` mantissa bits, as [`round_bits`](Self::round_bits).
    pub(crate) fn round(self, number: f64, keep: u32) -> f64 {
        let bits = match self {
            Self::Half => u64::from(half::f16::from_f64(number).to_bits()),
            Self::Single => u64::from((number as f32).to_bits()),
            Self::Double => number.to_bits(),
        };
        self.value(self.round_bits(bits, keep))
    }

    /// Returns a number with the smallest number of mantissa bits to which it can be rounded without a change.
    pub(crate) fn kept(self, number: f64) -> (f64, u32) {
        let mantissa = self.mantissa();
        (number, (1..mantissa).find(|&keep| self.round(number, keep) == number).unwrap_or(mantissa))
    }
}

/// Whether attributes pack the elements of an array.
pub(crate) fn is_packed(array: &Array) -> Result<bool> {
    let attributes = array.attributes()?;
    Ok(["scale_factor", "add_offset"].iter().any(|name| attributes.contains_key(name)))
}

/// Returns the finite marks of missing data of an array: the fill value, and the attributes `_FillValue` and `missing_value`.
///
/// # Errors
/// [`ErrorKind::InvalidMetadata`] for an attribute that is no such mark, with its name; [`ErrorKind::Limit`] for more than 64 marks.
pub(crate) fn marks(form: FloatForm, array: &Array) -> Result<Vec<f64>> {
    let (attributes, data_type) = (array.attributes()?, array.data_type());
    let mut all: Vec<Fill> = Fill::of_element(data_type, array.fill_value()).into_iter().collect();
    for name in [FILL_VALUE, MISSING_VALUE] {
        let Some(value) = attributes.get(name) else { continue };
        // Base64 as xarray writes it in version 3, or a plain value.
        let plain = |_| from_plain(name, data_type, value);
        let found = from_attribute(data_type, value).map(|fill| vec![fill]).or_else(plain);
        all.extend(found.map_err(|error| {
            let error = Error::new(ErrorKind::InvalidMetadata, error.to_string());
            error.at(|location| {
                location.store = Some(array.store().to_string());
                location.path = Some(array.path().to_string());
                location.pointer = Some(format!("/attributes/{name}"));
            })
        })?);
    }
    if all.len() > MOST_MARKS {
        let message = format!("found {} values that mark missing data, expected at most {MOST_MARKS}", all.len());
        return Err(Error::new(ErrorKind::Limit, message).at(|location| {
            location.store = Some(array.store().to_string());
            location.path = Some(array.path().to_string());
            location.pointer = Some(format!("/attributes/{MISSING_VALUE}"));
        }));
    }
    let number = |fill: &Fill| match fill {
        Fill::Float(value) => Some(*value),
        Fill::Integer(value) => Some(*value as f64),
        _ => None,
    };
    Ok(all.iter().filter_map(number).map(|mark| form.nearest(mark)).filter(|mark| mark.is_finite()).collect())
}

/// Limits of valid numbers, by the attributes `valid_min`, `valid_max` and `valid_range` (CF 2.5.1): other elements are missing data for
/// software that knows them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Limits {
    least: f64,
    greatest: f64,
}

impl Limits {
    /// Returns the limits of an array; `None` if no attribute gives one. What is no number gives none, as software takes it.
    pub(crate) fn of(form: FloatForm, array: &Array) -> Result<Option<Self>> {
        let attributes = array.attributes()?;
        // Files of netCDF have a list of one number, or of two.
        let number = |name: &str, index: usize| {
            let value = attributes.get(name)?;
            let value = value.as_array().map_or((index == 0).then_some(value), |list| list.get(index))?;
            value.as_f64().map(|limit| form.nearest(limit))
        };
        let (least, greatest) = match attributes.contains_key("valid_range") {
            true => (number("valid_range", 0), number("valid_range", 1)),
            false => (number("valid_min", 0), number("valid_max", 0)),
        };
        let is_limited = least.is_some() || greatest.is_some();
        let (least, greatest) = (least.unwrap_or(f64::NEG_INFINITY), greatest.unwrap_or(f64::INFINITY));
        Ok(is_limited.then_some(Self { least, greatest }))
    }

    /// Whether a number is valid.
    pub(crate) fn has(self, number: f64) -> bool {
        self.least <= number && number <= self.greatest
    }

    /// Whether a number is within a distance of a limit.
    pub(crate) fn are_near(self, number: f64, distance: f64) -> bool {
        (number - self.least).abs() <= distance || (number - self.greatest).abs() <= distance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_the_nearest() {
        let round = |number, keep| FloatForm::Single.round(number, keep);
        assert_eq!([round(1.4, 3), round(1.0625, 3), round(1.1875, 3), round(-1.99, 1)], [1.375, 1.0, 1.25, -2.0]);
        let tenth = f64::from(0.1_f32);
        assert_eq!((round(f64::from(f32::MAX), 4), round(tenth, 23)), (f64::INFINITY, tenth));
        assert_eq!(FloatForm::Double.round(1.0 + f64::EPSILON, 51), 1.0);
        assert_eq!(FloatForm::Half.round(1.4, 3), 1.375);
        assert_eq!((FloatForm::Single.kept(-9999.0), FloatForm::Single.kept(0.0)), ((-9999.0, 13), (0.0, 1)));
    }

    #[test]
    fn exponents_have_a_sign() {
        let of = |value: f32| FloatForm::Single.with_signed_exponent(u64::from(value.to_bits())) >> 23;
        assert_eq!([of(1.0), of(2.0), of(0.5), of(8.0), of(-0.25)], [0, 1, 0x81, 3, 0x182]);
        let of = |value: f64| FloatForm::Double.with_signed_exponent(value.to_bits()) >> 52;
        assert_eq!([of(1.5), of(4.0), of(0.25)], [0, 2, 0x402]);
        let bits = u64::from(1.1_f32.to_bits());
        assert_eq!(FloatForm::Single.with_signed_exponent(bits) & 0x7f_ffff, bits & 0x7f_ffff);
    }
}
