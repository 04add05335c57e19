//! Conversion of the documents of a Zarr v2 array to the document of Zarr v3.
//!
//! `cargo run -p zarr-meta --example v2_to_v3`

use zarr_meta::{Dialect, Documents, NodePath, StoredNode, documents, for_dialect};

const ZARRAY: &str = r#"{"zarr_format": 2, "shape": [365, 720], "chunks": [30, 720], "dtype": "<f4", "fill_value": "NaN",
    "order": "C", "compressor": {"id": "zlib", "level": 1}, "filters": null}"#;

fn main() -> Result<(), zarr_meta::Error> {
    let mut found = Documents::new();
    found.insert("t2m/.zarray", ZARRAY);
    found.insert("t2m/.zattrs", r#"{"units": "K", "_ARRAY_DIMENSIONS": ["time", "x"]}"#);
    let path = NodePath::parse("/t2m")?;
    let Some(v2) = StoredNode::read(Dialect::V2, path.clone(), &found)? else { return Ok(()) };

    let (v3, notes) = for_dialect(&v2.node, Dialect::V3)?;
    notes.iter().for_each(|note| println!("{note:?}"));
    let written = documents(Dialect::V3, &path, &v3, None)?;
    let text = String::from_utf8_lossy(written[0].1.as_deref().unwrap_or_default()).into_owned();
    println!("{}\n{text}", written[0].0);
    assert_eq!(written[0].0, "t2m/zarr.json");
    assert!(text.contains("\"dimension_names\"") && text.contains("numcodecs.zlib"));
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
