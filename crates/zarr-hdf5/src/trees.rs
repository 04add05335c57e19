//! Read-ahead of the B-trees of chunks in a remote file: their nodes are scattered over the file, and all nodes of one level are read by
//! one request.

use std::collections::HashSet;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::layout::DataLayout;

use crate::file::File;
use crate::files::FileId;
use crate::walk::Node;

/// Maximum number of B-tree nodes that are read ahead.
const MAX_NODES: usize = 1 << 16;
/// Maximum number of bytes of a B-tree node whose children are read ahead.
const MAX_NODE: usize = 1 << 20;
/// Capacity of a B-tree node in children, unless the superblock of the file gives another.
const CHILDREN: usize = 64;
/// Number of bytes in a B-tree node before its sibling addresses: signature, type, level and number of children.
const HEAD: usize = 8;

/// Node of the B-tree of a data set with `rank` dimensions.
#[derive(Clone, Copy)]
struct TreeNode {
    address: u64,
    rank: usize,
}

impl TreeNode {
    /// Returns the number of bytes of a key: chunk size, filter mask, and one offset for each dimension and for the element size.
    fn key(self) -> usize {
        8 + 8 * (self.rank + 1)
    }

    /// Returns the number of bytes of a node with `children` children, if addresses have `offset` bytes.
    fn size(self, children: usize, offset: usize) -> usize {
        HEAD + 2 * offset + children * (self.key() + offset) + self.key()
    }
}

/// Reads the B-tree nodes of all data sets of the file `id` into the cache, level by level, until the cache is full. Ignores invalid nodes,
/// which are reported when they are parsed. Does nothing for a local file.
pub(crate) fn read_ahead((id, file): (FileId, &File), nodes: &[Node]) {
    if !file.source.is_far() {
        return;
    }
    let offset = usize::from(file.offset_size());
    let mut seen = HashSet::new();
    let mut level: Vec<TreeNode> = nodes
        .iter()
        .filter(|node| node.id.file == id)
        .filter_map(root)
        .filter(|node| seen.insert(node.address))
        .collect();
    while !level.is_empty() {
        let ranges = level.iter().map(|node| {
            let size = node.size(CHILDREN, offset) as u64;
            node.address..node.address.saturating_add(size)
        });
        if !file.source.read_ahead(ranges) {
            return;
        }
        let below = level.iter().flat_map(|node| children(file, *node, offset).unwrap_or_default());
        let left = MAX_NODES.saturating_sub(seen.len());
        level = below.filter(|node| seen.insert(node.address)).take(left + 1).collect();
        if level.len() > left {
            return;
        }
    }
}

/// Returns the root node of the B-tree of the data set `node`; `None` if the data set has no B-tree of version 1.
fn root(node: &Node) -> Option<TreeNode> {
    let layout = node.header.messages.iter().find_map(|message| match message {
        HdfMessage::DataLayout(layout) => Some(&layout.layout),
        _ => None,
    })?;
    match layout {
        DataLayout::Chunked { address, dims, chunk_indexing: None, .. } => {
            Some(TreeNode { address: *address, rank: dims.len() })
        }
        _ => None,
    }
}

/// Returns the children of `node` in the B-tree; `None` if `node` is a leaf or invalid.
fn children(file: &File, node: TreeNode, offset: usize) -> Option<Vec<TreeNode>> {
    let head = file.source.read(node.address, HEAD).ok()?;
    let (signature, rest) = head.split_first_chunk::<4>()?;
    let [kind, level, count @ ..] = rest else { return None };
    let count = usize::from(u16::from_le_bytes(count.try_into().ok()?));
    if signature != b"TREE" || *kind != 1 || *level == 0 {
        return None;
    }
    if node.size(count, offset) > MAX_NODE {
        return None;
    }
    let bytes = file.source.read(node.address, node.size(count, offset)).ok()?;
    let entries = bytes.get(HEAD + 2 * offset..)?.chunks_exact(node.key() + offset);
    let address =
        |entry: &[u8]| entry[node.key()..].iter().rev().fold(0, |address, &byte| address << 8 | u64::from(byte));
    Some(entries.take(count).map(|entry| TreeNode { address: address(entry), rank: node.rank }).collect())
}
