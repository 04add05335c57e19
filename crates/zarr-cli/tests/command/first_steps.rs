//! Mistakes of people who are new to the command, and the messages that lead on.

use crate::folder::{Folder, int16};
use std::fs;
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

/// The error of a command that fails with this exit code.
fn fails(folder: &Folder, code: i32, args: &[&str]) -> String {
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(code), "{args:?}: {}", ran.err);
    ran.err
}

/// A data set of version 3 with consolidated metadata.
fn consolidated() -> Folder {
    let folder = Folder::new();
    folder.ok(&["convert", CLIMATE, "c.zarr", "--dialect", "v3"]);
    folder.ok(&["consolidate", "c.zarr"]);
    folder
}

#[test]
fn data_sets_are_shown_as_they_are_stored() {
    let folder = consolidated();
    assert!(folder.ok(&["ds", "c.zarr"]).contains("* lat "));
    fs::write(folder.path("c.zarr/lat/zarr.json"), "{").unwrap();
    let ran = folder.run(&["ds", "c.zarr"]);
    let out = String::from_utf8(ran.out).unwrap();
    assert!(!out.contains("* lat ") && ran.err.contains("/lat: "), "{out}{}", ran.err);
    fs::remove_dir_all(folder.path("c.zarr/lat")).unwrap();
    for args in [&["ds", "c.zarr"][..], &["ds", "c.zarr", "-r"], &["ds", "c.zarr", "--header"]] {
        let out = folder.ok(args);
        assert!(!out.contains("* lat ") && !out.contains("lat(lat)"), "{args:?}: {out}");
    }
}

#[test]
fn names_of_files_are_no_stores() {
    let folder = consolidated();
    for args in [
        &["cp", "c.zarr", "out.nc"][..],
        &["mv", "c.zarr", "out.nc"],
        &["convert", "c.zarr", "out.nc"],
        &["convert", "c.zarr", "out.nc", "--dry-run"],
        &["create", "out.nc", "a", "--shape", "4", "--dtype", "int8"],
    ] {
        let err = fails(&folder, 2, args);
        assert!(err.contains("out.nc: netCDF files are read, not written") && err.contains("out.zarr"), "{err}");
        assert!(!folder.path("out.nc").exists());
    }
    assert!(fails(&folder, 2, &["convert", "c.zarr", "out.h5"]).contains("HDF5 files are read, not written"));
    folder.ok(&["convert", "c.zarr", "out.nc/"]);
    folder.ok(&["convert", "c.zarr", "out.nc", "--overwrite"]);
}

#[test]
fn shards_need_a_format_that_has_them() {
    let folder = Folder::new();
    let err = fails(&folder, 2, &["convert", CLIMATE, "q", "--shards", "auto"]);
    assert!(err.contains("hint: v2 has no shards; `zarr convert --dialect v3`"), "{err}");
    folder.ok(&["convert", CLIMATE, "q", "--shards", "auto", "--dialect", "v3"]);
}

#[test]
fn a_dry_run_shows_the_new_arrays() {
    let folder = Folder::new();
    let args = ["convert", CLIMATE, "q", "--dialect", "v3", "--chunks", "time=6", "--shards", "time=12", "--dry-run"];
    let plan = folder.ok(&args);
    assert!(plan.contains("/sst      decoded and encoded, 12 chunks (149 KiB), 364 KiB of elements\n"), "{plan}");
    let line = "chunks 6x18x144  shards 12x18x144  blosc(";
    assert_eq!(plan.lines().filter(|found| found.trim_start().starts_with(line)).count(), 2, "{plan}");
    assert!(plan.contains("; 27 chunks (241 KiB) to be read;"), "{plan}");
    let json = Value::from_json(&folder.ok(&[&args[..], &["--json"]].concat())).unwrap();
    let nodes = json.get("nodes").and_then(Value::as_array).unwrap();
    let sst = nodes.iter().find(|node| node.get("path").and_then(Value::as_str) == Some("/sst")).unwrap();
    let member = |name: &str| sst.get(name).unwrap().to_string();
    assert_eq!(
        ["chunk_shape", "shard_shape", "codecs"].map(member),
        ["[6,18,144]", "[12,18,144]", r#"["sharding_indexed"]"#]
    );
}

#[test]
fn a_refused_conversion_leaves_nothing() {
    let folder = Folder::new();
    for more in [&[][..], &["--dialect", "v3"]] {
        let args = [&["convert", CLIMATE, "q"], more].concat();
        let err = fails(&folder, 2, &[&args[..], &["--memory", "1"]].concat());
        assert!(err.contains("--memory allows more"), "{err}");
        assert!(!folder.path("q").exists(), "{:?}", folder.files("q"));
    }
    // A node of the target that has nothing to do with it stays.
    folder.ok(&["create", "q", "other", "--shape", "4", "--dtype", "int8"]);
    let before = folder.files("q");
    fails(&folder, 2, &["convert", CLIMATE, "q", "--dialect", "v3", "--node", "sst", "--memory", "1"]);
    assert_eq!(folder.files("q"), before);
    folder.ok(&["convert", CLIMATE, "q", "--dialect", "v3", "--node", "sst"]);
}

#[test]
fn empty_selections_and_far_labels_are_told() {
    let folder = Folder::new();
    for verb in ["read", "stats"] {
        let ran = folder.run(&[verb, CLIMATE, "sst", "--sel", "lat=5..-5"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let told = "--sel lat=5..-5 selects nothing: lat goes from -4.9999924 to 4.4444504";
        assert!(ran.err.contains(told) && ran.err.contains("hint: --sel lat=-5..5 "), "{verb}: {}", ran.err);
    }
    let err = |label: &str| {
        let ran = folder.run(&["read", CLIMATE, "sst", "--sel", label, "--isel", "time=0"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        ran.err
    };
    let far = err("lon=-160~");
    assert!(far.contains("--sel lon=-160~: the nearest label is 0.0, 160 away: lon goes from 0.0 to 359."), "{far}");
    for near in ["lon=359.9~", "lon=-0.5~", "lat=2~", "lat=-5..5"] {
        assert_eq!(err(near), "", "{near}");
    }
    let ran = folder.run(&["read", CLIMATE, "lat", "--sel", "lat=90~", "--quiet"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let early = folder.run(&["read", CLIMATE, "sst", "--sel", "time=1990-01-01~", "--isel", "lat=0"]).err;
    assert!(early.contains("the nearest label is 2006-04-16T00:00:00: time goes from "), "{early}");
}

#[test]
fn hints_say_how_it_is_written() {
    let folder = Folder::new();
    let stored = format!("cp {CLIMATE}::/anomaly w.zarr");
    let image = CLIMATE.replace("climate", "pyramid");
    for (args, hint) in [
        (&["read", CLIMATE, "sst", "--sel", "lat=2~,lon=160~"][..], "--sel lat=2~ --sel lon=160~"),
        (&["convert", CLIMATE, "q", "--sel", "lat=2~,lon=160~"], "--sel lat=2~ --sel lon=160~"),
        (&["read", CLIMATE, "sst", "--isel", "time=0,lat=0"], "--isel time=0 --isel lat=0"),
        (&["read", CLIMATE, "sst", "--select", "0,", "0,", "0:5"], "in quotes: --select \"0, 0, 0:5\""),
        (&["cp", CLIMATE, "anomaly", "w.zarr"], &stored),
        (&["read", CLIMATE, "sst", "--time", "0"], "--isel time=0 selects by index"),
        (&["help", "nonsense"], "the topics are stores, selection,"),
        (&["stats", CLIMATE, "--along", "time"], "it has the arrays anomaly, lat, lon, sst, time"),
        (&["stats", CLIMATE, "--sel", "lat=0~"], "it has the arrays anomaly, lat, lon, sst, time"),
        (&["ds", &image], "`zarr view "),
    ] {
        let ran = folder.run(args);
        let line = ran.err.lines().find_map(|line| line.strip_prefix("hint: "));
        assert!(line.is_some_and(|line| line.contains(hint)), "{args:?}: {hint}: {}", ran.err);
    }
    assert!(!folder.path("q").exists() && !folder.path("w.zarr").exists());
}

#[test]
fn missing_nodes_are_told_with_those_that_are_there() {
    let folder = Folder::new();
    folder.ok(&["create", "w", "a", "--shape", "4", "--dtype", "int8", "--dims", "x"]);
    folder.ok(&["convert", CLIMATE, "t", "--variables", "sst"]);
    fs::create_dir(folder.path("empty")).unwrap();
    fs::create_dir(folder.path("files")).unwrap();
    fs::write(folder.path("files/x.nc"), "CDF").unwrap();
    for (code, args, words) in [
        (3, &["convert", CLIMATE, "q", "--variables", "nope"][..], "climate.zarr: /: found no variable nope"),
        (3, &["convert", CLIMATE, "q", "--variables", "nope"], "hint: it has anomaly, lat, lon, sst, time"),
        (3, &["rm", "w", "nope"], "hint: `zarr tree w` shows the nodes"),
        (3, &["tree", "empty"], "hint: nothing is there: `zarr create empty NAME`"),
        (3, &["tree", "files"], "stores of their own: `zarr tree files/x.nc`"),
        (
            3,
            &["append", "t", "--from", CLIMATE, "--along", "time"],
            "t: /: found no variable anomaly\nhint: it has lat, ",
        ),
    ] {
        let err = fails(&folder, code, args);
        assert!(err.contains(words), "{args:?}: {err}");
    }
}

/// A data set of two variables with the dimension y, and one without.
fn table(dialect: &str) -> Folder {
    let folder = Folder::new();
    for (name, shape, dims) in [("t", "3,4", "y,x"), ("y", "3", "y"), ("x", "4", "x")] {
        let args = ["create", "s", name, "--shape", shape, "--dims", dims, "--dtype", "int16", "--dialect", dialect];
        folder.ok(&args);
    }
    folder.fill("s", "t", "<i2", "(3, 4)", &int16(0..12));
    folder.ok(&["consolidate", "s"]);
    folder
}

#[test]
fn data_sets_are_resized_as_a_whole() {
    for dialect in ["v2", "v3"] {
        let folder = table(dialect);
        let grown = folder.ok(&["resize", "s", "--dim", "y=5"]);
        assert_eq!(grown, "s: /t: (3, 4) to (5, 4)\ns: /y: (3,) to (5,)\n");
        let err = fails(&folder, 2, &["resize", "s", "--dim", "y=2"]);
        assert!(err.contains("3 along y would be cut off") && err.contains("--shrink"), "{err}");
        let json = folder.ok(&["resize", "s", "--dim", "y=2", "--dim", "x=6", "--shrink", "--json"]);
        let json = Value::from_json(&json).unwrap();
        let count = json.get("resized").and_then(Value::as_array).map(<[_]>::len);
        assert_eq!((count, json.pointer("/resized/0/shape").unwrap().to_string()), (Some(3), "[2,6]".to_owned()));
        assert_eq!(folder.ok(&["read", "s", "t"]), "0 1 2 3 0 0\n4 5 6 7 0 0\n");
        assert_eq!(folder.run(&["check", "s"]).code, Some(0), "{dialect}");
        // One that cannot be resized keeps the others from it.
        let err = fails(&folder, 2, &["resize", "s", "--dim", "z=9"]);
        assert!(err.contains("found no dimension \"z\", expected one of "), "{err}");
        assert!(fails(&folder, 2, &["resize", "s", "--shape", "9"]).contains("--dim time=24 resizes all variables"));
        let document = if dialect == "v2" { "s/y/.zarray" } else { "s/y/zarr.json" };
        fs::write(folder.path(document), "{").unwrap();
        let ran = folder.run(&["resize", "s", "--dim", "y=7"]);
        assert!(ran.code != Some(0) && ran.err.contains("/y: "), "{}", ran.err);
        assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "0 1 2 3 0 0\n4 5 6 7 0 0\n");
    }
}

#[test]
fn checks_count_chunks_without_checksums() {
    let folder = Folder::new();
    for (name, codecs) in [("plain", "none"), ("zstd", "zstd"), ("summed", "zstd(3,true)"), ("gzip", "gzip")] {
        folder.ok(&["create", "s", name, "--shape", "64", "--dtype", "int16", "--codecs", codecs]);
        folder.fill("s", name, "<i2", "(64,)", &int16(0..64));
    }
    let out = folder.ok(&["check", "s"]);
    let line = "2 chunks with no checksum: nothing shows a changed byte in 1, and in 1 only one that breaks the format";
    assert!(out.contains(line), "{out}");
    folder.ok(&["rm", "s", "plain"]);
    let out = folder.ok(&["check", "s"]);
    assert!(out.contains("1 chunk with no checksum: a changed byte shows only if it breaks the format"), "{out}");
}
