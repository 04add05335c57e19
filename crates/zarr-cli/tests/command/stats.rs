//! `zarr stats`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

fn store() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    folder.ok(&[
        "create",
        "s",
        "t",
        "--shape",
        "4,5",
        "--dtype",
        "int16",
        "--chunks",
        "2,5",
        "--codecs",
        "zstd",
        "--dims",
        "time,x",
        "--fill=-1",
        "--attributes",
        r#"{"scale_factor": 0.5, "_FillValue": -1}"#,
    ]);
    let ran = folder.run_with(
        &["write", "s", "t", "--from", "-", "--select", "0:2"],
        &crate::folder::npy("<i2", false, "(2, 5)", &int16([3, 1, -1, 4, 1, 5, 9, 2, 6, 5])),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    Value::from_json(&folder.ok(&[args, &["--json"]].concat())).unwrap()
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).unwrap_or_else(|| unreachable!("{name} in {value}")).to_string()
}

#[test]
fn values_are_decoded_unless_elements_are_asked_for() {
    let folder = store();
    let out = folder.ok(&["stats", "s", "t", "--raw"]);
    let expected = "\
/t: elements as they are stored, int16 (4, 5)
Elements   : 20
Not stored : 10 (50 %)
Fill value : 11 (55 %)
Min        : -1 at (0, 2)
Max        : 9 at (1, 1)
Mean       : 1.25
Std        : 2.981191
Sum        : 25
";
    assert!(out.starts_with(expected), "{out}");
    assert!(
        out.contains("50 %       : -1\n")
            && out.lines().any(|line| line.trim_start().starts_with("8.5  ..") && line.contains("  1  #")),
        "{out}"
    );
    assert!(out.lines().all(|line| line.len() <= 80), "{out}");
    let decoded = folder.ok(&["stats", "s", "t"]);
    assert_eq!(folder.ok(&["stats", "s", "t", "--decode"]), decoded);
    assert!(decoded.starts_with("/t: values decoded by the CF conventions, float"), "{decoded}");
    assert!(decoded.contains("Missing    : 11 (55 %)") && decoded.contains("Max        : 4.5 at (1, 1)"), "{decoded}");
    assert!(!decoded.contains("Fill value"), "{decoded}");
    let found = json(&folder, &["stats", "s", "t", "--decode"]);
    assert_eq!(
        (text(&found, "decoded"), text(&found, "missing"), text(&found, "sum")),
        ("true".into(), "11".into(), "18.0".into())
    );
    let stored = json(&folder, &["stats", "s", "t", "--raw"]);
    assert_eq!(text(&stored, "min"), r#"{"value":-1,"index":[0,2]}"#);
    assert_eq!((text(&stored, "fill"), text(&stored, "sum")), ("11".into(), "25".into()));
    assert_eq!(text(&stored, "elements_not_stored"), "10");
}

#[test]
fn parts_and_rows() {
    let folder = store();
    let found = json(
        &folder,
        &["stats", "s", "t", "--raw", "--select", "time=1, x=1:4", "--quantiles", "0,0.5,1", "--bins", "0"],
    );
    assert_eq!(
        (text(&found, "shape"), text(&found, "sum"), text(&found, "histogram")),
        ("[3]".into(), "17".into(), "null".into())
    );
    let shares = r#"[{"share":0,"value":2},{"share":0.5,"value":6},{"share":1,"value":9}]"#;
    let quantiles = text(&found, "quantiles").replace(".0,", ",").replace(".0}", "}");
    assert_eq!(quantiles, shares);
    let by_label = json(&folder, &["stats", "s", "t", "--raw", "--isel", "x=0", "--along", "time"]);
    let rows = by_label.get("along").unwrap();
    assert_eq!(text(rows, "dimension"), "\"time\"");
    let rows = rows.get("rows").unwrap().as_array().unwrap();
    let sums: Vec<String> = rows.iter().map(|row| text(row, "max")).collect();
    assert_eq!(sums, ["3", "5", "-1", "-1"]);
    let out = folder.ok(&["stats", "s", "t", "--decode", "--along", "0"]);
    let row: Vec<&str> =
        out.lines().find(|line| line.trim_start().starts_with("1  ")).unwrap().split_whitespace().collect();
    assert_eq!(row[..5], ["1", "5", "0", "1.0", "4.5"], "{out}");
    for (args, message) in [
        (&["--along", "y"][..], "expected one of time, x, or a number below 2"),
        (&["--quantiles", "2"], "is no share from 0 to 1"),
        (&["--field", "x"], "have no fields"),
        (&["--memory", "8"], "bytes of elements"),
    ] {
        let ran = folder.run(&[&["stats", "s", "t"], args].concat());
        assert!(matches!(ran.code, Some(2 | 4)), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(message), "{args:?}: {}", ran.err);
    }
}

/// Decoded times, without fractions of 0 and with a standard deviation in days.
#[test]
fn times() {
    let climate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");
    let out = Folder::new().ok(&["stats", climate, "time", "--decode", "--quantiles", "0.5"]);
    for line in [
        "/time: values decoded by the CF conventions, numpy.datetime64[ns] (12,)",
        "Min        : 2006-04-16T00:00:00 at (0,)",
        "Std        : 105.2706 days",
        "50 %       : 2006-10-01T06:00:00",
    ] {
        assert!(out.lines().any(|found| found == line), "{line}: {out}");
    }
    assert!(out.lines().all(|line| line.len() <= 80), "{out}");
}

#[test]
fn texts_and_bools() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "names", "--shape", "4", "--dtype", "string"]);
    let ran = folder.run_with(&["write", "s", "names", "--from", "-", "--as", "json"], br#"["a", "bcd", "a", "a"]"#);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let out = folder.ok(&["stats", "s", "names"]);
    assert!(out.contains("Distinct") && out.contains("Length max  : 3 at (1,)"), "{out}");
    assert!(out.contains("Most common\n3  \"a\"\n1  \"bcd\"\n"), "{out}");
    folder.ok(&["create", "s", "flags", "--shape", "8", "--dtype", "bool"]);
    folder.fill("s", "flags", "|b1", "(8,)", &[1, 0, 0, 1, 0, 0, 0, 0]);
    assert!(folder.ok(&["stats", "s", "flags"]).contains("True       : 2 (25 %)"));
}

/// Edges that seven digits cannot tell apart have all of them, and one value has one row.
#[test]
fn histograms_and_deviations_of_large_integers() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "2", "--dtype", "int64", "--codecs", "none"]);
    let items = |values: [i64; 2]| values.into_iter().flat_map(i64::to_le_bytes).collect::<Vec<u8>>();
    folder.fill("s", "a", "<i8", "(2,)", &items([(1 << 62) + 1, (1 << 62) + 3]));
    let out = folder.ok(&["stats", "s", "a", "--bins", "2"]);
    assert!(out.contains("Std        : 1.0\n") && out.contains("Mean       : 4611686018427387906\n"), "{out}");
    assert!(out.contains("\n4611686018427387905  ..  4611686018427387906  1  "), "{out}");
    folder.fill("s", "a", "<i8", "(2,)", &items([1 << 60; 2]));
    let out = folder.ok(&["stats", "s", "a"]);
    assert_eq!(out.lines().filter(|line| line.contains("  ..  ")).count(), 1, "{out}");
    assert!(out.contains("1152921504606846976  ..  1152921504606846976  2  "), "{out}");
}

#[test]
fn empty_arrays_of_integers_are_integers() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "0", "--dtype", "int16"]);
    let out = folder.ok(&["stats", "s", "a"]);
    assert!(!out.contains("NaN"), "{out}");
    assert_eq!(text(&json(&folder, &["stats", "s", "a"]), "sum"), "0");
    folder.ok(&["create", "s", "b", "--shape", "0", "--dtype", "float32"]);
    assert!(folder.ok(&["stats", "s", "b"]).contains("NaN"));
}

#[test]
fn complex_means_and_infinities_are_written_in_one_way() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "c", "--shape", "1,3", "--dtype", "complex128", "--codecs", "none"]);
    let parts = [1.0, 0.1, 1.0, 0.1, 1.0, 0.0];
    folder.fill("s", "c", "<c16", "(1, 3)", &parts.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>());
    let out = folder.ok(&["stats", "s", "c", "--along", "0"]);
    assert!(out.contains(": 1+0.06666667j\n"), "{out}");
    assert!(out.lines().last().unwrap().contains("  1+0.06666667j  "), "{out}");
    folder.ok(&["create", "s", "f", "--shape", "2", "--dtype", "float64", "--codecs", "none"]);
    folder.fill(
        "s",
        "f",
        "<f8",
        "(2,)",
        &[1.0, f64::INFINITY].into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>(),
    );
    let out = folder.ok(&["stats", "s", "f"]);
    assert!(out.contains("Max        : Infinity at") && out.contains("Sum        : Infinity\n"), "{out}");
    assert!(!out.contains(": inf"), "{out}");
}

/// The output says so if there are more strings than are kept.
#[test]
fn texts_that_are_not_told_apart() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "long", "--shape", "40", "--dtype", "string", "--chunks", "4"]);
    let texts: Vec<String> = (0..40_u8)
        .map(|at| format!("\"{}\"", char::from(b'A' + at % 26).to_string().repeat(usize::from(at) + 20_000)))
        .collect();
    let ran = folder
        .run_with(&["write", "s", "long", "--from", "-", "--as", "json"], format!("[{}]", texts.join(",")).as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let out = folder.ok(&["stats", "s", "long", "--memory", "1MiB"]);
    assert!(out.contains(": not known: more than are kept\n"), "{out}");
}

#[test]
fn extremes_have_labels() {
    let climate = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");
    let folder = Folder::new();
    let out = folder.ok(&["stats", climate, "sst", "--bins", "0"]);
    assert!(
        out.contains("Max        : 303.73828 at (1, 5, 129), time 2006-05-16T12:00:00, lat -2.2222214, lon 107.5\n"),
        "{out}"
    );
    // The index is that in the array, and so is the label.
    let found = json(&folder, &["stats", climate, "sst", "--isel", "time=5:", "--bins", "0"]);
    let max = found.get("max").unwrap();
    let time = max.get("index").and_then(Value::as_array).and_then(|index| index.first()).cloned().unwrap();
    let times = folder.ok(&["read", climate, "time", "--isel", &format!("time={time}")]);
    let label = max.get("labels").and_then(|labels| labels.get("time")).and_then(Value::as_str).unwrap();
    assert!(times.starts_with(label), "{times} {label}");
    assert!(!folder.ok(&["stats", climate, "sst", "--raw", "--bins", "0"]).contains("lat "));
    assert!(folder.ok(&["stats", climate, "lat", "--bins", "0"]).contains("Min        : -4.9999924 at (0,)\n"));
}

#[test]
fn a_group_has_a_line_for_each_array() {
    let folder = Folder::new();
    folder.ok(&["cp", CLIMATE, "c"]);
    folder.ok(&["create", "c", "names", "--shape", "2", "--dtype", "string", "--dims", "n"]);
    let text = folder.ok(&["stats", "c"]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["ARRAY", "SHAPE", "TYPE", "COUNT", "MISSING", "MIN", "MAX", "MEAN", "STD"], "{text}");
    let of = |name: &str| lines.iter().find(|line| line[0] == name).unwrap_or_else(|| panic!("{name}: {text}"));
    // The same numbers as of the array alone.
    let json = |args: &[&str]| Value::from_json(&folder.ok(&[&["stats"], args, &["--json"]].concat())).unwrap();
    let (all, one) = (json(&["c"]), json(&["c", "sst", "--bins", "0", "--quantiles", ""]));
    assert_eq!(all.as_array().unwrap().iter().find(|it| it.get("path") == one.get("path")), Some(&one));
    assert_eq!(all.as_array().unwrap().len(), lines.len() - 1);
    assert!(of("sst").len() > 8 && of("names")[of("names").len() - 4..] == ["-"; 4], "{text}");
    // Options of an array alone are refused, and not dropped.
    for args in [["--bins", "5"], ["--quantiles", "0.5"]] {
        let ran = folder.run(&["stats", "c", args[0], args[1]]);
        assert!(ran.code == Some(2) && ran.err.contains(args[0]) && ran.err.contains("sst"), "{}", ran.err);
    }
    folder.ok(&["stats", "c", "--bins", "0", "--quantiles", ""]);
    folder.ok(&["create", "d", "many", "--shape", "1,1,1,1,1,1,1,1,1,1,1,1,1", "--dtype", "int8"]);
    let long = folder.ok(&["stats", "d"]);
    assert!(long.contains("(1, 1, 1, 1, 1, 1, 1, 1, 1, 1...  int8"), "{long}");
    // An array that cannot be read is told, and the others are shown.
    std::fs::write(folder.path("c/lat/0"), "no chunk").unwrap();
    let ran = folder.run(&["stats", "c"]);
    let text = String::from_utf8(ran.out).unwrap();
    assert!(ran.code == Some(4) && ran.err.contains("/lat: chunk [0]"), "{}", ran.err);
    assert!(text.contains("\nsst ") && !text.contains("\nlat "), "{text}");
}
