//! Entry point document, and the keys that follow from it.

use crate::drafts::v3;
use crate::error::{Error, ErrorKind, Result};
use crate::{Documents, NodePath};
use zarr_json::pointer::At;
use zarr_json::{Map, ParseOptions, Value, json};

/// Key of the entry point document.
pub(crate) const KEY: &str = "zarr.json";
/// Prefix of the keys of documents, except the documents of the root.
pub(super) const NODES: &str = "meta/root/";
/// Key of the consolidated metadata of zarr-python 2. It is not the document of a node.
pub(crate) const CONSOLIDATED: &str = "meta/root/consolidated/.zmetadata";
const URI: &str = "https://purl.org/zarr/spec/protocol/core/3.0";

/// Form of the keys in a hierarchy, which changed twice:
///
/// | | `metadata_encoding` | `metadata_key_suffix` | array | chunk |
/// |---|---|---|---|---|
/// | July 2020 | `application/json` | | `meta/root/a.array` | `data/a/0.1` |
/// | September 2020 | the URI of the draft | | `meta/root/a.array` | `data/root/a/c0/1` |
/// | from October 2020 | the URI of the draft | `.json` | `meta/root/a.array.json` | `data/root/a/c0/1` |
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// Whether the form is that of July 2020.
    pub(super) is_first: bool,
    suffix: String,
    /// Content of the entry point document.
    pub(super) document: Map,
}

impl Default for Form {
    /// Returns the form of zarr-python 2.
    fn default() -> Self {
        let document = json!({
            "extensions": [],
            "metadata_encoding": URI,
            "metadata_key_suffix": ".json",
            "zarr_format": URI
        });
        let document = document.as_object().cloned().unwrap_or_default();
        Self { is_first: false, suffix: ".json".to_owned(), document }
    }
}

impl Form {
    /// Returns the form that the entry point document gives; without that document, the form of zarr-python 2.
    pub(super) fn of(documents: &Documents) -> Result<Self> {
        // The group example of the text has a trailing comma, and software ignored unknown members.
        let options = ParseOptions::default().trailing_comma(true);
        match documents.json(KEY, options, |_| true)? {
            Some((value, _)) => Self::parse(&At::root(&value)).map_err(|error| error.in_document(KEY)),
            None => Ok(Self::default()),
        }
    }

    fn parse(at: &At<'_>) -> Result<Self> {
        let format = at.member("zarr_format")?;
        if !format.value().as_str().is_some_and(is_draft) {
            return Err(Error::about(&format, ErrorKind::UnsupportedVersion, URI));
        }
        let encoding = at.member("metadata_encoding")?;
        let is_first = match encoding.value().as_str() {
            Some("application/json") => true,
            Some(uri) if is_draft(uri) => false,
            _ => {
                return Err(Error::about(
                    &encoding,
                    ErrorKind::UnknownExtension,
                    "JSON, the only encoding of metadata",
                ));
            }
        };
        let suffix = match at.get_non_null("metadata_key_suffix") {
            None => "",
            Some(suffix) if suffix.text()?.contains(['/', '\0']) => {
                return Err(suffix.invalid("a string without /").into());
            }
            Some(suffix) => suffix.text()?,
        };
        v3::members::check_extensions(&at.member("extensions")?)?;
        Ok(Self { is_first, suffix: suffix.to_owned(), document: at.object()?.clone() })
    }

    /// Returns whether documents are written as by zarr-python 2, and not as by zarrita of 2020.
    pub(super) fn is_settled(&self) -> bool {
        !self.suffix.is_empty()
    }

    pub(super) fn array_key(&self, path: &NodePath) -> String {
        self.document_key(path, ".array")
    }

    pub(super) fn group_key(&self, path: &NodePath) -> String {
        self.document_key(path, ".group")
    }

    fn document_key(&self, path: &NodePath, kind: &str) -> String {
        let slash = if path.is_root() { "" } else { "/" };
        format!("meta/root{slash}{}{kind}{}", path.as_relative(), self.suffix)
    }

    /// Returns the name of the node whose document is called `name`.
    pub(super) fn node_name<'n>(&self, name: &'n str) -> Option<&'n str> {
        let name = name.strip_suffix(self.suffix.as_str())?;
        name.strip_suffix(".array").or_else(|| name.strip_suffix(".group")).filter(|name| !name.is_empty())
    }

    /// Returns the path of the node whose document is at `key`, see [`path_of`].
    pub(super) fn path_of(&self, key: &str) -> Option<Result<NodePath>> {
        if let Some(path) = key.strip_prefix(NODES) {
            return self.node_name(path).map(|path| NodePath::root().join(path));
        }
        self.node_name(key).filter(|name| *name == "meta/root").map(|_| Ok(NodePath::root()))
    }

    pub(super) fn chunk_prefix(&self, path: &NodePath) -> String {
        if self.is_first { Self::unrooted_prefix(path) } else { format!("data/root/{}", path.key_prefix()) }
    }

    /// Returns the prefix of chunks in July 2020, and according to the draft of August 2020.
    pub(super) fn unrooted_prefix(path: &NodePath) -> String {
        format!("data/{}", path.key_prefix())
    }
}

fn is_draft(uri: &str) -> bool {
    let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://")).unwrap_or_default();
    let minor = uri.strip_prefix("purl.org/zarr/spec/protocol/core/3.").unwrap_or_default();
    !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the path of the node that has its document at `key`, in a hierarchy with the entry point document `entry`; `None` if `key` is
/// not the key of a document.
///
/// # Errors
/// Fails with [`ErrorKind::Path`] for a path that is not safe.
pub(crate) fn path_of(key: &str, entry: &Value) -> Option<Result<NodePath>> {
    Form::parse(&At::root(entry)).unwrap_or_default().path_of(key)
}
