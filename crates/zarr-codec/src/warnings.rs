//! Warnings about the metadata of codecs.

use crate::Error;
use std::cell::RefCell;
use zarr_json::{Map, NamedConfig, Value};

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
pub struct Warnings(RefCell<Vec<Noted>>);

/// A warning, and its consequence for a document that is written.
#[derive(Debug)]
struct Noted {
    warning: CodecWarning,
    correction: Option<Correction>,
    /// The reason why it may not be in a new document.
    fault: Option<String>,
}

/// A change of the member of a configuration by which codecs mean the same and are as their specifications say.
#[derive(Debug)]
pub(crate) struct Correction {
    /// The member, as a JSON pointer from the list of codecs.
    pub(crate) pointer: String,
    /// Its value; `None`: there is none of this name.
    pub(crate) becomes: Option<Value>,
}

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, pointer: impl Into<String>, what: impl Into<String>) {
        self.note(pointer.into(), what.into(), None, None);
    }

    /// Adds a warning about a member, and how new documents have it.
    pub(crate) fn add_corrected(&self, pointer: String, what: String, correction: Correction, fault: Option<String>) {
        self.note(pointer, what, Some(correction), fault);
    }

    fn note(&self, pointer: String, what: String, correction: Option<Correction>, fault: Option<String>) {
        let warning = CodecWarning { pointer, what };
        self.0.borrow_mut().push(Noted { warning, correction, fault });
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Puts `prefix` in front of the pointers of all but the first `count` warnings, which are of codecs that lie below it.
    pub(crate) fn put_under(&self, count: usize, prefix: &str) {
        for noted in self.0.borrow_mut().iter_mut().skip(count) {
            noted.warning.pointer.insert_str(0, prefix);
            if let Some(correction) = &mut noted.correction {
                correction.pointer.insert_str(0, prefix);
            }
        }
    }

    /// Checks that there is none of a wrong member: documents that are read may have those that only encoding needs, new ones may not.
    ///
    /// # Errors
    /// [`Error::Metadata`] with the first one.
    pub fn check(&self) -> Result<(), Error> {
        let all = self.0.borrow();
        let first = all.iter().find_map(|noted| Some((noted.warning.pointer.clone(), noted.fault.clone()?)));
        first.map_or(Ok(()), |(pointer, what)| Err(Error::Metadata { pointer, what }))
    }

    /// The codecs that the warnings are of, as a new document has them: with the members that they read, and values of their own for
    /// wrong ones. Codecs without a warning stay as they are.
    #[must_use]
    pub fn corrected(&self, codecs: &[NamedConfig]) -> Vec<NamedConfig> {
        self.correct(codecs).0
    }

    /// As [`corrected`](Self::corrected), with the warnings of members that become different.
    pub(crate) fn correct(&self, codecs: &[NamedConfig]) -> (Vec<NamedConfig>, Vec<CodecWarning>) {
        let mut all = Map::new();
        let list: Vec<Value> = codecs.iter().map(NamedConfig::to_value).collect();
        all.insert("codecs", Value::Array(list));
        let mut different = Vec::new();
        for noted in self.0.borrow().iter() {
            let Some(Correction { pointer, becomes }) = &noted.correction else { continue };
            let pointer = format!("/codecs{pointer}");
            let before = all.pointer(&pointer).cloned();
            if before == *becomes {
                continue;
            }
            match becomes {
                // An object that is not there has no members to be corrected.
                Some(value) => drop(all.set_pointer(&pointer, value.clone())),
                None => drop(all.remove_pointer(&pointer)),
            }
            different.push(noted.warning.clone());
        }
        let list = all.get("codecs").and_then(Value::as_array).unwrap_or_default();
        let changed = |(codec, corrected): (&NamedConfig, &Value)| match codec.to_value() == *corrected {
            true => codec.clone(),
            false => NamedConfig::from_value(corrected).unwrap_or_else(|| codec.clone()),
        };
        (codecs.iter().zip(list).map(changed).collect(), different)
    }

    /// All warnings in the order they were added.
    pub fn into_vec(self) -> Vec<CodecWarning> {
        self.0.into_inner().into_iter().map(|noted| noted.warning).collect()
    }
}
