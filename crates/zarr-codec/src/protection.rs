//! How far decoding notices that stored bytes are others than those that were written.

/// How far decoding notices that stored bytes are others than those that were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Protection {
    /// Not at all, but for the number of bytes: any bytes decode to some elements.
    None,
    /// By their form: bytes that break the format are refused, and others decode to other elements.
    Form,
    /// By a checksum.
    Checksum,
}

impl Protection {
    /// Its name: `none`, `form`, `checksum`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Form => "form",
            Self::Checksum => "checksum",
        }
    }
}
