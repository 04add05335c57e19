//! Padding bits, which fill up the last byte.

/// Location of the number of bits that fill up the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// `none`: not stored.
    #[default]
    None,
    /// `first_byte`: in a byte before the elements.
    FirstByte,
    /// `last_byte`: in a byte after the elements.
    LastByte,
}

impl Padding {
    /// Names in metadata.
    pub(crate) const WORDS: [(&str, Self); 3] =
        [("none", Self::None), ("first_byte", Self::FirstByte), ("last_byte", Self::LastByte)];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::FirstByte => "first_byte",
            Self::LastByte => "last_byte",
        }
    }
}
