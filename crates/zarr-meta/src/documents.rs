//! Metadata documents of a node.

use crate::consolidated::Copied;
use crate::error::{Error, ErrorKind, MAX_DOCUMENT_SIZE, Position, Result};
use std::sync::{Arc, OnceLock};
use zarr_json::{
    ApartError, Deviation, DeviationKind, MemberText, ParseOptions, ParsedApart, SyntaxError, Value, begins_in, parse,
    parse_apart,
};

/// Member names that lead to the consolidated metadata inside a document of version 3.
pub(crate) const INLINE: [&str; 2] = ["consolidated_metadata", "metadata"];

/// Content of a document, with the entries of consolidated metadata apart.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// JSON value of the document, without the entries of consolidated metadata.
    pub(crate) value: Value,
    /// Bytes of the document, and the entries of consolidated metadata in it; `None` if the document has none.
    pub(crate) entries: Option<(Arc<Vec<u8>>, Vec<MemberText>)>,
}

/// Metadata documents of one node as stored: keys relative to the root of the store, and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    entries: Vec<Document>,
}

/// Document with its key: its bytes, or a document of consolidated metadata from which the bytes are made when they are first needed.
#[derive(Clone, Debug)]
struct Document {
    key: String,
    bytes: OnceLock<Arc<Vec<u8>>>,
    /// Parsed content of `bytes`, if it is known and is JSON without deviations.
    value: Option<Read>,
    /// Document of consolidated metadata that this document comes from; `None` for a document from its own key.
    copied: Option<Copied>,
}

impl Document {
    fn bytes(&self) -> &[u8] {
        self.shared()
    }

    fn shared(&self) -> &Arc<Vec<u8>> {
        let text = || self.copied.as_ref().map(|copied| copied.value().to_string()).unwrap_or_default();
        self.bytes.get_or_init(|| Arc::new(text().into_bytes()))
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.bytes() == other.bytes()
    }
}

impl Eq for Document {}

impl Documents {
    /// Returns an empty set of documents.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Inserts or replaces the document at `key`.
    pub fn insert(&mut self, key: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let bytes = OnceLock::from(Arc::new(bytes.into()));
        self.put(Document { key: key.into(), bytes, value: None, copied: None });
    }

    /// Inserts or replaces the document at `key` by one from consolidated metadata. Its bytes will be compact JSON.
    pub(crate) fn insert_copy(&mut self, key: impl Into<String>, copied: Copied) {
        self.put(Document { key: key.into(), bytes: OnceLock::new(), value: None, copied: Some(copied) });
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

    /// Returns whether there is a document at `key`.
    pub fn contains(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// Returns the bytes of the document at `key`; `None` if there is no such document.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.find(key).map(Document::bytes)
    }

    /// Returns the bytes of the document at `key` as a shared buffer; `None` if there is no such document.
    pub(crate) fn shared(&self, key: &str) -> Option<Arc<Vec<u8>>> {
        self.find(key).map(|document| Arc::clone(document.shared()))
    }

    /// Returns keys and bytes of all documents, in insertion order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.entries.iter().map(|document| (document.key.as_str(), document.bytes()))
    }

    /// Returns the keys of all documents, in insertion order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.entries.iter().map(|document| document.key.as_str())
    }

    /// Returns the documents at `keys`; keys without a document are skipped.
    pub(crate) fn among(&self, keys: &[String]) -> Self {
        Self { entries: keys.iter().filter_map(|key| self.find(key).cloned()).collect() }
    }

    /// Drops the parsed values of all documents, to free memory. The bytes stay.
    pub(crate) fn without_values(mut self) -> Self {
        self.entries.iter_mut().for_each(|document| document.value = None);
        self
    }

    /// Returns whether any document comes from consolidated metadata instead of its own key.
    pub fn are_consolidated(&self) -> bool {
        self.entries.iter().any(|document| document.copied.is_some())
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Applies changes returned by [`documents`](crate::documents): sets the bytes at each key, or removes the document if there are no
    /// bytes.
    pub fn apply(&mut self, changes: &[(String, Option<Vec<u8>>)]) {
        for (key, bytes) in changes {
            match bytes {
                Some(bytes) => self.insert(key.as_str(), bytes.as_slice()),
                None => self.entries.retain(|document| document.key != *key),
            }
        }
    }

    /// Returns the JSON value of the document at `key` and the deviations from JSON in it; `None` if there is no such document.
    ///
    /// `permitted` is called with each deviation that `options` accept; a deviation that it rejects is a syntax error.
    pub(crate) fn json(
        &self,
        key: &str,
        options: ParseOptions,
        permitted: impl Fn(&Deviation) -> bool,
    ) -> Result<Option<(Value, Vec<Deviation>)>> {
        let Some(document) = self.find(key) else { return Ok(None) };
        match (&document.copied, &document.value) {
            (Some(copied), _) => Ok(Some((copied.value(), Vec::new()))),
            (None, Some(Read { value, entries: None })) => Ok(Some((value.clone(), Vec::new()))),
            _ => parse_document(key, document.bytes(), options, permitted).map(Some),
        }
    }

    /// Returns the content of the document at `key` and the deviations from JSON in it, as [`json`](Self::json) does, with the entries of
    /// consolidated metadata as unparsed text, since they may be large.
    pub(crate) fn json_apart(
        &self,
        key: &str,
        options: ParseOptions,
        permitted: impl Fn(&Deviation) -> bool,
    ) -> Result<Option<(Read, Vec<Deviation>)>> {
        let Some(document) = self.find(key) else { return Ok(None) };
        match (&document.copied, &document.value) {
            (Some(copied), _) => Ok(Some((Read { value: copied.value(), entries: None }, Vec::new()))),
            (None, Some(read)) => Ok(Some((read.clone(), Vec::new()))),
            _ => {
                let parsed = parse_consolidated(key, document.bytes(), options, &INLINE, permitted)?;
                let entries = parsed.entries.map(|entries| (Arc::clone(document.shared()), entries));
                Ok(Some((Read { value: parsed.value, entries }, parsed.deviations)))
            }
        }
    }

    /// Returns the JSON value of the document at `key` with all deviations accepted and without entries of consolidated metadata:
    /// `Some(Null)` if the document is not JSON even so, `None` if there is no such document. If the document has no deviations, the value
    /// is cached, so that the document is not parsed again.
    ///
    /// # Errors
    /// Fails if the document is too large.
    pub(crate) fn json_anyhow(&mut self, key: &str) -> Result<Option<Value>> {
        let Some(document) = self.entries.iter_mut().find(|document| document.key == key) else { return Ok(None) };
        if let Some(copied) = &document.copied {
            return Ok(Some(copied.value()));
        }
        if document.value.is_none() {
            match parse_consolidated(key, document.bytes(), ParseOptions::ALL, &INLINE, |_| true) {
                Ok(parsed) if parsed.deviations.is_empty() => {
                    let entries = parsed.entries.map(|entries| (Arc::clone(document.shared()), entries));
                    document.value = Some(Read { value: parsed.value, entries });
                }
                Ok(parsed) => return Ok(Some(parsed.value)),
                Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
                Err(_) => return Ok(Some(Value::Null)),
            }
        }
        Ok(document.value.as_ref().map(|read| read.value.clone()))
    }
}

impl FromIterator<(String, Vec<u8>)> for Documents {
    fn from_iter<I: IntoIterator<Item = (String, Vec<u8>)>>(documents: I) -> Self {
        let mut all = Self::new();
        documents.into_iter().for_each(|(key, bytes)| all.insert(key, bytes));
        all
    }
}

/// Parses the document at `key`; see [`Documents::json`] for `options` and `permitted`.
pub(crate) fn parse_document(
    key: &str,
    bytes: &[u8],
    options: ParseOptions,
    permitted: impl Fn(&Deviation) -> bool,
) -> Result<(Value, Vec<Deviation>)> {
    parse_where(key, bytes, options, &permitted)
}

/// Parses a document. Takes `permitted` as a trait object, so that the function is compiled once.
fn parse_where(
    key: &str,
    bytes: &[u8],
    options: ParseOptions,
    permitted: &dyn Fn(&Deviation) -> bool,
) -> Result<(Value, Vec<Deviation>)> {
    Error::if_too_large(key, bytes.len())?;
    // A byte order mark changes no value, in whatever document it is: always permitted.
    let parsed = parse(bytes, options.byte_order_mark(true)).map_err(|error| syntax(key, error))?;
    check_deviations(key, &parsed.deviations, permitted)?;
    Ok((parsed.value, parsed.deviations))
}

/// Parses a document that may have consolidated metadata in the object at `path`. The entries of that object are checked and returned as
/// text. Each entry, and the text around all entries, is limited to [`MAX_DOCUMENT_SIZE`].
pub(crate) fn parse_consolidated(
    key: &str,
    bytes: &[u8],
    options: ParseOptions,
    path: &[&str],
    permitted: impl Fn(&Deviation) -> bool,
) -> Result<ParsedApart> {
    Error::if_consolidated_too_large(key, bytes.len())?;
    let parsed = parse_apart(bytes, options.byte_order_mark(true), path, MAX_DOCUMENT_SIZE);
    let parsed = parsed.map_err(|error| match error {
        // What is too large was cut off, and is no JSON for that.
        ApartError::Syntax(_) if bytes.len() > MAX_DOCUMENT_SIZE && !begins_in(bytes, path) => {
            Error::part_too_large(key, 0)
        }
        ApartError::Syntax(error) => syntax(key, error),
        ApartError::TooLarge { offset, .. } => Error::part_too_large(key, offset),
    })?;
    check_deviations(key, &parsed.deviations, &permitted)?;
    Ok(parsed)
}

fn syntax(key: &str, SyntaxError { line, column, offset, what, .. }: SyntaxError) -> Error {
    let position = Position { line, column, offset };
    Error::new(ErrorKind::InvalidJson, "", what, "").at_position(position).in_document(key)
}

fn check_deviations(key: &str, found: &[Deviation], permitted: &dyn Fn(&Deviation) -> bool) -> Result<()> {
    let permitted = |deviation: &Deviation| deviation.kind == DeviationKind::ByteOrderMark || permitted(deviation);
    let Some(deviation) = found.iter().find(|deviation| !permitted(deviation)) else { return Ok(()) };
    let what = format!("{} at {:?}", deviation.kind, deviation.pointer);
    let position = Position { line: deviation.line, column: deviation.column, offset: deviation.offset };
    Err(Error::new(ErrorKind::InvalidJson, "", what, "").at_position(position).in_document(key))
}
