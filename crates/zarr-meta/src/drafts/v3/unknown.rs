//! Unknown extensions of the drafts: a data type without a fallback, a chunk grid, an order of elements, storage transformers.
//!
//! An array with an unknown extension can still be listed, described, copied, changed and erased. The model names an extension by the URI
//! in `extension` (or by `type` without a URI), and has the object of the document as its configuration. A data type that is a bare name
//! has that name as `data_type` in its configuration.

use super::data_type::Elements;
use super::{members, sharding};
use crate::dialect::layout;
use crate::dialect::rules::Parsed;
use crate::error::{Error, ErrorKind, Result};
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{NamedConfig, Value};

/// Name of the model's codec for an unknown order of elements.
const LAYOUT: &str = "chunk_memory_layout";

/// Member in the model's configuration of a data type that is a bare name in the document. Objects in documents have a `type` or an
/// `extension` instead.
const TYPE_NAME: &str = "data_type";

/// Unknown extensions of an array.
#[derive(Debug, Default)]
pub(crate) struct NotKnown {
    /// Error about an unknown data type whose fallback is used.
    pub(crate) fallback: Option<Error>,
    /// Error about the first extension that prevents elements from being read.
    pub(crate) unknown: Option<Error>,
}

impl NotKnown {
    /// Reads the data type at `at` by `parse`. For an unknown type the elements are taken for single bytes, and the type is returned as an
    /// extension of the model.
    pub(crate) fn data_type(
        &mut self,
        at: &At<'_>,
        parse: impl Fn(&At<'_>) -> Result<Elements>,
    ) -> Result<(Elements, Option<NamedConfig>)> {
        let error = match parse(at) {
            Ok(mut elements) => {
                self.fallback = elements.fallback.take();
                return Ok((elements, None));
            }
            Err(error) => error,
        };
        let named = match at.value().as_str() {
            Some(name) => {
                Some(NamedConfig::with(name, [(TYPE_NAME.to_owned(), Value::from(name))].into_iter().collect()))
            }
            None => named(at),
        };
        let named = self.note(error, at, named)?;
        Ok((Elements { dtype: NumpyType::Raw(1), endian: ByteOrder::Irrelevant, fallback: None }, Some(named)))
    }

    /// Reads the chunk grid at `at`, of an array of `shape` with elements of `size` bytes.
    pub(crate) fn grid(&mut self, at: &At<'_>, shape: &[u64], size: u64) -> Result<NamedConfig> {
        members::regular_grid(at, shape, size).or_else(|error| self.note(error, at, named(at)))
    }

    /// Returns the codec for the order of elements at `at`, in an array with `rank` dimensions; `None` for C order.
    pub(crate) fn layout(&mut self, at: &At<'_>, rank: usize) -> Result<Option<NamedConfig>> {
        let Some(object) = at.value().as_object() else { return layout::to_model(at, rank) };
        let error = Error::about(at, ErrorKind::UnknownExtension, "\"C\" or \"F\"");
        self.note(error, at, Some(NamedConfig::with(LAYOUT, object.clone()))).map(Some)
    }

    /// Converts the storage transformers at `at`, which make shards, to codecs and a grid, as [`sharding::to_model`] does. If a transformer
    /// or the grid is unknown, changes nothing and returns all transformers.
    pub(crate) fn transformers(
        &mut self,
        at: &At<'_>,
        grid: &mut NamedConfig,
        codecs: &mut Vec<NamedConfig>,
    ) -> Result<Vec<NamedConfig>> {
        let items = at.items()?;
        if grid.name == "regular" {
            let (mut sharded, mut shards) = (grid.clone(), codecs.clone());
            match sharding::to_model(at, &mut sharded, &mut shards) {
                Ok(()) => {
                    (*grid, *codecs) = (sharded, shards);
                    return Ok(Vec::new());
                }
                Err(error) if error.kind() == ErrorKind::UnknownExtension => {
                    self.unknown.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        items.iter().map(|item| named(item).ok_or_else(|| item.invalid("a storage transformer").into())).collect()
    }

    /// Records the error about an unknown extension, and returns the extension in the form of the model.
    ///
    /// # Errors
    /// Fails with `error` if it is of another kind, or if the extension has no form in the model.
    fn note(&mut self, error: Error, at: &At<'_>, named: Option<NamedConfig>) -> Result<NamedConfig> {
        // An extension that calls itself as what is known would be taken for that.
        let is_kept = |named: &NamedConfig| error.kind() == ErrorKind::UnknownExtension && named.name != "regular";
        let Some(named) = named.filter(is_kept) else { return Err(error) };
        let error = match at.get("extension").filter(|uri| uri.value().as_str().is_some()) {
            Some(uri) => Error::about(&uri, ErrorKind::UnknownExtension, error.expected()),
            None => error,
        };
        self.unknown.get_or_insert(error);
        Ok(named)
    }
}

impl Parsed {
    /// Records the unknown extensions of the document at `key`.
    pub(crate) fn note_not_known(&mut self, not_known: NotKnown, key: &str) {
        let in_document = |error: Error| error.in_document(key);
        self.fallback = not_known.fallback.map(in_document);
        self.unknown = not_known.unknown.map(in_document);
    }
}

/// Returns the form of an extension object in the model; `None` if it has no name.
fn named(at: &At<'_>) -> Option<NamedConfig> {
    let object = at.value().as_object()?;
    let name = ["extension", "storage_transformer", "type"].into_iter().find_map(|name| object.get(name)?.as_str())?;
    Some(NamedConfig::with(name, object.clone()))
}

/// Returns the object of an unknown extension; `None` if it was not read from a draft.
fn object(extension: &NamedConfig) -> Option<Value> {
    let names = ["extension", "storage_transformer", "type"].into_iter();
    let mut names = names.filter_map(|name| extension.configuration.get(name)?.as_str());
    (names.next() == Some(extension.name.as_str())).then(|| Value::Object(extension.configuration.clone()))
}

/// Returns the data type for a document if it is an unknown one; else `None`.
pub(crate) fn data_type(data_type: &NamedConfig) -> Option<Value> {
    let configuration = &data_type.configuration;
    let name = configuration.get(TYPE_NAME).filter(|_| configuration.len() == 1);
    match name.filter(|name| name.as_str() == Some(data_type.name.as_str())) {
        Some(name) => Some(name.clone()),
        None => object(data_type),
    }
}

/// Returns the grid for a document if it is an unknown one; else `None`.
pub(crate) fn grid(grid: &NamedConfig) -> Option<Value> {
    object(grid).filter(|_| grid.name != "regular")
}

/// Returns the order of elements for a document, and the number of codecs that express it.
///
/// # Errors
/// Fails in the same cases as [`layout::from_model`].
pub(crate) fn layout(codecs: &[NamedConfig], rank: usize) -> Result<(Value, usize)> {
    match codecs.first() {
        Some(first) if first.name == LAYOUT => Ok((Value::Object(first.configuration.clone()), 1)),
        _ => layout::from_model(codecs, rank).map(|(order, count)| (Value::from(order), count)),
    }
}

/// Returns the unknown storage transformers for a document, each as it was read; `None` if there are none.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] for a storage transformer of another dialect.
pub(crate) fn transformers(transformers: &[NamedConfig]) -> Result<Option<Value>> {
    let one = |transformer: &NamedConfig| {
        object(transformer).ok_or_else(|| {
            let found = transformer.to_value().excerpt();
            Error::new(ErrorKind::NotExpressible, "/storage_transformers", found, "a storage transformer of a draft")
        })
    };
    let list = transformers.iter().map(one).collect::<Result<Vec<_>>>()?;
    Ok((!list.is_empty()).then_some(Value::Array(list)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArrayMetadata, Dialect, Documents, NodePath, StoredNode, documents};
    use zarr_json::json;

    const OWN: &str = "https://example.org/own/1.0";

    /// The document of an array in a draft, with members changed.
    fn stored(dialect: Dialect, changes: &[(&str, Value)]) -> Documents {
        let (entry, key, document) = match dialect {
            Dialect::V3Draft2022 => (
                Some(json!({"zarr_format": "https://purl.org/zarr/spec/core/3.0", "extensions": [],
                    "metadata_encoding": {"type": "json", "metadata_key_suffix": ".json"}})),
                "meta/a.array.json",
                json!({"shape": [4], "data_type": "int32", "chunk_memory_layout": "C", "codecs": [], "fill_value": 0,
                    "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"}, "extensions": [], "attributes": {}}),
            ),
            Dialect::V3Protocol2020 => (
                Some(json!({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0", "extensions": [],
                    "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0", "metadata_key_suffix": ".json"})),
                "meta/root/a.array.json",
                json!({"shape": [4], "data_type": "<i4", "chunk_memory_layout": "C", "fill_value": 0,
                    "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"}, "extensions": [], "attributes": {}}),
            ),
            _ => (
                None,
                "meta/a.a/array.json",
                json!({"zarr_format": "http://purl.org/zarr/spec/protocol/core/3.0", "shape": [4], "data_type": "<i4",
                    "chunk_memory_layout": "C", "chunk_codecs": [], "fill_value": 0,
                    "chunk_grid": {"type": "regular", "chunk_shape": [2]}, "extensions": [], "attributes": {}}),
            ),
        };
        let mut document = document.as_object().unwrap().clone();
        changes.iter().for_each(|(name, value)| drop(document.insert(*name, value.clone())));
        let entry = entry.map(|entry| ("zarr.json".to_owned(), entry.to_string().into_bytes()));
        entry.into_iter().chain([(key.to_owned(), document.to_string().into_bytes())]).collect()
    }

    fn read(dialect: Dialect, documents: &Documents) -> StoredNode {
        StoredNode::read(dialect, NodePath::parse("/a").unwrap(), documents).unwrap().unwrap()
    }

    fn array(found: &StoredNode) -> &ArrayMetadata {
        found.node.as_array().unwrap()
    }

    /// Sets an attribute, and reads the documents again: nothing else may have changed.
    fn check_changed(found: &StoredNode, stored: &Documents) {
        let mut node = found.node.clone();
        node.attributes_mut().insert("units", "K");
        let changed = documents(found.dialect, &found.path, &node, Some(stored)).unwrap();
        let mut after = stored.clone();
        after.apply(&changed);
        let again = read(found.dialect, &after);
        assert_eq!(again.node, node);
        let member = |documents: &Documents| {
            let (document, _) =
                documents.json(found.document_key().unwrap(), zarr_json::ParseOptions::ALL, |_| true).unwrap().unwrap();
            let mut document = document.as_object().unwrap().clone();
            document.remove("attributes");
            document
        };
        assert_eq!(member(&after), member(stored));
        // And in a new hierarchy of the dialect.
        let mut after: Documents = stored
            .iter()
            .filter(|(key, _)| *key == "zarr.json")
            .map(|(key, bytes)| (key.to_owned(), bytes.to_vec()))
            .collect();
        let fresh = documents(found.dialect, &found.path, &found.node, Some(&after)).unwrap();
        after.apply(&fresh);
        assert_eq!(read(found.dialect, &after).node, found.node);
        for name in ["data_type", "codecs", "compressor", "chunk_codecs"] {
            assert_eq!(member(&after).get(name), member(stored).get(name), "{name}");
        }
        // A conversion to the same dialect changes nothing.
        let (same, notes) = crate::for_dialect_from(&found.node, found.dialect, found.dialect).unwrap();
        assert_eq!((same, notes.len()), (found.node.clone(), 0));
    }

    const DRAFTS: [Dialect; 3] = [Dialect::V3Draft2022, Dialect::V3Protocol2020, Dialect::V3Protocol2019];

    #[test]
    fn nodes_are_read_and_changed() {
        let mine = |kind: &str| json!({"extension": OWN, "type": kind, "configuration": {"a": 1}});
        for dialect in DRAFTS {
            let cases = [
                ("data_type", json!({"extension": OWN, "type": "mine", "fallback": null}), "/data_type/extension"),
                ("data_type", json!("mine"), "/data_type"),
                ("data_type", json!({"type": "mine"}), "/data_type"),
                ("chunk_grid", mine("hexagonal"), "/chunk_grid/extension"),
                ("chunk_grid", json!({"type": "hexagonal", "chunk_shape": [2]}), "/chunk_grid/type"),
                ("chunk_memory_layout", mine("hilbert"), "/chunk_memory_layout/extension"),
                ("storage_transformers", json!([(mine("mine"))]), "/storage_transformers/0/extension"),
            ];
            for (member, value, pointer) in cases {
                let is_of_2022 = dialect == Dialect::V3Draft2022;
                if is_of_2022 && value == json!({"type": "mine"})
                    || dialect == Dialect::V3Protocol2019 && member == "storage_transformers"
                {
                    continue;
                }
                let stored = stored(dialect, &[(member, value.clone())]);
                let found = read(dialect, &stored);
                let error = found.unknown.as_ref().unwrap_or_else(|| unreachable!("{dialect} {value}"));
                assert_eq!(
                    (error.kind(), error.pointer()),
                    (ErrorKind::UnknownExtension, pointer),
                    "{dialect} {value}"
                );
                assert_eq!(error.key(), found.document_key());
                let named = || value.get("extension").or_else(|| value.get("type"));
                let name = if pointer == "/data_type" { None } else { named() }.unwrap_or(&value);
                if member != "storage_transformers" {
                    assert_eq!(error.found(), name.to_string(), "{dialect} {value}");
                }
                check_changed(&found, &stored);
            }
            assert!(read(dialect, &stored(dialect, &[])).unknown.is_none());
        }
    }

    /// A codec may be published under any URI, which is its name.
    // clause: d2022-86, d2022-87
    #[test]
    fn codecs_by_their_own_uri() {
        for dialect in DRAFTS {
            let (member, codec) = match dialect {
                Dialect::V3Draft2022 => ("codecs", json!([{"type": OWN, "configuration": {"mask": 15, "id": 7}}])),
                Dialect::V3Protocol2020 => {
                    ("compressor", json!({"codec": OWN, "configuration": {"mask": 15, "id": 7}}))
                }
                _ => ("chunk_codecs", json!([{"codec": OWN, "mask": 15, "id": 7}])),
            };
            let stored = stored(dialect, &[(member, codec)]);
            let found = read(dialect, &stored);
            assert!(found.unknown.is_none());
            let last = array(&found).codecs.last().unwrap();
            assert_eq!(last.to_value(), json!({"name": OWN, "configuration": {"mask": 15, "id": 7}}), "{dialect}");
            let pointer = found.document_pointer(&format!("/codecs/{}", array(&found).codecs.len() - 1));
            assert_eq!(found.codec_uri(&pointer).as_deref(), Some(OWN), "{dialect} {pointer}");
            check_changed(&found, &stored);
        }
    }

    /// An object of numcodecs has no room for a parameter that is called as the name of the codec itself.
    #[test]
    fn a_parameter_that_numcodecs_cannot_have() {
        let node = |id: Value| {
            let document = json!({"zarr_format": 3, "node_type": "array", "shape": [4], "data_type": "int32", "fill_value": 0,
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}}, "attributes": {},
                "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "."}},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                    {"name": "numcodecs.mine", "configuration": {"id": id, "a": 1}}]});
            let documents: Documents =
                [("a/zarr.json".to_owned(), document.to_string().into_bytes())].into_iter().collect();
            read(Dialect::V3, &documents).node
        };
        let path = NodePath::parse("/a").unwrap();
        let error = documents(Dialect::V2, &path, &node(json!(7)), None).unwrap_err();
        assert_eq!((error.kind(), error.found()), (ErrorKind::NotExpressible, "a parameter named id"), "{error}");
    }

    /// An unknown codec before the codec with the byte order is a codec of arrays.
    #[test]
    fn codecs_of_arrays_by_their_own_uri() {
        let endian =
            json!({"type": "https://purl.org/zarr/spec/codecs/endian/1.0", "configuration": {"endian": "little"}});
        let stored = stored(
            Dialect::V3Draft2022,
            &[("codecs", json!([{"type": OWN}, endian, {"type": "https://example.org/bytes"}]))],
        );
        let found = read(Dialect::V3Draft2022, &stored);
        let names: Vec<_> = array(&found).codecs.iter().map(|codec| codec.name.as_str()).collect();
        assert_eq!(names, [OWN, "bytes", "https://example.org/bytes"]);
        check_changed(&found, &stored);
    }
}
