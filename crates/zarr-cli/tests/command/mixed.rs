//! Nodes of several dialects in one directory, and nodes that others hide.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

/// A hierarchy of v3 with an array, and in it one of another dialect.
pub(crate) fn mixed() -> Folder {
    let folder = Folder::new();
    let create = |store: &str, path: &str, dialect: &str| {
        folder.ok(&["create", store, path, "--shape", "4", "--dtype", "int16", "--chunks", "2", "--dialect", dialect]);
    };
    create("s", "new", "v3");
    create("t", "a", "v2");
    folder.fill("t", "a", "<i2", "(4,)", &int16(1..5));
    std::fs::rename(folder.path("t"), folder.path("s/old")).unwrap();
    folder
}

/// Copies all files of a store into another.
pub(crate) fn overlay(folder: &Folder, from: &str, to: &str) {
    for file in folder.files(from) {
        let target = folder.path(to).join(&file);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(folder.path(from).join(&file), target).unwrap();
    }
}

#[test]
fn nodes_of_every_dialect_are_shown_and_converted() {
    let folder = mixed();
    let tree = "\
s  v3 group  2 arrays, 1 group
|- new  (4,)  int16  chunks 2  zstd(0)
`- old/  [v2]
   `- a  [v2]  (4,)  int16  chunks 2  zstd(0)
";
    assert_eq!(folder.ok(&["tree", "s"]), tree);
    assert_eq!(folder.ok(&["ls", "s"]), "new\nold/  [v2]\n");
    assert!(folder.ok(&["info", "s"]).contains("Arrays             : 1 here, 2 in all"));
    assert_eq!(folder.ok(&["ls", "s", "--dialect", "v3"]), "new\n");
    assert_eq!(folder.ok(&["ls", "s", "/old"]), "a\n");
    folder.ok(&["convert", "s", "u"]);
    assert_eq!(folder.raw("u", "old/a"), int16(1..5));
    assert!(!folder.ok(&["tree", "u"]).contains('['));
    // A move erases the hierarchy that it copied, which has one dialect.
    let ran = folder.run(&["mv", "s", "w::/x"]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("/old is of dialect v2") && folder.path("s/old/a/.zarray").exists(), "{}", ran.err);
    // A directory that is renamed has them all.
    folder.ok(&["mv", "s", "w"]);
    assert_eq!(folder.raw("w", "old/a"), int16(1..5));
}

#[test]
fn nodes_of_every_dialect_are_erased_with_the_root() {
    for (root, others) in [("v2", &["v3"]), ("v3", &["v2"]), ("d2022", &["v2"])] {
        let folder = Folder::new();
        let create = |store: &str, path: &str, dialect: &str| {
            folder.ok(&["create", store, path, "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        };
        create("s", "a", root);
        for dialect in others {
            create(dialect, &format!("of_{dialect}"), dialect);
            overlay(&folder, dialect, "s");
        }
        std::fs::write(folder.path("s/note.txt"), "x").unwrap();
        let below = |dialect: &str| folder.files("s").iter().any(|file| file.contains(&format!("of_{dialect}")));
        assert!(others.iter().all(|dialect| below(dialect)), "{root}");
        let ran = folder.run(&["rm", "s", "/", "--recursive"]);
        assert_eq!(ran.code, Some(0), "{root}: {}", ran.err);
        assert_eq!(folder.files("s"), ["note.txt"], "{root}");
    }
}

#[test]
fn a_node_that_another_dialect_hides_is_named() {
    for (hidden, taken) in [("v2", "v3"), ("p2019", "v2"), ("v2", "d2022"), ("p2019", "v3"), ("v2", "p2020")] {
        let folder = Folder::new();
        for (store, dialect, first) in [("s", taken, 1), ("t", hidden, 5)] {
            for path in ["a", "g/b"] {
                folder.ok(&["create", store, path, "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
            }
            // Implicit groups hide nothing.
            folder.ok(&["attrs", store, "/", "--set", "x=1"]);
            folder.fill(store, "a", "<i2", "(4,)", &int16(first..first + 4));
        }
        overlay(&folder, "t", "s");
        let ran = folder.run(&["tree", "s"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let says = |path: &str, key: &str, taken: &str| {
            let line = format!("warning: {path}: {key}: ignored, since there is a document of {taken} as well\n");
            assert!(ran.err.contains(&line), "{hidden} {taken}: {line} {}", ran.err);
        };
        let key = |path: &str| match hidden {
            "v2" if path.is_empty() => ".zgroup".to_owned(),
            "v2" => format!("{path}/.zarray"),
            _ if path.is_empty() => "meta/group.json".to_owned(),
            _ => format!("meta/{}.a/array.json", path.replace('/', ".g/")),
        };
        says("/", &key(""), taken);
        // The nearest document decides; that of the root is of a draft.
        if !matches!(taken, "d2022" | "p2020") {
            says("/a", &key("a"), taken);
            says("/g/b", &key("g/b"), taken);
        }
        assert!(ran.err.ends_with("shows the nodes of that dialect\n"), "{}", ran.err);
        if !matches!(taken, "d2022" | "p2020") {
            let read = folder.run(&["read", "s", "a", "--as", "raw"]);
            assert_eq!(read.out, int16(1..5));
            for args in [&["read", "s", "a"][..], &["info", "s", "a"], &["attrs", "s", "a"]] {
                let ran = folder.run(args);
                assert!(ran.err.contains(&format!("hint: --dialect {hidden} shows")), "{args:?}: {}", ran.err);
            }
            assert_eq!(folder.run(&["read", "s", "a", "--as", "raw", "--dialect", hidden]).out, int16(5..9));
        }
        for dialect in [hidden, taken] {
            let ran = folder.run(&["tree", "s", "--json", "--dialect", dialect]);
            let list = Value::from_json(std::str::from_utf8(&ran.out).unwrap()).unwrap();
            let paths: Vec<&str> = list.as_array().unwrap().iter().filter_map(|it| it.get("path")?.as_str()).collect();
            assert_eq!(paths, ["/", "/a", "/g", "/g/b"], "{dialect} of {hidden}, {taken}: {}", ran.err);
        }
        let ran = folder.run(&["convert", "s", "u"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains("ignored, since there is a document of"), "{}", ran.err);
    }
}

// clause: p2019-4, d2022-16
#[test]
fn an_array_hides_a_group_of_its_name() {
    for dialect in ["v2", "p2019", "p2020", "d2022"] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        folder.ok(&["create", "t", "a/b", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        folder.ok(&["attrs", "s", "/", "--set", "x=1"]);
        let group = match dialect {
            "v2" => "a/.zgroup",
            "p2019" => "meta/a.g/group.json",
            "p2020" => "meta/root/a.group.json",
            _ => "meta/a.group.json",
        };
        let document =
            if dialect == "v2" { r#"{"zarr_format": 2}"# } else { r#"{"extensions": [], "attributes": {}}"# };
        let target = folder.path("s").join(group);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::write(target, document).unwrap();
        for args in [&["tree", "s"][..], &["ls", "s"], &["info", "s"], &["read", "s", "a"]] {
            let ran = folder.run(args);
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            let says = format!("{group}: ignored, since there is an array document as well");
            assert!(ran.err.contains(&says), "{dialect} {args:?}: {}", ran.err);
            assert!(ran.err.contains("hint: the array hides the group"), "{dialect} {args:?}: {}", ran.err);
        }
    }
}

// clause: p2019-2, d2022-7
#[test]
fn nodes_below_an_array_are_left_out_with_a_warning() {
    for dialect in ["p2019", "p2020", "d2022"] {
        let folder = Folder::new();
        let create = |store: &str, path: &str| {
            folder.ok(&["create", store, path, "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        };
        create("s", "a");
        create("t", "a/b");
        overlay(&folder, "t", "s");
        if dialect == "p2019" {
            // Names lead to the nodes above.
            std::fs::create_dir_all(folder.path("s/meta/a.g")).unwrap();
        }
        let ran = folder.run(&["tree", "s"]);
        let drawn = String::from_utf8(ran.out).unwrap();
        assert!(drawn.contains("1 array, 0 groups") && drawn.lines().count() == 2, "{dialect}: {drawn}");
        let says = format!("warning: /a/b: left out: array of {dialect} below an array");
        assert!(ran.err.contains(&says), "{dialect}: {}", ran.err);
        let ran = folder.run(&["convert", "s", "u"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains("warning: /a/b: left out"), "{}", ran.err);
        assert_eq!(folder.ok(&["tree", "u"]).lines().count(), 2);
        let ran = folder.run(&["migrate", "s"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains("/a/b: the node lies below an array"), "{}", ran.err);
        // It can be read by its path.
        assert_eq!(folder.raw("s", "a/b"), int16([0; 4]));
    }
}

#[test]
fn a_broken_document_does_not_hide_that_there_are_others() {
    let folder = mixed();
    std::fs::write(folder.path("s/old/a/zarr.json"), "{").unwrap();
    for args in [&["tree", "s"][..], &["ls", "s", "/old"], &["info", "s"], &["convert", "s", "u"]] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(4), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("/old/a: key old/a/zarr.json"), "{args:?}: {}", ran.err);
    }
    assert!(String::from_utf8(folder.run(&["tree", "s"]).out).unwrap().contains("new"));
    assert_eq!(folder.run(&["read", "s", "old/a", "--as", "raw", "--dialect", "v2"]).out, int16(1..5));
}

#[test]
fn stores_of_one_array_are_seen_beside_hierarchies() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--shape", "4", "--dtype", "int16", "--dialect", "v1"]);
    folder.ok(&["create", "t", "x", "--shape", "4", "--dtype", "int16", "--dialect", "v2"]);
    std::fs::remove_file(folder.path("t/.zgroup")).unwrap();
    overlay(&folder, "t", "s");
    let ran = folder.run(&["tree", "s"]);
    assert!(String::from_utf8(ran.out).unwrap().starts_with("s  v1 array"));
    assert!(ran.err.contains("warning: /x: left out: array of v2 below an array"), "{}", ran.err);
    std::fs::write(folder.path("s/.zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let ran = folder.run(&["info", "s"]);
    assert!(ran.err.contains("meta: ignored, since there is a document of v2 as well"), "{}", ran.err);
    assert!(ran.err.contains("--dialect v1 shows"), "{}", ran.err);
    assert!(folder.ok(&["tree", "s", "--dialect", "v1"]).starts_with("s  v1 array"));
}
