//! Snapshots: the nodes of a repository with their documents, and the manifests of each array.

use std::ops::Range;

use zarr_store::{Bytes, Key};

use crate::chunk_key::{Index, MAX_RANK};
use crate::fault::IcechunkFault;
use crate::flat::{FlatFault, Table, u32_at};
use crate::id::Id;

/// Name of the document of a node.
const DOCUMENT: &str = "zarr.json";

type Result<T> = std::result::Result<T, IcechunkFault>;

/// Snapshot, whose content stays in memory in the encoding of the file.
#[derive(Debug)]
pub(crate) struct Snapshot {
    file: String,
    content: Bytes,
    /// Nodes, sorted by `key`.
    nodes: Vec<Node>,
}

/// Group or array of a snapshot.
#[derive(Debug)]
pub(crate) struct Node {
    /// Key of the document of the node.
    pub(crate) key: Key,
    pub(crate) id: [u8; 8],
    document: Range<usize>,
    /// Offset in the content of the table of the array; `None` for a group, or an array without this table.
    array: Option<usize>,
}

impl Node {
    /// Returns the path of the node without a slash in front, empty for the root.
    pub(crate) fn path(&self) -> &str {
        self.key.as_str().strip_suffix(DOCUMENT).map_or("", |above| above.trim_end_matches('/'))
    }

    pub(crate) fn is_array(&self) -> bool {
        self.array.is_some()
    }
}

/// Part of the grid of an array, and the manifest that contains its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) manifest: Id,
    /// Range of the chunk indices along each dimension; empty if the manifest may contain any chunk.
    ranges: Vec<Range<u32>>,
}

impl Extent {
    /// Whether the manifest may contain the chunk `index`, or a chunk whose index begins with `index`.
    pub(crate) fn meets(&self, index: &[u32]) -> bool {
        self.ranges.iter().zip(index).all(|(range, at)| range.contains(at))
    }

    /// Whether the manifest may contain chunks of an array with `rank` dimensions.
    pub(crate) fn has_rank(&self, rank: usize) -> bool {
        self.ranges.is_empty() || self.ranges.len() == rank
    }
}

impl Snapshot {
    /// Makes the snapshot `id` from the decompressed content of its file.
    pub(crate) fn parse(file: &str, content: Bytes, id: Id) -> Result<Self> {
        let parsed = Self::nodes_of(file, &content, id)?;
        Ok(Self { file: file.to_owned(), content, nodes: parsed })
    }

    fn nodes_of(file: &str, content: &Bytes, id: Id) -> Result<Vec<Node>> {
        let record = |fault| IcechunkFault::record(file, fault);
        let root = Table::root(content).map_err(record)?;
        let found = Id(root.required_array(0, "id of the snapshot").map_err(record)?);
        if found != id {
            return Err(IcechunkFault::Id { file: file.to_owned(), found: found.to_string() });
        }
        let (mut nodes, mut names) = (Vec::new(), 0);
        for table in root.required(2, 4, "nodes").map_err(record)?.tables() {
            let table = table.map_err(record)?;
            let path = table.str(1).and_then(|path| path.ok_or(FlatFault { what: "path", at: table.offset() }));
            let path = path.map_err(record)?;
            // Offsets of several nodes could point to one path: the sum of the lengths is bounded.
            names += path.len();
            if names > content.len() {
                return Err(record(FlatFault { what: "paths", at: table.offset() }));
            }
            nodes.push(Self::node(file, path, &table)?);
        }
        nodes.sort_unstable_by(|a: &Node, b| a.key.cmp(&b.key));
        match nodes.windows(2).find(|pair| pair[0].key == pair[1].key) {
            Some(pair) => Err(IcechunkFault::SamePath { file: file.to_owned(), path: format!("/{}", pair[0].path()) }),
            None => Ok(nodes),
        }
    }

    fn node(file: &str, path: &str, table: &Table<'_>) -> Result<Node> {
        let invalid = |fault| IcechunkFault::Path { file: file.to_owned(), path: path.to_owned(), fault };
        let relative = path.strip_prefix('/').unwrap_or(path);
        let key = if relative.is_empty() { DOCUMENT.to_owned() } else { format!("{relative}/{DOCUMENT}") };
        let key = match (Key::fault(&key), Key::new(&key)) {
            (None, Ok(key)) => key,
            (fault, _) => return Err(invalid(fault.unwrap_or(zarr_store::KeyFault::Empty))),
        };
        let read = || {
            let id = table.required_array(0, "id of a node")?;
            let document = table.range(2)?.ok_or(FlatFault { what: "document", at: table.offset() })?;
            let array = match table.u8_or(3, 0)? {
                1 => table.table(4)?.map(|array| array.offset()),
                2 => None,
                _ => return Err(FlatFault { what: "type of a node", at: table.offset() }),
            };
            Ok((id, document, array))
        };
        let (id, document, array) = read().map_err(|fault| IcechunkFault::record(file, fault))?;
        Ok(Node { key, id, document, array })
    }

    /// Returns all nodes, sorted by the keys of their documents.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the node whose document has the key `key`.
    pub(crate) fn node_at(&self, key: &str) -> Option<&Node> {
        let at = self.nodes.binary_search_by(|node| node.key.as_str().cmp(key)).ok()?;
        self.nodes.get(at)
    }

    /// Returns the array at `path`, which has no slash in front; `None` if no node or a group is there.
    pub(crate) fn array_at(&self, path: &str) -> Option<&Node> {
        let node = if path.is_empty() { self.node_at(DOCUMENT) } else { self.node_at(&format!("{path}/{DOCUMENT}")) };
        node.filter(|node| node.is_array())
    }

    /// Returns the document of a node.
    pub(crate) fn document(&self, node: &Node) -> Bytes {
        self.content.slice(node.document.clone())
    }

    /// Returns the manifests of an array that may contain the chunk `index`, or chunks whose index begins with `index`.
    pub(crate) fn extents(&self, node: &Node, index: &Index) -> Result<Vec<Extent>> {
        let read = || {
            let Some(array) = node.array else { return Ok(Vec::new()) };
            let mut extents = Vec::new();
            for table in Table::at(&self.content, array)?.required(2, 4, "manifests of an array")?.tables() {
                let table = table?;
                let ranges = table.required(1, 8, "extents of a manifest")?;
                if ranges.len() > MAX_RANK {
                    return Err(FlatFault { what: "extents of a manifest", at: table.offset() });
                }
                let meets = ranges.items().zip(index).all(|(item, at)| range(item).contains(at));
                if meets {
                    let manifest = Id(table.required_array(0, "id of a manifest")?);
                    extents.push(Extent { manifest, ranges: ranges.items().map(range).collect() });
                }
            }
            Ok(extents)
        };
        read().map_err(|fault| IcechunkFault::record(&self.file, fault))
    }
}

fn range(item: &[u8]) -> Range<u32> {
    u32_at(item, 0).unwrap_or(0)..u32_at(item, 4).unwrap_or(0)
}
