//! Nodes that only consolidated metadata have.

use crate::folder::Folder;
use std::fs;
use zarr_testserver::{Bucket, TestServer};

/// Two arrays without documents of their own.
fn write(folder: &Folder, dialect: &str) -> String {
    for path in ["a", "g/b"] {
        let new = ["--shape", "4", "--dtype", "int32", "--chunks", "2", "--codecs", "none", "--dialect", dialect];
        folder.ok(&[&["create", "s", path], &new[..]].concat());
        folder.fill("s", path, "<i4", "(4,)", &[1_i32, 2, 3, 4].map(i32::to_le_bytes).concat());
    }
    folder.ok(&["consolidate", "s"]);
    let root = if dialect == "v3" { vec![] } else { vec![".zgroup", ".zattrs"] };
    let below = ["a", "g", "g/b"]
        .map(|node| [".zarray", ".zgroup", ".zattrs", "zarr.json"].map(|name| format!("{node}/{name}")));
    for name in below.into_iter().flatten().chain(root.into_iter().map(str::to_owned)) {
        let _ = fs::remove_file(folder.path("s").join(name));
    }
    "s".to_owned()
}

#[test]
fn they_are_read_listed_and_converted_as_others_also_over_http() {
    for dialect in ["v2", "v3"] {
        let folder = Folder::new();
        let directory = write(&folder, dialect);
        let server = TestServer::builder().bucket("data", Bucket::plain()).start().unwrap();
        server.load("data", folder.path("")).unwrap();
        let url = format!("{}/data/s", server.url());
        for address in [directory.as_str(), url.as_str()] {
            let tree = folder.ok(&["tree", address]);
            assert!(["a ", "g", "b "].iter().all(|name| tree.contains(name)), "{dialect} {address}: {tree}");
            assert_eq!(folder.ok(&["read", address, "a", "--json"]), "[1, 2, 3, 4]\n", "{dialect} {address}");
            assert_eq!(folder.ok(&["read", address, "g/b", "--json"]), "[1, 2, 3, 4]\n", "{dialect} {address}");
            assert!(folder.ok(&["info", address, "g/b"]).contains("int32"));
            assert!(folder.ok(&["ls", address, "g"]).contains('b'), "{dialect} {address}");
            assert!(folder.ok(&["tree", address, "g"]).contains('b'), "{dialect} {address}");
            let target = if address == url { "from_http" } else { "from_files" };
            if address == directory {
                folder.ok(&["convert", address, target, "--dialect", "v3"]);
                assert_eq!(folder.ok(&["read", target, "g/b", "--json"]), "[1, 2, 3, 4]\n");
                folder.ok(&["cp", &format!("{address}::/g"), "copy::/g"]);
                assert_eq!(folder.ok(&["read", "copy", "g/b", "--json"]), "[1, 2, 3, 4]\n");
            }
        }
        let ran = folder.run(&["read", &directory, "a"]);
        assert!(ran.err.contains("read from the consolidated metadata of /"), "{}", ran.err);
        assert_ne!(folder.run(&["read", &directory, "a", "--strict"]).code, Some(0));
    }
}

/// A change would drop the consolidated metadata, and with it documents that are nowhere else.
#[test]
fn changes_that_would_lose_them_are_refused() {
    for dialect in ["v2", "v3"] {
        let folder = Folder::new();
        write(&folder, dialect);
        folder.ok(&["create", "other", "x", "--shape", "4", "--dtype", "int8", "--dialect", dialect]);
        fs::write(folder.path("more"), "[1]").unwrap();
        let before = folder.files("s").into_iter().map(|file| (fs::read(folder.path("s").join(&file)).unwrap(), file));
        let before: Vec<_> = before.collect();
        for verb in [
            &["attrs", "s", "a", "--set", "x=1"][..],
            &["resize", "s", "a", "--shape", "8"],
            &["create", "s", "new", "--shape", "4", "--dtype", "int8", "--dialect", dialect],
            &["append", "s", "a", "--from", "more", "--as", "json"],
            &["create", "s", "a", "--shape", "4", "--dtype", "int8", "--dialect", dialect],
            &["create", "s", "a", "--shape", "4", "--dtype", "int8", "--dialect", dialect, "--overwrite"],
            &["cp", "other::/x", "s::/new"],
            &["cp", "other::/x", "s::/a", "--overwrite"],
            &["rm", "s", "a"],
            &["mv", "s::/a", "s::/c"],
            &["mv", "s::/a", "moved::/c"],
            &["consolidate", "s", "--drop"],
        ] {
            let ran = folder.run(verb);
            assert_eq!(ran.code, Some(2), "{dialect} {verb:?}: {}", ran.err);
            assert!(ran.err.contains("nowhere but in the consolidated metadata"), "{dialect} {verb:?}: {}", ran.err);
            let after =
                folder.files("s").into_iter().map(|file| (fs::read(folder.path("s").join(&file)).unwrap(), file));
            assert!(after.eq(before.iter().cloned()), "{dialect} {verb:?}");
        }
        if dialect == "v2" {
            fs::write(folder.path("s/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
            let ran = folder.run(&["migrate", "s"]);
            assert!(ran.code != Some(0) && ran.err.contains("nowhere but in consolidated metadata"), "{}", ran.err);
            assert!(!folder.path("s/zarr.json").exists());
        }
        // A group with a document has its attributes there, and in v2 in the copies as well, which stay.
        let ran = folder.run(&["attrs", "s", "--set", "x=1"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(!ran.err.contains("was dropped"), "{}", ran.err);
        assert!(folder.ok(&["attrs", "s"]).contains("\"x\": 1"));
        // Elements are no documents.
        folder.fill("s", "a", "<i4", "(4,)", &[5_i32, 6, 7, 8].map(i32::to_le_bytes).concat());
        assert_eq!(folder.ok(&["read", "s", "a", "--json"]), "[5, 6, 7, 8]\n");
        folder.ok(&["convert", "s", "whole"]);
        folder.ok(&["attrs", "whole", "a", "--set", "x=1"]);
    }
}
