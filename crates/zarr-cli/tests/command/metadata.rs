//! `zarr migrate v3` and `zarr remove-metadata`, as in zarr-python.

use crate::folder::{Folder, int16};

/// A hierarchy of v2 with consolidated metadata.
fn v2() -> Folder {
    let folder = Folder::new();
    for path in ["a", "g/b"] {
        let args = ["create", "s", path, "--shape", "4", "--dtype", "int16", "--chunks", "2", "--dialect", "v2"];
        folder.ok(&args);
        folder.fill("s", path, "<i2", "(4,)", &int16(1..5));
    }
    folder.ok(&["attrs", "s", "a", "--set", "units=K"]);
    folder
}

fn documents(folder: &Folder, store: &str, is_v3: bool) -> usize {
    let is_meant = |file: &&String| match is_v3 {
        true => file.ends_with("zarr.json"),
        false => [".zarray", ".zgroup", ".zattrs", ".zmetadata"].iter().any(|end| file.ends_with(end)),
    };
    folder.files(store).iter().filter(is_meant).count()
}

#[test]
fn zarr_python_s_command_migrates() {
    let folder = v2();
    let before = documents(&folder, "s", false);
    let plan = folder.ok(&["migrate", "v3", "s", "--dry-run"]);
    assert!(plan.contains("/g/b  chunks stay") && documents(&folder, "s", true) == 0, "{plan}");
    folder.ok(&["migrate", "v3", "s"]);
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (4, before));
    // There is version 3 already, which is dropped before.
    assert_eq!(folder.run(&["migrate", "v3", "s"]).code, Some(2));
    let shown = folder.run(&["migrate", "v3", "s", "--overwrite", "--dry-run"]);
    assert_eq!(String::from_utf8(shown.out).unwrap(), plan);
    assert!(shown.err.contains("would first drop 4 documents of v3"), "{}", shown.err);
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (4, before));
    folder.ok(&["migrate", "v3", "s", "--overwrite", "--remove-v2-metadata"]);
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (4, 0));
    assert_eq!(folder.raw("s", "g/b"), int16(1..5));
    assert!(folder.ok(&["attrs", "s", "a"]).contains("\"units\": \"K\""));
    assert!(!folder.files("s").iter().any(|file| file.contains("zmigration")), "{:?}", folder.files("s"));
}

#[test]
fn documents_go_elsewhere() {
    let folder = v2();
    folder.ok(&["migrate", "v3", "s", "t"]);
    assert_eq!(folder.files("t"), ["a/zarr.json", "g/b/zarr.json", "g/zarr.json", "zarr.json"]);
    assert_eq!(documents(&folder, "s", true), 0);
    let ran = folder.run(&["migrate", "v3", "s", "t"]);
    assert!(ran.code == Some(2) && ran.err.contains("there is a node of dialect v3 already"), "{}", ran.err);
    let ran = folder.run(&["migrate", "v3", "s", "t", "--overwrite"]);
    assert!(ran.code == Some(3) && ran.err.contains("t: /: found no other metadata"), "{}", ran.err);
    folder.ok(&["migrate", "v3", "s", "t", "--overwrite", "--force"]);
    // Beside the chunks they are the hierarchy.
    for file in folder.files("t") {
        std::fs::copy(folder.path("t").join(&file), folder.path("s").join(&file)).unwrap();
    }
    assert_eq!(folder.ok(&["read", "s", "a", "--dialect", "v3", "--as", "csv"]), "1\n2\n3\n4\n");
    let ran = folder.run(&["migrate", "s", "t"]);
    assert!(ran.code == Some(2) && ran.err.contains("found s before another store"), "{}", ran.err);
    assert_eq!(folder.run(&["migrate", "v3", "s", "--force"]).code, Some(2));
}

#[test]
fn documents_of_a_version_are_removed() {
    let folder = v2();
    let ran = folder.run(&["remove-metadata", "v2", "s"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("s: /: found no other metadata") && ran.err.contains("hint: --force"), "{}", ran.err);
    assert_eq!(folder.run(&["remove-metadata", "v2", "s", "--dry-run"]).code, Some(3));
    assert_eq!(folder.ok(&["remove-metadata", "v3", "s"]), "s: 0 documents of v3 erased\n");
    assert_eq!(documents(&folder, "s", false), 5);
    // After a migration it is the end of that.
    folder.ok(&["migrate", "s"]);
    let keys = folder.ok(&["remove-metadata", "v3", "s", "--dry-run"]);
    assert_eq!(keys, "zarr.json\na/zarr.json\ng/zarr.json\ng/b/zarr.json\n");
    assert_eq!(folder.ok(&["remove-metadata", "v3", "s"]), "s: 4 documents of v3 erased\n");
    assert!(!folder.files("s").iter().any(|file| file.contains("zmigration") || file.contains("zarr.json")));
    folder.ok(&["migrate", "s"]);
    folder.ok(&["remove-metadata", "v2", "s"]);
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (4, 0));
    assert_eq!(folder.raw("s", "a"), int16(1..5));
    // Without any other, only if that is wanted; chunks stay.
    assert_eq!(folder.run(&["remove-metadata", "v3", "s"]).code, Some(3));
    folder.ok(&["remove-metadata", "v3", "s", "--force"]);
    assert_eq!(folder.files("s"), ["a/0", "a/1", "g/b/0", "g/b/1"]);
}

/// A node of which only some have the other version.
#[test]
fn nothing_is_removed_where_a_node_has_no_other_document() {
    let folder = v2();
    folder.ok(&["migrate", "s"]);
    std::fs::remove_file(folder.path("s/.zmigration")).unwrap();
    std::fs::remove_file(folder.path("s/g/b/zarr.json")).unwrap();
    let ran = folder.run(&["remove-metadata", "v2", "s"]);
    assert!(ran.code == Some(3) && ran.err.contains("s: /g/b: no node of dialect v3 here yet"), "{}", ran.err);
    assert_eq!(documents(&folder, "s", false), 5);
    // Nor where the other one is of another kind.
    std::fs::copy(folder.path("s/g/zarr.json"), folder.path("s/g/b/zarr.json")).unwrap();
    let ran = folder.run(&["remove-metadata", "v2", "s"]);
    assert!(
        ran.code == Some(3) && ran.err.contains("s: /g/b: the node of dialect v3 is of another kind"),
        "{}",
        ran.err
    );
    assert_eq!(documents(&folder, "s", false), 5);
}

#[test]
fn the_recorded_migration_says_what_stays() {
    let folder = v2();
    // The other documents are of neither version that the command names.
    folder.ok(&["migrate", "p2020", "s"]);
    folder.ok(&["remove-metadata", "v2", "s"]);
    assert_eq!(documents(&folder, "s", false), 0);
    assert_eq!(folder.raw("s", "g/b"), int16(1..5));
    assert!(!folder.files("s").iter().any(|file| file.contains("zmigration")), "{:?}", folder.files("s"));

    // The old documents may be those of version 3.
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16", "--chunks", "2"]);
    folder.fill("s", "a", "<i2", "(4,)", &int16(1..5));
    folder.ok(&["migrate", "v2", "s"]);
    folder.ok(&["remove-metadata", "v3", "s"]);
    assert_eq!((documents(&folder, "s", true), folder.raw("s", "a")), (0, int16(1..5)));
    assert!(!folder.files("s").iter().any(|file| file.contains("zmigration")), "{:?}", folder.files("s"));

    // What the end of the migration refuses, --force erases, and the record with it.
    let folder = v2();
    folder.ok(&["migrate", "s"]);
    std::fs::remove_file(folder.path("s/g/b/zarr.json")).unwrap();
    assert_eq!(folder.run(&["remove-metadata", "v2", "s"]).code, Some(3));
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (3, 5));
    folder.ok(&["remove-metadata", "v2", "s", "--force"]);
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (3, 0));
    assert!(!folder.files("s").iter().any(|file| file.contains("zmigration")), "{:?}", folder.files("s"));
}

#[test]
fn nothing_is_dropped_before_a_migration_that_cannot_be_done() {
    let folder = v2();
    folder.ok(&["migrate", "s"]);
    std::fs::write(folder.path("s/a/.zattrs"), "{\"units\": ").unwrap();
    for force in [&[][..], &["--force"]] {
        let ran = folder.run(&[&["migrate", "v3", "s", "--overwrite"], force].concat());
        assert!(ran.code == Some(4) && ran.err.contains("key a/.zattrs"), "{}", ran.err);
        assert_eq!(documents(&folder, "s", true), 4);
    }
}

/// Options that would erase what is written, or that mean another store.
#[test]
fn options_that_contradict_each_other_are_refused() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16"]);
    for args in
        [&["migrate", "v2", "s", "t", "--remove-v2-metadata"][..], &["migrate", "v2", "s", "--remove-v2-metadata"]]
    {
        let ran = folder.run(args);
        assert!(ran.code == Some(2) && ran.err.contains("would drop the documents that are written"), "{}", ran.err);
    }
    assert!(!folder.path("t").exists() && documents(&folder, "s", false) == 0);
    folder.ok(&["migrate", "v2", "s"]);
    for end in ["--finish", "--undo"] {
        let ran = folder.run(&["migrate", "v2", "s", "t", end]);
        assert!(ran.code == Some(2) && ran.err.contains("found t behind the store"), "{}", ran.err);
    }
    assert!(documents(&folder, "s", true) > 0 && documents(&folder, "s", false) > 0);
}

/// Chunks that nodes left behind are none of the new arrays.
#[test]
fn leftover_chunks_are_erased() {
    let folder = Folder::new();
    let new =
        ["create", "s", "a", "--shape", "4", "--dtype", "int16", "--chunks", "2", "--dialect", "v2", "--fill", "7"];
    folder.ok(&new);
    folder.fill("s", "a", "<i2", "(4,)", &int16(1..5));
    folder.ok(&["migrate", "p2019", "s"]);
    // The new documents are lost, and the old chunks.
    std::fs::remove_file(folder.path("s/.zmigration")).unwrap();
    for gone in ["s/meta", "s/a/0", "s/a/1"] {
        let gone = folder.path(gone);
        if gone.is_dir() { std::fs::remove_dir_all(gone).unwrap() } else { std::fs::remove_file(gone).unwrap() }
    }
    assert_eq!(folder.files("s").iter().filter(|file| file.starts_with("data/")).count(), 2, "{:?}", folder.files("s"));
    folder.ok(&["migrate", "p2019", "s"]);
    let read = folder.ok(&["read", "s", "a", "--dialect", "p2019", "--as", "csv"]);
    assert_eq!(read, "7\n7\n7\n7\n");
}

/// `migrate --overwrite` drops nothing that was written to the new hierarchy, unless that is forced.
#[test]
fn what_was_written_since_a_migration_is_kept() {
    let folder = Folder::new();
    let args = ["create", "s", "a", "--shape", "4", "--dtype", "int16", "--chunks", "2", "--shards", "4"];
    folder.ok(&args);
    folder.fill("s", "a", "<i2", "(4,)", &int16(1..5));
    folder.ok(&["migrate", "v2", "s"]);
    let nine = ["write", "s", "a", "--dialect", "v2", "--from", "-", "--as", "json", "--select", "0:1"];
    assert_eq!(folder.run_with(&nine, b"[9]").code, Some(0));
    let read = ["read", "s", "a", "--dialect", "v2", "--as", "csv"];
    let refused = || {
        for more in [&[][..], &["--dry-run"]] {
            let ran = folder.run(&[&["migrate", "v2", "s", "--overwrite"], more].concat());
            assert!(ran.code == Some(2) && ran.err.contains("2 chunks of the array of dialect v2"), "{}", ran.err);
            assert!(ran.err.contains("hint: --force"), "{}", ran.err);
            assert_eq!(folder.ok(&read), "9\n2\n3\n4\n");
        }
    };
    refused();
    let shown = folder.run(&["migrate", "v2", "s", "--overwrite", "--force", "--dry-run"]);
    assert!(shown.err.contains("documents of v2, and 2 chunks with what was written to them"), "{}", shown.err);
    assert_eq!(folder.ok(&read), "9\n2\n3\n4\n");
    // Nor is the record needed for that.
    std::fs::rename(folder.path("s/.zmigration"), folder.path("record")).unwrap();
    refused();
    std::fs::rename(folder.path("record"), folder.path("s/.zmigration")).unwrap();
    folder.ok(&["migrate", "v2", "s", "--overwrite", "--force"]);
    assert_eq!(folder.ok(&read), "1\n2\n3\n4\n");

    // Documents alone.
    let folder = v2();
    folder.ok(&["consolidate", "s"]);
    folder.ok(&["migrate", "s"]);
    folder.ok(&["migrate", "s", "--overwrite"]);
    folder.ok(&["attrs", "s", "a", "--dialect", "v3", "--set", "units=degC"]);
    let ran = folder.run(&["migrate", "s", "--overwrite"]);
    assert_eq!(ran.code, Some(5), "{}", ran.err);
    assert!(ran.err.contains("was changed since the store was migrated to v3"), "{}", ran.err);
    assert!(folder.ok(&["attrs", "s", "a", "--dialect", "v3"]).contains("degC"));
    folder.ok(&["migrate", "s", "--overwrite", "--force"]);
    assert!(folder.ok(&["attrs", "s", "a", "--dialect", "v3"]).contains("\"K\""));
}

/// A node that was created after a migration would be left behind, in a hierarchy of the other version.
#[test]
fn nodes_created_since_a_migration_are_no_part_of_it() {
    let folder = v2();
    folder.ok(&["migrate", "s"]);
    folder.ok(&["create", "s", "new", "--group", "--dialect", "v3"]);
    assert_eq!(documents(&folder, "s", true), 5);
    for args in [
        &["remove-metadata", "v3", "s"][..],
        &["remove-metadata", "v3", "s", "--dry-run"],
        &["migrate", "v3", "s", "--overwrite"],
    ] {
        let ran = folder.run(args);
        assert!(ran.code == Some(3) && ran.err.contains("s: /new: the node was created since"), "{}", ran.err);
        assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (5, 5));
    }
    assert_eq!(folder.ok(&["remove-metadata", "v3", "s", "--force"]), "s: 5 documents of v3 erased\n");
    assert_eq!((documents(&folder, "s", true), documents(&folder, "s", false)), (0, 5));
    assert!(!folder.files("s").iter().any(|file| file.contains("zmigration")), "{:?}", folder.files("s"));
}
