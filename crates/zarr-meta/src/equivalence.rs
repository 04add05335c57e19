//! Canonical form of documents, to compare documents by meaning: defaults are filled in, and values have one spelling.
//!
//! Software that consolidates metadata writes the documents from its own model: it adds defaults, leaves out empty members and spells fill
//! values in its own way.

use crate::{ArrayMetadata, Dialect, Node};
use zarr_dtype::{Class, DataType, FillValue, Spelling};
use zarr_json::{Map, NamedConfig, Value};

impl Node {
    /// Returns the node as a JSON object that is equal for all documents of equal meaning: defaults of codecs and chunk keys are filled in,
    /// fill values have one spelling, and consolidated metadata is left out.
    ///
    /// ```
    /// use zarr_meta::{Dialect, Documents, NodePath, StoredNode};
    ///
    /// let read = |fill: &str, keys: &str| {
    ///     let text = format!(
    ///         r#"{{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "float32", "fill_value": {fill},
    ///         "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2]}}}},
    ///         "chunk_key_encoding": {keys}, "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}"#
    ///     );
    ///     let mut documents = Documents::new();
    ///     documents.insert("zarr.json", text.into_bytes());
    ///     let found = StoredNode::read(Dialect::V3, NodePath::root(), &documents).unwrap().unwrap();
    ///     found.node.to_canonical_value(Dialect::V3)
    /// };
    /// let default = r#"{"name": "default", "configuration": {"separator": "/"}}"#;
    /// assert!(read("1.5", r#""default""#).semantically_eq(&read("\"0x3fc00000\"", default)));
    /// assert!(!read("1.5", default).semantically_eq(&read("1.25", default)));
    /// ```
    pub fn to_canonical_value(&self, dialect: Dialect) -> Value {
        match self {
            Self::Group(group) => {
                let mut group = group.clone();
                group.consolidated = None;
                // A copy of a group has an empty one of its own (zarr-python 3), in version 2 as a member that is not known.
                group.extra.remove("consolidated_metadata");
                group.to_value()
            }
            Self::Array(array) => canonical(array, dialect).to_value(),
        }
    }
}

fn canonical(array: &ArrayMetadata, dialect: Dialect) -> ArrayMetadata {
    let mut array = array.clone();
    let data_type = DataType::from_config(&array.data_type).ok();
    if let (Some(data_type), Some(value)) = (&data_type, &array.fill_value) {
        let spelling = if dialect.has_strict_fill_values() { Spelling::Strict } else { Spelling::Lenient };
        if let Ok(fill) = FillValue::parse_as(data_type, value, spelling) {
            array.fill_value = Some(canonical_fill(data_type, &fill));
        }
    }
    let separator = match array.chunk_key_encoding.name.as_str() {
        "default" => Some("/"),
        "v2" => Some("."),
        _ => None,
    };
    if let Some(separator) = separator {
        fill_in(&mut array.chunk_key_encoding.configuration, "separator", separator);
    }
    if array.dimension_names.as_ref().is_some_and(|names| !names.is_empty() && names.iter().all(Option::is_none)) {
        array.dimension_names = None;
    }
    let item = data_type.filter(|data_type| !data_type.is_variable()).map(|data_type| data_type.item_size());
    let mut item = item;
    array.codecs.iter_mut().for_each(|codec| complete_next(codec, &mut item));
    array
}

/// Returns the fill value in one spelling. All NaNs become equal; 0.0 and -0.0, which are equal as JSON numbers, stay distinct.
fn canonical_fill(data_type: &DataType, fill: &FillValue) -> Value {
    match data_type.to_f64(fill.bytes()).filter(|_| data_type.class() == Some(Class::Float)) {
        Some(value) if value.is_nan() => Value::from("NaN"),
        Some(value) if value == 0.0 && value.is_sign_negative() => Value::from("-0.0"),
        _ => fill.to_json(data_type),
    }
}

fn fill_in(configuration: &mut Map, name: &str, value: impl Into<Value>) {
    if !configuration.contains_key(name) {
        configuration.insert(name, value);
    }
}

/// Fills in the defaults of the next codec of a list. `item` is the element size in bytes; after a filter other than `transpose` it becomes
/// unknown.
fn complete_next(codec: &mut NamedConfig, item: &mut Option<usize>) {
    complete(codec, *item);
    if codec.name != "transpose" {
        *item = None;
    }
}

/// Fills in the defaults of a codec. `item` is the element size in bytes if known.
fn complete(codec: &mut NamedConfig, item: Option<usize>) {
    let configuration = &mut codec.configuration;
    match codec.name.as_str() {
        // The order of single bytes means nothing.
        "bytes" | "endian" if item == Some(1) => drop(configuration.remove("endian")),
        "bytes" | "endian" => fill_in(configuration, "endian", "little"),
        "sharding_indexed" => {
            fill_in(configuration, "index_location", "end");
            // An index has elements of 8 bytes.
            for (name, item) in [("codecs", item), ("index_codecs", Some(8))] {
                complete_list(configuration, name, item);
            }
        }
        "zstd" | "numcodecs.zstd" => fill_in(configuration, "checksum", false),
        "blosc" | "numcodecs.blosc" => fill_in(configuration, "blocksize", 0),
        "gzip" | "numcodecs.gzip" | "numcodecs.zlib" | "numcodecs.bz2" => fill_in(configuration, "level", 1),
        "numcodecs.lz4" => fill_in(configuration, "acceleration", 1),
        "numcodecs.shuffle" => fill_in(configuration, "elementsize", 4),
        "numcodecs.delta" | "numcodecs.fixedscaleoffset" | "numcodecs.quantize" => {
            if let Some(dtype) = configuration.get("dtype").cloned() {
                fill_in(configuration, "astype", dtype);
            }
        }
        _ => {}
    }
}

/// Fills in the defaults of the codecs in the list `name` of a configuration. `item` is the element size in bytes if known.
fn complete_list(configuration: &mut Map, name: &str, item: Option<usize>) {
    let Some(list) = configuration.get(name).and_then(Value::as_array) else { return };
    let mut item = item;
    let complete = |value: &Value| match NamedConfig::from_value(value) {
        Some(mut codec) => {
            complete_next(&mut codec, &mut item);
            codec.to_value()
        }
        None => value.clone(),
    };
    let list: Vec<Value> = list.iter().map(complete).collect();
    configuration.insert(name, list);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Documents, NodePath, StoredNode};

    const V3: &str = r#"{"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "TYPE", "fill_value": FILL,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "v2"}, "codecs": CODECS}"#;
    const V2: &str = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "TYPE", "fill_value": FILL, "order": "C",
        "compressor": COMPRESSOR, "filters": FILTERS}"#;

    fn value(dialect: Dialect, text: &str, replaced: &[(&str, &str)]) -> Value {
        let text = replaced.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
        let mut documents = Documents::new();
        let key = if dialect == Dialect::V2 { ".zarray" } else { "zarr.json" };
        documents.insert(key, text.clone().into_bytes());
        let found = StoredNode::read(dialect, NodePath::root(), &documents).unwrap();
        found.unwrap_or_else(|| panic!("{text}")).node.to_canonical_value(dialect)
    }

    #[test]
    fn version_3_has_one_form() {
        let bytes = r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#;
        let shards = |codecs: &str, more: &str| {
            format!(
                r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [1], "codecs": {codecs},
                "index_codecs": {bytes}{more}}}}}]"#
            )
        };
        let of = |data_type: &str, fill: &str, codecs: &str| {
            value(Dialect::V3, V3, &[("TYPE", data_type), ("FILL", fill), ("CODECS", codecs)])
        };
        let zstd =
            |more: &str| format!(r#"[{{"name": "bytes"}}, {{"name": "zstd", "configuration": {{"level": 0{more}}}}}]"#);
        let at_end = r#", "index_location": "end""#;
        for (one, other) in [
            (of("float16", "\"0x3e00\"", bytes), of("float16", "1.5", bytes)),
            (of("float32", "\"0x7fc00001\"", bytes), of("float32", "\"NaN\"", bytes)),
            (of("float32", "9.96921e+36", bytes), of("float32", "9.969209968386869e+36", bytes)),
            (of("uint8", "0", bytes), of("uint8", "0", r#"["bytes"]"#)),
            (of("uint8", "0", &zstd("")), of("uint8", "0", &zstd(r#", "checksum": false"#))),
            (of("uint8", "0", &shards(bytes, at_end)), of("uint8", "0", &shards(r#"[{"name": "bytes"}]"#, ""))),
        ] {
            assert!(one.semantically_eq(&other), "{one} {other}");
        }
        for (one, other) in [
            (of("float32", "0.0", bytes), of("float32", "-0.0", bytes)),
            (of("int16", "0", bytes), of("int16", "0", &bytes.replace("little", "big"))),
            (of("uint8", "0", &shards(bytes, "")), of("uint8", "0", &shards(bytes, &at_end.replace("end", "start")))),
            (of("uint8", "0", &zstd("")), of("uint8", "0", &zstd(r#", "checksum": true"#))),
        ] {
            assert!(!one.semantically_eq(&other), "{one} {other}");
        }
    }

    #[test]
    fn version_2_has_one_form() {
        let of = |compressor: &str, filters: &str| {
            let replaced = [("TYPE", "<i4"), ("FILL", "0"), ("COMPRESSOR", compressor), ("FILTERS", filters)];
            value(Dialect::V2, V2, &replaced)
        };
        let zlib = r#"{"id": "zlib", "level": 1}"#;
        let delta = r#"[{"id": "delta", "dtype": "<i4"}]"#;
        let astype = r#"[{"id": "delta", "dtype": "<i4", "astype": "<i4"}]"#;
        assert!(of(zlib, delta).semantically_eq(&of(r#"{"id": "zlib"}"#, astype)));
        assert!(of("null", "[]").semantically_eq(&of("null", "null")));
        assert!(!of(zlib, delta).semantically_eq(&of(&zlib.replace('1', "2"), delta)));
        assert!(
            !of(zlib, delta).semantically_eq(&of(zlib, &astype.replace("\"astype\": \"<i4\"", "\"astype\": \"<i2\"")))
        );
    }
}
