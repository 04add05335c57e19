//! Links of a group to its members.

use std::collections::HashSet;

use hdf5_reader::Storage;
use hdf5_reader::btree_v1::collect_btree_v1_leaves_storage;
use hdf5_reader::btree_v2::{BTreeV2Header, BTreeV2Record, collect_btree_v2_records_storage};
use hdf5_reader::error::Error;
use hdf5_reader::fractal_heap::{FractalHeap, FractalHeapDirectBlockCache};
use hdf5_reader::io::Cursor;
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::link::{LinkMessage, LinkTarget, parse};
use hdf5_reader::messages::symbol_table_msg::SymbolTableMessage;
use hdf5_reader::object_header::ObjectHeader;
use hdf5_reader::symbol_table::SymbolTableNode;

use crate::fault::Refusal;
use crate::file::File;

/// Link from a group to a member.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) target: Target,
}

/// Target of a link.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Object at this address of the file.
    Hard(u64),
    /// Object at this path of the same file.
    Soft(String),
    /// Object at this path of another file.
    External { file: String, path: String },
}

/// Returns the links of the group with the object header `header`, sorted by name.
pub(crate) fn links(file: &File, header: &ObjectHeader) -> Result<Vec<Link>, Refusal> {
    let mut links = Vec::new();
    for message in &header.messages {
        match message {
            HdfMessage::SymbolTable(table) => links.extend(old_links(file, table)?),
            HdfMessage::Link(message) => links.push(link(message)),
            HdfMessage::LinkInfo(info) if !file.is_undefined(info.fractal_heap_address) => {
                let index = info.btree_name_index_address;
                for bytes in heap_objects(file, info.fractal_heap_address, index)? {
                    let parsed = file.guard(|| {
                        parse(&mut Cursor::new(&bytes), file.offset_size(), file.length_size(), bytes.len())
                    })?;
                    links.push(link(&parsed));
                }
            }
            _ => {}
        }
    }
    links.sort_by(|a, b| a.name.cmp(&b.name));
    links.dedup_by(|a, b| a.name == b.name);
    Ok(links)
}

fn link(message: &LinkMessage) -> Link {
    let target = match &message.target {
        LinkTarget::Hard { address } => Target::Hard(*address),
        LinkTarget::Soft { path } => Target::Soft(path.clone()),
        LinkTarget::External { filename, path } => Target::External { file: filename.clone(), path: path.clone() },
    };
    Link { name: message.name.clone(), target }
}

/// Maximum number of bytes of the links of a group, or of the attributes of an object.
const MAX_BYTES: usize = 64 << 20;

/// Objects of a fractal heap that an index has listed, to refuse duplicates and too many bytes.
#[derive(Default)]
struct Taken<'r> {
    ids: HashSet<&'r [u8]>,
    bytes: usize,
}

impl<'r> Taken<'r> {
    fn name(&mut self, id: &'r [u8]) -> Result<(), Error> {
        match self.ids.insert(id) {
            true => Ok(()),
            false => Err(Error::InvalidData("an index names one object of a heap twice".to_owned())),
        }
    }

    fn take(&mut self, len: usize) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(len);
        match self.bytes <= MAX_BYTES {
            true => Ok(()),
            false => Err(Error::InvalidData(format!("an index names more than {MAX_BYTES} bytes of a heap"))),
        }
    }
}

/// Reads the objects of the fractal heap at the address `heap` that the B-tree at the address `index` lists: links of a group, or
/// attributes of an object.
pub(crate) fn heap_objects(file: &File, heap: u64, index: u64) -> Result<Vec<Vec<u8>>, Refusal> {
    let (storage, offsets, lengths) = (&file.metered(), file.offset_size(), file.length_size());
    file.guard(|| {
        let heap = FractalHeap::parse_at_storage(storage, heap, offsets, lengths)?;
        let header = BTreeV2Header::parse_at_storage(storage, index, offsets, lengths)?;
        let records = collect_btree_v2_records_storage(storage, &header, offsets, lengths, None, &[], None)?;
        let mut blocks = FractalHeapDirectBlockCache::default();
        let mut objects = Vec::new();
        let mut taken = Taken::default();
        for record in &records {
            let id = match record {
                BTreeV2Record::LinkNameHash { heap_id, .. }
                | BTreeV2Record::CreationOrder { heap_id, .. }
                | BTreeV2Record::AttributeNameHash { heap_id, .. }
                | BTreeV2Record::AttributeCreationOrder { heap_id, .. } => heap_id,
                _ => continue,
            };
            taken.name(id)?;
            let object = heap.get_object_storage_cached(id, storage, offsets, lengths, &mut blocks)?;
            taken.take(object.len())?;
            objects.push(object);
        }
        Ok(objects)
    })
}

/// Returns the links of a group in the old format, with a symbol table.
fn old_links(file: &File, table: &SymbolTableMessage) -> Result<Vec<Link>, Refusal> {
    let (storage, offsets, lengths) = (&file.metered(), file.offset_size(), file.length_size());
    let heap = file.guard(|| LocalHeap::parse_at_storage(storage, table.heap_address, offsets, lengths))?;
    let names = usize::try_from(heap.data_segment_size).unwrap_or(usize::MAX);
    let names = file.guard(|| storage.read_range(heap.data_segment_address, names))?;
    let text = |offset: u64| {
        let rest = usize::try_from(offset).ok().and_then(|offset| names.get(offset..));
        let rest = rest.and_then(|rest| Some((rest, rest.iter().position(|byte| *byte == 0)?)));
        let bytes = rest.and_then(|(rest, end)| rest.get(..end));
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(str::to_owned).ok_or_else(|| Refusal::new("the name of a member is no UTF-8"))
    };
    let leaves = file
        .guard(|| collect_btree_v1_leaves_storage(storage, table.btree_address, offsets, lengths, None, &[], None))?;
    let (mut links, mut nodes, mut bytes) = (Vec::new(), HashSet::new(), 0_usize);
    for (_, address) in leaves {
        if !nodes.insert(address) {
            return Err(Refusal::new("the tree of its members names one node twice"));
        }
        let node = file.guard(|| {
            let head = storage.read_range(address, 8)?;
            let count = u16::from_le_bytes([head[6], head[7]]);
            let len = 8 + usize::from(count) * (2 * usize::from(offsets) + 24);
            let bytes = storage.read_range(address, len)?;
            SymbolTableNode::parse(&mut Cursor::new(bytes.as_ref()), offsets, lengths)
        })?;
        for entry in node.entries {
            let name = text(entry.link_name_offset)?;
            // The pad of a symbolic link begins with the offset of its path.
            let target = if entry.cache_type == 2 {
                let offset =
                    u32::from_le_bytes([entry.scratch[0], entry.scratch[1], entry.scratch[2], entry.scratch[3]]);
                Target::Soft(text(u64::from(offset))?)
            } else {
                Target::Hard(entry.object_header_address)
            };
            // Names may be parts of each other.
            let len = if let Target::Soft(path) = &target { path.len() } else { 0 };
            bytes = bytes.saturating_add(name.len()).saturating_add(len);
            if bytes > MAX_BYTES {
                return Err(Refusal::new(format!("its links have more than {MAX_BYTES} bytes of names")));
            }
            links.push(Link { name, target });
        }
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_named_once_and_within_the_limit() {
        let mut taken = Taken::default();
        assert!(taken.name(&[1]).is_ok() && taken.name(&[2]).is_ok() && taken.name(&[1]).is_err());
        assert!(taken.take(MAX_BYTES).is_ok() && taken.take(0).is_ok() && taken.take(1).is_err());
    }
}
