//! Writing of references: as JSON of kerchunk in version 1, and the parts that all forms of references share.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zarr_json::Value;
use zarr_store::{ByteRange, Bytes, Error, ErrorKind, Fetched, GetOptions, Key, StoreExt};
use zarr_store_virtual::{Chunk, SourceFile, SourceId, VirtualArray, VirtualStore};

/// Function that returns the address by which references name a file.
type Address<'a> = dyn Fn(&SourceFile<'_>) -> Result<String, Error> + 'a;

/// Options of writing references: which chunks the references contain, and how they name files.
pub struct WriteOptions<'a> {
    /// Size in bytes up to which chunks are written into the references: 500 by default, as in kerchunk.
    pub inline: u64,
    /// Maximum number of bytes of all chunks in the references: 256 MiB by default.
    pub max_inline: u64,
    /// Prefixes of the arrays whose chunks are all written into the references; a prefix is the path with a slash at its end.
    pub inline_arrays: Vec<String>,
    address: Box<Address<'a>>,
}

impl<'a> WriteOptions<'a> {
    /// Creates default options with a function that returns the address of a file.
    pub fn new(address: impl Fn(&SourceFile<'_>) -> Result<String, Error> + 'a) -> Self {
        Self { inline: 500, max_inline: 256 << 20, inline_arrays: Vec::new(), address: Box::new(address) }
    }
}

impl fmt::Debug for WriteOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteOptions")
            .field("inline", &self.inline)
            .field("max_inline", &self.max_inline)
            .field("inline_arrays", &self.inline_arrays)
            .finish_non_exhaustive()
    }
}

/// Numbers of chunks in written references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenReferences {
    /// Number of chunks that are ranges of files, or whole files.
    pub in_files: u64,
    /// Number of chunks that the references contain.
    pub inline: u64,
    /// Number of bytes of the chunks that the references contain.
    pub inline_bytes: u64,
}

/// Fault of a store of which no references can be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFault {
    /// The chunks that the references contain are larger together than the limit.
    #[error(
        "key {key}: found {size} bytes of chunks that lie in no file as they are, expected at most {limit}, which is the limit of what references have in themselves"
    )]
    TooMuch {
        /// Key of the chunk with which the limit is exceeded.
        key: Key,
        /// Number of bytes of the chunks in the references, with this chunk.
        size: u64,
        /// Maximum number of bytes.
        limit: u64,
    },
    /// The address of a file cannot be written, since it has another meaning in references.
    #[error("key {key}: lies in {address}, and references cannot name a file of this address: {reason}")]
    Address {
        /// Key of a chunk in the file.
        key: Key,
        /// Address of the file.
        address: String,
        /// Reason why references cannot name the address.
        reason: &'static str,
    },
    /// A document is not UTF-8.
    #[error("key {key}: found a document that is no text")]
    Document {
        /// Key of the document.
        key: Key,
    },
}

impl WriteFault {
    /// Makes an [`Error`] from the fault, in the store named `store`.
    #[must_use]
    pub fn of(self, store: impl Into<String>) -> Error {
        let kind = match self {
            Self::TooMuch { .. } => ErrorKind::Limit,
            Self::Address { .. } | Self::Document { .. } => ErrorKind::Invalid,
        };
        Error::Format { store: store.into(), kind, fault: Box::new(self) }
    }
}

/// Place of a chunk as references describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Bytes of the chunk, which are in the references.
    Inline(Bytes),
    /// A whole file, or a range of a file.
    Target {
        /// Address of the file.
        url: String,
        /// Offset and length in bytes; `None` for the whole file.
        range: Option<(u64, u64)>,
    },
}

impl Reference {
    /// Creates the reference of a whole file.
    pub fn file(url: impl Into<String>) -> Self {
        Self::Target { url: url.into(), range: None }
    }

    /// Creates the reference of `length` bytes of a file that begin at `offset`.
    pub fn range(url: impl Into<String>, offset: u64, length: u64) -> Self {
        Self::Target { url: url.into(), range: Some((offset, length)) }
    }
}

/// Maker of the references of a store, for all forms in which references are written.
pub struct References<'a> {
    store: &'a VirtualStore,
    options: &'a WriteOptions<'a>,
    addresses: HashMap<SourceId, String>,
    written: WrittenReferences,
}

impl<'a> References<'a> {
    /// Creates a maker of the references of `store`.
    #[must_use]
    pub fn new(store: &'a VirtualStore, options: &'a WriteOptions<'a>) -> Self {
        Self { store, options, addresses: HashMap::new(), written: WrittenReferences::default() }
    }

    /// Returns the reference of the chunk `index` of `array`; `None` if the chunk is missing.
    ///
    /// # Errors
    /// [`Error::Format`] with a [`WriteFault`] if the chunk cannot be written as a reference, and the errors of reading a chunk that the
    /// references contain.
    pub fn of(&mut self, array: VirtualArray<'_>, index: u64) -> Result<Option<Reference>, Error> {
        let chunk = array.table().get(index);
        let (source, range) = match chunk {
            Chunk::Missing => return Ok(None),
            Chunk::Range { source, offset, length } => (source, Some((offset, length))),
            Chunk::Whole { source } => (source, None),
            Chunk::Inline(_) | Chunk::Made(_) => return self.inline(array, index).map(Some),
        };
        let is_small = range.is_some_and(|(_, length)| length <= self.options.inline);
        if is_small || self.options.inline_arrays.iter().any(|prefix| prefix == array.prefix()) {
            return self.inline(array, index).map(Some);
        }
        self.written.in_files += 1;
        Ok(Some(Reference::Target { url: self.address(array, index, source)?, range }))
    }

    /// Returns the numbers of the references that were made so far.
    #[must_use]
    pub fn written(&self) -> WrittenReferences {
        self.written
    }

    fn address(&mut self, array: VirtualArray<'_>, index: u64, source: SourceId) -> Result<String, Error> {
        if let Some(address) = self.addresses.get(&source) {
            return Ok(address.clone());
        }
        let refuse = |address: &str, reason: &'static str| -> Result<String, Error> {
            let fault = WriteFault::Address { key: array.key(index)?, address: address.to_owned(), reason };
            Err(fault.of(self.store.to_string()))
        };
        let Some(file) = self.store.source(source) else { return refuse("no file", "there is none") };
        let address = (self.options.address)(&file)?;
        if address.contains("{{") {
            return refuse(&address, "`{{` begins a template");
        }
        if address.contains("::") {
            return refuse(&address, "`::` stands between two addresses");
        }
        self.addresses.insert(source, address.clone());
        Ok(address)
    }

    fn inline(&mut self, array: VirtualArray<'_>, index: u64) -> Result<Reference, Error> {
        let key = array.key(index)?;
        let limit = self.options.max_inline;
        let size = |size: u64| self.written.inline_bytes.saturating_add(size);
        let too_much = |size| WriteFault::TooMuch { key: key.clone(), size, limit }.of(self.store.to_string());
        if let Chunk::Range { length, .. } = array.table().get(index)
            && size(length) > limit
        {
            return Err(too_much(size(length)));
        }
        let (options, ranges) = (GetOptions::default(), [ByteRange::Full]);
        let fetched = StoreExt::get(self.store, &key, &ranges, &options)?;
        let fetched = Fetched::checked(self.store, &key, fetched, 1, &options)?;
        let bytes = fetched.map(Fetched::into_bytes).unwrap_or_default();
        let sum = size(bytes.len() as u64);
        if sum > limit {
            return Err(too_much(sum));
        }
        self.written.inline += 1;
        self.written.inline_bytes = sum;
        Ok(Reference::Inline(bytes))
    }
}

impl fmt::Debug for References<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("References").field("store", self.store).field("written", &self.written).finish_non_exhaustive()
    }
}

/// Writes references to the chunks of a store as JSON of version 1, together with its documents.
///
/// ```
/// use std::sync::Arc;
/// use zarr_references::{ReferencesOptions, WriteOptions, write_json};
/// use zarr_store::{Bytes, Key, MemoryStore, Prefix, StoreExt};
/// use zarr_store_virtual::{Chunk, ChunkKeyForm, ChunkTableBuilder, Separator, VirtualStore};
///
/// let files = Arc::new(MemoryStore::new());
/// files.set_all(&Key::new("x.bin")?, b"HEAD12345678")?;
/// let mut builder = VirtualStore::builder("x.bin");
/// let file = builder.source(files.clone(), Key::new("x.bin")?);
/// let mut table = ChunkTableBuilder::new(2);
/// table.set(0, Chunk::Range { source: file, offset: 4, length: 8 })?;
/// builder.chunks(Prefix::new("a/")?, ChunkKeyForm::V2(Separator::Dot), &[2], table.build()?);
/// builder.document(Key::new("a/.zarray")?, Bytes::from_static(br#"{"zarr_format": 2, "shape": [8], "chunks": [4]}"#));
/// let store = builder.build()?;
///
/// let mut json = Vec::new();
/// let mut options = WriteOptions::new(|file| Ok(file.key().to_string()));
/// options.inline = 0;
/// write_json(&store, &options, &mut json)?;
/// assert!(String::from_utf8_lossy(&json).ends_with("\"a/0\":[\"x.bin\",4,8]\n}}\n"));
///
/// files.set_all(&Key::new("refs.json")?, &json)?;
/// let again = zarr_references::open(files, Key::new("refs.json")?, &ReferencesOptions::default())?;
/// assert_eq!(again.get_all(&Key::new("a/0")?)?.as_deref(), Some(&b"12345678"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`WriteFault::Document`] if a document is not UTF-8, the errors of [`References::of`], and the errors of `out`.
pub fn write_json(
    store: &VirtualStore,
    options: &WriteOptions<'_>,
    out: &mut impl Write,
) -> Result<WrittenReferences, Error> {
    let failed = |error: std::io::Error| Error::io(&store.to_string(), zarr_store::Operation::Set, "", error);
    let mut references = References::new(store, options);
    let mut between = "{\"version\":1,\"refs\":{\n";
    for (key, document) in store.documents() {
        let text = std::str::from_utf8(document)
            .map_err(|_| WriteFault::Document { key: key.clone() }.of(store.to_string()))?;
        // A reader would decode a document that begins with `base64:`.
        let text = match text.starts_with("base64:") {
            true => inline(document),
            false => Value::from(text).to_string(),
        };
        write!(out, "{between}{}:{text}", Value::from(key.as_str())).map_err(failed)?;
        between = ",\n";
    }
    for array in store.arrays() {
        for index in array.table().stored() {
            let Some(reference) = references.of(array, index)? else { continue };
            let key = Value::from(array.key(index)?.as_str());
            let written = match reference {
                Reference::Inline(bytes) => write!(out, "{between}{key}:{}", inline(&bytes)),
                Reference::Target { url, range: None } => write!(out, "{between}{key}:[{}]", Value::from(url)),
                Reference::Target { url, range: Some((offset, length)) } => {
                    write!(out, "{between}{key}:[{},{offset},{length}]", Value::from(url))
                }
            };
            written.map_err(failed)?;
            between = ",\n";
        }
    }
    let empty = if between == ",\n" { "" } else { between };
    writeln!(out, "{empty}\n}}}}").map_err(failed)?;
    Ok(references.written())
}

fn inline(bytes: &[u8]) -> String {
    format!("\"base64:{}\"", STANDARD.encode(bytes))
}
