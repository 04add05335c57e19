//! `zarr resize` and `zarr rename-dims`.

use crate::folder::{Folder, int16};
use zarr::meta::json::Value;
use zarr_testserver::{Bucket, TestServer};

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
        (&["--dim", "z=3"], &["found no dimension \"z\", expected one of y, x, or a number below 2"]),
        (&["--dim", "xx=3"], &["found no dimension \"xx\"", "is \"x\" meant?"]),
        (&["--dim", "2=3"], &["found no dimension \"2\""]),
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
        // A coordinate without its name would be none.
        let err = refused(&folder, &["rename-dims", "s", "--dim", "x=lon"]);
        assert!(err.contains("s: /: array x is the coordinate of dimension x, and would be of none"), "{err}");
        assert!(err.contains("hint: `zarr mv` renames the array to lon first"), "{err}");
        let err = refused(&folder, &["rename-dims", "s", "x", "--dim", "x=lon"]);
        assert!(err.contains("array x is the coordinate of dimension x"), "{err}");
        assert_eq!((names("t"), names("x")), (r#"["y","x"]"#.into(), r#"["x"]"#.into()));
        folder.ok(&["mv", "s::/x", "s::/lon"]);
        assert_eq!(folder.ok(&["rename-dims", "s", "--dim", "x=lon"]), "s: /: renamed in /lon, /t\n");
        assert_eq!(
            (names("t"), names("lon"), names("other")),
            (r#"["y","lon"]"#.into(), r#"["lon"]"#.into(), r#"["z"]"#.into())
        );
        // One name has one length, also where one array changes alone.
        for (path, dim, words) in [
            ("/", "y=z", "dimension z would have length 2 in other and 3 in t"),
            ("t", "y=z", "dimension z would have length 3 in t and 2 in other"),
            ("other", "z=lon", "dimension lon would have length"),
            ("/", "y=t", "array t would have the name of a dimension and be no coordinate of it"),
        ] {
            let err = refused(&folder, &["rename-dims", "s", path, "--dim", dim]);
            assert!(err.contains(words), "{dim}: {err}");
        }
        let err = refused(&folder, &["rename-dims", "s", "t", "--dim", "y=lon", "--dim", "lon=y"]);
        assert!(err.contains("dimension lon would have length 3 in t and 4 in lon"), "{err}");
        // Names are exchanged at once.
        folder.ok(&["create", "s", "q/a", "--shape", "3,4", "--dtype", "int16", "--dims", "y,lon"]);
        folder.ok(&["rename-dims", "s", "q/a", "--dim", "y=lon", "--dim", "lon=y"]);
        assert_eq!(names("q/a"), r#"["lon","y"]"#);
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
        assert_eq!(names("t"), r#"["y","lon"]"#);
        assert_eq!(folder.raw("s", "t"), int16(0..12));
    }
}

/// References of NCZarr stay what they are: other names beside them would contradict them.
#[test]
fn references_of_nczarr_are_not_contradicted() {
    let folder = table("v2");
    let references = r#"{"dimension_references": ["/y", "/x"], "storage": "chunked"}"#;
    folder.ok(&["attrs", "s", "t", "--set", &format!("_nczarr_array={references}")]);
    // An array before it, which stays as it is.
    folder.ok(&["create", "s", "a", "--shape", "4", "--dtype", "int16", "--dims", "x", "--dialect", "v2"]);
    for args in [&["rename-dims", "s", "--dim", "x=lon"][..], &["attrs", "s", "t", "--dims", "y,lon"]] {
        let err = refused(&folder, args);
        assert!(err.contains("s: /t: NCZarr names the dimensions by references to its groups: y, x"), "{err}");
        assert!(err.contains("hint: netCDF-C renames them"), "{err}");
    }
    let info = Value::from_json(&folder.ok(&["info", "s", "a", "--json"])).unwrap();
    assert_eq!(info.get("dimension_names").unwrap().to_string(), r#"["x"]"#);
    // The names that they are of may be given for xarray as well.
    folder.ok(&["attrs", "s", "t", "--dims", "y,x"]);
}

/// The number of nodes is known without reading what was written. Only where there was none before, nodes are looked at once more.
#[test]
fn consolidated_metadata_are_written_and_not_read_again() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let folder = table("v3");
    let endpoint = format!("endpoint={}", server.url());
    let options = ["--store-option", "anonymous=true", "--store-option", &endpoint];
    folder.ok(&[&["cp", "s", "s3://data/s.zarr"][..], &options].concat());
    let text = folder.ok(&[&["consolidate", "s3://data/s.zarr"][..], &options].concat());
    assert!(text.starts_with("s3://data/s.zarr: /: metadata of 2 nodes in "), "{text}");
    let gets = |server: &TestServer| server.log().iter().filter(|it| it.path == "/data/s.zarr/t/zarr.json").count();
    server.reset_counts();
    folder.ok(&[&["consolidate", "s3://data/s.zarr"][..], &options].concat());
    assert_eq!(gets(&server), 1);
}

/// Whether other variables have the dimensions is looked up only if it counts, and once for all of them.
#[test]
fn an_array_that_is_resized_alone_is_all_that_is_read() {
    let server = TestServer::builder().bucket("data", Bucket::s3().public()).start().unwrap();
    let folder = table("v3");
    let endpoint = format!("endpoint={}", server.url());
    // Without it the first change asks what the service keeps.
    let conditions = ["--store-option", "conditional_put=etag"];
    let options = [&["--store-option", "anonymous=true", "--store-option", &endpoint][..], &conditions].concat();
    let gets = |args: &[&str]| {
        folder.ok(&[&["cp", "s", "s3://data/s.zarr", "--overwrite"][..], &options].concat());
        server.reset_counts();
        folder.ok(&[&["resize", "s3://data/s.zarr", "t"], args, &options].concat());
        server.counts().requests()
    };
    // The array has no other variables beside it: a data set of it costs the same requests for one dimension and for two.
    let (alone, both) = (gets(&["--shape", "4,5", "--alone"]), gets(&["--shape", "4,5"]));
    let (one_alone, one) = (gets(&["--shape", "3,5", "--alone"]), gets(&["--shape", "3,5"]));
    assert!(alone < both && both - alone == one - one_alone, "{alone} {both} {one_alone} {one}");
}
