//! Elements and values that are read.

use super::{case, findings, is_sound, lines, member, refused, warned};
use std::fs;

/// A link of git-annex leads nowhere until its content is fetched. That is no chunk that was never written.
#[cfg(unix)]
#[test]
fn annex_links() {
    let folder = case("annex_links");
    let chunk = folder.path("store/a/1");
    let target = fs::read_to_string(&chunk).unwrap();
    fs::remove_file(&chunk).unwrap();
    std::os::unix::fs::symlink(target.trim_end(), &chunk).unwrap();
    let said = format!("a/1 is a symbolic link to {}, where there is nothing", target.trim_end());
    for args in [&["read", "store", "a"][..], &["convert", "store", "OUT"]] {
        let err = refused(&folder, 5, args);
        assert!(err.contains(&said), "{err}");
    }
    assert!(!folder.path("OUT/a/.zarray").exists());
    let found = findings(&folder, "store");
    assert!(found.len() == 1 && found[0].starts_with("error    a/1 ") && found[0].contains(&said), "{found:?}");
}

/// Members of codecs that only encoding needs stop no read, whatever they are.
#[test]
fn blosc_shuffle_bool() {
    let folder = case("blosc_shuffle_bool");
    let names = folder.files("store").into_iter().filter_map(|file| Some(file.strip_suffix("/.zarray")?.to_owned()));
    let names: Vec<String> = names.collect();
    let elements: Vec<u8> = (0..30_i32).flat_map(i32::to_le_bytes).collect();
    assert_eq!(names.len(), 26);
    for name in &names {
        assert_eq!(folder.raw("store", name), elements, "{name}");
    }
    let odd = [
        "sh_false/.zarray /compressor/shuffle: false, read as 0",
        "sh_text/.zarray /compressor/shuffle: \"shuffle\", read as GDAL means it",
        "sh_true/.zarray /compressor/shuffle: true, read as 1",
        "zstd_99/.zarray /compressor/level: 99, a level that zstd does not have; 22 is taken",
    ];
    let tree = warned(&folder, &["tree", "store"], &odd);
    for (name, shuffle) in
        [("sh_true", "shuffle"), ("sh_false", "noshuffle"), ("sh_text", "shuffle"), ("sh_null", "shuffle")]
    {
        let codec = format!("  blosc(lz4,5,{shuffle})");
        assert!(tree.iter().any(|line| line.contains(&format!(" {name} ")) && line.ends_with(&codec)), "{tree:?}");
    }
    let warns = |name: &str, warning: &str| {
        let warning = format!("{name}/.zarray /compressor/{warning}");
        warned(&folder, &["read", "store", name], &[&warning]);
    };
    warns("sh_true", "shuffle: true, read as 1");
    warns("sh_false", "shuffle: false, read as 0");
    warns("gzip_text", r#"level: expected an integer 0..9, found "5"; 1 is taken, which only encoding needs"#);
    warns("bz2_null", "level: null, read as 1");
    warns("zstd_99", "level: 99, a level that zstd does not have; 22 is taken");
    // The codecs of new documents have members of the right type and range.
    folder.ok(&["convert", "store", "OUT", "--dialect", "v3"]);
    is_sound(&folder, "OUT");
    for (name, pointer, expected) in [
        ("sh_true", "shuffle", r#""shuffle""#),
        ("sh_false", "shuffle", r#""noshuffle""#),
        ("sh_text", "shuffle", r#""shuffle""#),
        ("block_auto", "blocksize", "0"),
        ("cname_up", "cname", r#""lz4""#),
        ("clevel_10", "clevel", "5"),
        ("clevel_float", "clevel", "5"),
        ("bz2_10", "level", "1"),
        ("bz2_null", "level", "1"),
        ("gzip_true", "level", "1"),
        ("lz4_null", "acceleration", "1"),
        ("zstd_99", "level", "22"),
        ("zstd_chk0", "checksum", "false"),
    ] {
        let found = member(&folder, &format!("OUT/{name}/zarr.json"), &format!("/codecs/1/configuration/{pointer}"));
        assert_eq!(found, expected, "{name}");
    }
    for name in &names {
        assert_eq!(folder.raw("OUT", name), elements, "{name}");
    }
}

#[test]
fn bom_v2() {
    let folder = case("bom_v2");
    let marks = [".zarray", ".zattrs"].map(|name| format!("a/{name}: a byte order mark, which JSON does not have"));
    let found = warned(&folder, &["read", "store", "a"], &[&marks[0], &marks[1]]);
    assert_eq!(found, ["1", "2", "3", "4"]);
    folder.ok(&["convert", "store", "OUT", "--dialect", "v2"]);
    is_sound(&folder, "OUT");
}

/// The codec `bytes` by its name alone.
#[test]
fn bytes_bare() {
    let found = lines(&case("bytes_bare"), &["read", "store", "a", "--as", "csv"]);
    assert_eq!(found, ["0,1,2,3", "4,5,6,7", "8,9,10,11", "12,13,14,15"]);
}

/// Chunks of length 0, as old NCZarr has them for dimensions of no elements.
#[test]
fn chunks_zero() {
    let folder = case("chunks_zero");
    let warning = "FP_line/.zarray /chunks: chunks of length 0, read as 1";
    assert!(warned(&folder, &["read", "store", "FP_line"], &[warning]).is_empty());
    folder.ok(&["convert", "store", "OUT", "--dialect", "v2"]);
    assert_eq!(member(&folder, "OUT/FP_line/.zarray", "/chunks"), "[1]");
    warned(&folder, &["resize", "store", "FP_line", "--shape", "5"], &[warning]);
    assert_eq!(member(&folder, "store/FP_line/.zarray", "/chunks"), "[1]");
    assert_eq!(lines(&folder, &["read", "store", "fire_mask"]), ["0", "1", "2"]);
}

#[test]
fn codecs_empty() {
    let folder = case("codecs_empty");
    let what = "no codec turns the array into bytes; little-endian bytes are assumed (as documents of 2023 have it)";
    for name in ["u1", "u2"] {
        let warning = format!("{name}/zarr.json /codecs: {what}");
        let found = warned(&folder, &["read", "store", name, "--as", "csv", "--raw"], &[&warning]);
        assert_eq!(found, ["0,1,2,3", "4,5,6,7", "8,9,10,11"]);
    }
    folder.ok(&["convert", "store", "OUT", "--dialect", "v3"]);
    let bytes = r#"[{"name":"bytes","configuration":{"endian":"little"}}]"#;
    assert_eq!(member(&folder, "OUT/u2/zarr.json", "/codecs"), bytes);
    is_sound(&folder, "OUT");
}

/// Its elements are differences of a smaller type.
#[test]
fn delta_astype() {
    assert_eq!(lines(&case("delta_astype"), &["read", "store", "d3"]), ["100", "101", "103", "102", "110", "90"]);
}

/// No chunk is stored: elements are the fill value, in each form that it may have.
#[test]
fn fill_forms_v3() {
    let folder = case("fill_forms_v3");
    let expected = [
        ("bool_0", "true"),
        ("bool_1", "false"),
        ("bytes_b64", "010203"),
        ("bytes_list", "010203"),
        ("complex128_2", "1.5+2.5j"),
        ("complex128_3", "-Infinity+NaNj"),
        ("complex128_4", "1.0+Infinityj"),
        ("complex128_5", "NaN+0.0j"),
        ("complex64_6", "0.0+0.0j"),
        ("complex64_7", "NaN+0.0j"),
        ("dt", "NaT"),
        ("float16_10", "Infinity"),
        ("float16_11", "-Infinity"),
        ("float16_12", "0.0"),
        ("float16_13", "NaN"),
        ("float16_8", "0.0"),
        ("float16_9", "NaN"),
        ("float32_14", "NaN"),
        ("float32_15", "NaN"),
        ("float32_16", "0.0"),
        ("float64_17", "NaN"),
        ("float64_18", "NaN"),
        ("int64_19", "-9223372036854775808"),
        ("int64_20", "9223372036854775807"),
        ("raw", "00000001"),
        ("so_bare", "1.0"),
        ("st", "(1.5, NaT)"),
        ("st_alias", "(1.5, 7)"),
        ("st_b64", "(1.5, 7)"),
        ("st_bare", "(0.0, 0)"),
        ("string_22", ""),
        ("string_23", "héllo 世界"),
        ("string_24", "line1\\nline2\\t\"quoted\""),
        ("td", "420 s"),
        ("uint64_21", "18446744073709551615"),
        ("utf32", "ab"),
        ("vlb", "010203"),
    ];
    for (name, fill) in expected {
        assert_eq!(lines(&folder, &["read", "store", name]), [fill, fill], "{name}");
    }
    // The bits of these NaNs are those of the text.
    for (name, bits) in [("float16_13", vec![0x00, 0x7d]), ("float32_15", vec![0x00, 0x00, 0xa0, 0x7f])] {
        assert_eq!(folder.raw("store", name), bits.repeat(2), "{name}");
    }
    let err = refused(&folder, 4, &["read", "store", "so"]);
    assert!(err.contains(r#"so/zarr.json: /codecs/0/configuration/offset: found "5", expected a number"#), "{err}");
    let arrays = folder.files("store").len() - 1;
    assert_eq!(arrays, expected.len() + 1);
}

/// Strings and bytes of a fixed length, in shards.
#[test]
fn fixed_strings_sharded() {
    let folder = case("fixed_strings_sharded");
    assert_eq!(lines(&folder, &["read", "store", "u"]), ["a", "βγ", "", "dddd"]);
    assert_eq!(lines(&folder, &["read", "store", "s"]), ["x", "", "yz", "abc"]);
    assert_eq!(lines(&folder, &["read", "store", "v"]), ["", "x", "none", "none"]);
}

/// An array in a group in a group, whose coordinates lie in the outer one.
#[test]
fn hrrr_layout() {
    let found = lines(&case("hrrr_layout"), &["read", "store", "surface/TMP/surface/TMP", "--as", "csv"]);
    assert_eq!(found, ["273.2,274.5", "NaN,280.0"]);
}

/// Lists of numbers as elements.
#[test]
fn ragged_zarr_jl() {
    let found = lines(&case("ragged_zarr_jl"), &["read", "store", "r", "--as", "json"]);
    assert_eq!(found, ["[[1,3,5], [4], [7,9,14], []]"]);
}

/// A coordinate whose units no calendar decodes: its values are indices beside those of others.
#[test]
fn undecodable_coordinate() {
    let folder = case("undecodable_coordinate");
    let ran = folder.run(&["read", "store", "sst", "--decode"]);
    let warning = "warning: indices instead of labels: coordinate T: ";
    assert!(ran.code == Some(0) && ran.err.starts_with(warning) && ran.err.lines().count() == 1, "{}", ran.err);
    assert!(ran.err.contains("unknown unit \"months\""), "{}", ran.err);
    let out = String::from_utf8(ran.out).unwrap();
    let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows, [vec!["T", "\\", "X", "10.0", "20.0"], vec!["0", "1.5", "2.5"], vec!["1", "3.5", "NaN"]]);
    assert_eq!(lines(&folder, &["read", "store", "sst", "--as", "csv"]), ["1.5,2.5", "3.5,NaN"]);
}

/// Signed elements that `_Unsigned` says are unsigned.
#[test]
fn unsigned_decode() {
    let folder = case("unsigned_decode");
    assert_eq!(lines(&folder, &["read", "store", "rad"]), ["1.0", "51.0", "101.0", "NaN"]);
    assert_eq!(lines(&folder, &["read", "store", "cnt"]), ["0.0", "100.0", "65480.0", "NaN"]);
}

/// The fill value -1 of an unsigned type, which has the same bits as the largest number.
#[test]
fn unsigned_negative_fill() {
    let folder = case("unsigned_negative_fill");
    let warning = "qc/.zarray /fill_value: -1 for uint8, read as 255";
    let found = warned(&folder, &["read", "store", "qc", "--raw"], &[warning]);
    assert_eq!(found, ["1", "255", "3", "255", "255", "255"]);
    // As values of version 2 these are missing.
    let found = warned(&folder, &["read", "store", "qc"], &[warning]);
    assert_eq!(found, ["1.0", "NaN", "3.0", "NaN", "NaN", "NaN"]);
    folder.ok(&["convert", "store", "OUT", "--dialect", "v3"]);
    assert_eq!(member(&folder, "OUT/qc/zarr.json", "/fill_value"), "255");
    assert_eq!(lines(&folder, &["read", "OUT", "qc", "--raw"]), ["1", "255", "3", "255", "255", "255"]);
}

/// A store in a folder of the archive, and an archive with two values of a name, of which the last one counts.
#[test]
fn zip_top_and_twice() {
    let folder = case("zip_top_and_twice");
    for args in [["read", "zip:store/top.zip::/ESP.zarr/a"].as_slice(), &["read", "zip:store/twice.zip", "a"]] {
        assert_eq!(lines(&folder, args), ["1", "2", "3", "4"]);
    }
}

/// A compressor among the filters.
#[test]
fn zlib_as_filter() {
    let elements: Vec<String> = (0..20).map(|index| (index * 1000).to_string()).collect();
    let found = lines(&case("zlib_as_filter"), &["read", "store", "v", "--as", "csv"]);
    assert_eq!(found.iter().flat_map(|line| line.split(',')).collect::<Vec<_>>(), elements);
}

/// Chunks of one frame, of two, and with a frame that is skipped.
#[test]
fn zstd_frames() {
    let folder = case("zstd_frames");
    for name in ["one", "two", "skippable"] {
        assert_eq!(lines(&folder, &["read", "store", name, "--as", "csv"]), ["5,5,5,5"; 4], "{name}");
    }
}
