//! Addresses of stores, and their options.

use crate::folder::Folder;

fn fails(folder: &Folder, args: &[&str], code: i32, words: &str) {
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
}

#[test]
fn sqlite_files_hold_what_directories_do() {
    let folder = Folder::new();
    let new = ["--shape", "4", "--dtype", "int32", "--chunks", "2"];
    folder.ok(&[&["create", "sqlite:s.sqlite", "g/a"], &new[..], &["--fill", "7"]].concat());
    folder.ok(&["attrs", "sqlite:s.sqlite", "g/a", "--set", "units=K"]);
    let read = |address: &[&str]| folder.ok(&[&["read"], address].concat());
    let values = read(&["sqlite:s.sqlite", "g/a"]);
    assert!(values.contains('7'), "{values}");
    for address in ["sqlite:s.sqlite::/g/a", "sqlite:s.sqlite::g/a", "sqlite:s.sqlite/g/a", "SQLITE:s.sqlite/g/a"] {
        assert_eq!(read(&[address]), values, "{address}");
    }
    assert_eq!(read(&["sqlite:s.sqlite::/g", "a"]), values);
    folder.ok(&["convert", "sqlite:s.sqlite", "d.zarr"]);
    folder.ok(&["cp", "d.zarr/g", "sqlite:t.sqlite::/h/g"]);
    assert_eq!(read(&["sqlite:t.sqlite/h/g/a"]), values);
    assert!(folder.ok(&["attrs", "sqlite:t.sqlite", "h/g/a"]).contains("units"));
    folder.ok(&["mv", "sqlite:t.sqlite::/h/g", "sqlite:t.sqlite::/i"]);
    assert_eq!(read(&["sqlite:t.sqlite/i/a"]), values);
    folder.ok(&["rm", "sqlite:t.sqlite/i/a"]);
    fails(&folder, &["read", "sqlite:t.sqlite/i/a"], 3, "/i/a");
    fails(&folder, &["rm", "sqlite:t.sqlite"], 2, "expected the path");
    fails(&folder, &["read", "sqlite:none.sqlite"], 3, "none.sqlite");
    fails(&folder, &["convert", "sqlite:s.sqlite", "sqlite:./s.sqlite"], 2, "are the same");
    fails(&folder, &["info", "sqlite:d.zarr/zarr.json"], 2, "found another file, expected a SQLite file");
}

#[test]
fn a_node_may_stand_behind_its_store() {
    let folder = Folder::new();
    let new = ["--shape", "4", "--dtype", "int8", "--chunks", "2"];
    folder.ok(&[&["create", "x.zarr/g/a"], &new[..]].concat());
    assert!(folder.path("x.zarr/zarr.json").exists(), "the store is x.zarr");
    folder.ok(&[&["create", "x.zarr/g", "b"], &new[..]].concat());
    folder.ok(&[&["create", "plain::/g/a"], &new[..]].concat());
    assert!(folder.path("plain/g/a/zarr.json").exists());
    folder.ok(&[&["create", "x.zarr/own::/", "/"], &new[..]].concat());
    assert!(folder.path("x.zarr/own/zarr.json").exists() && !folder.ok(&["ls", "x.zarr/g"]).contains("own"));
    fails(&folder, &[&["create", "y.zarr"], &new[..]].concat(), 2, "expected the path of the new node");
    let list = folder.ok(&["ls", "x.zarr/g"]);
    assert_eq!(list.lines().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(folder.ok(&["ls", "x.zarr", "g"]), list);
    assert_eq!(folder.ok(&["ls", "x.zarr::/", "/g"]), list);
    // A conversion is of stores.
    fails(&folder, &["convert", "x.zarr::/g", "z"], 2, "expected the address of a store");
    folder.ok(&["convert", "x.zarr/g", "z"]);
    assert!(folder.path("z/a/zarr.json").exists());
    folder.ok(&["rm", "x.zarr/g", "--recursive"]);
    assert!(!folder.path("x.zarr/g").exists());
}

#[test]
fn addresses_that_are_not_known() {
    let folder = Folder::new();
    fails(
        &folder,
        &["tree", "ftp://host/x"],
        2,
        "expected a path, file://, memory:, sqlite:, s3://, gs://, az://, https://, zip:, hdf5:, netcdf:, references:, tiff: or icechunk:",
    );
    fails(&folder, &["tree", "file:///x?versionId=1"], 2, "has a ? or #");
    fails(&folder, &["tree", "file:x"], 2, "expected file://");
    let ran = folder.run(&["tree", "ftp://user:SECRET@host/x?SECRET", "--json"]);
    assert_eq!(ran.code, Some(2));
    assert!(!ran.err.contains("SECRET"), "{}", ran.err);
}

#[test]
fn options_of_stores() {
    let folder = Folder::new();
    let create = |url: &str, options: &[&str]| {
        let args = ["create", url, "a", "--shape", "4", "--dtype", "int8", "--chunks", "2"];
        folder.run(&[&args, options].concat())
    };
    let ran = create("sqlite:s.sqlite", &["--store-option", "journal=wal", "--store-option", "busy_timeout=5"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // The journal is a property of the file: byte 18 of its header is 2.
    assert_eq!(std::fs::read(folder.path("s.sqlite")).unwrap()[18], 2);
    fails(
        &folder,
        &["--store-option", "jornal=wal", "ls", "sqlite:s.sqlite"],
        2,
        "expected busy_timeout, journal or read_only",
    );
    fails(&folder, &["ls", "sqlite:s.sqlite", "--store-option", "journal=no"], 2, "expected rollback or wal");
    fails(&folder, &["ls", "sqlite:s.sqlite", "--store-option", "journal"], 2, "expected NAME=VALUE");
    // It may be a token.
    for args in
        [&["ls", "sqlite:s.sqlite", "--store-option", "hush"][..], &["--store-option=hush", "ls", "sqlite:s.sqlite"]]
    {
        let ran = folder.run(args);
        assert!(ran.err.contains("--store-option") && !ran.err.contains("hush"), "{}", ran.err);
    }
    let read_only = ["--store-option", "read_only=true"];
    fails(&folder, &[&["rm", "sqlite:s.sqlite", "a"][..], &read_only].concat(), 5, "read-only");
    // Each store takes what it knows; what none knows is an error.
    folder.ok(&[&["convert", "sqlite:s.sqlite", "d"][..], &read_only, &["--store-option", "durability=full"]].concat());
    assert!(folder.path("d/a/zarr.json").exists());
    fails(&folder, &["convert", "sqlite:s.sqlite", "e", "--store-option", "x=y"], 2, "option x is not known");
    assert!(!folder.path("e").exists());
}
