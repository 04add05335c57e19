//! Index of the entries of a zip file that is being written.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use zarr_store::{Key, Listing, Prefix, SizeVisitor, Version};

use super::Writer;
use super::record::{self, Record};
use crate::ZipArrangement;
use crate::zip::directory::{self, Directory};
use crate::zip::entry::Entry;

/// Newest value of each key, and the file that contains them.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) file: Arc<File>,
    pub(super) values: BTreeMap<Key, Arc<Value>>,
    /// Entries of folders, which are no values, by their names.
    pub(super) folders: Vec<(String, Record)>,
    /// Number of the file in versions, which distinguishes its offsets from those of other files.
    pub(super) number: u64,
}

/// Value with its entry and its record for the directory.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) entry: Entry,
    pub(super) record: Record,
}

impl Value {
    /// Creates the value of an entry whose data begins at the offset `data`.
    pub(super) fn new(key: Key, record: Record, data: u64) -> Self {
        let entry = Entry {
            key,
            method: record.method,
            crc: record.crc,
            compressed: record.compressed,
            size: record.size,
            header: record.offset,
            limit: data + record.compressed,
            data: OnceLock::from(data),
        };
        Self { entry, record }
    }
}

impl Index {
    /// Creates an index without entries.
    pub(super) fn new(file: Arc<File>, number: u64) -> Self {
        Self { file, values: BTreeMap::new(), folders: Vec::new(), number }
    }

    /// Adds the entries of a checked directory.
    pub(super) fn add(&mut self, directory: Directory) {
        let mut records = BTreeMap::new();
        let mut rest = &*directory.bytes;
        while let Some((header, after)) = directory::header(rest) {
            rest = after;
            // All names were checked.
            let name = String::from_utf8_lossy(header.name);
            if name.ends_with('/') {
                self.folders.push((name.into_owned(), Record::of(&header)));
            } else {
                // The last of several counts.
                records.insert(header.name, Record::of(&header));
            }
        }
        for entry in directory.entries {
            if let Some(record) = records.remove(entry.key.as_str().as_bytes()) {
                self.values.insert(entry.key.clone(), Arc::new(Value { entry, record }));
            }
        }
    }

    /// Returns the version of a value, by its offset, since entries are never changed in place.
    pub(super) fn version(&self, value: &Value) -> Version {
        Version::new(&format!("{:x}.{:x}", self.number, value.record.offset))
    }

    /// Returns the central directory and the number of its entries, in the order of the file or of the arrangement.
    pub(super) fn directory(&self, arrangement: Option<&ZipArrangement>) -> (Vec<u8>, u64) {
        let place = |value: &Value| place(&value.entry.key, &value.record, arrangement);
        let values = self.values.values().map(|value| (place(value), value.entry.key.as_str(), &value.record));
        let folders = self.folders.iter().map(|(name, record)| ((usize::MAX, record.offset), name.as_str(), record));
        let mut entries: Vec<((usize, u64), &str, &Record)> = values.chain(folders).collect();
        entries.sort_by_key(|(place, ..)| *place);
        let mut bytes = Vec::new();
        for (_, name, record) in &entries {
            record.put_central(name.as_bytes(), &mut bytes);
        }
        (bytes, entries.len() as u64)
    }

    /// Returns whether the entries in the file have the order of the arrangement, with nothing else before them.
    pub(super) fn is_in_order(&self, arrangement: &ZipArrangement) -> bool {
        let mut places: Vec<(u64, usize)> = self
            .values
            .values()
            .map(|value| (value.record.offset, place(&value.entry.key, &value.record, Some(arrangement)).0))
            .collect();
        places.sort_unstable();
        let firsts = places.iter().take_while(|(_, depth)| *depth < usize::MAX).count();
        let begins = places.first().is_none_or(|(offset, _)| *offset == 0);
        begins
            && places.is_sorted_by_key(|(_, depth)| *depth)
            && self
                .folders
                .iter()
                .all(|(_, record)| places.get(firsts).is_none_or(|(offset, _)| record.offset >= *offset))
    }

    pub(super) fn list_dir(&self, prefix: &Prefix) -> Listing {
        Listing::directly_under(prefix, |from| self.from(from).next())
    }

    pub(super) fn list_prefix(&self, prefix: &Prefix) -> Vec<Key> {
        self.from(Bound::Included(prefix.as_str())).take_while(|key| prefix.contains(key)).cloned().collect()
    }

    pub(super) fn visit_sizes(&self, prefix: &Prefix, visit: &SizeVisitor) {
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let under = self.values.range::<str, _>(from).take_while(|(key, _)| prefix.contains(key));
        under.for_each(|(key, value)| visit(key.clone(), value.entry.size));
    }

    fn from(&self, from: Bound<&str>) -> impl Iterator<Item = &Key> {
        self.values.range::<str, _>((from, Bound::Unbounded)).map(|(key, _)| key)
    }
}

/// Returns the sort key of an entry: entries that come first by the number of path segments above them, then the others, each in the order
/// of the file.
pub(super) fn place(key: &Key, record: &Record, arrangement: Option<&ZipArrangement>) -> (usize, u64) {
    let is_first = arrangement.is_none_or(|arrangement| key.name() == arrangement.first);
    let depth = arrangement.map_or(0, |_| key.as_str().matches('/').count());
    (if is_first { depth } else { usize::MAX }, record.offset)
}

/// Returns the directory of an index and the end records of the file, which follow the entries.
pub(super) fn directory_and_end(index: &Index, writer: &Writer) -> Vec<u8> {
    let (mut bytes, entries) = index.directory(writer.arrangement.as_ref());
    // Readers of arranged files may expect the records of zip64.
    let end = record::end(entries, bytes.len() as u64, writer.end, &writer.comment, writer.arrangement.is_some());
    bytes.extend_from_slice(&end);
    bytes
}
