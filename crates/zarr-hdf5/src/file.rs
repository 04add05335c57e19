//! An open HDF5 file, and the errors of reading it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use hdf5_reader::error::Error as ReaderError;
use hdf5_reader::object_header::ObjectHeader;
use hdf5_reader::{Hdf5File, Storage};
use zarr_store::{Error, ErrorKind, Result};

use crate::chunk_indexes::{Entries, Metered};
use crate::fault::{Fault, Refusal, guarded};
use crate::heap::{Heaps, Reference, Sizes};
use crate::source::Source;

/// Maximum number of bytes of the attributes of a file. The attributes of an object count once for each path of the object.
pub(crate) const MAX_ATTRIBUTES: u64 = 256 << 20;
/// Maximum number of trial divisions in a file to find the shape of the chunks into which contiguous data is divided.
pub(crate) const MAX_DIVISIONS: u64 = 1 << 26;

/// An open HDF5 file, with caches of its blocks, object headers and heaps.
pub(crate) struct File {
    pub(crate) source: Arc<Source>,
    hdf5: Hdf5File,
    heaps: Heaps,
    /// Remaining number of trial divisions, out of [`MAX_DIVISIONS`].
    pub(crate) tries: Arc<AtomicU64>,
    /// Remaining number of bytes of attribute values, out of [`MAX_ATTRIBUTES`].
    pub(crate) values: Arc<AtomicU64>,
    pub(crate) entries: Entries,
}

impl File {
    pub(crate) fn open(source: Source) -> Result<Self> {
        let (tries, values) = (Arc::new(AtomicU64::new(MAX_DIVISIONS)), Arc::new(AtomicU64::new(MAX_ATTRIBUTES)));
        Self::with(source, tries, values, Entries::default())
    }

    /// Opens a file to which links of `first` lead, which shares its limits.
    pub(crate) fn beside(source: Source, first: &Self) -> Result<Self> {
        Self::with(source, Arc::clone(&first.tries), Arc::clone(&first.values), first.entries.clone())
    }

    fn with(source: Source, tries: Arc<AtomicU64>, values: Arc<AtomicU64>, entries: Entries) -> Result<Self> {
        let source = Arc::new(source);
        let storage: Arc<dyn Storage> = Arc::clone(&source) as Arc<dyn Storage>;
        let opened = guarded(|| Hdf5File::from_storage(storage));
        match opened {
            Ok(hdf5) => Ok(Self { source, hdf5, heaps: Heaps::default(), tries, values, entries }),
            Err(refusal) => Err(source.take_failure().unwrap_or_else(|| fault(&source, &refusal))),
        }
    }

    /// Returns the error that makes the whole file unreadable: that of the store if a read of this thread failed, else a format error with
    /// `refusal`.
    pub(crate) fn fault(&self, refusal: &Refusal) -> Error {
        self.source.take_failure().unwrap_or_else(|| fault(&self.source, refusal))
    }

    /// Returns the error of a file that exceeds a limit.
    pub(crate) fn limit(&self, message: String) -> Error {
        Error::Format { store: self.source.to_string(), kind: ErrorKind::Limit, fault: Box::new(Fault::new(message)) }
    }

    pub(crate) fn storage(&self) -> &dyn Storage {
        &*self.source
    }

    /// Returns the storage for chunk indexes and links: what is read of these is bounded.
    pub(crate) fn metered(&self) -> Metered<'_> {
        self.metered_as(u64::from(self.offset_size()) + u64::from(self.length_size()))
    }

    /// Returns the storage for chunk indexes and links whose entries have a number of bytes.
    pub(crate) fn metered_as(&self, entry: u64) -> Metered<'_> {
        self.entries.metered(self.storage(), entry)
    }

    pub(crate) fn offset_size(&self) -> u8 {
        self.hdf5.superblock().offset_size
    }

    pub(crate) fn length_size(&self) -> u8 {
        self.hdf5.superblock().length_size
    }

    pub(crate) fn sizes(&self) -> Sizes {
        Sizes { offset: self.offset_size(), length: self.length_size() }
    }

    /// Calls `take` with the bytes in the global heap of the element `reference`, whose inner elements have `size` bytes.
    pub(crate) fn element<T>(
        &self,
        reference: Reference,
        size: usize,
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Refusal> {
        self.heaps.with(self.storage(), self.sizes(), reference, size, take)
    }

    /// Returns whether `address` is the undefined address of HDF5.
    pub(crate) fn is_undefined(&self, address: u64) -> bool {
        hdf5_reader::io::Cursor::is_undefined_offset(address, self.offset_size())
    }

    /// Returns the address of the object header of the root group.
    pub(crate) fn root(&self) -> Result<u64, Refusal> {
        self.guard(|| self.hdf5.superblock().root_object_header_address())
    }

    /// Returns the parsed object header at `address`; fails if `hdf5_reader` cannot parse one of its messages.
    pub(crate) fn header(&self, address: u64) -> Result<Arc<ObjectHeader>, Refusal> {
        self.guard(|| self.hdf5.get_or_parse_header(address))
    }

    /// Calls `read`, a function of `hdf5_reader`, and converts its error, or its panic on hostile bytes, to a [`Refusal`].
    pub(crate) fn guard<T>(&self, read: impl FnOnce() -> Result<T, ReaderError>) -> Result<T, Refusal> {
        guarded(read)
    }
}

fn fault(source: &Source, refusal: &Refusal) -> Error {
    let fault = Box::new(Fault::new(refusal.to_string()));
    Error::Format { store: source.to_string(), kind: ErrorKind::Invalid, fault }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("source", &self.source).finish_non_exhaustive()
    }
}
