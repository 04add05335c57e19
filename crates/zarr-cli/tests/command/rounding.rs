//! `zarr convert --keep-information` and `--max-error`: what is rounded, how far, and what is written about it.

use crate::folder::Folder;
use zarr::meta::json::Value;

/// Elements as bytes, with 8 mantissa bits of a smooth field and noise behind them.
pub(crate) fn noisy() -> Vec<u8> {
    let mut state = 1_u64;
    let mut element = |number: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let smooth = 300.0 + 100.0 * ((number % 256) as f32 / 300.0).sin() * ((number / 256) as f32 / 200.0).cos();
        f32::from_bits(smooth.to_bits() & !0x7fff | (state >> 49) as u32)
    };
    (0..256 * 256).flat_map(|number| element(number).to_le_bytes()).collect()
}

/// Elements of the array `name` of a store, rounded by `convert` with these arguments, beside the attributes of the array.
fn converted(folder: &Folder, args: &[&str]) -> Vec<(f32, f32)> {
    folder.ok(&[&["convert", "s", "r", "--overwrite"], args].concat());
    let read = |store: &str| {
        folder.ok(&["read", store, "a", "-o", "a.raw", "--as", "raw"]);
        let bytes = std::fs::read(folder.path("a.raw")).unwrap();
        bytes.chunks_exact(4).map(|item| f32::from_le_bytes(item.try_into().unwrap())).collect::<Vec<f32>>()
    };
    read("s").into_iter().zip(read("r")).collect()
}

#[test]
fn variables_are_rounded_and_coordinates_are_not() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    folder.ok(&["create", "s", "a", "--shape", "256,256", "--dtype", "float32", "--codecs", "zstd", "--dims", "y,x"]);
    folder.fill("s", "a", "<f4", "(256, 256)", &noisy());
    folder.ok(&["create", "s", "x", "--shape", "256", "--dtype", "float32", "--dims", "x"]);
    folder.fill("s", "x", "<f4", "(256,)", &noisy()[..1024]);
    folder.ok(&["create", "s", "few", "--shape", "3", "--dtype", "float32", "--dims", "z"]);
    let bits = || {
        let attributes = Value::from_json(&folder.ok(&["attrs", "r", "a", "--json"])).unwrap();
        assert_eq!(attributes.get("quantization").and_then(Value::as_str), Some("quantization_info"));
        let container = Value::from_json(&folder.ok(&["attrs", "r", "quantization_info", "--json"])).unwrap();
        assert_eq!(container.get("algorithm").and_then(Value::as_str), Some("bitround"));
        attributes.get("quantization_nsb").and_then(Value::as_u64).unwrap()
    };
    let ran = folder.run(&["convert", "s", "r", "--keep-information", "0.99"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("warning: /few: not rounded: "), "{}", ran.err);
    assert!((5..=8).contains(&bits()));
    folder.ok(&["diff", "s::/x", "r::/x"]);
    assert_eq!(folder.run(&["diff", "s::/a", "r::/a"]).code, Some(1));
    let pairs = converted(&folder, &["--max-error", "0.1", "--codecs", "zstd(1)"]);
    let most = pairs.iter().map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    // One bit less would be twice as far off.
    assert!(most > 0.025 && most <= 0.1, "{most}");
    assert_eq!(bits(), 11);
    let pairs = converted(&folder, &["--max-error", "1%"]);
    assert!(pairs.iter().all(|(a, b)| (a - b).abs() <= 0.01 * a), "{pairs:?}");
    assert_eq!(bits(), 6);
    for (args, what) in [
        (&["--max-error", "0"][..], "expected a number above 0, or a percentage"),
        (&["--max-error", "1", "--codecs", "[\"bytes\"]"], "--codecs is JSON"),
        (&["--max-error", "1", "--keep-information", "1"], "cannot be used with"),
        (&["--max-error", "1", "--part", "1/2"], "cannot be used with"),
    ] {
        let ran = folder.run(&[&["convert", "s", "t"], args].concat());
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(what), "{args:?}: {}", ran.err);
    }
}

/// Attribute of an array of the store `r`.
fn attribute(folder: &Folder, path: &str, name: &str) -> Option<Value> {
    Value::from_json(&folder.ok(&["attrs", "r", path, "--json"])).unwrap().get(name).cloned()
}

/// A store with the noisy field `a` in the group `path`, with its attributes.
fn field(folder: &Folder, path: &str, attributes: &[&str]) {
    folder.ok(&["create", "s", path, "--shape", "256,256", "--dtype", "float32", "--codecs", "zstd", "--dims", "y,x"]);
    folder.fill("s", path, "<f4", "(256, 256)", &noisy());
    attributes.iter().for_each(|attribute| drop(folder.ok(&["attrs", "s", path, "--set", attribute])));
}

#[test]
fn variables_that_others_name_are_not_rounded() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    folder.ok(&["create", "s", "g", "--group"]);
    folder.ok(&["attrs", "s", "/", "--set", "coordinates=by_group"]);
    field(&folder, "g/data", &["coordinates=above /absolute", "cell_measures=area: cell"]);
    folder.ok(&["attrs", "s", "g/data", "--set", "grid_mapping=crs: x2 y2", "--set", "face_coordinates=face"]);
    for path in ["by_group", "above", "absolute", "g/cell", "g/x2", "g/face"] {
        field(&folder, path, &[]);
    }
    field(&folder, "g/lat2", &["units=degrees_north"]);
    field(&folder, "g/lat3", &["units=degree_N"]);
    field(&folder, "g/depth", &["positive=down"]);
    field(&folder, "g/when", &["units=days since 2000-01-01"]);
    folder.ok(&["convert", "s", "r", "--max-error", "1"]);
    for path in ["by_group", "above", "absolute", "g/cell", "g/x2", "g/face", "g/lat2", "g/lat3", "g/depth", "g/when"] {
        assert_eq!(attribute(&folder, path, "quantization_nsb"), None, "{path}");
        folder.ok(&["diff", &format!("s::/{path}"), &format!("r::/{path}")]);
    }
    assert!(attribute(&folder, "g/data", "quantization_nsb").is_some());
    // Also if only the variable itself is converted.
    folder.ok(&["convert", "s", "r", "--overwrite", "--node", "/above", "--max-error", "1"]);
    assert_eq!(attribute(&folder, "above", "quantization_nsb"), None);
    folder.ok(&["convert", "s", "r", "--overwrite", "--node", "/g/cell", "--max-error", "1"]);
    assert_eq!(attribute(&folder, "g/cell", "quantization_nsb"), None);
}

#[test]
fn missing_data_stay_missing() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    // The base64 of -9999, as xarray writes it.
    field(&folder, "a", &["_FillValue=AAAAAICHw8A="]);
    let mut bytes = noisy();
    for item in bytes.chunks_exact_mut(4).step_by(5) {
        item.copy_from_slice(&(-9999.0_f32).to_le_bytes());
    }
    // NaN with all bits set, which a carry would make a zero.
    bytes[4..8].copy_from_slice(&[0xff; 4]);
    folder.fill("s", "a", "<f4", "(256, 256)", &bytes);
    let ran = folder.run(&["convert", "s", "r", "--keep-information", "0.99"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("warning: /a: not rounded: rounding to 13 bits would change NaN to 0"), "{}", ran.err);
    bytes[4..8].copy_from_slice(&300_f32.to_le_bytes());
    folder.fill("s", "a", "<f4", "(256, 256)", &bytes);
    for args in [&["--keep-information", "0.99"][..], &["--max-error", "1%"]] {
        let pairs = converted(&folder, args);
        assert_eq!(attribute(&folder, "a", "quantization_nsb"), Some(Value::from(13)), "{args:?}");
        assert!(pairs.iter().all(|(a, b)| (*a == -9999.0) == (*b == -9999.0)), "{args:?}");
    }
    let ran = folder.run(&["convert", "s", "r", "--overwrite", "--keep-information", "0.99"]);
    let expected = "note: /a: rounded to 13 bits of the mantissa that -9999, a mark of missing data, needs, which changes no element by";
    assert!(ran.err.contains(expected), "{}", ran.err);
    // Without a number there is nothing to round by.
    folder.ok(&["create", "s", "none", "--shape", "4", "--dtype", "float32", "--dims", "n"]);
    let ran = folder.run(&["convert", "s", "r", "--overwrite", "--max-error", "1"]);
    assert!(ran.err.contains("warning: /none: not rounded: only 0 pairs"), "{}", ran.err);
}

#[test]
fn bounds_hold_behind_other_codecs_or_are_refused() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    field(&folder, "a", &[]);
    for codecs in ["bitround(2),zstd(1)", "numcodecs.quantize(1),zstd(1)"] {
        let ran = folder.run(&["convert", "s", "r", "--max-error", "0.1", "--codecs", codecs]);
        assert_eq!(ran.code, Some(2), "{codecs}: {}", ran.err);
        assert!(ran.err.contains("may change rounded numbers"), "{codecs}: {}", ran.err);
        assert!(!folder.path("r").exists(), "{codecs}");
    }
    // So with a share of the information: the codec would change what was looked at.
    let ran = folder.run(&["convert", "s", "r", "--keep-information", "0.9", "--codecs", "quantize(1),zstd(1)"]);
    assert!(ran.code == Some(2) && ran.err.contains("may change rounded numbers"), "{}", ran.err);
    // A bound that needs all bits rounds nothing.
    let ran = folder.run(&["convert", "s", "r", "--max-error", "1e-9"]);
    assert!(ran.err.contains("not rounded: all 23 bits of the mantissa are needed"), "{}", ran.err);
    assert_eq!(attribute(&folder, "a", "quantization"), None);
    folder.ok(&["diff", "s", "r"]);
    // Shards and the codecs in front of them stay.
    let sharded = ["create", "t", "a", "--shape", "256,256", "--dtype", "float32", "--chunks", "64,64"];
    folder.ok(&[&sharded[..], &["--shards", "256,256", "--codecs", "zstd(1)"]].concat());
    folder.fill("t", "a", "<f4", "(256, 256)", &noisy());
    folder.ok(&["convert", "t", "r", "--overwrite", "--max-error", "0.1"]);
    let info = folder.ok(&["info", "r", "a"]);
    assert!(info.contains("Shard shape        : 256x256") && info.contains("bitround"), "{info}");
}

#[test]
fn what_describes_another_quantization_stays() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    field(&folder, "a", &[]);
    field(&folder, "b", &["quantization=quantization_info", "quantization_nsd=3"]);
    folder.ok(&["create", "s", "quantization_info", "--shape", "", "--dtype", "int8"]);
    folder.ok(&["attrs", "s", "quantization_info", "--set", "algorithm=bitgroom", "--set", "implementation=x"]);
    folder.ok(&["consolidate", "s"]);
    folder.ok(&["convert", "s", "r", "--max-error", "0.1"]);
    assert_eq!(attribute(&folder, "quantization_info", "algorithm"), Some(Value::from("bitgroom")));
    for path in ["a", "b"] {
        assert_eq!(attribute(&folder, path, "quantization"), Some(Value::from("quantization_info_2")));
    }
    assert_eq!(attribute(&folder, "quantization_info_2", "algorithm"), Some(Value::from("bitround")));
    // Consolidated metadata of the target knows it.
    folder.ok(&["consolidate", "r", "--check"]);
    assert!(folder.ok(&["tree", "r"]).contains("quantization_info_2"));
    // A rounded store is rounded again, and described by the same variable.
    folder.ok(&["convert", "r", "t", "--max-error", "1"]);
    assert!(!folder.ok(&["tree", "t"]).contains("quantization_info_3"));
    // A target whose variable of that name describes another quantization is refused before anything is written.
    folder.ok(&["create", "foreign", "/", "--group"]);
    folder.ok(&["create", "foreign", "quantization_info", "--shape", "", "--dtype", "int8"]);
    folder.ok(&["create", "u", "/", "--group"]);
    folder.ok(&["create", "u", "c", "--shape", "256,256", "--dtype", "float32"]);
    folder.fill("u", "c", "<f4", "(256, 256)", &noisy());
    let refused = folder.run(&["convert", "u", "foreign", "--node", "/c", "--max-error", "0.1"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("/quantization_info: found a node that does not describe"), "{}", refused.err);
    assert!(!folder.ok(&["tree", "foreign"]).contains(" c "), "{}", folder.ok(&["tree", "foreign"]));
    // An array without a group has no place for such a variable.
    folder.ok(&["create", "one", "/", "--shape", "256,256", "--dtype", "float32"]);
    folder.fill("one", "/", "<f4", "(256, 256)", &noisy());
    folder.ok(&["convert", "one", "r", "--overwrite", "--max-error", "0.1"]);
    assert_eq!(attribute(&folder, "/", "quantization"), None);
    assert!(folder.ok(&["info", "r"]).contains("bitround"));
}

#[test]
fn errors_are_left_out_and_parts_looked_at_alone() {
    let folder = Folder::new();
    folder.ok(&["create", "s", "/", "--group"]);
    field(&folder, "a", &[]);
    let broken = folder.path("s").join("b");
    std::fs::create_dir_all(&broken).unwrap();
    let text = std::fs::read_to_string(folder.path("s").join("a/zarr.json")).unwrap();
    std::fs::write(broken.join("zarr.json"), text.replace("\"zstd\"", "\"none_such\"")).unwrap();
    let ran = folder.run(&["convert", "s", "r", "--max-error", "0.1", "--keep-going"]);
    assert!(ran.err.contains("/b: not rounded: "), "{}", ran.err);
    assert!(attribute(&folder, "a", "quantization_nsb").is_some());
    assert_ne!(folder.run(&["convert", "s", "t", "--max-error", "0.1"]).code, Some(0));
    std::fs::remove_dir_all(broken).unwrap();
    // Elements outside of a selection do not count.
    let mut bytes = noisy();
    bytes[..4].copy_from_slice(&1e-3_f32.to_le_bytes());
    bytes[4..8].copy_from_slice(&1e-30_f32.to_le_bytes());
    folder.fill("s", "a", "<f4", "(256, 256)", &bytes);
    let part = ["convert", "s", "r", "--overwrite", "--max-error", "0.001"];
    folder.ok(&[&part[..], &["--isel", "y=1:3"]].concat());
    assert!(folder.ok(&["info", "r", "a"]).contains("bitround"));
}
