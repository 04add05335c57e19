//! Manifest of a folder of arrays, as `interop/manifest.py` describes it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use zarr_dtype::{DataType, npy_descr};
use zarr_json::{Map, Value};

/// Properties of one array. A property that is `None` is not given, and not compared.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Name of the array in the manifest.
    pub(crate) id: String,
    /// Path of the store, relative to the folder.
    pub(crate) store: String,
    /// Path of the array in the store.
    pub(crate) path: String,
    /// Data type of the elements, see [`type_name`].
    pub(crate) dtype: String,
    /// Length of the array along each dimension.
    pub(crate) shape: Vec<u64>,
    /// Path of the file with the elements, relative to the folder.
    pub(crate) values: String,
    /// Fill value: one element in hexadecimal, or null.
    pub(crate) fill: Option<Value>,
    /// Attributes, an object.
    pub(crate) attributes: Option<Value>,
    /// Names of dimensions: a list, or null.
    pub(crate) dimension_names: Option<Value>,
    /// Description of the storage, for people.
    pub(crate) about: String,
}

impl Line {
    fn from_json(text: &str) -> Option<Self> {
        let value = Value::from_json(text).ok()?;
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        Some(Self {
            id: text("id")?,
            store: text("store")?,
            path: text("path")?,
            dtype: text("dtype")?,
            shape: value.get("shape")?.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?,
            values: text("values")?,
            fill: value.get("fill").cloned(),
            attributes: value.get("attributes").cloned(),
            dimension_names: value.get("dimension_names").cloned(),
            about: text("about").unwrap_or_default(),
        })
    }

    fn to_json(&self) -> Value {
        let mut line = Map::new();
        for (name, text) in [
            ("id", &self.id),
            ("store", &self.store),
            ("path", &self.path),
            ("dtype", &self.dtype),
            ("values", &self.values),
        ] {
            line.insert(name, text.as_str());
        }
        line.insert("shape", self.shape.clone());
        let optional =
            [("fill", &self.fill), ("attributes", &self.attributes), ("dimension_names", &self.dimension_names)];
        for (name, value) in optional {
            if let Some(value) = value {
                line.insert(name, value.clone());
            }
        }
        line.insert("about", self.about.as_str());
        Value::Object(line)
    }
}

/// Reads the lines of the manifest in `folder`.
pub(crate) fn read(folder: &Path) -> Result<Vec<Line>, String> {
    let path = folder.join("manifest.jsonl");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let line = |text| Line::from_json(text).ok_or_else(|| format!("{}: {text}", path.display()));
    text.lines().map(line).collect()
}

/// Writes the manifest in `folder`.
pub(crate) fn write(folder: &Path, lines: &[Line]) -> Result<(), String> {
    let path = folder.join("manifest.jsonl");
    let text: String = lines.iter().map(|line| format!("{}\n", line.to_json())).collect();
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the name of a data type in the manifest: that of numpy, or that of this library for types that numpy lacks.
pub(crate) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::String => "string".to_owned(),
        DataType::Bytes { .. } => "bytes".to_owned(),
        DataType::Int4 => "int4".to_owned(),
        other => npy_descr(other).unwrap_or_else(|| other.to_string()),
    }
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
