//! Each fault, as a plain client and as object_store see it.

use crate::support::{BUCKET, get, header, http, s3};
use flate2::read::GzDecoder;
use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode};
use std::io::Read;
use std::time::{Duration, Instant};
use zarr_testserver::{Bucket, Fault, FaultKind, Operation, TestServer};

/// A server with one value of 100,000 bytes, and its address.
fn server() -> (TestServer, String) {
    let server = TestServer::builder().bucket(BUCKET, Bucket::s3()).start().unwrap();
    server.put(BUCKET, "key", value());
    let url = format!("{}/{BUCKET}/key", server.url());
    (server, url)
}

fn value() -> Vec<u8> {
    (0..100_000_u32).map(|index| (index % 251) as u8).collect()
}

#[tokio::test]
async fn statuses_come_instead_of_the_operation() {
    let (server, url) = server();
    let client = http();
    for (kind, status, name, expected) in [
        (FaultKind::status(500), 500, "content-length", "0"),
        (FaultKind::retry_after(503, 2), 503, "retry-after", "2"),
        (FaultKind::retry_after(429, 1), 429, "retry-after", "1"),
        (FaultKind::status(408), 408, "content-length", "0"),
        (FaultKind::Conflict, 409, "content-type", "application/xml"),
        (FaultKind::Html, 200, "content-type", "text/html"),
        (FaultKind::Redirect { status: 307, location: "/other".to_owned() }, 307, "location", "/other"),
    ] {
        server.fault(Fault::new(kind));
        let answer = client.put(&url).body("other").send().await.unwrap();
        assert_eq!((answer.status().as_u16(), header(&answer, name).as_str()), (status, expected));
        assert_eq!(server.log().last().unwrap().status, Some(status));
        assert_eq!(server.get(BUCKET, "key").unwrap(), value());
    }
    let kind = FaultKind::Status { status: 404, headers: Vec::new(), body: "gone".into() };
    server.fault(Fault::new(kind));
    assert_eq!(get(&client, &url, &[]).await.text().await.unwrap(), "gone");
    server.fault(Fault::new(FaultKind::Html));
    assert!(get(&client, &url, &[]).await.text().await.unwrap().contains("<html>"));
    assert_eq!(server.faults_left(), 0);
    assert_eq!(server.counts().aborted, 0);
}

#[tokio::test]
async fn object_store_repeats_what_may_be_repeated() {
    let (server, _) = server();
    let store = s3(&server);
    let path = Path::from("key");
    server.fault(Fault::new(FaultKind::status(503)).on(Operation::Get).times(2));
    assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), value());
    assert_eq!(server.counts().gets, 3);
    server.fault(Fault::new(FaultKind::Truncate(777)).on(Operation::Get).times(2));
    assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), value());
    let ranges: Vec<_> = server.log().into_iter().filter_map(|logged| logged.range).collect();
    assert_eq!(ranges, ["bytes=777-99999", "bytes=1554-99999"]);
    server.fault(Fault::new(FaultKind::DropBefore).on(Operation::Head));
    assert_eq!(store.head(&path).await.unwrap().size, 100_000);
}

#[tokio::test]
async fn dropped_connections() {
    let (server, url) = server();
    let client = http();
    server.fault(Fault::new(FaultKind::DropBefore).method("PUT"));
    let error = client.put(&url).body("other").send().await.unwrap_err();
    assert!(error.is_request(), "{error:?}");
    assert_eq!(server.get(BUCKET, "key").unwrap(), value());
    server.fault(Fault::new(FaultKind::DropAfter).method("PUT"));
    assert!(client.put(&url).body("other").send().await.is_err());
    assert_eq!(server.get(BUCKET, "key").unwrap(), "other");
    assert_eq!(server.log().iter().map(|logged| logged.status).collect::<Vec<_>>(), [None, None]);
    // The server did it, not the client.
    assert_eq!((server.counts().aborted, server.counts().puts), (0, 2));

    // A conditional write whose answer was lost is there, and its repetition fails.
    server.fault(Fault::new(FaultKind::DropAfter).on(Operation::Put));
    let store = s3(&server);
    let result = store.put_opts(&Path::from("new"), "value".into(), PutMode::Create.into()).await;
    assert!(!matches!(result, Ok(_) | Err(Error::NotFound { .. })), "{result:?}");
    assert_eq!(server.get(BUCKET, "new").unwrap(), "value");
}

#[tokio::test]
async fn bodies_that_are_too_short() {
    let (server, url) = server();
    let client = http();
    for count in [0, 1, 99_999] {
        server.fault(Fault::new(FaultKind::Truncate(count)));
        let mut answer = get(&client, &url, &[]).await;
        assert_eq!((answer.status().as_u16(), header(&answer, "content-length").as_str()), (200, "100000"));
        let mut found = Vec::new();
        let error = loop {
            match answer.chunk().await {
                Ok(chunk) => found.extend_from_slice(&chunk.expect("an error")),
                Err(error) => break error,
            }
        };
        assert_eq!(found, value()[..count], "{error}");
    }
    // A length that is too large is the same. One that is too small hides the rest.
    server.fault(Fault::new(FaultKind::ContentLength(100_001)));
    let answer = get(&client, &url, &[]).await;
    assert_eq!(header(&answer, "content-length"), "100001");
    assert!(answer.bytes().await.is_err());
    server.fault(Fault::new(FaultKind::ContentLength(10)));
    let answer = get(&client, &url, &[("range", "bytes=100-199")]).await;
    assert_eq!(header(&answer, "content-range"), "bytes 100-199/100000");
    assert_eq!(answer.bytes().await.unwrap(), value()[100..110]);
    // Whole bodies again, on the same connection.
    assert_eq!(get(&client, &url, &[]).await.bytes().await.unwrap(), value());
    assert_eq!(server.counts().aborted, 0);
}

#[tokio::test]
async fn ranges_ignored_and_wrong() {
    let (server, url) = server();
    let client = http();
    let range = [("range", "bytes=100-199")];
    server.fault(Fault::new(FaultKind::IgnoreRange));
    let answer = get(&client, &url, &range).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-range").as_str()), (200, ""));
    assert_eq!(answer.bytes().await.unwrap(), value());
    assert_eq!(server.log()[0].range.as_deref(), Some("bytes=100-199"));
    server.fault(Fault::new(FaultKind::ContentRange("bytes 0-99/100000".to_owned())));
    let answer = get(&client, &url, &range).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-range").as_str()), (206, "bytes 0-99/100000"));
    assert_eq!(answer.bytes().await.unwrap(), value()[100..200]);
}

#[tokio::test]
async fn compressed_slow_and_late() {
    let (server, url) = server();
    let client = http();
    server.fault(Fault::new(FaultKind::Gzip));
    let answer = get(&client, &url, &[]).await;
    assert_eq!(header(&answer, "content-encoding"), "gzip");
    let (compressed, mut found) = (answer.bytes().await.unwrap(), Vec::new());
    GzDecoder::new(&compressed[..]).read_to_end(&mut found).unwrap();
    assert_eq!(found, value());
    assert!(compressed.len() < 50_000);

    server.fault(Fault::new(FaultKind::Slow(200_000)));
    let start = Instant::now();
    let answer = get(&client, &url, &[]).await;
    let head = start.elapsed();
    assert_eq!(answer.bytes().await.unwrap(), value());
    assert!(head < Duration::from_millis(400) && start.elapsed() > Duration::from_millis(480), "{head:?}");

    server.fault(Fault::new(FaultKind::Delay(Duration::from_millis(80))));
    let start = Instant::now();
    get(&client, &url, &[]).await;
    assert!(start.elapsed() >= Duration::from_millis(80));
}

#[tokio::test]
async fn values_that_change_in_between() {
    let (server, url) = server();
    let client = http();
    let etag = server.etag(BUCKET, "key").unwrap();
    server.fault(Fault::new(FaultKind::Change("other value".into())).on(Operation::Get).skip(1));
    let first = get(&client, &url, &[("range", "bytes=0-4")]).await;
    assert_eq!(header(&first, "etag"), etag);
    let second = get(&client, &url, &[("range", "bytes=5-9")]).await;
    assert_eq!((second.status().as_u16(), header(&second, "etag")), (206, server.etag(BUCKET, "key").unwrap()));
    assert_ne!(header(&second, "etag"), etag);
    server.fault(Fault::new(FaultKind::Change("third".into())));
    let etag = server.etag(BUCKET, "key").unwrap();
    assert_eq!(get(&client, &url, &[("if-match", &etag)]).await.status(), 412);
}

/// The keys that a client finds, with no more than five pages.
async fn keys(server: &TestServer) -> Vec<String> {
    let (client, mut found, mut token) = (http(), Vec::new(), String::new());
    for _ in 0..5 {
        let url = format!("{}/{BUCKET}?list-type=2&max-keys=2{token}", server.url());
        let page = get(&client, &url, &[]).await.text().await.unwrap();
        let texts = |name: &str| {
            let start = format!("<{name}>");
            page.split(&start).skip(1).map(|rest| rest.split('<').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        found.extend(texts("Key"));
        match texts("NextContinuationToken").first() {
            Some(next) => token = format!("&continuation-token={next}"),
            None => return found,
        }
    }
    found.push("...".to_owned());
    found
}

#[tokio::test]
async fn faulty_listings() {
    let server = TestServer::builder().bucket(BUCKET, Bucket::s3()).start().unwrap();
    for key in ["a", "b", "c", "d"] {
        server.put(BUCKET, key, key);
    }
    let fault = |kind| Fault::new(kind).on(Operation::List);
    assert_eq!(keys(&server).await, ["a", "b", "c", "d"]);
    server.fault(fault(FaultKind::DuplicatePage));
    assert_eq!(keys(&server).await, ["a", "b", "a", "b", "c", "d"]);
    server.fault(fault(FaultKind::DuplicatePage).skip(1).times(2));
    assert_eq!(keys(&server).await, ["a", "b", "c", "d", "c", "d", "c", "d"]);
    let tokens: Vec<_> = server.log().into_iter().rev().take(4).map(|logged| logged.query).collect();
    assert!((0..4).all(|index| (0..index).all(|other| tokens[index] != tokens[other])), "{tokens:?}");
    server.fault(fault(FaultKind::RepeatToken).skip(1).always());
    assert_eq!(keys(&server).await, ["a", "b", "c", "d", "c", "d", "c", "d", "c", "d", "..."]);
    let tokens: Vec<_> = server.log().into_iter().rev().take(4).map(|logged| logged.query).collect();
    assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
    assert_eq!(server.faults_left(), 1);
    server.clear_faults();
    server.fault(fault(FaultKind::Unsorted));
    assert_eq!(keys(&server).await, ["b", "a", "c", "d"]);
    let before = server.snapshot(BUCKET);
    server.put(BUCKET, "e", "e");
    server.remove(BUCKET, "a");
    server.fault(fault(FaultKind::Stale(before)).times(2));
    assert_eq!(keys(&server).await, ["a", "b", "c", "d"]);
    assert_eq!(keys(&server).await, ["b", "c", "d", "e"]);

    server.fault(fault(FaultKind::DuplicatePage));
    let found: Vec<_> = s3(&server).list(None).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(found.len(), 8);
}
