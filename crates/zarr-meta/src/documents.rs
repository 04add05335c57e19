//! The documents of a node.

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Leniency, Oddity, Value, parse};

/// The metadata documents of one node as stored: keys relative to the root of the store, and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    entries: Vec<(String, Vec<u8>)>,
}

impl Documents {
    /// No documents.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Sets the document at `key`.
    pub fn insert(&mut self, key: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let (key, bytes) = (key.into(), bytes.into());
        match self.entries.iter_mut().find(|(existing, _)| *existing == key) {
            Some((_, old)) => *old = bytes,
            None => self.entries.push((key, bytes)),
        }
    }

    /// The document at `key`.
    pub fn get(&self, key: &str) -> Option<&[u8]> {
        self.entries.iter().find(|(existing, _)| existing == key).map(|(_, bytes)| bytes.as_slice())
    }

    /// Keys and bytes, in the order they were inserted.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &[u8])> {
        self.entries.iter().map(|(key, bytes)| (key.as_str(), bytes.as_slice()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Applies what [`documents`](crate::documents) returned: sets, and removes where there are no bytes.
    pub fn apply(&mut self, changes: &[(String, Option<Vec<u8>>)]) {
        for (key, bytes) in changes {
            match bytes {
                Some(bytes) => self.insert(key.as_str(), bytes.as_slice()),
                None => self.entries.retain(|(existing, _)| existing != key),
            }
        }
    }

    /// The JSON value of the document at `key`, if there is such a document.
    ///
    /// Liberties are taken where `permitted`, given the pointer, says so; elsewhere they are syntax errors.
    pub(crate) fn json(
        &self,
        key: &str,
        leniency: Leniency,
        permitted: impl Fn(&Oddity) -> bool,
    ) -> Result<Option<(Value, Vec<Oddity>)>> {
        self.get(key).map(|bytes| parse_document(key, bytes, leniency, permitted)).transpose()
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
    leniency: Leniency,
    permitted: impl Fn(&Oddity) -> bool,
) -> Result<(Value, Vec<Oddity>)> {
    Error::if_too_large(key, bytes.len())?;
    let syntax = |line, column, what: String| {
        Error::new(ErrorKind::InvalidJson, "", what, "").at_position(line, column).in_document(key)
    };
    let parsed = parse(bytes, leniency).map_err(|error| syntax(error.line, error.column, error.what))?;
    if let Some(oddity) = parsed.oddities.iter().find(|oddity| !permitted(oddity)) {
        let what = format!("{} at {:?}", oddity.what, oddity.pointer);
        return Err(syntax(oddity.line, oddity.column, what));
    }
    Ok((parsed.value, parsed.oddities))
}
