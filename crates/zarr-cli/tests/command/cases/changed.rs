//! Stores that are converted, copied or written again.

use super::{case, findings, is_sound, lines, member, refused, warned};
use std::fs;

/// Members that a codec does not have, and numbers of the wrong type, as GDAL, Java and Python write them.
#[test]
fn codec_members_carried() {
    let folder = case("codec_members_carried");
    let warnings = [
        "/blosc_threads: /codecs/1/configuration/nthreads: unknown member, ignored, and not written",
        "/clevel_float: /codecs/1/configuration/clevel: 5.0, read as 5, and not written",
        "/gzip_buf: /codecs/1/configuration/bufferSize: unknown member, ignored, and not written",
        "/lzma_gdal: /codecs/1/configuration/delta: unknown member, ignored, and not written",
    ];
    let blosc = r#"{"cname":"lz4","clevel":5,"shuffle":"shuffle","blocksize":0,"typesize":4}"#;
    let expected = [
        ("blosc_threads", blosc),
        ("clevel_float", blosc),
        ("gzip_buf", r#"{"level":5}"#),
        ("lzma_gdal", r#"{"format":1,"check":-1,"preset":6}"#),
    ];
    for (out, more) in [("OUT", &[][..]), ("OUT2", &["--chunks", "3,3"])] {
        warned(&folder, &[&["convert", "store", out, "--dialect", "v3"], more].concat(), &warnings);
        for (name, configuration) in expected {
            let found = member(&folder, &format!("{out}/{name}/zarr.json"), "/codecs/1/configuration");
            assert_eq!(found, configuration, "{name}");
            assert_eq!(folder.raw(out, name), folder.raw("store", name), "{name}");
        }
        is_sound(&folder, out);
    }
}

#[test]
fn dims_twice_to_v3() {
    let folder = case("dims_twice_to_v3");
    let warning = "/twice: /dimension_names: two dimensions have the name \"x\"; TensorStore 0.1.86 does not open such an array of version 3";
    warned(&folder, &["convert", "store", "OUT", "--dialect", "v3"], &[warning]);
    assert_eq!(member(&folder, "OUT/twice/zarr.json", "/dimension_names"), r#"["x","x"]"#);
    for name in ["nulls", "short", "text", "twice"] {
        assert_eq!(folder.raw("OUT", name), folder.raw("store", name), "{name}");
    }
}

/// OME-Zarr 0.4 in version 3 is none: a conversion writes 0.5.
#[test]
fn ome04_to_v3() {
    let folder = case("ome04_to_v3");
    let said = lines(&folder, &["convert", "store", "OUT", "--dialect", "v3"]);
    assert_eq!(said[1], "OME-Zarr metadata of 1 group in the form of 0.5; --literal leaves it as it is");
    assert_eq!(member(&folder, "OUT/zarr.json", "/attributes/ome/version"), r#""0.5""#);
    is_sound(&folder, "OUT");
    folder.ok(&["convert", "store", "OUT2", "--dialect", "v3", "--literal"]);
    assert_eq!(member(&folder, "OUT2/zarr.json", "/attributes/multiscales/0/version"), r#""0.4""#);
    assert!(!findings(&folder, "OUT2").is_empty());
}

/// Tables in Parquet below groups go with their groups.
#[test]
fn spatialdata_parquet_lost() {
    let folder = case("spatialdata_parquet_lost");
    folder.ok(&["convert", "store", "OUT", "--dialect", "v3"]);
    folder.ok(&["cp", "store", "OUT2"]);
    for file in ["shapes/circles/shapes.parquet", "points/tx/points.parquet/part.0.parquet"] {
        let [source, converted, copied] = ["store", "OUT", "OUT2"].map(|store| fs::read(folder.path(store).join(file)));
        let source = source.unwrap();
        assert!(!source.is_empty() && source == converted.unwrap() && source == copied.unwrap(), "{file}");
    }
    folder.ok(&["diff", "store", "OUT2"]);
    fs::remove_file(folder.path("OUT2/shapes/circles/shapes.parquet")).unwrap();
    assert_eq!(folder.run(&["diff", "store", "OUT2"]).code, Some(1));
}

/// The byte order of a struct is that of its fields, and goes into the codec.
#[test]
fn struct_big_endian() {
    let folder = case("struct_big_endian");
    lines(&folder, &["convert", "store", "OUT", "--dialect", "v3", "--quiet"]);
    for store in ["store", "OUT"] {
        assert_eq!(lines(&folder, &["read", store, "t"]), ["(1.5, -2, 3)", "(2.5, 70000, 255)"]);
    }
    assert_eq!(member(&folder, "OUT/t/zarr.json", "/codecs"), r#"[{"name":"bytes","configuration":{"endian":"big"}}]"#);
}

/// Fill values of forms that version 2 does not have are written in the form of the text.
#[test]
fn v2_deviations_rewritten_3() {
    let folder = case("v2_deviations_rewritten_3");
    // Bits of floats are of version 3.
    let err = refused(&folder, 4, &["convert", "store", "OUT", "--dialect", "v2", "--codecs", "zstd"]);
    assert!(err.contains(r#"f4hex/.zarray: /fill_value: found "0x7fc00000""#), "{err}");
    fs::remove_dir_all(folder.path("store/f4hex")).unwrap();
    folder.ok(&["convert", "store", "OUT", "--dialect", "v2", "--codecs", "zstd"]);
    for (name, expected) in [
        ("b0", "false"),
        ("b1", "true"),
        ("c8", "[1.5,0.0]"),
        ("c8s", r#"["NaN",0.0]"#),
        ("f4neg", r#""-Infinity""#),
        ("f64s", "1e20"),
        ("i16", "-9999"),
        ("i4s", "-9999"),
        ("i64", "-9223372036854775808"),
        ("u1t", "1"),
        ("u64", "18446744073709551615"),
    ] {
        assert_eq!(member(&folder, &format!("OUT/{name}/.zarray"), "/fill_value"), expected, "{name}");
        assert_eq!(folder.raw("OUT", name), folder.raw("store", name), "{name}");
    }
    is_sound(&folder, "OUT");
}

/// The member that version 2 demands is null where it was missing.
#[test]
fn v2_fill_value_missing_rewritten() {
    let folder = case("v2_fill_value_missing_rewritten");
    let missing = "MyGroup/dset1/.zarray#/fill_value  missing, read as null: elements that are not stored are undefined, and read as zero";
    assert_eq!(findings(&folder, "store"), [format!("warning  {missing} [deviation]")]);
    for (out, more) in [("OUT", &["--codecs", "zstd"][..]), ("OUT2", &[])] {
        folder.ok(&[&["convert", "store", out, "--dialect", "v2"], more].concat());
        assert_eq!(member(&folder, &format!("{out}/MyGroup/dset1/.zarray"), "/fill_value"), "null");
        is_sound(&folder, out);
    }
}

/// A group that has attributes and no document of its own.
#[test]
fn zattrs_without_zgroup() {
    let folder = case("zattrs_without_zgroup");
    let attributes = lines(&folder, &["attrs", "store"]).concat();
    assert_eq!(attributes.replace(' ', ""), r#"{"title":"kept?"}"#);
    folder.ok(&["convert", "store", "OUT", "--dialect", "v3"]);
    assert_eq!(member(&folder, "OUT/zarr.json", "/attributes"), r#"{"title":"kept?"}"#);
}
