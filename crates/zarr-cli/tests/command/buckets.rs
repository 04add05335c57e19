//! Stores in buckets, on the web, and zip files in them.

use crate::folder::Folder;
use zarr_testserver::{Bucket, TestServer};

fn options(server: &TestServer) -> [String; 4] {
    let endpoint = format!("endpoint={}", server.url());
    ["--store-option", "anonymous=true", "--store-option", &endpoint].map(str::to_owned)
}

fn all<'a>(args: &[&'a str], options: &'a [String]) -> Vec<&'a str> {
    args.iter().copied().chain(options.iter().map(String::as_str)).collect()
}

#[test]
fn hierarchies_go_to_a_bucket_and_back() {
    let (folder, server) =
        (Folder::new(), TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap());
    let options = options(&server);
    let new = ["--shape", "40,6", "--dtype", "int32", "--chunks", "2,6", "--codecs", "zstd"];
    folder.ok(&[&["create", "x.zarr", "g/a"], &new[..], &["--fill", "7"]].concat());
    zarr::open(folder.path("x.zarr/g/a")).array().unwrap().fill(3..5, 9).unwrap();
    let values = folder.ok(&["read", "x.zarr", "g/a"]);
    folder.ok(&all(&["convert", "x.zarr", "s3://data/y.zarr"], &options));
    assert_eq!(folder.ok(&all(&["read", "s3://data/y.zarr/g/a"], &options)), values);
    server.reset_counts();
    assert!(folder.ok(&all(&["tree", "s3://data/y.zarr"], &options)).contains("(40, 6)"));
    assert_eq!(server.counts().heads, 0);
    folder.ok(&all(&["convert", "s3://data/y.zarr", "z.zarr"], &options));
    assert_eq!(folder.ok(&["read", "z.zarr", "g/a"]), values);
    folder.ok(&all(
        &["convert", "s3://data/y.zarr", "s3://data/v2.zarr", "--dialect", "v2", "--chunks", "40,2"],
        &options,
    ));
    assert_eq!(folder.ok(&all(&["read", "s3://data/v2.zarr/g/a"], &options)), values);
    folder.ok(&all(&["rm", "s3://data/y.zarr/g", "--recursive"], &options));
    assert!(server.get("data", "y.zarr/g/a/zarr.json").is_none() && server.get("data", "y.zarr/zarr.json").is_some());

    let ran = folder.run(&all(&["tree", "s3://none/x.zarr"], &options));
    assert!(ran.code != Some(0) && ran.err.contains("there is no bucket \"none\""), "{}", ran.err);
    let ran = folder.run(&all(&["tree", "s3://data/x.zarr"], &options));
    assert!(ran.code == Some(3) && ran.err.contains("s3://data/x.zarr: /: no array and no group here"), "{}", ran.err);
    let ran = folder.run(&["tree", "s3://data/x.zarr", "--store-option", "endpiont=x"]);
    assert!(ran.code == Some(2) && ran.err.contains("found \"endpiont\", expected one of"), "{}", ran.err);
}

#[test]
fn the_web_is_read_by_given_paths_and_consolidated_metadata() {
    let server = TestServer::builder().bucket("data", Bucket::plain()).start().unwrap();
    let folder = Folder::new();
    let new = ["--shape", "4", "--dtype", "int8", "--chunks", "2"];
    folder.ok(&[&["create", "x.zarr", "g/a"], &new[..], &["--fill", "5"]].concat());
    folder.ok(&["consolidate", "x.zarr"]);
    server.load("data", folder.path("")).unwrap();
    let url = format!("{}/data/x.zarr", server.url());
    assert_eq!(folder.ok(&["read", &format!("{url}/g/a")]), folder.ok(&["read", "x.zarr/g/a"]));
    assert!(folder.ok(&["tree", &url]).contains("int8"));
    let ran = folder.run(&["attrs", &url, "--set", "a=1"]);
    assert!(ran.code != Some(0) && ran.err.contains("read-only"), "{}", ran.err);
}

#[test]
fn a_zip_file_in_a_bucket_is_read_by_ranges() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let (folder, options) = (Folder::new(), options(&server));
    let new = ["--shape", "200000", "--dtype", "int32", "--chunks", "50000", "--codecs", "bytes"];
    folder.ok(&[&["create", "x.zarr", "g/a"], &new[..]].concat());
    zarr::open(folder.path("x.zarr/g/a")).array().unwrap().fill(.., 3).unwrap();
    let zip = zarr::store::ZipStore::create(folder.path("x.zip")).unwrap();
    let source = zarr::store::open(folder.path("x.zarr").to_str().unwrap()).unwrap();
    for key in zarr::store::StoreExt::list(&source).unwrap() {
        let value = zarr::store::StoreExt::get_all(&source, &key).unwrap().unwrap();
        zarr::Store::set(&zip, &key, &value, &zarr::store::SetOptions::default()).unwrap();
    }
    zip.close().unwrap();
    server.put("data", "f/x.zip", std::fs::read(folder.path("x.zip")).unwrap());
    server.reset_counts();
    let read = folder.ok(&all(&["read", "zip:s3://data/f/x.zip::/g/a", "--select", "60000:60003"], &options));
    assert_eq!(read.split_whitespace().collect::<Vec<_>>(), ["3", "3", "3"]);
    let counts = server.counts();
    assert!(counts.bytes_sent < 400_000 && counts.heads == 0, "{counts:?}");
    assert_eq!(folder.ok(&all(&["read", "zip:s3://data/f/x.zip/g/a", "--select", "60000:60003"], &options)), read);
}
