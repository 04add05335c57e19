//! Checksums of values, which are read within a bound of memory.

use std::ops::Range;

use md5::{Digest, Md5};
use sha2::Sha256;
use zarr_hierarchy::{Error, ErrorKind, Result, in_store};
use zarr_store::{ByteRange, GetOptions, Key, Snapshot, Store, StoreExt, StoreKind};

use super::shares::Shares;
use super::{ManifestEntry, ManifestForm};
use crate::hash::Hexadecimal;

/// Number of bytes of a value that are read first, and by each get of a local store whose parts are cheap.
const PIECE: u64 = 8 << 20;

/// Number of bytes of a value that are read by each get of a remote store, between two reports of progress.
const REMOTE_STEP: u64 = 64 << 20;

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
            Self::Sha256(hasher) => Hexadecimal(&hasher.finalize()).to_string(),
            Self::Md5(hasher) => Hexadecimal(&hasher.finalize()).to_string(),
        }
    }
}

/// Values of a store of which checksums are computed.
pub(super) struct Values<'a> {
    store: &'a dyn Store,
    form: ManifestForm,
    /// Number of bytes of a value that are read first, before its size is known.
    piece: u64,
    /// Greatest number of bytes of a value that are read by one get.
    step: u64,
    /// Number of bytes that are held at the same time.
    most: u64,
    shares: Shares,
}

impl<'a> Values<'a> {
    /// Values of `store`, of which at most `memory` bytes are held at the same time.
    pub(super) fn new(store: &'a dyn Store, form: ManifestForm, memory: u64) -> Self {
        let most = memory.max(LEAST);
        let profile = store.access_profile();
        let step = match profile.kind {
            // Some archives decode, and some databases hash, the whole value for each part of it.
            _ if !profile.cheap_parts => most,
            StoreKind::Remote => most.min(REMOTE_STEP),
            StoreKind::Memory | StoreKind::Local => most.min(PIECE),
        };
        Self { store, form, piece: most.min(PIECE), step, most, shares: Shares::new(most) }
    }

    /// Returns the checksum of the value at `key`; `None` if there is none. Calls `done` with the number of bytes that were read. `size` is
    /// the size of the value as far as it is known. All bytes are of one state of the value if the store names states, or if the value fits
    /// into the memory.
    pub(super) fn checksum(
        &self,
        key: &Key,
        mut size: Option<u64>,
        done: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<ManifestEntry>> {
        if size.is_none_or(|size| size <= self.piece) {
            let share = self.shares.take(size.unwrap_or(self.piece));
            // No state is asked for: some stores hash the whole value to name it.
            let first = self.store.get(key, &[ByteRange::First(self.piece)], &GetOptions::default())?;
            let Some(first) = first else { return Ok(None) };
            let bytes = first.part(0);
            let len = bytes.len() as u64;
            if len < self.piece || first.size == Some(len) {
                return self.of_whole(bytes, done).map(Some);
            }
            size = first.size;
            if let (Some(size), Some(version)) = (first.size, first.version.clone()) {
                let mut hasher = Hasher::new(self.form);
                hasher.update(bytes);
                drop((first, share));
                done(len)?;
                return self.rest(
                    key,
                    hasher,
                    len..size,
                    &GetOptions::if_match(Some(Snapshot::of_version(version))),
                    done,
                );
            }
        }
        match size {
            Some(size) if size > self.step => self.in_pieces(key, done),
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
        let share = self.shares.take(self.step);
        let first = self.store.get(key, &[ByteRange::First(self.step)], &GetOptions::snapshot())?;
        let Some(first) = first else { return Ok(None) };
        let (at, state) = (first.part(0).len() as u64, first.snapshot.clone());
        let size = first.size.or((at < self.step).then_some(at));
        // Without a state, pieces could be of different ones.
        let Some(size) = size.filter(|size| state.is_some() || *size == at || *size > self.most) else {
            drop((first, share));
            return self.at_once(key, size, done);
        };
        let mut hasher = Hasher::new(self.form);
        hasher.update(first.part(0));
        drop((first, share));
        done(at)?;
        self.rest(key, hasher, at..size, &GetOptions::if_match(state), done)
    }

    /// Reads the `rest` of a value, whose beginning `hasher` has.
    fn rest(
        &self,
        key: &Key,
        mut hasher: Hasher,
        rest: Range<u64>,
        options: &GetOptions,
        done: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<ManifestEntry>> {
        let _share = self.shares.take(self.step.min(rest.end.saturating_sub(rest.start)));
        let mut at = rest.start;
        while at < rest.end {
            let end = rest.end.min(at.saturating_add(self.step));
            let found = self.store.get(key, &[ByteRange::Range(at..end)], options)?;
            let Some(found) = found else { return Err(gone(self.store, key)) };
            hasher.update(found.part(0));
            drop(found);
            done(end - at)?;
            at = end;
        }
        Ok(Some(ManifestEntry { checksum: hasher.finish(), size: Some(rest.end) }))
    }
}

/// Returns the error of a value that was erased after it was found.
pub(super) fn gone(store: &dyn Store, key: &Key) -> Error {
    let error = Error::new(ErrorKind::Conflict, "found no value, expected the one that was there before");
    let error = error.with_hint("was it erased meanwhile?").at(|location| location.key = Some(key.to_string()));
    in_store(store, error)
}
