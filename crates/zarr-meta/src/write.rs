//! Documents to store for a node.

use crate::dialect::layout;
use crate::dialect::rules::{Parsed, Rules};
use crate::dialect::table::entry_point_key;
use crate::dialect::table::rules;
use crate::error::{Error, ErrorKind, Result};
use crate::{Dialect, Documents, Node, NodePath};
use zarr_json::pointer::escaped;
use zarr_json::{Map, NamedConfig, ParseOptions, Value, parse};

/// Returns the documents that describe `node`: keys relative to the root of the store, and the bytes to set at each key, or `None` to erase
/// the key.
///
/// `previous` are the present documents of the node. Values that do not change keep their spelling, and unknown members and the order of
/// members stay, so that changing one attribute changes one attribute only. A document without any change is returned byte for byte.
/// Without `previous`, the node is taken to be new, and nothing is erased.
///
/// Some dialects have a document about the whole hierarchy ([`entry_point_key`](crate::entry_point_key)). It is also returned if it is not
/// among `previous`; otherwise it does not change.
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] naming the member if the dialect cannot express `node` exactly; see
/// [`for_dialect`](crate::for_dialect) for the nearest node. Fails with [`ErrorKind::UnsupportedVersion`] for a dialect that cannot be
/// written.
///
/// # Example
/// ```
/// use zarr_meta::{Dialect, GroupMetadata, Node, NodePath, documents};
///
/// let group = Node::Group(GroupMetadata::default());
/// let documents = documents(Dialect::V2, &NodePath::parse("/a")?, &group, None)?;
/// assert_eq!(documents, [("a/.zgroup".to_owned(), Some(b"{\n  \"zarr_format\": 2\n}\n".to_vec()))]);
/// # Ok::<(), zarr_meta::Error>(())
/// ```
pub fn documents(
    dialect: Dialect,
    path: &NodePath,
    node: &Node,
    previous: Option<&Documents>,
) -> Result<Vec<(String, Option<Vec<u8>>)>> {
    check_nan_literals(dialect, node, previous)?;
    documents_with_nan_literals(dialect, path, node, previous)
}

/// Returns the documents that describe `node`, as [`documents`] does, but attributes of any dialect may contain literals of NaN and
/// infinities. zarr-python writes and reads such literals, also in version 3; other software may refuse the documents.
///
/// # Errors
/// Fails in the same cases as [`documents`].
pub fn documents_with_nan_literals(
    dialect: Dialect,
    path: &NodePath,
    node: &Node,
    previous: Option<&Documents>,
) -> Result<Vec<(String, Option<Vec<u8>>)>> {
    let rules = rules(dialect);
    let none = Documents::new();
    let new = rules.write(dialect, path, node, previous.unwrap_or(&none))?;
    if let Some(previous) = previous
        && let Some(merged) = merged(rules, dialect, path, node, previous, &new)
    {
        return Ok(merged);
    }
    // The document about the whole hierarchy stays as it is.
    let entry = entry(dialect, previous);
    let new = new.into_iter().filter(|(key, _)| entry.get(key).is_none());
    let fresh: Vec<_> = new.map(|(key, document)| (key, Some(text(&document)))).collect();
    let mut stored = entry;
    stored.apply(&fresh);
    says(rules, path, &stored, node)?;
    let stale = previous.into_iter().flat_map(Documents::iter).filter(|(key, _)| stored.get(key).is_none());
    let erased: Vec<_> = stale.map(|(key, _)| (key.to_owned(), None)).collect();
    Ok(fresh.into_iter().chain(erased).collect())
}

/// Returns an error for literals of NaN and infinities in attributes of a dialect whose documents are strict JSON, unless the `previous`
/// documents contain such literals already.
fn check_nan_literals(dialect: Dialect, node: &Node, previous: Option<&Documents>) -> Result<()> {
    let has_nan = |(_, value): &(&str, &Value)| value.count_nan_literals() > 0;
    let Some((name, value)) = node.attributes().iter().find(has_nan).filter(|_| !dialect.allows_nan_literals()) else {
        return Ok(());
    };
    let has_some =
        |bytes: &[u8]| parse(bytes, ParseOptions::ALL).is_ok_and(|parsed| parsed.value.count_nan_literals() > 0);
    if previous.is_some_and(|previous| previous.iter().any(|(_, bytes)| has_some(bytes))) {
        return Ok(());
    }
    let expected = "numbers that JSON has; as strings, \"NaN\", \"Infinity\" and \"-Infinity\" can be written";
    Err(Error::new(ErrorKind::NotExpressible, format!("/attributes/{}", escaped(name)), value.excerpt(), expected))
}

/// Returns the document about the whole hierarchy, if `previous` contains it.
fn entry(dialect: Dialect, previous: Option<&Documents>) -> Documents {
    let entry = entry_point_key(dialect).and_then(|key| Some((key.to_owned(), previous?.get(key)?.to_vec())));
    entry.into_iter().collect()
}

/// Returns the keys at which a node at `path` may have documents. Documents of the whole hierarchy are included only for the root. `known`
/// are documents read before, for dialects in which one document determines the names of the others. The keys for two paths are in the same
/// order.
pub fn document_keys(dialect: Dialect, path: &NodePath, known: &Documents) -> Vec<String> {
    let rules = rules(dialect);
    let entry = entry_point_key(dialect).filter(|_| !path.is_root());
    let mut keys = rules.document_keys(path);
    keys.extend(rules.more_keys(path, known));
    keys.retain(|key| Some(key.as_str()) != entry);
    keys
}

/// Returns a function that maps a key to the dialects, newest first, in which a probe for a node at `path` reads that key. Keys that depend
/// on the content of documents are not included. Version 3 stands for its form of 2023 too.
///
/// # Example
/// ```
/// use zarr_meta::{Dialect, NodePath, dialects_by_key};
///
/// let dialects = dialects_by_key(&NodePath::parse("/a")?);
/// assert_eq!(dialects("a/.zarray"), [Dialect::V2]);
/// # #[cfg(feature = "drafts")]
/// assert_eq!(dialects("zarr.json"), [Dialect::V3Draft2022, Dialect::V3Protocol2020]);
/// # Ok::<(), zarr_meta::Error>(())
/// ```
pub fn dialects_by_key(path: &NodePath) -> impl Fn(&str) -> Vec<Dialect> + use<> {
    let none = Documents::new();
    let keys = |dialect: Dialect| {
        let mut keys = document_keys(dialect, path, &none);
        keys.extend(entry_point_key(dialect).map(str::to_owned));
        // There the root tells what the others are.
        if dialect == Dialect::V3Protocol2019 {
            keys.extend(document_keys(dialect, &NodePath::root(), &none));
        }
        (dialect, keys)
    };
    let all: Vec<(Dialect, Vec<String>)> = Dialect::alone().map(keys).collect();
    move |key| {
        let looks = |(_, keys): &&(Dialect, Vec<String>)| keys.iter().any(|known| known == key);
        all.iter().filter(looks).map(|(dialect, _)| *dialect).collect()
    }
}

/// Returns the prefix of the chunk keys of an array at `path`, relative to the root of the store: empty, or ending in `/`.
///
/// For an array that was read, use [`StoredNode::chunk_prefix`](crate::StoredNode::chunk_prefix): some dialects have several forms of
/// prefixes.
pub fn chunk_prefix(dialect: Dialect, path: &NodePath) -> String {
    rules(dialect).chunk_prefix(path, &Documents::new())
}

/// Returns the chunk key encoding of a new array with `rank` dimensions in a dialect, with `separator` if one is given. `entry` contains
/// the document that [`entry_point_key`](crate::entry_point_key) names, if it exists: the encoding may depend on it.
///
/// A separator that the dialect does not allow is not refused here, but by [`documents`].
///
/// # Example
/// ```
/// use zarr_meta::{Dialect, Documents, chunk_keys};
///
/// let keys = chunk_keys(Dialect::V2, 2, Some("/"), &Documents::new());
/// assert_eq!(keys.to_value().to_string(), r#"{"name":"v2","configuration":{"separator":"/"}}"#);
/// ```
pub fn chunk_keys(dialect: Dialect, rank: usize, separator: Option<&str>, entry: &Documents) -> NamedConfig {
    rules(dialect).chunk_keys(rank, separator, entry)
}

/// Changes the chunk keys of a new node to the form used in the hierarchy whose [entry point document](crate::entry_point_key) is in
/// `entry`. Some dialects had several forms.
pub fn fit_in(node: &mut Node, dialect: Dialect, entry: &Documents) {
    if let Node::Array(array) = node
        && let Some((_, separator)) = layout::innermost(&array.chunk_key_encoding)
        && entry_point_key(dialect).is_some()
    {
        array.chunk_key_encoding = chunk_keys(dialect, array.shape.len(), Some(&separator), entry);
    }
}

fn text(document: &Map) -> Vec<u8> {
    format!("{document:#}\n").into_bytes()
}

/// Checks that the documents describe exactly `node`.
fn says(rules: &dyn Rules, path: &NodePath, documents: &Documents, node: &Node) -> Result<()> {
    let refused = |error: Error| error.with_kind(ErrorKind::NotExpressible);
    let parsed = rules.parse(path, documents).map_err(refused)?;
    let is = parsed.map_or(Value::Null, |Parsed { node, .. }| node.to_value());
    match first_difference(&node.to_value(), &is, "") {
        None => Ok(()),
        Some((pointer, wanted, is)) => {
            let found = format!("{wanted}, which the dialect cannot express");
            Err(Error::new(ErrorKind::NotExpressible, pointer, found, is))
        }
    }
}

/// Returns the first difference in meaning between two values: its pointer, and excerpts of both values; `None` if they mean the same.
pub(crate) fn first_difference(a: &Value, b: &Value, pointer: &str) -> Option<(String, String, String)> {
    if a.semantically_eq(b) {
        return None;
    }
    if let (Value::Object(a), Value::Object(b)) = (a, b) {
        let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(name)));
        for name in names {
            let below = format!("{pointer}/{}", escaped(name));
            match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) if a.semantically_eq(b) => {}
                (Some(a), Some(b)) => return first_difference(a, b, &below),
                (a, b) => {
                    let word = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::excerpt);
                    return Some((below, word(a), word(b)));
                }
            }
        }
    }
    if let (Value::Array(a), Value::Array(b)) = (a, b)
        && a.len() == b.len()
    {
        let mut items = a.iter().zip(b).enumerate();
        return items.find_map(|(index, (a, b))| first_difference(a, b, &format!("{pointer}/{index}")));
    }
    Some((pointer.to_owned(), a.excerpt(), b.excerpt()))
}

/// Returns the previous documents with the changes applied; `None` if the result would not describe `node`.
fn merged(
    rules: &dyn Rules,
    dialect: Dialect,
    path: &NodePath,
    node: &Node,
    previous: &Documents,
    new: &[(String, Map)],
) -> Option<Vec<(String, Option<Vec<u8>>)>> {
    // The node of the previous documents in the spelling of `new`: values that are equal in both have not changed.
    let before = rules.parse(path, previous).ok()??;
    let canonical = rules.write(dialect, path, &before.node, previous).ok()?;
    let is_array = before.node.as_array().is_some();
    let entry = entry(dialect, Some(previous));
    let mut changes = Vec::new();
    let mut after = previous.clone();
    for (key, document) in new.iter().filter(|(key, _)| entry.get(key).is_none()) {
        let Some(old_bytes) = previous.get(key) else {
            changes.push((key.clone(), Some(text(document))));
            continue;
        };
        let old = parse(old_bytes, ParseOptions::ALL).ok();
        let base = canonical.iter().find(|(canonical, _)| canonical == key).map(|(_, document)| document);
        let bytes = match (old.as_ref().map(|old| &old.value), base) {
            (Some(Value::Object(old)), base) => {
                let empty = Map::new();
                let base = base.unwrap_or(&empty);
                let merged = merge(old, base, document);
                match merged == *old {
                    true => old_bytes.to_vec(),
                    // What is written anew is as the specification says.
                    false => text(&merge(&put_right(old, base, odd_of(&before, key)), base, document)),
                }
            }
            _ => text(document),
        };
        changes.push((key.clone(), Some(bytes)));
    }
    let is_new = |key: &str| entry.get(key).is_some() || new.iter().any(|(new, _)| new == key);
    for (key, bytes) in previous.iter().filter(|(key, _)| !is_new(key)) {
        // A document that was of no account stays so, unless the node becomes the node that it says.
        let spoke = canonical.iter().any(|(canonical, _)| canonical == key) || is_array != node.as_array().is_some();
        let is_empty =
            parse(bytes, ParseOptions::default()).is_ok_and(|parsed| parsed.value == Value::Object(Map::new()));
        if spoke && !is_empty {
            changes.push((key.to_owned(), None));
        }
    }
    after.apply(&changes);
    says(rules, path, &after, node).ok()?;
    Some(changes)
}

/// Returns the members of the document at `key` that were read with a warning.
fn odd_of<'p>(parsed: &'p Parsed, key: &'p str) -> impl Iterator<Item = &'p str> {
    parsed.odd_members.iter().filter(move |(document, _)| document == key).map(|(_, name)| name.as_str())
}

/// Returns `old` with the members named by `odd` replaced by those of `base`, a document of equal meaning in standard spelling.
fn put_right<'n>(old: &Map, base: &Map, odd: impl Iterator<Item = &'n str>) -> Map {
    let mut right = old.clone();
    for name in odd {
        match base.get(name) {
            Some(value) => drop(right.insert(name, value.clone())),
            None => drop(right.remove(name)),
        }
    }
    right
}

/// Returns the documents of a node at `path`, with each member that is read with a warning respelled as the specification says (if the
/// dialect has such a spelling of equal meaning), and without byte order marks. For copying a node. Other documents stay byte for byte.
///
/// ```
/// use zarr_meta::{Dialect, Documents, NodePath, corrected};
///
/// let mut documents = Documents::new();
/// documents.insert(
///     ".zarray",
///     r#"{"zarr_format": 2, "shape": [0], "chunks": [0], "dtype": "<i4", "fill_value": "7", "order": "C", "compressor": null,
///         "filters": null}"#,
/// );
/// let documents = corrected(Dialect::V2, &NodePath::root(), &documents);
/// let text = String::from_utf8_lossy(documents.get(".zarray").unwrap_or_default());
/// assert!(text.contains("\"fill_value\": 7"), "{text}");
/// ```
#[must_use]
pub fn corrected(dialect: Dialect, path: &NodePath, documents: &Documents) -> Documents {
    let rules = rules(dialect);
    let unmarked: Documents =
        documents.iter().map(|(key, bytes)| (key.to_owned(), without_mark(bytes).to_vec())).collect();
    let Ok(Some(parsed)) = rules.parse(path, &unmarked) else { return unmarked };
    if parsed.odd_members.is_empty() {
        return unmarked;
    }
    let Ok(canonical) = rules.write(dialect, path, &parsed.node, &unmarked) else { return unmarked };
    let mut after = unmarked.clone();
    for (key, base) in &canonical {
        let old = unmarked.get(key).and_then(|bytes| parse(bytes, ParseOptions::ALL).ok()).map(|old| old.value);
        let Some(Value::Object(old)) = old else { continue };
        let right = put_right(&old, base, odd_of(&parsed, key));
        if right != old {
            after.insert(key.as_str(), text(&right));
        }
    }
    // What means the same, means the same.
    match says(rules, path, &after, &parsed.node) {
        Ok(()) => after,
        Err(_) => unmarked,
    }
}

/// Returns the bytes without a leading byte order mark.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Returns `old` with the changes from `base` to `new` applied, where `base` is a document of equal meaning to `old`.
fn merge(old: &Map, base: &Map, new: &Map) -> Map {
    // Only an order that is the document's own is kept: whoever sets an attribute gives its members their order.
    if old.len() == base.len() && old.iter().zip(base.iter()).all(|((old, _), (base, _))| old == base) {
        let member = |(position, (name, value)): (usize, (&str, &Value))| {
            let value = match (old.get_near(position, name), base.get_near(position, name)) {
                (Some(old), Some(base)) => merge_value(old, base, value),
                _ => value.clone(),
            };
            (name.to_owned(), value)
        };
        return new.iter().enumerate().map(member).collect();
    }
    let mut merged = Vec::new();
    for (position, (name, value)) in old.iter().enumerate() {
        match (base.get_near(position, name), new.get_near(position, name)) {
            (Some(base), Some(new)) => merged.push((name.to_owned(), merge_value(value, base, new))),
            (None, Some(new)) => merged.push((name.to_owned(), new.clone())),
            (None, None) => merged.push((name.to_owned(), value.clone())),
            (Some(_), None) => {}
        }
    }
    for (position, (name, value)) in new.iter().enumerate() {
        if old.get_near(position, name).is_none() && base.get_near(position, name) != Some(value) {
            merged.push((name.to_owned(), value.clone()));
        }
    }
    merged.into_iter().collect()
}

fn merge_value(old: &Value, base: &Value, new: &Value) -> Value {
    match (old, base, new) {
        // Not `same`: whoever makes 1 of 1.0 wants it so.
        _ if base == new => old.clone(),
        (Value::Object(old), Value::Object(base), Value::Object(new)) => Value::Object(merge(old, base, new)),
        (Value::Array(old), Value::Array(base), Value::Array(new))
            if old.len() == base.len() && base.len() == new.len() =>
        {
            let items = old.iter().zip(base).zip(new);
            Value::Array(items.map(|((old, base), new)| merge_value(old, base, new)).collect())
        }
        _ => new.clone(),
    }
}
