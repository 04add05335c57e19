//! Grades of how reliably decoding detects changed bytes.

/// Grade of how reliably decoding detects stored bytes that differ from the written bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Protection {
    /// Only a changed number of bytes is detected: any bytes decode to some elements.
    None,
    /// Bytes that violate the format are refused; other changed bytes decode to wrong elements.
    Form,
    /// Changed bytes are detected by a checksum.
    Checksum,
}

impl Protection {
    /// Returns the name of the variant in lower case: `none`, `form`, `checksum`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Form => "form",
            Self::Checksum => "checksum",
        }
    }
}
