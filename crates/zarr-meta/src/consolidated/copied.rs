//! Documents in consolidated metadata: stored as text, and parsed when they are requested.

use std::ops::Range;
use std::sync::Arc;
use zarr_json::{Map, MemberText, ParseOptions, Value, parse};

/// Documents in consolidated metadata by their keys, in the stored order.
///
/// Documents that were read are stored as text, and each is parsed when it is requested. Clones share the text.
#[derive(Clone, Default)]
pub struct CopiedDocuments {
    entries: Arc<Vec<(String, Copied)>>,
}

/// One document of consolidated metadata, parsed or as text.
#[derive(Clone, Debug)]
pub(crate) enum Copied {
    Value(Value),
    Text(Arc<CopiedText>, Range<usize>),
}

/// Whole document of consolidated metadata that was read.
#[derive(Debug)]
pub(crate) struct CopiedText {
    bytes: Arc<Vec<u8>>,
    /// Whether it is from version 3, in which groups inside may have consolidated metadata of their own that is to be ignored.
    is_inline: bool,
}

impl Copied {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::Text(of, at) => {
                // It was checked when it was read.
                let text = of.bytes.get(at.clone()).unwrap_or_default();
                let value = parse(text, ParseOptions::ALL).map(|parsed| parsed.value).unwrap_or_default();
                if of.is_inline { without_nested(&value) } else { value }
            }
        }
    }
}

impl CopiedDocuments {
    /// Returns the documents in `members` of a JSON object in `bytes`. `key` maps the name of a member to the key of the document, or to
    /// `None` to skip the member.
    pub(super) fn of_text(
        bytes: &Arc<Vec<u8>>,
        is_inline: bool,
        members: Vec<MemberText>,
        mut key: impl FnMut(String) -> Option<String>,
    ) -> Self {
        let text = Arc::new(CopiedText { bytes: Arc::clone(bytes), is_inline });
        let copied = |member: MemberText| Some((key(member.name)?, Copied::Text(Arc::clone(&text), member.text)));
        Self { entries: Arc::new(members.into_iter().filter_map(copied).collect()) }
    }

    pub(super) fn entries(&self) -> impl DoubleEndedIterator<Item = (&str, &Copied)> + ExactSizeIterator {
        self.entries.iter().map(|(key, copied)| (key.as_str(), copied))
    }

    /// Moves the document at `key` to the front.
    #[cfg(feature = "drafts")]
    pub(super) fn with_first(self, key: &str) -> Self {
        let mut entries = Arc::unwrap_or_clone(self.entries);
        if let Some(at) = entries.iter().position(|(other, _)| other == key) {
            entries[..=at].rotate_right(1);
        }
        Self { entries: Arc::new(entries) }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the keys of the documents, in the stored order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.entries().map(|(key, _)| key)
    }

    /// Returns the parsed document at `key`; `None` if there is no such document.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.entries().find(|(other, _)| *other == key).map(|(_, copied)| copied.value())
    }

    /// Returns keys and parsed documents, in the stored order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, Value)> + ExactSizeIterator {
        self.entries().map(|(key, copied)| (key, copied.value()))
    }

    /// Removes the document at `key`. Returns whether there was one.
    pub(super) fn remove(&mut self, key: &str) -> bool {
        let at = self.entries.iter().position(|(other, _)| other == key);
        at.is_some_and(|at| {
            Arc::make_mut(&mut self.entries).remove(at);
            true
        })
    }

    /// Sets the document at `key`: replaces the old document in its place, or appends the new one.
    pub(super) fn put(&mut self, key: &str, document: Value) {
        let entries = Arc::make_mut(&mut self.entries);
        match entries.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => *old = Copied::Value(document),
            None => entries.push((key.to_owned(), Copied::Value(document))),
        }
    }

    /// Returns the documents as one object. `key` maps the key of a document to the name of its member.
    pub(super) fn to_map(&self, key: impl Fn(&str) -> String) -> Map {
        Map::from_unique(self.iter().map(|(at, document)| (key(at), document)))
    }
}

impl FromIterator<(String, Value)> for CopiedDocuments {
    /// Collects documents; if a key occurs several times, its last document counts.
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(documents: I) -> Self {
        let unique: Map = documents.into_iter().collect();
        let entries = unique.into_iter().map(|(key, value)| (key, Copied::Value(value))).collect();
        Self { entries: Arc::new(entries) }
    }
}

impl PartialEq for CopiedDocuments {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries) || (self.len() == other.len() && self.iter().eq(other.iter()))
    }
}

impl std::fmt::Debug for CopiedDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Returns the document without the member `consolidated_metadata`: groups inside of consolidated metadata may have an empty one even if
/// they have children (zarr-python 3.1), so the member means nothing.
pub(super) fn without_nested(document: &Value) -> Value {
    let mut members = document.as_object().cloned().unwrap_or_default();
    if members.contains_key("consolidated_metadata") {
        members.remove("consolidated_metadata");
    }
    Value::Object(members)
}
