//! Error for what cannot be reduced.

/// Error for a method that does not take a data type, or that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unfit {
    message: String,
}

impl Unfit {
    pub(crate) fn new(message: String) -> Self {
        Self { message }
    }
}
