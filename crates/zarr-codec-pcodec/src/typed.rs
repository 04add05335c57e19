//! The codec by its type.

use crate::{Delta, PCODEC};
use zarr_codec::{TypedCodec, array_codec};

/// Codec `pcodec`: numbers as a pco file.
#[derive(Clone, Debug, PartialEq)]
pub struct Pcodec(TypedCodec);

impl Pcodec {
    /// Compression at level 8. Decodes any file.
    pub fn new() -> Self {
        Self(TypedCodec::new(PCODEC))
    }

    /// Compression at `level`, 0 (fast) to 12 (small).
    pub fn level(level: u32) -> Self {
        Self(TypedCodec::new(PCODEC).with("level", level))
    }

    /// With numbers as they are, without a search for a common divisor.
    #[must_use]
    pub fn classic(self) -> Self {
        Self(self.0.with("mode_spec", "classic"))
    }

    /// Whether numbers are stored as differences.
    #[must_use]
    pub fn delta(self, delta: Delta) -> Self {
        Self(match delta {
            Delta::Auto => self.0.with("delta_spec", "auto"),
            Delta::None => self.0.with("delta_spec", "no_op"),
            Delta::Consecutive(order) => {
                self.0.with("delta_spec", "try_consecutive").with("delta_encoding_order", order)
            }
            Delta::Lookback => self.0.with("delta_spec", "try_lookback"),
        })
    }

    /// With at most so many numbers in a part that is compressed on its own.
    #[must_use]
    pub fn page_size(self, numbers: usize) -> Self {
        Self(self.0.with("equal_pages_up_to", numbers))
    }
}

impl Default for Pcodec {
    fn default() -> Self {
        Self::new()
    }
}

array_codec!(Pcodec);
