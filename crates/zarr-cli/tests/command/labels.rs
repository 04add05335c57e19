//! `zarr read` of variables of data sets: labels, decoded values, coordinates beside them.

use crate::folder::Folder;
use std::fs;
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

/// Reads a variable of the example.
fn read(args: &[&str]) -> String {
    Folder::new().ok(&[&["read", CLIMATE], args].concat())
}

/// The error of a read that fails, with its hint.
fn fails(code: i32, args: &[&str]) -> String {
    let ran = Folder::new().run(&[&["read", CLIMATE], args].concat());
    assert_eq!((ran.code, ran.out.len()), (Some(code), 0), "{args:?}: {}", ran.err);
    ran.err
}

/// A copy of the example, without consolidated metadata.
fn copy() -> Folder {
    let folder = Folder::new();
    folder.ok(&["cp", CLIMATE, "c.zarr"]);
    folder.ok(&["consolidate", "c.zarr", "--drop"]);
    folder
}

/// Stations with names, whose dimension `number` has no coordinate.
fn stations() -> Folder {
    let folder = Folder::new();
    let create = |name: &str, more: &[&str]| folder.ok(&[&["create", "s", name], more].concat());
    create("station", &["--shape", "3", "--dims", "station", "--dtype", "string"]);
    create(
        "t",
        &["--shape", "3,4", "--dims", "station,number", "--dtype", "int16", "--attributes", r#"{"scale_factor": 0.5}"#],
    );
    let write = |name: &str, json: &str| {
        let ran = folder.run_with(&["write", "s", name, "--from", "-", "--as", "json"], json.as_bytes());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    write("station", r#"["5", "a,b", "north"]"#);
    write("t", "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]");
    folder
}

// clause: xarray-32, xarray-33
#[test]
fn labels_select_what_indices_select() {
    for (labels, indices) in [
        (&["--sel", "lat=-4.9999924"][..], &["--isel", "lat=0"][..]),
        (&["--sel", "lat=2~", "--sel", "lon=180~"], &["--select", "lat=13, lon=216"]),
        (&["--sel", "lat=-5..-4"], &["--select", ":, 0:2"]),
        (&["--sel", "lat=4.."], &["--isel", "lat=17:"]),
        (&["--sel", "lat=..-4.5"], &["--isel", "lat=:1"]),
        (&["--sel", "lon=2.5,0"], &["--isel", "lon=3,0"]),
        (&["--sel", "lon=0,"], &["--isel", "lon=[0]"]),
        (&["--sel", "time=2006-12"], &["--isel", "time=8:9"]),
        (&["--sel", "time=2006-12-16T12:00"], &["--isel", "time=8"]),
        (&["--sel", "time=2006-12..2007-01"], &["--isel", "time=8:10"]),
        (&["--sel", "time=2007-01-01~"], &["--isel", "time=-3"]),
        (&["--sel", "time=2007", "--isel", "lat=::-9"], &["--select", "time=9:, lat=::-9"]),
    ] {
        let raw = |selection: &[&str]| read(&[&["sst", "--as", "json"], selection].concat());
        assert_eq!(raw(labels), raw(indices), "{labels:?}");
    }
    let folder = stations();
    let one = |label: &str| folder.ok(&["read", "s", "t", "--raw", "--sel", label]);
    assert_eq!(one("station=5"), "0\n1\n2\n3\n");
    assert_eq!(one("station=\"a,b\""), "4\n5\n6\n7\n");
    assert_eq!(one("station=north,5"), " 8  9 10 11\n 0  1  2  3\n");
}

#[test]
fn arrays_have_several_addresses() {
    let selection = ["--sel", "time=2006-12", "--sel", "lat=2~", "--sel", "lon=180~", "--decode"];
    let folder = Folder::new();
    let read = |address: &[&str]| folder.ok(&[&["read"], address, &selection].concat());
    let expected = read(&[CLIMATE, "sst"]);
    assert!(expected.contains("302.95618"), "{expected}");
    assert_eq!(read(&[&format!("{CLIMATE}/sst")]), expected);
    assert_eq!(read(&[&format!("{CLIMATE}::/sst")]), expected);
    assert_eq!(read(&[&format!("file://{CLIMATE}/sst")]), expected);
}

#[test]
fn values_stand_beside_their_coordinates() {
    let point = ["sst", "--sel", "time=2006-12..2007-01", "--sel", "lat=2~", "--sel", "lon=180~", "--decode"];
    let table = "\
lat = 2.222229
lon = 180.0
time                   sst (K)
2006-12-16T12:00:00  302.95618
2007-01-16T12:00:00  301.99728
";
    assert_eq!(read(&point), table);
    let tidy = "\
time,lat,lon,sst
2006-12-16T12:00:00,2.222229,180.0,302.95618
2007-01-16T12:00:00,2.222229,180.0,301.99728
";
    assert_eq!(read(&[&point[..], &["--as", "csv"]].concat()), tidy);
    let json = Value::from_json(&read(&[&point[..], &["--as", "json"]].concat())).unwrap();
    let at = |pointer: &str| json.pointer(pointer).unwrap_or_else(|| panic!("{pointer}: {json}")).to_string();
    assert_eq!((at("/name"), at("/dims")), (r#""sst""#.to_owned(), r#"["time"]"#.to_owned()));
    assert_eq!(at("/attrs/units"), r#""K""#);
    assert_eq!((at("/coords/lat/dims"), at("/coords/lat/data")), ("[]".to_owned(), "2.222229".to_owned()));
    assert_eq!(at("/coords/time/data/1"), r#""2007-01-16T12:00:00.000000000""#);
    assert_eq!(at("/data"), "[302.95618,301.99728]");
    // Packed integers, decoded to float64.
    let packed = ["anomaly", "--isel", "time=0", "--isel", "lat=8", "--isel", "lon=216:219", "--decode"];
    assert_eq!(
        read(&packed),
        "time = 2006-04-16\nlat = -0.5555496\nlon        anomaly (K)\n180.0           -0.524\n180.83333       -0.514\n181.66666       -0.576\n"
    );
    assert!(read(&[&packed[..], &["--as", "csv"]].concat()).ends_with(",181.66666,-0.5760000000000001\n"));
    let npy = Folder::new().run(&[&["read", CLIMATE], &packed[..], &["--as", "npy"]].concat()).out;
    assert!(npy.starts_with(b"\x93NUMPY\x01\x00") && npy.windows(5).any(|part| part == b"'<f8'"));
}

#[test]
fn tables_fit_into_80_columns() {
    let table = read(&["sst", "--isel", "time=0:2", "--isel", "lat=0:3", "--decode"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[..2], ["sst (K)", "time = 2006-04-16T00:00:00"]);
    assert!(lines[2].starts_with("lat \\ lon ") && lines[3].starts_with("-4.9999924  301.65927"), "{table}");
    assert!(lines.iter().all(|line| line.len() <= 80), "{table}");
    assert!(lines.iter().any(|line| line.len() > 70), "{table}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("time = ")).count(), 2);
    // Each value once: a row has its label before.
    let values = lines.iter().filter(|line| line.starts_with('-')).map(|line| line.split_whitespace().count() - 1);
    assert_eq!(values.sum::<usize>(), 2 * 3 * 432);
    let folder = stations();
    let expected = "\
t
station \\ number    1    3
5                 0.5  1.5
a,b               2.5  3.5
north             4.5  5.5
";
    assert_eq!(folder.ok(&["read", "s", "t", "--decode", "--isel", "number=1::2"]), expected);
    let tidy = "station,number,t\n\"a,b\",3,3.5\nnorth,3,5.5\n";
    let args = ["read", "s", "t", "--decode", "--isel", "number=-1", "--isel", "station=1:", "--as", "csv"];
    assert_eq!(folder.ok(&args), tidy);
    assert_eq!(
        folder.ok(&["read", "s", "t", "--decode", "--isel", "number=-1", "--isel", "station=0"]).lines().last(),
        Some("t = 1.5")
    );
    assert_eq!(folder.ok(&["read", "s", "t", "--decode", "--isel", "number=0:0"]), "");
    assert_eq!(folder.ok(&["read", "s", "station", "--decode", "--as", "csv"]), "station\n5\n\"a,b\"\nnorth\n");
}

#[test]
fn values_are_decoded_in_every_form_unless_elements_are_asked_for() {
    let (stored, values) = ("-524\n-514\n-576\n", "-0.524\n-0.514\n-0.5760000000000001\n");
    let selection = ["anomaly", "--isel", "time=0", "--sel", "lat=-0.5~", "--isel", "lon=216:219"];
    assert_eq!(read(&selection), values);
    assert_eq!(read(&[&selection[..], &["--raw"]].concat()), stored);
    assert_eq!(read(&[&selection[..], &["--as", "csv"]].concat()), values);
    assert_eq!(read(&[&selection[..], &["--as", "csv", "--raw"]].concat()), stored);
    assert_eq!(read(&[&selection[..], &["--as", "json"]].concat()), "[-0.524, -0.514, -0.5760000000000001]\n");
    assert_eq!(read(&["time", "--isel", "time=0"]), "2006-04-16T00:00:00.000000000\n");
    // A table beside coordinates has the same values as bare text.
    let table = read(&[&selection[..], &["--elide"]].concat());
    assert!(table.contains("decoded") && table.contains("-0.576"), "{table}");
    let raw = |name: &str, more: &[&str]| {
        let folder = Folder::new();
        folder.ok(&[&["read", CLIMATE, "anomaly", "--isel", "time=0", "-o", name], more].concat());
        fs::read(folder.path(name)).unwrap()
    };
    assert_eq!(raw("x.bin", &[]), raw("x.bin", &["--decode"]));
    assert_eq!(raw("x.bin", &["--raw"]).len() * 4, raw("x.bin", &[]).len());
    let header = |more: &[&str]| String::from_utf8_lossy(&raw("x.npy", more)[..60]).into_owned();
    assert!(
        header(&[]).contains("<f8") && header(&["--raw"]).contains("<i2"),
        "{} {}",
        header(&[]),
        header(&["--raw"])
    );
    assert!(fails(2, &[&selection[..], &["--raw", "--decode"]].concat()).contains("cannot be used with"));
}

#[test]
fn bad_selections_say_what_is_there() {
    for (args, words) in [
        (&["--sel", "lev=1"][..], &["no dimension lev", "time, lat, lon"][..]),
        (&["--sel", "tine=1"], &["is \"time\" meant?"]),
        (&["--sel", "lat=2.0"], &["coordinate lat has no label 2", "between 1.6666718 and 2.222229"]),
        (&["--sel", "time=2020"], &["no label \"2020\"", "2007-03-16T12:00:00"]),
        (&["--sel", "lat=north"], &["--sel lat=north", "found label \"north\", expected a number"]),
        (&["--sel", "time=2006-13"], &["--sel time=2006-13", "2006-13"]),
        (&["--sel", "lat=.."], &["a label before or behind .."]),
        (&["--sel", "lat"], &["expected a dimension and a selection"]),
        (&["--sel", "lat=0~", "--sel", "lat=1~"], &["dimension lat is selected more than once"]),
        (&["--sel", "lat=0~", "--isel", "lat=1"], &["dimension lat is selected more than once"]),
        (&["--isel", "lat=0", "--isel", "lat=1"], &["\"lat\" is selected more than once"]),
        (&["--sel", "lat=0~", "--select", "0"], &["cannot be used with"]),
        (&["--isel", "lat=0", "--select", "0"], &["cannot be used with"]),
        (&["--isel", "lev=0"], &["no dimension lev", "time, lat, lon"]),
        (&["--isel", "lat=x"], &["--isel lat=x", "expected a number"]),
        (&["--isel", "lat=18"], &["index 18 is out of bounds"]),
        (&["--select", "lev=0"], &["no dimension lev", "time, lat, lon"]),
        (&["--select", "0, lat=0"], &["names for all parts or for none"]),
        (&["--field", "x", "--decode"], &["cannot be used with"]),
    ] {
        let error = fails(2, &[&["sst"], args].concat());
        assert!(error.starts_with("error: ") && words.iter().all(|word| error.contains(word)), "{args:?}: {error}");
    }
    let folder = stations();
    let ran = folder.run(&["read", "s", "t", "--sel", "number=1"]);
    assert!(ran.code == Some(2) && ran.err.contains("number has no coordinate"), "{}", ran.err);
    assert!(ran.err.contains("hint: --isel"), "{}", ran.err);
}

#[test]
fn arrays_without_names_have_no_labels() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int8"]);
    for args in [["--sel", "x=1"], ["--decode", "--quiet"]] {
        let ran = folder.run(&[&["read", "s", "a"][..], &args].concat());
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains("s: /a: --") && ran.err.contains("have no names"), "{}", ran.err);
    }
    let ran = folder.run(&["read", "s", "a", "--isel", "x=1"]);
    assert!(ran.code == Some(2) && ran.err.contains("the array has no names of dimensions"), "{}", ran.err);
    // An array that is a store of its own, in no group.
    folder.ok(&["create", "alone", "/", "--shape", "4", "--dtype", "int8", "--dims", "x"]);
    let ran = folder.run(&["read", "alone", "--sel", "x=1"]);
    assert!(ran.code == Some(2) && ran.err.contains("lies in no group"), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "alone", "--isel", "x=1"]), "0\n");
}

#[test]
fn broken_coordinates_do_not_hide_values() {
    let folder = copy();
    fs::write(folder.path("c.zarr/lat/.zarray"), "{").unwrap();
    fs::write(folder.path("c.zarr/lon/0"), "xx").unwrap();
    let args = ["read", "c.zarr", "sst", "--isel", "time=0", "--isel", "lat=1:3", "--isel", "lon=4:6", "--decode"];
    let ran = folder.run(&args);
    let expected = "\
time = 2006-04-16
sst (K)
lat \\ lon          4          5
1          301.90042  301.91922
2           301.7546   301.7403
";
    assert_eq!((ran.code, String::from_utf8(ran.out).unwrap().as_str()), (Some(0), expected), "{}", ran.err);
    assert!(ran.err.contains("warning: c.zarr: /lat: ") && ran.err.contains("coordinate lon: "), "{}", ran.err);
    let json = folder.run(&[&args[..], &["--json"]].concat());
    assert_eq!(json.code, Some(0), "{}", json.err);
    let json = Value::from_json(std::str::from_utf8(&json.out).unwrap()).unwrap();
    assert_eq!(
        json.get("coords").and_then(Value::as_object).unwrap().iter().map(|it| it.0).collect::<Vec<_>>(),
        ["time"]
    );
    for label in ["lat=1", "lon=1"] {
        let ran = folder.run(&["read", "c.zarr", "sst", "--sel", label]);
        assert_eq!(ran.code, Some(4), "{}", ran.err);
    }
}

#[test]
fn parts_are_written_by_names_of_dimensions() {
    let folder = stations();
    let ran =
        folder.run_with(&["write", "s", "t", "--from", "-", "--as", "json", "--select", "number=0"], b"[-1, -2, -3]");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "t", "--raw", "--isel", "number=0"]), "-1\n-2\n-3\n");
}

#[test]
fn elements_of_values_that_cannot_be_decoded_are_read() {
    let folder = copy();
    folder.ok(&["attrs", "c.zarr", "anomaly", "--set", "scale_factor=\"much\""]);
    let selection = ["read", "c.zarr", "anomaly", "--isel", "time=0", "--sel", "lat=-0.5~", "--isel", "lon=216:219"];
    let ran = folder.run(&selection);
    assert_eq!((ran.code, &ran.out[..]), (Some(0), &b"-524\n-514\n-576\n"[..]), "{}", ran.err);
    assert!(
        ran.err.contains("warning: elements are printed as they are stored: ") && ran.err.contains("much"),
        "{}",
        ran.err
    );
    assert_eq!(folder.ok(&[&selection[..], &["--raw"]].concat()), "-524\n-514\n-576\n");
    let ran = folder.run(&[&selection[..], &["--decode"]].concat());
    assert_eq!((ran.code, ran.out.len()), (Some(4), 0), "{}", ran.err);
    assert!(ran.err.contains("scale_factor") && ran.err.contains("hint: --raw"), "{}", ran.err);
}

#[test]
fn fields_are_read_by_label() {
    let folder = Folder::new();
    let create = |name: &str, dtype: &str| {
        folder.ok(&["create", "s", name, "--shape", "3", "--dims", "x", "--dtype", dtype, "--dialect", "v2"])
    };
    create("x", "int8");
    create("t", r#"[["id", "<i4"], ["at", ">f8", [2]]]"#);
    let write = |name: &str, json: &str| {
        let ran = folder.run_with(&["write", "s", name, "--from", "-", "--as", "json"], json.as_bytes());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    write("x", "[10, 20, 30]");
    write("t", r#"[{"id": 1, "at": [1, 2]}, {"id": 2, "at": [3, 4]}, {"id": 3, "at": [5, 6]}]"#);
    let read = |args: &[&str]| folder.ok(&[&["read", "s", "t", "--json"], args].concat());
    assert_eq!(read(&["--sel", "x=20..", "--field", "id"]), "[2, 3]\n");
    assert_eq!(read(&["--sel", "x=24~", "--field", "at"]), "[3.0, 4.0]\n");
    assert_eq!(read(&["--sel", "x=30,10", "--field", "at"]), "[[5.0, 6.0],\n[1.0, 2.0]]\n");
}

#[test]
fn arrays_that_belong_to_no_data_set_change_no_values_beside_them() {
    let folder = stations();
    let attributes = r#"{"scale_factor": 0.5}"#;
    let create = ["create", "s", "packed", "--shape", "4", "--dtype", "int16", "--dims", "number", "--fill", "2"];
    folder.ok(&[&create[..], &["--dialect", "v3", "--attributes", attributes]].concat());
    let values = folder.ok(&["read", "s", "packed"]);
    // One without names, and one in which a dimension has another size.
    folder.ok(&["create", "s", "bare", "--shape", "3", "--dtype", "int8"]);
    folder.ok(&["create", "s", "longer", "--shape", "9", "--dtype", "int8", "--dims", "number"]);
    let ran = folder.run(&["read", "s", "packed"]);
    assert_eq!((ran.code, String::from_utf8(ran.out).unwrap(), &ran.err[..]), (Some(0), values, ""));
}
