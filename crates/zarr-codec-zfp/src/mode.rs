//! Modes of compression.

use zarr_codec::Error;
use zfp_rs::{ZfpConfig, ZfpDimensionality, ZfpScalarType, ZfpStreamAlignment};

/// Mode of compression: the part of each block that is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Number of bits per number.
    Rate(f64),
    /// Number of bit planes; 0 means all.
    Precision(u32),
    /// Maximum difference of a number from the original; 0 allows only the rounding errors of the transform.
    Accuracy(f64),
    /// No loss.
    Reversible,
    /// Parameters of the format itself.
    Expert {
        /// Minimum number of bits of a block.
        min_bits: u32,
        /// Maximum number of bits of a block.
        max_bits: u32,
        /// Maximum number of bit planes: 1 to 64.
        max_prec: u32,
        /// Exponent of the lowest bit plane.
        min_exp: i32,
    },
}

impl Mode {
    /// Returns the parameters for blocks of `scalar` along `axes`.
    ///
    /// # Errors
    /// [`Error::Metadata`] for parameters that the format lacks, for example a rate of more bits than blocks can have.
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
