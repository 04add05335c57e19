//! Values that were parsed lately, so that the same text is not parsed again.

use crate::Value;
use std::cell::RefCell;

/// Most bytes of a text that is kept.
const MAX_TEXT: usize = 1 << 10;

/// The last value of each well-known name, with its text: where the same text comes again, it is the same value. Most documents
/// of a hierarchy, and most parts of consolidated metadata, differ from the one before in a few members only.
///
/// Only arrays and objects are kept, whose text shows where they end, and none with deviations from JSON.
#[derive(Debug, Default)]
pub(crate) struct Recent(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    name: &'static str,
    text: Vec<u8>,
    depth: usize,
    value: Value,
}

thread_local! {
    /// The values that each thread keeps from text to text: some kibibytes for some twenty names.
    static KEPT: RefCell<Recent> = RefCell::default();
}

impl Recent {
    /// The values that this thread kept; to be [given back](Self::keep).
    pub(crate) fn take() -> Self {
        KEPT.take()
    }

    /// Keeps it for the next text.
    pub(crate) fn keep(self) {
        KEPT.set(self);
    }

    /// The value of the member `name` if `text`, which begins with that, begins with the same text as the last one, that one
    /// was nested no less deep; and how many bytes that is.
    pub(crate) fn get(&self, name: &'static str, text: &[u8], depth: usize) -> Option<(&Value, usize)> {
        let kept = self.0.iter().find(|kept| kept.name == name)?;
        (depth <= kept.depth && text.starts_with(&kept.text)).then_some((&kept.value, kept.text.len()))
    }

    /// Replaces the last value of this name.
    pub(crate) fn put(&mut self, name: &'static str, text: &[u8], depth: usize, value: &Value) {
        if text.len() > MAX_TEXT {
            return;
        }
        match self.0.iter_mut().find(|kept| kept.name == name) {
            Some(kept) => {
                kept.text.clear();
                kept.text.extend_from_slice(text);
                (kept.depth, kept.value) = (depth, value.clone());
            }
            None => self.0.push(Kept { name, text: text.to_vec(), depth, value: value.clone() }),
        }
    }
}
