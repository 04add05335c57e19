//! Values that are uploaded in parts while they are made.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use zarr_drive::block_on;
use zarr_store::{AsyncStoreExt, Bytes, ErrorKind, Precondition, Result, SetOptions, Version};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer, beside_each_other};

use crate::contract::{gs, key, s3};

const MIB: usize = 1 << 20;

/// A server that takes parts as S3 does.
fn setup() -> (TestServer, Arc<BucketStore>) {
    let server = TestServer::builder().bucket("data", Bucket::s3().part_at_least(5 << 20)).start().expect("a server");
    let store = s3(&server, "s3://data", &[("deadline", "5"), ("retries", "3")]);
    (server, store)
}

/// Bytes of which no two parts are the same.
fn bytes(size: usize) -> Vec<u8> {
    (0..size.div_ceil(4)).flat_map(|number| (number as u32).to_le_bytes()).take(size).collect()
}

/// Sets the value at `v` in pieces of this size, its first `head` bytes last.
fn set(store: &BucketStore, value: &[u8], head: usize, piece: usize, when: Precondition) -> Result<Option<Version>> {
    let (key, (head, rest)) = (key("v"), value.split_at(head));
    block_on(async {
        let stream = store.begin_set(&key, head.len() as u64, &SetOptions::when(when)).await?;
        for pieces in rest.chunks(piece) {
            let (a, b) = pieces.split_at(pieces.len() / 3);
            let pieces = [a, b].map(Bytes::copy_from_slice).to_vec();
            store.append_to_set(&key, &stream, pieces).await?;
        }
        store.finish_set(&key, &stream, Bytes::copy_from_slice(head)).await
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn parts_are_the_value(
        size in prop_oneof![0..MIB, 7 * MIB..9 * MIB, Just(8 * MIB), Just(16 * MIB), 15 * MIB..40 * MIB],
        head in prop_oneof![Just(0), 1..5000_usize, 7 * MIB..9 * MIB, Just(8 * MIB), Just(16 * MIB)],
        piece in prop_oneof![100_000..MIB, MIB..20 * MIB],
    ) {
        let (server, store) = setup();
        let value = bytes(size);
        let version = set(&store, &value, head.min(size), piece, Precondition::None).expect("set");
        let found = server.get("data", "v").expect("there");
        prop_assert!(found == value, "{size} bytes, {head} of them last");
        prop_assert_eq!(version, server.etag("data", "v").map(|etag| Version::new(&etag)));
        prop_assert_eq!(server.uploads("data"), 0);
        let counts = server.counts();
        prop_assert!(counts.bytes_received >= size as u64 && counts.bytes_received < size as u64 + 10_000);
    }
}

#[test]
fn parts_are_sent_before_the_value_ends() {
    let gcs = TestServer::builder().bucket("data", Bucket::gcs()).start().expect("a server");
    let (server, store) = setup();
    for (server, store) in [(&server, store), (&gcs, gs(&gcs, "gs://data", &[]))] {
        let value = bytes(40 * MIB);
        let (key, options) = (key("v"), SetOptions::default());
        let stream = block_on(store.begin_set(&key, 100, &options)).expect("begun");
        for piece in value[100..].chunks(MIB) {
            block_on(store.append_to_set(&key, &stream, vec![Bytes::copy_from_slice(piece)])).expect("appended");
        }
        let sent = server.counts();
        assert!(sent.puts >= 1 && sent.others == 1, "one part at least has to be gone: {sent:?}");
        assert_eq!((server.uploads("data"), server.get("data", "v")), (1, None), "nothing is visible");
        block_on(store.finish_set(&key, &stream, Bytes::copy_from_slice(&value[..100]))).expect("set");
        assert!(server.get("data", "v").expect("there") == value);
        let counts = server.counts();
        assert_eq!((counts.puts, counts.others, counts.gets), (5, 2, 0), "five parts of 8 MiB");
    }
}

#[test]
fn a_small_value_and_one_with_a_condition_are_one_put() {
    let (server, store) = setup();
    set(&store, &bytes(8 * MIB - 1), 10, MIB, Precondition::None).expect("set");
    assert_eq!((server.counts().puts, server.counts().others), (1, 0));
    server.reset_counts();
    let large = bytes(20 * MIB);
    let error = set(&store, &large, 10, MIB, Precondition::NotExists).expect_err("there");
    assert!(error.is_precondition(), "{error}");
    let version = Version::new(&server.etag("data", "v").expect("there"));
    set(&store, &large, 10, MIB, Precondition::Version(version)).expect("set");
    assert!(server.get("data", "v").expect("there") == large);
    // One of them asks whether conditions are kept.
    assert_eq!((server.counts().puts, server.counts().others), (3, 0));
}

/// Waits until no upload is left, which is given up behind the caller's back.
fn is_given_up(server: &TestServer) {
    let begun = Instant::now();
    while server.uploads("data") > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "an upload is left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_is_not_finished_is_given_up() {
    let (server, store) = setup();
    let (key, options) = (key("v"), SetOptions::default());
    let stream = block_on(store.begin_set(&key, 0, &options)).expect("begun");
    block_on(store.append_to_set(&key, &stream, vec![bytes(30 * MIB).into()])).expect("appended");
    assert_eq!(server.uploads("data"), 1);
    drop(stream);
    is_given_up(&server);
    // A part that is refused again and again.
    server.fault(Fault::new(FaultKind::status(500)).on(Operation::Put).always());
    let error = set(&store, &bytes(30 * MIB), 0, MIB, Precondition::None).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Transient, "{error}");
    assert!(error.to_string().ends_with(" v"), "{error}");
    is_given_up(&server);
    server.clear_faults();
    assert_eq!(block_on(store.get_all(&key)).expect("get"), None);
}

#[test]
fn faults_that_pass() {
    let (server, store) = setup();
    let value = bytes(20 * MIB);
    let not_complete = "<?xml version=\"1.0\"?><Error><Code>InternalError</Code><Message>try again</Message></Error>";
    let with_error = FaultKind::Status { status: 200, headers: Vec::new(), body: not_complete.into() };
    let query = |begin: &'static str| move |logged: &zarr_testserver::Logged| logged.query.contains(begin);
    let kinds = [FaultKind::status(500), FaultKind::status(503), FaultKind::DropBefore, FaultKind::DropAfter];
    for kind in kinds {
        for step in ["uploads", "partNumber=1&", "partNumber=3&", "uploadId"] {
            let method = if step.starts_with("part") { "PUT" } else { "POST" };
            server.fault(Fault::new(kind.clone()).method(method).when(query(step)));
            let set = set(&store, &value, 10, MIB, Precondition::None);
            set.unwrap_or_else(|error| panic!("{kind:?} of {step}: {error}: {:?}", std::error::Error::source(&error)));
            assert_eq!(server.faults_left(), 0, "{kind:?} of {step}");
            assert!(server.remove("data", "v").expect("there") == value, "{kind:?} of {step}");
        }
    }
    server.fault(Fault::new(with_error).method("POST").when(query("uploadId")));
    set(&store, &value, 0, MIB, Precondition::None).expect("set");
    assert!(server.remove("data", "v").expect("there") == value);
}

/// The end of an upload that stalls does not take the whole deadline, and is not repeated if it took effect.
#[test]
fn an_end_that_stalls() {
    let value = bytes(20 * MIB);
    let query = |begin: &'static str| move |logged: &zarr_testserver::Logged| logged.query.contains(begin);
    let late = Duration::from_secs(20);
    let options = [("deadline", "15"), ("timeout", "1.5")];
    let faults = [(FaultKind::Delay(late), 2), (FaultKind::DelayAfter(late), 1), (FaultKind::DropAfter, 1)];
    beside_each_other(faults.into_iter().zip([true, false, true]), |((kind, ends), is_s3)| {
        let once = || {
            let bucket = if is_s3 { Bucket::s3() } else { Bucket::gcs() };
            let server = TestServer::builder().bucket("data", bucket).start().expect("a server");
            let store = if is_s3 { s3(&server, "s3://data", &options) } else { gs(&server, "gs://data", &options) };
            server.fault(Fault::new(kind.clone()).method("POST").when(query("uploadId")));
            let begun = Instant::now();
            let version = set(&store, &value, 10, MIB, Precondition::None).expect("set");
            let is_soon = begun.elapsed() < Duration::from_secs(8);
            assert!(server.get("data", "v").expect("there") == value, "{kind:?}");
            // Its version is known, so that a set on the condition of it goes on from there.
            let version = version.expect("a version");
            let found = block_on(store.get(&key("v"), &[zarr_store::ByteRange::First(1)], &Default::default()));
            assert_eq!(found.expect("get").expect("there").version, Some(version), "{kind:?}");
            let count = |is: &dyn Fn(&zarr_testserver::Logged) -> bool| server.log().iter().filter(|it| is(it)).count();
            let posts = count(&|it| it.method == "POST" && it.query.contains("uploadId"));
            (is_soon, posts, count(&|it| it.method == "GET"))
        };
        // A look, and the one above. On a machine that is busy a request may take longer than it may, and is repeated.
        let wanted = (true, ends, 2);
        let mut found = Vec::new();
        while found.len() < 3 && !found.contains(&wanted) {
            found.push(once());
        }
        assert!(found.contains(&wanted), "{kind:?}: {found:?}, expected {wanted:?}");
    });
    // Others replace the value before it is looked at.
    let server = TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server");
    let store = s3(&server, "s3://data", &options);
    server.fault(Fault::new(FaultKind::DelayAfter(late)).method("POST").when(query("uploadId")));
    let version = std::thread::scope(|scope| {
        scope.spawn(|| {
            while server.get("data", "v").is_none() {
                std::thread::sleep(Duration::from_millis(2));
            }
            server.put("data", "v", b"other".to_vec());
        });
        set(&store, &value, 10, MIB, Precondition::None).expect("set")
    });
    assert_eq!((version, server.get("data", "v").as_deref()), (None, Some(&b"other"[..])));
    assert_eq!((server.uploads("data"), server.faults_left()), (0, 0));
}
