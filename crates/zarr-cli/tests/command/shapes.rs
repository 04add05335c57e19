//! `zarr resize` and `zarr rename-dims`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;

fn table(dialect: &str) -> Folder {
    let folder = Folder::new();
    let args = ["create", "s", "t", "--shape", "3,4", "--dtype", "int16", "--chunks", "2,3", "--dims", "y,x"];
    folder.ok(&[&args[..], &["--dialect", dialect]].concat());
    folder.fill("s", "t", "<i2", "(3, 4)", &int16(0..12));
    folder
}

/// The error of a command that refuses, with its hint.
fn refused(folder: &Folder, args: &[&str]) -> String {
    let ran = folder.run(args);
    assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
    ran.err
}

#[test]
fn arrays_get_another_shape() {
    for dialect in ["v2", "v3"] {
        let folder = table(dialect);
        assert_eq!(folder.ok(&["resize", "s", "t", "--shape", "4,5"]), "s: /t: (3, 4) to (4, 5)\n");
        assert_eq!(folder.ok(&["read", "s", "t"]), " 0  1  2  3  0\n 4  5  6  7  0\n 8  9 10 11  0\n 0  0  0  0  0\n");
        let err = refused(&folder, &["resize", "s", "t", "--shape", "1,5"]);
        assert!(err.contains("s: /t: 3 along y would be cut off") && err.contains("hint: --shrink"), "{err}");
        assert_eq!(folder.ok(&["resize", "s", "t", "--dim", "y=1", "--dim", "x=6", "--shrink", "--quiet"]), "");
        assert_eq!(folder.ok(&["read", "s", "t"]), "0 1 2 3 0 0\n");
        assert_eq!(folder.ok(&["resize", "s", "t", "--dim", "0=2"]), "s: /t: (1, 6) to (2, 6)\n");
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let folder = table("v3");
    for (args, words) in [
        (&["--shape", "3"][..], &["found shape (3,), expected 2 dimensions", "--dim time=24"][..]),
        (&["--dim", "z=3"], &["found no dimension z of 2 (y, x)"]),
        (&["--dim", "xx=3"], &["found no dimension xx", "is \"x\" meant?"]),
        (&["--dim", "2=3"], &["found no dimension 2"]),
        (&["--dim", "x"], &["--dim x: expected a dimension and its length"]),
        (&["--dim", "x=-1"], &["--dim x=-1: expected a dimension and its length"]),
        (&["--dim", "x=5", "--dim", "1=6"], &["dimension 1 is given more than once"]),
        (&["--shape", "3,4", "--dim", "x=5"], &["cannot be used with"]),
        (&[], &["--shape"]),
    ] {
        let err = refused(&folder, &[&["resize", "s", "t"], args].concat());
        assert!(words.iter().all(|word| err.contains(word)), "{args:?}: {err}");
    }
    assert_eq!(folder.raw("s", "t"), int16(0..12));
    // A variable of a data set, whose others would have another size of the dimension.
    folder.ok(&["create", "s", "x", "--shape", "4", "--dtype", "int16", "--dims", "x"]);
    let err = refused(&folder, &["resize", "s", "t", "--dim", "x=5"]);
    assert!(err.contains("variable x has dimension x as well") && err.contains("hint: --alone"), "{err}");
    folder.ok(&["resize", "s", "t", "--dim", "y=5"]);
    folder.ok(&["resize", "s", "t", "--dim", "x=5", "--alone"]);
}

#[test]
fn dimensions_are_renamed() {
    for dialect in ["v2", "v3"] {
        let folder = table(dialect);
        folder.ok(&["create", "s", "x", "--shape", "4", "--dtype", "int16", "--dims", "x"]);
        folder.ok(&["create", "s", "other", "--shape", "2", "--dtype", "int16", "--dims", "z"]);
        let names = |path: &str| {
            let info = Value::from_json(&folder.ok(&["info", "s", path, "--json"])).unwrap();
            info.get("dimension_names").unwrap().to_string()
        };
        let ran = folder.run(&["rename-dims", "s", "--dim", "x=lon"]);
        assert_eq!((ran.code, String::from_utf8(ran.out).unwrap().as_str()), (Some(0), "s: /: renamed in /t, /x\n"));
        assert_eq!(ran.err, "hint: array x keeps its name; `zarr mv` renames it to lon\n");
        assert_eq!(
            (names("t"), names("x"), names("other")),
            (r#"["y","lon"]"#.into(), r#"["lon"]"#.into(), r#"["z"]"#.into())
        );
        // Names are exchanged at once.
        folder.ok(&["rename-dims", "s", "t", "--dim", "y=lon", "--dim", "lon=y"]);
        assert_eq!((names("t"), names("x")), (r#"["lon","y"]"#.into(), r#"["lon"]"#.into()));
        for (args, words) in [
            (&["--dim", "time=t"][..], &["found no dimension time: lon, y, z"][..]),
            (&["--dim", "lno=t"], &["is \"lon\" meant?"]),
            (&["--dim", "y=lon"], &["s: /t: two dimensions would have the name \"lon\""]),
            (&["--dim", "y=b", "--dim", "none=c"], &["found no dimension none"]),
            (&["--dim", "y"], &["expected OLD=NEW"]),
            (&["--dim", "y="], &["expected OLD=NEW"]),
        ] {
            let err = refused(&folder, &[&["rename-dims", "s"], args].concat());
            assert!(words.iter().all(|word| err.contains(word)), "{args:?}: {err}");
        }
        assert_eq!(names("t"), r#"["lon","y"]"#);
        assert_eq!(folder.raw("s", "t"), int16(0..12));
    }
}
