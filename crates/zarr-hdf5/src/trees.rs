//! B-trees of chunks in a file behind a network: their nodes lie anywhere in it, and those of one level are read at the same time.

use std::collections::HashSet;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::layout::DataLayout;

use crate::file::File;
use crate::walk::Node;

/// Maximum number of nodes of B-trees that are looked at.
const MAX_NODES: usize = 1 << 16;
/// Maximum size in bytes of a node whose children are looked at.
const MAX_NODE: usize = 1 << 20;
/// Number of children of a node that there is room for, unless a file says otherwise.
const CHILDREN: usize = 64;
/// Bytes in front of the addresses in a node: the signature, its type, its level, its number of children.
const HEAD: usize = 8;

/// A node of the B-tree of a data set, and the number of its dimensions.
#[derive(Clone, Copy)]
struct TreeNode {
    address: u64,
    rank: usize,
}

impl TreeNode {
    /// Bytes of a key: the size of a chunk, a mask, and its offsets, of which one more is for the elements.
    fn key(self) -> usize {
        8 + 8 * (self.rank + 1)
    }

    /// Bytes of a node with this number of children.
    fn size(self, children: usize, offset: usize) -> usize {
        HEAD + 2 * offset + children * (self.key() + offset) + self.key()
    }
}

/// Reads the nodes of the B-trees of all data sets ahead, level by level, as far as they can be kept. What is not as it should be is left to
/// whoever reads them.
pub(crate) fn read_ahead(file: &File, nodes: &[Node]) {
    if !file.source.is_far() {
        return;
    }
    let offset = usize::from(file.offset_size());
    let mut seen = HashSet::new();
    let mut level: Vec<TreeNode> = nodes.iter().filter_map(root).filter(|node| seen.insert(node.address)).collect();
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

/// The root of the B-tree of a data set.
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

/// The children of a node that are nodes.
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
