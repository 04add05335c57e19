//! `zarr read` as on a terminal: a line about the result, and of many elements those at the ends.

use crate::folder::{Folder, int16};

const CLIMATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/climate.zarr");

fn large() -> Folder {
    let folder = Folder::new();
    folder.ok(&["create", "s", "t", "--shape", "40,50", "--dtype", "int16", "--chunks", "7,9"]);
    folder.fill("s", "t", "<i2", "(40, 50)", &int16(0..2000));
    folder
}

#[test]
fn elements_are_elided_as_numpy_does() {
    let folder = large();
    let read = |args: &[&str]| folder.ok(&[&["read", "s", "t"], args].concat());
    let expected = "\
t  (40, 50)  int16
2_000 elements, of which some follow; --all prints all

   0    1    2 ...   47   48   49
  50   51   52 ...   97   98   99
 100  101  102 ...  147  148  149
...
1850 1851 1852 ... 1897 1898 1899
1900 1901 1902 ... 1947 1948 1949
1950 1951 1952 ... 1997 1998 1999
";
    assert_eq!(read(&["--elide"]), expected);
    assert_eq!(read(&["--elide", "--select", "::-20, :600"]).lines().count(), 2 + 2);
    // A selection is elided within itself.
    let reversed = read(&["--elide", "--select", "::-1, :"]);
    assert!(
        reversed.contains("\n1950 1951 1952 ... 1997 1998 1999\n1900 ") && reversed.ends_with(" 48   49\n"),
        "{reversed}"
    );
    // As many as numpy prints in full.
    let few = read(&["--elide", "--select", ":20, :"]);
    assert_eq!(few.lines().next(), Some("t  (20, 50)  int16"));
    assert_eq!(few.lines().count(), 2 + 20);
    // In a pipe there is all, and nothing else.
    assert_eq!(read(&[]).lines().map(|line| line.split_whitespace().count()).sum::<usize>(), 2000);
    let column = read(&["--elide", "--select", "3, :"]);
    assert!(column.starts_with("t  (50,)  int16\n\n150\n"), "{column}");
    for args in [["--elide", "--json"], ["--elide", "--as=csv"], ["--precision=2", "--as=csv"]] {
        let ran = folder.run(&[&["read", "s", "t"][..], &args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains("is of text alone"), "{}", ran.err);
    }
}

#[test]
fn the_head_is_the_first_rows() {
    let folder = large();
    let read = |args: &[&str]| folder.ok(&[&["read", "s", "t"], args].concat());
    assert_eq!(read(&["--head", "2"]), read(&["--select", ":2"]));
    assert_eq!(read(&["--head", "2", "--json"]), read(&["--select", ":2", "--json"]));
    assert_eq!(read(&["--head", "2", "--select", "::-1"]), read(&["--select", "[-1, -2]"]));
    assert_eq!(read(&["--head", "2", "--select", "[5, 1, 7], 4:6"]), read(&["--select", "[5, 1], 4:6"]));
    assert_eq!(read(&["--head", "3", "--select", "7"]), read(&["--select", "7, :3"]));
    assert_eq!(read(&["--head", "0"]), "");
    assert_eq!(read(&["--head", "100"]), read(&[]));
    let elided = read(&["--head", "25", "--elide"]);
    assert_eq!(elided.lines().next(), Some("t  (25 of 40, 50)  int16"));
    assert_eq!(elided.lines().count(), 3 + 25);
    let decoded =
        folder.ok(&["read", CLIMATE, "sst", "--head", "1", "--isel", "lat=0", "--isel", "lon=0:2", "--decode"]);
    assert!(decoded.contains("time \\ lon "), "{decoded}");
    assert_eq!(decoded.lines().count(), 4, "{decoded}");
}

/// Chunks between the ends are not read.
#[test]
fn only_what_is_shown_is_read() {
    let folder = large();
    for file in ["c/2/2", "c/3/3", "c/0/2", "c/3/0"] {
        std::fs::write(folder.path(&format!("s/t/{file}")), "torn").unwrap();
    }
    folder.ok(&["read", "s", "t", "--elide"]);
    assert_eq!(folder.run(&["read", "s", "t"]).code, Some(4));
}

#[test]
fn values_are_elided_beside_their_coordinates() {
    let folder = Folder::new();
    let read = |args: &[&str]| folder.ok(&[&["read", CLIMATE], args].concat());
    let table = read(&["sst", "--elide", "--decode"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "sst  (time 12, lat 18, lon 432)  float32  decoded");
    assert_eq!(lines[1], "93_312 elements, of which some follow; --all prints all");
    assert_eq!(lines[3..5], ["sst (K)", "time = 2006-04-16T00:00:00"]);
    assert!(lines[5].starts_with("lat \\ lon ") && lines[5].contains("  ...  "), "{table}");
    assert!(lines[9].starts_with("...  ") && lines[9].ends_with("..."), "{table}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("time = ")).count(), 6, "{table}");
    assert_eq!(lines.iter().filter(|line| **line == "...").count(), 1, "{table}");
    assert!(lines.iter().all(|line| line.len() <= 80), "{table}");
    // Values and labels are those of the whole.
    let value = |time: &str, lat: &str, lon: &str| {
        read(&["sst", "--isel", time, "--isel", lat, "--isel", lon, "--decode"])
            .lines()
            .last()
            .unwrap()
            .split("= ")
            .last()
            .unwrap()
            .to_owned()
    };
    assert!(lines.last().unwrap().ends_with(&value("time=-1", "lat=-1", "lon=-1")), "{table}");
    assert!(lines[8].ends_with(&value("time=0", "lat=2", "lon=431")), "{table}");
    assert!(table.contains("time = 2007-03-16T12:00:00"), "{table}");
    // Dimensions without a coordinate have their indices.
    folder.ok(&["create", "s", "a", "--shape", "3,2000", "--dtype", "int8", "--dims", "y,x"]);
    let indices = folder.ok(&["read", "s", "a", "--elide", "--decode", "--isel", "x=::-1"]);
    assert!(indices.lines().any(|line| line == "y \\ x  1999  1998  1997  ...  2  1  0"), "{indices}");
}

#[test]
fn floats_are_rounded() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "3", "--dtype", "float32", "--fill", "1.23456"]);
    let read = |args: &[&str]| folder.ok(&[&["read", "s", "a"], args].concat());
    assert_eq!(read(&["--precision", "2"]), "1.23\n1.23\n1.23\n");
    assert_eq!(read(&["--precision", "9", "--select", "0"]), "1.23456\n");
    assert_eq!(read(&["--precision", "0", "--select", "0"]), "1.0\n");
    let decoded = folder.ok(&[
        "read",
        CLIMATE,
        "sst",
        "--isel",
        "time=0",
        "--isel",
        "lat=0",
        "--isel",
        "lon=0",
        "--decode",
        "--precision",
        "1",
    ]);
    assert!(decoded.ends_with("sst (K) = 301.7\n"), "{decoded}");
}

/// On a terminal, which `script` makes, the same without an option.
#[test]
#[cfg(target_os = "linux")]
fn terminals_show_the_ends() {
    let folder = large();
    let zarr = env!("CARGO_BIN_EXE_zarr");
    let run = |command: &str| {
        let mut script = std::process::Command::new("script");
        script.args(["-qec", &format!("stty rows 40 cols 60; {command}"), "/dev/null"]);
        let ran = script
            .current_dir(folder.path("."))
            .env("ZARR_PAGER", "")
            .stdin(std::process::Stdio::null())
            .output()
            .ok()?;
        Some(String::from_utf8(ran.stdout).unwrap().replace("\r\n", "\n"))
    };
    // Not every system has it.
    let Some(shown) = run(&format!("{zarr} read s t")) else { return };
    if shown.is_empty() {
        return;
    }
    assert_eq!(shown, folder.ok(&["read", "s", "t", "--elide"]));
    assert_eq!(run(&format!("{zarr} read s t --all")).unwrap().lines().count(), 2 + 40);
    let table = run(&format!("{zarr} read {CLIMATE} sst --isel time=0 --isel lat=0:2 --all")).unwrap();
    assert!(table.lines().all(|line| line.len() <= 60) && table.contains("decoded"), "{table}");
}
