//! Warnings about the metadata of codecs.

use crate::Error;
use std::cell::RefCell;
use zarr_json::{Map, NamedConfig, Value};

/// Deviation in the metadata of codecs that is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodecWarning {
    /// JSON pointer to the deviating value, relative to the list of codecs.
    pub pointer: String,
    /// Message that says the deviation, and how it is read.
    pub what: String,
}

/// List of warnings about the metadata of codecs.
#[derive(Debug, Default)]
pub struct Warnings(RefCell<Vec<Noted>>);

/// Warning, with its consequence for a new document.
#[derive(Debug)]
struct Noted {
    warning: CodecWarning,
    correction: Option<Correction>,
    /// Reason why the value must not be in a new document; `None` if it may be.
    fault: Option<String>,
}

/// Change of a member of a configuration that keeps the meaning of the codec and makes it conform to its specification.
#[derive(Debug)]
pub(crate) struct Correction {
    /// JSON pointer to the member, relative to the list of codecs.
    pub(crate) pointer: String,
    /// New value of the member; `None` if the member is removed.
    pub(crate) becomes: Option<Value>,
}

impl Warnings {
    /// Adds a warning.
    pub fn add(&self, pointer: impl Into<String>, what: impl Into<String>) {
        self.note(pointer.into(), what.into(), None, None);
    }

    /// Adds a warning about a member, with the correction for new documents and the reason why the value must not be in one.
    pub(crate) fn add_corrected(&self, pointer: String, what: String, correction: Correction, fault: Option<String>) {
        self.note(pointer, what, Some(correction), fault);
    }

    fn note(&self, pointer: String, what: String, correction: Option<Correction>, fault: Option<String>) {
        let warning = CodecWarning { pointer, what };
        self.0.borrow_mut().push(Noted { warning, correction, fault });
    }

    /// Number of warnings.
    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// Puts `prefix` in front of the pointers of all warnings after the first `count`: they are about codecs nested below `prefix`.
    pub(crate) fn put_under(&self, count: usize, prefix: &str) {
        for noted in self.0.borrow_mut().iter_mut().skip(count) {
            noted.warning.pointer.insert_str(0, prefix);
            if let Some(correction) = &mut noted.correction {
                correction.pointer.insert_str(0, prefix);
            }
        }
    }

    /// Checks that no warning is about an invalid value. Documents that are read may have invalid values that only encoding needs; new
    /// documents must not.
    ///
    /// # Errors
    /// [`Error::Metadata`] about the first invalid value.
    pub fn check(&self) -> Result<(), Error> {
        let all = self.0.borrow();
        let first = all.iter().find_map(|noted| Some((noted.warning.pointer.clone(), noted.fault.clone()?)));
        first.map_or(Ok(()), |(pointer, what)| Err(Error::Metadata { pointer, what }))
    }

    /// Returns `codecs`, which the warnings are about, as a new document has them: unknown members are removed and invalid values replaced.
    /// Codecs without a warning are returned unchanged.
    #[must_use]
    pub fn corrected(&self, codecs: &[NamedConfig]) -> Vec<NamedConfig> {
        self.correct(codecs).0
    }

    /// Returns `codecs` as a new document has them, and the warnings about members that change.
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

    /// Returns all warnings in the order in which they were added.
    pub fn into_vec(self) -> Vec<CodecWarning> {
        self.0.into_inner().into_iter().map(|noted| noted.warning).collect()
    }
}
