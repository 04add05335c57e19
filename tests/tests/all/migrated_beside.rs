//! Migrations beside others who erase, move or replace nodes, and began before the migration.

use crate::interrupted::{OLD, create, is_whole, open};
use crate::interrupted_move::beside;
use std::sync::{Arc, Mutex};
use zarr::store::{FilesystemStore, Store};
use zarr::{Dialect, ErrorKind, NewGroup};
use zarr_convert::{Migration, MigrationState};

fn erase(store: &Arc<dyn Store>, path: &str) -> zarr::Result<()> {
    zarr::hierarchy::erase_node(&**store, &zarr::hierarchy::open_node(&**store, path, None)?)
}

/// A change of `/g` by others: its name, the change, and the path of the array `/g/a` then.
type Others = (&'static str, fn(&Arc<dyn Store>, Dialect) -> zarr::Result<()>, Option<&'static str>);

const OTHERS: [Others; 4] = [
    ("rm of the array", |store, _| erase(store, "/g/a"), None),
    ("rm of the group", |store, _| erase(store, "/g"), None),
    (
        "create --overwrite",
        |store, dialect| {
            let new = NewGroup::default().dialect(dialect).overwrite(true);
            zarr::create((store, "/g")).group(new).map(drop)
        },
        None,
    ),
    (
        "mv",
        |store, _| zarr::convert::Transfer::of(store, "/g").to("/k").move_all(&zarr::registry::default()),
        Some("/k/a"),
    ),
];

/// Migrates again what was not done, and finishes. Undoes what cannot be: a node that was moved may have new documents already.
fn settle(store: &Arc<dyn Store>, to: Dialect) -> zarr::Result<()> {
    if Migration::state(store)? == Some(MigrationState::Running) {
        let again = Migration::plan(store, &zarr::registry::default(), to).and_then(|plan| plan.run(|_| {}));
        if again.is_err() {
            return Migration::undo(store, None).or_else(|_| Migration::undo_with_changes(store, None));
        }
    }
    Migration::finish(store, None).or_else(|_| Migration::undo(store, None))
}

#[test]
fn a_migration_leaves_nothing_of_a_node_that_others_take_away() {
    for (from, to) in [(Dialect::V2, Dialect::V3), (Dialect::V3, Dialect::V2)] {
        for (name, others, place) in OTHERS {
            let mut refused = 0;
            for left in 0.. {
                let folder = tempfile::tempdir().unwrap();
                let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(folder.path()).unwrap());
                zarr::create((&store, "/")).group(NewGroup::default().dialect(from)).unwrap();
                create(&store, "/g/a", from, &OLD).unwrap();
                create(&store, "/b", from, &OLD).unwrap();
                let (inner, is_done) = (Arc::clone(&store), Arc::new(Mutex::new(None)));
                let told = Arc::clone(&is_done);
                let others = move || {
                    *told.lock().unwrap() = Some(others(&inner, from));
                };
                let beside = beside(&store, left, true, others);
                let plan = Migration::plan(&beside, &zarr::registry::default(), to).unwrap();
                let done = plan.run(|_| {});
                let at = format!("{from} to {to}, {name} after {left} calls: {done:?}");
                match is_done.lock().unwrap().take() {
                    None => {
                        assert!(done.is_ok() && left > 3, "{at}");
                        break;
                    }
                    // The new hierarchy is in the way.
                    Some(Err(error)) => {
                        assert!(done.is_ok() && error.kind() == ErrorKind::Argument, "{at}: {error}");
                        continue;
                    }
                    Some(Ok(())) => {}
                }
                refused += u64::from(done.is_err());
                settle(&store, to).unwrap_or_else(|error| panic!("{at}: {error}"));
                assert!(Migration::state(&store).unwrap().is_none() && is_whole(&store, "/b"), "{at}");
                match place {
                    Some(place) => assert!(is_whole(&store, place), "{at}"),
                    None => assert!(open(&store, "/g/a").is_none(), "{at}"),
                }
                if name == "rm of the group" {
                    assert!(zarr::hierarchy::open_node(&*store, "/g", None).is_err(), "{at}");
                }
            }
            assert!(refused > 0, "{from} to {to}, {name}");
        }
    }
}
