//! Version 0, the form that zarr-python 0.4 wrote (early 2016): one array and no hierarchy, always compressed by blosc.
//!
//! It has no specification. The document `__zmeta__` describes the array, `__zattr__` has the user's attributes if there are any, and the
//! chunks are `__zdata__/0.0.blosc`:
//!
//! ```json
//! {"chunks": [10, 10], "clevel": 3, "cname": "lz4", "dtype": "<i4", "fill_value": 42, "shape": [20, 20], "shuffle": 2}
//! ```
//!
//! The document of zarr-python 0.3 is a pickle, which is never read because it may run code.

use super::v1;
use crate::dialect::attributes;
use crate::dialect::detect::{V0_ARRAY as ARRAY, check_is_json};
use crate::dialect::rules::{Parsed, Rules};
use crate::dialect::stored_members::Members;
use crate::dialect::typestr;
use crate::dialect::{Dialect, layout, numcodecs};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, Children, Documents, Node, NodePath, Warning};
use zarr_dtype::NumpyType;
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, ParseOptions, Value, json};

/// Rules of version 0, the form before version 1.
pub(crate) struct V0;

const ATTRIBUTES: &str = "__zattr__";
const CHUNKS: &str = "__zdata__/";

/// Members of `__zmeta__`, all of them mandatory. Other members are ignored.
const MEMBERS: [&str; 7] = ["shape", "chunks", "dtype", "cname", "clevel", "shuffle", "fill_value"];

impl Rules for V0 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V0]
    }

    fn holds_one_array(&self) -> bool {
        true
    }

    fn default_codecs(&self) -> Option<Vec<NamedConfig>> {
        Some(vec![v1::default_compressor()])
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn precedes_v3(&self) -> bool {
        true
    }

    fn allows_nan_literals(&self) -> bool {
        true
    }

    fn members(&self) -> Members {
        v1::STORED
    }

    fn document_keys(&self, path: &NodePath) -> Vec<String> {
        if path.is_root() { [ARRAY, ATTRIBUTES].map(str::to_owned).into() } else { Vec::new() }
    }

    fn parse(&self, _: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        let nan_literals = ParseOptions::default().nan_literals(true);
        if let Some(bytes) = documents.get(ARRAY) {
            check_is_json(bytes)?;
        }
        let Some((value, deviations)) = documents.json(ARRAY, nan_literals, |_| true)? else { return Ok(None) };
        let value = value.without_nan_literals();
        let odd = deviations.into_iter().filter(|deviation| deviation.pointer != "/fill_value");
        let mut warnings: Vec<_> = odd.map(|deviation| Warning::of(ARRAY, deviation)).collect();
        let mut odd = Vec::new();
        let mut array = array(&At::root(&value), &mut odd).map_err(|error| error.in_document(ARRAY))?;
        warnings.extend(odd.into_iter().map(|(pointer, what)| Warning::new(ARRAY, pointer, what)));
        let attributes = attributes::read(ATTRIBUTES, documents, &mut warnings);
        let (attributes, error) =
            attributes.map_or_else(|error| (Map::new(), Some(error)), |attributes| (attributes, None));
        array.attributes = attributes;
        let mut parsed =
            Parsed::new(Dialect::V0, Node::Array(array), warnings).spelled_in(&value).with_odd_members(ARRAY, &MEMBERS);
        parsed.attributes_error = error;
        Ok(Some(parsed.with_names_by_convention((ATTRIBUTES, ""))))
    }

    fn write(&self, _: Dialect, path: &NodePath, node: &Node, _: &Documents) -> Result<Vec<(String, Map)>> {
        let array = v1::only_array("zarr-python 0.4", path, node)?;
        let mut documents = vec![(ARRAY.to_owned(), document(array)?)];
        if !array.attributes.is_empty() {
            documents.push((ATTRIBUTES.to_owned(), array.attributes.clone()));
        }
        Ok(documents)
    }

    fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
        layout::with_suffix(&layout::keys("v2", separator.unwrap_or(".")), ".blosc")
    }

    fn chunk_prefix(&self, _: &NodePath, _: &Documents) -> String {
        CHUNKS.to_owned()
    }

    fn children(&self, _: &NodePath, _: &[&str], _: &[&str], _: &Documents) -> Children {
        Children::default()
    }

    fn is_node_document(&self, _: &str, _: &Documents) -> bool {
        false
    }

    fn check_name(&self, _: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        Err(error("below the root", "the root, since a store of zarr-python 0.4 is one array"))
    }
}

fn key_encoding() -> NamedConfig {
    layout::with_suffix(&layout::keys("v2", "."), ".blosc")
}

fn array(at: &At<'_>, odd: &mut Vec<(String, String)>) -> Result<ArrayMetadata> {
    let shape = layout::shape(at)?;
    let dtype_at = at.member("dtype")?;
    let (dtype, endian) = typestr::parse(&dtype_at)?;
    if dtype == NumpyType::Object {
        return Err(Error::about(&dtype_at, ErrorKind::UnknownExtension, "a type of a fixed size"));
    }
    let chunk_grid = layout::regular(&at.member("chunks")?, &shape, dtype.size().unwrap_or(1))?;
    // Which only encoding needs.
    let member = |name: &str| at.get(name).map_or(Value::Null, |member| member.value().clone());
    let blosc = json!({
        "id": "blosc", "cname": (member("cname")), "clevel": (member("clevel")), "shuffle": (member("shuffle"))
    });
    let blosc = At::new(&blosc, "");
    for name in ["cname", "clevel", "shuffle"].into_iter().filter(|name| at.get_non_null(name).is_none()) {
        odd.push((format!("/{name}"), "missing, though the software always wrote it".to_owned()));
    }
    odd.extend(numcodecs::deviations(std::slice::from_ref(&blosc)));
    odd.extend(typestr::deviations(&dtype_at));
    let (data_type, codecs) = numcodecs::to_model(std::slice::from_ref(&blosc), &dtype, &endian)?;
    let fill_at = at.member("fill_value")?;
    let fill_value = v1::fill_to_model(&fill_at, &dtype, &endian)?;
    odd.extend(v1::fill_deviation(&fill_at, &dtype, fill_value.as_ref()));
    let extra = at.object()?.iter().filter(|(name, _)| !MEMBERS.contains(name));
    Ok(ArrayMetadata {
        shape,
        data_type,
        chunk_grid,
        chunk_key_encoding: key_encoding(),
        fill_value,
        codecs,
        storage_transformers: Vec::new(),
        dimension_names: None,
        attributes: Map::new(),
        extra: extra.map(|(name, value)| (name.to_owned(), value.clone())).collect(),
    })
}

/// Returns the document of an array, with the members sorted as by zarr-python 0.4.
fn document(array: &ArrayMetadata) -> Result<Map> {
    let no = |pointer: &str, found: String, expected: &str| {
        Err(Error::new(ErrorKind::NotExpressible, pointer, found, expected))
    };
    let dtype = typestr::from_model(&array.data_type).map_err(|error| error.below("/data_type"))?;
    if dtype == NumpyType::Object {
        return no("/data_type", array.data_type.short_value().excerpt(), "a type of a fixed size");
    }
    if array.shape.is_empty() {
        return no("/shape", "[]".to_owned(), "at least one dimension, without which a chunk has no key");
    }
    if array.chunk_key_encoding != key_encoding() {
        return no("/chunk_key_encoding", array.chunk_key_encoding.to_value().excerpt(), "keys such as 0.0.blosc");
    }
    let (order, transposes) = layout::from_model(&array.codecs, array.shape.len())?;
    if order != "C" {
        return no("/codecs/0", "the order F".to_owned(), "the order C");
    }
    let behind = array.codecs.get(transposes..).unwrap_or_default();
    let stored = numcodecs::from_model(behind, transposes, &dtype)
        .and_then(numcodecs::Stored::of_numcodecs)
        .map_err(|error| error.below("/codecs"))?;
    let blosc = stored.compressor.as_ref().filter(|codec| codec.get("id").and_then(Value::as_str) == Some("blosc"));
    let (Some(blosc), []) = (blosc, stored.filters.as_slice()) else {
        return no("/codecs", "other codecs".to_owned(), "blosc alone");
    };
    let member = |name: &str| blosc.get(name).cloned().unwrap_or_default();
    let mut map = Map::new();
    map.insert("chunks", layout::chunk_shape(&array.chunk_grid)?);
    map.insert("clevel", member("clevel"));
    map.insert("cname", member("cname"));
    map.insert("dtype", dtype.to_value(&stored.endian));
    map.insert("fill_value", v1::fill_from_model(array.fill_value.as_ref(), &dtype, &stored.endian)?);
    map.insert("shape", array.shape.clone());
    map.insert("shuffle", member("shuffle"));
    array.extra.iter().for_each(|(name, value)| drop(map.insert(name, value.clone())));
    Ok(map)
}
