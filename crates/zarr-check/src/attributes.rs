//! Places of attributes in the documents of a node.

use crate::{Finding, section};
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use zarr_json::{ParseOptions, Value, parse};
use zarr_meta::StoredNode;

/// Finds the places of attributes of one node in its documents. The documents are parsed once, for the first finding.
pub(crate) struct AttributeDocuments<'n> {
    found: &'n StoredNode,
    documents: OnceCell<Vec<(&'n str, Value)>>,
    /// Key of the document that has an attribute as a member, by the name of the attribute; `None` if attributes have no separate document.
    keys: RefCell<HashMap<String, Option<&'n str>>>,
}

impl<'n> AttributeDocuments<'n> {
    pub(crate) fn new(found: &'n StoredNode) -> Self {
        Self { found, documents: OnceCell::new(), keys: RefCell::default() }
    }

    /// Places a finding at an attribute. `pointer` is below `/attributes`, as in the documents of version 3, and is adapted to the
    /// document.
    pub(crate) fn at(&self, finding: Finding, pointer: &str) -> Finding {
        let finding = finding.at_path(&self.found.path);
        let below = pointer.strip_prefix("/attributes").filter(|below| !below.is_empty());
        let name = below.and_then(|below| below.split('/').nth(1)).unwrap_or_default();
        let own = self.document_of(name);
        let full = below.unwrap_or_default();
        let pointer = below.filter(|_| own.is_some()).unwrap_or(pointer).to_owned();
        let section = section::of(finding.code, full);
        let key = own.or_else(|| self.found.document_key()).map(str::to_owned);
        Finding { key, pointer: Some(pointer), section, ..finding }
    }

    /// Key of the separate document of attributes, which some dialects have, if the attribute `name` is a member of it.
    fn document_of(&self, name: &str) -> Option<&'n str> {
        if let Some(known) = self.keys.borrow().get(name) {
            return *known;
        }
        let documents = self.documents.get_or_init(|| {
            let read = |key: &'n str| {
                let parsed = parse(self.found.documents.get(key)?, ParseOptions::ALL).ok()?;
                Some((key, parsed.value))
            };
            self.found.own_documents().filter_map(read).collect()
        });
        let own = documents.iter().find(|(_, document)| document.get(name).is_some()).map(|(key, _)| *key);
        self.keys.borrow_mut().insert(name.to_owned(), own);
        own
    }
}
