//! Leftovers on the disk of writers that were killed while they replaced a node.

use crate::replaced::{prepare, stores, verbs};
use std::ops::ControlFlow::{Break, Continue};
use std::path::Path;
use std::sync::Arc;
use zarr::Dialect;
use zarr::hierarchy::{erase_node, open_node, walk};
use zarr::store::{Call, Error, FilesystemStore, MemoryStore, Operation, Store};
use zarr_store::testing::Intercepted;

/// Bytes in all files of a directory, whether they are values or not.
fn bytes_on_disk(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).map(|entries| entries.map(Result::unwrap).collect::<Vec<_>>());
    entries.unwrap_or_default().iter().fold(0, |all, entry| {
        let is_directory = entry.file_type().unwrap().is_dir();
        all + if is_directory { bytes_on_disk(&entry.path()) } else { entry.metadata().unwrap().len() }
    })
}

/// Writers that are killed while they erase leave directories that no listing shows, some of them in one another.
#[test]
fn what_a_killed_writer_has_left_of_an_old_node_goes_with_the_next_overwrite_and_with_the_node() {
    let places = [
        "g/.zreplacement/a/.0123456789abcdef0123456789abcdef.zarr-tmp",
        "g/.zreplacement/.0123456789abcdef0123456789abcde0.zarr-tmp/1",
    ];
    let chosen = [&places[..1], &places[1..], &places[..]];
    for (name, verb) in verbs() {
        for places in chosen {
            let [_, (store, kept)] = stores();
            let folder = kept.as_ref().unwrap().path();
            prepare(&store, Dialect::V3);
            verb(&store, false).unwrap();
            let before = bytes_on_disk(folder);
            let leave = || {
                for place in places {
                    std::fs::create_dir_all(folder.join(place).join("c")).unwrap();
                    std::fs::write(folder.join(place).join("c/0"), [0; 1000]).unwrap();
                }
                // Stores look again after a while.
                let fresh: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder).unwrap());
                fresh
            };
            let store = leave();
            assert_eq!(bytes_on_disk(folder), before + 1000 * places.len() as u64);
            let nodes = walk(&*store, "/", None).unwrap().nodes;
            let usage = zarr::stats::Usage::of(&*store, &nodes, &zarr::registry::default()).unwrap();
            let stored: u64 = usage.nodes.iter().map(zarr::stats::NodeUsage::stored).sum();
            assert_eq!(stored + usage.outside, bytes_on_disk(folder), "{name} {places:?}");
            verb(&store, false).unwrap();
            assert_eq!(bytes_on_disk(folder), before, "{name} {places:?}");

            let store = leave();
            erase_node(&*store, &open_node(&*store, "/g/a", None).unwrap()).unwrap();
            assert!(!folder.join("g/.zreplacement").exists() && !folder.join("g/a").exists(), "{name} {places:?}");

            verb(&store, false).unwrap();
            let store = leave();
            erase_node(&*store, &open_node(&*store, "/", None).unwrap()).unwrap();
            assert_eq!(bytes_on_disk(folder), 0, "{name} {places:?}");
        }
    }
}

/// A store in which leftovers cannot be removed, as those of another user.
fn stuck() -> Arc<dyn Store> {
    Arc::new(Intercepted::new(MemoryStore::new(), |store, call| match call {
        Call::Leftovers { prefix, .. } => {
            Err(Error::io(&store, Operation::Erase, prefix.as_str(), std::io::Error::other("not permitted")))
        }
        Call::ErasePrefix { .. } | Call::RenamePrefix { .. } | Call::ExchangePrefixes { .. } => {
            store.call(call).map(Break)
        }
        _ => Ok(Continue(call)),
    }))
}

#[test]
fn a_leftover_that_cannot_be_removed_keeps_no_node_from_being_replaced() {
    for (name, verb) in verbs() {
        let store = stuck();
        prepare(&store, Dialect::V3);
        verb(&store, false).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
