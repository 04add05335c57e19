//! Positions of values of the model in the document that the model was read from.

use crate::dialect::stored_members::{CodecList, Codecs};
use crate::dialect::table::rules;
use crate::documents::parse_document;
use crate::{StoredNode, entry_point_key};
use zarr_json::{NamedConfig, ParseOptions, Value};

/// Codec as a document stores it, with its position.
struct Stored<'d> {
    pointer: String,
    value: &'d Value,
    /// Whether the parameters are in a member `configuration`, and not beside the codec's name.
    has_configuration: bool,
}

impl StoredNode {
    /// Returns the key of the main document of the node; `None` if the node has no document of its own.
    pub fn document_key(&self) -> Option<&str> {
        let entry = entry_point_key(self.dialect);
        self.own_documents().find(|key| Some(*key) != entry).or_else(|| self.own_documents().next())
    }

    /// Returns the JSON pointer into this array's document for the value at `pointer` in [`Node::to_value`](crate::Node::to_value). They
    /// differ because older dialects have other members, and because the model has codecs that documents leave out. For a value without an
    /// exact position the result points to the member that contains the value.
    pub fn document_pointer(&self, pointer: &str) -> String {
        let Some(rest) = pointer.strip_prefix("/codecs/") else { return self.member(pointer) };
        let options = ParseOptions::ALL;
        let document = self.document_key().and_then(|key| Some((key, self.documents.get(key)?)));
        let document = document.and_then(|(key, bytes)| parse_document(key, bytes, options, |_| true).ok());
        let (Some((document, _)), Some(array)) = (document, self.node.as_array()) else { return pointer.to_owned() };
        let codecs = match rules(self.dialect).members().codecs {
            Codecs::AsInModel => {
                let stored = items(document.get("codecs"), "/codecs", true);
                return in_list(&array.codecs, &stored, None, "/codecs", rest);
            }
            #[cfg(feature = "drafts")]
            Codecs::One { name, parameters } => return if rest.contains('/') { parameters } else { name }.to_owned(),
            Codecs::List(codecs) => codecs,
        };
        let (stored, list) =
            (items(at(&document, codecs.list), codecs.list, codecs.has_configurations), codecs.otherwise);
        let compressor = document.get("compressor").filter(|compressor| !compressor.is_null());
        let has_configuration = codecs.has_configured_compressor;
        let compressor = compressor.map(|value| Stored { pointer: "/compressor".to_owned(), value, has_configuration });
        let stored: Vec<Stored<'_>> = stored.into_iter().chain(compressor).collect();
        // Shards of the drafts are made by storage transformers, around all codecs.
        let (members, mut codecs, mut rest, mut depth) = (Some(codecs), array.codecs.clone(), rest, 0);
        while let Some(shard) = codecs.iter().position(|codec| codec.name == "sharding_indexed") {
            let Some(inner) = rest.strip_prefix(&format!("{shard}/configuration/codecs/")) else {
                return match rest.split('/').next() == Some(&shard.to_string()) {
                    true => format!("/storage_transformers/{depth}"),
                    false => in_list(&codecs, &stored, members.as_ref(), list, rest),
                };
            };
            rest = inner;
            let list = codecs.get(shard).and_then(|codec| codec.configuration.get("codecs")).and_then(Value::as_array);
            codecs = list.unwrap_or_default().iter().filter_map(NamedConfig::from_value).collect();
            depth += 1;
        }
        in_list(&codecs, &stored, members.as_ref(), list, rest)
    }

    /// Returns the URI by which the document of this array names a codec; `None` if the name is not a URI. `pointer` points to the codec or
    /// to its name, in the document.
    pub fn codec_uri(&self, pointer: &str) -> Option<String> {
        let key = self.document_key()?;
        let (document, _) = parse_document(key, self.documents.get(key)?, ParseOptions::ALL, |_| true).ok()?;
        let codec = document.pointer(pointer.strip_suffix("/name").unwrap_or(pointer))?;
        let mut names = ["type", "codec"].into_iter().filter_map(|name| codec.get(name)?.as_str());
        names.find(|name| name.contains("://")).map(str::to_owned)
    }

    /// Returns the pointer into the document for `pointer`, if that points to a member other than a codec, or to the list of codecs.
    fn member(&self, pointer: &str) -> String {
        let names = rules(self.dialect).members().names;
        let known = names.iter().find(|(name, _)| pointer.strip_prefix(name).is_some_and(|it| !it.starts_with('_')));
        match known {
            Some((_, stored)) => (*stored).to_owned(),
            // The members of a grid of the drafts lie in it.
            None if !names.is_empty() && pointer == "/chunk_grid/name" => "/chunk_grid/type".to_owned(),
            None if !names.is_empty() => pointer.replacen("/chunk_grid/configuration/", "/chunk_grid/", 1),
            None => pointer.to_owned(),
        }
    }
}

/// Returns the pointer into the document for `rest`, which begins with the index of a codec in `codecs`. `stored` are the codecs in the
/// list of the document; codecs missing there come from the members `others`.
fn in_list(
    codecs: &[NamedConfig],
    stored: &[Stored<'_>],
    others: Option<&CodecList>,
    list: &str,
    rest: &str,
) -> String {
    let (number, tail) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let mut missing = codecs.len().saturating_sub(stored.len());
    let mut added: Vec<(usize, &str)> = Vec::new();
    if let Some(others) = others
        && missing > 0
        && codecs.first().is_some_and(|codec| codec.name == "transpose")
    {
        added.push((0, others.order));
        missing -= 1;
    }
    if let Some(bytes) = codecs.iter().position(|codec| codec.name == "bytes").filter(|_| missing > 0) {
        added.push((bytes, others.map_or(list, |others| others.data_type)));
        missing -= 1;
    }
    let index = number.parse::<usize>().ok().filter(|index| missing == 0 && *index < codecs.len());
    let Some(index) = index else { return list.to_owned() };
    if let Some((_, member)) = added.iter().find(|(at, _)| *at == index) {
        return (*member).to_owned();
    }
    let before = added.iter().filter(|(at, _)| *at < index).count();
    let Some(codec) = index.checked_sub(before).and_then(|at| stored.get(at)) else { return list.to_owned() };
    let nested = tail.strip_prefix("/configuration/codecs/");
    if let (Some(rest), Some(model)) = (nested, codecs.get(index)) {
        let list = format!("{}/configuration/codecs", codec.pointer);
        let inner = codec.value.get("configuration").and_then(|configuration| configuration.get("codecs"));
        let model = model.configuration.get("codecs").and_then(Value::as_array).unwrap_or_default();
        let model: Vec<NamedConfig> = model.iter().filter_map(NamedConfig::from_value).collect();
        return in_list(&model, &items(inner, &list, true), others, &list, rest);
    }
    let tail = if codec.has_configuration { tail } else { tail.strip_prefix("/configuration").unwrap_or(tail) };
    format!("{}{tail}", codec.pointer)
}

/// Returns the value at `pointer`, whose names have no escapes.
fn at<'d>(document: &'d Value, pointer: &str) -> Option<&'d Value> {
    pointer.split('/').skip(1).try_fold(document, |value, name| value.get(name))
}

fn items<'d>(list: Option<&'d Value>, pointer: &str, has_configuration: bool) -> Vec<Stored<'d>> {
    let items = list.and_then(Value::as_array).unwrap_or_default().iter().enumerate();
    items.map(|(index, value)| Stored { pointer: format!("{pointer}/{index}"), value, has_configuration }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, NodePath};

    fn check(dialect: Dialect, documents: &[(&str, &str)], pointers: &[(&str, &str)]) {
        let documents = documents.iter().map(|(key, text)| ((*key).to_owned(), text.as_bytes().to_vec())).collect();
        let found = StoredNode::read(dialect, NodePath::root(), &documents).unwrap().unwrap();
        for (model, stored) in pointers {
            assert_eq!(found.document_pointer(model), *stored, "{dialect} {model}");
        }
    }

    #[test]
    fn version_2() {
        let document = |order: &str| {
            format!(
                r#"{{"zarr_format":2,"shape":[2,2],"chunks":[2,2],"dtype":"<i4","order":"{order}","fill_value":0,
                    "filters":[{{"id":"delta","dtype":"<i4"}}],"compressor":{{"id":"zlib","level":1}}}}"#
            )
        };
        check(
            Dialect::V2,
            &[(".zarray", &document("C"))],
            &[
                ("/codecs/0", "/filters/0"),
                ("/codecs/0/configuration/dtype", "/filters/0/dtype"),
                ("/codecs/1", "/dtype"),
                ("/codecs/2/configuration/level", "/compressor/level"),
                ("/data_type", "/dtype"),
                ("/chunk_grid/configuration", "/chunks"),
                ("/chunk_key_encoding", "/dimension_separator"),
                ("/fill_value", "/fill_value"),
                ("/codecs", "/filters"),
            ],
        );
        check(
            Dialect::V2,
            &[(".zarray", &document("F"))],
            &[
                ("/codecs/0", "/order"),
                ("/codecs/1", "/filters/0"),
                ("/codecs/3", "/compressor"),
                ("/codecs/9", "/filters"),
            ],
        );
    }

    #[cfg(feature = "drafts")]
    #[test]
    fn drafts() {
        let entry = r#"{"zarr_format":"https://purl.org/zarr/spec/core/3.0","metadata_encoding":{"type":"json","metadata_key_suffix":".json"},"extensions":[]}"#;
        let array = r#"{"shape":[4],"data_type":"int32","chunk_grid":{"type":"regular","chunk_shape":[4],"separator":"/"},
            "chunk_memory_layout":"C","codecs":[{"type":"https://purl.org/zarr/spec/codecs/gzip/1.0","configuration":{"level":1}}],
            "fill_value":0,"extensions":[],"attributes":{},
            "storage_transformers":[{"extension":"https://purl.org/zarr/spec/storage_transformers/sharding/1.0","type":"indexed",
                "configuration":{"chunks_per_shard":[2]}}]}"#;
        check(
            Dialect::V3Draft2022,
            &[("zarr.json", entry), ("meta/array.json", array)],
            &[
                ("/codecs/0", "/storage_transformers/0"),
                ("/codecs/0/configuration/codecs/0", "/data_type"),
                ("/codecs/0/configuration/codecs/1/configuration/level", "/codecs/0/configuration/level"),
                ("/chunk_key_encoding", "/chunk_grid/separator"),
                ("/chunk_grid/configuration/chunk_shape/0", "/chunk_grid/chunk_shape/0"),
                ("/chunk_grid/name", "/chunk_grid/type"),
            ],
        );
        let array = r#"{"shape":[4,4],"data_type":"<i4","chunk_grid":{"type":"regular","chunk_shape":[4,4]},
            "chunk_memory_layout":"F","chunk_codecs":[{"codec":"https://purl.org/zarr/spec/codecs/gzip/1.0","level":1}]}"#;
        check(
            Dialect::V3Protocol2019,
            &[("meta/array.json", array)],
            &[("/codecs/0", "/chunk_memory_layout"), ("/codecs/2/configuration/level", "/chunk_codecs/0/level")],
        );
    }

    #[test]
    fn version_3_as_it_stands() {
        let array = r#"{"zarr_format":3,"node_type":"array","shape":[4],"data_type":"int32","fill_value":0,"attributes":{},
            "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[4]}},
            "chunk_key_encoding":{"name":"default"},
            "codecs":[{"name":"bytes","configuration":{"endian":"little"}},{"name":"gzip","configuration":{"level":1}}]}"#;
        check(
            Dialect::V3,
            &[("zarr.json", array)],
            &[("/codecs/1/configuration/level", "/codecs/1/configuration/level"), ("/data_type", "/data_type")],
        );
        let older = array.replace(r#"{"name":"bytes","configuration":{"endian":"little"}},"#, "");
        check(Dialect::V3, &[("zarr.json", &older)], &[("/codecs/1", "/codecs/0"), ("/codecs/0", "/codecs")]);
    }
}
