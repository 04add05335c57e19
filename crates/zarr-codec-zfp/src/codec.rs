//! Codecs as programs and documents define them.

use crate::bound::Bound;
use crate::form::Form;
use crate::mode::Mode;
use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{BuildContext, CodecEntry, CodecValue, Error};
use zarr_dtype::Scalar;
use zarr_json::Map;

/// Entry of the codec `zfp` for the table of codecs.
pub const ZFP: CodecEntry =
    CodecEntry::array_to_bytes("zfp", |context| Ok(Arc::new(Zfp::from_config(context)?.bind(context)?)))
        .aliases(&["zarrs.zfp", "https://codec.zarrs.dev/array_to_bytes/zfp"])
        .example(r#"{"mode": "reversible"}"#);

/// Entry of the codec `zfpy` for the table of codecs.
pub const ZFPY: CodecEntry =
    CodecEntry::array_to_bytes("numcodecs.zfpy", |context| Ok(Arc::new(Zfpy::from_config(context)?.bind(context)?)))
        .id("zfpy")
        .only_read(&["zfpy", "https://codec.zarrs.dev/array_to_bytes/zfpy"]);

/// Entries of the codecs of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[ZFP, ZFPY];

/// Valid minimum numbers of bits of a block: at most the number that a header can state, so that a few numbers cannot become large data.
const MIN_BITS: RangeInclusive<u32> = 0..=1 << 15;
/// Valid numbers of bit planes.
const PLANES: RangeInclusive<u32> = 1..=64;

/// Checks that `number` is finite and not negative, and returns it.
fn positive(entry: &CodecEntry, member: &str, number: f64) -> Result<f64, Error> {
    if number.is_finite() && number >= 0.0 {
        return Ok(number);
    }
    Err(entry.argument(member, &format!("expected a number that is not negative, found {number}")))
}

/// Codec `zfp`: blocks of numbers at a chosen rate, precision or accuracy, or without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zfp {
    mode: Mode,
    /// Whether data begin with a header. zarrs before 0.20 wrote `zfp` with a header in place of `zfpy`.
    header: bool,
}

impl Zfp {
    /// Creates the codec with `mode`.
    ///
    /// # Errors
    /// [`Error::Argument`] for a parameter that is invalid for the mode.
    pub fn new(mode: Mode) -> Result<Self, Error> {
        match mode {
            Mode::Rate(rate) => drop(positive(&ZFP, "rate", rate)?),
            Mode::Accuracy(tolerance) => drop(positive(&ZFP, "tolerance", tolerance)?),
            Mode::Expert { min_bits, max_bits, max_prec, min_exp: _ } => {
                ZFP.in_range("minbits", min_bits, MIN_BITS)?;
                ZFP.in_range("maxbits", max_bits, min_bits..=u32::MAX)?;
                ZFP.in_range("maxprec", max_prec, PLANES)?;
            }
            Mode::Precision(_) | Mode::Reversible => {}
        }
        Ok(Self { mode, header: false })
    }

    /// Creates the codec with `rate` bits per number.
    ///
    /// # Errors
    /// [`Error::Argument`] for a negative or infinite number, and for NaN.
    pub fn rate(rate: f64) -> Result<Self, Error> {
        Self::new(Mode::Rate(rate))
    }

    /// Creates the codec with `precision` bit planes; 0 means all.
    pub fn precision(precision: u32) -> Self {
        Self { mode: Mode::Precision(precision), header: false }
    }

    /// Creates the codec with a maximum difference of numbers from the originals.
    ///
    /// # Errors
    /// [`Error::Argument`] for a negative or infinite number, and for NaN.
    pub fn accuracy(tolerance: f64) -> Result<Self, Error> {
        Self::new(Mode::Accuracy(tolerance))
    }

    /// Creates the codec without loss.
    pub fn reversible() -> Self {
        Self { mode: Mode::Reversible, header: false }
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Bound, Error> {
        Bound::new(context, Form { name: "zfp", mode: self.mode, header: self.header }, |_| true)
    }
}

impl CodecValue for Zfp {
    const ENTRY: CodecEntry = ZFP;

    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
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
        let mode = match config.text("mode")? {
            Some("fixed_rate") => Mode::Rate(positive("rate")?),
            Some("fixed_precision") => Mode::Precision(needed("precision", 0..=u32::MAX)?),
            Some("fixed_accuracy") => Mode::Accuracy(positive("tolerance")?),
            Some("reversible") => Mode::Reversible,
            Some("expert") => {
                let min_bits = needed("minbits", MIN_BITS)?;
                Mode::Expert {
                    min_bits,
                    max_bits: needed("maxbits", min_bits..=u32::MAX)?,
                    max_prec: needed("maxprec", PLANES)?,
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
        };
        Ok(Self { mode, header: config.bool("write_header")?.unwrap_or(false) })
    }

    fn to_config(&self) -> Map {
        let mut members = match self.mode {
            Mode::Rate(rate) => Map::from([("mode", "fixed_rate".into()), ("rate", rate.into())]),
            Mode::Precision(precision) => {
                Map::from([("mode", "fixed_precision".into()), ("precision", precision.into())])
            }
            Mode::Accuracy(tolerance) => {
                Map::from([("mode", "fixed_accuracy".into()), ("tolerance", tolerance.into())])
            }
            Mode::Reversible => Map::from([("mode", "reversible".into())]),
            Mode::Expert { min_bits, max_bits, max_prec, min_exp } => Map::from([
                ("mode", "expert".into()),
                ("minbits", min_bits.into()),
                ("maxbits", max_bits.into()),
                ("maxprec", max_prec.into()),
                ("minexp", min_exp.into()),
            ]),
        };
        if self.header {
            members.insert("write_header", true);
        }
        members
    }
}

/// Codec `zfpy` of numcodecs: a header before the blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zfpy {
    mode: Mode,
}

impl Zfpy {
    /// Creates the codec with `rate` bits per number.
    ///
    /// # Errors
    /// [`Error::Argument`] for a negative or infinite number, and for NaN.
    pub fn rate(rate: f64) -> Result<Self, Error> {
        Ok(Self { mode: Mode::Rate(positive(&ZFPY, "rate", rate)?) })
    }

    /// Creates the codec with `precision` bit planes; 0 means all.
    pub fn precision(precision: u32) -> Self {
        Self { mode: Mode::Precision(precision) }
    }

    /// Creates the codec with a maximum difference of numbers from the originals.
    ///
    /// # Errors
    /// [`Error::Argument`] for a negative or infinite number, and for NaN.
    pub fn accuracy(tolerance: f64) -> Result<Self, Error> {
        Ok(Self { mode: Mode::Accuracy(positive(&ZFPY, "tolerance", tolerance)?) })
    }

    /// Creates the codec without loss.
    pub fn reversible() -> Self {
        Self { mode: Mode::Reversible }
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Bound, Error> {
        let takes = |scalar| matches!(scalar, Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64);
        Bound::new(context, Form { name: "zfpy", mode: self.mode, header: true }, takes)
    }
}

impl CodecValue for Zfpy {
    const ENTRY: CodecEntry = ZFPY;

    /// Reads the configuration. Every member matters only for encoding, since data have a header: invalid members are ignored.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
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
            Some(2) => rate.map(Mode::Rate),
            Some(3) => precision.map(Mode::Precision),
            Some(5) => None,
            _ => tolerance.map(Mode::Accuracy),
        };
        Ok(Self { mode: chosen.unwrap_or(Mode::Reversible) })
    }

    fn to_config(&self) -> Map {
        match self.mode {
            Mode::Rate(rate) => Map::from([("mode", 2.into()), ("rate", rate.into())]),
            Mode::Precision(precision) => Map::from([("mode", 3.into()), ("precision", precision.into())]),
            Mode::Accuracy(tolerance) => Map::from([("mode", 4.into()), ("tolerance", tolerance.into())]),
            // The codec has no parameters of the format itself.
            Mode::Reversible | Mode::Expert { .. } => Map::new(),
        }
    }
}
