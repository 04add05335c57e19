//! Conversion of hierarchies and arrays: into another dialect, other chunks, other codecs.
//!
//! A conversion is planned from metadata alone, and the plan can be inspected before anything is written. If only metadata changes,
//! chunks are copied as bytes. Otherwise arrays are read and written in slabs that fit into a given amount of memory.
//!
//! # Plan
//! A node that keeps its dialect keeps the spelling of its documents. Its chunks are copied as bytes; within one service, the service
//! copies them if it can. Copies, moves and migrations are conversions as well (`transfer.rs`, `migrate.rs`). A region of an array
//! becomes a new array (`region.rs`).
//!
//! # Work
//! An array is converted in units: slabs of whole chunks of the new array, or copied chunks. Units are begun in C order, several at a
//! time. Slabs depend on the allowed memory and not on the number of threads: two slabs of half the memory each, so that one is read
//! while the other is written. If most chunks are missing and may stay missing, only the new chunks that meet stored chunks are
//! processed (`sparse.rs`), so the time depends on the stored data. If memory is so small that each chunk of the source would be
//! decoded for several slabs, elements are stored temporarily (`scratch.rs`).
//!
//! # Interruptions
//! Documents come after chunks. A journal beside the target says which units are done (`journal.rs`; `journal/identity.rs` compares it
//! with the conversion that resumes it), and a mark in the target whether these units are still there (`unfinished_node.rs`). An erase or
//! a move of the target by this library erases the journal first. One run owns a journal at a time. Before anything that cannot be
//! undone, a run looks whether it still owns it; before chunks, it asks the store only if others may have taken over by now. Each part of
//! a conversion that several processes do has every n-th unit, the same ones on each machine, and a journal of its own (`part.rs`,
//! `in_parts.rs`, `shared_journal.rs`). Parts of a pyramid have units that follow one another (`pyramid/in_parts.rs`). A migration has a
//! record in the store, by which it is completed or undone (`migrate/record.rs`).

mod chunks;
mod copied_key;
mod copy;
mod destination;
mod document_queue;
mod fingerprint;
mod finish_move;
mod hierarchy;
mod images;
mod in_parts;
mod journal;
mod lengths;
mod links;
mod migrate;
mod new_image;
mod options;
mod others;
mod part;
mod place;
mod plan;
mod progress;
mod pyramid;
mod rechunk;
mod reencode;
mod region;
mod run;
mod scratch;
mod shared_journal;
mod skipped;
mod sparse;
mod stored_units;
mod strings;
mod target;
#[cfg(test)]
mod tests;
mod transfer;
mod unfinished_node;
mod unknown_grid;
mod walked;
mod work;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use zarr_array::Registry;
use zarr_grid::{ChunkIndex, Region};
use zarr_hierarchy::chunk_keys::ChunkKeys;
use zarr_hierarchy::{Error, ErrorKind, Result};
use zarr_meta::readers::Unread;
use zarr_meta::{Dialect, Node, NodePath, Note, StoredNode, conventions};
use zarr_store::{Key, Store, StoreExt};

pub use copied_key::CopiedKey;
pub use finish_move::finish_move;
pub use migrate::{DocumentRemoval, Migration, MigrationState};
pub use options::ConvertOptions;
pub use part::Part;
pub use progress::Progress;
pub use pyramid::{Level, Method, Pyramid, PyramidOptions};
pub use skipped::{SkippedChunk, SkippedKey};
pub use transfer::Transfer;
pub use zarr_hierarchy::IntoFlow;

/// Which arrays of the target are sharded, and the shapes of their shards.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shards {
    /// No array is sharded.
    None,
    /// Shards of this shape, for arrays with as many dimensions as the shape has.
    Of(Vec<u64>),
    /// Shard length per dimension name, for arrays that have at least one of the named dimensions. Lengths are rounded up to whole chunks;
    /// along other dimensions a shard is one chunk long.
    ByName(BTreeMap<String, u64>),
    /// Shards of at most about 64 MiB of elements, for arrays of several chunks.
    Auto,
}

/// How a node is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The node is a group: only metadata is written.
    Group,
    /// Only metadata changes, and chunks stay under their keys (see [`Migration`]).
    Keep,
    /// Only metadata changes, and stored chunks are copied byte for byte. A missing chunk is written if it would read as other values in
    /// the target.
    CopyChunks,
    /// Elements are decoded and encoded again.
    Reencode,
}

/// A node that is to be converted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlannedNode {
    /// The node as it is stored in the source.
    pub source: StoredNode,
    /// Path of the node in the target.
    pub path: NodePath,
    /// Metadata of the node as the target gets it.
    pub target: Node,
    /// Dialect in which the node is written.
    pub dialect: Dialect,
    /// How the node is converted.
    pub how: Action,
    /// Region of the source array that is converted; `None` for the whole array.
    pub region: Option<Region>,
    /// Differences between the metadata in the source and in the target.
    pub notes: Vec<Note>,
    /// Warning about values that other software understands differently: fill values, for software that follows a convention, and
    /// attributes that were numbers. `None` if there are none.
    pub warning: Option<String>,
    /// Data type and codecs of the new array that no other software reads, or whose readers are unknown. Empty if the array keeps its
    /// format, data type and codecs.
    pub unread: Vec<Unread>,
    /// Version of OME-Zarr into which the metadata of the group are converted; `None` if the version does not change.
    pub ome: Option<zarr_ome::Version>,
    /// Decoded size of the node in the target, in bytes. An element of variable length counts as 16 bytes.
    pub size: u128,
}

impl PlannedNode {
    /// Returns the index of the first chunk of the region; `None` unless the region consists of whole chunks.
    fn first_chunk(&self) -> Option<ChunkIndex> {
        region::first_chunk(self.source.node.as_array()?, self.region.as_ref()?)
    }

    /// Returns whether the node is an implicit group that stays implicit in the target, so that no document is written. A group with
    /// attributes needs a document.
    fn is_implied(&self) -> bool {
        self.source.implicit && self.dialect.implies_groups() && self.target.attributes().is_empty()
    }
}

/// Planned conversion of a hierarchy, or of one array of a hierarchy.
///
/// ```
/// use std::sync::Arc;
/// use zarr_array::{Array, NewArray, Registry, Store};
/// use zarr_convert::{Action, Conversion, ConvertOptions};
/// use zarr_store::MemoryStore;
///
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// let source: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// let new = NewArray::new(&[100, 100], "int16").chunks(&[100, 1]).codecs("bytes")?;
/// Array::create(&source, "/a", new, &registry)?.write(.., &vec![7_i16; 10_000])?;
///
/// let options = ConvertOptions::default().chunks(vec![1, 100]);
/// let conversion = Conversion::plan(&source, &registry, options)?;
/// let planned: Vec<Action> = conversion.nodes().iter().map(|node| node.how).collect();
/// assert_eq!(planned, [Action::Group, Action::Reencode]);
///
/// let target: Arc<dyn Store> = Arc::new(MemoryStore::new());
/// conversion.run(&target, |_| {})?;
/// assert_eq!(Array::open(&target, "/a", &registry)?.read::<i16>((0, 98..))?, [7, 7]);
/// # Ok::<(), zarr_hierarchy::Error>(())
/// ```
#[derive(Debug)]
pub struct Conversion {
    source: Arc<dyn Store>,
    registry: Arc<Registry>,
    options: ConvertOptions,
    nodes: Vec<PlannedNode>,
    /// Groups of the target whose consolidated metadata is built anew, since the source has consolidated metadata.
    consolidate: Vec<NodePath>,
    /// Groups that have consolidated metadata in the source and get none in the target.
    unconsolidated: Vec<NodePath>,
    left_out: Vec<String>,
    others: Vec<CopiedKey>,
    refused: Vec<Error>,
}

/// The result of planning a conversion.
#[derive(Debug)]
#[non_exhaustive]
pub struct DryRun {
    /// The conversion of all nodes that can be converted.
    pub conversion: Conversion,
    /// One error for each node that cannot be converted, with the path of the node and the member that prevents it.
    pub refused: Vec<Error>,
}

/// Number and size of the stored chunks of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredSize {
    /// Number of stored chunks (or shards).
    pub chunks: u64,
    /// Size of the stored chunks, encoded, in bytes.
    pub bytes: u64,
}

impl Conversion {
    /// Plans the conversion of the nodes in `source`. Reads metadata only.
    ///
    /// # Errors
    /// If a node in the source is broken, or [`NotExpressible`](zarr_hierarchy::ErrorKind::NotExpressible) if the dialect cannot express
    /// a node; such nodes are left out if the conversion [keeps going](ConvertOptions#structfield.keep_going).
    /// [`Argument`](zarr_hierarchy::ErrorKind::Argument) if chunks, shards or codecs in the options fit no array.
    pub fn plan(source: &Arc<dyn Store>, registry: &Arc<Registry>, options: ConvertOptions) -> Result<Self> {
        let keeps_going = options.keep_going;
        let DryRun { mut conversion, refused } = Self::examine(source, registry, options)?;
        // Options that do not fit are an error all the same.
        if keeps_going && refused.iter().all(|error| error.kind() != ErrorKind::Argument) {
            conversion.leave_out(refused);
            let has_arrays = conversion.nodes.iter().any(|node| node.how != Action::Group);
            return match conversion.refused.pop() {
                // Nothing can be converted: more is wrong than a node.
                Some(error) if !has_arrays => Err(error),
                last => {
                    conversion.refused.extend(last);
                    Ok(conversion)
                }
            };
        }
        let others = refused.len().saturating_sub(1);
        match refused.into_iter().next() {
            None => Ok(conversion),
            Some(error) if others == 0 => Err(error),
            Some(error) => {
                let hint = error.hint().map(|hint| format!("{hint}; ")).unwrap_or_default();
                Err(error.with_hint(format!("{hint}the same holds for {others} more: a dry run lists them")))
            }
        }
    }

    /// Removes the nodes of the errors `refused`, with all nodes below them, from the conversion and from the lists of children in group
    /// metadata.
    fn leave_out(&mut self, refused: Vec<Error>) {
        let path = |error: &Error| NodePath::parse(error.location().path.as_deref()?).ok();
        let left: Vec<NodePath> = refused.iter().filter_map(path).collect();
        self.nodes.retain(|node| !left.iter().any(|path| node.source.path.is_within(path)));
        let is_kept = |key: &str| !left.iter().any(|path| !path.is_root() && key.starts_with(&path.key_prefix()));
        self.others.retain(|other| is_kept(other.from.as_str()));
        for path in &left {
            let above = self.nodes.iter_mut().find(|node| Some(&node.source.path) == path.parent().as_ref());
            if let (Some(Node::Group(group)), Some(name)) = (above.map(|node| &mut node.target), path.name()) {
                for is_array in [true, false] {
                    conventions::list_child(group, name, is_array, false);
                }
            }
        }
        self.refused = refused;
    }

    /// Plans as [`plan`](Self::plan) does, but continues after a node that cannot be converted. Writes nothing: the result shows the nodes
    /// that a conversion would write, and their cost.
    ///
    /// # Errors
    /// If a node in the source is broken; [`Argument`](zarr_hierarchy::ErrorKind::Argument) if chunks, shards or codecs in the options fit
    /// no array.
    pub fn examine(source: &Arc<dyn Store>, registry: &Arc<Registry>, options: ConvertOptions) -> Result<DryRun> {
        let options = new_image::prepared(options)?;
        let plan::ConversionPlan { nodes, consolidate, left_out, others, unread } =
            plan::plan(source, registry, &options)?;
        let (mut planned, mut refused) = (Vec::new(), unread);
        for node in nodes {
            match node {
                Ok(node) => planned.push(node),
                Err(error) => refused.push(error),
            }
        }
        let (source, registry) = (Arc::clone(source), Arc::clone(registry));
        let (consolidate, unconsolidated) = readable_copies(consolidate, &planned);
        let conversion = Self {
            source,
            registry,
            options,
            nodes: planned,
            consolidate,
            unconsolidated,
            left_out,
            others,
            refused: Vec::new(),
        };
        Ok(DryRun { conversion, refused })
    }

    /// Returns the number and size of the stored chunks of a node that have to be read. Costs a listing, and a request for each chunk.
    ///
    /// # Errors
    /// [`Store`](zarr_hierarchy::ErrorKind::Store).
    pub fn stored(&self, node: &PlannedNode) -> Result<StoredSize> {
        let mut stored = StoredSize::default();
        if matches!(node.how, Action::Group | Action::Keep) {
            return Ok(stored);
        }
        let of = |stored: Vec<(Key, ChunkIndex)>| stored.into_iter().map(|(key, _)| key).collect();
        let stored_chunks: Vec<Key> = match &node.region {
            _ if unknown_grid::is_of(&node.source) => unknown_grid::keys(&*self.source, &node.source)?,
            Some(region) => of(ChunkKeys::new(&node.source)?.stored_within(&*self.source, region)?),
            None => of(ChunkKeys::new(&node.source)?.stored(&*self.source)?),
        };
        for key in stored_chunks {
            if let Some(size) = self.source.size(&key)? {
                stored.chunks += 1;
                stored.bytes = stored.bytes.saturating_add(size);
            }
        }
        Ok(stored)
    }

    /// Checks that no conversion, copy or move to `path` is running or was interrupted. During such a run the node, or nodes below it, may
    /// be missing.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if there is such a run, with the way to continue it as the hint; [`ErrorKind::Store`]; other errors if its
    /// journal is broken.
    pub fn check_settled(store: &dyn Store, path: &NodePath) -> Result<()> {
        let settled = journal::FoundJournal::check_none(store, path);
        settled.map_err(|error| {
            error.at(|location| (location.store, location.path) = (Some(store.to_string()), Some(path.to_string())))
        })
    }

    /// Returns the options that the conversion was planned with.
    pub fn options(&self) -> &ConvertOptions {
        &self.options
    }

    /// Returns the planned nodes, sorted by path.
    pub fn nodes(&self) -> &[PlannedNode] {
        &self.nodes
    }

    /// Returns the nodes of the source that are not converted, each with the reason: nodes that another node at the same path hides, and
    /// nodes below an array.
    pub fn left_out(&self) -> &[String] {
        &self.left_out
    }

    /// Returns the paths of the arrays of two or more dimensions to which the chunk or shard shape in the options does not apply, since it
    /// has another number of dimensions. These arrays keep their chunks or shards.
    pub fn of_other_ranks(&self) -> Vec<&NodePath> {
        let shards = match &self.options.shards {
            Some(Shards::Of(shape)) => Some(shape),
            _ => None,
        };
        let Some(rank) = self.options.chunks.as_ref().or(shards).map(Vec::len) else { return Vec::new() };
        let is_other = |node: &&PlannedNode| {
            node.source.node.as_array().is_some_and(|array| array.shape.len() > 1 && array.shape.len() != rank)
        };
        self.nodes.iter().filter(is_other).map(|node| &node.source.path).collect()
    }

    /// Returns one error, with its path, for each node of the source that cannot be read or converted. If the conversion [keeps
    /// going](ConvertOptions#structfield.keep_going), these nodes are left out; otherwise planning fails.
    pub fn refused(&self) -> &[Error] {
        &self.refused
    }

    /// Returns the groups that get no consolidated metadata in the target although they have some in the source, since a group contains
    /// arrays that no other software reads ([`PlannedNode::unread`]): zarr-python 3 opens no array of a group whose consolidated metadata
    /// name a data type or codec that zarr-python lacks.
    pub fn unconsolidated(&self) -> &[NodePath] {
        &self.unconsolidated
    }

    /// Returns the decoded size of all nodes in the target, in bytes.
    pub fn size(&self) -> u128 {
        self.nodes.iter().fold(0, |sum: u128, node| sum.saturating_add(node.size))
    }

    /// Returns the path of the converted node in the source, and its path in the target.
    fn paths(&self) -> (NodePath, NodePath) {
        let from = self.options.node.clone().unwrap_or_else(NodePath::root);
        let to = self.options.to.clone().unwrap_or_else(|| from.clone());
        (from, to)
    }

    /// Checks that the path in the target and the path in the source do not overlap, so that no node is written over a node that is read.
    fn check_apart(&self) -> Result<()> {
        let (from, to) = self.paths();
        if !from.is_within(&to) && !to.is_within(&from) {
            return Ok(());
        }
        let error = match from == to {
            true => Error::argument("the source and the target of a conversion are the same node"),
            false => Error::argument(format!("{from} and {to} lie in one another")),
        };
        Err(error.at(|location| location.path = Some(to.to_string())))
    }
}

/// Splits `groups` into groups whose consolidated metadata other software can read, and groups whose consolidated metadata it cannot read.
fn readable_copies(groups: Vec<NodePath>, nodes: &[PlannedNode]) -> (Vec<NodePath>, Vec<NodePath>) {
    let is_read = |group: &NodePath| !nodes.iter().any(|node| !node.unread.is_empty() && node.path.is_within(group));
    groups.into_iter().partition(is_read)
}

/// Returns whether `a` and `b` are one store, or one contains the other, as far as their addresses tell.
fn is_same(a: &Arc<dyn Store>, b: &Arc<dyn Store>) -> bool {
    StorePlaces::of(a, b) != StorePlaces::Apart
}

/// StorePlaces of two stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StorePlaces {
    Apart,
    /// Both are one store, in which a path names one node.
    Equal,
    /// One store lies in the other, so that one node has two paths.
    Overlapping,
}

impl StorePlaces {
    /// Compares the addresses of two stores. All stores in memory have the same address, so they are told apart by their pointers.
    fn of(a: &Arc<dyn Store>, b: &Arc<dyn Store>) -> Self {
        let (a_at, b_at) = (a.to_string(), b.to_string());
        let (one, other) = match (real(&a_at), real(&b_at)) {
            _ if Arc::ptr_eq(a, b) => return Self::Equal,
            (Some(one), Some(other)) => (one, other),
            _ if a_at.starts_with("memory:") => return Self::Apart,
            _ => (PathBuf::from(a_at), PathBuf::from(b_at)),
        };
        match () {
            () if one == other => Self::Equal,
            () if one.starts_with(&other) || other.starts_with(&one) => Self::Overlapping,
            () => Self::Apart,
        }
    }
}

/// Returns the absolute path of a folder at an address, without links, since a folder may be called by several names. Names that do not
/// exist yet follow the real path of the existing folder above. `None` for the address of another store.
fn real(at: &str) -> Option<PathBuf> {
    let path = at.strip_prefix("file://").unwrap_or(at);
    if let Ok(real) = std::fs::canonicalize(path) {
        return Some(real);
    }
    let has_scheme = path.split_once(':').is_some_and(|(scheme, _)| !scheme.contains('/'));
    if has_scheme {
        return None;
    }
    let absolute = std::path::absolute(path).ok()?;
    let mut missing = Vec::new();
    for above in absolute.ancestors() {
        if let Ok(real) = std::fs::canonicalize(above) {
            return Some(missing.into_iter().rev().fold(real, |path, name| path.join(name)));
        }
        missing.push(above.file_name()?);
    }
    None
}
