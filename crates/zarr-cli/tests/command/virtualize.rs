//! References to the chunks of files, and files joined by a conversion.

use crate::folder::Folder;
use std::path::Path;

/// A folder with the files of `tests/fixtures/join` in the folder `data`.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("data")).unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/join");
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path("data").join(path.file_name().unwrap())).unwrap();
    }
    folder
}

const FILES: [&str; 3] = ["data/a.nc", "data/b.nc", "data/c.nc"];

#[test]
fn references_and_a_copy_have_the_same_data() {
    let folder = folder();
    let out = folder.ok(&[&["virtualize"][..], &FILES, &["-o", "refs.json", "--concat", "time"]].concat());
    assert!(out.starts_with("refs.json: ") && out.lines().count() == 1, "{out}");
    folder.ok(&[&["convert"][..], &FILES, &["all.zarr", "--concat", "time"]].concat());
    assert_eq!(folder.ok(&["digest", "refs.json"]), folder.ok(&["digest", "all.zarr"]));
    let t = folder.ok(&["info", "all.zarr", "t"]);
    for text in [": (11, 3, 4)  dims (time, lat, lon)", ": 2x3x4", "shuffle(4) > zlib(4)"] {
        assert!(t.contains(text), "{text}: {t}");
    }
    let ds = folder.ok(&["ds", "refs.json"]);
    assert!(ds.contains("time 11") && ds.contains("2000-01-11"), "{ds}");
    // Other chunks for the copy, and a region of it.
    let args = ["other.zarr", "--concat", "time", "--chunks", "time=11", "--isel", "time=2:9"];
    folder.ok(&[&["convert"][..], &FILES, &args].concat());
    let read = |url: &str, range: &str| folder.ok(&["read", url, "t", "--isel", range, "--as", "json"]);
    assert_eq!(read("other.zarr", "time=:"), read("refs.json", "time=2:9"));
}

#[test]
fn files_of_lengths_that_are_no_multiple_of_chunks_are_copied() {
    let folder = folder();
    let files = ["data/a.nc", "data/odd.nc", "data/after.nc"];
    folder.ok(&[&["convert"][..], &files, &["all.zarr", "--concat", "time", "--dialect", "v2"]].concat());
    let texts = folder.ok(&["read", "all.zarr", "texts", "--as", "csv"]);
    assert!(texts.contains("day 0") && texts.contains("day 10"), "{texts}");
    // Resumed, and in parts, a join is the same.
    folder
        .ok(&[&["convert"][..], &files, &["all.zarr", "--concat", "time", "--dialect", "v2", "--overwrite"]].concat());
    for part in ["1/2", "2/2"] {
        let args = ["parts.zarr", "--concat", "time", "--dialect", "v2", "--part", part];
        folder.ok(&[&["convert"][..], &files, &args].concat());
    }
    folder.ok(&[&["convert"][..], &files, &["parts.zarr", "--concat", "time", "--dialect", "v2", "--finish"]].concat());
    folder.ok(&["diff", "all.zarr", "parts.zarr"]);
}

#[test]
fn references_are_read_where_they_may_lead() {
    let folder = folder();
    std::fs::create_dir(folder.path("refs")).unwrap();
    let out = folder.ok(&["virtualize", "data/a.nc", "-o", "refs/a.json", "--inline", "0"]);
    let data = folder.path("data").canonicalize().unwrap().display().to_string();
    let hint = format!("this command reads them with --store-option allow={data}\n");
    assert!(out.ends_with(&hint), "{out}");
    let refused = folder.run(&["read", "refs/a.json", "t"]);
    assert!(refused.code != Some(0) && refused.err.contains("does not lie below"), "{}", refused.err);
    let option = format!("allow={data}");
    assert_eq!(
        folder.ok(&["read", "refs/a.json", "t", "--store-option", &option]),
        folder.ok(&["read", "data/a.nc", "t"])
    );
    // Relative names move with the files.
    folder.ok(&["virtualize", "data/a.nc", "-o", "data/a.json", "--relative", "--inline", "0"]);
    std::fs::rename(folder.path("data"), folder.path("moved")).unwrap();
    assert_eq!(folder.ok(&["read", "moved/a.json", "t"]), folder.ok(&["read", "moved/a.nc", "t"]));
    let refused = folder.run(&["virtualize", "moved/a.nc", "-o", "refs/b.json", "--relative", "--inline", "0"]);
    assert!(refused.code == Some(2) && refused.err.contains("does not lie below"), "{}", refused.err);
    // References to references are references to the files.
    folder.ok(&["virtualize", "moved/a.json", "-o", "again.json", "--inline", "0"]);
    assert_eq!(folder.ok(&["digest", "again.json"]), folder.ok(&["digest", "moved/a.json"]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = folder();
    let refused = |args: &[&str], code: i32, expected: &str| {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
        assert!(!folder.path("refs.json").exists() && !folder.path("x.zarr").exists(), "{args:?}");
    };
    let join =
        |files: [&'static str; 2]| [&["virtualize"][..], &files, &["-o", "refs.json", "--concat", "time"]].concat();
    let bad = "data/bad_scale.nc: /packed: found the attribute scale_factor 0.25, expected 0.5";
    refused(&join(["data/a.nc", "data/bad_scale.nc"]), 2, bad);
    refused(&["convert", "data/a.nc", "data/bad_scale.nc", "x.zarr", "--concat", "time"], 2, bad);
    refused(&["virtualize", "data/a.nc", "data/b.nc", "-o", "refs.json"], 2, "expected one without --concat");
    refused(&["convert", "data/a.nc", "data/b.nc", "x.zarr"], 2, "expected one without --concat");
    refused(&["virtualize", "data/a.nc", "-o", "refs.txt"], 2, "or with .parq or .parquet");
    refused(&["virtualize", "data/a.nc", "-o", "refs.json", "--dialect", "v1"], 2, "expected v2 or v3");
    refused(&["virtualize", "data/none.nc", "-o", "refs.json"], 3, "no such store");
    folder.ok(&["virtualize", "data/a.nc", "-o", "refs.json"]);
    let again = folder.run(&["virtualize", "data/a.nc", "-o", "refs.json"]);
    assert!(again.code != Some(0) && again.err.contains("--overwrite replaces it"), "{}", again.err);
    folder.ok(&["virtualize", "data/a.nc", "-o", "refs.json", "--overwrite"]);
}

#[test]
fn chunks_of_several_lengths_are_read_again() {
    let folder = folder();
    let files = ["data/a.nc", "data/bad_chunk.nc"];
    let args = ["-o", "refs.json", "--concat", "time", "--variables", "t", "--dialect", "v3", "--grid", "rectilinear"];
    folder.ok(&[&["virtualize"][..], &files, &args].concat());
    folder.ok(&[&["convert"][..], &files, &["all.zarr", "--concat", "time", "--variables", "t"]].concat());
    assert_eq!(folder.ok(&["digest", "refs.json"]), folder.ok(&["digest", "all.zarr"]));
}

#[test]
fn references_of_icechunk_lead_to_its_chunks() {
    let folder = Folder::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../zarr-icechunk/tests");
    let archive = format!("zip:{}", fixtures.join("v2.zip").display());
    let store = zarr::store::open(&archive).unwrap();
    for key in zarr::store::StoreExt::list(&*store).unwrap() {
        let path = folder.path("ice").join(key.as_str());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, zarr::store::StoreExt::get_all(&*store, &key).unwrap().unwrap()).unwrap();
    }
    std::fs::copy(fixtures.join("outside.bin"), folder.path("outside.bin")).unwrap();
    let allow = format!("allow=mine=file://{}/", folder.path("").canonicalize().unwrap().display());
    // A third array leads to a file that may not be read.
    let refused =
        folder.run(&["virtualize", "icechunk:ice", "-o", "refs.json", "--dialect", "v3", "--store-option", &allow]);
    assert!(
        refused.code == Some(5) && refused.err.contains("option allow=file:///tmp/zarr-icechunk/"),
        "{}",
        refused.err
    );
    let options = ["--inline", "0", "--dialect", "v3", "--variables", "named", "--store-option", &allow];
    folder.ok(&[&["virtualize", "icechunk:ice", "-o", "refs.json"][..], &options].concat());
    let text = std::fs::read_to_string(folder.path("refs.json")).unwrap();
    assert!(text.contains("/outside.bin\","), "{text}");
    let read = folder.ok(&["read", "icechunk:ice", "named", "--store-option", &allow]);
    assert_eq!(folder.ok(&["read", "refs.json", "named"]), read);
    folder.ok(&[
        "virtualize",
        "icechunk:ice",
        "-o",
        "time.json",
        "--inline",
        "0",
        "--dialect",
        "v3",
        "--variables",
        "time",
    ]);
    let text = std::fs::read_to_string(folder.path("time.json")).unwrap();
    assert!(text.contains("/ice/chunks/"), "{text}");
    assert_eq!(folder.ok(&["read", "time.json", "time"]), folder.ok(&["read", "icechunk:ice", "time"]));
}

#[test]
fn references_in_parquet_are_replaced_as_a_whole() {
    let folder = folder();
    let digest = || folder.ok(&["digest", "refs.parq"]);
    let write = |more: &[&str]| folder.run(&[&["virtualize", "data/a.nc", "-o", "refs.parq"], more].concat());
    assert_eq!(write(&["--inline", "0"]).code, Some(0));
    let first = digest();
    assert_eq!(first, folder.ok(&["digest", "data/a.nc"]));
    // A refusal leaves what is there: nobody finds documents of v3 in Parquet.
    let refused = write(&["--overwrite", "--dialect", "v3"]);
    assert!(refused.code != Some(0) && refused.err.contains("expected those of Zarr v2"), "{}", refused.err);
    assert!(write(&[]).err.contains("found a file, expected none"));
    assert_eq!(digest(), first);
    // What an interrupted run leaves is no part of others.
    std::fs::remove_file(folder.path("refs.parq/.zmetadata")).unwrap();
    std::fs::write(folder.path("refs.parq/t/refs.7.parq"), "of a former run").unwrap();
    let refused = write(&[]);
    assert!(refused.code == Some(2) && refused.err.contains("but no .zmetadata"), "{}", refused.err);
    assert_eq!(write(&["--overwrite"]).code, Some(0));
    assert!(!folder.path("refs.parq/t/refs.7.parq").exists());
    assert_eq!(digest(), first);
    // A folder with other files stays.
    std::fs::remove_file(folder.path("refs.parq/.zmetadata")).unwrap();
    std::fs::write(folder.path("refs.parq/notes.txt"), "mine").unwrap();
    assert_eq!(write(&["--overwrite"]).code, Some(2));
    assert!(folder.path("refs.parq/notes.txt").exists());
}

#[test]
fn documents_are_of_v3_where_v2_cannot_describe_a_node() {
    let folder = folder();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16", "--chunks", "2"]);
    folder.ok(&["write", "s", "a", "--value", "3"]);
    let plain = folder.ok(&["virtualize", "s", "-o", "plain.json", "--json"]);
    assert!(plain.contains(r#""dialect": "v2""#) && plain.contains(r#""not_in_v2": null"#), "{plain}");
    // Version 2 has no shards.
    folder.ok(&["create", "s", "b", "--shape", "8", "--dtype", "int16", "--chunks", "2", "--shards", "4"]);
    folder.ok(&["write", "s", "b", "--value", "5"]);
    let found = folder.ok(&["virtualize", "s", "-o", "refs.json", "--inline", "0"]);
    assert!(found.contains("documents are of v3, since v2 cannot describe all nodes: /b: "), "{found}");
    assert_eq!(folder.ok(&["digest", "refs.json"]), folder.ok(&["digest", "s"]));
    assert!(folder.ok(&["info", "refs.json", "a"]).contains("Zarr format        : v3"));
    let refused = |args: &[&str], hint: &str| {
        let ran = folder.run(&[&["virtualize", "s"], args].concat());
        assert!(ran.code == Some(2) && ran.err.contains("/b: ") && ran.err.contains(hint), "{}", ran.err);
    };
    refused(&["-o", "v2.json", "--dialect", "v2"], "the dialect v3 can describe it");
    refused(&["-o", "refs.parquet"], "references in JSON take documents of v3");
    assert!(!folder.path("v2.json").exists() && !folder.path("refs.parquet").exists());
}
