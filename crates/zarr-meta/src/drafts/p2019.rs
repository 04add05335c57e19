//! The first protocol draft of version 3, of April 2019.
//!
//! The dialect has no entry point document. Every name in a key ends in `.g` for a group or `.a` for an array: documents at
//! `meta/a.g/b.a/array.json` and `meta/a.g/group.json`, chunks at `data/a.g/b.a/0.1`. Groups need no document. The draft leaves the members
//! of documents and the chunk keys open; this module uses those of the same draft one month later.

mod parse;
mod write;

use super::v3::{self, members};
use crate::dialect::detect::is_document_key;
use crate::dialect::rules::{Parsed, Rules};
use crate::dialect::stored_members::{CodecList, Codecs, Members};
use crate::dialect::{Dialect, layout};
use crate::error::Result;
use crate::{Children, Documents, Error, Node, NodePath};
use zarr_json::{Map, NamedConfig, ParseOptions, Value};

/// Rules of the first protocol draft.
pub(crate) struct V3Protocol2019;

const ARRAY: &str = "array.json";
const GROUP: &str = "group.json";
/// Name of the attributes document, used if the main document has no attributes.
const ATTRIBUTES: &str = "attributes.json";

/// URI of the draft.
const URI: &str = "http://purl.org/zarr/spec/protocol/core/3.0";

/// Returns the part of a node's keys after `meta/` or `data/`; `last` is the ending of the last name, `g` or `a`.
fn prefix(path: &NodePath, last: char) -> String {
    let names = path.names().count();
    let ending = |index: usize| if index + 1 == names { last } else { 'g' };
    path.names().enumerate().map(|(index, name)| format!("{name}.{}/", ending(index))).collect()
}

/// Keys of the documents of a node.
#[derive(Debug)]
struct Keys {
    array: String,
    group: String,
    array_attributes: String,
    group_attributes: String,
}

impl Keys {
    fn new(path: &NodePath) -> Self {
        let key = |last: char, name: &str| format!("meta/{}{name}", prefix(path, last));
        Self {
            array: key('a', ARRAY),
            group: key('g', GROUP),
            array_attributes: key('a', ATTRIBUTES),
            group_attributes: key('g', ATTRIBUTES),
        }
    }
}

impl Rules for V3Protocol2019 {
    fn dialects(&self) -> &'static [Dialect] {
        &[Dialect::V3Protocol2019]
    }

    fn names_in_directory<'n>(&self, directory: &[&'n str]) -> Option<Vec<&'n str>> {
        let name = |text: &&'n str| text.strip_suffix(".g").or_else(|| text.strip_suffix(".a"));
        Some(directory.iter().map_while(name).collect())
    }

    fn is_self_contained(&self) -> bool {
        false
    }

    fn members(&self) -> Members {
        Members {
            names: &[("/chunk_key_encoding", "/chunk_grid/separator"), ("/codecs", "/chunk_codecs")],
            codecs: Codecs::List(CodecList {
                list: "/chunk_codecs",
                has_configurations: false,
                otherwise: "/chunk_codecs",
                ..v3::CODECS
            }),
        }
    }

    fn document_keys(&self, path: &NodePath) -> Vec<String> {
        let keys = Keys::new(path);
        vec![keys.array, keys.group]
    }

    fn more_keys(&self, path: &NodePath, documents: &Documents) -> Vec<String> {
        let keys = Keys::new(path);
        let (key, attributes) = match documents.get(&keys.array) {
            Some(_) => (keys.array, keys.array_attributes),
            None => (keys.group, keys.group_attributes),
        };
        let lacks = |value: &Value| value.as_object().is_some_and(|map| !map.contains_key("attributes"));
        match documents.json(&key, ParseOptions::ALL, |_| true) {
            Ok(Some((value, _))) if lacks(&value) => vec![attributes],
            _ => Vec::new(),
        }
    }

    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
        parse::parse(&Keys::new(path), documents)
    }

    fn write(&self, _: Dialect, path: &NodePath, node: &Node, _: &Documents) -> Result<Vec<(String, Map)>> {
        let keys = Keys::new(path);
        Ok(vec![match node {
            Node::Array(array) => (keys.array, write::array(array)?),
            Node::Group(group) => (keys.group, write::group(group)),
        }])
    }

    fn chunk_keys(&self, _: usize, separator: Option<&str>, _: &Documents) -> NamedConfig {
        layout::keys("v2", separator.unwrap_or("."))
    }

    fn chunk_prefix(&self, path: &NodePath, _: &Documents) -> String {
        format!("data/{}", prefix(path, 'a'))
    }

    fn own_prefixes(&self, path: &NodePath, _: &Documents) -> Vec<String> {
        let last = if path.is_root() { &['g'][..] } else { &['g', 'a'] };
        let of = |space: &'static str| last.iter().map(move |last| format!("{space}/{}", prefix(path, *last)));
        ["meta", "data"].into_iter().flat_map(of).collect()
    }

    fn listing_prefix(&self, path: &NodePath) -> String {
        format!("meta/{}", prefix(path, 'g'))
    }

    fn children(&self, path: &NodePath, _: &[&str], prefixes: &[&str], _: &Documents) -> Children {
        let above = self.listing_prefix(path);
        let name = |prefix: &&str| {
            let name = prefix.strip_prefix(above.as_str())?.strip_suffix('/')?;
            name.strip_suffix(".g").or_else(|| name.strip_suffix(".a")).map(str::to_owned)
        };
        Children::from_names(path, prefixes.iter().filter_map(name), &above, &[])
    }

    fn is_node_document(&self, name: &str, _: &Documents) -> bool {
        matches!(name, ARRAY | GROUP)
    }

    fn implies_groups(&self) -> bool {
        true
    }

    fn document_path(&self, key: &str, _: &Documents) -> Option<NodePath> {
        let rest = key.strip_prefix("meta/").filter(|_| is_document_key(key))?;
        let Some((names, document)) = rest.rsplit_once('/') else { return Some(NodePath::root()) };
        let last = if document == ARRAY { ".a" } else { ".g" };
        let (above, name) = names.rsplit_once('/').unwrap_or(("", names));
        let groups = above.split('/').filter(|name| !name.is_empty()).map(|name| name.strip_suffix(".g"));
        let mut path = NodePath::root();
        for name in groups.chain([name.strip_suffix(last)]) {
            path = path.join(name?).ok()?;
        }
        Some(path)
    }

    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>> {
        members::check_name(name, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_text() {
        let keys = |path: &str| Keys::new(&NodePath::parse(path).unwrap());
        assert_eq!(keys("/").group, "meta/group.json");
        assert_eq!(keys("/").array, "meta/array.json");
        assert_eq!(keys("/foo/bar").group, "meta/foo.g/bar.g/group.json");
        assert_eq!(keys("/spam/eggs").array, "meta/spam.g/eggs.a/array.json");
        assert_eq!(keys("/x.g/y.a").array, "meta/x.g.g/y.a.a/array.json");
        let chunks = |path: &str| V3Protocol2019.chunk_prefix(&NodePath::parse(path).unwrap(), &Documents::new());
        assert_eq!(chunks("/spam/eggs"), "data/spam.g/eggs.a/");
        assert_eq!(chunks("/"), "data/");
        for (key, is) in [
            ("meta/group.json", true),
            ("meta/array.json", true),
            ("meta/a.g/b.a/array.json", true),
            ("meta/a.g/b/array.json", false),
            ("meta/.g/array.json", false),
            ("meta/a.g/zarr.json", false),
            ("data/a.g/array.json", false),
            ("array.json", false),
        ] {
            assert_eq!(is_document_key(key), is, "{key}");
        }
        for (key, path) in [
            ("meta/group.json", Some("/")),
            ("meta/x.g.g/y.a.a/array.json", Some("/x.g/y.a")),
            ("meta/x.g/group.json", Some("/x")),
            ("meta/x.g/array.json", None),
            ("meta/x.a/y.a/array.json", None),
        ] {
            let found = V3Protocol2019.document_path(key, &Documents::new()).map(|path| path.to_string());
            assert_eq!(found.as_deref(), path, "{key}");
        }
    }

    #[test]
    fn children_have_one_ending_less() {
        let path = NodePath::parse("/x").unwrap();
        let prefixes = ["meta/x.g/a.g/", "meta/x.g/a.a/", "meta/x.g/b.g.g/", "meta/x.g/c/", "meta/x.g/...g/"];
        let children = V3Protocol2019.children(&path, &["meta/x.g/group.json"], &prefixes, &Documents::new());
        let paths: Vec<_> = children.candidates.iter().map(ToString::to_string).collect();
        assert_eq!(paths, ["/x/a", "/x/b.g"]);
        assert_eq!(children.refused, [".."]);
    }
}
