//! Opening of references as a virtual store.

use std::collections::HashMap;
use std::sync::Arc;

use zarr_store::{ByteRange, Bytes, Error, Fetched, GetOptions, Key, Prefix, Result, Store, StoreExt};
use zarr_store_virtual::{Chunk, VirtualStore};

use crate::arrays::{Arrays, DOCUMENTS, split};
use crate::file::{Entry, File};
use crate::targets::{self, Targets};
use crate::{ReferencesFault, ReferencesOptions};

/// Maximum number of bytes of all documents in other files together.
const DOCUMENT_BYTES: u64 = 256 << 20;
/// Minimum number of bytes that each document in another file counts towards [`DOCUMENT_BYTES`], since it needs a request.
const DOCUMENT: u64 = 4 << 10;

/// Opens the references in the file at `key` of `store`.
///
/// # Errors
/// [`Error::NoStore`] if `store` has no value at `key`; [`Error::Format`] with a [`ReferencesFault`] if the file does not contain
/// references, or a reference names a file that it must not name; and the errors of `store` and of the stores that contain documents.
pub fn open(store: Arc<dyn Store>, key: Key, options: &ReferencesOptions) -> Result<VirtualStore> {
    let name = options.name.clone().unwrap_or_else(|| {
        let below = store.to_string();
        format!("{below}{}{key}", if below.ends_with(['/', ':']) { "" } else { "/" })
    });
    let bytes = read(&*store, &key, &name, options.max_size)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let expected = "a text in UTF-8".to_owned();
        ReferencesFault::Syntax { at: error.valid_up_to() as u64, found: "another byte".to_owned(), expected }.of(&name)
    })?;
    let named = |fault: ReferencesFault| fault.of(&name);
    let file = File::parse(text, options.max_generated).map_err(named)?;
    let targets = Targets::new(options.finder(store, key.parent()), text.len() as u64);
    let mut left = DOCUMENT_BYTES;
    // Chunks may precede the document of their array, so that the file is read twice.
    let (mut arrays, mut documents) = (Arrays::default(), HashMap::new());
    let noted = file.each(|key, entry| {
        match entry {
            Entry::Value(document) => arrays.note(key, &document)?,
            Entry::Target { url, range } if DOCUMENTS.contains(&split(key).1) => {
                let (store, target) = targets::file(targets.finder(), &name, key, &url)?;
                let document = read_document(&*store, &target, range, key, &url, &name, &mut left)?;
                arrays.note(key, &document)?;
                documents.insert(key.to_owned(), document);
            }
            Entry::Target { .. } => {}
        }
        Ok(())
    });
    noted.map_err(|failure: Failure| failure.of(&name))?;
    build(&name, &file, arrays, &documents, targets)
}

fn read(store: &dyn Store, key: &Key, name: &str, limit: u64) -> Result<Bytes> {
    // One byte more than the limit shows that the file is too long.
    let bytes = get(store, key, ByteRange::First(limit.saturating_add(1)))?;
    let bytes = bytes.ok_or_else(|| Error::NoStore { store: name.to_owned() })?;
    match bytes.len() as u64 {
        size if size > limit => Err(ReferencesFault::TooLong { size, limit }.of(name)),
        _ => Ok(bytes),
    }
}

fn get(store: &dyn Store, key: &Key, range: ByteRange) -> Result<Option<Bytes>> {
    let options = GetOptions::default();
    let ranges = [range];
    let fetched = Fetched::checked(&store, key, store.get(key, &ranges, &options)?, 1, &options)?;
    Ok(fetched.map(Fetched::into_bytes))
}

/// Reads the document at `key`, which is a range of another file. `left` is the number of bytes that documents in other files may still
/// have, at first [`DOCUMENT_BYTES`].
fn read_document(
    store: &dyn Store,
    target: &Key,
    range: Option<(u64, u64)>,
    key: &str,
    url: &str,
    name: &str,
    left: &mut u64,
) -> Result<Bytes> {
    let most = *left;
    let used = DOCUMENT_BYTES.saturating_sub(most);
    let too_long =
        |size: u64| ReferencesFault::TooLong { size: size.saturating_add(used), limit: DOCUMENT_BYTES }.of(name);
    let range = match range {
        None => ByteRange::First(most + 1),
        Some((_, length)) if length > most => return Err(too_long(length)),
        Some((offset, length)) => ByteRange::Range(offset..offset.saturating_add(length)),
    };
    let no_file = || ReferencesFault::NoFile { key: key.to_owned(), url: url.to_owned() }.of(name);
    let bytes = get(store, target, range)?.ok_or_else(no_file)?;
    let size = bytes.len() as u64;
    *left = most.checked_sub(size.max(DOCUMENT)).ok_or_else(|| too_long(size.max(DOCUMENT)))?;
    Ok(bytes)
}

/// Fault of the references, or error of another store.
enum Failure {
    Fault(ReferencesFault),
    Error(Error),
}

impl From<ReferencesFault> for Failure {
    fn from(fault: ReferencesFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Failure {
    fn of(self, name: &str) -> Error {
        match self {
            Self::Fault(fault) => fault.of(name),
            Self::Error(error) => error,
        }
    }
}

fn build(
    name: &str,
    file: &File<'_>,
    mut arrays: Arrays,
    documents: &HashMap<String, Bytes>,
    mut targets: Targets,
) -> Result<VirtualStore> {
    let mut builder = VirtualStore::builder(name);
    let (mut left_out, mut first) = (0_u64, String::new());
    let placed = file.each(|key, entry| {
        let Some((array, index)) = arrays.chunk(key) else {
            match entry {
                Entry::Value(value) => {
                    builder.document(Key::new(key)?, Bytes::copy_from_slice(&value));
                }
                Entry::Target { .. } => match documents.get(key) {
                    Some(document) => _ = builder.document(Key::new(key)?, document.clone()),
                    None if left_out == 0 => (left_out, first) = (1, key.to_owned()),
                    None => left_out += 1,
                },
            }
            return Ok(());
        };
        let chunk = match entry {
            Entry::Value(value) => Chunk::Inline(Bytes::copy_from_slice(&value)),
            Entry::Target { url, range } => {
                let source = targets.source(name, key, &url, &mut builder)?;
                match range {
                    Some((offset, length)) => Chunk::Range { source, offset, length },
                    None => Chunk::Whole { source },
                }
            }
        };
        array.table.set(index, chunk).map_err(|fault| Failure::Error(fault.of(name)))
    });
    placed.map_err(|failure: Failure| failure.of(name))?;
    if left_out > 0 {
        builder.warning(format!("{left_out} references are left out, {first} the first: no chunks of an array"));
    }
    for array in arrays.list {
        let table = array.table.build().map_err(|fault| fault.of(name))?;
        builder.chunks(Prefix::new(&array.prefix)?, array.form, &array.counts, table);
    }
    builder.build()
}
