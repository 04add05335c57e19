//! Warnings of a file.

use crate::fault::Failure;

/// Maximum number of warnings that are kept.
const MAX_WARNINGS: usize = 100;

/// Warnings of a file, of which the first ones are kept.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    kept: Vec<String>,
    left: usize,
}

impl Warnings {
    pub(crate) fn push(&mut self, warning: impl Into<String>) {
        if self.kept.len() < MAX_WARNINGS {
            self.kept.push(warning.into());
        } else {
            self.left += 1;
        }
    }

    /// A part of a file that can be left out: `None` and a warning in place of a fault of the file.
    pub(crate) fn part<T>(&mut self, found: Result<Option<T>, Failure>) -> Result<Option<T>, Failure> {
        match found {
            Err(Failure::Fault(fault)) => {
                self.push(format!("left out: {fault}"));
                Ok(None)
            }
            found => found,
        }
    }

    pub(crate) fn into_texts(self) -> impl Iterator<Item = String> {
        let more = (self.left > 0).then(|| format!("{} more warnings are left out", self.left));
        self.kept.into_iter().chain(more)
    }
}
