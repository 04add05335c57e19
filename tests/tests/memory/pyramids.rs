//! Pyramids stay within their memory, whatever the size of the array, the method and the shapes of chunks are.

use super::{Taken, taken, turn};
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr::convert::{Method, Pyramid, PyramidOptions};
use zarr::meta::NodePath;
use zarr::store::{FilesystemStore, Key, MemoryStore, StoreExt};
use zarr::{NewArray, Options, Store};

/// Computes three levels of an array of `chunks` chunks along both axes, of which each has `side` numbers along both, and returns the memory
/// that it took. All chunks of the array have the same elements.
fn take_levels((chunks, side): (u64, u64), layout: Layout, method: Method, memory: u64) -> Taken {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let new = NewArray::new(&[chunks * side; 2], "uint16").chunks(&[side; 2]).codecs("zstd(1)").unwrap();
    let array = zarr::create((&store, "/0")).array(new).unwrap();
    let elements: Vec<u16> = (0..side * side).map(|at| (at * 40_503 % 65_521) as u16).collect();
    array.write((0..side, 0..side), &elements).unwrap();
    let chunk = store.get_all(&Key::new("0/c/0/0").unwrap()).unwrap().unwrap();
    for number in 1..chunks * chunks {
        let key = format!("0/c/{}/{}", number / chunks, number % chunks);
        store.set_all(&Key::new(&key).unwrap(), &chunk).unwrap();
    }
    let array = array.with(Options::default().threads(NonZeroUsize::new(2))).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let target: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path().join("t")).unwrap());
    let options = PyramidOptions::default().levels(3).memory(memory << 20).method(method);
    let options = options.options(Options::default().threads(NonZeroUsize::new(2)));
    let options = match layout {
        Layout::OfSource => options,
        Layout::Chunks(side) => options.chunks(vec![side; 2]),
    };
    let pyramid = Pyramid::plan(&array, Some((&target, NodePath::root())), options).unwrap();
    let (ran, taken) = taken(|| pyramid.run(|_| {}));
    ran.unwrap();
    println!("{method}, {} MiB by {memory}: {} KiB", (chunks * side).pow(2) >> 19, taken.peak >> 10);
    taken
}

/// Chunks of levels.
#[derive(Clone, Copy)]
enum Layout {
    /// The chunks of the array.
    OfSource,
    /// Others, which have few bounds in common with those of the array.
    Chunks(u64),
}

#[test]
fn pyramids_stay_within_their_memory() {
    let _turn = turn();
    // 72 MiB of elements, in 24 MiB.
    let size = (12, 512);
    for method in [Method::Mean, Method::Median, Method::Mode] {
        for layout in [Layout::OfSource, Layout::Chunks(384)] {
            let taken = take_levels(size, layout, method, 24);
            assert!(taken.peak <= 24 << 20, "{method}: {taken:?}");
        }
    }
}

/// As above, with what is promised: `cargo test -p zarr-tests --test memory -- --ignored --nocapture pyramids`.
#[test]
#[ignore = "elements of 2 GiB for each method"]
fn pyramids_of_2_gib_stay_within_256_mib() {
    let _turn = turn();
    for method in [Method::Mean, Method::Median, Method::Mode] {
        for layout in [Layout::OfSource, Layout::Chunks(1536)] {
            let taken = take_levels((16, 2048), layout, method, 256);
            assert!(taken.peak <= 256 << 20, "{method}: {taken:?}");
        }
    }
}
