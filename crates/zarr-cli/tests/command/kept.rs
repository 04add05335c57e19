//! Keys that verbs leave as they are, take along or ask about: files of no node, consolidated metadata, entry point documents, links.

use crate::folder::int16;
use crate::nodes::{fails, store};

/// Nothing lies below an array, but files and documents of others may.
#[test]
fn an_array_above_other_keys_is_erased_only_recursively() {
    for dialect in ["v2", "v3", "d2022"] {
        let folder = store(dialect);
        let stray = match dialect {
            "d2022" => "meta/g/a/b.array.json",
            _ => "g/a/b/notes.txt",
        };
        let path = folder.path(&format!("s/{stray}"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{}").unwrap();
        fails(&folder, &["rm", "s", "g/a"], 2, &format!("the key {stray} below the array"));
        assert_eq!(folder.raw("s", "g/a"), int16(1..5), "{dialect}");
        folder.ok(&["rm", "-r", "s", "g/a"]);
        assert!(!path.exists(), "{dialect}");
        // Chunks beyond a smaller shape are the array's.
        folder.fill("s", "g/b", "<i2", "(4,)", &int16(1..5));
        folder.ok(&["resize", "s", "g/b", "--shape", "1", "--shrink"]);
        folder.ok(&["rm", "s", "g/b"]);
    }
}

/// The folders of documents and chunks of a draft may have the name of a node.
#[test]
fn nodes_of_drafts_may_be_called_data_and_meta() {
    for dialect in ["p2019", "p2020", "d2022"] {
        let folder = store(dialect);
        for name in ["data", "meta"] {
            folder.ok(&["cp", "s::/g", &format!("s::/{name}")]);
            assert_eq!(folder.raw("s", &format!("{name}/a")), int16(1..5), "{dialect} {name}");
        }
        // What is there is refused as elsewhere.
        fails(&folder, &["cp", "s::/g", "s::/data"], 2, "there is a group already");
        std::fs::create_dir_all(folder.path("s/x")).unwrap();
        std::fs::write(folder.path("s/x/notes.txt"), "mine").unwrap();
        fails(&folder, &["cp", "s::/g", "s::/x"], 2, "there are other files already");
    }
}

// clause: xarray-36
#[test]
fn consolidated_metadata_is_written_again_by_verbs_that_change_documents() {
    for dialect in ["v2", "v3"] {
        let folder = store(dialect);
        folder.ok(&["consolidate", "s"]);
        folder.ok(&["consolidate", "s", "g"]);
        let up_to_date = |what: &str| {
            for path in ["/", "/g"] {
                assert_eq!(
                    folder.ok(&["consolidate", "--check", "s", path]),
                    "up to date\n",
                    "{dialect} {what} {path}"
                );
            }
        };
        up_to_date("at first");
        for verb in [
            &["attrs", "s", "g/a", "--set", "units=K"][..],
            &["attrs", "s", "g", "--set", "title=x"],
            &["attrs", "s", "g/a", "--dims", "x"],
            &["create", "s", "g/h/c", "--shape", "4", "--dtype", "int16", "--chunks", "2", "--dims", "x"],
            &["rename-dims", "s", "g/a", "--dim", "x=y"],
            &["resize", "s", "g/a", "--shape", "6"],
            &["append", "s", "g/a", "--from", "s::/g/b"],
            &["cp", "s::/g/a", "s::/g/d"],
            &["mv", "s::/g/d", "s::/g/e"],
            &["rm", "s", "g/e"],
        ] {
            let ran = folder.run(verb);
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{dialect} {verb:?}");
            up_to_date(&format!("{verb:?}"));
        }
        // What is replaced was no copy of anything, and a conversion into the store is a change like any other.
        folder.ok(&["create", "s", "g/h", "--group", "--overwrite"]);
        up_to_date("create --overwrite");
        folder.ok(&["create", "n", "new/x", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        folder.ok(&["convert", "n", "s", "--node", "new"]);
        assert_eq!(folder.ok(&["consolidate", "--check", "s"]), "up to date\n", "{dialect}");
        folder.ok(&["create", "s", "g", "--group", "--overwrite"]);
        assert_eq!(folder.ok(&["consolidate", "--check", "s", "g"]), "there is no consolidated metadata\n");
        assert_eq!(folder.ok(&["consolidate", "--check", "s"]), "up to date\n", "{dialect}");
        let folder = store(dialect);
        folder.ok(&["consolidate", "s"]);
        // A move to another store changes both.
        folder.ok(&["create", "t", "/", "--group", "--dialect", dialect]);
        folder.ok(&["consolidate", "t"]);
        folder.ok(&["mv", "s::/g/b", "t::/b"]);
        assert_eq!(folder.ok(&["consolidate", "--check", "s"]), "up to date\n", "{dialect}");
        assert_eq!(folder.ok(&["consolidate", "--check", "t"]), "up to date\n");
    }
}

/// Consolidated metadata that cannot be written again is told.
#[test]
fn consolidated_metadata_that_is_dropped_is_told() {
    let folder = store("v2");
    folder.ok(&["consolidate", "s"]);
    std::fs::write(folder.path("s/g/b/.zarray"), "{").unwrap();
    // A copy that is exchanged needs no other node.
    let ran = folder.run(&["attrs", "s", "g/a", "--set", "units=K"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(std::fs::read_to_string(folder.path("s/.zmetadata")).unwrap().contains("units"));
    let ran = folder.run(&["resize", "s", "g/a", "--shape", "2", "--shrink"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains("consolidated metadata was dropped") && ran.err.contains("zarr consolidate"),
        "{}",
        ran.err
    );
    assert!(!folder.path("s/.zmetadata").exists());
}

/// Chunks and documents that are links to nothing, as in a clone of git-annex.
#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_an_error_in_every_verb() {
    use std::os::unix::fs::symlink;
    let folder = store("v2");
    std::fs::remove_file(folder.path("s/g/a/1")).unwrap();
    symlink("../../../.git/annex/objects/1", folder.path("s/g/a/1")).unwrap();
    let says = "g/a/1 is a symbolic link to ../../../.git/annex/objects/1";
    fails(&folder, &["read", "s", "g/a"], 5, says);
    fails(&folder, &["stats", "s", "g/a"], 5, says);
    fails(&folder, &["digest", "s"], 5, says);
    for target in [&["convert", "s", "t"][..], &["convert", "s", "t", "--dialect", "v3"], &["cp", "s::/g", "t::/g"]] {
        fails(&folder, target, 5, says);
        std::fs::remove_dir_all(folder.path("t")).unwrap();
    }
    let ran = folder.run(&["check", "s"]);
    let out = String::from_utf8_lossy(&ran.out);
    assert!(ran.code == Some(1) && out.contains(says), "{out}{}", ran.err);
    std::fs::rename(folder.path("s/g/b/.zarray"), folder.path("s/g/b/.other")).unwrap();
    symlink("nowhere", folder.path("s/g/b/.zarray")).unwrap();
    fails(&folder, &["info", "s", "g/b"], 5, "g/b/.zarray is a symbolic link to nowhere");
}

#[test]
fn files_of_no_node_are_copied_with_their_groups() {
    let folder = store("v3");
    std::fs::create_dir_all(folder.path("s/g/OME")).unwrap();
    std::fs::write(folder.path("s/g/OME/METADATA.ome.xml"), "<OME/>").unwrap();
    let copied = |store: &str| std::fs::read_to_string(folder.path(&format!("{store}/g/OME/METADATA.ome.xml"))).ok();
    let plan = folder.ok(&["convert", "s", "t", "--dialect", "v2", "--dry-run"]);
    assert!(plan.contains("2 arrays, 1 other file to v2"), "{plan}");
    let line = folder.ok(&["convert", "s", "t", "--dialect", "v2"]);
    assert!(line.contains(", 1 other file, "), "{line}");
    assert_eq!(copied("t").as_deref(), Some("<OME/>"));
    let line = folder.ok(&["cp", "s::/g", "u::/g"]);
    assert!(line.contains("3 nodes, 1 other file, "), "{line}");
    assert_eq!(copied("u").as_deref(), Some("<OME/>"));
    assert!(folder.ok(&["diff", "s", "t"]).starts_with("equal: 4 nodes compared; another layout in "));
    let found = folder.ok(&["check", "s"]);
    assert!(found.contains("[other-file]"), "{found}");
    let line = folder.ok(&["convert", "s", "w", "--no-other-files"]);
    assert!(!line.contains("other file") && copied("w").is_none(), "{line}");
    let ran = folder.run(&["diff", "s", "w"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let out = String::from_utf8_lossy(&ran.out);
    assert!(out.contains("g/OME/METADATA.ome.xml  file of no node, only in A"), "{out}");
    folder.ok(&["diff", "s", "w", "--skip", "other-files"]);
}

/// The document for the whole hierarchy is no node's.
// clause: d2022-7, d2022-91
#[test]
fn a_root_that_is_created_keeps_the_entry_point_document() {
    for dialect in ["d2022", "p2020"] {
        let folder = store(dialect);
        let entry = std::fs::read(folder.path("s/zarr.json")).unwrap();
        fails(&folder, &["create", "s", "/", "--shape", "3", "--dtype", "int32"], 2, "there is a group already");
        folder.ok(&["create", "s", "/", "--group"]);
        assert_eq!(std::fs::read(folder.path("s/zarr.json")).unwrap(), entry);
        assert_eq!(folder.raw("s", "g/a"), int16(1..5), "{dialect}");
        // A root array where nothing else is.
        let folder = store(dialect);
        folder.ok(&["rm", "-r", "s", "/g"]);
        folder.ok(&["create", "s", "/", "--shape", "3", "--dtype", "int32"]);
        assert_eq!(std::fs::read(folder.path("s/zarr.json")).unwrap(), entry, "{dialect}");
        assert!(folder.ok(&["info", "s"]).contains("int32"));
    }
}

/// A group that cannot be read is left out with all below it, and lists of nodes name what is there.
#[test]
fn a_group_that_cannot_be_read_is_left_out_with_its_nodes() {
    let folder = store("v2");
    folder.ok(&["create", "s", "e", "--shape", "4", "--dtype", "int16", "--dialect", "v2"]);
    folder.ok(&["create", "s", "f", "--shape", "4", "--dtype", "int16"]);
    std::fs::write(folder.path("s/g/.zattrs"), "{").unwrap();
    std::fs::write(folder.path("s/g/notes.txt"), "mine").unwrap();
    std::fs::write(folder.path("s/f/.zarray"), "{").unwrap();
    folder.ok(&["attrs", "s", "--set", r#"_nczarr_group={"dimensions": {}, "arrays": ["e", "f"], "groups": ["g"]}"#]);
    let ran = folder.run(&["convert", "s", "t", "--keep-going"]);
    assert!(ran.code == Some(1) && ran.err.contains("2 nodes could not be converted"), "{}", ran.err);
    assert_eq!(folder.ok(&["ls", "t"]), "e\n");
    assert!(!folder.path("t/g").exists());
    let attributes = folder.ok(&["attrs", "t"]);
    assert!(attributes.contains(r#""arrays": ["e"]"#) && attributes.contains(r#""groups": []"#), "{attributes}");
    // Options that fit nothing are an error all the same.
    let ran = folder.run(&["convert", "s", "u", "--keep-going", "--dialect", "v3", "--chunks", "20", "--shards", "30"]);
    assert!(ran.code == Some(4) && !folder.path("u").exists(), "{}", ran.err);
}

/// One node that cannot be read stops no conversion that is to keep going, and none that leaves it out.
#[test]
fn nodes_that_cannot_be_read_are_left_out_of_a_conversion() {
    let folder = store("v2");
    folder.ok(&["create", "s", "g/h/c", "--shape", "4", "--dtype", "int16", "--dialect", "v2"]);
    std::fs::write(folder.path("s/g/b/.zarray"), "{").unwrap();
    // Chunks of a codec that nobody knows cannot be encoded again.
    let document = r#"{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i2", "compressor": {"id": "nobody"},
        "fill_value": 0, "order": "C", "filters": null}"#;
    std::fs::write(folder.path("s/g/h/c/.zarray"), document).unwrap();
    let convert = ["convert", "s", "t", "--dialect", "v3", "--chunks", "1"];
    let with = |more: &[&'static str]| folder.run(&[&convert[..], more].concat());
    assert_eq!(with(&[]).code, Some(4));
    assert!(!folder.path("t").exists());
    let ran = with(&["--keep-going", "--json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let outcome = zarr::meta::json::Value::from_json(&String::from_utf8_lossy(&ran.out)).unwrap();
    let skipped = outcome.get("skipped_nodes").unwrap().as_array().unwrap();
    let paths: Vec<_> = skipped.iter().map(|node| node.get("path").unwrap().as_str().unwrap()).collect();
    assert_eq!(paths, ["/g/b", "/g/h/c"]);
    assert_eq!(folder.raw("t", "g/a"), int16(1..5));
    assert_eq!(folder.ok(&["ls", "t", "g"]), "a\nh/\n");
    std::fs::remove_dir_all(folder.path("t")).unwrap();
    let ran = with(&["--keep-going"]);
    assert!(ran.err.contains("left out: ") && ran.err.contains("2 nodes could not be converted"), "{}", ran.err);
    std::fs::remove_dir_all(folder.path("t")).unwrap();
    assert_eq!(with(&["--exclude", "g/h", "--exclude", "/g/b"]).code, Some(0));
    assert_eq!(folder.ok(&["ls", "t", "g"]), "a\n");
    let ran = with(&["--exclude", "g/x", "--overwrite"]);
    assert!(ran.code == Some(3) && ran.err.contains("/g/x: found no node that could be left out"), "{}", ran.err);
}
