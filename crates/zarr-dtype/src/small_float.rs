//! The floating point types of one byte.

use crate::float::{Format, Special};

/// The floating point types of 8 bits and less, each in one byte of which the lower bits count.
///
/// Named as in ml_dtypes: `e4m3` has 4 bits of exponent and 3 of mantissa; `fn` is without infinities, `fnuz` has no
/// negative zero either, and the only NaN has its bits; `b11` is another bias of the exponent.
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
    /// Powers of two: no sign, no zero.
    Float8E8M0Fnu,
}

impl SmallFloat {
    /// All of them.
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

    /// The name of the data type, such as `float8_e4m3fn`.
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

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|float| float.name() == name)
    }

    /// The value of an element.
    pub fn to_f64(self, item: u8) -> f64 {
        self.format().value(u64::from(item))
    }

    /// The format of the numbers.
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
