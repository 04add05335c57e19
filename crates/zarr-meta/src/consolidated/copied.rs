//! The documents in consolidated metadata: kept as text, and parsed when they are asked for.

use std::ops::Range;
use std::sync::Arc;
use zarr_json::{Map, MemberText, ParseOptions, Value, parse};

/// The documents in consolidated metadata by their keys, in the order stored.
///
/// Documents that were read are kept as text, each parsed when it is asked for. Clones share them.
#[derive(Clone, Default)]
pub struct CopiedDocuments {
    entries: Arc<Vec<(String, Copied)>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(crate) enum Copied {
    Value(Value),
    Text(Arc<CopiedText>, Range<usize>),
}

/// The document of consolidated metadata that was read.
#[derive(Debug)]
pub(crate) struct CopiedText {
    bytes: Arc<Vec<u8>>,
    /// Whether it is of version 3, where groups in it may have consolidated metadata that say nothing.
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
    /// The members of an object of `bytes`, whose names `key` makes keys of; the others are left out.
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

    /// The same with the document at `key` in front.
    #[cfg(feature = "drafts")]
    pub(super) fn with_first(self, key: &str) -> Self {
        let mut entries = Arc::unwrap_or_clone(self.entries);
        if let Some(at) = entries.iter().position(|(other, _)| other == key) {
            entries[..=at].rotate_right(1);
        }
        Self { entries: Arc::new(entries) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The keys, in the order stored.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.entries().map(|(key, _)| key)
    }

    /// The document at `key`.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.entries().find(|(other, _)| *other == key).map(|(_, copied)| copied.value())
    }

    /// Keys and documents, in the order stored.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, Value)> + ExactSizeIterator {
        self.entries().map(|(key, copied)| (key, copied.value()))
    }

    /// Takes out the document at `key`, if there is one.
    pub(super) fn remove(&mut self, key: &str) -> bool {
        let at = self.entries.iter().position(|(other, _)| other == key);
        at.is_some_and(|at| {
            Arc::make_mut(&mut self.entries).remove(at);
            true
        })
    }

    /// Puts a document at `key`: in the place of the one there, or behind all others.
    pub(super) fn put(&mut self, key: &str, document: Value) {
        let entries = Arc::make_mut(&mut self.entries);
        match entries.iter_mut().find(|(other, _)| other == key) {
            Some((_, old)) => *old = Copied::Value(document),
            None => entries.push((key.to_owned(), Copied::Value(document))),
        }
    }

    /// The documents as one object.
    pub(super) fn to_map(&self, key: impl Fn(&str) -> String) -> Map {
        Map::from_unique(self.iter().map(|(at, document)| (key(at), document)))
    }
}

impl FromIterator<(String, Value)> for CopiedDocuments {
    /// Collects documents; the last one with a key counts.
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

/// Groups inside of consolidated metadata may have some of their own that is empty though they have children
/// (zarr-python 3.1), so it says nothing.
pub(super) fn without_nested(document: &Value) -> Value {
    let mut members = document.as_object().cloned().unwrap_or_default();
    if members.contains_key("consolidated_metadata") {
        members.remove("consolidated_metadata");
    }
    Value::Object(members)
}
