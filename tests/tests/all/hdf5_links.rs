//! External links of HDF5 files: where they may lead, on this machine, in a bucket and on the web. The cases `external_links_*` have the
//! elements that h5py reads behind them.

use std::path::{Path, PathBuf};

use zarr::store::{Prefix, StoreExt, StoreOptions};
use zarr_tests::cases;
use zarr_testserver::{Bucket, TestServer};

/// Files of the case: `store.h5` with links to `other.h5` and `below/part.h5`.
const FILES: [&str; 4] = ["store.h5", "other.h5", "below/part.h5", "below/deep/deepest.h5"];

fn folder() -> PathBuf {
    let cases = cases("hdf5").unwrap();
    let case = cases.iter().find(|case| case.name == "external_links_latest").unwrap();
    Path::new(&case.url()).parent().unwrap().to_owned()
}

fn own(address: &str, path: &str, options: &StoreOptions) -> Result<Vec<i32>, String> {
    let store = zarr::store::open_with(address, options).map_err(|error| error.to_string())?;
    let read = zarr::open((&store, path)).array().and_then(|array| array.read::<i32>(..));
    read.map_err(|_| store.take_warnings().join("\n"))
}

#[test]
fn links_lead_beside_and_below_in_buckets_and_on_the_web() {
    let server = TestServer::start().unwrap();
    server.bucket("files", Bucket::plain());
    server.bucket("bucket", Bucket::s3().public());
    for file in FILES {
        for bucket in ["files", "bucket"] {
            server.put(bucket, &format!("deep/{file}"), std::fs::read(folder().join(file)).unwrap());
        }
    }
    let local = folder().join("store.h5");
    let expected = own(local.to_str().unwrap(), "/beside", &StoreOptions::new()).unwrap();
    let web = format!("hdf5:{}/files/deep/store.h5", server.url());
    assert_eq!(own(&web, "/beside", &StoreOptions::new()).unwrap(), expected);
    let read = |path: &str| zarr::open(format!("{web}::{path}")).array().unwrap().read::<i32>(..).unwrap();
    let here = zarr::open(format!("{}::/below/chunked", local.display())).array().unwrap();
    assert_eq!(read("/below/chunked"), here.read::<i32>(..).unwrap());
    // Of each file the first bytes, and what lies behind.
    let before = server.counts().requests();
    assert_eq!(own(&web, "/beside", &StoreOptions::new()).unwrap(), expected);
    let requests = server.counts().requests() - before;
    assert!(requests <= 14, "{requests} requests");
    let bucket = StoreOptions::new().set("endpoint", server.url()).set("anonymous", "true");
    let found = own("hdf5:s3://bucket/deep/store.h5", "/beside", &bucket);
    assert_eq!(found.unwrap(), expected);
    // A file that may not be read is left out by name.
    server.put("files", "deep/other.h5", b"no HDF5".to_vec());
    let error = own(&web, "/beside", &StoreOptions::new()).unwrap_err();
    assert!(error.contains("/beside: the external link to the file other.h5 is not followed: "), "{error}");
    assert_eq!(read("/below/chunked"), here.read::<i32>(..).unwrap());
}

#[test]
fn links_lead_elsewhere_where_the_caller_allows_it() {
    let expected = own(folder().join("store.h5").to_str().unwrap(), "/beside", &StoreOptions::new()).unwrap();
    let server = TestServer::start().unwrap();
    server.bucket("files", Bucket::plain());
    server.bucket("elsewhere", Bucket::s3().public());
    server.put("files", "x.h5", std::fs::read(folder().join("elsewhere.h5")).unwrap());
    server.put("elsewhere", "data/other.h5", std::fs::read(folder().join("other.h5")).unwrap());
    let here = folder().join("elsewhere.h5");
    let here = here.to_str().unwrap();
    let bucket = StoreOptions::new().set("endpoint", server.url()).set("anonymous", "true");
    let refused = own(here, "/far", &StoreOptions::new()).unwrap_err();
    let told = "/far: the external link to the file s3://elsewhere/data/other.h5 is not followed: found \
        s3://elsewhere/data/other.h5, which does not lie below ";
    assert!(
        refused.contains(told) && refused.contains("links lead elsewhere only where the caller allows it"),
        "{refused}"
    );
    let elsewhere = own(here, "/far", &bucket.clone().set("allow", "s3://elsewhere/other")).unwrap_err();
    assert!(elsewhere.contains("s3://elsewhere/other: links lead elsewhere"), "{elsewhere}");
    assert_eq!(own(here, "/far", &bucket.set("allow", "s3://elsewhere/data")).unwrap(), expected);
    // A file from elsewhere never leads to this machine.
    let web = format!("hdf5:{}/files/x.h5", server.url());
    let local = own(&web, "/local", &StoreOptions::new().set("allow", "/nowhere")).unwrap_err();
    assert!(local.contains("a file of this machine, to which links from elsewhere never lead"), "{local}");
    let missing = own(here, "/local", &StoreOptions::new().set("allow", "/")).unwrap_err();
    assert!(missing.contains("/local: the external link to the file /nowhere/local.h5 is not followed: "), "{missing}");
    // Another option than those of files that name others is unknown.
    let unknown = own(here, "/own", &StoreOptions::new().set("region", "r")).unwrap_err();
    assert!(unknown.contains("option region is not known"), "{unknown}");
}

#[test]
fn files_that_are_not_there_leave_the_others() {
    let target = tempfile::tempdir().unwrap();
    std::fs::copy(folder().join("store.h5"), target.path().join("store.h5")).unwrap();
    let address = target.path().join("store.h5");
    let address = address.to_str().unwrap();
    let missing = own(address, "/beside", &StoreOptions::new()).unwrap_err();
    assert!(missing.contains("/beside: the external link to the file other.h5 is not followed: there is no such file"));
    assert_eq!(own(address, "/own", &StoreOptions::new()).unwrap().len(), 3);
    std::fs::write(target.path().join("other.h5"), b"no HDF5").unwrap();
    let broken = own(address, "/beside", &StoreOptions::new()).unwrap_err();
    assert!(broken.contains("other.h5 is not followed: other.h5: found no signature of HDF5"), "{broken}");
    let store = zarr::store::open(address).unwrap();
    assert_eq!(store.list_dir(&Prefix::root()).unwrap().prefixes.len(), 1);
}
