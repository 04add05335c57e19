//! HDF5 and netCDF-4 files as every verb has them.

use crate::folder::Folder;

/// A folder with `x.nc`, of netCDF-4, and `x.h5`.
fn folder() -> Folder {
    let folder = Folder::new();
    let cases = zarr_tests::cases("hdf5").unwrap();
    for (name, file) in [("netcdf4", "x.nc"), ("filters", "x.h5")] {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        std::fs::copy(case.url(), folder.path(file)).unwrap();
    }
    folder
}

#[test]
fn every_verb_that_reads() {
    let folder = folder();
    let tree = folder.ok(&["tree", "x.nc"]);
    assert!(tree.starts_with("x.nc  v3 group  16 arrays, 2 groups"), "{tree}");
    assert!(folder.ok(&["ls", "x.nc"]).contains("crs"));
    let ds = folder.ok(&["ds", "x.nc"]);
    for text in ["time 3", "lat 3", "2000-01-03T12:00:00"] {
        assert!(ds.contains(text), "{text}: {ds}");
    }
    assert!(folder.ok(&["ds", "x.nc", "--header"]).contains("short t(time, lat, lon)"));
    let info = folder.ok(&["info", "x.nc", "t"]);
    for text in ["int16", "bytes(little) > fletcher32 > shuffle(2) > zlib(4)", "dims (time, lat, lon)"] {
        assert!(info.contains(text), "{text}: {info}");
    }
    for args in [&["info", "x.nc", "t"][..], &["info", "x.nc"], &["info", "hdf5:x.nc"]] {
        let info = folder.ok(args);
        assert!(
            info.lines().any(|line| line.starts_with("Source ") && line.ends_with(": an HDF5 file, shown as Zarr"))
        );
    }
    let read = folder.ok(&["read", "x.nc", "texts", "--json"]);
    assert_eq!(read.split_whitespace().collect::<String>().matches("b\u{fc}").count(), 1, "{read}");
    assert_eq!(folder.ok(&["read", "x.nc/lat"]), folder.ok(&["read", "hdf5:x.nc::/lat"]));
    for verb in ["stats", "digest", "du"] {
        folder.ok(&[verb, "x.nc", "q"]);
    }
    folder.ok(&["view", "x.nc", "q"]);
    folder.ok(&["diff", "x.nc", "x.nc"]);
}

#[test]
fn converted_and_copied() {
    let folder = folder();
    for (from, to) in [("x.nc", "a.zarr"), ("x.h5", "b.zarr")] {
        folder.ok(&["convert", from, to]);
        folder.ok(&["diff", from, to]);
        assert_eq!(folder.ok(&["digest", from]), folder.ok(&["digest", to]));
    }
    folder.ok(&["cp", "x.nc", "c.zarr"]);
    folder.ok(&["diff", "x.nc", "c.zarr"]);
}

/// Objects that are left out are named, and the other nodes are there.
#[test]
fn warnings() {
    let folder = folder();
    let ran = folder.run(&["tree", "x.h5"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("/refused/blosc2: the filter blosc2 (32026) is not read"), "{}", ran.err);
}

#[test]
fn verbs_that_write_are_refused() {
    let folder = folder();
    let before = std::fs::read(folder.path("x.nc")).unwrap();
    for args in [
        &["write", "x.nc", "lat", "--value", "1"][..],
        &["attrs", "x.nc", "--set", "a=1"],
        &["rm", "x.nc", "lat"],
        &["create", "x.nc", "new", "--shape", "1", "--dtype", "int8"],
        &["mv", "x.nc::/lat", "x.nc::/b"],
        &["convert", "x.h5", "x.nc"],
    ] {
        let ran = folder.run(args);
        assert!(ran.code.is_some_and(|code| code != 0), "{args:?}");
        assert!(ran.err.contains("zarr convert"), "{args:?}: {}", ran.err);
    }
    assert_eq!(std::fs::read(folder.path("x.nc")).unwrap(), before);
}
