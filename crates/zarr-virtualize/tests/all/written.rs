//! References that were written can be read again.

use super::*;
use zarr_hierarchy::ErrorKind;
use zarr_meta::Dialect;
use zarr_references::ReferencesOptions;
use zarr_virtualize::{WriteOptions, join, write_json};

/// Returns the store of the references to all files of the set `set`, and the references as JSON.
fn written(set: &str, options: &JoinOptions, dialect: Dialect, inline: u64) -> (Arc<dyn Store>, String) {
    let names = names(&expected(set));
    written_of(&names.iter().map(String::as_str).collect::<Vec<_>>(), options, dialect, inline)
}

/// Returns the store of the references to the files `names`, and the references as JSON.
fn written_of(names: &[&str], options: &JoinOptions, dialect: Dialect, inline: u64) -> (Arc<dyn Store>, String) {
    let files = files();
    let joined = join(&inputs(&files, names), &registry(), options).expect("joined");
    let joined = joined.in_dialect(dialect).expect("in the dialect");
    let mut options = WriteOptions::new(|file| Ok(file.key().to_string()));
    options.inline = inline;
    options.inline_arrays.clone_from(&joined.coordinates);
    let mut json = Vec::new();
    write_json(&joined.store, &options, &mut json).expect("written");
    drop(options);
    let key = Key::new("refs.json").expect("a key");
    files.set_all(&key, &json).expect("set");
    let store = zarr_references::open(files, key, &ReferencesOptions::default()).expect("references");
    (Arc::new(store), String::from_utf8(json).expect("a text"))
}

#[test]
fn references_have_the_elements_of_the_files() {
    for (set, options) in [
        ("alike", along_time().values(0)),
        ("alike", along_time()),
        ("classic", along_time()),
        ("uneven", along_time()),
    ] {
        for dialect in [Dialect::V2, Dialect::V3] {
            for inline in [0, 500] {
                let (store, text) = written(set, &options, dialect, inline);
                check(&store, &expected(set), &[]);
                let first = if dialect == Dialect::V2 { "\"lat/0\":\"base64:" } else { "\"lat/c/0\":\"base64:" };
                assert!(text.contains(first), "{set}: {text}");
                assert_eq!(text.contains(":[\""), inline == 0, "{set}");
            }
        }
    }
}

#[test]
fn documents_are_those_of_xarray() {
    let (store, text) = written("alike", &along_time().values(0), Dialect::V2, 0);
    let attributes = store.get_all(&Key::new("t/.zattrs").expect("a key")).expect("get").expect("a document");
    let attributes = Value::from_json(&String::from_utf8_lossy(&attributes)).expect("JSON");
    assert_eq!(attributes.get("_ARRAY_DIMENSIONS").map(Value::to_string).as_deref(), Some(r#"["time","lat","lon"]"#));
    assert_eq!(attributes.get("units").and_then(Value::as_str), Some("K"));
    // Two chunks of two days in each file.
    for (chunk, file) in [("t/0.0.0", "a.nc"), ("t/1.0.0", "a.nc"), ("t/2.0.0", "b.nc"), ("t/5.0.0", "c.nc")] {
        assert!(text.contains(&format!("\"{chunk}\":[\"{file}\",")), "{text}");
    }
}

#[test]
fn too_many_bytes_in_references_are_refused() {
    let files = files();
    let joined = join(&[input(&files, "a.nc")], &registry(), &JoinOptions::default()).expect("joined");
    let mut options = WriteOptions::new(|file| Ok(file.key().to_string()));
    options.max_inline = 8;
    let error = write_json(&joined.store, &options, &mut Vec::new()).expect_err("refused").to_string();
    assert!(error.starts_with("a.nc: key ") && error.contains("expected at most 8, which is the limit"), "{error}");
    for (address, expected) in [("a{{b}}.nc", "begins a template"), ("zip::a.nc", "between two addresses")] {
        let mut options = WriteOptions::new(|_| Ok(address.to_owned()));
        options.inline = 0;
        let error = write_json(&joined.store, &options, &mut Vec::new()).expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn chunks_of_several_lengths_are_read_again() {
    let options = along_time().values(0).variables(vec!["t".to_owned()]).rectilinear(true);
    let (store, text) = written_of(&["a.nc", "bad_chunk.nc"], &options, Dialect::V3, 0);
    assert!(text.contains("rectilinear") && text.contains("\"t/c/2/0/0\":[\"bad_chunk.nc\","), "{text}");
    let expected: Vec<f32> = (0..96_u8).map(|number| f32::from(number) / 7.0).collect();
    let t = Array::open(&store, "/t", &registry()).expect("an array");
    assert_eq!(t.read::<f32>(..).expect("elements"), expected);
    // Zarr v2 has no such grid.
    let files = files();
    let joined = join(&inputs(&files, &["a.nc", "bad_chunk.nc"]), &registry(), &options).expect("joined");
    let error = joined.in_dialect(Dialect::V2).expect_err("refused");
    assert!(error.to_string().contains("/t: /chunk_grid") && error.kind() == ErrorKind::NotExpressible, "{error}");
}
