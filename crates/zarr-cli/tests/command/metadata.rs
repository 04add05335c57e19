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
    let shown = folder.ok(&["migrate", "v3", "s", "--overwrite", "--dry-run"]);
    assert_eq!(shown.lines().collect::<Vec<_>>(), ["zarr.json", "a/zarr.json", "g/zarr.json", "g/b/zarr.json"]);
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
    assert!(ran.code == Some(3) && ran.err.contains("found no metadata of v2"), "{}", ran.err);
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
    assert!(ran.err.contains("found no metadata of v3") && ran.err.contains("hint: --force"), "{}", ran.err);
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
    assert!(ran.code == Some(3) && ran.err.contains("s: /g/b: found no metadata of v3"), "{}", ran.err);
    assert_eq!(documents(&folder, "s", false), 5);
}
