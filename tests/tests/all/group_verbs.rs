//! Verbs of groups about the nodes below and their consolidated metadata, blocking and not.

use std::sync::Arc;
use zarr::prelude::*;
use zarr::store::{MemoryStore, SyncAsAsync, block_on};
use zarr::{AsyncGroup, AsyncStore, Dialect};

/// The verbs of a group in either form, as both have the same names.
enum Form {
    Blocking(Group),
    Async(AsyncGroup),
}

macro_rules! call {
    ($form:expr, $verb:ident($($argument:expr),*)) => {
        match $form {
            Form::Blocking(group) => group.$verb($($argument),*).unwrap(),
            Form::Async(group) => block_on(group.$verb($($argument),*)).unwrap(),
        }
    };
}

fn each(check: impl Fn(&Form, Dialect)) {
    for dialect in [Dialect::V2, Dialect::V3] {
        let store = Arc::new(MemoryStore::new());
        let blocking: Arc<dyn Store> = Arc::clone(&store) as _;
        let root = zarr::create(&blocking).group(NewGroup::default().dialect(dialect)).unwrap();
        root.create_array("g/a", NewArray::new(&[3], "int16")).unwrap();
        check(&Form::Blocking(zarr::open(&blocking).group().unwrap()), dialect);
        let waiting: Arc<dyn AsyncStore> = Arc::new(SyncAsAsync::new(blocking));
        check(&Form::Async(block_on(zarr::open(&waiting).group()).unwrap()), dialect);
    }
}

#[test]
fn groups_know_what_is_below() {
    each(|root, dialect| {
        for (name, is_there) in [("g", true), ("g/a", true), ("a", false), ("g/a/b", false)] {
            assert_eq!(call!(root, contains(name)), is_there, "{dialect} {name}");
        }
    });
}

#[test]
fn groups_consolidate_and_go_on_with_what_is_there() {
    each(|root, dialect| {
        assert!(call!(root, staleness()).is_none(), "{dialect}");
        assert_eq!(call!(root, consolidate()), 3, "{dialect}");
        assert!(!call!(root, staleness()).unwrap().is_stale(), "{dialect}");
        assert_eq!(call!(root, consolidated_walk()).nodes.len(), 3, "{dialect}");
        // A handle that has read the copies: they are gone with the change.
        call!(root, drop_consolidated());
        assert!(call!(root, staleness()).is_none(), "{dialect}");
        assert_eq!(call!(root, consolidated_walk()).nodes.len(), 3, "{dialect}");
        assert_eq!(call!(root, walk()).nodes.len(), 3, "{dialect}");
    });
}
