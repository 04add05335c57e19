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
    // The first bytes of each file, and further parts of it.
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
    // Options of buckets are unknown where `allow` names none.
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
    let told = "/beside: the external link to the file other.h5 is not followed: there is no such file";
    assert!(missing.contains(told), "{missing}");
    assert_eq!(own(address, "/own", &StoreOptions::new()).unwrap().len(), 3);
    std::fs::write(target.path().join("other.h5"), b"no HDF5").unwrap();
    let broken = own(address, "/beside", &StoreOptions::new()).unwrap_err();
    assert!(broken.contains("other.h5 is not followed: other.h5: found no signature of HDF5"), "{broken}");
    let store = zarr::store::open(address).unwrap();
    assert_eq!(store.list_dir(&Prefix::root()).unwrap().prefixes.len(), 1);
}

/// A file that is not there in the directory of the first file may lie above it, where the caller allows it.
#[test]
fn files_above_are_read_where_the_caller_allows_it() {
    let target = tempfile::tempdir().unwrap();
    let target = target.path().canonicalize().unwrap();
    let deep = target.join("deep");
    std::fs::create_dir(&deep).unwrap();
    std::fs::copy(folder().join("store.h5"), deep.join("store.h5")).unwrap();
    std::fs::copy(folder().join("other.h5"), target.join("above.h5")).unwrap();
    let address = deep.join("store.h5");
    let address = address.to_str().unwrap();
    let refused = own(address, "/above", &StoreOptions::new()).unwrap_err();
    assert!(refused.contains("--store-option allow=ADDRESS"), "{refused}");
    let allow = StoreOptions::new().set("allow", target.to_str().unwrap());
    assert_eq!(
        own(address, "/above", &allow).unwrap(),
        own(target.join("above.h5").to_str().unwrap(), "/x", &allow).unwrap()
    );
}

/// The path of an absolute link may name a file that is not allowed. Another one of the same last part is not read in its place.
#[test]
fn a_file_beside_is_not_taken_for_one_that_is_there() {
    let (target, archive) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let there = archive.path().canonicalize().unwrap().join("other.h5");
    std::fs::write(target.path().join("x.h5"), linking(&[("far", there.to_str().unwrap(), "/x")])).unwrap();
    std::fs::copy(folder().join("other.h5"), target.path().join("other.h5")).unwrap();
    let address = target.path().join("x.h5");
    let read = |options: &StoreOptions| own(address.to_str().unwrap(), "/far", options);
    // The HDF5 library reads the file beside, too, where there is no file at the path.
    assert_eq!(read(&StoreOptions::new()).unwrap().len(), 5);
    std::fs::copy(folder().join("elsewhere.h5"), &there).unwrap();
    let refused = read(&StoreOptions::new()).unwrap_err();
    assert!(refused.contains("is not read in its place"), "{refused}");
    let missing = read(&StoreOptions::new().set("allow", archive.path().to_str().unwrap())).unwrap_err();
    assert!(missing.contains("which is not there"), "{missing}");
    // Nor is it where the path cannot be looked up.
    #[cfg(unix)]
    {
        std::fs::remove_file(&there).unwrap();
        std::os::unix::fs::symlink("other.h5", &there).unwrap();
        let circle = read(&StoreOptions::new().set("allow", archive.path().to_str().unwrap())).unwrap_err();
        assert!(circle.contains("is not read in its place"), "{circle}");
    }
}

/// Managers of large files put symbolic links in the place of files, each to a directory of its own.
#[cfg(unix)]
#[test]
fn files_behind_symbolic_links() {
    use std::os::unix::fs::symlink;
    let target = tempfile::tempdir().unwrap();
    let (data, objects) = (target.path().join("data"), target.path().join("objects"));
    for (name, id) in [("store.h5", "aa"), ("other.h5", "bb")] {
        std::fs::create_dir_all(objects.join(id)).unwrap();
        std::fs::copy(folder().join(name), objects.join(id).join(name)).unwrap();
    }
    std::fs::create_dir(&data).unwrap();
    symlink("../objects/aa/store.h5", data.join("store.h5")).unwrap();
    let address = data.join("store.h5");
    let read = |options: &StoreOptions| own(address.to_str().unwrap(), "/beside", options);
    let expected = own(folder().join("store.h5").to_str().unwrap(), "/beside", &StoreOptions::new()).unwrap();
    // A file beside the symbolic link.
    std::fs::copy(folder().join("other.h5"), data.join("other.h5")).unwrap();
    assert_eq!(read(&StoreOptions::new()).unwrap(), expected);
    // A symbolic link beside, of which the caller has to allow the target, beside a symbolic link and beside a file.
    std::fs::remove_file(data.join("other.h5")).unwrap();
    symlink("../objects/bb/other.h5", data.join("other.h5")).unwrap();
    let allow = StoreOptions::new().set("allow", objects.canonicalize().unwrap().to_str().unwrap());
    for _ in 0..2 {
        let refused = read(&StoreOptions::new()).unwrap_err();
        assert!(refused.contains("objects/bb/other.h5, which does not lie below"), "{refused}");
        assert_eq!(read(&allow).unwrap(), expected);
        std::fs::remove_file(&address).unwrap();
        std::fs::copy(folder().join("store.h5"), &address).unwrap();
    }
}

/// Names of dimensions are those of the file that has the scales, whatever the links to them are called.
#[test]
fn dimensions_of_linked_data_sets() {
    let target = tempfile::tempdir().unwrap();
    std::fs::copy(folder().join("below/part.h5"), target.path().join("part.h5")).unwrap();
    for links in
        [&[("data", "part.h5", "/g/data")][..], &[("data", "part.h5", "/g/data"), ("own", "part.h5", "/g/scale")]]
    {
        let address = target.path().join("x.h5");
        std::fs::write(&address, linking(links)).unwrap();
        let names = |path: &str| {
            let array = zarr::open(format!("{}::/{path}", address.display())).array().unwrap();
            array.dimension_names().unwrap().to_vec()
        };
        assert_eq!(names("data"), [Some("scale".to_owned()), None]);
        if links.len() > 1 {
            assert_eq!(names("own"), [Some("scale".to_owned())]);
        }
    }
}

/// Returns a file whose root group has external links: names with files and paths in them.
fn linking(links: &[(&str, &str, &str)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file, path) in links {
        let target = [&[0][..], file.as_bytes(), &[0], path.as_bytes(), &[0]].concat();
        let mut message = vec![1, 8, 64, name.len() as u8];
        message.extend(name.as_bytes());
        message.extend((target.len() as u16).to_le_bytes());
        message.extend(target);
        message.resize(message.len().next_multiple_of(8), 0);
        body.extend(6_u16.to_le_bytes());
        body.extend((message.len() as u16).to_le_bytes());
        body.extend([0; 4]);
        body.extend(message);
    }
    let mut bytes = b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0\x04\0\x10\0\0\0\0\0".to_vec();
    for address in [0, u64::MAX, (112 + body.len()) as u64, u64::MAX, 0, 96] {
        bytes.extend(address.to_le_bytes());
    }
    bytes.resize(96, 0);
    bytes.extend([1, 0]);
    bytes.extend((links.len() as u16).to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes
}
