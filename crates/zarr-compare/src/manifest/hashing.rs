//! Checksums of values, which are read within a bound of memory.

use md5::{Digest, Md5};
use sha2::Sha256;
use zarr_hierarchy::{Error, ErrorKind, Result, in_store};
use zarr_store::{ByteRange, GetOptions, Key, Store, StoreExt, StoreKind};

use super::shares::Shares;
use super::{ManifestEntry, ManifestForm};

/// Number of bytes of a value that are read at once where a store reads parts as cheaply as the whole.
const PIECE: u64 = 8 << 20;

/// Least memory that is used, in bytes.
pub(super) const LEAST: u64 = 64 << 10;

/// Hash function of a form.
enum Hasher {
    Sha256(Box<Sha256>),
    Md5(Box<Md5>),
}

impl Hasher {
    fn new(form: ManifestForm) -> Self {
        match form {
            ManifestForm::Sha256sum => Self::Sha256(Box::default()),
            ManifestForm::Dandi => Self::Md5(Box::default()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Md5(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self) -> String {
        match self {
            Self::Sha256(hasher) => hexadecimal(&hasher.finalize()),
            Self::Md5(hasher) => hexadecimal(&hasher.finalize()),
        }
    }
}

/// Returns the MD5 of a text in hexadecimal digits.
pub(super) fn md5_of(text: &str) -> String {
    hexadecimal(&Md5::digest(text.as_bytes()))
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Values of a store of which checksums are computed.
pub(super) struct Values<'a> {
    store: &'a dyn Store,
    form: ManifestForm,
    /// Number of bytes of a value that are read at once where a store reads parts as cheaply as the whole.
    piece: u64,
    /// Number of bytes of a value that are read at once at most.
    most: u64,
    /// Whether parts of a value cost no more than the whole.
    has_cheap_parts: bool,
    shares: Shares,
}

impl<'a> Values<'a> {
    /// Values of `store`, of which at most `memory` bytes are held at the same time.
    pub(super) fn new(store: &'a dyn Store, form: ManifestForm, memory: u64) -> Self {
        let most = memory.max(LEAST);
        // Archives may decode the whole value for each part, databases may hash it, and services take a request. Directories, which have a
        // parent, and memory do none of that.
        let has_cheap_parts = store.access_profile().kind == StoreKind::Memory || store.parent().is_some();
        Self { store, form, piece: most.min(PIECE), most, has_cheap_parts, shares: Shares::new(most) }
    }

    /// Returns the checksum of the value at `key`; `None` if there is none. Calls `done` with the number of bytes that were read. `size` is
    /// the size of the value as far as it is known. All bytes are of one state of the value if the store names states or gives the value
    /// at once.
    pub(super) fn checksum(
        &self,
        key: &Key,
        mut size: Option<u64>,
        done: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<ManifestEntry>> {
        if size.is_none_or(|size| size <= self.piece) {
            let _share = self.shares.take(size.unwrap_or(self.piece));
            // No state is asked for: some stores hash the whole value to name it.
            let first = self.store.get(key, &[ByteRange::First(self.piece)], &GetOptions::default())?;
            let Some(first) = first else { return Ok(None) };
            let bytes = first.part(0);
            let len = bytes.len() as u64;
            if len < self.piece || first.size == Some(len) {
                return self.of_whole(bytes, done).map(Some);
            }
            size = first.size;
        }
        match size {
            Some(size) if self.has_cheap_parts || size > self.most => self.in_pieces(key, done),
            size => self.at_once(key, size, done),
        }
    }

    fn of_whole(&self, bytes: &[u8], done: &dyn Fn(u64) -> Result<()>) -> Result<ManifestEntry> {
        let mut hasher = Hasher::new(self.form);
        hasher.update(bytes);
        let size = bytes.len() as u64;
        done(size)?;
        Ok(ManifestEntry { checksum: hasher.finish(), size: Some(size) })
    }

    /// Reads a value by one get.
    fn at_once(&self, key: &Key, size: Option<u64>, done: &dyn Fn(u64) -> Result<()>) -> Result<Option<ManifestEntry>> {
        let _share = self.shares.take(size.unwrap_or(self.most));
        let found = self.store.get(key, &[ByteRange::Full], &GetOptions::default().expecting(size))?;
        found.map(|found| self.of_whole(found.part(0), done)).transpose()
    }

    /// Reads a value by one get for each piece.
    fn in_pieces(&self, key: &Key, done: &dyn Fn(u64) -> Result<()>) -> Result<Option<ManifestEntry>> {
        let piece = if self.has_cheap_parts { self.piece } else { self.most };
        let share = self.shares.take(piece);
        let first = self.store.get(key, &[ByteRange::First(piece)], &GetOptions::snapshot())?;
        let Some(first) = first else { return Ok(None) };
        let (mut at, state) = (first.part(0).len() as u64, first.snapshot.clone());
        let Some(size) = first.size.or((at < piece).then_some(at)) else {
            drop((first, share));
            return self.at_once(key, None, done);
        };
        let mut hasher = Hasher::new(self.form);
        hasher.update(first.part(0));
        drop(first);
        done(at)?;
        let options = GetOptions::if_match(state);
        while at < size {
            let end = size.min(at.saturating_add(piece));
            let found = self.store.get(key, &[ByteRange::Range(at..end)], &options)?;
            let Some(found) = found else { return Err(gone(self.store, key)) };
            hasher.update(found.part(0));
            drop(found);
            done(end - at)?;
            at = end;
        }
        Ok(Some(ManifestEntry { checksum: hasher.finish(), size: Some(size) }))
    }
}

/// Returns the error of a value that was erased after it was found.
pub(super) fn gone(store: &dyn Store, key: &Key) -> Error {
    let error = Error::new(ErrorKind::Conflict, "found no value, expected the one that was there before");
    let error = error.with_hint("was it erased meanwhile?").at(|location| location.key = Some(key.to_string()));
    in_store(store, error)
}
