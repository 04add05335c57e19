//! Identity of the conversion that a journal belongs to.

use super::super::destination::NodeDocuments;
use super::super::fingerprint::{Fingerprint, hashes};
use super::super::region;
use super::super::unfinished_node::{PARTS, UnfinishedNode};
use super::super::{Conversion, Shards};
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr_hierarchy::Result;
use zarr_json::{Map, Value};
use zarr_meta::{NodePath, StoredNode};
use zarr_store::Store;

/// Members that must be equal in two runs so that one can continue the work of the other. An error names the member that differs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity(Map);

/// Members that an error explains, or that are not always compared.
const KEEP_GOING: &str = "keep_going";
const MEMORY: &str = "memory";
/// Members of pyramids: the method, the factors of each level, and the units of each level.
const PYRAMID: &str = "pyramid";
const FACTORS: &str = "factors";
const UNITS: &str = "units";
const SOURCE_DOCUMENTS: &str = "source_documents";
const TARGET_DOCUMENTS: &str = "target_documents";

impl Identity {
    /// Returns the identity of `conversion`. `parts` is the number of parts, if it is done in parts.
    pub(crate) fn of(conversion: &Conversion, parts: Option<u64>) -> Result<Self> {
        let options = &conversion.options;
        let (from, to) = conversion.paths();
        let (mut before, mut after) = (Fingerprint::new(), Fingerprint::new());
        for planned in &conversion.nodes {
            before = before.with_part(planned.source.path.to_string().as_bytes());
            for (key, hash) in hashes(&planned.source) {
                before = before.with_part(key.as_bytes()).with_part(hash.as_bytes());
            }
            let documents = NodeDocuments::new(planned, &zarr_meta::Documents::new())?;
            after =
                after.with_part(planned.path.to_string().as_bytes()).with_part(format!("{:?}", planned.how).as_bytes());
            for (key, document) in documents.changes() {
                after = after.with_part(key.as_bytes()).with_part(document.unwrap_or_default());
            }
        }
        let lengths = |lengths: &Option<Vec<u64>>| lengths.clone().map_or(Value::Null, Value::from);
        let by_name = |lengths: &BTreeMap<String, u64>| {
            Value::Object(lengths.iter().map(|(name, length)| (name.clone(), Value::from(*length))).collect())
        };
        let chunks = match options.chunk_lengths.is_empty() {
            true => lengths(&options.chunks),
            false => by_name(&options.chunk_lengths),
        };
        let shards = match &options.shards {
            None => Value::Null,
            Some(Shards::None) => Value::from("none"),
            Some(Shards::Of(shape)) => Value::from(shape.clone()),
            Some(Shards::ByName(lengths)) => by_name(lengths),
            Some(Shards::Auto) => Value::from("auto"),
        };
        let regions = match options.regions.is_empty() {
            true => Value::Null,
            false => region::to_value(&options.regions),
        };
        let mut map = Map::new();
        map.insert("source", address(&conversion.source.to_string()));
        map.insert("from", from.to_string());
        map.insert("to", to.to_string());
        map.insert("dialect", conversion.nodes.first().map_or(Value::Null, |node| Value::from(node.dialect.name())));
        map.insert("chunks", chunks);
        map.insert("shards", shards);
        // Journals of releases that knew no regions have none.
        map.insert("regions", regions);
        map.insert("carry", options.carry);
        map.insert("literal", options.literal);
        map.insert(KEEP_GOING, options.keep_going);
        map.insert(PARTS, parts.map_or(Value::Null, Value::from));
        // It decides which slabs there are, and so what a part is.
        map.insert(MEMORY, parts.map_or(Value::Null, |_| Value::from(options.memory)));
        map.insert("nodes", conversion.nodes.len() as u64);
        map.insert(SOURCE_DOCUMENTS, before.hex());
        map.insert(TARGET_DOCUMENTS, after.hex());
        Ok(Self(map))
    }

    /// Returns the identity of other work on the node `found` in `source`, with members of its own: `written` are its documents by keys.
    pub(crate) fn of_work<'d>(
        source: &Arc<dyn Store>,
        found: &StoredNode,
        written: impl Iterator<Item = (&'d str, Option<&'d [u8]>)>,
        mut members: Map,
    ) -> Self {
        let before = hashes(found).into_iter().fold(Fingerprint::new(), |before, (key, hash)| {
            before.with_part(key.as_bytes()).with_part(hash.as_bytes())
        });
        let after = written.fold(Fingerprint::new(), |after, (key, document)| {
            after.with_part(key.as_bytes()).with_part(document.unwrap_or_default())
        });
        members.insert("source", address(&source.to_string()));
        members.insert("from", found.path.to_string());
        members.insert(SOURCE_DOCUMENTS, before.hex());
        members.insert(TARGET_DOCUMENTS, after.hex());
        Self(members)
    }

    /// Adds the members by which the journal describes the unfinished node. These members may differ between runs.
    pub(crate) fn with(mut self, unfinished: &UnfinishedNode) -> Self {
        unfinished.add_to(&mut self.0);
        self
    }

    /// Returns the noun by which errors name the work.
    pub(super) fn noun(&self) -> &'static str {
        if self.0.get(PYRAMID).is_some() { "pyramid" } else { "conversion" }
    }

    /// Returns the number of levels of a pyramid; `None` for a conversion.
    pub(crate) fn levels(&self) -> Option<usize> {
        self.0.get(FACTORS).and_then(Value::as_array).map(|levels| levels.len())
    }

    /// Returns the unfinished node at `path`.
    pub(crate) fn unfinished(&self, path: &NodePath) -> Result<UnfinishedNode> {
        UnfinishedNode::of_members(path, &self.0)
    }

    pub(super) fn from_map(map: &Map) -> Self {
        Self(map.clone())
    }

    pub(super) fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Returns whether the conversion reads the node at `from` in `source`.
    pub(super) fn is_from(&self, source: &dyn Store, from: &NodePath) -> bool {
        let is = |name: &str, text: &str| self.0.get(name).and_then(Value::as_str) == Some(text);
        is("source", &address(&source.to_string())) && is("from", &from.to_string())
    }

    /// Returns the number of parts; `None` if the conversion is not done in parts.
    pub(crate) fn parts(&self) -> Option<u64> {
        self.0.get(PARTS).and_then(Value::as_u64)
    }

    /// Describes the first difference between this identity and `now`; `None` if they are equal.
    pub(super) fn difference(&self, now: &Self) -> Option<String> {
        self.difference_in(now, |_| true)
    }

    /// Describes the first difference between this identity and `now` that may change the keys of chunks; `None` if there is none.
    /// Documents of the source may differ, since they may have changed after the conversion began, and with them what follows from its
    /// shape.
    pub(super) fn difference_of_keys(&self, now: &Self) -> Option<String> {
        let is_changed = self.0.get(SOURCE_DOCUMENTS) != now.0.get(SOURCE_DOCUMENTS);
        self.difference_in(now, |name| match name {
            KEEP_GOING | MEMORY | UNITS => false,
            SOURCE_DOCUMENTS | TARGET_DOCUMENTS | FACTORS => !is_changed,
            _ => true,
        })
    }

    fn difference_in(&self, now: &Self, is_compared: impl Fn(&str) -> bool) -> Option<String> {
        let null = Value::Null;
        let (name, before, now) = now.0.iter().find_map(|(name, now)| {
            let before = self.0.get(name).unwrap_or(&null);
            (is_compared(name) && !before.semantically_eq(now)).then_some((name, before, now))
        })?;
        let shown = |value: &Value| if value.is_null() { "none".to_owned() } else { value.excerpt() };
        Some(match name {
            SOURCE_DOCUMENTS => "documents of the source have changed since".to_owned(),
            TARGET_DOCUMENTS => {
                "nodes would be written with other documents: codecs, or another option, are others".to_owned()
            }
            KEEP_GOING => "one of them keeps going where chunks cannot be read".to_owned(),
            _ => format!("{name}: {} there, {} now", shown(before), shown(now)),
        })
    }
}

/// Returns the address of a store. For a directory, returns the path without symbolic links, since several paths may name it.
fn address(text: &str) -> String {
    let real = std::fs::canonicalize(text.strip_prefix("file://").unwrap_or(text)).ok();
    real.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| text.to_owned())
}
