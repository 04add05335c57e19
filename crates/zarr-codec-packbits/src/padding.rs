//! The bits that fill up the last byte.

/// Where the number of bits is stored that fill up the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Padding {
    /// `none`: nowhere.
    #[default]
    None,
    /// `first_byte`: in a byte in front.
    FirstByte,
    /// `last_byte`: in a byte behind.
    LastByte,
}

impl Padding {
    /// The words in metadata.
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
