//! `zarr ls`, `attrs`, `cp`, `mv`, `rm`, `consolidate` and `migrate`.

use crate::folder::{Folder, int16};

/// Two arrays in a group, in a dialect.
pub(crate) fn store(dialect: &str) -> Folder {
    let folder = Folder::new();
    for name in ["g/a", "g/b"] {
        let args = ["create", "s", name, "--shape", "4", "--dtype", "int16", "--chunks", "2", "--dialect", dialect];
        folder.ok(&args);
    }
    folder.fill("s", "g/a", "<i2", "(4,)", &int16(1..5));
    folder
}

pub(crate) fn fails(folder: &Folder, args: &[&str], code: i32, says: &str) {
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    assert!(ran.err.contains(says), "{args:?}: {}", ran.err);
}

#[test]
fn children_are_listed() {
    let folder = store("v3");
    assert_eq!(folder.ok(&["ls", "s"]), "g/\n");
    assert_eq!(folder.ok(&["ls", "s", "/g"]), "a\nb\n");
    fails(&folder, &["ls", "s::g/a"], 2, "/g/a: an array");
    let long = folder.ok(&["ls", "-l", "s", "g"]);
    assert!(long.starts_with("a  (4,)  int16  chunks 2"), "{long}");
    assert!(folder.ok(&["ls", "s", "g", "--json"]).contains("\"path\": \"/g/b\""));
    fails(&folder, &["ls", "s", "nothing"], 3, "/nothing");
}

#[test]
fn an_attribute_changes_and_nothing_else() {
    let folder = store("v3");
    let read = || std::fs::read_to_string(folder.path("s/g/a/zarr.json")).unwrap();
    // A number as nobody would write it, and a member that is not known.
    let odd =
        read().replace("\"attributes\": {}", "\"attributes\": {\"n\": 1.50}, \"x\": {\"must_understand\": false}");
    std::fs::write(folder.path("s/g/a/zarr.json"), &odd).unwrap();
    folder.ok(&["attrs", "s", "g/a", "--set", "units=K", "--set", "range=[0, 1]", "--set", "m=2"]);
    folder.ok(&["attrs", "s", "g/a", "--unset", "m"]);
    let text = read();
    assert!(text.contains("1.50") && text.contains("must_understand"), "{text}");
    let attributes = zarr::meta::json::Value::from_json(&folder.ok(&["attrs", "s", "g/a"])).unwrap();
    assert_eq!(attributes.to_string(), r#"{"n":1.50,"units":"K","range":[0,1]}"#);
    fails(&folder, &["attrs", "s", "g/a", "--unset", "nothing"], 2, "nothing was changed");
    fails(&folder, &["attrs", "s", "g", "--dims", "x"], 2, "found a group, expected an array");
    fails(&folder, &["attrs", "s", "g/a", "--dims", "x,y,z,a,b,c,d"], 2, "found 7 names of dimensions");
    fails(&folder, &["attrs", "s", "g/a", "--set", "units"], 2, "NAME=VALUE");
    folder.ok(&["attrs", "s", "g/a", "--unset", "units", "--unset", "range"]);
    assert!(read().contains("1.50"));
}

// clause: p2019-52, d2022-195
#[test]
fn nodes_are_copied_moved_and_erased() {
    for dialect in ["v2", "v3", "p2019", "p2020", "d2022"] {
        let folder = store(dialect);
        folder.ok(&["cp", "s::/g", "s::/copies/g"]);
        folder.ok(&["cp", "s::/g/a", "t::/x/a"]);
        folder.ok(&["mv", "s::/g/a", "s::/b"]);
        for (store, path) in [("s", "copies/g/a"), ("t", "x/a"), ("s", "b")] {
            assert_eq!(folder.raw(store, path), int16(1..5), "{dialect} {path}");
        }
        fails(&folder, &["info", "s", "g/a"], 3, "/g/a");
        fails(&folder, &["cp", "s::/b", "s::/copies/g/a"], 2, "there is an array already");
        folder.ok(&["cp", "s::/g/b", "s::/copies/g/a", "--overwrite"]);
        assert_eq!(folder.raw("s", "copies/g/a"), int16([0; 4]));
        fails(&folder, &["cp", "s::/copies", "s::/copies/g/c"], 2, "in one another");
        fails(&folder, &["rm", "s", "/copies"], 2, "--recursive");
        fails(&folder, &["rm", "s"], 2, "the root of a store is /");
        folder.ok(&["rm", "-r", "s", "/copies"]);
        folder.ok(&["rm", "s::/b"]);
        assert_eq!(folder.ok(&["ls", "s"]), "g/\n");
        std::fs::write(folder.path("s/README"), "mine").unwrap();
        folder.ok(&["rm", "-r", "s", "/"]);
        assert_eq!(folder.files("s"), ["README"], "{dialect}");
    }
}

#[test]
fn keys_of_no_node_are_erased_only_if_asked_for() {
    for dialect in ["v2", "v3", "p2019", "p2020", "d2022"] {
        let folder = store(dialect);
        folder.ok(&["rm", "s::g/a"]);
        folder.ok(&["rm", "s::g/b"]);
        if matches!(dialect, "v2" | "v3") {
            std::fs::create_dir_all(folder.path("s/g/notes")).unwrap();
            std::fs::write(folder.path("s/g/notes/today"), "mine").unwrap();
            fails(&folder, &["rm", "s", "/g"], 2, "the key g/notes/today below the group belongs to no node");
            folder.ok(&["rm", "-r", "s", "/g"]);
            assert!(!folder.files("s").iter().any(|file| file.contains("notes")), "{dialect}");
        } else {
            // The group was implicit.
            fails(&folder, &["rm", "s", "/g"], 3, "/g");
        }
    }
    // Documents of the group, whoever wrote them.
    let folder = store("v2");
    folder.ok(&["rm", "s::g/a"]);
    folder.ok(&["rm", "s::g/b"]);
    folder.ok(&["attrs", "s", "g", "--set", "units=K"]);
    folder.ok(&["consolidate", "s", "g"]);
    std::fs::write(folder.path("s/g/zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    folder.ok(&["rm", "s", "/g"]);
    assert!(!folder.files("s").iter().any(|file| file.starts_with("g/")), "{:?}", folder.files("s"));
}

/// Documents of another dialect would hide all nodes that are there.
// clause: v1-44
#[test]
fn new_nodes_take_the_dialect_of_the_hierarchy() {
    for dialect in ["v2", "v3", "p2019", "p2020", "d2022"] {
        let folder = store(dialect);
        let create = |path, more: &[&str]| {
            folder.run(&[&["create", "s", path, "--shape", "2", "--dtype", "int8"], more].concat())
        };
        let before = folder.files("s");
        let other = if dialect == "v3" { "v2" } else { "v3" };
        let ran = create("x", &["--dialect", other]);
        assert_eq!((ran.code, folder.files("s")), (Some(2), before), "{}", ran.err);
        assert!(ran.err.contains(&format!("/x: the hierarchy is of dialect {dialect}")), "{}", ran.err);
        assert_eq!(create("x", &[]).code, Some(0));
        assert_eq!(create("g/y", &["--dialect", dialect]).code, Some(0));
        let tree = folder.ok(&["tree", "s", "--json"]);
        let nodes = zarr::meta::json::Value::from_json(&tree).unwrap();
        let member = |name: &str| -> Vec<String> {
            let nodes = nodes.as_array().unwrap().iter();
            nodes.map(|node| node.get(name).unwrap().as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(member("path"), ["/", "/g", "/g/a", "/g/b", "/g/y", "/x"]);
        assert_eq!(member("dialect"), [dialect; 6]);
    }
    // One array is no hierarchy.
    for dialect in ["v0", "v1"] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "/", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        let before = folder.files("s");
        for more in [&[][..], &["--dialect", "v3"], &["--dialect", dialect]] {
            let ran = folder.run(&[&["create", "s", "/x", "--shape", "4", "--dtype", "int16"], more].concat());
            assert_eq!((ran.code, folder.files("s")), (Some(2), before.clone()), "{}", ran.err);
            assert!(ran.err.contains("/ is an array"), "{}", ran.err);
        }
    }
}

#[test]
fn copies_take_the_dialect_of_the_hierarchy() {
    let folder = store("v3");
    folder.ok(&["create", "t", "old", "--shape", "1", "--dtype", "int8", "--dialect", "v2"]);
    folder.ok(&["cp", "s::/g", "t::/g"]);
    assert!(folder.files("t").contains(&"g/a/.zarray".to_owned()));
    assert_eq!(folder.raw("t", "g/a"), int16(1..5));
}

#[test]
fn consolidated_metadata_is_written_checked_and_dropped() {
    for dialect in ["v2", "v3"] {
        let folder = store(dialect);
        assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "there is no consolidated metadata\n");
        folder.ok(&["consolidate", "s"]);
        assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
        std::fs::remove_dir_all(folder.path("s/g/b")).unwrap();
        let ran = folder.run(&["consolidate", "s", "--check"]);
        assert_eq!((ran.code, ran.out.as_slice()), (Some(4), &b"gone     /g/b\n"[..]), "{}", ran.err);
        folder.ok(&["consolidate", "s"]);
        assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
        folder.ok(&["consolidate", "s", "--drop"]);
        assert_eq!(folder.ok(&["consolidate", "s", "--check", "--json"]), "null\n");
    }
    fails(&store("d2022"), &["consolidate", "s"], 4, "d2022");
}

#[test]
fn a_hierarchy_migrates_where_it_lies() {
    let folder = store("v2");
    let before = folder.files("s");
    let dry = folder.ok(&["migrate", "s", "--dry-run"]);
    assert!(dry.contains("/g/a  chunks stay") && folder.files("s") == before, "{dry}");
    fails(&folder, &["migrate", "s", "--finish"], 3, "nothing was dropped");
    folder.ok(&["migrate", "s"]);
    assert!(folder.ok(&["ls", "s", "g"]) == "a\nb\n" && folder.files("s").contains(&"g/a/.zarray".to_owned()));
    folder.ok(&["migrate", "s", "--undo"]);
    assert_eq!(folder.files("s"), before);
    folder.ok(&["migrate", "s"]);
    folder.ok(&["migrate", "s", "--finish"]);
    let files = ["g/a/0", "g/a/1", "g/a/zarr.json", "g/b/zarr.json", "g/zarr.json", "zarr.json"];
    assert_eq!(folder.files("s"), files);
    assert_eq!(folder.raw("s", "g/a"), int16(1..5));
    fails(&folder, &["migrate", "s"], 3, "no hierarchy of a dialect other than v3");
}

/// Where a document of the old dialect has the name of a directory of the new one, nothing is begun.
#[test]
fn a_migration_whose_keys_are_taken_is_refused_before_it_begins() {
    for dialect in ["p2019", "p2020", "d2022"] {
        let folder = Folder::new();
        folder.ok(&["create", "s", "/", "--shape", "4", "--dtype", "int16", "--dialect", "v1"]);
        folder.fill("s", "/", "<i2", "(4,)", &int16(0..4));
        let before = folder.files("s");
        for more in [&["--dry-run"][..], &[]] {
            let ran = folder.run(&[&["migrate", "s", "--dialect", dialect], more].concat());
            assert_ne!(ran.code, Some(0), "{dialect}");
            let words = "the key meta, a document of dialect v1, is in the way of the key meta/";
            assert!(ran.err.contains(words), "{dialect}: {}", ran.err);
            assert_eq!(folder.files("s"), before, "{dialect}");
        }
        folder.ok(&["convert", "s", "t", "--dialect", dialect]);
        assert_eq!(folder.raw("t", "/"), int16(0..4));
    }
}

/// A chunk grid that is not known keeps an array from being converted, and not from being copied as it is stored.
#[test]
fn arrays_with_unknown_grids_are_copied_as_they_are() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4", "--dtype", "int16", "--chunks", "2", "--codecs", "none"]);
    folder.fill("s", "g/a", "<i2", "(4,)", &int16(1..5));
    let document = std::fs::read_to_string(folder.path("s/g/a/zarr.json")).unwrap();
    std::fs::write(folder.path("s/g/a/zarr.json"), document.replace("\"regular\"", "\"hexagonal\"")).unwrap();
    // As the grid has it, which nobody knows.
    std::fs::create_dir(folder.path("s/g/a/c/deep")).unwrap();
    std::fs::write(folder.path("s/g/a/c/deep/chunk"), b"x").unwrap();
    let content = |store: &str| -> Vec<(String, Vec<u8>)> {
        let read = |file: String| (file.clone(), std::fs::read(folder.path(&format!("{store}/{file}"))).unwrap());
        folder.files(store).into_iter().filter(|file| file.starts_with("g/a/")).map(read).collect()
    };
    let before = content("s");
    assert_eq!(before.len(), 4);
    folder.ok(&["cp", "s", "t"]);
    assert_eq!(content("t"), before);
    folder.ok(&["convert", "s", "u", "--dialect", "v3"]);
    assert_eq!(content("u"), before);
    folder.ok(&["convert", "s", "v", "--dry-run"]);
    for more in [&["--dialect", "v2"][..], &["--codecs", "gzip"], &["--chunks", "1"]] {
        let ran = folder.run(&[&["convert", "s", "w"], more].concat());
        assert_ne!(ran.code, Some(0), "{more:?}");
        assert!(ran.err.contains("hexagonal") && !folder.path("w").exists(), "{more:?}: {}", ran.err);
    }
    folder.ok(&["mv", "s::/g/a", "s::/b"]);
    assert!(folder.files("s").contains(&"b/c/deep/chunk".to_owned()));
}

/// `--undo` removes the documents that the migration wrote, of any dialect: the store has a record.
#[test]
fn a_migration_to_version_2_is_undone_and_finished_as_such() {
    let folder = store("v3");
    let before = folder.files("s");
    folder.ok(&["migrate", "s", "--dialect", "v2"]);
    let both = folder.files("s");
    assert!(both.contains(&".zmigration".to_owned()) && both.contains(&"g/a/.zarray".to_owned()));
    for verb in ["--undo", "--finish"] {
        fails(&folder, &["migrate", "s", verb, "--dialect", "v3"], 2, "from v3 to v2, not to v3; nothing was dropped");
        assert_eq!(folder.files("s"), both);
    }
    folder.ok(&["migrate", "s", "--undo"]);
    assert_eq!(folder.files("s"), before);
    assert_eq!(folder.raw("s", "g/a"), int16(1..5));
    folder.ok(&["migrate", "s", "--dialect", "v2"]);
    folder.ok(&["migrate", "s", "--finish"]);
    assert!(folder.files("s").iter().all(|file| !file.ends_with("zarr.json") && !file.contains("migration")));
    assert_eq!(folder.raw("s", "g/a"), int16(1..5));
}

#[test]
fn nothing_is_changed_while_a_migration_is_under_way() {
    let folder = store("v2");
    folder.ok(&["migrate", "s"]);
    let record = folder.path("s/.zmigration");
    let done = std::fs::read_to_string(&record).unwrap();
    folder.ok(&["attrs", "s", "g", "--set", "x=1"]);
    for (state, hint) in [
        ("running", "`zarr migrate` again completes it"),
        ("finishing", "`zarr migrate --finish` again"),
        ("undoing", "`zarr migrate --undo` again"),
    ] {
        std::fs::write(&record, done.replace("\"done\"", &format!("\"{state}\""))).unwrap();
        let before = folder.files("s");
        for verb in [
            &["create", "s", "n", "--shape", "2", "--dtype", "int8"][..],
            &["write", "s", "g/a", "--from", "-"],
            &["attrs", "s", "g", "--set", "x=2"],
            &["cp", "s::/g", "s::/h"],
            &["mv", "s::/g", "t"],
            &["rm", "s", "g/a"],
            &["consolidate", "s"],
            &["convert", "s", "s/g", "--overwrite"],
        ] {
            let ran = folder.run(verb);
            assert_eq!(ran.code, Some(2), "{verb:?}: {}", ran.err);
            if verb[0] != "convert" {
                assert!(
                    ran.err.contains("a migration from v2 to v3") && ran.err.contains(hint),
                    "{verb:?}: {}",
                    ran.err
                );
            }
        }
        assert_eq!(folder.files("s"), before);
        // Reading goes on.
        assert_eq!(folder.raw("s", "g/a"), int16(1..5));
    }
}

/// Order F as version 1 specifies it, and as zarr-python 1 wrote it.
// clause: v1-13
#[test]
fn order_f_of_version_1_is_read_either_way() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("s")).unwrap();
    let meta = r#"{"zarr_format": 1, "shape": [2, 2], "chunks": [2, 2], "dtype": "|i1", "compression": null,
        "compression_opts": null, "fill_value": 0, "order": "F"}"#;
    std::fs::write(folder.path("s/meta"), meta).unwrap();
    std::fs::write(folder.path("s/attrs"), "{}").unwrap();
    std::fs::write(folder.path("s/0.0"), [1, 2, 3, 4]).unwrap();
    assert_eq!(folder.ok(&["read", "s", "-q"]), "1 3\n2 4\n");
    assert_eq!(folder.ok(&["read", "s", "-q", "--v1-f-order-is-c"]), "1 2\n3 4\n");
    folder.ok(&["convert", "s", "d", "-q", "--v1-f-order-is-c"]);
    assert_eq!(folder.ok(&["read", "d"]), "1 2\n3 4\n");
}

#[test]
fn keys_under_a_node_move_with_it_in_a_directory() {
    let folder = store("v3");
    std::fs::write(folder.path("s/g/README"), "mine").unwrap();
    std::fs::write(folder.path("s/g/a/notes"), "mine").unwrap();
    folder.ok(&["mv", "s::/g", "s::/h"]);
    assert_eq!(
        folder.files("s"),
        ["h/README", "h/a/c/0", "h/a/c/1", "h/a/notes", "h/a/zarr.json", "h/b/zarr.json", "h/zarr.json", "zarr.json"]
    );
    assert_eq!(folder.raw("s", "h/a"), int16(1..5));
}

/// A copy in a document of its own has the attributes of the root as well.
#[test]
fn attributes_of_the_root_are_in_its_consolidated_metadata() {
    let folder = store("v2");
    folder.ok(&["consolidate", "s"]);
    folder.ok(&["attrs", "s", "--set", "x=1"]);
    assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
    assert!(std::fs::read_to_string(folder.path("s/.zmetadata")).unwrap().contains("\"x\": 1"));
}

#[test]
fn chunks_of_a_broken_array_do_not_become_data_of_another() {
    for dialect in ["v2", "v3"] {
        let folder = store(dialect);
        let document = if dialect == "v2" { "s/g/a/.zarray" } else { "s/g/a/zarr.json" };
        std::fs::write(folder.path(document), "{").unwrap();
        folder.ok(&["cp", "s::/g/b", "s::/g/a", "--overwrite"]);
        assert_eq!(folder.raw("s", "g/a"), int16([0; 4]), "{dialect}");
        // As after a conversion that was interrupted: chunks without a document.
        folder.fill("s", "g/a", "<i2", "(4,)", &int16(1..5));
        std::fs::remove_file(folder.path(document)).unwrap();
        folder.ok(&["cp", "s::/g/b", "s::/g/a", "--overwrite"]);
        assert_eq!(folder.raw("s", "g/a"), int16([0; 4]), "{dialect}");
    }
}

#[test]
fn unreadable_consolidated_metadata_is_rewritten() {
    let folder = store("v2");
    std::fs::write(folder.path("s/.zmetadata"), "{").unwrap();
    assert_eq!(folder.run(&["consolidate", "s", "--check"]).code, Some(4));
    folder.ok(&["convert", "s", "d", "--dialect", "v3"]);
    folder.ok(&["consolidate", "s"]);
    assert_eq!(folder.ok(&["consolidate", "s", "--check"]), "up to date\n");
}

#[cfg(unix)]
#[test]
fn a_node_with_links_is_not_moved() {
    for (dialect, node, links) in [
        ("v3", "g/a", &[("g/a", "latest"), ("../g/a", "h/l")][..]),
        ("v2", "g/a", &[("g/a", "latest"), ("../g/a", "h/l")]),
        ("d2022", "data/g/a", &[("../g/a", "data/h/l")]),
    ] {
        let folder = store(dialect);
        folder.ok(&["create", "s", "h/c", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
        assert!(folder.files("s").iter().any(|file| file.starts_with(node)), "{dialect}");
        std::fs::create_dir_all(folder.path("s/data/h")).unwrap();
        for (target, link) in links {
            std::os::unix::fs::symlink(target, folder.path("s").join(link)).unwrap();
        }
        let before = folder.files("s");
        let moves = [["mv", "s::/h", "s::/x"], ["mv", "s::/h", "t::/x"], ["mv", "s::/latest", "s::/x"]];
        for verb in moves.iter().take(links.len() + 1) {
            fails(&folder, verb, 2, "symbolic link");
            assert_eq!(folder.files("s"), before, "{dialect}: {verb:?}");
        }
        folder.ok(&["rm", "s::/h", "--recursive"]);
        assert_eq!(folder.raw("s", "g/a"), int16(1..5), "{dialect}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_erased_and_not_the_node_that_it_leads_to() {
    let link = |folder: &Folder, target: &str, link: &str| {
        std::os::unix::fs::symlink(target, folder.path(link)).unwrap();
    };
    for dialect in ["v2", "v3"] {
        for verb in [
            &["rm", "s::/latest"][..],
            &["create", "s", "latest", "--shape", "2", "--dtype", "int8", "--overwrite"],
            &["cp", "s::/g/b", "s::/latest", "--overwrite"],
            &["rm", "s::/h", "--recursive"],
        ] {
            let folder = store(dialect);
            link(&folder, "g/a", "s/latest");
            folder.ok(&["create", "s", "h/c", "--shape", "4", "--dtype", "int16", "--dialect", dialect]);
            link(&folder, "../g/a", "s/h/link");
            folder.ok(verb);
            assert_eq!(folder.raw("s", "g/a"), int16(1..5), "{dialect} {verb:?}");
            let is_link = |link: &str| folder.path(link).is_symlink();
            assert!(!(is_link("s/latest") && is_link("s/h/link")), "{dialect} {verb:?}");
        }
        let folder = store(dialect);
        std::fs::rename(folder.path("s/g/a"), folder.path("outside")).unwrap();
        link(&folder, "../../outside", "s/g/a");
        let before = folder.files("outside");
        fails(&folder, &["rm", "s::/", "--recursive"], 4, "leads out of the store");
        folder.ok(&["rm", "s::/g/b"]);
        assert_eq!(folder.files("outside"), before, "{dialect}");
        assert!(before.len() > 2, "{before:?}");
    }
}

/// A chunk that cannot be reached is never taken for one that is not stored.
#[cfg(unix)]
#[test]
fn a_chunk_behind_a_link_that_leaves_the_store_is_an_error_in_every_verb() {
    let folder = store("v3");
    std::fs::rename(folder.path("s/g/a/c/1"), folder.path("outside")).unwrap();
    std::os::unix::fs::symlink(folder.path("outside"), folder.path("s/g/a/c/1")).unwrap();
    for verb in [
        &["read", "s", "g/a"][..],
        &["convert", "s", "d1"],
        &["convert", "s", "d2", "--chunks", "4"],
        &["cp", "s::/g/a", "d3::/a"],
        &["cp", "s::/g/a", "s::/h"],
        &["mv", "s::/g", "s::/k"],
        &["mv", "s::/g/a", "d4::/a"],
    ] {
        let ran = folder.run(verb);
        assert_ne!(ran.code, Some(0), "{verb:?}");
        let says = if verb[0] == "mv" { "c/1 is a symbolic link" } else { "leads out of the store" };
        assert!(ran.err.contains(says), "{verb:?}: {}", ran.err);
    }
    let migrated = folder.run(&["migrate", "s", "--dialect", "v2"]);
    assert!(migrated.code != Some(0) && migrated.err.contains("leads out of the store"), "{}", migrated.err);
    folder.ok(&["migrate", "s", "--undo"]);
    let files = folder.files("s");
    assert!(
        ["g/a/zarr.json", "g/a/c/0", "g/b/zarr.json"].iter().all(|file| files.contains(&(*file).to_owned())),
        "{files:?}"
    );
    // Erasing removes the link alone.
    folder.ok(&["rm", "s", "g/a"]);
    assert!(folder.path("outside").exists());
}

/// A whole directory is renamed where that can be done, and moved files of others with it.
#[cfg(unix)]
#[test]
fn a_whole_directory_moves_at_once() {
    use std::os::unix::fs::MetadataExt;
    let folder = store("v3");
    std::fs::create_dir_all(folder.path("s/.git")).unwrap();
    std::fs::write(folder.path("s/.git/config"), "x").unwrap();
    let inode = |file: &str| std::fs::metadata(folder.path(file)).unwrap().ino();
    let (files, chunk) = (folder.files("s"), inode("s/g/a/c/0"));
    let said = folder.ok(&["mv", "s", "new/t"]);
    assert!(said.contains("new/t: 4 nodes, ") && said.contains(" moved in "), "{said}");
    assert!(!folder.path("s").exists());
    assert_eq!((folder.files("new/t"), inode("new/t/g/a/c/0")), (files, chunk));
    // Into a store that is there a node is copied, and no empty directory stays behind.
    folder.ok(&["mv", "new/t::/g", "u"]);
    folder.ok(&["mv", "u", "new/t::/h"]);
    assert!(!folder.path("u").exists());
    assert_eq!(folder.ok(&["ls", "new/t", "h"]), folder.ok(&["ls", "new/t::/h"]));
    // What is no node is not moved as one.
    std::fs::create_dir(folder.path("texts")).unwrap();
    std::fs::write(folder.path("texts/x.txt"), "x").unwrap();
    assert_eq!(folder.run(&["mv", "texts", "x"]).code, Some(3));
    assert!(folder.path("texts").exists() && !folder.path("x").exists());
}
