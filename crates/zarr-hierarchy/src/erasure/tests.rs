use super::*;
use crate::open_node;
use zarr_drive::{Job, Next, answer};
use zarr_meta::Dialect;
use zarr_store::{Key, MemoryStore, Reply, Request, StoreExt};

const BUCKET: Capabilities = Capabilities::none().write(true).list(true).suffix_ranges(true).conditional(true);

/// Creates a store with the array `/g/a` of twelve chunks in groups of `dialect`, and returns the store and the array.
fn array(dialect: Dialect) -> (MemoryStore, StoredNode) {
    let store = MemoryStore::new();
    let set =
        |key: &str, text: &str| drop(store.set_all(&Key::new(key).expect("a key"), text.as_bytes()).expect("set"));
    for group in ["", "g/"] {
        match dialect {
            Dialect::V2 => set(&format!("{group}.zgroup"), r#"{"zarr_format": 2}"#),
            _ => set(&format!("{group}zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#),
        }
    }
    match dialect {
        Dialect::V2 => set(
            "g/a/.zarray",
            r#"{"zarr_format": 2, "shape": [12], "chunks": [1], "dtype": "|i1", "compressor": null, "fill_value": 0,
                "order": "C", "filters": null}"#,
        ),
        _ => set(
            "g/a/zarr.json",
            r#"{"zarr_format": 3, "node_type": "array", "shape": [12], "data_type": "int8", "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
                "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes"}]}"#,
        ),
    }
    for number in 0..12 {
        set(&if dialect == Dialect::V2 { format!("g/a/{number}") } else { format!("g/a/c/{number}") }, "1");
    }
    let found = open_node(&store, "/g/a", None).expect("the array");
    (store, found)
}

/// Erases a node, and returns the requests of each round.
fn rounds(store: &MemoryStore, found: &StoredNode, profile: &AccessProfile) -> Vec<Vec<Request>> {
    let erasure = Erasure::of(found);
    let mut job = erasure.job(BUCKET, profile);
    let (mut rounds, mut replies): (_, Vec<Reply>) = (Vec::new(), Vec::new());
    while let Next::Ask(requests) = job.step(&mut replies).expect("a step") {
        replies = requests.iter().map(|request| answer(store, request.clone()).expect("an answer")).collect();
        rounds.push(requests);
    }
    rounds
}

#[test]
fn a_store_behind_a_network_is_asked_once_for_the_groups_above() {
    // Documents of the two groups, and the journals of conversions to the node and to them; one listing.
    for (dialect, groups) in [(Dialect::V3, 2), (Dialect::V2, 1 + 2 * 3 + 2)] {
        let (store, found) = array(dialect);
        let rounds = rounds(&store, &found, &AccessProfile::REMOTE);
        let (erased, looks): (Vec<_>, Vec<_>) =
            rounds.iter().flatten().partition(|request| matches!(request, Request::Erase { .. }));
        let keys: Vec<&Request> = looks.iter().copied().filter(|it| matches!(it, Request::Get { .. })).collect();
        assert_eq!((keys.len(), looks.len()), (groups, groups + 3 + 1), "{dialect}: {looks:#?}");
        assert!(keys.iter().enumerate().all(|(at, key)| !keys[..at].contains(key)), "{dialect}: {keys:#?}");
        assert_eq!(erased.len(), 1 + 12, "{dialect}: {erased:#?}");
        assert_eq!(store.list().expect("list").len(), 2, "{dialect}");
    }
}
