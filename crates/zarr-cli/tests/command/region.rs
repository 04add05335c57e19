//! Regions: `--sel` and `--isel` of `convert`, `cp` and `view`, and coordinates of groups above.

use crate::folder::{Folder, int16};
use crate::mixed::overlay;
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

/// The end of a run of the command that fails: the error with its hint.
fn fails(folder: &Folder, args: &[&str]) -> String {
    let ran = folder.run(args);
    assert_eq!((ran.code, ran.out.len()), (Some(2), 0), "{args:?}: {}", ran.err);
    ran.err
}

/// `/` has time and t, `/ocean` has depth, and s along both.
fn tree(folder: &Folder) {
    let create = |name: &str, shape: &str, dims: &str| {
        folder.ok(&["create", "tree", name, "--shape", shape, "--dims", dims, "--dtype", "int32", "--chunks", shape])
    };
    let write = |name: &str, json: &str| {
        let ran = folder.run_with(&["write", "tree", name, "--from", "-", "--as", "json"], json.as_bytes());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    create("time", "4", "time");
    folder.ok(&["attrs", "tree", "time", "--set", "units=days since 2020-01-01"]);
    create("t", "4", "time");
    create("ocean/depth", "3", "depth");
    create("ocean/s", "3,4", "depth,time");
    create("ocean/deep/u", "4", "time");
    write("time", "[0, 1, 31, 32]");
    write("t", "[1, 2, 3, 4]");
    write("ocean/depth", "[5, 50, 500]");
    write("ocean/s", "[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]");
    write("ocean/deep/u", "[6, 7, 8, 9]");
}

#[test]
fn a_region_of_a_data_set_goes_into_a_new_store() {
    let region = ["--sel", "time=2006-12..2007-02", "--sel", "lat=-2.5..3", "--isel", "lon=10:50:2"];
    for (number, more) in [
        &[][..],
        &["--dialect", "v3"],
        &["--dialect", "d2022"],
        &["--dialect", "v3", "--chunks", "lat=3,lon=5", "--shards", "time=3,lat=6"],
        &["--dialect", "v3", "--codecs", "zstd", "--shards", "auto"],
        &["--variables", "sst"],
    ]
    .into_iter()
    .enumerate()
    {
        let folder = Folder::new();
        let line = folder.ok(&[&["convert", CLIMATE, "r"], &region[..], more].concat());
        let told = ", the region time=2006-12..2007-02, lat=-2.5..3, lon=10:50:2";
        assert!(line.contains(told), "{line}");
        let names: &[&str] = if number == 5 { &["sst"] } else { &["sst", "anomaly"] };
        for name in names {
            let source = folder.ok(&[&["read", CLIMATE, name, "--as", "json", "--raw"], &region[..]].concat());
            assert_eq!(folder.ok(&["read", "r", name, "--as", "json", "--raw"]), source, "{more:?}: {name}");
        }
        for (name, one) in [("time", &region[..2]), ("lat", &region[2..4]), ("lon", &region[4..])] {
            let source = folder.ok(&[&["read", CLIMATE, name, "--as", "json", "--raw"], one].concat());
            assert_eq!(folder.ok(&["read", "r", name, "--as", "json", "--raw"]), source, "{more:?}: {name}");
        }
        let facts = |store: &str| Value::from_json(&folder.ok(&["ds", store, "--json"])).unwrap();
        let member = |store: &str, pointer: &str| facts(store).pointer(pointer).cloned();
        let sizes =
            ["time", "lat", "lon"].map(|name| member("r", &format!("/sizes/{name}")).and_then(|size| size.as_u64()));
        assert_eq!(sizes, [Some(3), Some(10), Some(20)], "{more:?}");
        for pointer in ["/attributes", "/data_variables/sst/attributes", "/coordinates/time/attributes"] {
            assert_eq!(member("r", pointer), member(CLIMATE, pointer), "{more:?}");
        }
        assert_eq!(folder.run(&["check", "r"]).code, Some(0));
    }
}

#[test]
fn a_plan_says_the_region_and_chunks_in_it_are_copied() {
    let folder = Folder::new();
    let create = |name: &str, more: &[&str]| folder.ok(&[&["create", "s", name, "--dtype", "int16"], more].concat());
    create("x", &["--shape", "25", "--dims", "x", "--chunks", "10"]);
    create("a", &["--shape", "25,6", "--dims", "x,y", "--chunks", "10,4"]);
    create("b", &["--shape", "6", "--dims", "y"]);
    folder.fill("s", "a", "<i2", "(25, 6)", &int16(0..150));
    let plan = folder.ok(&["convert", "s", "d", "--isel", "x=10:25", "--dry-run"]);
    let line = |path: &str| plan.lines().find(|line| line.starts_with(path)).unwrap().to_owned();
    assert!(
        line("/a ").contains("chunks copied, 4 chunks (") && line("/a ").ends_with(", [10:25, 0:6] of [25, 6]"),
        "{plan}"
    );
    assert!(!line("/b ").contains('['), "{plan}");
    let plan = folder.ok(&["convert", "s", "d", "--isel", "x=3", "--dry-run"]);
    assert!(plan.contains("decoded and encoded, 2 chunks ("), "{plan}");
    assert!(plan.contains("[3:4, 0:6] of [25, 6]"), "{plan}");
    let json = folder.ok(&["convert", "s", "d", "--isel", "x=3", "--json"]);
    assert!(json.contains(r#""region": "[3:4, 0:6]""#), "{json}");
    // The dimension stays, also with one element.
    assert_eq!(folder.ok(&["read", "d", "a"]), "18 19 20 21 22 23\n");
    assert_eq!(folder.ok(&["read", "d", "a", "--as", "json"]), "[[18, 19, 20, 21, 22, 23]]\n");
}

#[test]
fn a_region_in_parts_and_resumed_is_the_region() {
    let folder = Folder::new();
    let region = ["--sel", "time=2007", "--isel", "lon=100:400"];
    let convert = |target: &str, more: &[&str]| {
        folder.run(
            &[&["convert", CLIMATE, target, "--dialect", "v3", "--chunks", "lat=4,lon=40"], &region[..], more].concat(),
        )
    };
    assert_eq!(convert("whole", &[]).code, Some(0));
    for part in ["1/3", "2/3", "3/3"] {
        let ran = convert("parts", &["--part", part]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            String::from_utf8(ran.out).unwrap().contains(&format!("part {part}, the region time=2007, lon=100:400 in"))
        );
    }
    // Another region is another conversion.
    let other = folder.run(&[
        "convert",
        CLIMATE,
        "parts",
        "--dialect",
        "v3",
        "--chunks",
        "lat=4,lon=40",
        "--sel",
        "time=2006",
        "--finish",
    ]);
    assert_ne!(other.code, Some(0));
    assert!(other.err.contains("regions: "), "{}", other.err);
    assert_eq!(convert("parts", &["--finish"]).code, Some(0));
    assert_eq!(folder.ok(&["digest", "parts"]), folder.ok(&["digest", "whole"]));
    assert_eq!(convert("whole", &["--resume", "--overwrite"]).code, Some(0));
    assert_eq!(folder.ok(&["digest", "parts"]), folder.ok(&["digest", "whole"]));
}

#[test]
fn copies_take_regions_of_nodes_and_of_trees() {
    let folder = Folder::new();
    tree(&folder);
    let line = folder.ok(&["cp", "tree", "all", "--sel", "time=2020-02"]);
    assert!(line.contains(", the region time=2020-02,"), "{line}");
    assert_eq!(folder.ok(&["read", "all", "ocean/s", "--as", "json"]), "[[2, 3],\n[12, 13],\n[22, 23]]\n");
    assert_eq!(folder.ok(&["read", "all", "ocean/deep/u", "--as", "json"]), "[8, 9]\n");
    assert_eq!(folder.ok(&["read", "all", "time", "--raw", "--as", "json"]), "[31, 32]\n");
    // The labels are those of the root, also of a group or an array alone, by whichever address.
    for (source, target) in [("tree::/ocean", "one"), ("tree/ocean", "two")] {
        folder.ok(&["cp", source, target, "--sel", "time=2020-01-02", "--isel", "depth=1:"]);
        assert_eq!(folder.ok(&["read", target, "s", "--as", "json"]), "[[11],\n[21]]\n", "{source}");
        assert_eq!(folder.ok(&["read", target, "depth", "--as", "json"]), "[50, 500]\n", "{source}");
    }
    folder.ok(&["cp", "tree::/ocean/s", "s::/s", "--sel", "time=2020-01-02..2020-02-01", "--sel", "depth=400~"]);
    assert_eq!(folder.ok(&["read", "s", "s", "--as", "json"]), "[[21, 22]]\n");
    folder.ok(&["convert", "tree", "node", "--node", "ocean", "--sel", "time=2020-02", "--dialect", "v2"]);
    assert_eq!(folder.ok(&["read", "node", "ocean/s", "--as", "json"]), "[[2, 3],\n[12, 13],\n[22, 23]]\n");
}

#[test]
fn regions_that_are_none_are_refused() {
    let folder = Folder::new();
    tree(&folder);
    let error = |args: &[&str]| fails(&folder, &[&["convert", "tree", "d"], args].concat());
    let message = error(&["--isel", "time=0,1,3"]);
    assert!(message.contains("dimension time: found a list that is not evenly apart, expected a range"), "{message}");
    assert!(error(&["--isel", "time=::-1"]).contains("goes backwards"));
    let message = error(&["--sel", "tme=2020"]);
    assert!(message.contains("found no dimension tme: expected one of depth, time"), "{message}");
    assert!(message.contains("is \"time\" meant?"), "{message}");
    assert!(error(&["--sel", "depth=7"]).contains("has no label 7"));
    assert!(error(&["--sel", "time=2020", "--isel", "time=0"]).contains("selected more than once"));
    assert!(error(&["--sel", "time"]).contains("expected a dimension and a selection"));
    assert!(!folder.path("d").exists());
}

#[test]
fn a_level_of_an_image_is_not_cut_alone() {
    let folder = Folder::new();
    let create = |name: &str, shape: &str| {
        folder.ok(&["create", "i", name, "--shape", shape, "--dtype", "uint8", "--dims", "y,x"])
    };
    create("0", "8,8");
    create("1", "4,4");
    let axes = r#"[{"name": "y", "type": "space"}, {"name": "x", "type": "space"}]"#;
    let level = |path: &str, scale: u8| {
        format!(
            r#"{{"path": "{path}", "coordinateTransformations": [{{"type": "scale", "scale": [{scale}, {scale}]}}]}}"#
        )
    };
    let image = format!(
        r#"ome={{"version": "0.5", "multiscales": [{{"axes": {axes}, "datasets": [{}, {}]}}]}}"#,
        level("0", 1),
        level("1", 2)
    );
    folder.ok(&["attrs", "i", "/", "--set", &image]);
    let message = fails(&folder, &["convert", "i", "d", "--isel", "x=0:4"]);
    assert!(message.contains("a level of an OME-Zarr image"), "{message}");
    folder.ok(&["cp", "i::/0", "d::/a", "--isel", "x=0:4"]);
    assert!(folder.ok(&["info", "d", "a"]).contains("8, 4"));
}

#[test]
fn a_picture_is_of_labels() {
    let folder = Folder::new();
    let view =
        |args: &[&str]| folder.ok(&[&["view", CLIMATE, "sst", "--width", "40", "--height", "12"], args].concat());
    let by_index = view(&["--select", "time=8"]);
    assert_eq!(view(&["--sel", "time=2006-12-16T12:00"]), by_index);
    assert_eq!(view(&["--isel", "time=8"]), by_index);
    assert_eq!(view(&["--sel", "time=2007-01-01~", "--sel", "lat=-2..2"]), view(&["--select", "time=-3, lat=6:13"]));
}

#[test]
fn groups_inherit_the_coordinates_above_them() {
    let folder = Folder::new();
    tree(&folder);
    let read = |address: &[&str]| folder.ok(&[&["read"], address, &["--sel", "time=2020-01-02"]].concat());
    assert_eq!(read(&["tree/ocean", "s"]), "1\n11\n21\n");
    assert_eq!(read(&["tree", "ocean/s"]), "1\n11\n21\n");
    assert_eq!(read(&["tree/ocean/deep/u"]), "7\n");
    let decoded = folder.ok(&["read", "tree", "ocean/deep/u", "--decode"]);
    assert!(decoded.contains("2020-02-01"), "{decoded}");
    let ds = folder.ok(&["ds", "tree"]);
    assert!(ds.ends_with("  ocean       zarr ds tree /ocean\n  ocean/deep  zarr ds tree /ocean/deep\n"), "{ds}");
    // The greatest value lies at a label of the coordinate above.
    let stats = folder.ok(&["stats", "tree", "ocean/s"]);
    assert!(stats.contains("2020-01-0"), "{stats}");
    assert!(folder.ok(&["ds", "tree", "ocean"]).contains("2020-01-01"));
    let json = Value::from_json(&folder.ok(&["ds", "tree", "--json"])).unwrap();
    assert_eq!(json.pointer("/groups").unwrap().to_string(), r#"["ocean","ocean/deep"]"#);
    // Groups of one name of a dimension and other sizes are no tree, and are read all the same.
    folder.ok(&["create", "tree", "other/v", "--shape", "2", "--dims", "time", "--dtype", "int8"]);
    assert_eq!(folder.ok(&["read", "tree", "other/v", "--decode"]).lines().count(), 3);
}

#[test]
fn regions_are_compared_by_the_labels_of_each_side() {
    let folder = Folder::new();
    tree(&folder);
    // The same data from the second time on, in another dialect and other chunks.
    folder.ok(&["convert", "tree", "later", "--isel", "time=1:", "--dialect", "v2", "--chunks", "time=2,depth=2"]);
    folder.ok(&["convert", "tree", "region", "--sel", "time=2020-02"]);
    let diff = |a: &str, b: &str, more: &[&str]| {
        let ran = folder.run(&[&["diff", a, b], more].concat());
        (ran.code, String::from_utf8(ran.out).unwrap())
    };
    assert_eq!(diff("tree", "later", &["--skip", "metadata,attributes"]).0, Some(1));
    let february = ["--sel", "time=2020-02"];
    let (code, text) = diff("tree", "later", &february);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("equal: 8 nodes compared, the region time=2020-02"), "{text}");
    // By index, other elements are compared; indices and labels are those of the first.
    let (code, text) = diff("tree", "later", &["--isel", "time=1:3"]);
    assert!(code == Some(1) && text.contains("[1] (time 2020-01-02): 2 -> 3"), "{text}");
    let (code, text) = diff("tree", "later", &["--sel", "time=..2020-01"]);
    assert!(code == Some(1) && text.contains("/shape: [2] -> [1]"), "{text}");
    assert!(text.contains("elements not compared: shapes differ"), "{text}");
    let ran = folder.run(&["diff", "tree", "later", "--sel", "time=2020-01-01"]);
    assert!(ran.code == Some(2) && ran.err.contains("later") && ran.err.contains("no label"), "{}", ran.err);
    let ran = folder.run(&["diff", "tree", "later", "--isel", "tme=0"]);
    assert!(ran.code == Some(2) && ran.err.contains("is \"time\" meant?"), "{}", ran.err);
    // A change outside of the region is none.
    folder.ok(&["write", "later", "t", "--value", "9", "--isel", "time=0"]);
    assert_eq!(diff("tree", "later", &february).0, Some(0));
    folder.ok(&["write", "later", "ocean/s", "--value", "9", "--isel", "time=1", "--isel", "depth=0"]);
    let (code, text) = diff("tree", "later", &february);
    assert!(code == Some(1) && text.contains("1 of 6 elements differ, by at most 7"), "{text}");
    assert!(text.contains("[0, 2] (depth 5): 2 -> 9"), "{text}");
}

#[test]
fn a_digest_of_a_region_is_that_of_its_copy() {
    let folder = Folder::new();
    tree(&folder);
    for region in [&["--sel", "time=2020-02"][..], &["--isel", "time=::3", "--sel", "depth=50.."]] {
        folder.ok(&[&["convert", "tree", "copy", "--dialect", "v2", "--overwrite"], region].concat());
        let copy = folder.ok(&["digest", "copy"]);
        assert_eq!(folder.ok(&[&["digest", "tree"], region].concat()), copy);
        assert_ne!(folder.ok(&["digest", "tree"]), copy);
        let array = folder.ok(&[&["digest", "tree", "ocean/s"], region].concat());
        assert_eq!(array, folder.ok(&["digest", "copy", "ocean/s"]));
        folder.ok(&["digest", "copy", "--parts", "parts.json"]);
        assert_eq!(folder.ok(&[&["digest", "tree", "--compare", "parts.json"], region].concat()), "equal\n");
    }
    folder.ok(&[&["convert", CLIMATE, "winter", "--dialect", "v3"], &["--sel", "time=2006-12..2007-02"][..]].concat());
    let region = ["digest", CLIMATE, "--sel", "time=2006-12..2007-02"];
    assert_eq!(folder.ok(&region), folder.ok(&["digest", "winter"]));
}

#[test]
fn regions_are_of_arrays_of_every_dialect() {
    let folder = Folder::new();
    let fill = |store: &str, path: &str, dialect: &str, first: i16| {
        let new = ["--shape", "4", "--dims", "x", "--dtype", "int16", "--chunks", "2", "--dialect", dialect];
        folder.ok(&[&["create", store, path], &new[..]].concat());
        folder.fill(store, path, "<i2", "(4,)", &int16((0..4).map(|number| first + 10 * number)));
    };
    fill("s", "a", "v3", 1);
    fill("s", "x", "v3", 0);
    fill("t", "a", "v2", 2);
    fill("t", "x", "v2", 5);
    std::fs::rename(folder.path("t"), folder.path("s/old")).unwrap();
    // The same in one dialect.
    folder.ok(&["convert", "s", "one", "--dialect", "v3"]);
    let region = ["--isel", "x=1:3"];
    let with = |args: &[&'static str]| [args, &region].concat();
    assert_eq!(folder.ok(&with(&["digest", "s"])), folder.ok(&with(&["digest", "one"])));
    folder.ok(&["write", "one", "old/a", "--value", "99", "--select", "3"]);
    assert!(folder.ok(&with(&["diff", "s", "one"])).starts_with("equal: 6 nodes compared"));
    assert!(folder.ok(&with(&["diff", "one", "s"])).starts_with("equal: 6 nodes compared"));
    for (target, verb) in [("converted", "convert"), ("copied", "cp")] {
        folder.ok(&with(&[verb, "s", target]));
        assert_eq!(folder.raw(target, "a"), int16([11, 21]), "{verb}");
        assert_eq!(folder.raw(target, "old/a"), int16([12, 22]), "{verb}");
    }
    assert_eq!(folder.ok(&with(&["digest", "s", "old/a"])), folder.ok(&with(&["digest", "one", "old/a"])));
    // Labels are those of one data set.
    for args in [&["digest", "s"][..], &["convert", "s", "labels"], &["cp", "s", "labels"]] {
        let message = fails(&folder, &[args, &["--sel", "x=10..20"]].concat());
        assert!(message.contains("/old/a: dimension x: found an array of v2, expected one of v3"), "{message}");
        assert!(message.contains("hint: take a node of v2 alone"), "{message}");
    }
    folder.ok(&["convert", "s", "labels", "--sel", "x=10..20", "--exclude", "/old"]);
    assert_eq!(folder.raw("labels", "a"), int16([11, 21]));
    folder.ok(&["convert", "s", "below", "--node", "old", "--sel", "x=15..25"]);
    assert_eq!(folder.raw("below", "old/a"), int16([12, 22]));
}

#[test]
fn regions_are_of_the_dialect_that_is_asked_for() {
    for (of_v2, of_v3) in [(200, 100), (100, 200)] {
        let folder = Folder::new();
        for (store, dialect, len) in [("two", "v2", of_v2), ("three", "v3", of_v3)] {
            let shape = len.to_string();
            for path in ["a", store] {
                let new = ["--shape", &shape, "--dims", "x", "--dtype", "int16", "--dialect", dialect];
                folder.ok(&[&["create", store, path], &new[..]].concat());
                folder.fill(store, path, "<i2", &format!("({len},)"), &int16(of_v2 - 100..of_v2 - 100 + len));
            }
            // Implicit groups hide nothing.
            folder.ok(&["attrs", store, "/", "--set", "title=x"]);
            overlay(&folder, store, "s");
        }
        let region = ["--isel", "x=-10:"];
        for (store, dialect) in [("two", "v2"), ("three", "v3")] {
            let digest = |args: &[&str]| folder.ok(&[&["digest"], args, &region].concat());
            assert_eq!(digest(&["s", "--dialect", dialect]), digest(&[store]), "{of_v2} {of_v3}");
            assert_eq!(digest(&["s", "a", "--dialect", dialect]), digest(&[store, "a"]), "{of_v2} {of_v3}");
            folder.ok(&["diff", "s", store, "--dialect-a", dialect, region[0], region[1]]);
            folder.ok(&["diff", store, "s", "--dialect-b", dialect, region[0], region[1]]);
        }
        // Where none is asked for, all arrays that are seen have regions, also those of the dialect that is hidden elsewhere.
        let lines = folder.ok(&["digest", "s", region[0], region[1]]);
        let hash = |store: &str| {
            let digest = folder.ok(&["digest", store, store, region[0], region[1]]);
            digest.split(' ').next().unwrap().to_owned()
        };
        for store in ["two", "three"] {
            assert!(lines.contains(&format!("{}  /{store}\n", hash(store))), "{store}: {lines}");
        }
    }
}

/// A codec that nobody knows, in an array along time, and an array without names of dimensions.
fn with_faults(folder: &Folder) {
    tree(folder);
    let create = |name: &str, chunks: &str| {
        folder.ok(&["create", "tree", name, "--shape", "4", "--dims", "time", "--dtype", "int32", "--chunks", chunks]);
        let file = folder.path("tree").join(name).join("zarr.json");
        let document = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, document.replace("\"zstd\"", "\"nobody.knows\"")).unwrap();
    };
    create("odd", "4");
    create("even", "2");
}

#[test]
fn what_is_wrong_with_other_arrays_stops_no_region() {
    let folder = Folder::new();
    with_faults(&folder);
    let region = ["--sel", "time=2020-02"];
    let convert = |target: &str, more: &[&str]| folder.run(&[&["convert", "tree", target], &region[..], more].concat());
    // The region has a part of a chunk of one of the arrays: without its codec there is none.
    let ran = convert("all", &[]);
    assert!(ran.code == Some(4) && ran.err.contains("/odd") && ran.err.contains("nobody.knows"), "{}", ran.err);
    let has_t = |target: &str| folder.ok(&["read", target, "t", "--as", "json"]) == "[3, 4]\n";
    let ran = convert("without", &["--exclude", "/odd"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(has_t("without"));
    // Whole chunks are copied, of the region alone.
    let document = std::fs::read_to_string(folder.path("without/even/zarr.json")).unwrap();
    assert_eq!(Value::from_json(&document).unwrap().pointer("/shape").unwrap().to_string(), "[2]");
    assert_eq!(convert("chosen", &["--variables", "t"]).code, Some(0));
    assert!(has_t("chosen"));
    let ran = convert("going", &["--keep-going"]);
    assert!(ran.code == Some(1) && ran.err.contains("/odd"), "{:?} {}", ran.code, ran.err);
    assert!(has_t("going") && !folder.path("going/odd").exists());
    let ran = folder.run(&["cp", "tree", "copy", "--keep-going", region[0], region[1]]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(has_t("copy"));
    // An array of another size of the dimension makes no data set, unless it is left out.
    folder.ok(&["create", "tree", "wrong", "--shape", "9", "--dims", "time", "--dtype", "int8"]);
    assert_ne!(convert("none", &["--exclude", "/odd"]).code, Some(0));
    let ran = convert("two", &["--exclude", "/odd", "--exclude", "/wrong"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(has_t("two"));
}

/// Groups within each other that each define a dimension x, as netCDF-C stores them.
#[test]
fn dimensions_of_one_name_in_several_groups_keep_their_lengths() {
    let folder = Folder::new();
    let group = |path: &str, len: u64, groups: &str| {
        let lists = format!(
            r#"{{"_nczarr_group": {{"dimensions": {{"x": {{"size": {len}}}}}, "arrays": ["a", "b"], "groups": [{groups}]}}}}"#
        );
        folder.ok(&["create", "n", path, "--group", "--dialect", "v2", "--attributes", &lists]);
    };
    let array = |path: &str, len: u64, reference: &str| {
        let refers = format!(
            r#"{{"_nczarr_array": {{"dimension_references": ["{reference}"], "storage": "chunked"}}, "_ARRAY_DIMENSIONS": ["x"]}}"#
        );
        let len = len.to_string();
        folder.ok(&[
            "create",
            "n",
            path,
            "--shape",
            &len,
            "--dtype",
            "int32",
            "--attributes",
            &refers,
            "--chunks",
            "2",
        ]);
    };
    group("/", 6, "\"g\", \"h\"");
    group("/g", 3, "");
    group("/h", 6, "");
    array("/a", 6, "/x");
    array("/b", 6, "/x");
    array("/g/a", 3, "/g/x");
    array("/g/b", 6, "/x");
    array("/h/a", 6, "/h/x");
    array("/h/b", 6, "/x");
    folder.ok(&["convert", "n", "half", "--isel", "x=::2"]);
    let listed = |store: &str, path: &str| {
        let text = folder.ok(&["attrs", store, path]);
        let size = Value::from_json(&text).unwrap().pointer("/_nczarr_group/dimensions/x/size").unwrap().to_string();
        size.parse::<u64>().unwrap()
    };
    assert_eq!(["/", "/g", "/h"].map(|path| listed("half", path)), [3, 2, 3]);
    // Of /h and of the root, other arrays are left.
    folder.ok(&["convert", "n", "one", "--isel", "x=0:4", "--exclude", "/a", "--exclude", "/b", "--exclude", "/h/a"]);
    assert_eq!(["/", "/g", "/h"].map(|path| listed("one", path)), [4, 3, 6]);
}
