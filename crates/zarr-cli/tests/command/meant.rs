//! Hints about options, values and nodes that are not there.

use crate::folder::Folder;

/// Runs the command, which has to fail with a hint that has these words.
fn hint(folder: &Folder, line: &str, words: &str) {
    let args: Vec<&str> = line.split(' ').collect();
    let ran = folder.run(&args);
    let hint = ran.err.split_once("hint: ").map(|(_, hint)| hint.trim_end().to_owned());
    let has = hint.as_deref().is_some_and(|hint| hint.contains(words));
    assert!(ran.code != Some(0) && has && !ran.err.contains("'-- "), "{line}: {}", ran.err);
}

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "g/a", "--shape", "4,2", "--dtype", "int16", "--dims", "x,y"]);
    folder
}

#[test]
fn options_of_other_names_are_named() {
    let folder = store();
    for (line, words) in [
        ("ls s --depth 2", "`zarr tree`"),
        ("tree s -o x", "standard output: `> FILE`"),
        ("convert s t -o x", "DST, the second address, is what is written"),
        ("convert s t --force", "`zarr convert` has --overwrite"),
        ("cp s t -r", "all nodes below in any case"),
        ("rm -f s g", "`zarr rm` asks nothing"),
        ("read s g/a --dim x", "--isel DIM=INDICES"),
        ("append s g/a --from x --dim x", "`zarr append` has --along DIM"),
        ("resize s g/a --along x", "--dim time=24"),
        ("create s b --shape 4 --dtype int8 --compressor zstd", "`zarr create` has --codecs CODECS"),
        ("create s b --shape 4 --data-type int8", "`zarr create` has --dtype TYPE"),
        ("info s --sel x=1", "and others have --sel DIM=LABELS"),
        ("read s g/a x=0", "--isel x=0 selects by index"),
        ("read s g/a 0:2", "--select \"0:2\""),
        ("rename-dims s g/a x=z --dim y=w", "--dim x=z"),
        ("rm s g/a g/b", "one node is erased at a time"),
        ("tree --jsno s", "is \"--json\" meant?"),
        ("append s g/a --from x --force", "nothing that is there is replaced"),
        ("diff s t --path g", "URL::PATH names a node"),
        ("migrate s --node g", "it is of the store as a whole"),
        ("convert s t --group g", "--node PATH is the node"),
        ("rm s g/a -o x", "`zarr rm -h`"),
        ("read s g/a -", "takes no more"),
        ("ds s -x", "`zarr ds -h` lists its options"),
        ("view s g/a --as png", "-o FILE.png"),
        ("read s g/a --region us-east-1", "`zarr read` has --sel"),
        ("tree s --endpoint http://x", "`zarr tree` has --store-option NAME=VALUE"),
    ] {
        hint(&folder, line, words);
    }
}

#[test]
fn values_and_verbs_of_other_names_are_named() {
    let folder = store();
    for (line, words) in [
        ("read s g/a --format csv", "--as csv is the form of the output"),
        ("tree s --format json", "--json prints JSON"),
        ("read s g/a --as netcdf", "to_netcdf"),
        ("read s g/a -o x.nc", "to_netcdf"),
        ("convert s t --dialect v9", "`zarr convert -h`"),
        ("read s g/a --as png", "`zarr read -h`"),
        ("convert s t --codecs zstd:5", "is zstd(5) meant?"),
        ("stat s", "is \"stats\" meant?"),
        ("copy s t", "is \"cp\" meant?"),
        ("rename s t", "is \"mv\" meant?"),
        ("validate s", "is \"check\" meant?"),
    ] {
        hint(&folder, line, words);
    }
    // The number of the format is as good as its name.
    folder.ok(&["convert", "s", "t", "--zarr-format", "2"]);
    folder.ok(&["create", "u", "a", "--shape", "4", "--dtype", "int8", "--zarr-format=3"]);
    folder.ok(&["read", "s", "g/a", "--format", "v3"]);
}

/// Hints of the library name options; those that the verb lacks stand behind a verb that has them.
#[test]
fn hints_name_options_of_other_verbs_with_these() {
    let folder = store();
    folder.ok(&["create", "s", "g/b", "--shape", "4", "--dtype", "int16"]);
    std::fs::write(folder.path("s/g/b/zarr.json"), "no document").unwrap();
    hint(&folder, "convert s t", "--keep-going and --exclude leave it out");
    hint(&folder, "cp s t", "--keep-going and `zarr convert --exclude` leave it out");
    hint(&folder, "mv s::/g s::/h", "`zarr convert --keep-going` and `zarr convert --exclude` leave it out");
}

#[test]
fn keys_of_nodes_are_told() {
    let folder = store();
    folder.ok(&["write", "s", "g/a", "--value", "1"]);
    folder.ok(&["convert", "s", "s2", "--dialect", "v2", "--chunks", "2,2"]);
    folder.ok(&["consolidate", "s2"]);
    for verb in ["read", "info", "tree", "ls", "du", "check", "stats", "attrs", "rm", "view"] {
        hint(&folder, &format!("{verb} s g/a/zarr.json"), "that is the document of /g/a, not a node");
        hint(&folder, &format!("{verb} s g/a/c/0/0"), "that is the key of chunk [0, 0] of /g/a, not a node");
        hint(&folder, &format!("{verb} s g/a/b"), "/g/a is an array: no nodes are below it");
        hint(&folder, &format!("{verb} s2 g/a/.zarray"), "that is the document of /g/a, not a node");
        hint(&folder, &format!("{verb} s2 g/a/1/0"), "that is the key of chunk [1, 0] of /g/a, not a node");
        hint(&folder, &format!("{verb} s2 .zmetadata"), "that is the consolidated metadata of /, not a node");
        hint(&folder, &format!("{verb} s g/aa"), "is \"/g/a\" meant?");
    }
    hint(&folder, "diff s s2::/g/aa", "is \"/g/a\" meant?");
    hint(&folder, "convert s t --exclude g/aa", "is \"/g/a\" meant?");
}

#[test]
fn nodes_of_the_other_kind_are_told() {
    let folder = store();
    for number in 0..11 {
        folder.ok(&["create", "many", &format!("a{number:02}"), "--shape", "4", "--dtype", "int16"]);
    }
    folder.ok(&["create", "many", "g", "--group"]);
    std::fs::write(folder.path("x.npy"), "").unwrap();
    for line in [
        "read many",
        "stats many --select 0",
        "view many",
        "bench-codecs many",
        "resize many --shape 3",
        "write many --value 3",
        "append many --from x.npy",
    ] {
        hint(&folder, line, "it has the arrays a00, a01, a02, a03, a04, a05, a06, a07, ... and 3 more");
        let of_groups = line.replace("many", "s");
        hint(&folder, &of_groups, "it has no arrays, and the groups g: `zarr tree s`");
    }
    hint(&folder, "read many g", "`zarr tree many /g` shows what is below");
    for line in ["consolidate s g/a", "convert s t --node g/a --variables x"] {
        hint(&folder, line, "`zarr read s /g/a` prints the array; the group that it lies in is s /g");
    }
    hint(&folder, "ds s g/a", "`zarr ds s /g` shows the data set");
}

#[test]
fn all_levels_are_shown_where_they_are_asked_for() {
    let folder = store();
    folder.ok(&["create", "s", "g/x", "--shape", "4", "--dtype", "int16", "--dims", "x"]);
    folder.ok(&["create", "s", "g/h/b", "--shape", "4", "--dtype", "int8", "--dims", "x"]);
    folder.ok(&["attrs", "s", "g/a", "--set", "units=K", "--set", "n=[1,2]"]);
    assert_eq!(folder.ok(&["ls", "s", "-R"]), "g/\ng/a\ng/h/\ng/h/b\ng/x\n");
    assert_eq!(folder.ok(&["ls", "s", "g", "--recursive"]), "a\nh/\nh/b\nx\n");
    let long = folder.ok(&["ls", "s", "-Rl"]);
    assert!(long.lines().any(|line| line.starts_with("g/h/b  (x 4)  int8")), "{long}");
    let tree = folder.ok(&["tree", "s", "--attrs"]);
    let lines: Vec<&str> = tree.lines().skip(1).collect();
    assert_eq!(lines[0], "`- g/");
    assert!(lines[1].starts_with("   |- a  (x 4, y 2)"), "{tree}");
    assert_eq!(lines[2..4], ["   |     units: \"K\"", "   |     n: [1,2]"], "{tree}");
    let long_name = "n".repeat(300);
    folder.ok(&["attrs", "s", "g/x", "--set", &format!("{long_name}=1")]);
    let cut = folder.ok(&["tree", "s", "--attrs"]);
    assert!(cut.contains(&format!("{}...: 1\n", &long_name[..100])) && !cut.contains(&long_name), "{cut}");
    let ds = folder.ok(&["ds", "s"]);
    let below = "Groups, which -r shows as well:\n  g    zarr ds s /g\n  g/h  zarr ds s /g/h\n";
    assert!(ds.ends_with(below), "{ds}");
    let all = folder.ok(&["ds", "s", "-r"]);
    assert!(all.contains("\ng:\nDimensions:  x 4, y 2\n") && all.contains("\ng/h:\nDimensions:  x 4\n"), "{all}");
    let json = zarr::meta::json::Value::from_json(&folder.ok(&["ds", "s", "-r", "--json"])).unwrap();
    assert_eq!(json.pointer("/below/1/path").unwrap().to_string(), "\"/g/h\"");
    // A group that cannot be read is an error once the others are shown, as of `ls -R`.
    std::fs::write(folder.path("s/g/h/zarr.json"), "no document").unwrap();
    for args in [["ls", "s", "-R"], ["ds", "s", "-r"]] {
        let ran = folder.run(&args);
        assert!(ran.code == Some(4) && ran.err.contains("/g/h"), "{args:?}: {:?} {}", ran.code, ran.err);
        assert!(String::from_utf8(ran.out).unwrap().contains("g"), "{args:?}");
    }
    assert!(folder.run(&["ds", "s", "-r"]).out.starts_with(b"Dimensions"));
}
