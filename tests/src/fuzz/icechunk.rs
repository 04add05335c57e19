//! Icechunk repositories: opened, listed, and every array read that is not large. An input has the files of a repository, not compressed.

use std::path::Path;
use std::sync::Arc;

use zarr::store::{Key, MemoryStore, Store, StoreExt};
use zarr_icechunk::{IcechunkOptions, IcechunkStore, Revision, history};

use super::files::Files;
use super::hdf5::read;
use crate::random::Random;
use crate::{Fault, mutate};

/// File outside of the repositories of the fixtures, and where they say that it lies.
const OUTSIDE: &[u8] = include_bytes!("../../../crates/zarr-icechunk/tests/outside.bin");
const FOLDER: &str = "file:///tmp/zarr-icechunk/";

/// Number of bytes before the content of a file, of which the last one says how it is compressed.
const HEADER: usize = 39;

/// Greatest number of values that are read one by one.
const MAX_VALUES: usize = 1000;

/// Greatest number of commits that the history of an input has.
const MAX_COMMITS: usize = 100;

pub(super) fn run(input: &[u8]) -> bool {
    let repository = Files::parse(input).store();
    let _ = history(Arc::clone(&repository), &Revision::default(), MAX_COMMITS);
    let files = Arc::new(MemoryStore::new());
    files.set_all(&Key::new("outside.bin").expect("a key"), OUTSIDE).expect("memory takes values");
    let options = IcechunkOptions::default().allow(&format!("{FOLDER},mine={FOLDER}")).expect("URLs");
    let options = options.open_files(Arc::new(move |url| {
        let name = url.strip_prefix(FOLDER).expect("an allowed URL");
        Ok((Arc::clone(&files) as Arc<dyn Store>, Key::new(name)?))
    }));
    let Ok(store) = IcechunkStore::open(repository, options) else { return false };
    let store: Arc<dyn Store> = Arc::new(store);
    // Documents are those of the repository, which may be any text.
    if zarr::hierarchy::walk(&*store, "/", None).is_ok_and(|walk| walk.broken.is_empty()) {
        return read(store);
    }
    for key in store.list().unwrap_or_default().iter().take(MAX_VALUES) {
        let _ = store.get_all(key);
    }
    false
}

/// Returns the repositories of the fixtures, each without the files that only writers need.
pub(super) fn seeds() -> Result<Vec<Vec<u8>>, Fault> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/zarr-icechunk/tests");
    let mut seeds = Vec::new();
    for name in ["v1.zip", "v2.zip"] {
        let fault = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        let archive = zarr::store::open(&folder.join(name).to_string_lossy()).map_err(|error| fault(&error))?;
        let mut files = Files::default();
        for key in archive.list().map_err(|error| fault(&error))? {
            if key.as_str().starts_with("overwritten/") || key.as_str().starts_with("transactions/") {
                continue;
            }
            let value = archive.get_all(&key).map_err(|error| fault(&error))?.unwrap_or_default();
            files.values.push((key.as_str().to_owned(), plain(&value).map_err(|error| fault(&error))?));
        }
        seeds.push(files.to_bytes());
    }
    Ok(seeds)
}

/// Returns a file without its compression, so that a mutation reaches the content.
fn plain(file: &[u8]) -> std::io::Result<Vec<u8>> {
    match file.split_at_checked(HEADER) {
        Some((header, content)) if header.starts_with(b"ICE\xF0") && header.ends_with(&[1]) => {
            Ok([&header[..HEADER - 1], &[0], &zstd::stream::decode_all(content)?].concat())
        }
        _ => Ok(file.to_vec()),
    }
}

/// Changes files of metadata: any bytes, or an offset or a length of a FlatBuffer.
pub(super) fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    let mut files = Files::parse(input);
    for _ in 0..=random.below(2) {
        let mut metadata: Vec<_> = files.values.iter_mut().filter(|(key, _)| !key.starts_with("chunks/")).collect();
        let at = random.below(metadata.len());
        let Some((_, value)) = metadata.get_mut(at) else { break };
        if random.below(2) == 0 {
            *value = mutate::bytes(random, value);
            continue;
        }
        let len = u32::try_from(value.len()).unwrap_or(u32::MAX);
        let numbers = [0, 1, 4, len, u32::MAX, i32::MAX as u32, random.below(value.len()) as u32];
        // Offsets stand at multiples of four of the content.
        let place = HEADER + random.below(value.len().saturating_sub(HEADER)) / 4 * 4;
        if let (Some(four), Some(number)) = (value.get_mut(place..place + 4), random.pick(&numbers)) {
            four.copy_from_slice(&number.to_le_bytes());
        }
    }
    files.to_bytes()
}
