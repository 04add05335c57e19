//! Codec `pcodec`.

use crate::claims::NAME;
use crate::numbers;
use half::f16;
use pco::data_types::NumberType;
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use std::ops::RangeInclusive;
use std::sync::Arc;
use zarr_codec::{ArrayToBytes, BuildContext, CodecEntry, CodecValue, Error, Protection, Size, View, ViewMut};
use zarr_dtype::{Layout, Scalar};
use zarr_grid::{Region, element_count};
use zarr_json::Map;

/// Entry of the codec `pcodec` for the table of codecs.
pub const PCODEC: CodecEntry = CodecEntry::array_to_bytes("numcodecs.pcodec", |context| {
    Ok(Arc::new(Pcodec::from_config(context)?.bind(context)?))
})
.id("pcodec")
.only_read(&["pcodec", "https://codec.zarrs.dev/array_to_bytes/pcodec"])
.arguments(&[("level", Some("8"))]);

/// Entry of the codec of this crate for the table of codecs.
pub const CODECS: &[CodecEntry] = &[PCODEC];

/// Mode of storing numbers as differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Chosen by the compressor to suit the numbers.
    Auto,
    /// No differences.
    None,
    /// Differences from the previous number, taken this number of times.
    Consecutive(usize),
    /// Differences from a similar number further back.
    Lookback,
}

/// Valid compression levels.
const LEVELS: RangeInclusive<u32> = 0..=12;
/// Valid numbers of times that differences are taken.
const ORDERS: RangeInclusive<usize> = 0..=7;
/// Maximum number of numbers in a part of a file.
const MAX_PAGE: usize = 1 << 24;
const DEFAULT_PAGE: usize = 1 << 18;

/// Codec `pcodec`: numbers as a pco file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pcodec {
    level: u32,
    /// Whether numbers are stored as they are, without a search for a common divisor.
    classic: bool,
    delta: Delta,
    /// Maximum number of numbers in a part that is compressed on its own.
    page: usize,
}

impl Pcodec {
    /// Creates the codec with level 8. Decoding does not depend on the level.
    pub fn new() -> Self {
        Self { level: 8, classic: false, delta: Delta::Auto, page: DEFAULT_PAGE }
    }

    /// Creates the codec with `level` 0 (fast) to 12 (small).
    ///
    /// # Errors
    /// [`Error::Argument`] for other levels.
    pub fn level(level: u32) -> Result<Self, Error> {
        Ok(Self { level: PCODEC.in_range("level", level, LEVELS)?, ..Self::new() })
    }

    /// Stores numbers as they are, without a search for a common divisor.
    #[must_use]
    pub fn classic(self) -> Self {
        Self { classic: true, ..self }
    }

    /// Sets the mode of storing numbers as differences.
    ///
    /// # Errors
    /// [`Error::Argument`] for differences that are taken more than 7 times.
    pub fn delta(self, delta: Delta) -> Result<Self, Error> {
        if let Delta::Consecutive(order) = delta {
            PCODEC.in_range("delta_encoding_order", order, ORDERS)?;
        }
        Ok(Self { delta, ..self })
    }

    /// Sets the maximum number of numbers in a part that is compressed on its own; more than 2^24 count as 2^24.
    ///
    /// # Errors
    /// [`Error::Argument`] for 0.
    pub fn page_size(self, numbers: usize) -> Result<Self, Error> {
        let page = PCODEC.in_range("equal_pages_up_to", numbers, 1..=usize::MAX)?;
        Ok(Self { page: page.min(MAX_PAGE), ..self })
    }

    /// Returns the codec for the data type of an array.
    fn bind(self, context: &BuildContext<'_>) -> Result<Bound, Error> {
        let number = match context.element.layout() {
            Layout::Fixed { scalar, count: 1 } => Number::of(scalar),
            _ => None,
        };
        let number = number.ok_or_else(|| {
            let found = &context.element.data_type;
            let what = format!("elements of data type {found}, expected integers or floats of 16, 32 or 64 bits");
            Error::Unsupported { codec: NAME, what }
        })?;
        Ok(Bound { config: self.to_pco(), number, max_chunk: context.limits.max_chunk })
    }

    /// Returns the configuration for the library.
    fn to_pco(self) -> ChunkConfig {
        ChunkConfig::default()
            .with_compression_level(self.level as usize)
            .with_mode_spec(if self.classic { ModeSpec::Classic } else { ModeSpec::Auto })
            .with_delta_spec(match self.delta {
                Delta::Auto => DeltaSpec::Auto,
                Delta::None => DeltaSpec::NoOp,
                Delta::Consecutive(order) => DeltaSpec::TryConsecutive(order),
                Delta::Lookback => DeltaSpec::TryLookback,
            })
            .with_paging_spec(PagingSpec::EqualPagesUpTo(self.page))
    }
}

impl Default for Pcodec {
    fn default() -> Self {
        Self::new()
    }
}

impl CodecValue for Pcodec {
    const ENTRY: CodecEntry = PCODEC;

    /// Reads the configuration. Every member matters only for encoding: an invalid one gets its default.
    fn from_config(context: &BuildContext<'_>) -> Result<Self, Error> {
        let config = context.config;
        let word = |member: &'static str, known: &[&'static str]| {
            let found = config.text(member).and_then(|found| match found {
                None => Ok(None),
                Some(found) => known.iter().find(|word| **word == found).copied().map(Some).ok_or_else(|| {
                    config.error(member, format!("expected one of {}, found {found:?}", known.join(", ")))
                }),
            });
            config.or_none(member, found).or_else(|| known.first().copied()).unwrap_or_default()
        };
        let order = config.integer("delta_encoding_order", ORDERS);
        let order = config.or_none("delta_encoding_order", order);
        let delta = match (word("delta_spec", &["auto", "no_op", "none", "try_consecutive", "try_lookback"]), order) {
            ("auto", None) => Ok(Delta::Auto),
            ("auto" | "try_consecutive", Some(order)) => Ok(Delta::Consecutive(order)),
            ("try_consecutive", None) => Err("missing, and delta_spec \"try_consecutive\" needs it".to_owned()),
            (other, Some(_)) => Err(format!("it is for delta_spec \"try_consecutive\", found {other:?}")),
            ("try_lookback", None) => Ok(Delta::Lookback),
            _ => Ok(Delta::None),
        };
        let delta = delta.map(Some).map_err(|what| config.error("delta_encoding_order", what));
        word("paging_spec", &["equal_pages_up_to"]);
        let page = config.integer("equal_pages_up_to", 1..=i64::MAX);
        Ok(Self {
            level: config.or_default("level", config.integer("level", LEVELS), 8),
            classic: word("mode_spec", &["auto", "classic"]) == "classic",
            delta: config.or_none("delta_spec", delta).unwrap_or(Delta::Auto),
            // A larger page than the format has is as good as its largest.
            page: config
                .or_none("equal_pages_up_to", page)
                .map_or(DEFAULT_PAGE, |page| page.min(MAX_PAGE as i64) as usize),
        })
    }

    fn to_config(&self) -> Map {
        let (delta, order) = match self.delta {
            Delta::Auto => (None, None),
            Delta::None => (Some("no_op"), None),
            Delta::Consecutive(order) => (Some("try_consecutive"), Some(order)),
            Delta::Lookback => (Some("try_lookback"), None),
        };
        Map::from_some([
            ("level", Some(self.level.into())),
            ("mode_spec", self.classic.then(|| "classic".into())),
            ("delta_spec", delta.map(Into::into)),
            ("delta_encoding_order", order.map(Into::into)),
            ("equal_pages_up_to", (self.page != DEFAULT_PAGE).then(|| self.page.into())),
        ])
    }
}

/// Types of numbers of the format, except numbers of 8 bits, which numcodecs refuses.
#[derive(Clone, Copy, Debug)]
enum Number {
    I16,
    I32,
    I64,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Number {
    fn of(scalar: Scalar) -> Option<Self> {
        Some(match scalar {
            Scalar::I16 => Self::I16,
            Scalar::I32 => Self::I32,
            Scalar::I64 => Self::I64,
            Scalar::U16 => Self::U16,
            Scalar::U32 => Self::U32,
            Scalar::U64 => Self::U64,
            Scalar::F16 => Self::F16,
            Scalar::F32 => Self::F32,
            Scalar::F64 => Self::F64,
            _ => return None,
        })
    }

    fn stored(number: NumberType) -> Option<Self> {
        Some(match number {
            NumberType::I16 => Self::I16,
            NumberType::I32 => Self::I32,
            NumberType::I64 => Self::I64,
            NumberType::U16 => Self::U16,
            NumberType::U32 => Self::U32,
            NumberType::U64 => Self::U64,
            NumberType::F16 => Self::F16,
            NumberType::F32 => Self::F32,
            NumberType::F64 => Self::F64,
            _ => return None,
        })
    }

    fn size(self) -> u64 {
        match self {
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }
}

/// Codec for the data type of an array.
#[derive(Debug)]
struct Bound {
    config: ChunkConfig,
    number: Number,
    max_chunk: u64,
}

impl ArrayToBytes for Bound {
    fn protection(&self, _: Option<&[u8]>) -> Protection {
        Protection::Form
    }

    fn encoded_size(&self, shape: &[u64]) -> Size {
        // Numbers that do not compress are stored, with a head for each page; other software may make smaller pages.
        let size = element_count(shape).and_then(|count| count.checked_mul(self.number.size()));
        size.map_or(Size::Unknown, Size::Exact).at_most(|size| size.checked_mul(2)?.checked_add(64 << 10))
    }

    fn encode(&self, chunk: &View<'_>, out: &mut Vec<u8>) -> Result<(), Error> {
        let config = &self.config;
        match self.number {
            Number::I16 => numbers::encode::<i16>(chunk, config, out),
            Number::I32 => numbers::encode::<i32>(chunk, config, out),
            Number::I64 => numbers::encode::<i64>(chunk, config, out),
            Number::U16 => numbers::encode::<u16>(chunk, config, out),
            Number::U32 => numbers::encode::<u32>(chunk, config, out),
            Number::U64 => numbers::encode::<u64>(chunk, config, out),
            Number::F16 => numbers::encode::<f16>(chunk, config, out),
            Number::F32 => numbers::encode::<f32>(chunk, config, out),
            Number::F64 => numbers::encode::<f64>(chunk, config, out),
        }
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], region: &Region, out: &mut ViewMut<'_>) -> Result<(), Error> {
        let size = element_count(shape).and_then(|count| count.checked_mul(self.number.size())).unwrap_or(u64::MAX);
        if size > self.max_chunk {
            return Err(Error::Limit { what: "decoded chunk", found: size, limit: self.max_chunk });
        }
        let dims: Vec<usize> = shape.iter().map(|&len| usize::try_from(len).unwrap_or(usize::MAX)).collect();
        let whole = region.is_whole(shape);
        // The output of `bitround` of numcodecs is integers to it, as wide as the floats.
        let stored = numbers::stored_type(encoded).and_then(Number::stored);
        match stored.filter(|stored| stored.size() == self.number.size()).unwrap_or(self.number) {
            Number::I16 => numbers::decode::<i16>(encoded, &dims, region, whole, out),
            Number::I32 => numbers::decode::<i32>(encoded, &dims, region, whole, out),
            Number::I64 => numbers::decode::<i64>(encoded, &dims, region, whole, out),
            Number::U16 => numbers::decode::<u16>(encoded, &dims, region, whole, out),
            Number::U32 => numbers::decode::<u32>(encoded, &dims, region, whole, out),
            Number::U64 => numbers::decode::<u64>(encoded, &dims, region, whole, out),
            Number::F16 => numbers::decode::<f16>(encoded, &dims, region, whole, out),
            Number::F32 => numbers::decode::<f32>(encoded, &dims, region, whole, out),
            Number::F64 => numbers::decode::<f64>(encoded, &dims, region, whole, out),
        }
    }
}
