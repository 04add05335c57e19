//! How grave findings are.

use std::fmt;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Worth to be known, and right as it is.
    Note,
    /// Some software reads something else, or nothing; or something lies there that is of no use.
    Warning,
    /// Data or metadata cannot be read.
    Error,
}

impl Severity {
    /// Its name: `error`, `warning`, `note`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
