//! Tables of data sets as files of Arrow and Parquet. That other software reads them is a test of the Python package.

use crate::folder::Folder;
use std::fs;
use zarr::meta::json::Value;

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

/// Number of times that a text stands in a file.
fn count(file: &[u8], text: &str) -> usize {
    file.windows(text.len()).filter(|part| *part == text.as_bytes()).count()
}

#[test]
fn files_and_streams_have_the_columns_of_the_table() {
    let folder = Folder::new();
    let told = folder.ok(&["read", CLIMATE, "sst", "--sel", "time=2007-01", "-o", "sst.arrow"]);
    assert!(told.starts_with("sst.arrow: 7_776 rows, ") && told.ends_with(" s\n"), "{told}");
    let file = fs::read(folder.path("sst.arrow")).unwrap();
    assert!(file.starts_with(b"ARROW1\0\0") && file.ends_with(b"ARROW1"));
    // The schema stands at the beginning and at the end.
    assert_eq!(["lat", "lon", "sst"].map(|name| count(&file, &format!("{name}\0"))), [2; 3]);
    assert_eq!(count(&file, "anomaly\0"), 0);
    let stream = folder.run(&["read", CLIMATE, "sst", "--sel", "time=2007-01", "--as", "arrow"]).out;
    folder.ok(&["read", CLIMATE, "sst", "--sel", "time=2007-01", "-o", "sst.arrows", "--quiet"]);
    assert_eq!(fs::read(folder.path("sst.arrows")).unwrap(), stream);
    assert_eq!(file[8..8 + stream.len()], stream[..]);
    // By position, and the first rows of the outermost dimension.
    let by_index = |args: &[&str]| folder.run(&[&["read", CLIMATE, "sst", "--as", "arrow"], args].concat()).out;
    assert_eq!(by_index(&["--select", "0:1"]), by_index(&["--head", "1"]));
    assert_eq!(by_index(&["--isel", "time=0:1"]), by_index(&["--head", "1"]));
    let facts = folder.run(&["read", CLIMATE, "sst", "--head", "2", "-o", "two.arrow", "--json"]);
    let facts = Value::from_json(&String::from_utf8(facts.out).unwrap()).unwrap();
    assert_eq!(facts.get("rows").and_then(Value::as_u64), Some(2 * 18 * 432), "{facts}");
}

#[test]
fn groups_have_all_variables_or_those_that_are_named() {
    let folder = Folder::new();
    for name in ["a", "b", "c"] {
        folder.ok(&["create", "s", &format!("g/{name}"), "--shape", "3", "--dtype", "int8", "--dims", "x"]);
    }
    let columns = |args: &[&str]| {
        let stream = folder.run(&[&["read"], args, &["--as", "arrow"]].concat());
        assert_eq!(stream.code, Some(0), "{args:?}: {}", stream.err);
        ["x", "a", "b", "c"].map(|name| count(&stream.out, &format!("\0{name}\0\0\0")) > 0)
    };
    assert_eq!(columns(&["s", "g"]), [true; 4]);
    assert_eq!(columns(&["s::g"]), [true; 4]);
    assert_eq!(columns(&["s", "g/c", "a"]), [true, true, false, true]);
    let unknown = folder.run(&["read", "s", "g/a", "nope", "--as", "arrow"]);
    assert!(unknown.code != Some(0) && unknown.err.contains("nope"), "{}", unknown.err);
}

#[test]
fn arguments_that_are_of_no_table() {
    let folder = Folder::new();
    let failed = |args: &[&str], words: &str| {
        let ran = folder.run(&[&["read", CLIMATE], args].concat());
        assert!(ran.code == Some(2) && ran.err.contains(words), "{args:?}: {}", ran.err);
        assert!(ran.out.is_empty());
    };
    failed(&["sst", "anomaly"], "found anomaly behind sst, expected one array");
    failed(&["sst", "--select", "0,", "0,", "0:5"], "in quotes: --select \"0, 0, 0:5\"");
    failed(&["sst", "--as", "arrow", "--raw"], "--raw is of elements alone");
    failed(&["sst", "--as", "arrow", "--explain"], "cannot be used with");
    failed(&["sst", "--as", "arrow", "--precision", "3"], "--precision is of text alone");
    failed(&["--as", "arrow", "--select", "0"], "--select is of one array");
    failed(
        &["sst", "--as", "arrow", "--isel", "time=0", "--sel", "time=2007"],
        "dimension time is selected more than once",
    );
    failed(&["sst", "--as", "arrow", "--sel", "tim=2007"], "tim");
    folder.ok(&["create", "s", "a", "--shape", "3", "--dtype", "int8"]);
    let nameless = folder.run(&["read", "s", "a", "--as", "arrow"]);
    assert!(nameless.code != Some(0) && nameless.out.is_empty(), "{}", nameless.err);
    #[cfg(not(feature = "parquet"))]
    {
        failed(&["sst", "-o", "sst.parquet"], "built without Parquet: the feature `parquet` of zarr-cli");
        assert!(!folder.path("sst.parquet").exists());
    }
}

#[test]
#[cfg(feature = "parquet")]
fn a_file_of_parquet() {
    let folder = Folder::new();
    let told = folder.ok(&["read", CLIMATE, "sst", "-o", "sst.parquet"]);
    assert!(told.starts_with("sst.parquet: 93_312 rows, "), "{told}");
    let file = fs::read(folder.path("sst.parquet")).unwrap();
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    #[cfg(target_os = "linux")]
    {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let (code, err) = folder.run_to(&["read", CLIMATE, "sst", "--as", "parquet"], full);
        assert!(code == Some(5) && err.starts_with("error: standard output: No space left on device"), "{err}");
    }
}

#[test]
fn an_error_in_mid_stream_leaves_the_file_that_was_there() {
    let folder = Folder::new();
    folder.ok(&[
        "create", "s", "v", "--shape", "4000000", "--dtype", "int64", "--dims", "x", "--chunks", "1000000", "--codecs",
        "none",
    ]);
    folder.ok(&["write", "s", "v", "--value", "7"]);
    fs::write(folder.path("s/v/c/3"), b"short").unwrap();
    fs::write(folder.path("v.arrow"), b"old").unwrap();
    let ran = folder.run(&["read", "s", "v", "-o", "v.arrow"]);
    assert!(ran.code == Some(4) && ran.err.contains("/v"), "{:?} {}", ran.code, ran.err);
    assert_eq!(fs::read(folder.path("v.arrow")).unwrap(), b"old");
    let left = fs::read_dir(folder.path("")).unwrap().count();
    assert_eq!(left, 2, "the store and the old file");
    // A stream ends within a message, so that its readers notice.
    let ran = folder.run(&["read", "s", "v", "--as", "arrow"]);
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.out.len() > 16_000_000 && ran.out.ends_with(&[255; 4]), "{:?}", ran.out.last_chunk::<16>());
    // An output that cannot be opened is reported before elements are read.
    fs::write(folder.path("s/v/c/0"), b"short").unwrap();
    let ran = folder.run(&["read", "s", "v", "-o", "none/v.arrow"]);
    assert!(ran.code == Some(5) && ran.err.contains("none/v.arrow"), "{:?} {}", ran.code, ran.err);
}

#[test]
#[cfg(feature = "parquet")]
fn a_value_that_parquet_cannot_hold_is_no_error_of_the_output() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "2", "--dtype", "datetime64[s]", "--dims", "x"]);
    folder.fill("s", "t", "<M8[s]", "(2,)", &[1, i64::MAX / 1_000 + 1].map(i64::to_le_bytes).concat());
    let ran = folder.run(&["read", "s", "t", "-o", "t.parquet"]);
    assert!(ran.err.contains("error: column t: row 1: found the time 9223372036854776 in seconds"), "{}", ran.err);
    assert_eq!(ran.code, Some(4));
    assert!(!folder.path("t.parquet").exists());
}
