//! The codecs by their types.

use crate::{Mode, ZFP, ZFPY};
use zarr_codec::{TypedCodec, array_codec};

/// Codec `zfp`: blocks of numbers at a chosen rate, precision or accuracy, or without loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Zfp(TypedCodec);

impl Zfp {
    /// In this mode.
    pub fn new(mode: Mode) -> Self {
        let codec = TypedCodec::new(ZFP);
        Self(match mode {
            Mode::Rate(rate) => codec.with("mode", "fixed_rate").with("rate", rate),
            Mode::Precision(precision) => codec.with("mode", "fixed_precision").with("precision", precision),
            Mode::Accuracy(tolerance) => codec.with("mode", "fixed_accuracy").with("tolerance", tolerance),
            Mode::Reversible => codec.with("mode", "reversible"),
            Mode::Expert { min_bits, max_bits, max_prec, min_exp } => codec
                .with("mode", "expert")
                .with("minbits", min_bits)
                .with("maxbits", max_bits)
                .with("maxprec", max_prec)
                .with("minexp", min_exp),
        })
    }

    /// So many bits for each number.
    pub fn rate(rate: f64) -> Self {
        Self::new(Mode::Rate(rate))
    }

    /// So many bit planes; 0 for all.
    pub fn precision(precision: u32) -> Self {
        Self::new(Mode::Precision(precision))
    }

    /// Numbers may differ by so much.
    pub fn accuracy(tolerance: f64) -> Self {
        Self::new(Mode::Accuracy(tolerance))
    }

    /// Without loss.
    pub fn reversible() -> Self {
        Self::new(Mode::Reversible)
    }
}

array_codec!(Zfp);

/// Codec `zfpy` of numcodecs: a header in front of the blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Zfpy(TypedCodec);

impl Zfpy {
    /// So many bits for each number.
    pub fn rate(rate: f64) -> Self {
        Self(TypedCodec::new(ZFPY).with("mode", 2).with("rate", rate))
    }

    /// So many bit planes; 0 for all.
    pub fn precision(precision: u32) -> Self {
        Self(TypedCodec::new(ZFPY).with("mode", 3).with("precision", precision))
    }

    /// Numbers may differ by so much.
    pub fn accuracy(tolerance: f64) -> Self {
        Self(TypedCodec::new(ZFPY).with("mode", 4).with("tolerance", tolerance))
    }

    /// Without loss.
    pub fn reversible() -> Self {
        Self(TypedCodec::new(ZFPY))
    }
}

array_codec!(Zfpy);
