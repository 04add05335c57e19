//! `zarr bench-codecs`.

use crate::folder::{Folder, int16};
use crate::rounding::noisy;
use zarr::meta::json::Value;

#[test]
fn codecs_are_measured_and_one_is_recommended() {
    let folder = Folder::new();
    for dialect in ["v3", "v2"] {
        folder.ok(&[
            "create",
            dialect,
            "a",
            "--shape",
            "4000",
            "--dtype",
            "int16",
            "--chunks",
            "1000",
            "--codecs",
            "none",
            "--dialect",
            dialect,
        ]);
        folder.fill(dialect, "a", "<i2", "(4000,)", &int16((0..4000).map(|at| at / 50)));
        let out = folder.ok(&["bench-codecs", dialect, "a", "--time", "0", "--sample", "4KiB", "--bandwidth", "1KB"]);
        assert!(out.starts_with("/a: 3.9 KiB in 2 chunks, on one thread\n"), "{out}");
        for name in ["none", "zstd(1)", "blosc(lz4,5,bitshuffle)", "gzip(5)", "pcodec"] {
            assert!(out.lines().any(|line| line.starts_with(name)), "{name}: {out}");
        }
        assert!(out.contains("recommended") && out.contains("from a storage of 0.001 MB/s"), "{out}");
        // What it says makes an array.
        let last = out.lines().last().unwrap();
        let codecs = last.split_once("--codecs '").and_then(|(_, codecs)| codecs.strip_suffix('\'')).unwrap();
        folder.ok(&[
            "create", dialect, "b", "--shape", "4000", "--dtype", "int16", "--chunks", "1000", "--codecs", codecs,
        ]);
        folder.fill(dialect, "b", "<i2", "(4000,)", &int16(0..4000));
    }
    let json = folder.ok(&[
        "bench-codecs",
        "v3",
        "a",
        "--codecs",
        "zstd(5)",
        "--codecs",
        "bitround(1)",
        "--time",
        "0",
        "--json",
    ]);
    let found = Value::from_json(&json).unwrap();
    let results = found.get("results").unwrap().as_array().unwrap();
    assert_eq!(results.len(), 3);
    assert!(results[..2].iter().any(|result| result.get("codecs") == found.get("recommended")), "{json}");
    assert_eq!(folder.run(&["bench-codecs", "v3", "a", "--codecs", "zstt"]).code, Some(2));
}

/// A comma makes a chain, and was taken for what is between codecs to compare.
#[test]
fn a_chain_of_two_compressors_is_told_from_two_chains() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "1000", "--dtype", "int16", "--codecs", "none"]);
    folder.fill("s", "a", "<i2", "(1000,)", &int16(0..1000));
    let bench = |codecs: &[&str]| {
        let codecs = codecs.iter().flat_map(|codecs| ["--codecs", codecs]).collect::<Vec<_>>();
        let ran = folder.run(&[&["bench-codecs", "s", "a", "--time", "0"], &codecs[..]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        (String::from_utf8(ran.out).unwrap(), ran.err)
    };
    let (out, err) = bench(&["zstd(1),zstd(9)"]);
    assert!(out.lines().any(|line| line.starts_with("zstd(1),zstd(9) ")), "{out}");
    let hint =
        "hint: zstd(1),zstd(9) is one chain, which compresses what is compressed already; to compare its codecs: ";
    assert_eq!(err, format!("{hint}--codecs 'zstd(1)' --codecs 'zstd(9)'\n"));
    let (out, err) = bench(&["shuffle(2),zstd(1),crc32c", "zstd(9)", "none"]);
    let named = out.lines().filter(|line| line.ends_with("recommended") || line.contains("MB/s")).count();
    assert!(named >= 4, "{out}");
    assert_eq!(err, "");
}

#[test]
fn codecs_that_lose_information_are_not_recommended() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "100", "--dtype", "float32", "--codecs", "none"]);
    let items: Vec<u8> = (0..100).flat_map(|at| (at as f32 / 7.0).to_le_bytes()).collect();
    folder.fill("s", "a", "<f4", "(100,)", &items);
    let out = folder.ok(&[
        "bench-codecs",
        "s",
        "a",
        "--codecs",
        "bitround(1),zstd(9)",
        "--codecs",
        "none",
        "--time",
        "0",
        "--bandwidth",
        "1KB",
    ]);
    let line = |name: &str| out.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line("bitround(1),zstd(9)").contains("  lossy, error <= "), "{out}");
    // The array has these codecs now, and keeps them.
    assert!(line("none (now)").ends_with("recommended"), "{out}");
    assert_eq!(out.lines().last(), Some("Read in the shortest time from a storage of 0.001 MB/s: as it is"));
}

#[test]
fn elements_are_rounded_as_their_information_allows() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "a", "--shape", "256,256", "--dtype", "float32", "--codecs", "zstd", "--dims", "y,x"]);
    folder.fill("s", "a", "<f4", "(256, 256)", &noisy());
    // So slow a storage that the size alone decides.
    let bench = ["bench-codecs", "s", "a", "--time", "0", "--bandwidth", "1KB", "--keep-information", "0.99"];
    let bench = [&bench[..], &["--codecs", "zstd(3)"]].concat();
    let out = folder.ok(&bench);
    assert!(out.starts_with("99 % of the information is in sign, exponent and "), "{out}");
    let found = Value::from_json(&folder.ok(&[&bench[..], &["--json"]].concat())).unwrap();
    let information = found.get("information").unwrap();
    let bits = information.get("keepbits").and_then(Value::as_u64).unwrap();
    assert!((5..=8).contains(&bits), "{information}");
    let rounded = &found.get("results").unwrap().as_array().unwrap()[1];
    assert_eq!(rounded.get("given").and_then(Value::as_str), Some(format!("bitround({bits}),zstd(3)").as_str()));
    let error = rounded.get("max_relative_error").and_then(Value::as_f64).unwrap();
    assert!(error > 0.0 && error <= 0.5_f64.powi(bits as i32 + 1), "{error}");
    assert!(rounded.get("ratio").and_then(Value::as_f64).unwrap() > 2.0, "{rounded}");
    assert_eq!(rounded.get("codecs"), found.get("recommended"));
    // What is recommended makes an array.
    let last = out.lines().last().unwrap();
    let codecs = last.split_once("--codecs '").and_then(|(_, codecs)| codecs.strip_suffix('\'')).unwrap();
    folder.ok(&["convert", "s", "t", "--codecs", codecs]);
    folder.ok(&["create", "s", "b", "--shape", "9", "--dtype", "int16"]);
    let ran = folder.run(&["bench-codecs", "s", "a", "--keep-information", "0.99", "--codecs", "[\"bytes\"]"]);
    assert!(ran.code == Some(2) && ran.err.contains("--codecs is JSON"), "{}", ran.err);
    for (array, share, what) in [
        ("b", "0.99", "elements are no floating-point numbers"),
        ("a", "1.5", "expected a share"),
        ("a", "0", "expected a share"),
    ] {
        let ran = folder.run(&["bench-codecs", "s", array, "--keep-information", share]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(what), "{}", ran.err);
    }
}
