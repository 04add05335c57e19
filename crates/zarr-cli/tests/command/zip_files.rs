//! Zip files that verbs write.

use crate::folder::{Folder, int16, npy};

/// The names in the folder.
fn names(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path(".")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn array(folder: &Folder, store: &str) {
    folder.ok(&["create", store, "g/a", "--shape", "4", "--dtype", "int16", "--chunks", "2"]);
    folder.fill(store, "g/a", "<i2", "(4,)", &int16([1, 2, 3, 4]));
}

#[test]
fn verbs_write_a_zip_file_as_a_directory() {
    let folder = Folder::new();
    array(&folder, "d.zarr");
    std::fs::write(folder.path("d.zarr/g/notes.txt"), b"of no node").unwrap();
    let values = folder.raw("d.zarr", "g/a");
    for (verb, target) in [("cp", "a.zip"), ("cp", "zip:b.zip"), ("convert", "zip:c"), ("convert", "d.ozx")] {
        let told = folder.ok(&[verb, "d.zarr", target]);
        assert!(told.contains("1 other file"), "{told}");
        assert_eq!(folder.raw(target, "g/a"), values, "{verb} {target}");
        assert!(folder.ok(&["diff", "d.zarr", target]).starts_with("equal"), "{verb} {target}");
        let name = target.trim_start_matches("zip:");
        assert!(folder.path(name).is_file(), "{name}");
        assert!(std::fs::read(folder.path(name)).unwrap().starts_with(b"PK"));
    }
    array(&folder, "zip:e.zip");
    assert_eq!(folder.raw("e.zip", "g/a"), values);
    // Appended to, changed, and erased from.
    folder.ok(&["cp", "d.zarr/g", "e.zip/h"]);
    folder.ok(&["cp", "e.zip/h", "e.zip/i"]);
    folder.ok(&["mv", "e.zip/i", "e.zip::/j"]);
    folder.ok(&["resize", "e.zip/h/a", "--shape", "6"]);
    folder.ok(&["consolidate", "e.zip"]);
    let ran = folder.run(&["attrs", "e.zip/g/a", "--set", "units=K"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("stay in the zip file") && ran.err.contains("`zarr cp e.zip NEW.zip`"), "{}", ran.err);
    assert!(folder.ok(&["attrs", "e.zip/g/a"]).contains('K'));
    folder.ok(&["rm", "e.zip/g", "--recursive"]);
    assert_eq!(folder.ok(&["ls", "e.zip"]).lines().collect::<Vec<_>>(), ["h/", "j/"]);
    assert_eq!(folder.raw("e.zip", "h/a"), [values.clone(), vec![0; 4]].concat());
    let ran = folder.run(&["check", "e.zip"]);
    let found = String::from_utf8(ran.out).unwrap();
    assert!(found.contains(" 0 errors,"), "{found}{}", ran.err);
    folder.ok(&["cp", "e.zip", "f.zip"]);
    let size = |name: &str| std::fs::metadata(folder.path(name)).unwrap().len();
    assert!(size("f.zip") < size("e.zip"));
    assert!(folder.ok(&["diff", "e.zip", "f.zip"]).starts_with("equal"));
    folder.ok(&["cp", "d.zarr", "a.zip", "--overwrite"]);
    assert!(folder.ok(&["diff", "d.zarr", "a.zip"]).starts_with("equal"));
    assert_eq!(names(&folder), ["a.zip", "b.zip", "c", "d.ozx", "d.zarr", "e.zip", "f.zip"]);
}

#[test]
fn verbs_that_fail_leave_a_zip_file_as_it_was() {
    let folder = Folder::new();
    array(&folder, "d.zarr");
    let fails = |args: &[&str], code: i32, words: &str| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    };
    // A chunk that is no chunk, and its array that is recoded.
    std::fs::write(folder.path("d.zarr/g/a/c/1"), b"damaged").unwrap();
    let convert = ["convert", "d.zarr", "x.zip", "--chunks", "4"];
    fails(&convert, 4, "chunk");
    fails(&["convert", "d.zarr", "x.zip", "--resume"], 2, "without --resume it begins anew");
    fails(&["convert", "d.zarr", "x.zip", "--part", "1/2"], 2, "which a zip file is not");
    fails(&["create", "x.zip", "a", "--shape", "4", "--dtype", "no"], 2, "no");
    fails(&["cp", "d.zarr/none", "x.zip"], 3, "none");
    assert_eq!(names(&folder), ["d.zarr"]);
    array(&folder, "x.zip");
    let before = std::fs::read(folder.path("x.zip")).unwrap();
    fails(&["convert", "d.zarr", "x.zip", "--chunks", "4", "--overwrite"], 4, "chunk");
    fails(&["cp", "d.zarr", "x.zip"], 2, "already");
    // It was begun when the input ends.
    let mut input = npy("<i2", false, "(4,)", &int16([5, 6, 7, 8]));
    input.truncate(input.len() - 1);
    let ran = folder.run_with(&["write", "x.zip", "g/a", "--from", "-"], &input);
    assert!(ran.code != Some(0), "{}", ran.err);
    fails(&["rm", "x.zip/none"], 3, "none");
    assert!(std::fs::read(folder.path("x.zip")).unwrap() == before);
    assert_eq!(names(&folder), ["d.zarr", "x.zip"]);
    // What is left out is told, and the rest is there.
    let ran = folder.run(&["convert", "d.zarr", "y.zip", "--chunks", "4", "--keep-going"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert_eq!(folder.raw("y.zip", "g/a"), int16([1, 2, 0, 0]));
}

#[cfg(unix)]
#[test]
fn a_file_of_no_node_that_cannot_be_read_stops_nothing_with_keep_going() {
    let folder = Folder::new();
    array(&folder, "d.zarr");
    // A link to nothing, as one of git-annex.
    std::os::unix::fs::symlink("nowhere", folder.path("d.zarr/table.parquet")).unwrap();
    for verb in ["cp", "convert"] {
        let ran = folder.run(&[verb, "d.zarr", "x.zip"]);
        assert!(ran.code != Some(0) && ran.err.contains("table.parquet"), "{verb}: {}", ran.err);
        assert!(!folder.path("x.zip").exists());
        let ran = folder.run(&[verb, "d.zarr", "x.zip", "--keep-going", "--json"]);
        assert_eq!(ran.code, Some(1), "{verb}: {}", ran.err);
        let out = String::from_utf8(ran.out).unwrap();
        let out = out.split_whitespace().collect::<String>();
        assert!(out.contains(r#""skipped_files":[{"key":"table.parquet","cause":""#), "{out}");
        assert!(ran.err.contains("a file of no node could not be read"), "{}", ran.err);
        assert_eq!(folder.raw("x.zip", "g/a"), int16([1, 2, 3, 4]));
        std::fs::remove_file(folder.path("x.zip")).unwrap();
    }
}
