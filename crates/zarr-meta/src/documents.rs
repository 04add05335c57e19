//! The documents of a node.

use crate::error::{Error, ErrorKind, Position, Result};
use std::sync::{Arc, OnceLock};
use zarr_json::{Deviation, DeviationKind, ParseOptions, Value, parse};

/// The metadata documents of one node as stored: keys relative to the root of the store, and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    entries: Vec<Document>,
}

/// A document: its bytes, or else its value, of which the bytes are made when somebody asks for them.
#[derive(Clone, Debug)]
struct Document {
    key: String,
    bytes: OnceLock<Arc<Vec<u8>>>,
    /// The value of the bytes, if it is known and they are plain JSON.
    value: Option<Value>,
    /// Whether it comes from consolidated metadata.
    copied: bool,
}

impl Document {
    fn bytes(&self) -> &[u8] {
        self.bytes.get_or_init(|| Arc::new(self.value.as_ref().map(Value::to_string).unwrap_or_default().into_bytes()))
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.bytes() == other.bytes()
    }
}

impl Eq for Document {}

impl Documents {
    /// No documents.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Sets the document at `key`.
    pub fn insert(&mut self, key: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let bytes = OnceLock::from(Arc::new(bytes.into()));
        self.put(Document { key: key.into(), bytes, value: None, copied: false });
    }

    /// Sets the document at `key` to one that consolidated metadata has the value of. Its text is compact.
    pub(crate) fn insert_value(&mut self, key: impl Into<String>, value: Value) {
        self.put(Document { key: key.into(), bytes: OnceLock::new(), value: Some(value), copied: true });
    }

    fn put(&mut self, document: Document) {
        match self.entries.iter_mut().find(|existing| existing.key == document.key) {
            Some(old) => *old = document,
            None => self.entries.push(document),
        }
    }

    fn find(&self, key: &str) -> Option<&Document> {
        self.entries.iter().find(|document| document.key == key)
    }

    /// Whether there is a document at `key`.
    pub fn contains(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// The document at `key`.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.find(key).map(Document::bytes)
    }

    /// Keys and bytes, in the order they were inserted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.entries.iter().map(|document| (document.key.as_str(), document.bytes()))
    }

    /// The keys, in the order they were inserted.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|document| document.key.as_str())
    }

    /// The documents at `keys`, as far as they exist.
    pub(crate) fn among(&self, keys: &[String]) -> Self {
        Self { entries: keys.iter().filter_map(|key| self.find(key).cloned()).collect() }
    }

    /// The same documents; values whose bytes are there are dropped, since they are needed no more.
    pub(crate) fn without_values(mut self) -> Self {
        self.entries.iter_mut().filter(|document| document.bytes.get().is_some()).for_each(|it| it.value = None);
        self
    }

    /// Whether some come from consolidated metadata, where they were copied to, and not from their own keys.
    pub fn are_copies(&self) -> bool {
        self.entries.iter().any(|document| document.copied)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Applies the changes that [`documents`](crate::documents) returned: sets, and removes where there are no bytes.
    pub fn apply(&mut self, changes: &[(String, Option<Vec<u8>>)]) {
        for (key, bytes) in changes {
            match bytes {
                Some(bytes) => self.insert(key.as_str(), bytes.as_slice()),
                None => self.entries.retain(|document| document.key != *key),
            }
        }
    }

    /// The JSON value of the document at `key`, if there is such a document.
    ///
    /// Liberties are taken where `permitted`, given the pointer, says so; elsewhere they are syntax errors.
    pub(crate) fn json(
        &self,
        key: &str,
        options: ParseOptions,
        permitted: impl Fn(&Deviation) -> bool,
    ) -> Result<Option<(Value, Vec<Deviation>)>> {
        let Some(document) = self.find(key) else { return Ok(None) };
        match &document.value {
            Some(value) => Ok(Some((value.clone(), Vec::new()))),
            None => parse_document(key, document.bytes(), options, permitted).map(Some),
        }
    }

    /// The JSON value of the document at `key`, with all deviations accepted; null if it is not JSON even so. If it has none,
    /// the value is kept, so that the document is not parsed again.
    ///
    /// # Errors
    /// If the document is too large.
    pub(crate) fn json_anyhow(&mut self, key: &str) -> Result<Option<Value>> {
        let Some(document) = self.entries.iter_mut().find(|document| document.key == key) else { return Ok(None) };
        if document.value.is_none() {
            let bytes = document.bytes();
            Error::if_too_large(key, bytes.len())?;
            match parse(bytes, ParseOptions::ALL) {
                Ok(parsed) if parsed.deviations.is_empty() => document.value = Some(parsed.value),
                Ok(parsed) => return Ok(Some(parsed.value)),
                Err(_) => return Ok(Some(Value::Null)),
            }
        }
        Ok(document.value.clone())
    }
}

impl FromIterator<(String, Vec<u8>)> for Documents {
    fn from_iter<I: IntoIterator<Item = (String, Vec<u8>)>>(documents: I) -> Self {
        let mut all = Self::new();
        documents.into_iter().for_each(|(key, bytes)| all.insert(key, bytes));
        all
    }
}

/// Parses one document, see [`Documents::json`].
pub(crate) fn parse_document(
    key: &str,
    bytes: &[u8],
    options: ParseOptions,
    permitted: impl Fn(&Deviation) -> bool,
) -> Result<(Value, Vec<Deviation>)> {
    parse_where(key, bytes, options, &permitted)
}

/// Compiled once, whatever is permitted.
fn parse_where(
    key: &str,
    bytes: &[u8],
    options: ParseOptions,
    permitted: &dyn Fn(&Deviation) -> bool,
) -> Result<(Value, Vec<Deviation>)> {
    Error::if_too_large(key, bytes.len())?;
    // Which changes no value, in whatever document it is: always permitted.
    let options = options.byte_order_mark(true);
    let permitted = |deviation: &Deviation| deviation.kind == DeviationKind::ByteOrderMark || permitted(deviation);
    let syntax = |(line, column, offset), what: String| {
        let position = Position { line, column, offset };
        Error::new(ErrorKind::InvalidJson, "", what, "").at_position(position).in_document(key)
    };
    let parsed = parse(bytes, options).map_err(|error| syntax((error.line, error.column, error.offset), error.what))?;
    if let Some(deviation) = parsed.deviations.iter().find(|deviation| !permitted(deviation)) {
        let what = format!("{} at {:?}", deviation.kind, deviation.pointer);
        return Err(syntax((deviation.line, deviation.column, deviation.offset), what));
    }
    Ok((parsed.value, parsed.deviations))
}
