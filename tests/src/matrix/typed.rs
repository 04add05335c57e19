//! Codecs by the names that people type.

use super::elements::{TYPES, Values};
use super::{CHUNKS, SHAPE, discard, json_values, same};
use crate::Fault;
use std::path::Path;
use std::sync::Arc;
use zarr_array::{Array, NewArray};
use zarr_dtype::npy_descr;
use zarr_grid::Selection;
use zarr_meta::codec_names::{CODEC_NAMES, codec_typed};
use zarr_meta::{Dialect, json};
use zarr_store::{FilesystemStore, Store};

/// Configurations of those that need one.
const CONFIGURATIONS: &[(&str, &str)] = &[
    ("astype", r#"{"encode_dtype": "<f8"}"#),
    ("bitround", r#"{"keepbits": 7}"#),
    ("cast_value", r#"{"data_type": "float64"}"#),
    ("categorize", r#"{"labels": ["red", "grün", "a", "東"], "dtype": "|O", "astype": "|u1"}"#),
    ("conditional", r#"{"codecs": ["zlib"]}"#),
    ("fixedscaleoffset", r#"{"offset": 0, "scale": 2, "astype": "<i2"}"#),
    ("optional", r#"{"mask_codecs": ["packbits"], "data_codecs": ["bytes"]}"#),
    ("quantize", r#"{"digits": 1}"#),
    ("reshape", r#"{"shape": [-1]}"#),
    ("scale_offset", r#"{"offset": 0, "scale": 1}"#),
    (
        "sharding_indexed",
        r#"{"chunk_shape": [2, 1], "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "zlib"],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"]}"#,
    ),
    ("transpose", r#"{"order": [1, 0]}"#),
    ("vlen-array", r#"{"dtype": "<f8"}"#),
    (
        "zarrs.vlen",
        r#"{"index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "data_codecs": ["bytes"],
            "index_data_type": "uint32", "index_location": "end"}"#,
    ),
    ("zfp", r#"{"mode": "reversible"}"#),
];

/// Codecs that may lose a part of an element: others have to read what is left here.
const LOSSY: [&str; 6] = ["astype", "bitround", "cast_value", "fixedscaleoffset", "quantize", "zfpy"];

/// An array with a codec that was typed, in a folder of its own.
pub struct Typed {
    /// The folder's name.
    pub folder: String,
    /// The codec, as [`CODEC_NAMES`] has it.
    pub codec: &'static str,
    /// The data type as it was typed.
    pub data_type: String,
    /// The dialect.
    pub dialect: Dialect,
}

/// The codec that has chunks of N5 alone, for which more has to be said than its own configuration.
const NOT_TYPED: [&str; 1] = ["n5_default"];

/// Writes an array into `folder` for each codec that can be typed, each data type and byte order, in versions 2 and 3, with a file that
/// says which elements are in it. Those that are refused are left out.
///
/// # Errors
/// Says which array is not read as it was written, or that there is none of a codec.
pub fn typed(folder: &Path) -> Result<Vec<Typed>, Fault> {
    let mut all = Vec::new();
    for (type_name, make) in TYPES {
        let values = make();
        let own = values.data_type.to_config().short_value().to_string().trim_matches('"').to_owned();
        let big = npy_descr(&values.data_type).filter(|descr| descr.starts_with('<'));
        for data_type in [Some(own), big.map(|descr| descr.replace('<', ">"))].into_iter().flatten() {
            for dialect in [Dialect::V2, Dialect::V3] {
                for (number, codec) in CODEC_NAMES.iter().enumerate() {
                    let order = if data_type.starts_with('>') { "big" } else { "own" };
                    let name = format!("{}-{number}-{type_name}-{order}", dialect.name());
                    let typed = Typed { folder: name, codec: codec.typed, data_type: data_type.clone(), dialect };
                    let about = |fault: Fault| format!("{} of {data_type} in {}: {fault}", codec.typed, dialect.name());
                    if write(&folder.join(&typed.folder), type_name, &values, &typed).map_err(about)? {
                        all.push(typed);
                    }
                }
            }
        }
    }
    let registry = zarr::registry();
    let known = CODEC_NAMES.iter().filter(|codec| registry.codecs.get(codec.v3).is_some());
    match known
        .map(|codec| codec.typed)
        .find(|name| !NOT_TYPED.contains(name) && !all.iter().any(|it| it.codec == *name))
    {
        Some(name) => Err(format!("no array has the codec {name}")),
        None => Ok(all),
    }
}

/// Whether there is such an array, which then is in the folder.
fn write(path: &Path, type_name: &str, values: &Values, typed: &Typed) -> Result<bool, Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    let store: Arc<dyn Store> = Arc::new(FilesystemStore::create(path).map_err(|error| error.to_string())?);
    let name = typed.codec;
    let codecs = match CONFIGURATIONS.iter().find(|(codec, _)| *codec == name) {
        // A document may have another name of it, which then stays.
        Some((_, configuration)) => {
            let name = codec_typed(name).map_or(name, |codec| codec.v3);
            format!(r#"[{{"name": "{name}", "configuration": {configuration}}}]"#)
        }
        None => name.to_owned(),
    };
    let new = NewArray::new(&SHAPE, &typed.data_type).chunks(&CHUNKS).dialect(typed.dialect);
    let created = new.codecs_text(&codecs).and_then(|new| Array::create(&store, "/", new, &zarr::registry()));
    let Some(array) = created.ok().filter(|array| array.data_type() == &values.data_type) else {
        discard(Some(path))?;
        return Ok(false);
    };
    // Not all values are among those that lossy codecs keep.
    if array.write_from(Selection::all(), values.elements.view()).is_err() {
        discard(Some(path))?;
        return Ok(false);
    }
    let found = zarr::open_array(&store, "/").and_then(|array| array.read_data(Selection::all())).map_err(fault)?;
    if !LOSSY.contains(&name) {
        same(name, &found, &values.elements)?;
    }
    let codec = if name == "zfpy" { "numcodecs.zfpy" } else { name };
    let expected = json!({"codec": codec, "data_type": type_name, "values": (json_values(&found))});
    std::fs::write(path.join("expected.json"), expected.to_string()).map_err(|error| error.to_string())?;
    Ok(true)
}
