//! Files that elements are written and appended from: in bounded memory, and checked before anything is stored.

use crate::folder::{Folder, Ran, int16, npy};

/// Runs the command with at most `mebibytes` MiB of memory for data, which Linux counts with the stacks of threads.
#[cfg(target_os = "linux")]
fn within(folder: &Folder, mebibytes: u64, args: &[&str]) -> Ran {
    let limited = format!("ulimit -d {} && exec \"$@\"", mebibytes << 10);
    let output = std::process::Command::new("sh")
        .args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_zarr"), "--threads", "2"])
        .args(args)
        .current_dir(folder.path("."))
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    Ran { code: output.status.code(), out: output.stdout, err }
}

/// 4 MB of JSON and of CSV for an array of four elements.
#[cfg(target_os = "linux")]
#[test]
fn text_is_refused_at_the_first_element_too_many() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int32"]);
    std::fs::write(folder.path("x.json"), format!("[{}1]", "1,".repeat(2_000_000))).unwrap();
    std::fs::write(folder.path("x.csv"), "1\n".repeat(2_000_000)).unwrap();
    for (file, message) in [
        ("x.json", "x.json: line 1, column 10: an array of more than 4, expected 4"),
        ("x.csv", "x.csv: more than 4 rows, expected 4"),
    ] {
        let ran = within(&folder, 50, &["write", "s", "a", "--from", file]);
        assert!(ran.code == Some(4) && ran.err.contains(message), "{:?}: {}", ran.code, ran.err);
    }
    assert_eq!(folder.files("s"), ["a/zarr.json", "zarr.json"]);
}

/// Text that would take twenty times as much memory as a tree of values.
#[cfg(target_os = "linux")]
#[test]
fn text_is_written_in_bounded_memory() {
    let folder = Folder::new();
    let numbers: Vec<String> = (0..800_000_u32).map(|at| (at % 10).to_string()).collect();
    std::fs::write(folder.path("x.json"), format!("[{}]", numbers.join(","))).unwrap();
    std::fs::write(folder.path("x.csv"), numbers.join("\n")).unwrap();
    let create = |name: &str, more: &[&str]| {
        folder.ok(&[&["create", "s", name, "--shape", "800000", "--dtype", "int16"], more].concat())
    };
    let expected = int16((0..800_000_u32).map(|at| (at % 10) as i16));
    let packed = r#"{"scale_factor": 1.0, "add_offset": 0.0}"#;
    for (name, file) in [("a", "x.json"), ("b", "x.csv")] {
        create(name, &["--chunks", "30000"]);
        let ran = within(&folder, 50, &["write", "s", name, "--from", file]);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.err);
        assert_eq!(folder.raw("s", name), expected, "{file}");
        create("d", &["--chunks", "30000", "--dims", "x", "--attributes", packed, "--overwrite"]);
        let ran = within(&folder, 70, &["write", "s", "d", "--from", file, "--decode"]);
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.err);
        assert_eq!(folder.raw("s", "d"), expected, "{file}");
    }
    folder.ok(&["create", "s", "e", "--shape", "0", "--dtype", "int16", "--chunks", "30000"]);
    let ran = within(&folder, 50, &["append", "s", "e", "--from", "x.json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.raw("s", "e"), expected);
}

/// 320 MB each: of a list of indices, and of an array that is appended.
#[cfg(target_os = "linux")]
#[test]
fn lists_of_indices_and_arrays_are_written_in_bounded_memory() {
    let folder = Folder::new();
    let rows = ["--chunks", "1,1000000", "--dtype", "float64"];
    folder.ok(&[&["create", "s", "rows", "--shape", "41,1000000"][..], &rows].concat());
    folder.zeros("x.npy", &[40, 1_000_000], 7.0);
    let indices: Vec<String> = [1, 0].into_iter().chain(3..41).map(|row: u64| row.to_string()).collect();
    let selected = format!("[{}]", indices.join(","));
    let ran = within(&folder, 280, &["write", "s", "rows", "--from", "x.npy", "--select", &selected]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "rows", "--select", "40,-2:"]), "0.0\n7.0\n");
    folder
        .ok(&["create", "s", "from", "--shape", "40000000", "--fill", "3", "--chunks", "1000000", "--dtype", "int64"]);
    folder.ok(&["create", "s", "to", "--shape", "10", "--chunks", "1000000", "--dtype", "int64"]);
    let ran = within(&folder, 280, &["append", "s", "to", "--from", "s::from"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(folder.ok(&["read", "s", "to", "--select", "8:12"]), "0\n0\n3\n3\n");
    assert_eq!(folder.ok(&["read", "s", "to", "--select", "40000008:"]), "3\n3\n");
}

/// Casts of many elements take no more than the elements.
#[cfg(target_os = "linux")]
#[test]
fn casts_are_made_in_bounded_memory() {
    let folder = Folder::new();
    let count = 3_000_000_u32;
    let items: Vec<u8> = (0..count).flat_map(|at| f64::from(at % 100).to_le_bytes()).collect();
    std::fs::write(folder.path("x.npy"), npy("<f8", false, "(3000000,)", &items)).unwrap();
    folder.ok(&["create", "s", "a", "--shape", "3000000", "--dtype", "int8", "--chunks", "100000"]);
    let ran = within(&folder, 60, &["write", "s", "a", "--from", "x.npy", "--cast=unsafe"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(folder.raw("s", "a").iter().zip(0..count).all(|(found, at)| u32::from(*found) == at % 100));
}

/// Nothing is stored of a file that is wrong at its end.
#[test]
fn a_file_is_checked_before_its_first_element_is_stored() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "6", "--dtype", "int16", "--chunks", "2"]);
    folder.ok(&["create", "s", "t", "--shape", "3", "--dtype", "string", "--chunks", "1"]);
    folder.ok(&["create", "s", "m", "--shape", "2,2", "--dtype", "int8", "--chunks", "1,2"]);
    let before = folder.files("s");
    for (name, form, text, message) in [
        ("a", "json", "[1, 2, 3, 4, 5, 70000]", "value 5: "),
        ("a", "json", "[1, 2, 3, 4, 5]", "an array of 5, expected 6"),
        ("a", "json", "[1, 2, 3, 4, 5, 6", "expected `,` or `]`, found the end of the text"),
        ("a", "json", "[1, 2, 3, 4, 5, 6] 7", "expected the end of the text, found `7`"),
        ("a", "json", "[1, 2, 3, 4, 5, [6]]", "value 5: "),
        ("a", "json", "{\"a\": 1}", "{\"a\":1}, expected an array of 6"),
        ("a", "csv", "1\n2\n3\n4\n5\n", "5 rows, expected 6"),
        ("a", "csv", "1\n2\n3\n4\n5\n6,7\n", "row 6: more than 1 values, expected 1"),
        ("a", "csv", "1\n2\n3\n4\n5\nsix\n", "row 6: value 5: "),
        ("a", "csv", "1\n2\n3\n4\n5\n\"6", "the file ends within quotes"),
        ("t", "json", "[\"a\", \"b\", 3]", "value 2: "),
        ("t", "json", "[\"a\", \"b\", \"c]", "expected `\"`, found the end of the text"),
        ("m", "json", "[[1, 2], [3]]", "line 1, column 12: an array of 1, expected 2"),
        ("m", "csv", "1,2\n3\n", "row 2: 1 values, expected 2"),
    ] {
        let ran = folder.run_with(&["write", "s", name, "--from", "-", "--as", form], text.as_bytes());
        assert!(ran.code == Some(4) && ran.err.contains(message), "{text}: {:?} {}", ran.code, ran.err);
        assert!(ran.err.contains("standard input: "), "{}", ran.err);
    }
    let broken = folder.run_with(&["write", "s", "t", "--from", "-", "--as", "csv"], b"a\nb\n\xff\n");
    assert!(broken.code == Some(4) && broken.err.contains("row 3: the file is not UTF-8"), "{}", broken.err);
    // The size of a file is known before it is read.
    for items in [5, 7] {
        std::fs::write(folder.path("x.npy"), npy("<i2", false, "(6,)", &int16(0..items))).unwrap();
        assert_eq!(folder.run(&["write", "s", "a", "--from", "x.npy"]).code, Some(4));
        assert_eq!(folder.run(&["append", "s", "a", "--from", "x.npy"]).code, Some(4));
    }
    assert_eq!(folder.files("s"), before);
}

#[test]
fn files_are_appended_along_any_axis() {
    let folder = Folder::new();
    let create = |dtype: &str| {
        folder.ok(&["create", "s", "a", "--shape", "2,1", "--dtype", dtype, "--chunks", "1,2", "--overwrite"])
    };
    let append = |along: &str, form: &str, input: &[u8]| {
        let ran = folder.run_with(&["append", "s", "a", "--along", along, "--from", "-", "--as", form], input);
        (ran.code, ran.err)
    };
    let json = || folder.ok(&["read", "s", "a", "--json"]).replace('\n', " ");
    create("int16");
    assert_eq!(append("1", "json", b"[[1, 2, 3], [4, 5, 6]]").0, Some(0));
    assert_eq!(json(), "[[0, 1, 2, 3], [0, 4, 5, 6]] ");
    assert_eq!(append("1", "npy", &npy("<i2", false, "(2, 2)", &int16(10..14))).0, Some(0));
    assert_eq!(json(), "[[0, 1, 2, 3, 10, 11], [0, 4, 5, 6, 12, 13]] ");
    assert_eq!(append("1", "npy", &npy("<i2", true, "(2, 2)", &int16(20..24))).0, Some(0));
    assert_eq!(json(), "[[0, 1, 2, 3, 10, 11, 20, 22], [0, 4, 5, 6, 12, 13, 21, 23]] ");
    assert_eq!(append("0", "npy", &npy("<i2", true, "(1, 8)", &int16(30..38))).0, Some(0));
    assert!(json().ends_with("[30, 31, 32, 33, 34, 35, 36, 37]] "));
    for (along, form, input, word) in [
        ("1", "json", &b"[[1], [2], [3, 4]]"[..], "an array of more than 1, expected 1"),
        ("1", "json", b"[[1], [2]]", "an array of 2, expected 3"),
        ("0", "csv", b"1\n", "CSV does not tell"),
        ("1", "npy", &npy("<i2", false, "(2, 2)", &int16(0..4)), "elements of shape (2, 2), expected (3, 8) but along"),
        ("0", "npy", &npy("<i2", false, "(1, 8)", &int16(0..7)), "2 bytes too early"),
    ] {
        let (code, error) = append(along, form, input);
        assert!(code != Some(0) && error.contains(word), "{error}");
    }
    create("string");
    assert_eq!(append("1", "json", r#"[["a", "東"], ["", "d"]]"#.as_bytes()).0, Some(0));
    let texts: Vec<u8> = "efgh".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert_eq!(append("1", "npy", &npy("<U1", true, "(2, 2)", &texts)).0, Some(0));
    assert_eq!(json(), r#"[["", "a", "東", "e", "g"], ["", "", "d", "f", "h"]] "#);
}

/// More than is appended at once.
#[test]
fn large_files_are_appended_in_steps() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "2,0", "--dtype", "uint8", "--chunks", "2,1000000", "--codecs", "none"]);
    let row = |first: usize| (first..first + 9_000_000).map(|at| (at % 251) as u8);
    let items: Vec<u8> = row(0).chain(row(7)).collect();
    std::fs::write(folder.path("x.npy"), npy("|u1", false, "(2, 9000000)", &items)).unwrap();
    folder.ok(&["append", "s", "a", "--along", "1", "--from", "x.npy"]);
    assert!(folder.raw("s", "a") == items);
}

/// Text without an end, or without a separator: an error in little memory.
#[cfg(target_os = "linux")]
#[test]
fn hostile_text_is_refused_in_bounded_memory() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "6000000", "--dtype", "float64"]);
    folder.ok(&["create", "s", "t", "--shape", "6000000", "--dtype", "string"]);
    let many = |text: &str| text.repeat((8 << 20) / text.len());
    for (number, (form, text)) in [
        ("json", many("[")),
        ("json", format!("[{}", many("{\"a\":"))),
        ("json", format!("[{}", many("1"))),
        ("json", format!("[\"{}", many("a"))),
        ("json", format!("[\"{}", many("\\\""))),
        ("json", format!("[{}", many(" "))),
        ("json", format!("[{}", many("\n"))),
        ("json", format!("[{{{}", many("\"a\":1,"))),
        ("json", format!("[-0.{}]", many("0"))),
        ("json", many("\u{feff}")),
        ("csv", many("1")),
        ("csv", many(",")),
        ("csv", many("1,")),
        ("csv", format!("\"{}", many("1"))),
        ("csv", format!("\"{}", many("\"\""))),
        ("csv", many("\r")),
        ("csv", many("\n")),
        ("npy", many("\u{93}NUMPY")),
        ("npy", many("1")),
    ]
    .into_iter()
    .enumerate()
    {
        std::fs::write(folder.path("x"), text).unwrap();
        for name in ["a", "t"] {
            let args = ["write", "s", name, "--from", "x", "--as", form];
            let ran = within(&folder, 80, &args);
            let is_short = ran.err.len() < 2000 && ran.err.starts_with("error: ");
            assert!(matches!(ran.code, Some(2 | 4)) && is_short, "{number} {name} {:?}: {:.300}", ran.code, ran.err);
        }
    }
    // Headers that promise more than there is.
    for shape in ["(6000000,)", "(1, 1152921504606846975)", "(18446744073709551615, 0)"] {
        let ran = folder.run_with(&["write", "s", "a", "--from", "-"], &npy("<f8", false, shape, &[0; 64]));
        assert!(matches!(ran.code, Some(2 | 4)), "{shape}: {:?} {}", ran.code, ran.err);
    }
    folder.ok(&["create", "s", "e", "--shape", "0,8", "--dtype", "float64"]);
    std::fs::write(folder.path("x.npy"), npy("<f8", false, "(100000000000, 8)", &[0; 640])).unwrap();
    for args in [&["x.npy"][..], &["-", "--as", "npy"]] {
        let ran = folder
            .run_with(&[&["append", "s", "e", "--from"], args].concat(), &std::fs::read(folder.path("x.npy")).unwrap());
        assert!(ran.code == Some(4) && ran.err.contains("bytes too early"), "{:?} {}", ran.code, ran.err);
    }
    assert_eq!(folder.files("s").len(), 4);
}
