//! Opening of an HDF5 file as a store.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use zarr_json::{Map, json};
use zarr_store::{Key, Prefix, Result, Store};
use zarr_store_virtual::{ChunkKeyForm, Separator, SourceId, VirtualStore};

use crate::arrays::Arrays;
use crate::dimensions::Dimensions;
use crate::document;
use crate::fault::Refusal;
use crate::file::File;
use crate::files::{FileId, Files};
use crate::options::Hdf5Options;
use crate::source::{SIGNATURE, Source};
use crate::trees;
use crate::walk::{Node, nodes_of, walk};

/// Maximum number of bytes of all metadata documents of a file, together with the elements that its object headers store.
const MAX_BYTES: usize = 128 << 20;
/// Maximum number of stored chunks of all data sets of a file.
const MAX_CHUNKS: usize = 1 << 24;

/// Returns whether `head`, the first bytes of a value, begins an HDF5 file. The signature may follow a user block of 512, 1024 or 2048
/// bytes.
///
/// ```
/// assert!(zarr_hdf5::is_hdf5(b"\x89HDF\r\n\x1a\n and more"));
/// assert!(!zarr_hdf5::is_hdf5(b"CDF\x01"));
/// ```
#[must_use]
pub fn is_hdf5(head: &[u8]) -> bool {
    [0, 512, 1024, 2048].iter().any(|at| head.get(*at..).is_some_and(|rest| rest.starts_with(SIGNATURE)))
}

/// Opens the HDF5 file at `key` of `store` as a read-only store. Messages call the file `name`.
///
/// External links lead to other values of `store` in the directory of `key` and below, which become nodes at the paths of the links. A server
/// that opens files of others in one directory shows each of them what lies beside.
///
/// # Errors
/// [`Error::NoStore`](zarr_store::Error::NoStore) if `store` has no value at `key`, [`Error::NotAStore`](zarr_store::Error::NotAStore) if
/// the value is no HDF5 file, [`Error::Format`](zarr_store::Error::Format) if its root group cannot be read or a limit is exceeded, and the
/// errors of `store`.
pub fn open(store: Arc<dyn Store>, key: Key, name: impl Into<String>) -> Result<VirtualStore> {
    open_with(store, key, &Hdf5Options::default().name(name))
}

/// Opens the HDF5 file at `key` of `store` as [`open`] does, with options.
///
/// # Errors
/// The errors of [`open`]. An external link to a file that is not there, or that the options do not allow, is a warning of the store.
pub fn open_with(store: Arc<dyn Store>, key: Key, options: &Hdf5Options) -> Result<VirtualStore> {
    let name = options.name.clone().unwrap_or_else(|| {
        let below = store.to_string();
        format!("{below}{}{key}", if below.ends_with(['/', ':']) { "" } else { "/" })
    });
    let first = Arc::new(File::open(Source::open(name, Arc::clone(&store), key.clone())?)?);
    let finder = options.outside.finder("links", Arc::clone(&store), key.parent());
    let mut files = Files::new(Arc::clone(&first), store, key, (finder, options.paths.clone()));
    let mut nodes = walk(&mut files)?;
    let mut builder = VirtualStore::builder(first.source.to_string());
    let mut opened: HashMap<FileId, (Dimensions, SourceId)> = HashMap::new();
    let mut documents: Vec<(String, Map)> = Vec::new();
    let mut paths = HashSet::new();
    let mut warnings = std::mem::take(&mut nodes.warnings);
    let (mut bytes, mut chunks) = (0, 0);
    let mut arrays = Arrays::new(&nodes.list);
    // Reason why nodes of other files are left out, once they exceed a limit.
    let mut exceeded = None;
    for node in &nodes.list {
        let id = node.id.file;
        if node.is_far && exceeded.is_none() {
            exceeded = files.check_cached().err();
        }
        if let Some(reason) = exceeded.as_ref().filter(|_| node.is_far) {
            warnings.add(&node.path, reason);
            continue;
        }
        let file = &Arc::clone(files.get(id));
        // Nodes that the first file has itself come first, and spend what all files share.
        let (dimensions, from) = match opened.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(entry) => {
                trees::read_ahead((id, file), &nodes.list);
                let source = &file.source;
                let from = builder.source_in_state(source.chunks(), source.key().clone(), source.state());
                entry.insert((dimensions_of(&mut files, id, &nodes.list)?, from))
            }
        };
        let (dimensions, from) = (&*dimensions, *from);
        // Without its root a store has no nodes.
        let is_root = node.path.is_empty();
        if node.is_array && !is_root && dimensions.is_hidden(file, node) {
            continue;
        }
        let path = dimensions.path(node);
        let mut warn = |text: &dyn std::fmt::Display| warnings.add(&path, &files.message(id, text));
        let (mut more, mut more_chunks) = (0, 0);
        let made = if node.is_array {
            let array = arrays.get(node, |warn| document::array(file, node, dimensions, from, warn), &mut warn);
            array.map(|array| {
                let document = document::with_names(&array, file, node, dimensions, &mut |text| warn(&text));
                more += array.inline + array.weight;
                let prefix = if path.is_empty() { Ok(Prefix::root()) } else { Prefix::new(&format!("{path}/")) };
                more_chunks += array.stored;
                (document, Some((prefix, array.counts, array.table)))
            })
        } else {
            let attributes = document::attributes(file, node, dimensions, None, &mut |text| warn(&text));
            Ok((document::group(attributes), None))
        };
        if let Some(error) = file.source.take_failure() {
            return Err(error);
        }
        let made = made.and_then(|made| match paths.insert(path.clone()) {
            true => Ok(made),
            false => Err(Refusal::new("there is another node of this name")),
        });
        // An object with several paths has a document for each.
        more += made.as_ref().map_or(0, |(document, _)| document.to_string().len());
        let limit = match (bytes + more > MAX_BYTES, chunks + more_chunks > MAX_CHUNKS) {
            (true, _) => Some(format!("found metadata of more than {MAX_BYTES} bytes, which is the limit")),
            (_, true) => Some(format!("found more than {MAX_CHUNKS} chunks, which is the limit")),
            _ => None,
        };
        match limit {
            Some(limit) if node.is_far => {
                warn(&limit);
                arrays.leave_out(node, &limit);
                // Nodes below a group that is left out have no group.
                exceeded = (!node.is_array).then_some(limit);
                continue;
            }
            Some(limit) => return Err(first.limit(limit)),
            None => (bytes, chunks) = (bytes + more, chunks + more_chunks),
        }
        match made {
            Ok((document, of_array)) => {
                if let Some((prefix, counts, table)) = of_array {
                    builder.chunks(prefix?, ChunkKeyForm::Default(Separator::Slash), &counts, table);
                }
                documents.push((path, document));
            }
            Err(refusal) if is_root => return Err(file.fault(&refusal)),
            Err(refusal) => warn(&refusal),
        }
    }
    let mut consolidated = Vec::new();
    for (path, document) in documents.iter().skip(1) {
        builder.document(Key::new(&format!("{path}/zarr.json"))?, document.to_string());
        consolidated.push((path.clone(), document.clone().into()));
    }
    if let Some((_, root)) = documents.first_mut() {
        let metadata = Map::from_unique(consolidated);
        let inline = json!({"kind": "inline", "must_understand": false, "metadata": metadata});
        root.insert("consolidated_metadata", inline);
        builder.document(Key::new("zarr.json")?, root.to_string());
    }
    for warning in warnings.into_texts() {
        builder.warning(warning);
    }
    builder.build()
}

/// Returns the dimensions of the file `id`. `nodes` are those of all files.
fn dimensions_of(files: &mut Files, id: FileId, nodes: &[Node]) -> Result<Dimensions> {
    let file = Arc::clone(files.get(id));
    let has_dimensions = |node: &Node| node.id.file == id && (node.is_array && Dimensions::are_named(node));
    if id == FileId::FIRST || !nodes.iter().any(has_dimensions) {
        return Ok(Dimensions::new((id, &file), nodes));
    }
    // Links may lead to a data set but not to the scales of its axes, or to these by other names.
    match nodes_of(files, id) {
        Ok(own) => Ok(Dimensions::new((id, &file), &own.list)),
        Err(error) if error.is_retryable() => Err(error),
        Err(_) => Ok(Dimensions::new((id, &file), nodes)),
    }
}
