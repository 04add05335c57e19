//! The dialects of Zarr, each a set of rules that map documents to the model and back.

pub(crate) mod age;
pub(crate) mod codecs;
mod d2022;
pub(crate) mod detect;
pub(crate) mod draft;
pub(crate) mod fill;
pub(crate) mod layout;
pub(crate) mod numcodecs;
pub(crate) mod p2019;
pub(crate) mod p2020;
pub(crate) mod packed;
pub(crate) mod typestr;
pub(crate) mod v0;
pub(crate) mod v1;
mod v2;
mod v3;

use crate::conventions::Convention;
use crate::json::{Map, Value};
use crate::{Children, ChunkKeys, Documents, Error, ErrorKind, NamedConfig, Node, NodePath, Result, Warning};
use std::fmt;
use std::str::FromStr;

/// In which form a node is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// What zarr-python 0.3 and 0.4 wrote (2016): one array, key `__zmeta__`.
    V0,
    /// Version 1 (zarr-python 1, 2016): one array, key `meta`.
    V1,
    /// Version 2: keys `.zarray`, `.zgroup`, `.zattrs`.
    V2,
    /// The first version 3 protocol draft (April 2019): keys `meta/**/array.json`.
    P2019,
    /// The protocol drafts in use from 2020 to 2024: `zarr.json` with a URI `.../protocol/core/3.0`.
    P2020,
    /// The version 3 core draft of 2022: `zarr.json` with a URI `.../spec/core/3.0`.
    D2022,
    /// Version 3 while it settled, February to December 2023. The same reader as for [`V3`](Self::V3).
    V3Of2023,
    /// Version 3.0 and 3.1: key `zarr.json`.
    V3,
}

impl Dialect {
    /// All of them, oldest first.
    pub const ALL: [Self; 8] =
        [Self::V0, Self::V1, Self::V2, Self::P2019, Self::P2020, Self::D2022, Self::V3Of2023, Self::V3];

    /// The short name: `v2`, `v3-2023`...
    pub const fn name(self) -> &'static str {
        match self {
            Self::V0 => "v0",
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::P2019 => "p2019",
            Self::P2020 => "p2020",
            Self::D2022 => "d2022",
            Self::V3Of2023 => "v3-2023",
            Self::V3 => "v3",
        }
    }

    /// Whether there is a group at every path above a node, so that it need not be created.
    ///
    /// In these dialects (the drafts of version 3) the documents of all nodes lie apart from chunks, so that one listing of all
    /// keys below the [`listing_prefix`](crate::listing_prefix) of a group shows all nodes below it; see
    /// [`document_path`](crate::document_path).
    pub fn implies_groups(self) -> bool {
        rules(self).is_ok_and(Rules::implies_groups)
    }

    /// Whether attributes of new documents may hold numbers that JSON does not have, as Python writes them: `NaN`, `Infinity` and
    /// `-Infinity`. In the others they stay where they are.
    pub fn has_bare_numbers(self) -> bool {
        matches!(self, Self::V0 | Self::V1 | Self::V2 | Self::P2020)
    }

    /// Checks that a node may be written at `path`; reading takes any name that is safe.
    ///
    /// The answer holds what is allowed but unwise.
    ///
    /// # Errors
    /// [`ErrorKind::Path`] for a name that the dialect forbids, [`ErrorKind::UnsupportedVersion`] for a dialect that cannot be
    /// written.
    pub fn check_path(self, path: &NodePath) -> Result<Vec<Warning>> {
        let rules = rules(self)?;
        let mut warnings = Vec::new();
        for name in path.names() {
            let error = |found: &str, expected: &str| {
                Error::new(ErrorKind::Path, "", format!("node name {name:?} {found}"), expected)
            };
            if let Some(what) = rules.check_name(name, &error)? {
                warnings.push(Warning::new(path.as_relative(), "", format!("node name {name:?} {what}")));
            }
        }
        Ok(warnings)
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == text).ok_or_else(|| {
            let expected = format!("one of {}", Self::ALL.map(Self::name).join(", "));
            Error::new(ErrorKind::UnsupportedVersion, "", format!("dialect {text:?}"), expected)
        })
    }
}

/// The rules of one dialect, or of several that are read alike.
pub(crate) trait Rules: Sync {
    /// The dialects these rules are for.
    fn dialects(&self) -> &'static [Dialect];

    /// Whether a node is told by its own documents alone. If not, the dialect is asked only where one of the entry
    /// documents (`detect::entry_keys`) names it.
    fn is_self_contained(&self) -> bool {
        true
    }

    /// The keys of the documents that a node at `path` may have.
    fn document_keys(&self, path: &NodePath) -> Vec<String>;

    /// Further keys, where they depend on the documents at the first ones.
    fn more_keys(&self, _path: &NodePath, _documents: &Documents) -> Vec<String> {
        Vec::new()
    }

    /// The node that `documents` describe; `None` if there is none among them.
    fn parse(&self, path: &NodePath, documents: &Documents) -> Result<Option<Parsed>>;

    /// The documents of `node`, as near to it as the dialect comes.
    ///
    /// What the dialect cannot say at all is an error. Whether what it says is exactly `node` is for the caller to see by
    /// parsing the result. `known` are the documents that the node has or had, for dialects that say in one of them how the
    /// others are called.
    fn write(&self, dialect: Dialect, path: &NodePath, node: &Node, known: &Documents) -> Result<Vec<(String, Map)>>;

    /// How the keys of the chunks of a new array with `rank` dimensions are formed, with this separator if one is wanted; `known`
    /// as for [`write`](Self::write).
    fn chunk_keys(&self, rank: usize, separator: Option<&str>, known: &Documents) -> NamedConfig;

    /// What the keys of the chunks of an array at `path` begin with; `known` as for [`write`](Self::write).
    fn chunk_prefix(&self, path: &NodePath, _known: &Documents) -> String {
        path.key_prefix()
    }

    /// The prefixes below which there is nothing but the node at `path` and what lies below it, but for documents that lie
    /// elsewhere; `known` as for [`write`](Self::write).
    fn own_prefixes(&self, path: &NodePath, _known: &Documents) -> Vec<String> {
        vec![path.key_prefix()]
    }

    /// The prefix whose listing shows the children of a group at `path`.
    fn listing_prefix(&self, path: &NodePath) -> String {
        path.key_prefix()
    }

    /// The paths at which children may be, from the keys and prefixes directly below the listing prefix; `known` as for
    /// [`write`](Self::write).
    fn children(&self, path: &NodePath, keys: &[&str], prefixes: &[&str], known: &Documents) -> Children;

    /// Whether `name`, the last part of a key below the listing prefix, is that of a node document, so that there is a
    /// group at every prefix above it. `known` are the documents that were read before, as far as they are known.
    fn is_node_document(&self, name: &str, known: &Documents) -> bool;

    /// Whether there is a group at every path above a node without its being written, and documents lie apart from chunks.
    fn implies_groups(&self) -> bool {
        false
    }

    /// The path of the node whose document has this key, where documents lie apart from chunks; `known` as for
    /// [`write`](Self::write). `None` for other keys.
    fn document_path(&self, _key: &str, _known: &Documents) -> Option<NodePath> {
        None
    }

    /// Checks a name to be written: an error, or what is unwise about it.
    fn check_name(&self, name: &str, error: &dyn Fn(&str, &str) -> Error) -> Result<Option<String>>;
}

/// What [`Rules::parse`] makes of documents.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) dialect: Dialect,
    pub(crate) node: Node,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) attributes_error: Option<Error>,
    pub(crate) separator_unmarked: bool,
    /// See [`Found::fill_value_agreed`](crate::Found::fill_value_agreed).
    pub(crate) fill_value_agreed: bool,
    pub(crate) dimension_names_from: Option<Convention>,
    /// It is a group without a document of its own.
    pub(crate) implicit: bool,
    /// See [`Found::fallback_keys`](crate::Found::fallback_keys).
    pub(crate) fallback_keys: Vec<ChunkKeys>,
    /// See [`Found::fallback`](crate::Found::fallback).
    pub(crate) fallback: Option<Error>,
    /// What the codecs would be if the order of elements that the document says is not the one they were stored in.
    pub(crate) codecs_if_c_order: Option<Vec<NamedConfig>>,
}

impl Parsed {
    pub(crate) fn new(dialect: Dialect, node: Node, warnings: Vec<Warning>) -> Self {
        let fill_value_agreed =
            node.as_array().is_none_or(|array| fill::is_agreed(array.fill_value.as_ref(), array, dialect));
        Self {
            fill_value_agreed,
            dialect,
            node,
            warnings,
            attributes_error: None,
            separator_unmarked: false,
            dimension_names_from: None,
            implicit: false,
            fallback_keys: Vec::new(),
            fallback: None,
            codecs_if_c_order: None,
        }
    }

    /// Takes note of how `document`, that of an array, spells the fill value, where the model does not keep that.
    pub(crate) fn spelled_in(mut self, document: &Value) -> Self {
        if let Node::Array(array) = &self.node {
            self.fill_value_agreed = fill::is_agreed(document.get("fill_value"), array, self.dialect);
        }
        self
    }
}

/// The rules of all dialects that are read and written, newest first.
pub(crate) static DIALECTS: &[&dyn Rules] =
    &[&v3::V3, &d2022::D2022, &p2020::P2020, &p2019::P2019, &v2::V2, &v1::V1, &v0::V0];

/// The rules of one dialect.
pub(crate) fn rules(dialect: Dialect) -> Result<&'static dyn Rules> {
    let known = DIALECTS.iter().find(|rules| rules.dialects().contains(&dialect)).copied();
    let expected = "a dialect with rules";
    known.ok_or_else(|| Error::new(ErrorKind::UnsupportedVersion, "", format!("dialect {dialect}"), expected))
}

/// The key of the document that says what dialect a whole hierarchy is of and how the keys in it are formed; `None` for dialects
/// whose nodes are told by their own documents.
///
/// Before a node is created, the document there has to be read and given to [`documents`](crate::documents) as one of the
/// previous ones, so that the node fits in.
pub fn entry_key(dialect: Dialect) -> Option<&'static str> {
    matches!(dialect, Dialect::P2020 | Dialect::D2022).then_some("zarr.json")
}
