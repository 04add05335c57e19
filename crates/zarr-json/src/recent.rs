//! Cache of recently parsed values, so that the same text is not parsed again.

use crate::Value;
use std::cell::RefCell;

/// Maximum number of bytes of a value whose text is cached.
const MAX_TEXT: usize = 1 << 10;

/// Last value of each well-known name, with its text. If the same text comes again, its value is the same. Most documents of a hierarchy,
/// and most parts of consolidated metadata, differ from the previous one in a few members only.
///
/// Only arrays and objects are cached, since their text shows where they end, and only those without deviations from JSON.
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
    /// Values that each thread retains from document to document: a few kibibytes for about twenty names.
    static KEPT: RefCell<Recent> = RefCell::default();
}

impl Recent {
    /// Takes the values that this thread retained. They are to be [given back](Self::keep).
    pub(crate) fn take() -> Self {
        KEPT.take()
    }

    /// Retains the values for the next document of this thread.
    pub(crate) fn keep(self) {
        KEPT.set(self);
    }

    /// Returns the last value of member `name` and the number of bytes of its text, if `text` begins with the same text and the last value
    /// was nested at least as deep; else `None`. `text` is the rest of the document.
    pub(crate) fn get(&self, name: &'static str, text: &[u8], depth: usize) -> Option<(&Value, usize)> {
        let kept = self.0.iter().find(|kept| kept.name == name)?;
        (depth <= kept.depth && text.starts_with(&kept.text)).then_some((&kept.value, kept.text.len()))
    }

    /// Replaces the last value of member `name`.
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
