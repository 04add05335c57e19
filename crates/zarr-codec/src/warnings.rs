//! Warnings about the metadata of codecs.

use std::cell::RefCell;

/// Something odd in the metadata of codecs that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodecWarning {
    /// Where, as a JSON pointer from the list of codecs.
    pub pointer: String,
    /// The deviation, and how it was read.
    pub what: String,
}

/// Warnings about the metadata of codecs.
#[derive(Debug, Default)]
pub struct Warnings(RefCell<Vec<CodecWarning>>);

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, pointer: impl Into<String>, what: impl Into<String>) {
        self.0.borrow_mut().push(CodecWarning { pointer: pointer.into(), what: what.into() });
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// All warnings in the order they were added.
    pub fn into_vec(self) -> Vec<CodecWarning> {
        self.0.into_inner()
    }
}
