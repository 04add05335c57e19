//! HDF5 files: they are opened and listed, and every array is read.

use super::mutated_bytes;
use crate::Fault;
use crate::fixtures::cases;
use crate::random::Random;
use std::sync::Arc;
use zarr::store::{Key, MemoryStore, Store, StoreExt};
use zarr_array::{Array, Options};
use zarr_grid::Selection;

/// Greatest number of elements of an array that is read: a large shape costs nothing in the file.
const MAX_ELEMENTS: u128 = 1 << 16;

pub(super) fn run(input: &[u8]) -> bool {
    let (below, key) = (MemoryStore::new(), Key::new("x.h5").expect("a key"));
    below.set_all(&key, input).expect("memory takes values");
    let Ok(store) = zarr_hdf5::open(Arc::new(below), key, "x.h5") else { return false };
    read(Arc::new(store))
}

/// Walks a store that represents a file of another format, and reads each array that is not large. Returns whether everything is valid.
pub(super) fn read(store: Arc<dyn Store>) -> bool {
    let was_left_out = !store.take_warnings().is_empty();
    let walk = zarr::hierarchy::walk(&*store, "/", None).expect("documents that were made here");
    if let Some(broken) = walk.broken.first() {
        // A file may have types, codecs and fill values that no array has, but its documents are sound.
        assert!(!broken.to_string().contains("JSON"), "{broken}");
    }
    let mut all = !was_left_out && walk.broken.is_empty();
    for node in walk.nodes.iter().filter(|node| node.node.as_array().is_some()) {
        let opened = Array::from_found(&store, node.clone(), &zarr::registry::default(), Options::default());
        let read = opened.and_then(|array| {
            let elements = array.shape().iter().map(|len| u128::from(*len)).try_fold(1, u128::checked_mul);
            if elements.is_none_or(|elements| elements > MAX_ELEMENTS) {
                return Ok(());
            }
            array.read_data(Selection::all()).map(drop)
        });
        all &= read.is_ok();
    }
    all
}

pub(super) fn seeds() -> Result<Vec<Vec<u8>>, Fault> {
    let mut files = Vec::new();
    for case in cases("hdf5")? {
        if let Some((_, name)) = &case.expected.file {
            files.push(case.file(name)?);
        }
    }
    // Large ones have no further parts, and take longer.
    files.retain(|file| file.len() < 64 << 10);
    Ok(files)
}

pub(super) fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    mutated_bytes(random, input)
}
