//! `zarr create`, `zarr write` and `zarr read`.

use crate::folder::{Folder, int16, npy};
use zarr::meta::json::Value;

fn table() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "3,4", "--dtype", "int16", "--chunks", "2,3", "--fill", "-1"]);
    folder.fill("s", "t", "<i2", "(3, 4)", &int16(0..12));
    folder
}

#[test]
fn elements_in_all_forms() {
    let folder = table();
    let read = |args: &[&str]| folder.ok(&[&["read", "s", "t"], args].concat());
    assert_eq!(read(&[]), " 0  1  2  3\n 4  5  6  7\n 8  9 10 11\n");
    assert_eq!(read(&["--as", "json"]), "[[0, 1, 2, 3],\n[4, 5, 6, 7],\n[8, 9, 10, 11]]\n");
    assert_eq!(read(&["--json", "--select", "1"]), "[4, 5, 6, 7]\n");
    assert_eq!(read(&["--select", "::-2, 1:3"]), " 9 10\n 1  2\n");
    assert_eq!(read(&["--select=-1, -1"]), "11\n");
    assert_eq!(read(&["--select", "[2, 0], 0"]), "8\n0\n");
    assert_eq!(read(&["--select", "0:0", "--as", "json"]), "[]\n");
    assert_eq!(read(&["--select", ":, 0:0", "--as", "json"]), "[[], [], []]\n");
    assert_eq!(folder.raw("s", "t"), int16(0..12));
}

#[test]
fn a_file_has_the_form_that_its_name_says() {
    let folder = table();
    for (name, form) in
        [("t.npy", "npy"), ("t.CSV", "csv"), ("t.json", "json"), ("t.raw", "raw"), ("t.bin", "raw"), ("t.txt", "text")]
    {
        folder.ok(&["read", "s", "t", "-o", name]);
        folder.ok(&["read", "s", "t", "--as", form, "-o", "expected"]);
        let read = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert_eq!(read(name), read("expected"), "{name}");
    }
    for name in ["t.nc", "t.zarr"] {
        let ran = folder.run(&["read", "s", "t", "-o", name]);
        assert!(ran.code == Some(2) && ran.err.contains("npy, csv, json, raw"), "{name}: {}", ran.err);
        assert!(!folder.path(name).exists(), "{name}");
        folder.ok(&["read", "s", "t", "--as", "csv", "-o", name]);
    }
    let ran = folder.run(&["view", "s", "t", "-o", "t.jpg"]);
    assert!(ran.code == Some(2) && ran.err.contains("pictures are PNG files"), "{}", ran.err);
    assert!(!folder.path("t.jpg").exists());
}

#[test]
fn npy_files_go_out_and_in() {
    let folder = table();
    folder.ok(&["read", "s", "t", "--as", "npy", "-o", "t.npy"]);
    let file = std::fs::read(folder.path("t.npy")).unwrap();
    assert!(file.starts_with(b"\x93NUMPY\x01\x00") && file.ends_with(&int16(0..12)));
    folder.ok(&["create", "s", "u", "--shape", "3,4", "--dtype", "<i2", "--codecs", "gzip", "--dialect", "v3"]);
    folder.ok(&["write", "s", "u", "--from", "t.npy"]);
    assert_eq!(folder.raw("s", "u"), folder.raw("s", "t"));
    // The size of the file, whatever its form and however it is read.
    for (name, form) in [("t.npy", "npy"), ("t.json", "json"), ("t.csv", "csv")] {
        let read = folder.ok(&["read", "s", "t", "--as", form, "-o", name, "--json"]);
        let size = std::fs::metadata(folder.path(name)).unwrap().len();
        let written = folder.ok(&["write", "s", "u", "--from", name, "--json"]);
        let piped = folder.run_with(
            &["write", "s", "u", "--from", "-", "--as", form, "--json"],
            &std::fs::read(folder.path(name)).unwrap(),
        );
        for text in [read, written, String::from_utf8(piped.out).unwrap()] {
            let facts = Value::from_json(&text).unwrap();
            assert_eq!(facts.get("bytes").unwrap().to_string(), size.to_string(), "{name}");
        }
        if form != "npy" {
            std::fs::remove_file(folder.path(name)).unwrap();
        }
    }
    // Nothing is left beside the file.
    let left = std::fs::read_dir(folder.path(".")).unwrap().count();
    assert_eq!(left, 2);
}

#[test]
fn big_endian_and_fortran_order_come_in() {
    let folder = table();
    let columns: Vec<i16> = (0..4).flat_map(|x| (0..3).map(move |y| 100 + 4 * y + x)).collect();
    let items: Vec<u8> = columns.iter().flat_map(|number| number.to_be_bytes()).collect();
    let ran = folder.run_with(&["write", "s", "t", "--from", "-"], &npy(">i2", true, "(3, 4)", &items));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.raw("s", "t"), int16(100..112));
}

#[test]
fn a_selection_is_written() {
    let folder = table();
    let args = ["write", "s", "t", "--from", "-", "--select", "1:, ::3"];
    let ran = folder.run_with(&args, &npy("<i2", false, "(2, 2)", &int16([-5, -6, -7, -8])));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.raw("s", "t"), int16([0, 1, 2, 3, -5, 5, 6, -6, -7, 9, 10, -8]));
}

#[test]
fn data_of_another_shape_or_type_is_refused() {
    let folder = table();
    let write = |file: &[u8]| folder.run_with(&["write", "s", "t", "--from", "-"], file);
    for (file, code, word) in [
        (npy("<i2", false, "(4, 3)", &int16(0..12)), 2, "shape"),
        (npy("<i4", false, "(3, 4)", &[0; 48]), 2, "type"),
        (npy("<i2", false, "(3, 4)", &int16(0..11)), 4, "too early"),
        (npy("<i2", false, "(3, 4)", &int16(0..13)), 4, "after the last"),
        (b"PK\x03\x04 no numpy here".to_vec(), 4, "not a file of numpy"),
        (Vec::new(), 4, "header"),
    ] {
        let ran = write(&file);
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert!(ran.err.starts_with("error: ") && ran.err.contains(word), "{}", ran.err);
    }
}

#[test]
fn texts_of_numpy_become_strings() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "3", "--dtype", "string", "--chunks", "2", "--fill", "none yet"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--as", "json"]), "[\"none yet\", \"none yet\", \"none yet\"]\n");
    let texts: Vec<u8> = ["a\n", "", "東"]
        .iter()
        .flat_map(|text| (0..2).map(|at| text.chars().nth(at).map_or(0, u32::from)).collect::<Vec<_>>())
        .flat_map(u32::to_le_bytes)
        .collect();
    folder.fill("s", "t", "<U2", "(3,)", &texts);
    assert_eq!(folder.ok(&["read", "s", "t", "--as", "json"]), "[\"a\\n\", \"\", \"東\"]\n");
    // Control characters do not reach the terminal.
    assert_eq!(folder.ok(&["read", "s", "t"]), "a\\n\n\n東\n");
    assert_eq!(folder.raw("s", "t"), b"\x02\0\0\0a\n\0\0\0\0\x03\0\0\0\xe6\x9d\xb1");
}

#[test]
fn arrays_without_dimensions_and_without_elements() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "scalar", "--shape", "", "--dtype", "float32", "--fill", "NaN"]);
    assert_eq!(folder.ok(&["read", "s", "scalar"]), "NaN\n");
    assert_eq!(folder.ok(&["read", "s", "scalar", "--as", "json"]), "\"NaN\"\n");
    folder.ok(&["create", "s", "empty", "--shape", "0,3", "--dtype", "float32"]);
    assert_eq!(folder.ok(&["read", "s", "empty", "--as", "json"]), "[]\n");
    assert_eq!(folder.ok(&["read", "s", "empty"]), "");
}

#[test]
fn existing_nodes_are_not_replaced_unasked() {
    let folder = table();
    let create = ["create", "s", "t", "--shape", "2", "--dtype", "uint8"];
    let ran = folder.run(&create);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("hint: --overwrite"), "{}", ran.err);
    folder.ok(&[&create[..], &["--overwrite"]].concat());
    assert_eq!(folder.raw("s", "t"), [0, 0]);
}

#[test]
fn a_reader_may_leave() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "1000000", "--dtype", "int64"]);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_zarr"))
        .args(["read", "s", "t"])
        .current_dir(folder.path("."))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr), (Some(141), Vec::new()));
}

#[test]
fn chunks_that_are_not_stored_are_filled_refused_or_reported() {
    let folder = table();
    std::fs::remove_file(folder.path("s/t/c/1/0")).unwrap();
    let read = |args: &[&str]| folder.run(&[&["read", "s", "t"], args].concat());
    let filled = read(&[]);
    assert_eq!((filled.code, filled.err.as_str()), (Some(0), ""));
    let refused = read(&["--missing", "error"]);
    assert_ne!(refused.code, Some(0));
    assert!(refused.err.contains("chunk [1, 0]") && refused.err.contains("not stored"), "{}", refused.err);
    let reported = read(&["--missing", "report"]);
    assert_eq!((reported.code, &reported.out), (Some(0), &filled.out));
    let message = "1 chunk is not stored and read as fill values: [1, 0]";
    assert!(reported.err.contains(message), "{}", reported.err);
}

/// An array of four packed values along time, in the group of its coordinate.
fn packed() -> Folder {
    let folder = Folder::new();
    let create = |name: &str, more: &[&str]| folder.ok(&[&["create", "s", name, "--dims", "time"], more].concat());
    create("time", &["--shape", "4", "--dtype", "int32", "--attributes", r#"{"units": "days since 2020-01-01"}"#]);
    create(
        "t",
        &[
            "--shape",
            "4",
            "--dtype",
            "int16",
            "--attributes",
            r#"{"scale_factor": 0.5, "add_offset": 10, "_FillValue": -1}"#,
        ],
    );
    let ran = folder.run_with(&["write", "s", "time", "--from", "-", "--as", "csv"], b"0\n1\n31\n32\n");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    folder
}

#[test]
fn a_constant_is_written_to_a_region() {
    let folder = packed();
    folder.ok(&["write", "s", "t", "--value", "7", "--sel", "time=2020-01"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "7\n7\n0\n0\n");
    folder.ok(&["write", "s", "t", "--value", "-2", "--isel", "time=1:3"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "7\n-2\n-2\n0\n");
    folder.ok(&["write", "s", "t", "--value", "12.5", "--decode", "--sel", "time=2020-01-02.."]);
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "7\n5\n5\n5\n");
    folder.ok(&["write", "s", "t", "--value", "NaN", "--decode", "--isel", "time=-1"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "7\n5\n5\n-1\n");
    folder.ok(&["create", "s", "names", "--shape", "3", "--dtype", "string"]);
    folder.ok(&["write", "s", "names", "--value", "north east", "--select", "::2"]);
    assert_eq!(folder.ok(&["read", "s", "names", "--as", "json"]), "[\"north east\", \"\", \"north east\"]\n");
    let ran = folder.run(&["write", "s", "t", "--value", "70000"]);
    assert!(ran.code == Some(2) && ran.err.contains("--value 70000: "), "{}", ran.err);
    let ran = folder.run(&["write", "s", "t"]);
    assert!(ran.code == Some(2) && ran.err.contains("--from"), "{}", ran.err);
}

#[test]
fn decoded_values_are_packed() {
    let folder = packed();
    let write = |args: &[&str], input: &[u8]| {
        let ran = folder.run_with(&[&["write", "s"], args, &["--from", "-"]].concat(), input);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    };
    write(&["t", "--decode", "--as", "json"], b"[10, 10.5, NaN, 12]");
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "0\n1\n-1\n4\n");
    write(&["t", "--decode", "--as", "csv", "--sel", "time=2020-02"], b"11\n11.5\n");
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "0\n1\n2\n3\n");
    write(&["time", "--decode", "--as", "json", "--isel", "time=2:"], br#"["2020-03-01", "2020-03-02T00:00"]"#);
    assert_eq!(folder.ok(&["read", "s", "time", "--raw"]), "0\n1\n60\n61\n");
    let items: Vec<u8> = [20.0_f64, 21.0, 22.5, f64::NAN].iter().flat_map(|value| value.to_le_bytes()).collect();
    write(&["t", "--decode"], &npy("<f8", false, "(4,)", &items));
    assert_eq!(folder.ok(&["read", "s", "t", "--raw"]), "20\n22\n25\n-1\n");
    // Rows and columns in Fortran order.
    folder.ok(&[
        "create",
        "s",
        "m",
        "--shape",
        "2,2",
        "--dims",
        "x,y",
        "--dtype",
        "uint8",
        "--attributes",
        r#"{"scale_factor": 2.0}"#,
    ]);
    let items: Vec<u8> = [2.0_f64, 4.0, 6.0, 8.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    write(&["m", "--decode"], &npy("<f8", true, "(2, 2)", &items));
    assert_eq!(folder.ok(&["read", "s", "m", "--raw"]), "1 3\n2 4\n");
    let ran = folder.run_with(&["write", "s", "t", "--decode", "--from", "-"], &npy("<f8", false, "(3,)", &[0; 24]));
    assert!(ran.code == Some(2) && ran.err.contains("values of shape (3,), expected (4,)"), "{}", ran.err);
}

/// The last of several pieces was refused when the others were written.
#[test]
fn nothing_is_written_of_a_file_with_a_value_that_is_refused() {
    let folder = Folder::new();
    let create = |name: &str, count: u64, data_type: &str, attributes: &str| {
        let (count, codecs) = (count.to_string(), ["--fill", "3", "--chunks", "1000000"]);
        let own = ["--shape", &count, "--dims", "x", "--dtype", data_type, "--attributes", attributes];
        folder.ok(&[&["create", "s", name][..], &own, &codecs].concat());
    };
    folder.ok(&["create", "s", "/", "--group"]);
    // Values are packed in pieces of 32 MiB.
    create("packed", 5_000_000, "uint8", r#"{"scale_factor": 2.0}"#);
    folder.zeros("packed.npy", &[5_000_000], 1e6);
    let ran = folder.run(&["write", "s", "packed", "--decode", "--from", "packed.npy"]);
    assert!(ran.code != Some(0) && ran.err.contains("value "), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "packed", "--raw", "--select", "0:2"]), "3\n3\n", "{}", ran.err);
    // Elements are cast in pieces of 128 MiB.
    create("cast", 17_000_000, "float32", "{}");
    folder.zeros("cast.npy", &[17_000_000], 1e300);
    let ran = folder.run(&["write", "s", "cast", "--cast", "--from", "cast.npy"]);
    assert!(ran.code != Some(0) && ran.err.contains("element 16999999: "), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "cast", "--select", "0:2"]), "3.0\n3.0\n", "{}", ran.err);
}

#[test]
fn numbers_of_other_types_are_cast_if_asked() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "3", "--dtype", "float32"]);
    folder.ok(&["create", "s", "b", "--shape", "3", "--dtype", "int8"]);
    let floats = |values: [f64; 3]| npy("<f8", false, "(3,)", &values.map(f64::to_le_bytes).concat());
    let write = |name: &str, more: &[&str], input: &[u8]| {
        let ran = folder.run_with(&[&["write", "s", name, "--from", "-"], more].concat(), input);
        (ran.code, ran.err)
    };
    let (code, error) = write("a", &[], &floats([0.1, 1.0, 2.0]));
    assert!(code == Some(2) && error.contains("hint: --cast casts them"), "{error}");
    assert_eq!(write("a", &["--cast"], &floats([0.1, 1.0, f64::NAN])).0, Some(0));
    assert_eq!(folder.ok(&["read", "s", "a"]), "0.1\n1.0\nNaN\n");
    let (code, error) = write("a", &["--cast"], &floats([0.1, 1.0, 1e300]));
    assert!(
        code == Some(4) && error.contains("element 2: found 1000") && error.contains("a value of float32"),
        "{error}"
    );
    let (code, error) = write("b", &["--cast"], &floats([1.9, -1.9, 2.0]));
    assert!(code == Some(2) && error.contains("--cast=unsafe"), "{error}");
    assert_eq!(write("b", &["--cast=unsafe"], &floats([1.9, -1.9, 2.0])).0, Some(0));
    assert_eq!(folder.ok(&["read", "s", "b"]), "1\n-1\n2\n");
    assert_eq!(write("b", &["--cast=unsafe"], &floats([1.9, 300.0, 2.0])).0, Some(4));
    let ran = folder.run_with(&["append", "s", "a", "--from", "-", "--cast"], &floats([3.0, 4.0, 5.0]));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    // Text is no file of numpy.
    for text in [&b"1\n2\n3\n"[..], b"1,2", b""] {
        let (code, error) = write("a", &[], text);
        assert!(code == Some(4) && error.contains("hint: --as csv and --as json read text"), "{error}");
    }
}
