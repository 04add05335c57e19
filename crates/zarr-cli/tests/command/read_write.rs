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
