//! Data types and codecs that other software reads, as found out by running that software.
//!
//! `readers/marks.txt` holds the table that is also in `docs/support.md`, which says how the table is made. One run writes both.

use crate::codec_facts::{NUMCODECS, codec_named};
use crate::dialect::codecs::{VIEW, chains};
use crate::{ArrayMetadata, Dialect};
use std::sync::LazyLock;
use zarr_dtype::{DataType, npy_descr};
use zarr_json::{NamedConfig, Value};

/// Codecs of numcodecs that no other software reads in version 3. For codecs that exist only in numcodecs, the table has version 2 alone;
/// zarr-python 3 reads those outside of this list in version 3 as well, under the same names.
const NOT_IN_V3: [&str; 11] = [
    "numcodecs.aec",
    "numcodecs.base64",
    "numcodecs.bitshuffle",
    "numcodecs.categorize",
    "numcodecs.json",
    "numcodecs.json2",
    "numcodecs.msgpack",
    "numcodecs.msgpack2",
    "numcodecs.pickle",
    "numcodecs.szip",
    "numcodecs.vlen-array",
];

/// Result for arrays of one data type with one codec: of Zarr v2 if the codec exists only in numcodecs, else of Zarr v3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Name of the codec with which the array is stored.
    pub codec: &'static str,
    /// Short name of the data type.
    pub data_type: &'static str,
    /// Letter in the table: `z`, `t`, `s` or `r` if other software reads such arrays, `n` if numcodecs decodes their chunks, `o` if none
    /// does.
    pub mark: char,
}

/// Returns the marks of the table, in the order of the table.
pub fn marks() -> &'static [Mark] {
    static MARKS: LazyLock<Vec<Mark>> = LazyLock::new(|| {
        let mut lines = include_str!("readers/marks.txt").lines();
        let types: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let of_codec = |line: &'static str| {
            let (codec, letters) = line.split_once(' ').unwrap_or_default();
            let letters = letters.split(' ').filter_map(|letter| letter.chars().next());
            let pairs = types.iter().copied().zip(letters).filter(|(_, mark)| *mark != '-');
            pairs.map(move |(data_type, mark)| Mark { codec, data_type, mark }).collect::<Vec<_>>()
        };
        lines.flat_map(of_codec).collect()
    });
    &MARKS
}

/// Data type or codec of an array that no other software is known to read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unread {
    /// JSON pointer to the data type or codec in [`Node::to_value`](crate::Node::to_value).
    pub pointer: String,
    /// Name of the data type or codec in the vocabulary of version 3.
    pub name: String,
    /// Reason why no other software is known to read the array, in words.
    pub what: String,
}

/// Returns the data type and codecs of an array in `dialect` that no other software reads, or that are unknown. Empty in dialects other
/// than versions 2 and 3, since there is no table for them.
///
/// If no other software reads the data type, the codecs are not checked.
///
/// ```
/// use zarr_json::json;
/// use zarr_meta::{Dialect, NodePath, Documents, StoredNode, readers};
///
/// let mut documents = Documents::new();
/// documents.insert(
///     ".zarray",
///     r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "|O", "fill_value": null, "order": "C",
///         "compressor": null, "filters": [{"id": "json2"}]}"#,
/// );
/// let found = StoredNode::read(Dialect::V2, NodePath::root(), &documents)?.expect("an array");
/// let array = found.node.as_array().expect("an array");
/// assert!(readers::unread(array, Dialect::V2).is_empty());
/// assert_eq!(readers::unread(array, Dialect::V3)[0].name, "v2_object");
/// # Ok::<(), zarr_meta::Error>(())
/// ```
pub fn unread(array: &ArrayMetadata, dialect: Dialect) -> Vec<Unread> {
    if !dialect.is_v3() && !dialect.is_v2() {
        return Vec::new();
    }
    if let Some(what) = data_type(&array.data_type, dialect) {
        let name = array.data_type.name.clone();
        return vec![Unread { pointer: "/data_type".to_owned(), name, what }];
    }
    let mut unread = Vec::new();
    codecs(&array.codecs, short_name(&array.data_type), dialect, "/codecs", &mut unread);
    unread
}

/// Returns why no other software reads the data type; `None` if some software does.
fn data_type(of: &NamedConfig, dialect: Dialect) -> Option<String> {
    let name = &of.name;
    let Some(short) = short_name(of) else {
        return Some(format!("data type {name} is not known, nor whether other software reads it in Zarr {dialect}"));
    };
    let is_read = match dialect.is_v3() {
        // In arrays of version 3, which those of other codecs of numcodecs are not.
        true => {
            marks().iter().any(|mark| mark.data_type == short && !is_of_numcodecs(mark.codec) && is_read(mark.mark))
        }
        // Of numpy's types zarr-python 2 has all.
        false => DataType::from_config(of).is_ok_and(|known| known.is_variable() || npy_descr(&known).is_some()),
    };
    if !is_read {
        return Some(format!("no other software is known that reads data type {name} in Zarr {dialect}"));
    }
    inner_types(of).iter().find_map(|inner| data_type(inner, dialect))
}

/// Adds the codecs of a chain that no other software reads to `unread`. `data_type` is the short name of the element type, if known.
fn codecs(chain: &[NamedConfig], data_type: Option<&str>, dialect: Dialect, pointer: &str, unread: &mut Vec<Unread>) {
    for (index, at) in chain.iter().enumerate() {
        let pointer = format!("{pointer}/{index}");
        if let Some(what) = codec(&at.name, data_type, dialect) {
            unread.push(Unread { pointer, name: at.name.clone(), what });
            continue;
        }
        // Filters of numcodecs that the model has as one codec.
        for (member, inner) in chains(at).filter(|_| at.name != VIEW) {
            // Indexes and masks are of other types.
            let data_type = data_type.filter(|_| ["codecs", "data_codecs"].contains(&member));
            codecs(&inner, data_type, dialect, &format!("{pointer}/configuration/{member}"), unread);
        }
    }
}

/// Returns why no other software reads the codec `name` with elements of `data_type`; `None` if some software does.
fn codec(name: &str, data_type: Option<&str>, dialect: Dialect) -> Option<String> {
    let Some(known) = codec_named(name) else {
        let why =
            format!("codec {name} is not known, nor whether other software has it by that name in Zarr {dialect}");
        return (name != VIEW).then_some(why);
    };
    let unread = |of: &str| Some(format!("no other software is known that reads codec {name}{of} in Zarr {dialect}"));
    match (dialect.is_v3(), is_of_numcodecs(known.v3)) {
        // numcodecs has all that have an id, and byte orders are members of the document.
        (false, _) => None,
        (true, true) if NOT_IN_V3.contains(&known.v3) => unread(""),
        (true, true) => None,
        // Experiments of the crate zarrs, which has them.
        (true, false) if known.v3.starts_with("zarrs.") => None,
        (true, false) => {
            let of_codec = || marks().iter().filter(|mark| known.is_called(mark.codec));
            match of_codec().find(|mark| Some(mark.data_type) == data_type) {
                Some(pair) if is_read(pair.mark) => None,
                Some(pair) => unread(&format!(" of {}", pair.data_type)),
                // Another codec in front makes elements of another type.
                None if of_codec().any(|mark| is_read(mark.mark)) => None,
                None => unread(""),
            }
        }
    }
}

/// Returns whether `mark` means that other software reads such arrays.
fn is_read(mark: char) -> bool {
    matches!(mark, 'z' | 't' | 's' | 'r')
}

fn is_of_numcodecs(name: &str) -> bool {
    name.starts_with(NUMCODECS) && name != "numcodecs.bitround"
}

/// Returns the name that the table uses for a data type; `None` if the type is unknown.
fn short_name(data_type: &NamedConfig) -> Option<&'static str> {
    let name = match data_type.name.as_str() {
        // A type that is defined elsewhere.
        "optional" | "zarrs.optional" => return Some("optional"),
        _ => DataType::from_config(data_type).ok()?.to_config().name,
    };
    let short = match name.as_str() {
        "numpy.datetime64" => "datetime64",
        "numpy.timedelta64" => "timedelta64",
        "bytes" => "variable_length_bytes",
        "structured" => "struct",
        "complex_float32" => "complex64",
        "complex_float64" => "complex128",
        name if name.strip_prefix('r').is_some_and(|bits| bits.parse::<u64>().is_ok()) => "r24",
        name => name,
    };
    marks().iter().map(|mark| mark.data_type).find(|known| *known == short)
}

/// Returns the data types of the fields of a struct type; empty for other types.
fn inner_types(data_type: &NamedConfig) -> Vec<NamedConfig> {
    let configuration = &data_type.configuration;
    let fields = configuration.get("fields").and_then(Value::as_array).unwrap_or_default();
    let of_fields = fields.iter().filter_map(|field| match field.as_array() {
        // As old documents have it: a name and a type.
        Some(pair) => pair.get(1),
        None => field.get("data_type"),
    });
    of_fields.filter_map(NamedConfig::from_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(data_type: &str, codecs: &str) -> ArrayMetadata {
        let config = |json: &str| NamedConfig::from_value(&Value::from_json(json).unwrap()).unwrap();
        let codecs = Value::from_json(codecs).unwrap();
        let codecs = codecs.as_array().unwrap().iter().map(|codec| NamedConfig::from_value(codec).unwrap()).collect();
        let grid = config(r#"{"name": "regular", "configuration": {"chunk_shape": [2]}}"#);
        ArrayMetadata::new(vec![4], config(data_type), grid, NamedConfig::new("default"), None, codecs)
    }

    fn names(data_type: &str, codecs: &str, dialect: Dialect) -> Vec<String> {
        let unread = unread(&array(data_type, codecs), dialect);
        unread.into_iter().map(|unread| format!("{} {}", unread.pointer, unread.name)).collect()
    }

    #[test]
    fn usual_arrays_have_readers() {
        let shard = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [1], "codecs": ["bytes", "zstd"],
            "index_codecs": ["bytes", "crc32c"]}}]"#;
        for data_type in [r#""float32""#, r#""bool""#, r#""uint2""#, r#""r16""#, r#""r40""#] {
            for codecs in [r#"["bytes", "zstd"]"#, r#"["bytes", "numcodecs.gzip"]"#, shard] {
                assert_eq!(names(data_type, codecs, Dialect::V3), [""; 0], "{data_type} {codecs}");
            }
        }
        assert_eq!(names(r#""string""#, r#"["vlen-utf8", "gzip"]"#, Dialect::V3), [""; 0]);
        assert_eq!(names(r#""v2_object""#, r#"["numcodecs.pickle"]"#, Dialect::V2), [""; 0]);
        assert_eq!(names(r#""float64""#, r#"["bytes", "numcodecs.zlib"]"#, Dialect::V2), [""; 0]);
        let time = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
        assert_eq!(names(time, r#"["bytes"]"#, Dialect::V3), [""; 0]);
    }

    #[test]
    fn types_and_codecs_without_readers_are_named() {
        assert_eq!(names(r#""v2_object""#, r#"["numcodecs.json2"]"#, Dialect::V3), ["/data_type v2_object"]);
        let ragged = r#"{"name": "vlen-array", "configuration": {"data_type": "float64"}}"#;
        assert_eq!(names(ragged, r#"["numcodecs.vlen-array"]"#, Dialect::V3), ["/data_type vlen-array"]);
        assert_eq!(names(ragged, r#"["numcodecs.vlen-array"]"#, Dialect::V2), [""; 0]);
        // In version 2 numpy's types are all that others have.
        assert_eq!(names(r#""bfloat16""#, r#"["bytes", "numcodecs.zlib"]"#, Dialect::V2), ["/data_type bfloat16"]);
        assert_eq!(names(r#""bfloat16""#, r#"["bytes"]"#, Dialect::V3), [""; 0]);
        assert_eq!(names(r#""mine""#, r#"["bytes"]"#, Dialect::V3), ["/data_type mine"]);
        let unknown = r#"["bytes", "numcodecs.imagecodecs_jpeg2k"]"#;
        assert_eq!(names(r#""uint8""#, unknown, Dialect::V3), ["/codecs/1 numcodecs.imagecodecs_jpeg2k"]);
        let shard = r#"[{"name": "sharding_indexed", "configuration": {"codecs": ["bytes", "conditional"]}}]"#;
        assert_eq!(names(r#""uint8""#, shard, Dialect::V3), ["/codecs/0/configuration/codecs/1 conditional"]);
        // A struct is read where its fields are.
        let fields = r#"[{"name": "a", "data_type": "int8"}, {"name": "b", "data_type": "float32"}]"#;
        let record = format!(r#"{{"name": "struct", "configuration": {{"fields": {fields}}}}}"#);
        assert_eq!(names(&record, r#"["bytes"]"#, Dialect::V3), [""; 0]);
    }

    #[test]
    fn of_drafts_nothing_is_said() {
        assert_eq!(names(r#""v2_object""#, r#"["numcodecs.json2"]"#, Dialect::V3Draft2022), [""; 0]);
        assert_eq!(names(r#""mine""#, r#"["yours"]"#, Dialect::V3Protocol2020), [""; 0]);
    }
}
