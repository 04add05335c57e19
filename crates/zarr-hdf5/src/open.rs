//! Opening of an HDF5 file as a store.

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
use crate::walk::walk;

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
    let mut files = Files::new(Arc::clone(&first), store, key, finder);
    let mut nodes = walk(&mut files)?;
    let mut builder = VirtualStore::builder(first.source.to_string());
    let opened: HashMap<FileId, (&Arc<File>, Dimensions, SourceId)> = files
        .all()
        .map(|(id, file)| {
            trees::read_ahead((id, file), &nodes.list);
            let source = &file.source;
            let from = builder.source_in_state(source.chunks(), source.key().clone(), source.state());
            (id, (file, Dimensions::new((id, file), &nodes.list), from))
        })
        .collect();
    let mut documents: Vec<(String, Map)> = Vec::new();
    let mut paths = HashSet::new();
    let mut warnings = std::mem::take(&mut nodes.warnings);
    let (mut bytes, mut chunks) = (0, 0);
    let mut arrays = Arrays::new(&nodes.list);
    for node in &nodes.list {
        let Some(&(file, ref dimensions, from)) = opened.get(&node.id.file) else { continue };
        // Without its root a store has no nodes.
        let is_root = node.path.is_empty();
        if node.is_array && !is_root && dimensions.is_hidden(file, node) {
            continue;
        }
        let path = dimensions.path(node);
        let mut warn = |text: &dyn std::fmt::Display| warnings.add(&path, text);
        let made = if node.is_array {
            let array = arrays.get(node, |warn| document::array(file, node, dimensions, from, warn), &mut warn);
            array.map(|array| {
                let document = document::with_names(&array, file, node, dimensions, &mut |text| warn(&text));
                bytes += array.inline + array.weight;
                let prefix = if path.is_empty() { Ok(Prefix::root()) } else { Prefix::new(&format!("{path}/")) };
                chunks += array.stored;
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
        match made {
            Ok((document, of_array)) => {
                if let Some((prefix, counts, table)) = of_array {
                    builder.chunks(prefix?, ChunkKeyForm::Default(Separator::Slash), &counts, table);
                }
                bytes += document.to_string().len();
                documents.push((path, document));
            }
            Err(refusal) if is_root => return Err(file.fault(&refusal)),
            Err(refusal) => warn(&refusal),
        }
        files.check_cached()?;
        // An object with several paths has a document for each.
        if bytes > MAX_BYTES {
            return Err(first.limit(format!("found metadata of more than {MAX_BYTES} bytes, which is the limit")));
        }
        if chunks > MAX_CHUNKS {
            return Err(first.limit(format!("found more than {MAX_CHUNKS} chunks, which is the limit")));
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
