//! A file as a store.

use std::sync::Arc;

use zarr_json::Map;
use zarr_store::{ByteRange, Bytes, Error, Fetched, GetOptions, Key, Prefix, Result, Snapshot, Store};
use zarr_store_virtual::{ChunkKeyForm, Separator, VirtualStore};

use crate::cursor::Lack;
use crate::header::{Header, Variable, is_magic};
use crate::layout::{Layout, Records};
use crate::values::Attribute;
use crate::{NetcdfFault, document};

/// Number of bytes that are read first. Most headers are shorter.
const FIRST: u64 = 64 << 10;
/// The most memory that documents take, in bytes, about.
const DOCUMENTS: u64 = 128 << 20;

/// Bounds of what is read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NetcdfOptions {
    /// The longest header in bytes: 256 MiB by default.
    pub max_header: u64,
    /// The name of the file in messages: by default its key behind the name of its store.
    pub name: Option<String>,
}

impl Default for NetcdfOptions {
    fn default() -> Self {
        Self { max_header: 256 << 20, name: None }
    }
}

impl NetcdfOptions {
    /// The same, with this as the longest header in bytes.
    #[must_use]
    pub fn max_header(self, max_header: u64) -> Self {
        Self { max_header, ..self }
    }

    /// The same, with this as the name of the file in messages.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }
}

/// Whether these are the first bytes of a netCDF-3 file; four tell.
#[must_use]
pub fn is_netcdf(head: &[u8]) -> bool {
    is_magic(head)
}

/// The file that is the value at `key` as a store of one group and its arrays.
///
/// # Errors
/// [`Error::NoStore`] if there is no such file; [`Error::Format`] with a [`NetcdfFault`] if it is no netCDF-3 file, or damaged; and the
/// errors of the store below.
pub fn open(store: Arc<dyn Store>, key: Key) -> Result<VirtualStore> {
    open_with(store, key, &NetcdfOptions::default())
}

/// As [`open`], with other bounds.
///
/// # Errors
/// As [`open`]; a longer header is an [`Error::Format`] of kind [`Limit`](zarr_store::ErrorKind::Limit).
pub fn open_with(store: Arc<dyn Store>, key: Key, options: &NetcdfOptions) -> Result<VirtualStore> {
    let name = options.name.clone().unwrap_or_else(|| {
        let below = store.to_string();
        format!("{below}{}{key}", if below.ends_with(['/', ':']) { "" } else { "/" })
    });
    let file = read(&*store, &key, &name, options)?;
    build(store, key, &name, file)
}

/// A file whose header was read.
struct File {
    header: Header,
    size: u64,
    state: Option<Snapshot>,
}

/// Reads the header, twice as many bytes each time, until it is whole.
fn read(store: &dyn Store, key: &Key, name: &str, options: &NetcdfOptions) -> Result<File> {
    let (mut state, mut len) = (GetOptions::snapshot(), FIRST);
    loop {
        let ranges = [ByteRange::First(len)];
        let fetched = match store.get(key, &ranges, &state) {
            // The snapshot is of the first get, and the file has another state by now.
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
        // A name with a slash, or `..`, is none in Zarr.
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
        // A chunk has a byte at least, and lists give a key for each.
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
