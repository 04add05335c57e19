//! Files over HTTP.

use crate::support::{BUCKET, get, header, http, prepare};
use futures::TryStreamExt;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt};
use reqwest::Method;
use zarr_testserver::{Bucket, Listing, TestServer};

/// A server with a few files, and the address of its directory.
fn server(bucket: Bucket) -> (TestServer, String) {
    let server = TestServer::builder().bucket(BUCKET, bucket).start().unwrap();
    for key in ["a/zarr.json", "a/c/0/1", "a/c/1/1", "é \"<&>'#?%.txt", &"long".repeat(20)] {
        server.put(BUCKET, key, key.to_owned());
    }
    let url = format!("{}/{BUCKET}", server.url());
    (server, url)
}

#[tokio::test]
async fn reads() {
    let (server, url) = server(Bucket::plain());
    let client = http();
    let file = format!("{url}/a/zarr.json");
    let answer = get(&client, &file, &[("range", "bytes=2-5")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-range").as_str()), (206, "bytes 2-5/11"));
    let etag = header(&answer, "etag");
    assert_eq!(answer.text().await.unwrap(), "zarr");
    assert_eq!(get(&client, &file, &[("if-none-match", &etag)]).await.status(), 304);
    let answer = get(&client, &file, &[("range", "bytes=11-")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "content-range").as_str()), (416, "bytes */11"));
    let answer = client.head(&file).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), header(&answer, "content-length").as_str()), (200, "11"));
    for path in ["/a/", "/a", "/missing", "/a/zarr.json/", "/"] {
        assert_eq!(get(&client, &format!("{url}{path}"), &[]).await.status(), 404, "{path}");
    }
    assert_eq!(get(&client, &format!("{url}/%C3%A9%20%22%3C%26%3E%27%23%3F%25.txt"), &[]).await.status(), 200);
    let answer = client.put(&file).body("x").send().await.unwrap();
    assert_eq!((answer.status().as_u16(), header(&answer, "allow").as_str()), (405, "GET, HEAD"));
    assert_eq!(server.get(BUCKET, "a/zarr.json").unwrap(), "a/zarr.json");
    server.bucket(BUCKET, Bucket::plain().missing_is_403());
    assert_eq!(get(&client, &format!("{url}/missing"), &[]).await.status(), 403);
    server.bucket(BUCKET, Bucket::plain().ignoring_ranges());
    let answer = get(&client, &file, &[("range", "bytes=2-5")]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "accept-ranges").as_str()), (200, ""));
    assert_eq!(answer.text().await.unwrap(), "a/zarr.json");
}

#[tokio::test]
async fn listing_in_json() {
    let (server, url) = server(Bucket::plain().listing(Listing::Json));
    let client = http();
    let answer = get(&client, &format!("{url}/"), &[]).await;
    assert_eq!(header(&answer, "content-type"), "application/json");
    let text = answer.text().await.unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[4]), (5, "[", "]"));
    assert!(lines[1].starts_with("{ \"name\":\"a\", \"type\":\"directory\", \"mtime\":\""), "{text}");
    assert!(lines[2].ends_with("\", \"size\":80 },"), "{text}");
    assert!(lines[3].starts_with("{ \"name\":\"é \\\"<&>'#?%.txt\", \"type\":\"file\""), "{text}");
    let text = get(&client, &format!("{url}/a/"), &[]).await.text().await.unwrap();
    assert!(text.contains("\"c\"") && text.contains("\"zarr.json\"") && text.lines().count() == 4, "{text}");
    assert_eq!(get(&client, &format!("{url}/missing/"), &[]).await.status(), 404);
    let answer = get(&client, &format!("{url}/a"), &[]).await;
    assert_eq!((answer.status().as_u16(), header(&answer, "location").as_str()), (301, "/data/a/"));
    assert_eq!(server.counts().lists, 3);
}

#[tokio::test]
async fn listing_in_html() {
    let (_server, url) = server(Bucket::plain().listing(Listing::Html));
    let answer = get(&http(), &format!("{url}/"), &[]).await;
    assert_eq!(header(&answer, "content-type"), "text/html");
    let text = answer.text().await.unwrap();
    let long = "long".repeat(20);
    let links = [
        "<a href=\"../\">../</a>".to_owned(),
        "<a href=\"a/\">a/</a> ".to_owned(),
        format!("<a href=\"{long}\">{}..&gt;</a> ", &long[..47]),
        "<a href=\"%C3%A9%20%22%3C%26%3E%27%23%3F%25.txt\">é &quot;&lt;&amp;&gt;'#?%.txt</a> ".to_owned(),
    ];
    let found: Vec<_> = text.lines().filter(|line| line.contains("<a ")).collect();
    assert_eq!(found.len(), links.len());
    for (line, link) in found.iter().zip(&links) {
        assert!(line.contains(link), "{line}");
    }
}

#[tokio::test]
async fn listing_by_webdav() {
    let (server, url) = server(Bucket::plain().listing(Listing::WebDav));
    prepare();
    let client = http();
    let method = Method::from_bytes(b"PROPFIND").unwrap();
    let found = async |path: &str, depth: &str| {
        let request = client.request(method.clone(), format!("{url}{path}")).header("depth", depth);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let text = answer.text().await.unwrap();
        let paths = text.split("<D:href>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned());
        (status, paths.collect::<Vec<_>>())
    };
    let owned = |paths: &[&str]| paths.iter().map(|path| format!("/data/{path}")).collect::<Vec<_>>();
    assert_eq!(found("/a/", "0").await, (207, owned(&["a/"])));
    assert_eq!(found("/a", "1").await, (207, owned(&["a/", "a/c/", "a/zarr.json"])));
    assert_eq!(found("/a/zarr.json", "1").await, (207, owned(&["a/zarr.json"])));
    let all = ["a/", "a/c/", "a/c/0/", "a/c/0/1", "a/c/1/", "a/c/1/1", "a/zarr.json"];
    assert_eq!(found("/a/", "infinity").await, (207, owned(&all)));
    assert_eq!(found("/missing", "1").await, (404, Vec::new()));
    assert_eq!(get(&client, &format!("{url}/a/"), &[]).await.status(), 404);

    // It takes the paths of a listing as they are, so that its own address has to be that of the root.
    let options = ClientOptions::new().with_allow_http(true);
    let store = HttpBuilder::new().with_url(server.url()).with_client_options(options).build().unwrap();
    let found: Vec<_> = store.list(Some(&Path::from("data/a"))).try_collect::<Vec<_>>().await.unwrap();
    let mut paths: Vec<_> = found.iter().map(|meta| meta.location.to_string()).collect();
    paths.sort();
    assert_eq!(paths, ["data/a/c/0/1", "data/a/c/1/1", "data/a/zarr.json"]);
    let found = store.list_with_delimiter(Some(&Path::from("data/a"))).await.unwrap();
    assert_eq!((found.common_prefixes, found.objects[0].size), (vec![Path::from("data/a/c")], 11));
    assert_eq!(found.objects[0].e_tag, server.etag(BUCKET, "a/zarr.json"));
    assert_eq!(store.get_range(&Path::from("data/a/zarr.json"), 2..6).await.unwrap(), "zarr");

    server.bucket(BUCKET, Bucket::plain());
    let answer = client.request(method.clone(), &url).send().await.unwrap();
    assert_eq!(answer.status(), 405);
}
