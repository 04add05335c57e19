//! Services that speak the protocol of S3 in part, and caches before them.

use zarr_store::{AsyncAsSync, AsyncStore, Error, Key, Prefix, Result, Store, block_on, for_each};
use zarr_store_object::BucketStore;
use zarr_testserver::{Fault, FaultKind, Logged, Operation, TestServer};

use crate::contract::{key, s3};

/// The requests that remove objects: by name, and of several.
fn removals(server: &TestServer) -> (usize, usize) {
    let log = server.log();
    let with = |method: &str| {
        log.iter().filter(|logged| logged.operation == Operation::Delete && logged.method == method).count()
    };
    (with("DELETE"), with("POST"))
}

fn keys(count: usize) -> Vec<Key> {
    (0..count).map(|number| key(&format!("a/c/{number:04}"))).collect()
}

fn erase_at_once(store: &BucketStore, keys: &[Key]) -> Result<()> {
    block_on(for_each(keys.iter(), 512, |key| store.erase(key)))
}

#[test]
fn one_key_is_a_request_and_so_are_many() {
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[]);
    let keys = keys(400);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    block_on(store.erase(&keys[0])).expect("erased");
    assert_eq!(removals(&server), (1, 0));
    erase_at_once(&store, &keys).expect("erased");
    assert!(server.keys("data").is_empty());
    let (single, several) = removals(&server);
    // Where this thread waits for long, those that were asked for before go alone.
    assert!(single + several <= 40, "{single} and {several}");
}

#[test]
fn a_service_that_does_not_remove_several_removes_each() {
    for status in [501, 400, 405] {
        let server = TestServer::start().expect("a server");
        let store = s3(&server, "s3://data", &[]);
        let several = |logged: &Logged| logged.method == "POST" && logged.query.contains("delete");
        server.fault(Fault::new(FaultKind::status(status)).when(several).always());
        let keys = keys(30);
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        server.put("data", "other", "1");
        erase_at_once(&store, &keys).expect("erased");
        assert_eq!(server.keys("data"), ["other"]);
        let asked = removals(&server).1;
        assert!((1..=20).contains(&asked), "{asked}");
        // It is not asked again.
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        AsyncAsSync::new(store.clone()).erase_prefix(&Prefix::new("a/").expect("a prefix")).expect("erased");
        assert_eq!((server.keys("data"), removals(&server).1), (vec!["other".to_owned()], asked));
        // Nor is it the first time that it is a whole prefix.
        let store = s3(&server, "s3://data", &[]);
        keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
        AsyncAsSync::new(store).erase_prefix(&Prefix::new("a/").expect("a prefix")).expect("erased");
        assert_eq!((server.keys("data"), removals(&server).1), (vec!["other".to_owned()], asked + 1));
    }
}

#[test]
fn each_key_has_its_own_answer() {
    let server = TestServer::start().expect("a server");
    let store = s3(&server, "s3://data", &[("deadline", "2")]);
    let keys = keys(20);
    keys.iter().for_each(|key| drop(server.put("data", key.as_str(), "1")));
    let leave = FaultKind::Leave { count: 1000, code: "AccessDenied".to_owned() };
    server.fault(Fault::new(leave).when(|logged| logged.method == "POST").always());
    server.fault(Fault::new(FaultKind::status(403)).method("DELETE").path("/0007").always());
    let outcomes: Vec<Result<()>> = {
        let outcomes = std::sync::Mutex::new(Vec::new());
        let all = for_each(keys.iter(), 512, |key| {
            let (store, outcomes) = (&store, &outcomes);
            Box::pin(async move {
                let outcome = store.erase(key).await;
                outcomes.lock().expect("a lock").push(outcome);
                Ok::<(), Error>(())
            })
        });
        block_on(all).expect("done");
        outcomes.into_inner().expect("a lock")
    };
    assert_eq!(server.keys("data"), ["a/c/0007"]);
    let errors: Vec<_> = outcomes.into_iter().filter_map(Result::err).collect();
    assert_eq!((errors.len(), errors[0].key()), (1, Some("a/c/0007")));
}
