//! The record of a migration in its store, by which it is completed or undone.

use super::super::fingerprint::hashes;
use std::collections::BTreeSet;
use std::fmt;
pub(super) use zarr_hierarchy::node::MIGRATION_RECORD as KEY;
use zarr_hierarchy::node::order;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Map, Value, json};
use zarr_meta::{ArrayMetadata, Dialect, Documents, NodePath, StoredNode, consolidated};
use zarr_store::{ByteRange, Durability, Key, Precondition, SetOptions, Store, StoreExt, Version};

/// Version of the format of the record.
const VERSION: u64 = 1;
/// Members with hashes of documents.
const HASHES: &str = "hashes";
const NEW_HASHES: &str = "new_hashes";

/// State of a [`Migration`](super::Migration), as its record in the store says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrationState {
    /// New chunks and documents are being written, or the run was interrupted.
    Running,
    /// The new hierarchy is complete, and the old hierarchy still exists.
    Done,
    /// The old hierarchy is being dropped, or that was interrupted.
    Finishing,
    /// The new hierarchy is being dropped, or that was interrupted.
    Undoing,
}

impl MigrationState {
    const ALL: [Self; 4] = [Self::Running, Self::Done, Self::Finishing, Self::Undoing];

    const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Finishing => "finishing",
            Self::Undoing => "undoing",
        }
    }
}

impl fmt::Display for MigrationState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One of the two hierarchies of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Old,
    New,
}

/// Record of a migration.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) from: Dialect,
    pub(super) to: Dialect,
    pub(super) state: MigrationState,
    nodes: Vec<NodeRecord>,
    /// Version of the stored record; `None` if it is not stored, `Some(None)` if the store has no versions.
    stored: Option<Option<Version>>,
}

/// Recorded node, with the keys under which its documents are stored.
#[derive(Clone, Debug)]
pub(super) struct NodeRecord {
    path: NodePath,
    /// Keys of the documents of the old node and of the new node, each in the order in which they are erased. Records of older releases
    /// have sorted keys.
    keys: [Vec<String>; 2],
    /// Hashes of the documents of the old node when the migration was planned, and of the new node when the migration was done. Empty in
    /// records of older releases.
    hashes: [Vec<(String, String)>; 2],
    /// Documents of the old array and of the new array, if they do not share their chunks.
    arrays: Option<[Documents; 2]>,
}

impl NodeRecord {
    pub(super) fn new(old: &StoredNode, new: &StoredNode) -> Self {
        let arrays = match (old.node.as_array(), new.node.as_array()) {
            (Some(a), Some(b)) if !share_chunks(old, a, new, b) => {
                Some([old, new].map(|found| found.documents.clone()))
            }
            _ => None,
        };
        Self { path: old.path.clone(), keys: [keys(old), keys(new)], hashes: [hashes(old), Vec::new()], arrays }
    }

    /// Creates a record of an old node without a new node.
    pub(super) fn alone(old: &StoredNode) -> Self {
        Self { path: old.path.clone(), keys: [keys(old), Vec::new()], hashes: Default::default(), arrays: None }
    }

    /// Returns the key of a document of `node` that was changed, added or erased since its hash was recorded; `None` if there is none, or
    /// if no hashes are recorded.
    pub(super) fn changed(&self, side: Side, node: &StoredNode) -> Option<String> {
        let before = self.hashes(side);
        if before.is_empty() {
            return None;
        }
        let now = hashes(node);
        let gone = before.iter().find(|(key, _)| now.iter().all(|(there, _)| there != key));
        now.iter().find(|hash| !before.contains(hash)).or(gone).map(|(key, _)| key.clone())
    }

    /// Records the hashes of the documents of the new node.
    pub(super) fn set_new_hashes(&mut self, new: &StoredNode) {
        let [_, of_new] = &mut self.hashes;
        *of_new = hashes(new);
    }

    /// Returns the keys of documents of `side` with their hashes.
    pub(super) fn hashes(&self, side: Side) -> &[(String, String)] {
        let [old, new] = &self.hashes;
        if side == Side::Old { old } else { new }
    }

    pub(super) fn path(&self) -> &NodePath {
        &self.path
    }

    /// Returns a record of the node as it is now, with the recorded hashes. Keeps recorded keys of new documents that do not exist any
    /// more.
    pub(super) fn again(&self, old: &StoredNode, new: &StoredNode) -> Self {
        let mut now = Self { hashes: self.hashes.clone(), ..Self::new(old, new) };
        let [_, keys] = &mut now.keys;
        let missing: Vec<String> = self.keys(Side::New).iter().filter(|key| !keys.contains(key)).cloned().collect();
        keys.extend(missing);
        now
    }

    /// Returns the keys of documents of `side`, in the order in which they are erased.
    pub(super) fn keys(&self, side: Side) -> &[String] {
        let [old, new] = &self.keys;
        if side == Side::Old { old } else { new }
    }

    /// Returns the array of `side` and the array of the other side, if they do not share their chunks.
    pub(super) fn arrays(&self, side: Side, from: Dialect, to: Dialect) -> Result<Option<(StoredNode, StoredNode)>> {
        let Some([old, new]) = &self.arrays else { return Ok(None) };
        let read = |dialect, documents| -> Result<Option<StoredNode>> {
            Ok(StoredNode::read(dialect, self.path.clone(), documents)?)
        };
        Ok(read(from, old)?
            .zip(read(to, new)?)
            .map(|(old, new)| if side == Side::Old { (old, new) } else { (new, old) }))
    }

    fn to_value(&self) -> Value {
        let list = |keys: &[String]| Value::Array(keys.iter().map(|key| Value::from(key.as_str())).collect());
        let mut entry = Map::new();
        entry.insert("path", self.path.to_string());
        entry.insert("old", list(self.keys(Side::Old)));
        entry.insert("new", list(self.keys(Side::New)));
        for (name, side) in [(HASHES, Side::Old), (NEW_HASHES, Side::New)] {
            let hash = |(key, hash): &(String, String)| (key.clone(), Value::from(hash.as_str()));
            if !self.hashes(side).is_empty() {
                entry.insert(name, Value::Object(self.hashes(side).iter().map(hash).collect()));
            }
        }
        if let Some([old, new]) = &self.arrays {
            let texts = |documents: &Documents| {
                let text = |bytes| Value::from(String::from_utf8_lossy(bytes).into_owned());
                Value::Object(documents.iter().map(|(key, bytes)| (key.to_owned(), text(bytes))).collect())
            };
            entry.insert("arrays", json!({"old": (texts(old)), "new": (texts(new))}));
        }
        Value::Object(entry)
    }

    fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let keys = |name: &str| at.member(name)?.items()?.iter().map(key).collect::<Result<_, _>>();
        let documents = |at: At<'_>| -> Result<Documents, zarr_meta::Error> {
            let mut documents = Documents::new();
            for (key, text) in at.members()? {
                documents.insert(key, text.text()?);
            }
            Ok(documents)
        };
        let arrays = match at.get("arrays") {
            Some(arrays) => Some([documents(arrays.member("old")?)?, documents(arrays.member("new")?)?]),
            None => None,
        };
        let hashes = |name: &str| -> Result<Vec<(String, String)>, zarr_meta::Error> {
            let mut hashes = Vec::new();
            if let Some(at) = at.get(name) {
                for (key, hash) in at.members()? {
                    hashes.push((key.to_owned(), hash.text()?.to_owned()));
                }
            }
            Ok(hashes)
        };
        let hashes = [hashes(HASHES)?, hashes(NEW_HASHES)?];
        let path = at.member("path")?;
        let parsed = NodePath::parse(path.text()?).map_err(|_| path.invalid("the path of a node"))?;
        Ok(Self { path: parsed, keys: [keys("old")?, keys("new")?], hashes, arrays })
    }
}

/// Returns the keys of the documents of a node, in the order in which they are erased.
fn keys(found: &StoredNode) -> Vec<String> {
    order::to_erase(found).into_iter().chain(consolidated::document_key(found)).collect()
}

/// Parses a key, and checks that it is valid.
fn key(at: &At<'_>) -> Result<String, ValueError> {
    let text = at.text()?;
    Key::new(text).map(|_| text.to_owned()).map_err(|_| at.invalid("a key"))
}

/// Returns whether both arrays have the same chunks under the same keys.
fn share_chunks(old: &StoredNode, a: &ArrayMetadata, new: &StoredNode, b: &ArrayMetadata) -> bool {
    a.shape == b.shape
        && a.chunk_grid == b.chunk_grid
        && a.chunk_key_encoding == b.chunk_key_encoding
        && old.chunk_prefix() == new.chunk_prefix()
}

impl Record {
    /// Creates a record. Keys of documents that both sides share are removed from both.
    fn of(from: Dialect, to: Dialect, state: MigrationState, mut nodes: Vec<NodeRecord>) -> Self {
        let all = |side| nodes.iter().flat_map(|entry| entry.keys(side)).cloned().collect::<BTreeSet<String>>();
        let both: BTreeSet<String> = all(Side::Old).intersection(&all(Side::New)).cloned().collect();
        for keys in nodes.iter_mut().flat_map(|entry| &mut entry.keys) {
            keys.retain(|key| !both.contains(key));
        }
        nodes.sort_by(|a, b| a.path.cmp(&b.path));
        Self { from, to, state, nodes, stored: None }
    }

    /// Returns whether hashes of new documents are recorded. A complete migration has them, except in records of older releases.
    pub(super) fn has_new_hashes(&self) -> bool {
        self.nodes.iter().any(|entry| !entry.hashes(Side::New).is_empty())
    }

    /// Creates the record of a migration that is not begun.
    pub(super) fn new(from: Dialect, to: Dialect, nodes: Vec<NodeRecord>) -> Self {
        Self::of(from, to, MigrationState::Running, nodes)
    }

    /// Replaces the nodes of the record.
    pub(super) fn with_nodes(self, nodes: Vec<NodeRecord>) -> Self {
        Self { stored: self.stored, ..Self::of(self.from, self.to, self.state, nodes) }
    }

    /// Returns the recorded nodes, sorted by path.
    pub(super) fn nodes(&self) -> &[NodeRecord] {
        &self.nodes
    }

    pub(super) fn into_nodes(self) -> Vec<NodeRecord> {
        self.nodes
    }

    /// Reads the record from `store`; `None` if there is none.
    pub(super) fn read(store: &dyn Store) -> Result<Option<Self>> {
        let Some(fetched) = store.get_ranges(&Key::new(KEY)?, &[ByteRange::Full])? else { return Ok(None) };
        let at_key = |error: Error| error.at(|location| location.key = Some(KEY.to_owned()));
        let text = String::from_utf8_lossy(fetched.part(0));
        let value =
            Value::from_json(&text).map_err(|error| at_key(Error::new(ErrorKind::InvalidJson, error.to_string())))?;
        let mut record = Self::parse(&At::root(&value)).map_err(|error| at_key(error.into()))?;
        record.stored = Some(fetched.version);
        Ok(Some(record))
    }

    fn parse(at: &At<'_>) -> Result<Self, zarr_meta::Error> {
        let version = at.member("zarr_migration")?;
        if version.value().as_u64() != Some(VERSION) {
            return Err(zarr_meta::Error::about(
                &version,
                zarr_meta::ErrorKind::UnsupportedVersion,
                VERSION.to_string(),
            ));
        }
        let dialect = |name: &str| {
            let at = at.member(name)?;
            let named = at.text()?.parse::<Dialect>().ok().filter(|dialect| dialect.is_supported());
            named.ok_or_else(|| at.invalid("a dialect that this build has"))
        };
        let state = at.member("state")?;
        let named = state.text()?;
        let known = MigrationState::ALL.into_iter().find(|state| state.name() == named);
        let known = known.ok_or_else(|| state.invalid("running, done, finishing or undoing"))?;
        let nodes = at.member("nodes")?.items()?.iter().map(NodeRecord::parse).collect::<Result<_, _>>()?;
        Ok(Self { from: dialect("from")?, to: dialect("to")?, state: known, nodes, stored: None })
    }

    /// Writes the record with a new state. Fails if another process has written the record meanwhile.
    pub(super) fn write(mut self, store: &dyn Store, state: MigrationState) -> Result<Self> {
        self.state = state;
        let mut document = Map::new();
        document.insert("zarr_migration", VERSION);
        document.insert("from", self.from.name());
        document.insert("to", self.to.name());
        document.insert("state", state.name());
        document.insert("nodes", Value::Array(self.nodes.iter().map(NodeRecord::to_value).collect()));
        let when = match &self.stored {
            _ if !store.capabilities().conditional => Precondition::None,
            None => Precondition::NotExists,
            Some(version) => version.clone().map_or(Precondition::None, Precondition::Version),
        };
        let text = Value::Object(document).to_string();
        // After that, only the record lists the keys to erase.
        let options = SetOptions::when(when).durable(Durability::Full);
        match store.set(&Key::new(KEY)?, text.as_bytes(), &options) {
            Ok(version) => self.stored = Some(version),
            Err(error) if error.is_precondition() => {
                let message = "another process began or changed a migration of this store at the same time";
                return Err(Error::new(ErrorKind::Exists, message).at(|location| location.key = Some(KEY.to_owned())));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(self)
    }

    /// Erases the record after the end of the migration.
    pub(super) fn erase(self, store: &dyn Store) -> Result<()> {
        store.erase(&Key::new(KEY)?)?;
        Ok(store.flush()?)
    }

    /// Returns the error for an operation that the state does not allow, with the allowed operations as its hint.
    pub(super) fn in_the_way(&self) -> Error {
        let Self { from, to, .. } = self;
        let (what, hint) = match self.state {
            MigrationState::Running => ("was begun and is not done", "migrate again to complete it, or undo it"),
            MigrationState::Done => ("is done", "finish drops the old documents, undo the new ones"),
            MigrationState::Finishing => ("is being finished, or that was interrupted", "finish again"),
            MigrationState::Undoing => ("is being undone, or that was interrupted", "undo again"),
        };
        let error = Error::new(ErrorKind::Exists, format!("a migration from {from} to {to} {what}"));
        error.with_hint(hint).at(|location| location.key = Some(KEY.to_owned()))
    }

    /// Checks that the new dialect is `to`, if `to` is given.
    pub(super) fn check(&self, to: Option<Dialect>) -> Result<()> {
        let Some(said) = to.filter(|said| *said != self.to) else { return Ok(()) };
        let message =
            format!("the migration here is from {} to {}, not to {said}; nothing was dropped", self.from, self.to);
        Err(Error::argument(message).at(|location| location.key = Some(KEY.to_owned())))
    }
}
