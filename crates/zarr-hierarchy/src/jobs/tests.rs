use super::{LOCK_PATIENCE, Operation, TakeLock};
use crate::node::{DropUnfinished, Edit, EraseBroken, EraseNode, ReplaceNode, create, parse_path};
use crate::{Error, ErrorKind, open_node};
use std::time::Duration;
use zarr_drive::testing::{WrongReplies, succeeds_with_right_replies};
use zarr_drive::{Job, Next, run};
use zarr_meta::{Dialect, Node, StoredNode};
use zarr_store::{Capabilities, Key, MemoryStore, Prefix, Reply, Request, StoreExt};

/// Keys and values of an array of three chunks.
const ARRAY: [(&str, &str); 5] = [
    ("a/0", "12"),
    ("a/1", "34"),
    ("a/2", "56"),
    ("a/.zattrs", r#"{"a": 1}"#),
    (
        "a/.zarray",
        r#"{"zarr_format": 2, "shape": [5], "chunks": [2], "dtype": "|i1", "compressor": null, "fill_value": 0,
            "order": "C", "filters": null}"#,
    ),
];

/// Runs a job on a node again and again, each time with right replies to one more step before the wrong replies, until the job succeeds.
/// `least` is the least number of steps that need right replies.
fn answered_wrongly<J: Job<Error = Error>>(least: usize, new: impl Fn(&StoredNode) -> J) {
    let attempt = |right| {
        let store = MemoryStore::new();
        for (key, value) in ARRAY {
            store.set_all(&Key::new(key).unwrap(), value.as_bytes()).unwrap();
        }
        let found = open_node(&store, "/a", None).unwrap();
        run(&store, WrongReplies::new(new(&found), right))
    };
    succeeds_with_right_replies(least, attempt, |error: &Error| error.kind() == ErrorKind::Internal);
}

const ALL: Capabilities = Capabilities::none().write(true).list(true).suffix_ranges(true).conditional(true);

#[test]
fn nodes_are_read_written_and_erased_by_no_other_reply() {
    let path = |text| parse_path(text).unwrap();
    answered_wrongly(2, |found| EraseNode::new(found.clone(), ALL).job());
    answered_wrongly(2, |found| EraseBroken::new(found.path.clone(), Dialect::V2, ALL).job());
    answered_wrongly(2, |found| {
        let mut metadata = found.node.as_array().unwrap().clone();
        metadata.shape = [6].into();
        let edit = Edit::reshape(found, Node::Array(metadata));
        ReplaceNode::new(found, edit, ALL).job()
    });
    for new in ["/b", "/c/b"] {
        answered_wrongly(3, |found| create(path(new), Dialect::V2, &found.node, false, ALL).unwrap().job());
    }
    for capabilities in [ALL, ALL.exchanges(true)] {
        answered_wrongly(3, |found| create(path("/a"), Dialect::V2, &found.node, true, capabilities).unwrap().job());
    }
    answered_wrongly(1, |found| DropUnfinished::new(&found.path, ALL.exchanges(true)).job());
}

#[test]
fn a_lock_that_is_never_given_back_is_not_waited_for_forever() {
    let mut take = TakeLock::new(Prefix::new("g/a/").unwrap()).job();
    let (mut waited, mut reply) = (Duration::ZERO, Vec::new());
    let error = loop {
        match take.step(&mut reply) {
            Ok(Next::Ask(requests)) => match requests.as_slice() {
                [Request::Lock { .. }] => reply = vec![Reply::Locked(None)],
                [Request::Pause { duration }] => {
                    waited += *duration;
                    reply = vec![Reply::Paused];
                }
                _ => panic!("unexpected {requests:?}"),
            },
            Ok(next) => panic!("unexpected {next:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!((error.kind(), error.location().key.as_deref()), (ErrorKind::Conflict, Some("g/a/")));
    assert!(waited > LOCK_PATIENCE && waited < 2 * LOCK_PATIENCE, "{waited:?}");
}
