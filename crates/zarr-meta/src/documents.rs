//! The documents of a node.

use crate::consolidated::Copied;
use crate::error::{Error, ErrorKind, MAX_DOCUMENT_SIZE, Position, Result};
use std::sync::{Arc, OnceLock};
use zarr_json::{
    ApartError, Deviation, DeviationKind, MemberText, ParseOptions, ParsedApart, SyntaxError, Value, begins_in, parse,
    parse_apart,
};

/// Where consolidated metadata is in a document of version 3.
pub(crate) const INLINE: [&str; 2] = ["consolidated_metadata", "metadata"];

/// The content of a document.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its value, without the entries.
    pub(crate) value: Value,
    /// The entries of consolidated metadata in it, and the text that they are in; `None` if there is none.
    pub(crate) entries: Option<(Arc<Vec<u8>>, Vec<MemberText>)>,
}

/// The metadata documents of one node as stored: keys relative to the root of the store, and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    entries: Vec<Document>,
}

/// A document: its bytes, or else the copy of which they are made when somebody asks for them.
#[derive(Clone, Debug)]
struct Document {
    key: String,
    bytes: OnceLock<Arc<Vec<u8>>>,
    /// The content of the bytes, if it is known and they are plain JSON.
    value: Option<Read>,
    /// The document in consolidated metadata that it is.
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
    /// No documents.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Sets the document at `key`.
    pub fn insert(&mut self, key: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let bytes = OnceLock::from(Arc::new(bytes.into()));
        self.put(Document { key: key.into(), bytes, value: None, copied: None });
    }

    /// Sets the document at `key` to one that consolidated metadata has. Its text is compact.
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

    /// Whether there is a document at `key`.
    pub fn contains(&self, key: &str) -> bool {
        self.find(key).is_some()
    }

    /// The document at `key`.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.find(key).map(Document::bytes)
    }

    /// The document at `key`, shared.
    pub(crate) fn shared(&self, key: &str) -> Option<Arc<Vec<u8>>> {
        self.find(key).map(|document| Arc::clone(document.shared()))
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

    /// The same documents; their values are dropped, since they are needed no more.
    pub(crate) fn without_values(mut self) -> Self {
        self.entries.iter_mut().for_each(|document| document.value = None);
        self
    }

    /// Whether some come from consolidated metadata, where they were copied to, and not from their own keys.
    pub fn are_copies(&self) -> bool {
        self.entries.iter().any(|document| document.copied.is_some())
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
        match (&document.copied, &document.value) {
            (Some(copied), _) => Ok(Some((copied.value(), Vec::new()))),
            (None, Some(Read { value, entries: None })) => Ok(Some((value.clone(), Vec::new()))),
            _ => parse_document(key, document.bytes(), options, permitted).map(Some),
        }
    }

    /// As [`json`](Self::json), of a document in which an object may be large: its members are kept as text.
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

    /// The JSON value of the document at `key`, with all deviations accepted, and without the members of consolidated metadata in it; null
    /// if it is not JSON even so. If it has none, the value is kept, so that the document is not parsed again.
    ///
    /// # Errors
    /// If the document is too large.
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
    // A byte order mark changes no value, in whatever document it is: always permitted.
    let parsed = parse(bytes, options.byte_order_mark(true)).map_err(|error| syntax(key, error))?;
    check_deviations(key, &parsed.deviations, permitted)?;
    Ok((parsed.value, parsed.deviations))
}

/// Parses a document that has, or may have, consolidated metadata in an object to which the names of `path` lead. Its entries are checked and
/// kept as text; each of them, and the text around them, is as large as a document at most.
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
