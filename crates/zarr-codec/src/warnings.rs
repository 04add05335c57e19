//! What is odd in the metadata of codecs but no error.

use std::cell::RefCell;

/// Something odd in the metadata of codecs that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Where, as a JSON pointer from the list of codecs.
    pub pointer: String,
    /// What is odd, and what was done about it.
    pub what: String,
}

/// What was odd in the metadata of codecs but no error.
#[derive(Debug, Default)]
pub struct Warnings(RefCell<Vec<Warning>>);

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, pointer: impl Into<String>, what: impl Into<String>) {
        self.0.borrow_mut().push(Warning { pointer: pointer.into(), what: what.into() });
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// All warnings in the order they were added.
    pub fn into_vec(self) -> Vec<Warning> {
        self.0.into_inner()
    }
}
