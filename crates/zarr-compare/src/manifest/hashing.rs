//! Checksums of values, which are read piece by piece.

use md5::{Digest, Md5};
use sha2::Sha256;
use zarr_hierarchy::{Error, Result, in_store};
use zarr_store::{ByteRange, GetOptions, Key, Store, StoreExt};

use super::{ManifestEntry, ManifestForm};

/// Number of bytes of a value that are read at once.
const PIECE: u64 = 8 << 20;

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

/// Returns the checksum of the value at `key`; `None` if there is none. Calls `done` with the number of bytes that were read. All pieces are
/// of one state of the value if the store names states.
pub(super) fn checksum(
    store: &dyn Store,
    key: &Key,
    form: ManifestForm,
    done: &dyn Fn(u64) -> Result<()>,
) -> Result<Option<ManifestEntry>> {
    let of_key = |error: zarr_store::Error| Error::from(error);
    let first = store.get(key, &[ByteRange::First(PIECE)], &GetOptions::snapshot()).map_err(of_key)?;
    let Some(first) = first else { return Ok(None) };
    let mut hasher = Hasher::new(form);
    let (mut at, state) = (first.part(0).len() as u64, first.snapshot.clone());
    let size = first.size.unwrap_or(at);
    hasher.update(first.part(0));
    done(at)?;
    drop(first);
    while at < size {
        let range = at..size.min(at.saturating_add(PIECE));
        let options = GetOptions::if_match(state.clone());
        let piece = store.get(key, &[ByteRange::Range(range.clone())], &options).map_err(of_key)?;
        let bytes = piece.as_ref().map(|piece| piece.part(0)).unwrap_or_default();
        if bytes.len() as u64 != range.end - range.start {
            let message =
                format!("found {} bytes at {}, expected bytes {at}..{} of the value", bytes.len(), at, range.end);
            let error = Error::new(zarr_hierarchy::ErrorKind::Conflict, message).with_hint("was it changed meanwhile?");
            let error = error.at(|location| location.key = Some(key.to_string()));
            return Err(in_store(store, error));
        }
        hasher.update(bytes);
        done(bytes.len() as u64)?;
        at = range.end;
    }
    Ok(Some(ManifestEntry { checksum: hasher.finish(), size: Some(size) }))
}
