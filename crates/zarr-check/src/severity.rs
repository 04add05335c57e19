//! Severity of findings.

use std::fmt;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Something that is worth knowing, and correct as it is.
    Note,
    /// Something that other software reads differently or not at all, or that is of no use in the store.
    Warning,
    /// Data or metadata that cannot be read.
    Error,
}

impl Severity {
    /// Name of the severity: `error`, `warning` or `note`.
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
