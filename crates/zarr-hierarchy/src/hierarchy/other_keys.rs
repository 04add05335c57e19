//! Keys below groups that belong to no node.

use super::{Walk, in_store};
use crate::jobs::Operation;
use crate::node::{REPLACEMENTS, is_unfinished};
use crate::{Error, Result};
use std::collections::BTreeSet;
use zarr_drive::{Io, run, run_async};
use zarr_meta::{Dialect, Documents, NodePath, StoredNode, consolidated};
use zarr_store::{AsyncStore, ByteRange, Key, Listing, Prefix, Store, StoreExt};

/// Key below a group that belongs to no node: a file that other software stores beside arrays, such as a table in Parquet, XML or a text
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherKey {
    /// Key of the value in the store.
    pub key: Key,
    /// Path of the nearest group above the key.
    pub group: NodePath,
}

/// Finds the keys below the groups of a walk that belong to no node, sorted. All keys below an array are taken for keys of the array. The
/// result is empty for a store that cannot list.
///
/// The result leaves out documents that a group may have in any dialect, journals of conversions, keys below a broken node, files of the
/// directory tree (`.git`, `.datalad`, `.DS_Store`, `._*`, `Thumbs.db`), and temporary files of writers.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store).
///
/// ```
/// use zarr_hierarchy::{other_keys, walk};
/// use zarr_store::{Key, MemoryStore, StoreExt};
///
/// let store = MemoryStore::new();
/// store.set_all(&Key::new("zarr.json")?, br#"{"zarr_format": 3, "node_type": "group"}"#)?;
/// store.set_all(&Key::new("points/points.parquet")?, b"PAR1")?;
/// let others = other_keys(&store, &walk(&store, "/", None)?)?;
/// assert_eq!(others[0].key.as_str(), "points/points.parquet");
/// assert!(others[0].group.is_root());
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
pub fn other_keys(store: &dyn Store, walk: &Walk) -> Result<Vec<OtherKey>> {
    if !store.capabilities().list {
        return Ok(Vec::new());
    }
    run(store, OtherKeysJob::new(walk).job()).map_err(|error| in_store(store, error))
}

/// Async form of [`other_keys`]: finds the keys below the groups of a walk that belong to no node.
///
/// # Errors
/// The errors of [`other_keys`].
pub async fn other_keys_async(store: &dyn AsyncStore, walk: &Walk) -> Result<Vec<OtherKey>> {
    if !store.capabilities().list {
        return Ok(Vec::new());
    }
    run_async(store, OtherKeysJob::new(walk).job()).await.map_err(|error| in_store(store, error))
}

/// Number of bytes of each value that are compared at a time.
const PIECE: u64 = 8 << 20;

/// Whether two values have the same bytes. The values are read piece by piece; `false` if a value is missing.
///
/// # Errors
/// [`ErrorKind::Store`](crate::ErrorKind::Store) naming the store and the key.
pub fn have_equal_bytes(first: (&dyn Store, &Key), second: (&dyn Store, &Key)) -> Result<bool> {
    let located = |(store, key): (&dyn Store, &Key), error: zarr_store::Error| {
        in_store(store, Error::from(error)).at(|location| location.key = Some(key.to_string()))
    };
    let size = |(store, key): (&dyn Store, &Key)| store.size(key).map_err(|error| located((store, key), error));
    let (Some(all), other) = (size(first)?, size(second)?) else { return Ok(false) };
    if other != Some(all) {
        return Ok(false);
    }
    let mut at = 0;
    while at < all {
        let range = [ByteRange::Range(at..all.min(at + PIECE))];
        let piece = |(store, key): (&dyn Store, &Key)| {
            store.get_ranges(key, &range).map_err(|error| located((store, key), error))
        };
        match (piece(first)?, piece(second)?) {
            (Some(a), Some(b)) if a.part(0) == b.part(0) => at += PIECE,
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Job that lists each group that the walk has not listed, and then all keys below prefixes that belong to no node.
#[derive(Debug)]
struct OtherKeysJob {
    /// Prefixes of groups that are to be listed.
    groups: Vec<String>,
    /// Listings of groups from the walk.
    listed: Vec<Listing>,
    /// Prefixes of all groups, by which the group of a key is found.
    of_groups: BTreeSet<String>,
    /// Prefixes that are not searched: prefixes of nodes, and of documents and chunks that are stored apart from each other.
    owned: BTreeSet<String>,
    /// Names of documents that groups may have.
    names: BTreeSet<String>,
    /// Keys of documents that have other names.
    documents: BTreeSet<String>,
}

impl OtherKeysJob {
    fn new(walk: &Walk) -> Self {
        let (mut groups, mut of_groups) = (Vec::new(), BTreeSet::new());
        let (mut owned, mut documents) = (BTreeSet::new(), BTreeSet::new());
        for (number, node) in walk.nodes.iter().enumerate() {
            let below = node.path.key_prefix();
            documents.extend(node.own_documents().map(str::to_owned));
            documents.extend(zarr_meta::entry_point_key(node.dialect).map(str::to_owned));
            let is_at_path = node.dialect.has_documents_at_paths();
            owned.extend(zarr_meta::key_spaces(node.dialect));
            match node.node.as_group() {
                Some(_) => {
                    // Documents that lie apart need no directory at the path of their group.
                    if number == 0 || is_at_path {
                        groups.push(below.clone());
                        owned.insert(below.clone());
                    }
                    of_groups.insert(below);
                }
                None if is_at_path => drop(owned.insert(below)),
                None => {}
            }
        }
        let broken = walk.broken.iter().filter_map(|error| NodePath::parse(error.location().path.as_deref()?).ok());
        owned.extend(broken.map(|path| path.key_prefix()));
        let listed = groups.iter().filter_map(|group| walk.listed.get(group)).cloned().collect();
        groups.retain(|group| !walk.listed.contains_key(group));
        Self { groups, listed, of_groups, owned, names: document_names(), documents }
    }

    /// Whether `key` belongs to this library, to a node, or to the directory.
    fn is_own(&self, key: &Key) -> bool {
        let name = key.name();
        is_unfinished(key.as_str(), true)
            || is_of_directory(name)
            || is_temporary(name)
            || self.documents.contains(key.as_str())
    }

    /// Whether `prefix`, directly below a group, belongs to no node.
    fn is_other(&self, prefix: &Prefix) -> bool {
        let is_apart = prefix.name().is_some_and(|name| name == REPLACEMENTS || is_of_directory(name));
        !self.owned.contains(prefix.as_str()) && !is_apart
    }

    /// Returns the path of the nearest group above `key`.
    fn group(&self, key: &Key) -> NodePath {
        let ends = key.as_str().rmatch_indices('/').map(|(at, _)| at);
        let above = ends.filter_map(|end| key.as_str().get(..=end)).find(|prefix| self.of_groups.contains(*prefix));
        above.and_then(|prefix| NodePath::parse(&format!("/{}", prefix.trim_end_matches('/'))).ok()).unwrap_or_default()
    }
}

/// Whether `name` is the name of a file or directory that belongs to the directory tree and not to the data, such as `.git`.
fn is_of_directory(name: &str) -> bool {
    matches!(name, ".git" | ".gitattributes" | ".gitmodules" | ".datalad" | ".DS_Store" | "Thumbs.db")
        || name.starts_with("._")
}

/// Whether `name` is the name of a temporary file that other software makes beside a value until the value is complete: zarr-python 2 and 3
/// (`0.0.` and 32 hexadecimal digits, then `.partial`), TensorStore (`.__lock`), network file systems (`.nfs`), editors.
pub fn is_temporary(name: &str) -> bool {
    [".partial", ".__lock", ".tmp", ".swp", "~"].iter().any(|end| name.ends_with(end))
        || name.starts_with(".nfs0")
        || name.starts_with(".#")
}

/// Returns the names of documents that a node may have at its path, in any dialect.
pub(crate) fn document_names() -> BTreeSet<String> {
    let (root, none) = (NodePath::root(), Documents::new());
    let mut names = BTreeSet::new();
    for dialect in Dialect::at_paths() {
        names.extend(zarr_meta::document_keys(dialect, &root, &none));
        names.extend(consolidated::document_key(&StoredNode::implicit(dialect, root.clone())));
    }
    names
}

impl Operation for OtherKeysJob {
    type Output = Vec<OtherKey>;

    async fn run(mut self, io: &Io) -> Result<Vec<OtherKey>> {
        let groups = self.groups.iter().map(|group| Ok(Prefix::new(group)?)).collect::<Result<_>>()?;
        let mut listings = std::mem::take(&mut self.listed);
        listings.extend(io.list(groups).await?);
        let (mut keys, mut below) = (Vec::new(), Vec::new());
        for listing in listings {
            keys.extend(listing.keys.into_iter().filter(|key| !self.names.contains(key.name())));
            below.extend(listing.prefixes.into_iter().filter(|prefix| self.is_other(prefix)));
        }
        keys.extend(io.list_all(below).await?.into_iter().flatten());
        keys.retain(|key| !self.is_own(key));
        keys.sort_unstable();
        keys.dedup();
        Ok(keys.into_iter().map(|key| OtherKey { group: self.group(&key), key }).collect())
    }
}
