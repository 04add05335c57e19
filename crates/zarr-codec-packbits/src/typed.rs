//! The codecs by their types.

use crate::{NUMCODECS_PACKBITS, PACKBITS, Padding};
use std::ops::RangeInclusive;
use zarr_codec::{TypedCodec, array_codec};

/// Codec `packbits`: numbers of few bits without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Packbits(TypedCodec);

impl Packbits {
    /// All bits of numbers. How many bits fill up the last byte is not stored.
    pub fn new() -> Self {
        Self(TypedCodec::new(PACKBITS))
    }

    /// Where the number of bits is stored that fill up the last byte.
    #[must_use]
    pub fn padding(self, padding: Padding) -> Self {
        let word = match padding {
            Padding::None => "none",
            Padding::FirstByte => "first_byte",
            Padding::LastByte => "last_byte",
        };
        Self(self.0.with("padding_encoding", word))
    }

    /// With these bits of each number alone, counted from the lowest, 0.
    #[must_use]
    pub fn bits(self, bits: RangeInclusive<u32>) -> Self {
        Self(self.0.with("first_bit", *bits.start()).with("last_bit", *bits.end()))
    }
}

impl Default for Packbits {
    fn default() -> Self {
        Self::new()
    }
}

array_codec!(Packbits);

/// Filter `packbits` of numcodecs: eight bools in a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NumcodecsPackbits;

array_codec!(NumcodecsPackbits = NUMCODECS_PACKBITS);
