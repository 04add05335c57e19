//! Documents of a node as they are stored at present.

use crate::jobs::Operation;
use crate::{Error, ErrorKind, Result, jobs};
use zarr_drive::Io;
use zarr_meta::{Documents, StoredNode};
use zarr_store::{Key, Precondition, Version};

/// Node with the metadata that is stored at present, and the versions of its documents.
#[derive(Clone, Debug)]
pub struct Newest {
    /// Node with the metadata that is stored at present.
    pub found: StoredNode,
    stored: Texts,
}

/// Documents of a node, sorted by key.
#[derive(Clone, Debug, Default)]
struct Texts(Vec<(Key, Stored)>);

/// Bytes and version of a document as it was read; `None` if it does not exist.
type Stored = Option<(Vec<u8>, Option<Version>)>;

impl Texts {
    fn get(&self, key: &str) -> Option<&Stored> {
        let at = self.0.binary_search_by(|(other, _)| other.as_str().cmp(key)).ok()?;
        self.0.get(at).map(|(_, document)| document)
    }

    fn insert(&mut self, key: Key, document: Stored) {
        match self.0.binary_search_by(|(other, _)| other.cmp(&key)) {
            Ok(at) => self.0[at].1 = document,
            Err(at) => self.0.insert(at, (key, document)),
        }
    }

    /// Iterates over the documents that exist.
    fn there(&self) -> impl Iterator<Item = (&Key, &[u8])> {
        self.0.iter().filter_map(|(key, document)| Some((key, document.as_ref()?.0.as_slice())))
    }
}

impl Newest {
    /// Returns the bytes of the document at `key`; `None` if it does not exist.
    pub(super) fn text(&self, key: &Key) -> Option<&[u8]> {
        self.stored.get(key.as_str())?.as_ref().map(|(text, _)| text.as_slice())
    }

    /// Iterates over the keys and bytes of the documents that exist.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&Key, &[u8])> {
        self.stored.there()
    }

    /// Returns the condition that the document at `key` is unchanged since it was read.
    pub(super) fn unchanged(&self, key: &Key) -> Precondition {
        match self.stored.get(key.as_str()) {
            Some(Some((_, version))) => version.clone().map_or(Precondition::None, Precondition::Version),
            _ => Precondition::NotExists,
        }
    }
}

/// Reads the present documents of a node that was found before.
#[derive(Clone, Debug)]
pub struct ReadNewest {
    found: StoredNode,
}

impl ReadNewest {
    /// Reads the present documents of the node `found`.
    #[must_use]
    pub fn new(found: &StoredNode) -> Self {
        Self { found: found.clone() }
    }

    /// Keys at which the node may have documents, including documents of the whole hierarchy. `known` are documents that name others.
    fn keys(&self, known: &Documents) -> Result<Vec<Key>> {
        let StoredNode { dialect, path, .. } = &self.found;
        let mut keys = zarr_meta::document_keys(*dialect, path, known);
        keys.extend(self.found.documents.keys().map(str::to_owned));
        keys.extend(zarr_meta::entry_point_key(*dialect).map(str::to_owned));
        keys.sort_unstable();
        keys.dedup();
        keys.iter().map(|key| Ok(Key::new(key)?)).collect()
    }
}

impl Operation for ReadNewest {
    type Output = Newest;

    async fn run(self, io: &Io) -> Result<Newest> {
        let mut stored = Texts::default();
        let mut keys = self.keys(&self.found.documents)?;
        let documents = loop {
            let fetched = io.get(keys.iter().cloned().map(jobs::get_whole_document).collect()).await?;
            for (key, fetched) in keys.into_iter().zip(fetched) {
                stored.insert(key, fetched.map(|fetched| (fetched.part(0).to_vec(), fetched.version)));
            }
            let documents: Documents = stored.there().map(|(key, text)| (key.to_string(), text.to_vec())).collect();
            // Documents may name further ones.
            keys = self.keys(&documents)?.into_iter().filter(|key| stored.get(key.as_str()).is_none()).collect();
            if keys.is_empty() {
                break documents;
            }
        };
        let found = match StoredNode::read(self.found.dialect, self.found.path.clone(), &documents)? {
            Some(found) => found,
            None if self.found.implicit => self.found,
            None => {
                let error = Error::new(ErrorKind::NotFound, "another writer erased the node meanwhile");
                return Err(error.at_path(&self.found.path));
            }
        };
        Ok(Newest { found, stored })
    }
}
