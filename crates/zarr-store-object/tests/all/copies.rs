//! Copies that the service makes: no bytes of values come or go.

use std::sync::Arc;

use zarr_drive::block_on;
use zarr_store::{AsyncStore, AsyncStoreExt, Copied, Error, ErrorKind, Prefix, Prefixed};
use zarr_store_object::BucketStore;
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer, beside_each_other};

use crate::contract::{gs, key, s3};

const SIZE: usize = 200_000;

fn copy(from: &dyn AsyncStore, to: &dyn AsyncStore, names: (&str, &str)) -> Result<Copied, Error> {
    let source = from.copy_source(&key(names.0)).expect("a source");
    block_on(to.copy(&source, &key(names.1)))
}

fn stores(is_s3: bool) -> (TestServer, Arc<BucketStore>, Arc<BucketStore>) {
    let bucket = if is_s3 { Bucket::s3() } else { Bucket::gcs() };
    let server = TestServer::builder().bucket("data", bucket).bucket("other", bucket).start().expect("a server");
    server.put("data", "p/a b/\u{e4}%", vec![7; SIZE]);
    let open = |address: &str| {
        let options = &[("deadline", "5"), ("timeout", "1")];
        if is_s3 {
            s3(&server, &format!("s3://{address}"), options)
        } else {
            gs(&server, &format!("gs://{address}"), options)
        }
    };
    let (from, to) = (open("data/p"), open("data/q"));
    (server, from, to)
}

#[test]
fn values_are_copied_by_the_service() {
    for is_s3 in [true, false] {
        let (server, from, to) = stores(is_s3);
        assert_eq!(copy(&from, &to, ("a b/\u{e4}%", "x/y z")).expect("copied"), Copied::Done);
        let below = Prefixed::new(to.clone() as Arc<dyn AsyncStore>, Prefix::new("x/").expect("a prefix"));
        assert_eq!(copy(&from, &below, ("a b/\u{e4}%", "b")).expect("copied"), Copied::Done);
        assert_eq!(copy(&below, &below, ("b", "c")).expect("copied"), Copied::Done);
        let counts = server.counts();
        assert_eq!((counts.puts, counts.requests(), counts.bytes_received), (3, 3, 0), "{counts:?}");
        assert!(counts.bytes_sent < 2000, "{counts:?}");
        assert_eq!(server.keys("data"), ["p/a b/\u{e4}%", "q/x/b", "q/x/c", "q/x/y z"]);
        for copied in server.keys("data") {
            assert_eq!(server.get("data", &copied).expect("there"), vec![7; SIZE], "{copied}");
        }
    }
}

/// Attempts that fail, or whose answers are lost, are made again.
#[test]
fn copies_are_tried_again() {
    let document = |code: &str| FaultKind::Status {
        status: 200,
        headers: Vec::new(),
        body: format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code></Error>").into(),
    };
    let kinds = [
        FaultKind::DropBefore,
        FaultKind::DropAfter,
        FaultKind::status(503),
        FaultKind::status(500),
        document("InternalError"),
        document("SlowDown"),
        FaultKind::Truncate(5),
    ];
    beside_each_other(kinds, |kind| {
        let (server, from, to) = stores(true);
        server.fault(Fault::new(kind.clone()).on(Operation::Put).times(2));
        assert_eq!(copy(&from, &to, ("a b/\u{e4}%", "c")).expect("copied"), Copied::Done, "{kind:?}");
        assert_eq!((server.counts().puts, server.counts().gets), (3, 0), "{kind:?}");
        assert_eq!(server.get("data", "q/c").expect("there").len(), SIZE);
    });
    let (server, from, to) = stores(true);
    server.fault(Fault::new(FaultKind::status(503)).on(Operation::Put).always());
    let error = copy(&from, &to, ("a b/\u{e4}%", "c")).expect_err("never");
    assert_eq!((error.kind(), error.key()), (ErrorKind::Throttled, Some("c")));
}

/// Copies that the service refuses are done by the caller itself.
#[test]
fn copies_that_are_declined() {
    let (server, from, to) = stores(true);
    let other = [
        s3(&server, "s3://other/p", &[]),
        s3(&server, "s3://data/p", &[("region", "eu-west-1")]),
        s3(&server, "s3://data/p", &[("endpoint", "http://localhost:1")]),
    ];
    for other in &other {
        assert_eq!(copy(&from, other, ("a b/\u{e4}%", "c")).expect("declined"), Copied::Declined);
        assert_eq!(copy(other, &to, ("a b/\u{e4}%", "c")).expect("declined"), Copied::Declined);
    }
    let proxied = s3(&server, "s3://data/p", &[("proxy_url", "http://localhost:1")]);
    assert_eq!(proxied.copy_source(&key("a")), None);
    assert_eq!(server.counts().requests(), 0);
    // A source that is gone, one that is too large, one that is refused.
    assert_eq!(copy(&from, &to, ("none", "c")).expect("declined"), Copied::Declined);
    for status in [400, 403] {
        server.fault(Fault::new(FaultKind::status(status)).on(Operation::Put));
        assert_eq!(copy(&from, &to, ("a b/\u{e4}%", "c")).expect("declined"), Copied::Declined);
    }
    assert_eq!((server.counts().requests(), server.get("data", "q/c")), (3, None));
    // A service without copies is asked once.
    server.fault(Fault::new(FaultKind::status(501)).on(Operation::Put).always());
    for _ in 0..3 {
        assert_eq!(copy(&from, &to, ("a b/\u{e4}%", "c")).expect("declined"), Copied::Declined);
    }
    assert_eq!(server.counts().requests(), 4);
    let missing = s3(&server, "s3://no-bucket/p", &[]);
    let source = missing.copy_source(&key("a")).expect("a source");
    server.clear_faults();
    assert!(block_on(missing.copy(&source, &key("b"))).expect_err("no bucket").is_not_found());
    assert!(block_on(to.get_all(&key("c"))).expect("get").is_none());
}

/// Azure may answer before the value is copied, and says of the target then how far it is: here a server of S3 does.
#[test]
fn copies_that_are_not_done_at_once_are_waited_for_or_declined() {
    let answer = |status: u16, copy: &str, progress: u64| {
        let headers = [("x-ms-copy-status", copy.to_owned()), ("x-ms-copy-progress", format!("{progress}/{SIZE}"))];
        let ranged = [("content-range", format!("bytes 0-0/{SIZE}")), ("etag", "\"1\"".to_owned())];
        let headers = headers.into_iter().chain(ranged.into_iter().filter(|_| status == 206));
        let body: &[u8] = if status == 206 { b"x" } else { b"<CopyObjectResult><ETag>\"1\"</ETag></CopyObjectResult>" };
        FaultKind::Status {
            status,
            headers: headers.map(|(name, value)| (name.to_owned(), value)).collect(),
            body: body.into(),
        }
    };
    for (last, wanted) in [("success", Copied::Done), ("failed", Copied::Declined)] {
        let (server, from, to) = stores(true);
        server.fault(Fault::new(answer(200, "pending", 0)).on(Operation::Put));
        for number in 1..4 {
            server.fault(Fault::new(answer(206, "pending", number * 10)).on(Operation::Get));
        }
        server.fault(Fault::new(answer(206, last, 7)).on(Operation::Get));
        assert_eq!(copy(&from, &to, ("a b/\u{e4}%", "c")).expect(last), wanted);
        assert_eq!((server.counts().puts, server.counts().gets), (1, 4), "{last}");
    }
    // None that ends in the time of a request: the caller copies it, as soon as the service takes a value.
    let server = TestServer::builder().bucket("data", Bucket::s3()).start().expect("a server");
    server.put("data", "p/a", vec![7; SIZE]);
    // On a machine that is busy, the copy or one look may take all of a short time.
    let mut deadlines = ["1", "4", "16"].into_iter();
    let store = loop {
        let store =
            s3(&server, "s3://data/p", &[("deadline", deadlines.next().expect("declined, after more than one look"))]);
        let before = server.counts().gets;
        server.fault(Fault::new(answer(200, "pending", 0)).on(Operation::Put));
        server.fault(Fault::new(answer(206, "pending", 0)).on(Operation::Get).always());
        let copied = copy(&store, &store, ("a", "c"));
        let gets = server.counts().gets - before;
        server.clear_faults();
        match copied {
            Ok(copied) => assert_eq!(copied, Copied::Declined),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
                continue;
            }
        }
        if gets > 1 {
            break store;
        }
    };
    let body = "<Error><Code>PendingCopyOperation</Code><Message>still copying</Message></Error>";
    let pending = FaultKind::Status { status: 409, headers: Vec::new(), body: body.into() };
    server.fault(Fault::new(pending).on(Operation::Put).times(2));
    block_on(store.set_all(&key("c"), vec![7; SIZE].into())).expect("set");
    assert_eq!(server.get("data", "p/c").expect("there").len(), SIZE);
}
