//! Codecs by the names that users type.

use super::elements::{TYPES, Values};
use super::{CHUNKS, SHAPE, discard, json_values, same};
use crate::Fault;
use std::path::Path;
use std::sync::Arc;
use zarr::store::{FilesystemStore, Store};
use zarr_array::{Array, NewArray};
use zarr_codec::CodecEntry;
use zarr_dtype::npy_descr;
use zarr_grid::Selection;
use zarr_json::json;
use zarr_meta::Dialect;

/// Lossy codecs: other software has to read the elements that this library reads back.
const LOSSY: [&str; 6] = ["astype", "bitround", "cast_value", "fixedscaleoffset", "quantize", "zfpy"];

/// Array with a codec that was given by a typed name, in its own folder.
pub struct Typed {
    /// Name of the folder.
    pub folder: String,
    /// Short name of the codec.
    pub codec: &'static str,
    /// Data type as it was typed.
    pub data_type: String,
    /// Dialect of the array.
    pub dialect: Dialect,
}

/// Codecs that users do not type: the codec of chunks of N5, and that of views, which occurs in no document.
const NOT_TYPED: [&str; 2] = ["n5_default", "array_view"];

/// Writes an array into `folder` for each codec that users can type, each data type and byte order, in versions 2 and 3, with a file of the
/// expected elements. Pairs that are refused are left out.
///
/// # Errors
/// A message about an array whose elements change, or about a codec without arrays.
pub fn typed(folder: &Path) -> Result<Vec<Typed>, Fault> {
    let registry = zarr::registry::default();
    let entries = || registry.codecs.iter().filter(|entry| !NOT_TYPED.contains(&entry.name));
    let mut all = Vec::new();
    for (type_name, make) in TYPES {
        let values = make();
        let own = values.data_type.to_config().short_value().to_string().trim_matches('"').to_owned();
        let big = npy_descr(&values.data_type).filter(|descr| descr.starts_with('<'));
        for data_type in [Some(own), big.map(|descr| descr.replace('<', ">"))].into_iter().flatten() {
            for dialect in [Dialect::V2, Dialect::V3] {
                for (number, entry) in entries().enumerate() {
                    let order = if data_type.starts_with('>') { "big" } else { "own" };
                    let name = format!("{}-{number}-{type_name}-{order}", dialect.name());
                    let typed =
                        Typed { folder: name, codec: entry.short_name(), data_type: data_type.clone(), dialect };
                    let about = |fault: Fault| format!("{} of {data_type} in {}: {fault}", typed.codec, dialect.name());
                    if write(&folder.join(&typed.folder), type_name, &values, &typed, entry).map_err(about)? {
                        all.push(typed);
                    }
                }
            }
        }
    }
    match entries().map(|entry| entry.short_name()).find(|name| !all.iter().any(|it| it.codec == *name)) {
        Some(name) => Err(format!("no array has the codec {name}")),
        None => Ok(all),
    }
}

/// Writes the array into its folder. Returns `false` if it is refused.
fn write(path: &Path, type_name: &str, values: &Values, typed: &Typed, entry: &CodecEntry) -> Result<bool, Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(path).map_err(|error| error.to_string())?);
    let name = typed.codec;
    let codecs = match entry.example {
        "{}" => name.to_owned(),
        // A document may have another name of it, which then stays.
        configuration => format!(r#"[{{"name": "{}", "configuration": {configuration}}}]"#, entry.name),
    };
    let new = NewArray::new(&SHAPE, &typed.data_type).chunks(&CHUNKS).dialect(typed.dialect);
    let created = new.codecs(&codecs).and_then(|new| Array::create(&store, "/", new, &zarr::registry::default()));
    let Some(array) = created.ok().filter(|array| array.data_type() == &values.data_type) else {
        discard(Some(path))?;
        return Ok(false);
    };
    // Lossy codecs do not keep all values.
    if array.write(Selection::all(), values.elements.view()).is_err() {
        discard(Some(path))?;
        return Ok(false);
    }
    let found = zarr::open(&store).array().and_then(|array| array.read_data(Selection::all())).map_err(fault)?;
    if !LOSSY.contains(&name) {
        same(name, &found, &values.elements)?;
    }
    let codec = if name == "zfpy" { "numcodecs.zfpy" } else { name };
    let expected = json!({"codec": codec, "data_type": type_name, "values": (json_values(&found))});
    std::fs::write(path.join("expected.json"), expected.to_string()).map_err(|error| error.to_string())?;
    Ok(true)
}
