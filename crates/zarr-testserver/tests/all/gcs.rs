//! Google Cloud Storage, as object_store uses it.

use crate::support::{BUCKET, gcs, get, header, http};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attribute, AttributeValue, Attributes, Error, GetOptions, GetRange, MultipartUpload, ObjectStore, ObjectStoreExt,
    PutMode, PutOptions, PutPayload, UpdateVersion,
};
use zarr_testserver::{Bucket, TestServer};

fn server() -> TestServer {
    TestServer::builder().bucket(BUCKET, Bucket::gcs()).start().unwrap()
}

async fn put(store: &impl ObjectStore, path: &Path, value: &str, mode: PutMode) -> object_store::Result<UpdateVersion> {
    Ok(store.put_opts(path, value.to_owned().into(), mode.into()).await?.into())
}

#[tokio::test]
async fn values() {
    let server = server();
    let store = gcs(&server);
    let path = Path::parse("a/b c/é%+=&").unwrap();
    let attributes = Attributes::from_iter([
        (Attribute::ContentType, AttributeValue::from("application/x-chunk")),
        (Attribute::Metadata("write-id".into()), AttributeValue::from("7")),
    ]);
    let options = PutOptions { attributes: attributes.clone(), ..PutOptions::default() };
    let result = store.put_opts(&path, PutPayload::from_static(b"0123456789"), options).await.unwrap();
    assert_eq!(server.keys(BUCKET), [path.as_ref()]);
    let generation = server.generation(BUCKET, path.as_ref()).map(|number| number.to_string());
    assert_eq!(result.version, generation);
    let found = store.get(&path).await.unwrap();
    assert_eq!((&found.meta.version, &found.attributes), (&generation, &attributes));
    assert_eq!(found.bytes().await.unwrap(), "0123456789");
    assert_eq!(store.head(&path).await.unwrap().version, generation);
    for (range, expected) in
        [(GetRange::Bounded(2..5), "234"), (GetRange::Offset(7), "789"), (GetRange::Suffix(3), "789")]
    {
        let options = GetOptions { range: Some(range.clone()), ..GetOptions::default() };
        assert_eq!(store.get_opts(&path, options).await.unwrap().bytes().await.unwrap(), expected, "{range}");
    }

    // A version that is there no more is not found.
    server.put(BUCKET, path.as_ref(), "other");
    let options = GetOptions { version: generation, ..GetOptions::default() };
    assert!(matches!(store.get_opts(&path, options).await, Err(Error::NotFound { .. })));
    let options = GetOptions {
        version: server.generation(BUCKET, path.as_ref()).map(|number| number.to_string()),
        ..GetOptions::default()
    };
    assert_eq!(store.get_opts(&path, options).await.unwrap().bytes().await.unwrap(), "other");

    store.delete(&path).await.unwrap();
    assert!(matches!(store.get(&path).await, Err(Error::NotFound { .. })));
    let answer = http().delete(format!("{}/{BUCKET}/missing", server.url())).send().await.unwrap();
    assert_eq!(answer.status(), 404);
}

#[tokio::test]
async fn conditions_of_writes() {
    let server = server();
    let store = gcs(&server);
    let path = Path::from("key");
    let first = put(&store, &path, "first", PutMode::Create).await.unwrap();
    let again = put(&store, &path, "again", PutMode::Create).await;
    assert!(matches!(again, Err(Error::AlreadyExists { .. })), "{again:?}");
    let second = put(&store, &path, "second", PutMode::Update(first.clone())).await.unwrap();
    let stale = put(&store, &path, "stale", PutMode::Update(first)).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
    // The same bytes are another generation, though not another ETag.
    let third = put(&store, &path, "second", PutMode::Overwrite).await.unwrap();
    assert_eq!(third.e_tag, second.e_tag);
    let stale = put(&store, &path, "stale", PutMode::Update(second)).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
    server.remove(BUCKET, "key").unwrap();
    let gone = put(&store, &path, "gone", PutMode::Update(third)).await;
    assert!(matches!(gone, Err(Error::Precondition { .. })), "{gone:?}");
    assert!(server.keys(BUCKET).is_empty());

    let request = http().put(format!("{}/{BUCKET}/key", server.url())).header("x-goog-if-generation-match", "x");
    assert_eq!(request.send().await.unwrap().status(), 400);
}

#[tokio::test]
async fn one_of_racing_creates_wins() {
    let server = server();
    let store = gcs(&server);
    for round in 0..60 {
        let path = Path::from(format!("key/{round}"));
        let racers = (0..8).map(|racer| {
            let (store, path) = (store.clone(), path.clone());
            tokio::spawn(async move { (racer, put(&store, &path, &racer.to_string(), PutMode::Create).await) })
        });
        let mut winners = Vec::new();
        for result in futures::future::join_all(racers).await {
            match result.unwrap() {
                (racer, Ok(_)) => winners.push(racer.to_string()),
                (_, Err(Error::AlreadyExists { .. })) => (),
                (_, Err(error)) => panic!("{error}"),
            }
        }
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(server.get(BUCKET, path.as_ref()).unwrap(), winners[0]);
    }
}

#[tokio::test]
async fn listings_and_removals() {
    let server = server();
    let store = gcs(&server);
    let mut expected: Vec<_> = (0..1200).map(|index| format!("a/c/{index}")).collect();
    expected.extend(["a/<&>", "b"].map(str::to_owned));
    expected.sort();
    expected.iter().for_each(|key| drop(server.put(BUCKET, key, "x")));
    let found: Vec<_> = store.list(None).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(found.iter().map(|meta| meta.location.to_string()).collect::<Vec<_>>(), expected);
    assert_eq!(server.counts().lists, 2);
    let found = store.list_with_delimiter(None).await.unwrap();
    assert_eq!((found.common_prefixes, found.objects.len()), (vec![Path::from("a")], 1));
    let paths = ["a/c/0", "a/c/1", "b"].map(|path| Ok(Path::from(path)));
    store.delete_stream(futures::stream::iter(paths).boxed()).try_collect::<Vec<_>>().await.unwrap();
    assert_eq!(server.keys(BUCKET).len(), 1199);
}

#[tokio::test]
async fn uploads_in_parts_and_copies() {
    let server = server();
    let store = gcs(&server);
    let path = Path::from("large");
    let mut upload = store.put_multipart(&path).await.unwrap();
    for part in ["first ", "second"] {
        upload.put_part(PutPayload::from_static(part.as_bytes())).await.unwrap();
    }
    let result = upload.complete().await.unwrap();
    assert_eq!(result.version, server.generation(BUCKET, "large").map(|number| number.to_string()));
    assert_eq!(server.get(BUCKET, "large").unwrap(), "first second");
    let mut upload = store.put_multipart(&path).await.unwrap();
    upload.put_part(PutPayload::from_static(b"other")).await.unwrap();
    upload.abort().await.unwrap();
    assert_eq!(server.uploads(BUCKET), 0);

    store.copy(&path, &Path::from("copy")).await.unwrap();
    assert_eq!(server.get(BUCKET, "copy").unwrap(), "first second");
    let taken = store.copy_if_not_exists(&path, &Path::from("copy")).await;
    assert!(matches!(taken, Err(Error::AlreadyExists { .. })), "{taken:?}");
    store.copy_if_not_exists(&path, &Path::from("new")).await.unwrap();
    assert_eq!(server.get(BUCKET, "new").unwrap(), "first second");
}

#[tokio::test]
async fn the_requester_pays() {
    let server = server();
    server.put(BUCKET, "key", "value");
    server.bucket(BUCKET, Bucket::gcs().requester_pays());
    let url = format!("{}/{BUCKET}/key", server.url());
    assert_eq!(get(&http(), &url, &[]).await.status(), 403);
    let answer = get(&http(), &url, &[("x-goog-user-project", "project")]).await;
    assert_eq!(header(&answer, "x-goog-generation"), server.generation(BUCKET, "key").unwrap().to_string());
}
