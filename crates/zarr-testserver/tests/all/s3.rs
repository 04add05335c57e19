//! S3: as object_store uses it, and what it does not look at.

use crate::support::{BUCKET, get, header, http, s3, s3_builder};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error, GetOptions, GetRange, MultipartUpload, ObjectStore, ObjectStoreExt,
    PutMode, PutOptions, PutPayload, UpdateVersion,
};
use zarr_testserver::{Bucket, TestServer};

fn server() -> TestServer {
    TestServer::builder().bucket(BUCKET, Bucket::s3()).start().unwrap()
}

#[tokio::test]
async fn values() {
    let server = server();
    let store = s3(&server);
    let path = Path::parse("a/b c/é%+=&").unwrap();
    let attributes = Attributes::from_iter([
        (Attribute::ContentType, AttributeValue::from("application/x-chunk")),
        (Attribute::Metadata("write-id".into()), AttributeValue::from("7")),
    ]);
    let options = PutOptions { attributes: attributes.clone(), ..PutOptions::default() };
    let result = store.put_opts(&path, PutPayload::from_static(b"0123456789"), options).await.unwrap();
    assert_eq!(result.e_tag, server.etag(BUCKET, path.as_ref()));
    assert_eq!(server.keys(BUCKET), [path.as_ref()]);

    let found = store.get(&path).await.unwrap();
    assert_eq!(found.attributes, attributes);
    assert_eq!((found.meta.size, &found.meta.e_tag), (10, &result.e_tag));
    assert_eq!(found.bytes().await.unwrap(), "0123456789");
    let head = store.head(&path).await.unwrap();
    assert_eq!((head.size, head.e_tag), (10, result.e_tag.clone()));

    for (range, expected) in [
        (GetRange::Bounded(2..5), "234"),
        (GetRange::Bounded(8..20), "89"),
        (GetRange::Offset(7), "789"),
        (GetRange::Suffix(3), "789"),
        (GetRange::Suffix(30), "0123456789"),
    ] {
        let options = GetOptions { range: Some(range.clone()), ..GetOptions::default() };
        let found = store.get_opts(&path, options).await.unwrap();
        assert_eq!(found.meta.size, 10);
        assert_eq!(found.bytes().await.unwrap(), expected, "{range}");
    }
    let options = GetOptions { range: Some(GetRange::Offset(10)), ..GetOptions::default() };
    assert!(store.get_opts(&path, options).await.unwrap_err().to_string().contains("416"));

    store.delete(&path).await.unwrap();
    assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })));
    assert!(matches!(store.head(&path).await, Err(Error::NotFound { .. })));
    assert_eq!(server.get(BUCKET, path.as_ref()), None);
}

#[tokio::test]
async fn conditions_of_reads() {
    let server = server();
    let store = s3(&server);
    let (path, etag) = (Path::from("key"), server.put(BUCKET, "key", "value"));
    let matching = |if_match: Option<&str>, if_none_match: Option<&str>| GetOptions {
        if_match: if_match.map(str::to_owned),
        if_none_match: if_none_match.map(str::to_owned),
        ..GetOptions::default()
    };
    assert!(store.get_opts(&path, matching(Some(&etag), None)).await.is_ok());
    assert!(store.get_opts(&path, matching(None, Some("\"other\""))).await.is_ok());
    let other = store.get_opts(&path, matching(Some("\"other\""), None)).await;
    assert!(matches!(other, Err(Error::Precondition { .. })), "{other:?}");
    let same = store.get_opts(&path, matching(None, Some(&etag))).await;
    assert!(matches!(same, Err(Error::NotModified { .. })), "{same:?}");

    // Equal values have equal ETags, others others.
    assert_eq!(server.put(BUCKET, "key", "value"), etag);
    assert_ne!(server.put(BUCKET, "key", "other"), etag);
    let old = store.get_opts(&path, matching(Some(&etag), None)).await;
    assert!(matches!(old, Err(Error::Precondition { .. })), "{old:?}");

    let modified = store.head(&path).await.unwrap().last_modified;
    let since = GetOptions { if_modified_since: Some(modified), ..GetOptions::default() };
    assert!(matches!(store.get_opts(&path, since).await, Err(Error::NotModified { .. })));
    let hour = std::time::Duration::from_secs(3600);
    let since = GetOptions { if_unmodified_since: Some(modified - hour), ..GetOptions::default() };
    assert!(matches!(store.get_opts(&path, since).await, Err(Error::Precondition { .. })));
    let since = GetOptions { if_modified_since: Some(modified - hour), ..GetOptions::default() };
    assert!(store.get_opts(&path, since).await.is_ok());
}

async fn put(store: &impl ObjectStore, path: &Path, value: &str, mode: PutMode) -> object_store::Result<UpdateVersion> {
    Ok(store.put_opts(path, value.to_owned().into(), mode.into()).await?.into())
}

#[tokio::test]
async fn conditions_of_writes() {
    let server = server();
    let store = s3(&server);
    let path = Path::from("key");
    let first = put(&store, &path, "first", PutMode::Create).await.unwrap();
    let again = put(&store, &path, "again", PutMode::Create).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    let second = put(&store, &path, "second", PutMode::Update(first.clone())).await.unwrap();
    let stale = put(&store, &path, "stale", PutMode::Update(first)).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
    assert_eq!(server.get(BUCKET, "key").unwrap(), "second");

    server.bucket(BUCKET, Bucket::s3().conflict_is_409());
    let again = put(&store, &path, "again", PutMode::Create).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    assert_eq!(server.log().last().unwrap().status, Some(409));
    server.bucket(BUCKET, Bucket::s3());

    server.remove(BUCKET, "key").unwrap();
    let gone = put(&store, &path, "gone", PutMode::Update(second)).await;
    assert!(matches!(gone, Err(Error::Precondition { .. })), "{gone:?}");
    // What object_store makes of the answer of S3.
    assert_eq!(server.log().last().unwrap().status, Some(404));
    assert!(server.keys(BUCKET).is_empty());
}

#[tokio::test]
async fn one_of_racing_creates_wins() {
    let server = server();
    let store = s3(&server);
    for round in 0..60 {
        let path = Path::from(format!("key/{round}"));
        let racers = (0..8).map(|racer| {
            let (store, path) = (store.clone(), path.clone());
            tokio::spawn(async move { (racer, put(&store, &path, &racer.to_string(), PutMode::Create).await) })
        });
        let results = futures::future::join_all(racers).await;
        let mut winners = Vec::new();
        for result in results {
            match result.unwrap() {
                (racer, Ok(_)) => winners.push(racer.to_string()),
                (_, Err(Error::AlreadyExists { .. })) => (),
                (_, Err(error)) => panic!("{error}"),
            }
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(server.get(BUCKET, path.as_ref()).unwrap(), winners[0]);
    }
    assert_eq!(server.counts().puts, 480);
}

#[tokio::test]
async fn no_update_is_lost() {
    let server = server();
    server.put(BUCKET, "count", "0");
    let store = s3(&server);
    let workers = (0..4).map(|_| {
        let store = store.clone();
        tokio::spawn(async move {
            let path = Path::from("count");
            let mut done = 0;
            while done < 25 {
                let found = store.get(&path).await.unwrap();
                let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: None };
                let text = found.bytes().await.unwrap();
                let count: u32 = std::str::from_utf8(&text).unwrap().parse().unwrap();
                match put(&store, &path, &(count + 1).to_string(), PutMode::Update(version)).await {
                    Ok(_) => done += 1,
                    Err(Error::Precondition { .. }) => (),
                    Err(error) => panic!("{error}"),
                }
            }
        })
    });
    futures::future::join_all(workers).await.into_iter().for_each(|result| result.unwrap());
    assert_eq!(server.get(BUCKET, "count").unwrap(), "100");
}

#[tokio::test]
async fn listings() {
    let server = server();
    let store = s3(&server);
    let mut expected: Vec<_> = (0..2500).map(|index| format!("a/c/{index}")).collect();
    expected.extend(["a/zarr.json", "a/<&>\"'", "b/x", "b/y/z", "c"].map(str::to_owned));
    expected.sort();
    for key in &expected {
        server.put(BUCKET, key, key.clone());
    }
    let found: Vec<_> = store.list(None).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(found.iter().map(|meta| meta.location.to_string()).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|meta| meta.size == meta.location.as_ref().len() as u64));
    assert!(found.iter().all(|meta| meta.e_tag == server.etag(BUCKET, meta.location.as_ref())));
    assert_eq!(server.counts().lists, 3);

    let found = store.list_with_delimiter(None).await.unwrap();
    assert_eq!(found.common_prefixes, [Path::from("a"), Path::from("b")]);
    assert_eq!(found.objects.len(), 1);
    let found = store.list_with_delimiter(Some(&Path::from("b"))).await.unwrap();
    assert_eq!(found.common_prefixes, [Path::from("b/y")]);
    assert_eq!(found.objects[0].location, Path::from("b/x"));
    let found: Vec<_> = store.list_with_offset(None, &Path::from("b/x")).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(found.iter().map(|meta| meta.location.to_string()).collect::<Vec<_>>(), ["b/y/z", "c"]);
}

/// The text of each element of this name in a document.
fn texts(document: &str, name: &str) -> Vec<String> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    document.split(&start).skip(1).map(|rest| rest.split(&end).next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn pages_of_listings() {
    let server = server();
    let client = http();
    let keys = ["a/1", "a/2", "b", "c/1", "c/d/2", "e", "f/1", "é f"];
    keys.iter().for_each(|key| drop(server.put(BUCKET, key, "x")));
    for size in 1..=7 {
        for (delimiter, expected) in [("", &keys[..]), ("%2F", &["a/", "b", "c/", "e", "f/", "é f"][..])] {
            let (mut found, mut token) = (Vec::new(), String::new());
            loop {
                let url = format!("{}/{BUCKET}?list-type=2&max-keys={size}&delimiter={delimiter}{token}", server.url());
                let page = get(&client, &url, &[]).await.text().await.unwrap();
                let count = texts(&page, "KeyCount")[0].parse::<usize>().unwrap();
                let prefixes = texts(&page, "CommonPrefixes").join("");
                found.extend([texts(&page, "Key"), texts(&prefixes, "Prefix")].concat());
                assert!((1..=size).contains(&count), "{page}");
                match texts(&page, "NextContinuationToken").first() {
                    Some(next) => token = format!("&continuation-token={next}"),
                    None => break,
                }
                assert_eq!((count, &texts(&page, "IsTruncated")[0][..]), (size, "true"));
            }
            found.sort();
            assert_eq!(found, expected);
        }
    }
    let url = format!("{}/{BUCKET}?list-type=2&encoding-type=url&prefix=%C3%A9", server.url());
    let page = get(&client, &url, &[]).await.text().await.unwrap();
    assert_eq!(
        (texts(&page, "Key"), texts(&page, "Prefix")),
        (vec!["%C3%A9%20f".to_owned()], vec!["%C3%A9".to_owned()])
    );
    for query in ["list-type=2&continuation-token=k", "list-type=2&max-keys=x"] {
        let answer = get(&client, &format!("{}/{BUCKET}?{query}", server.url()), &[]).await;
        assert_eq!(answer.status(), 400);
        assert_eq!(texts(&answer.text().await.unwrap(), "Code"), ["InvalidArgument"]);
    }
}

#[tokio::test]
async fn several_deleted() {
    let server = server();
    let store = s3(&server);
    let paths: Vec<_> = (0..1500).map(|index| Path::from(format!("a&b/{index}"))).collect();
    paths.iter().for_each(|path| drop(server.put(BUCKET, path.as_ref(), "x")));
    server.put(BUCKET, "kept", "x");
    let stream = futures::stream::iter(paths.clone()).map(Ok).boxed();
    let deleted: Vec<_> = store.delete_stream(stream).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(deleted, paths);
    assert_eq!(server.keys(BUCKET), ["kept"]);
    assert_eq!(server.counts().deletes, 2);
}

#[tokio::test]
async fn uploads_in_parts() {
    let server = server();
    let store = s3(&server);
    let path = Path::from("large");
    let attributes = Attributes::from_iter([(Attribute::ContentType, AttributeValue::from("application/x-chunk"))]);
    let mut upload = store.put_multipart_opts(&path, attributes.clone().into()).await.unwrap();
    for part in ["first ", "second ", "third"] {
        upload.put_part(PutPayload::from_static(part.as_bytes())).await.unwrap();
    }
    assert_eq!((server.uploads(BUCKET), server.keys(BUCKET).len()), (1, 0));
    let result = upload.complete().await.unwrap();
    assert!(result.e_tag.as_ref().unwrap().ends_with("-3\""), "{result:?}");
    assert_eq!(server.etag(BUCKET, "large"), result.e_tag);
    assert_eq!(server.get(BUCKET, "large").unwrap(), "first second third");
    assert_eq!(store.get(&path).await.unwrap().attributes, attributes);
    assert_eq!(server.uploads(BUCKET), 0);

    let mut upload = store.put_multipart(&path).await.unwrap();
    upload.put_part(PutPayload::from_static(b"other")).await.unwrap();
    upload.abort().await.unwrap();
    assert_eq!(server.uploads(BUCKET), 0);
    assert_eq!(server.get(BUCKET, "large").unwrap(), "first second third");

    server.bucket(BUCKET, Bucket::s3().part_at_least(6));
    let mut upload = store.put_multipart(&path).await.unwrap();
    for part in ["12345", "6"] {
        upload.put_part(PutPayload::from_static(part.as_bytes())).await.unwrap();
    }
    let error = upload.complete().await.unwrap_err();
    assert!(error.to_string().contains("EntityTooSmall"), "{error}");
}

#[tokio::test]
async fn copies() {
    let server = server();
    let store = s3(&server);
    server.put(BUCKET, "a b/ü", "value");
    store.copy(&Path::parse("a b/ü").unwrap(), &Path::from("copy")).await.unwrap();
    assert_eq!(server.get(BUCKET, "copy").unwrap(), "value");
    let missing = store.copy(&Path::from("missing"), &Path::from("copy")).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    server.put(BUCKET, "a b/ü", "other");
    // In parts, which are copied, with a condition at the end.
    let store =
        s3_builder(&server).with_copy_if_not_exists(object_store::aws::S3CopyIfNotExists::Multipart).build().unwrap();
    let taken = store.copy_if_not_exists(&Path::parse("a b/ü").unwrap(), &Path::from("copy")).await;
    assert!(matches!(taken, Err(Error::AlreadyExists { .. })), "{taken:?}");
    store.copy_if_not_exists(&Path::parse("a b/ü").unwrap(), &Path::from("new")).await.unwrap();
    assert_eq!(server.get(BUCKET, "copy").unwrap(), "value");
    assert_eq!(server.get(BUCKET, "new").unwrap(), "other");
}

#[tokio::test]
async fn credentials() {
    let server = TestServer::builder().credentials("access", "secret").bucket(BUCKET, Bucket::s3()).start().unwrap();
    let client = http();
    let path = Path::parse("a b/ü+*~'()").unwrap();
    let store = s3(&server);
    put(&store, &path, "value", PutMode::Create).await.unwrap();
    assert_eq!(store.get(&path).await.unwrap().bytes().await.unwrap(), "value");
    assert_eq!(store.list(Some(&Path::from("a b"))).count().await, 1);
    store.list_with_delimiter(None).await.unwrap();
    store.delete_stream(futures::stream::iter([Ok(Path::from("x"))]).boxed()).try_collect::<Vec<_>>().await.unwrap();

    let wrong = s3_builder(&server).with_access_key_id("other").build().unwrap();
    assert!(wrong.get(&path).await.unwrap_err().to_string().contains("InvalidAccessKeyId"));
    let wrong = s3_builder(&server).with_secret_access_key("other").build().unwrap();
    assert!(wrong.get(&path).await.unwrap_err().to_string().contains("SignatureDoesNotMatch"));
    server.put(BUCKET, "key", "value");
    let url = format!("{}/{BUCKET}/key", server.url());
    let answer = get(&client, &url, &[]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-type").as_str()), (403, "application/xml"));
    assert!(answer.text().await.unwrap().contains("<Code>AccessDenied</Code>"));

    server.bucket(BUCKET, Bucket::s3().public());
    assert_eq!(get(&client, &url, &[]).await.text().await.unwrap(), "value");
    let anonymous = s3_builder(&server).with_skip_signature(true).build().unwrap();
    assert_eq!(anonymous.list(None).count().await, 2);
    let denied = put(&anonymous, &path, "value", PutMode::Overwrite).await;
    assert!(matches!(denied, Err(Error::PermissionDenied { .. })), "{denied:?}");
    server.set_credentials(None);
    put(&anonymous, &path, "value", PutMode::Overwrite).await.unwrap();
}

#[tokio::test]
async fn peculiar_buckets() {
    let server = server();
    let client = http();
    server.put(BUCKET, "key", "value");
    let url = format!("{}/{BUCKET}", server.url());
    let status = async |path: &str, headers: &[(&str, &str)]| {
        let answer = get(&client, &format!("{url}{path}"), headers).await;
        answer.status().as_u16()
    };
    server.bucket(BUCKET, Bucket::s3().requester_pays());
    assert_eq!(status("/key", &[]).await, 403);
    assert_eq!(status("/key", &[("x-amz-request-payer", "requester")]).await, 200);
    server.bucket(BUCKET, Bucket::s3().missing_is_403());
    assert_eq!((status("/key", &[]).await, status("/missing", &[]).await), (200, 403));
    assert_eq!(status("?list-type=2", &[]).await, 403);
    server.bucket(BUCKET, Bucket::s3());
    assert_eq!((status("/missing", &[]).await, status("?list-type=2", &[]).await), (404, 200));
    let answer = get(&client, &format!("{}/other/key", server.url()), &[]).await;
    assert_eq!(answer.status(), 404);
    assert!(answer.text().await.unwrap().contains("<Code>NoSuchBucket</Code>"));
    let answer = get(&client, &format!("{url}/missing"), &[]).await;
    assert!(answer.text().await.unwrap().contains("<Code>NoSuchKey</Code>"));
    assert_eq!((status("/key?acl", &[]).await, status("/%ff", &[]).await), (501, 400));
}

#[tokio::test]
async fn headers_of_reads() {
    let server = server();
    let client = http();
    let etag = server.put(BUCKET, "key", "0123456789");
    let url = format!("{}/{BUCKET}/key", server.url());
    let answer = get(&client, &url, &[("range", "bytes=2-3")]).await;
    assert_eq!(answer.status(), 206);
    let found = ["etag", "content-range", "content-length", "accept-ranges"].map(|name| header(&answer, name));
    assert_eq!(found, [&etag, "bytes 2-3/10", "2", "bytes"]);
    let answer = get(&client, &url, &[("range", "bytes=10-")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-range").as_str()), (416, "bytes */10"));
    assert!(answer.text().await.unwrap().contains("<Code>InvalidRange</Code>"));
    let answer = get(&client, &url, &[("range", "bytes=2-3"), ("if-range", "\"other\"")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-length").as_str()), (200, "10"));
    let answer = client.head(&url).send().await.unwrap();
    assert_eq!((header(&answer, "content-length").as_str(), header(&answer, "etag")), ("10", etag));
    let answer = client.head(format!("{url}x")).send().await.unwrap();
    assert_eq!(answer.status(), 404);
}

/// As newer clients of S3 send them over HTTP, with checksums behind.
#[tokio::test]
async fn bodies_in_signed_chunks() {
    let server = server();
    let request = http()
        .put(format!("{}/{BUCKET}/key", server.url()))
        .header("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        .header("content-encoding", "aws-chunked")
        .body("5\r\nvalue\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n");
    assert_eq!(request.send().await.unwrap().status(), 200);
    assert_eq!(server.get(BUCKET, "key").unwrap(), "value");
    let answer = get(&http(), &format!("{}/{BUCKET}/key", server.url()), &[]).await;
    assert_eq!(header(&answer, "content-encoding"), "");
}
