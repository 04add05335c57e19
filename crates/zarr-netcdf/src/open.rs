//! Opens a netCDF-3 file as a virtual store.

use std::sync::Arc;

use zarr_json::Map;
use zarr_store::{ByteRange, Bytes, Error, Fetched, GetOptions, Key, Prefix, Result, Snapshot, Store, StoreExt};
use zarr_store_virtual::{ChunkKeyForm, Separator, VirtualStore};

use crate::cursor::Lack;
use crate::header::{Header, Variable, is_magic};
use crate::layout::{Layout, Records};
use crate::values::Attribute;
use crate::{NetcdfFault, document};

/// Number of bytes of the first read of a file. Most headers are shorter.
const FIRST: u64 = 64 << 10;
/// Maximum estimated memory of the documents of a file, in bytes.
const DOCUMENTS: u64 = 128 << 20;

/// Options of opening a netCDF-3 file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NetcdfOptions {
    /// Maximum size of the header in bytes: 256 MiB by default.
    pub max_header: u64,
    /// Name of the file in messages; `None`, the default, for the name of its store followed by its key.
    pub name: Option<String>,
}

impl Default for NetcdfOptions {
    fn default() -> Self {
        Self { max_header: 256 << 20, name: None }
    }
}

impl NetcdfOptions {
    /// Sets the maximum size of the header in bytes.
    #[must_use]
    pub fn max_header(self, max_header: u64) -> Self {
        Self { max_header, ..self }
    }

    /// Sets the name of the file in messages.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

/// Whether `head`, the first four or more bytes of a file, are the beginning of a netCDF-3 file.
#[must_use]
pub fn is_netcdf(head: &[u8]) -> bool {
    is_magic(head)
}

/// Opens the netCDF-3 file that is the value at `key` of `store`, as a store of one group and its arrays.
///
/// # Errors
/// [`Error::NoStore`] if `store` has no value at `key`; [`Error::Format`] with a [`NetcdfFault`] if the file is not a netCDF-3 file, or is
/// damaged; and the errors of `store`.
pub fn open(store: Arc<dyn Store>, key: Key) -> Result<VirtualStore> {
    open_with(store, key, &NetcdfOptions::default())
}

/// Opens a netCDF-3 file as [`open`] does, with other options.
///
/// # Errors
/// The errors of [`open`]. A header longer than `max_header` is an [`Error::Format`] of kind [`Limit`](zarr_store::ErrorKind::Limit).
pub fn open_with(store: Arc<dyn Store>, key: Key, options: &NetcdfOptions) -> Result<VirtualStore> {
    let name = options.name.clone().unwrap_or_else(|| {
        let below = store.to_string();
        format!("{below}{}{key}", if below.ends_with(['/', ':']) { "" } else { "/" })
    });
    let file = read(&*store, &key, &name, options)?;
    build(store, key, &name, file)
}

/// Header, size and state of a file.
struct File {
    header: Header,
    size: u64,
    state: Option<Snapshot>,
}

/// Reads the header of a file. Each further read asks for at least twice as many bytes, until the header is complete.
fn read(store: &dyn Store, key: &Key, name: &str, options: &NetcdfOptions) -> Result<File> {
    let (mut state, mut len) = (GetOptions::snapshot(), FIRST);
    loop {
        let ranges = [ByteRange::First(len)];
        let fetched = match store.get(key, &ranges, &state) {
            // The first get returned a snapshot, and the file has another state now.
            Err(error) if error.is_precondition() => {
                let fault = NetcdfFault::Header {
                    at: 0,
                    found: "another state of the file".to_owned(),
                    expected: "that in which its header was begun to be read".to_owned(),
                };
                return Err(fault.of(name));
            }
            fetched => Fetched::checked(&store, key, fetched?, 1, &state)?,
        };
        let Some(mut fetched) = fetched else { return Err(Error::NoStore { store: name.to_owned() }) };
        if state.snapshot {
            state = GetOptions::if_match(fetched.snapshot.take());
        }
        let (size, bytes) = (fetched.size, fetched.into_bytes());
        let size = size.or_else(|| ranges[0].whole_size(&bytes));
        match Header::parse(&bytes) {
            Ok(header) => {
                let size = size.ok_or_else(|| Error::contract(&store, key, "no size", "the size of the value"))?;
                return Ok(File { header, size, state: state.if_match });
            }
            Err(Lack::Fault(fault)) => return Err(fault.of(name)),
            Err(Lack::Bytes(_)) if size.is_some_and(|size| size <= bytes.len() as u64) => {
                let fault = match is_magic(&bytes) {
                    true => NetcdfFault::Truncated { at: bytes.len() as u64 },
                    false => NetcdfFault::Magic { found: format!("{} bytes", bytes.len()) },
                };
                return Err(fault.of(name));
            }
            Err(Lack::Bytes(_)) if len >= options.max_header => {
                return Err(NetcdfFault::TooLong { limit: options.max_header }.of(name));
            }
            Err(Lack::Bytes(end)) => len = end.max(2 * len).min(options.max_header),
        }
    }
}

fn build(store: Arc<dyn Store>, key: Key, name: &str, file: File) -> Result<VirtualStore> {
    let File { header, size, state } = file;
    let records = Records::of(&header, size).map_err(|fault| fault.of(name))?;
    let mut builder = VirtualStore::builder(name);
    let source = builder.source_in_state(store, key, state);
    let mut arrays = Map::new();
    let mut left = size;
    let costs = header.attributes.iter().map(Attribute::cost).chain(header.variables.iter().map(Variable::cost));
    if costs.fold(0, u64::saturating_add) > DOCUMENTS {
        return Err(NetcdfFault::Documents { limit: DOCUMENTS }.of(name));
    }
    for variable in &header.variables {
        // A name with a slash, and `..`, are not names of Zarr nodes.
        let (Ok(document), Ok(prefix)) =
            (Key::new(&format!("{}/zarr.json", variable.name)), Prefix::new(&format!("{}/", variable.name)))
        else {
            builder.warning(format!("variable {:?} is left out: its name is none in Zarr", variable.name));
            continue;
        };
        if variable.name.contains('/') || variable.name == "zarr.json" {
            builder.warning(format!("variable {:?} is left out: its name is none in Zarr", variable.name));
            continue;
        }
        let layout = Layout::of(variable, records).map_err(|fault| fault.of(name))?;
        // A chunk has a byte at least, and a list of the store contains a key for each chunk.
        left = left.checked_sub(layout.count).ok_or_else(|| {
            NetcdfFault::TooManyChunks { name: variable.name.clone(), count: layout.count, size }.of(name)
        })?;
        let table = layout.table(source).map_err(|fault| fault.of(name))?;
        let text = document::array(variable, &layout);
        builder.document(document, Bytes::from(text.to_string()));
        builder.chunks(prefix, ChunkKeyForm::Default(Separator::Slash), &layout.counts, table);
        if arrays.insert(variable.name.clone(), text).is_some() {
            return Err(NetcdfFault::Twice { name: variable.name.clone() }.of(name));
        }
    }
    let root = document::root(&header.attributes, arrays).to_string();
    builder.document(Key::new("zarr.json")?, Bytes::from(root));
    builder.build()
}
