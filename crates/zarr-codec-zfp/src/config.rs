//! The configuration in the metadata.

use std::ops::RangeInclusive;
use zarr_codec::{BuildContext, Error};
use zfp_rs::{ZfpConfig, ZfpDimensionality, ZfpScalarType, ZfpStreamAlignment};

/// The mode of compression: how much is kept of each block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// So many bits for each number.
    Rate(f64),
    /// So many bit planes; 0 for all.
    Precision(u32),
    /// Numbers may differ by so much; 0 for no more than the transform does.
    Accuracy(f64),
    /// Everything.
    Reversible,
    /// The parameters of the format itself.
    Expert {
        /// The least bits of a block.
        min_bits: u32,
        /// The most bits of a block.
        max_bits: u32,
        /// The most bit planes: 1 to 64.
        max_prec: u32,
        /// The exponent of the lowest bit plane.
        min_exp: i32,
    },
}

impl Mode {
    /// Reads the configuration of codec `zfp`.
    ///
    /// # Errors
    /// [`Error::Metadata`] if a member is missing or no such setting.
    pub fn from_zfp(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let found = config.required("mode")?;
        let needed = |name: &'static str, range: RangeInclusive<u32>| {
            config.required(name)?;
            config.integer(name, range).map(Option::unwrap_or_default)
        };
        let positive = |name: &'static str| {
            let value = config.required(name)?;
            let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| config.unexpected(name, "a number that is not negative", value))
        };
        Ok(match config.text("mode")? {
            Some("fixed_rate") => Self::Rate(positive("rate")?),
            Some("fixed_precision") => Self::Precision(needed("precision", 0..=u32::MAX)?),
            Some("fixed_accuracy") => Self::Accuracy(positive("tolerance")?),
            Some("reversible") => Self::Reversible,
            Some("expert") => {
                // No more than the format gives a block in a header, so that a few numbers cannot become much.
                let min_bits = needed("minbits", 0..=1 << 15)?;
                Self::Expert {
                    min_bits,
                    max_bits: needed("maxbits", min_bits..=u32::MAX)?,
                    max_prec: needed("maxprec", 1..=64)?,
                    min_exp: {
                        config.required("minexp")?;
                        config.integer("minexp", i32::MIN..=i32::MAX)?.unwrap_or_default()
                    },
                }
            }
            _ => {
                let expected = "fixed_rate, fixed_precision, fixed_accuracy, reversible or expert";
                return Err(config.unexpected("mode", expected, found));
            }
        })
    }

    /// Reads the configuration of codec `zfpy`. All of it is for encoding, since data have a header: wrong members are ignored.
    pub fn from_zfpy(context: &BuildContext<'_>) -> Self {
        let config = context.config;
        // Written by some versions of numcodecs; says the same again.
        config.value("compression_kwargs");
        let number = |name: &'static str| {
            let found =
                match config.value(name).map(|value| (value, value.as_f64().filter(|number| number.is_finite()))) {
                    None => Ok(None),
                    // A negative one stands for none.
                    Some((_, Some(number))) => Ok(Some(number).filter(|number| *number >= 0.0)),
                    Some((value, None)) => Err(config.unexpected(name, "a number", value)),
                };
            config.or_none(name, found)
        };
        let (tolerance, rate) = (number("tolerance"), number("rate"));
        let precision = config.or_none("precision", config.integer("precision", -1..=i64::from(u32::MAX)));
        let precision = precision.and_then(|precision| u32::try_from(precision).ok());
        let chosen = match config.or_none("mode", config.integer("mode", 2..=5)) {
            Some(2) => rate.map(Self::Rate),
            Some(3) => precision.map(Self::Precision),
            Some(5) => None,
            _ => tolerance.map(Self::Accuracy),
        };
        chosen.unwrap_or(Self::Reversible)
    }

    /// The parameters for blocks of a kind.
    ///
    /// # Errors
    /// [`Error::Metadata`] if there are none such: a rate of more bits than blocks can have.
    pub(crate) fn parameters(self, scalar: ZfpScalarType, axes: ZfpDimensionality) -> Result<ZfpConfig, Error> {
        match self {
            Self::Rate(rate) => {
                let config = ZfpConfig::fixed_rate(rate, scalar, axes, ZfpStreamAlignment::Unaligned);
                config.map_err(|_| {
                    let what = format!("expected a rate that blocks of {} {scalar} can have", axes.block_size());
                    Error::Metadata { pointer: "/configuration/rate".to_owned(), what }
                })
            }
            Self::Precision(precision) => Ok(ZfpConfig::fixed_precision(precision)),
            Self::Accuracy(tolerance) => Ok(ZfpConfig::fixed_accuracy(tolerance)),
            Self::Reversible => Ok(ZfpConfig::reversible()),
            Self::Expert { min_bits, max_bits, max_prec, min_exp } => {
                ZfpConfig::expert(min_bits, max_bits, max_prec, min_exp)
                    .map_err(|error| Error::Metadata { pointer: "/configuration".to_owned(), what: error.to_string() })
            }
        }
    }
}
