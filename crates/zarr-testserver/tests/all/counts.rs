//! Counts, the log, latency, bandwidth, and clients that go away.

use crate::support::{BUCKET, get, http};
use std::time::{Duration, Instant};
use zarr_testserver::{Bucket, Operation, TestServer};

#[tokio::test]
async fn requests_are_counted() {
    let server = TestServer::builder().bucket(BUCKET, Bucket::s3()).start().unwrap();
    let client = http();
    let url = format!("{}/{BUCKET}", server.url());
    client.put(format!("{url}/a b")).body("0123456789").send().await.unwrap();
    get(&client, &format!("{url}/a%20b"), &[("range", "bytes=0-3"), ("if-match", "*")]).await.bytes().await.unwrap();
    get(&client, &format!("{url}/missing"), &[("if-none-match", "\"x\"")]).await.bytes().await.unwrap();
    client.head(format!("{url}/a%20b")).send().await.unwrap();
    get(&client, &format!("{url}?list-type=2&prefix=a"), &[]).await.bytes().await.unwrap();
    client.delete(format!("{url}/a%20b")).send().await.unwrap();
    client.post(format!("{url}/a%20b?uploads")).send().await.unwrap().bytes().await.unwrap();
    let counts = server.counts();
    assert_eq!((counts.gets, counts.heads, counts.puts), (2, 1, 1));
    assert_eq!((counts.lists, counts.deletes, counts.others), (1, 1, 1));
    assert_eq!((counts.requests(), counts.most_in_flight, counts.aborted, counts.connections), (7, 1, 0, 1));
    assert_eq!(counts.bytes_received, 10);
    let log = server.log();
    let found: Vec<_> =
        log.iter().map(|logged| (logged.method.as_str(), logged.path.as_str(), logged.status)).collect();
    let (key, bucket) = ("/data/a b", "/data");
    let expected = [
        ("PUT", key, Some(200)),
        ("GET", key, Some(206)),
        ("GET", "/data/missing", Some(404)),
        ("HEAD", key, Some(200)),
        ("GET", bucket, Some(200)),
        ("DELETE", key, Some(204)),
        ("POST", key, Some(200)),
    ];
    assert_eq!(found, expected);
    assert_eq!((log[1].range.as_deref(), log[1].if_match.as_deref()), (Some("bytes=0-3"), Some("*")));
    assert_eq!(log[2].if_none_match.as_deref(), Some("\"x\""));
    assert_eq!((log[4].operation, log[4].query.as_str()), (Operation::List, "list-type=2&prefix=a"));

    server.reset_counts();
    assert_eq!((server.counts().requests(), server.log().len()), (0, 0));
    server.put(BUCKET, "key", vec![0; 1_000_000]);
    assert_eq!(get(&client, &format!("{url}/key"), &[]).await.bytes().await.unwrap().len(), 1_000_000);
    assert_eq!((server.counts().gets, server.counts().bytes_sent), (1, 1_000_000));
}

#[tokio::test]
async fn most_in_flight_is_that_of_the_client() {
    let server = TestServer::builder().latency(Duration::from_millis(20)).start().unwrap();
    server.put(BUCKET, "key", vec![7; 600_000]);
    let client = http();
    for limit in [1, 3, 16] {
        server.reset_counts();
        let start = Instant::now();
        let workers = (0..limit).map(|_| {
            let (client, url) = (client.clone(), format!("{}/{BUCKET}/key", server.url()));
            tokio::spawn(async move {
                for _ in 0..5 {
                    assert_eq!(get(&client, &url, &[]).await.bytes().await.unwrap().len(), 600_000);
                }
            })
        });
        futures::future::join_all(workers).await.into_iter().for_each(|result| result.unwrap());
        assert_eq!(server.counts().gets, 5 * limit);
        assert_eq!(server.counts().most_in_flight, limit);
        assert!(start.elapsed() >= Duration::from_millis(100));
    }
}

#[tokio::test]
async fn latency_is_that_of_each_request() {
    let latency = Duration::from_millis(300);
    let server = TestServer::builder().latency(latency).start().unwrap();
    server.put(BUCKET, "key", "value");
    let (client, url) = (http(), format!("{}/{BUCKET}/key", server.url()));
    let start = Instant::now();
    futures::future::join_all((0..16).map(|_| get(&client, &url, &[]))).await;
    assert!(start.elapsed() >= latency && start.elapsed() < 10 * latency, "{:?}", start.elapsed());
    server.set_latency(Duration::ZERO);
    let start = Instant::now();
    get(&client, &url, &[]).await;
    assert!(start.elapsed() < latency, "{:?}", start.elapsed());
}

#[tokio::test]
async fn bandwidth_is_that_of_a_connection() {
    let server = TestServer::builder().bandwidth(10_000_000).start().unwrap();
    server.put(BUCKET, "key", vec![7; 5_000_000]);
    let (client, url) = (http(), format!("{}/{BUCKET}/key", server.url()));
    let expected = Duration::from_millis(500);
    let start = Instant::now();
    let both = (0..2).map(|_| async { get(&client, &url, &[]).await.bytes().await.unwrap() });
    futures::future::join_all(both).await;
    let elapsed = start.elapsed();
    assert!(elapsed > expected.mul_f64(0.9) && elapsed < expected.mul_f64(1.8), "{elapsed:?}");
    let start = Instant::now();
    client.put(&url).body(vec![1; 5_000_000]).send().await.unwrap();
    assert!(start.elapsed() > expected.mul_f64(0.9), "{:?}", start.elapsed());
    server.set_bandwidth(None);
    let start = Instant::now();
    get(&client, &url, &[]).await.bytes().await.unwrap();
    assert!(start.elapsed() < expected, "{:?}", start.elapsed());
}

/// Waits until requests that the client gave up are counted.
async fn aborted(server: &TestServer, count: u64) {
    let start = Instant::now();
    while server.counts().aborted < count {
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", server.counts());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(server.counts().aborted, count);
}

#[tokio::test]
async fn clients_that_go_away_are_counted() {
    let server = TestServer::start().unwrap();
    server.put(BUCKET, "key", vec![7; 20_000_000]);
    let (client, url) = (http(), format!("{}/{BUCKET}/key", server.url()));
    assert_eq!(get(&client, &url, &[]).await.bytes().await.unwrap().len(), 20_000_000);
    assert_eq!(server.counts().aborted, 0);

    // Before the answer: the operation is not done.
    server.set_latency(Duration::from_secs(60));
    let waiting = tokio::time::timeout(Duration::from_millis(50), client.put(&url).body("x").send()).await;
    assert!(waiting.is_err());
    let start = Instant::now();
    aborted(&server, 1).await;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(server.get(BUCKET, "key").unwrap().len(), 20_000_000);
    assert_eq!(server.log().last().unwrap().status, None);

    // Within it.
    server.set_latency(Duration::ZERO);
    server.set_bandwidth(Some(1_000_000));
    let mut answer = get(&client, &url, &[]).await;
    assert!(!answer.chunk().await.unwrap().unwrap().is_empty());
    drop(answer);
    aborted(&server, 2).await;
    assert!(server.counts().bytes_sent < 21_000_000);

    // After it.
    server.set_bandwidth(None);
    drop(client);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(server.counts().aborted, 2);
}

#[test]
fn directories_are_loaded() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(directory.path().join("a/c/0")).unwrap();
    std::fs::write(directory.path().join("a/zarr.json"), "{}").unwrap();
    std::fs::write(directory.path().join("a/c/0/1"), [1, 2]).unwrap();
    let server = TestServer::start().unwrap();
    server.load(BUCKET, directory.path()).unwrap();
    assert_eq!(server.keys(BUCKET), ["a/c/0/1", "a/zarr.json"]);
    assert_eq!(server.get(BUCKET, "a/c/0/1").unwrap(), [1, 2][..]);
    let error = server.load(BUCKET, directory.path().join("missing")).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}

#[tokio::test]
async fn a_dropped_server_stops() {
    let server = TestServer::start().unwrap();
    let url = server.url();
    drop(server);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(http().get(url).send().await.unwrap_err().is_connect());
}

#[tokio::test]
async fn more_requests_than_a_server_has_capacity_for_are_refused() {
    let server = TestServer::builder().latency(Duration::from_millis(50)).start().unwrap();
    server.put(BUCKET, "key", "value");
    server.set_capacity(Some(3));
    let (client, url) = (http(), format!("{}/{BUCKET}/key", server.url()));
    let gets = (0..10).map(|_| {
        let (client, url) = (client.clone(), url.clone());
        tokio::spawn(async move { get(&client, &url, &[]).await.status().as_u16() })
    });
    let mut found = Vec::new();
    for get in gets.collect::<Vec<_>>() {
        found.push(get.await.unwrap());
    }
    let refused = found.iter().filter(|status| **status == 503).count();
    assert!(refused >= 5 && found.iter().all(|status| [200, 503].contains(status)), "{found:?}");
    assert_eq!(server.counts().refused, refused as u64);
    server.set_capacity(None);
    assert_eq!(get(&client, &url, &[]).await.status().as_u16(), 200);
}
