//! The configuration in the metadata.

use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};
use zarr_codec::BuildContext;

/// The name in errors.
pub(crate) const NAME: &str = "pcodec";

/// Whether numbers are stored as differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta {
    /// As it suits the numbers.
    Auto,
    /// No.
    None,
    /// To the number before, taken so often.
    Consecutive(usize),
    /// To a similar number further back.
    Lookback,
}

/// The configuration of codec `pcodec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcodecConfig {
    /// 0 (fast) to 12 (small).
    pub level: usize,
    /// Whether numbers are taken as they are, without a search for a common divisor.
    pub classic: bool,
    /// Whether they are stored as differences.
    pub delta: Delta,
    /// Most numbers of a part that is compressed on its own.
    pub page: usize,
}

/// Most numbers that a part of a file may have.
const MAX_PAGE: i64 = 1 << 24;
const DEFAULT_PAGE: usize = 1 << 18;
const MAX_ORDER: usize = 7;

impl PcodecConfig {
    /// Reads the configuration. All of it is for encoding: wrong members have their defaults.
    pub fn from_context(context: &BuildContext<'_>) -> Self {
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
        let order = config.integer("delta_encoding_order", 0..=MAX_ORDER);
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
        Self {
            level: config.or_default("level", config.integer("level", 0..=12), 8),
            classic: word("mode_spec", &["auto", "classic"]) == "classic",
            delta: config.or_none("delta_spec", delta).unwrap_or(Delta::Auto),
            // A larger page than the format has is as good as its largest.
            page: config.or_none("equal_pages_up_to", page).map_or(DEFAULT_PAGE, |page| page.min(MAX_PAGE) as usize),
        }
    }

    /// The library's form.
    pub(crate) fn to_pco(self) -> ChunkConfig {
        ChunkConfig::default()
            .with_compression_level(self.level)
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
