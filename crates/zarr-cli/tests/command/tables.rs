//! Structs, and tables of values.

use crate::folder::Folder;
use std::fs;

const DTYPE: &str = r#"[["id", "<i4"], ["name", "<U4"], ["at", ">f8", [2]]]"#;

fn structs() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "3", "--dtype", DTYPE, "--chunks", "2", "--dialect", "v2"]);
    fs::write(folder.path("t.csv"), "name,at,id\n\"a,b\",\"[1,2.5]\",7\nü,\"[0,\"\"NaN\"\"]\",-1\n\"\",\"[3,4]\",0\n")
        .unwrap();
    folder.ok(&["write", "s", "t", "--from", "t.csv"]);
    folder
}

#[test]
fn fields_are_read_alone() {
    let folder = structs();
    let read = |args: &[&str]| folder.ok(&[&["read", "s", "t"], args].concat());
    assert_eq!(read(&["--field", "id"]), "7\n-1\n0\n");
    assert_eq!(read(&["--field", "name", "--json"]), "[\"a,b\", \"ü\", \"\"]\n");
    assert_eq!(read(&["--field", "at", "--json", "--select", "::2"]), "[[1.0, 2.5],\n[3.0, 4.0]]\n");
    assert_eq!(read(&["--field", "at", "--json", "--select", "1"]), "[0.0, \"NaN\"]\n");
    let ran = folder.run(&["read", "s", "t", "--field", "no"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no field \"no\""), "{}", ran.err);
    let info = folder.ok(&["info", "s", "t"]);
    assert!(info.contains("id: int32\n") && info.contains("at: float64 [2]\n"), "{info}");
}

#[test]
fn structs_go_through_files() {
    let folder = structs();
    let json = folder.ok(&["read", "s", "t", "--json"]);
    for (name, form) in [("o.npy", "npy"), ("o.csv", "csv"), ("o.json", "json")] {
        folder.ok(&["read", "s", "t", "--as", form, "-o", name]);
        let target = ["create", "s", form, "--shape", "3", "--dtype", DTYPE, "--dialect", "v2"];
        folder.ok(&target);
        folder.ok(&["write", "s", form, "--from", name]);
        assert_eq!(folder.ok(&["read", "s", form, "--json"]), json, "{form}");
    }
    let csv = fs::read_to_string(folder.path("o.csv")).unwrap();
    assert!(csv.starts_with("id,name,at\n7,\"a,b\",\"[1.0,2.5]\"\n"), "{csv}");
    let npy = fs::read(folder.path("o.npy")).unwrap();
    let header =
        r"{'descr': [('id', '<i4'), ('name', '<U4'), ('at', '<f8', (2,))], 'fortran_order': False, 'shape': (3,), }";
    assert!(npy[10..].starts_with(header.as_bytes()), "{}", npy.escape_ascii());
}

#[test]
fn rows_and_lists_are_written() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "n", "--shape", "2,3", "--dtype", "float32"]);
    fs::write(folder.path("n.csv"), "1,2,3\n4,NaN,6\n").unwrap();
    folder.ok(&["write", "s", "n", "--from", "n.csv"]);
    assert_eq!(folder.ok(&["read", "s", "n", "--as", "csv"]), "1.0,2.0,3.0\n4.0,NaN,6.0\n");
    let ran = folder.run_with(&["write", "s", "n", "--from", "-", "--as", "json", "--select", "0"], b"[7, 8.5, NaN]");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "n", "--as", "csv"]), "7.0,8.5,NaN\n4.0,NaN,6.0\n");
    folder.ok(&["create", "s", "t", "--shape", "3", "--dtype", "string"]);
    fs::write(folder.path("t.csv"), "a\n\"b \"\"c\"\"\"\n12\n").unwrap();
    folder.ok(&["write", "s", "t", "--from", "t.csv"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--json"]), "[\"a\", \"b \\\"c\\\"\", \"12\"]\n");
    for (text, word) in [
        ("[[1, 2], [3, 4]]", "an array of 2"),
        ("[[1, 2, 3], 4]", "expected an array"),
        ("[[1,2,3],[4,5,\"x\"]]", "value 5"),
    ] {
        let ran = folder.run_with(&["write", "s", "n", "--from", "-", "--as", "json"], text.as_bytes());
        assert_eq!(ran.code, Some(4), "{}", ran.err);
        assert!(ran.err.contains(word), "{}", ran.err);
    }
    folder.ok(&["create", "s", "c", "--shape", "1,1,1", "--dtype", "int8"]);
    assert_eq!(folder.run(&["read", "s", "c", "--as", "csv"]).code, Some(2));
}

#[test]
fn fields_of_fields_have_a_point() {
    let folder = Folder::new();
    let dtype = r#"[["id", "<i4"], ["at", [["x", ">f4"], ["y", "<i2"]], [2]]]"#;
    folder.ok(&["create", "s", "t", "--shape", "2", "--dtype", dtype, "--dialect", "v2"]);
    let rows = r#"[{"id": 1, "at": [{"x": 0.5, "y": 1}, {"x": 1, "y": 2}]}, {"id": 2, "at": [{"x": 2, "y": 3}, {"x": 3, "y": 4}]}]"#;
    fs::write(folder.path("t.json"), rows).unwrap();
    folder.ok(&["write", "s", "t", "--from", "t.json"]);
    assert_eq!(folder.ok(&["read", "s", "t", "--field", "at.y", "--json"]), "[[1, 2],\n[3, 4]]\n");
    assert_eq!(folder.ok(&["read", "s", "t", "--field", "at.x", "--select", "0", "--json"]), "[0.5, 1.0]\n");
    let ran = folder.run(&["read", "s", "t", "--field", "at.z"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains(r#"no field "z", there are ["x", "y"]"#), "{}", ran.err);
}
