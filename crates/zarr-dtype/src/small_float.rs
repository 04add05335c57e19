//! Floating point types of one byte.

use crate::float::{Format, Special};

/// Floating point type of 8 bits or less, stored in the lower bits of one byte.
///
/// The names are those of ml_dtypes: `e4m3` has 4 bits of exponent and 3 of mantissa; `fn` has no infinities; `fnuz` has no negative zero
/// either, and its only NaN has the bits of negative zero; `b11` has another bias of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as the data types are")]
#[non_exhaustive]
pub enum SmallFloat {
    Float4E2M1Fn,
    Float6E2M3Fn,
    Float6E3M2Fn,
    Float8E3M4,
    Float8E4M3,
    Float8E4M3B11Fnuz,
    Float8E4M3Fn,
    Float8E4M3Fnuz,
    Float8E5M2,
    Float8E5M2Fnuz,
    /// Powers of two: without sign and zero.
    Float8E8M0Fnu,
}

impl SmallFloat {
    /// All types of small floats.
    pub const ALL: [Self; 11] = [
        Self::Float4E2M1Fn,
        Self::Float6E2M3Fn,
        Self::Float6E3M2Fn,
        Self::Float8E3M4,
        Self::Float8E4M3,
        Self::Float8E4M3B11Fnuz,
        Self::Float8E4M3Fn,
        Self::Float8E4M3Fnuz,
        Self::Float8E5M2,
        Self::Float8E5M2Fnuz,
        Self::Float8E8M0Fnu,
    ];

    /// Returns the name of the data type, such as `float8_e4m3fn`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Float4E2M1Fn => "float4_e2m1fn",
            Self::Float6E2M3Fn => "float6_e2m3fn",
            Self::Float6E3M2Fn => "float6_e3m2fn",
            Self::Float8E3M4 => "float8_e3m4",
            Self::Float8E4M3 => "float8_e4m3",
            Self::Float8E4M3B11Fnuz => "float8_e4m3b11fnuz",
            Self::Float8E4M3Fn => "float8_e4m3fn",
            Self::Float8E4M3Fnuz => "float8_e4m3fnuz",
            Self::Float8E5M2 => "float8_e5m2",
            Self::Float8E5M2Fnuz => "float8_e5m2fnuz",
            Self::Float8E8M0Fnu => "float8_e8m0fnu",
        }
    }

    /// Returns the type with the data type name `name`; `None` for another name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|float| float.name() == name)
    }

    /// Returns the value of the element `item`.
    pub fn to_f64(self, item: u8) -> f64 {
        self.format().value(u64::from(item))
    }

    /// Returns the floating point format of the type.
    pub fn format(self) -> Format {
        let format = |exponent, mantissa, bias, special| Format { size: 1, exponent, mantissa, bias, special };
        match self {
            Self::Float4E2M1Fn => format(2, 1, 1, Special::None),
            Self::Float6E2M3Fn => format(2, 3, 1, Special::None),
            Self::Float6E3M2Fn => format(3, 2, 3, Special::None),
            Self::Float8E3M4 => format(3, 4, 3, Special::Ieee),
            Self::Float8E4M3 => format(4, 3, 7, Special::Ieee),
            Self::Float8E4M3B11Fnuz => format(4, 3, 11, Special::NegativeZero),
            Self::Float8E4M3Fn => format(4, 3, 7, Special::AllOnes),
            Self::Float8E4M3Fnuz => format(4, 3, 8, Special::NegativeZero),
            Self::Float8E5M2 => format(5, 2, 15, Special::Ieee),
            Self::Float8E5M2Fnuz => format(5, 2, 16, Special::NegativeZero),
            Self::Float8E8M0Fnu => format(8, 0, 127, Special::PowersOfTwo),
        }
    }
}

#[cfg(all(test, feature = "microfloat"))]
mod tests {
    use super::*;
    use crate::{DataType, Element, Heap};
    use bytemuck::Pod;
    use num_complex::Complex;

    /// A Rust type is the same format: each pattern has the same value, and each number is rounded to the same pattern.
    fn is_same<T: Element + Pod>(format: SmallFloat, to_f64: fn(T) -> f64, from_f64: fn(f64) -> T)
    where
        Complex<T>: Element,
    {
        let bits = |value: T| bytemuck::bytes_of(&value)[0];
        assert_eq!(T::default_data_type().expect("a type of its own"), DataType::SmallFloat(format));
        assert_eq!(Complex::<T>::default_data_type().expect("a type of its own"), DataType::SmallComplex(format));
        assert!(!T::accepts(&DataType::UInt8) && !T::accepts(&DataType::SmallComplex(format)));

        let patterns: Vec<u8> = (0..=255).collect();
        let items = T::from_items(&DataType::SmallFloat(format), &patterns, &Heap::new()).expect("elements");
        if let Some(bytes) = T::as_bytes(&items) {
            assert_eq!(bytes, patterns);
        }
        let mut numbers = Vec::new();
        for (pattern, item) in patterns.into_iter().zip(items) {
            let (expected, found) = (format.to_f64(pattern), to_f64(item));
            if expected.is_nan() {
                assert!(found.is_nan(), "{} {pattern:#04x}: {found}", format.name());
            } else {
                assert_eq!(expected.to_bits(), found.to_bits(), "{} {pattern:#04x}: {found}", format.name());
                numbers.push(expected);
            }
        }
        numbers.retain(|number| number.is_finite());
        numbers.sort_unstable_by(f64::total_cmp);
        let largest = numbers.last().copied().expect("numbers");
        for pair in numbers.windows(2) {
            let mean = f64::midpoint(pair[0], pair[1]);
            // All of them are numbers of `f32`, too.
            let (below, above) = (f64::from((mean as f32).next_down()), f64::from((mean as f32).next_up()));
            for number in [pair[0], below, mean, above] {
                if let Some(nearest) = format.format().nearest(number) {
                    let found = u64::from(bits(from_f64(number)));
                    assert_eq!(nearest, found, "{} {number:e}", format.name());
                }
            }
        }
        // Beyond the largest: infinity, NaN, or an error of ours where there is neither.
        for number in [2.0 * largest, f64::NAN] {
            if let Some(nearest) = format.format().nearest(number) {
                let (expected, found) = (format.format().value(nearest), to_f64(from_f64(number)));
                assert!(
                    expected == found || expected.is_nan() && found.is_nan(),
                    "{} {number}: {found}",
                    format.name()
                );
            }
        }
    }

    #[test]
    fn rust_types_are_the_same_formats() {
        macro_rules! check {
            ($($rust:ident = $format:ident,)*) => { $(
                is_same(SmallFloat::$format, microfloat::$rust::to_f64, microfloat::$rust::from_f64);
            )* };
        }
        check! {
            f4e2m1fn = Float4E2M1Fn,
            f6e2m3fn = Float6E2M3Fn,
            f6e3m2fn = Float6E3M2Fn,
            f8e3m4 = Float8E3M4,
            f8e4m3 = Float8E4M3,
            f8e4m3b11fnuz = Float8E4M3B11Fnuz,
            f8e4m3fn = Float8E4M3Fn,
            f8e4m3fnuz = Float8E4M3Fnuz,
            f8e5m2 = Float8E5M2,
            f8e5m2fnuz = Float8E5M2Fnuz,
            f8e8m0fnu = Float8E8M0Fnu,
        }
    }
}
