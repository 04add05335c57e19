//! Conversion of nodes from one dialect to another.

mod carry;
mod meaning;
mod older;

mod nan_literals;

pub use carry::CARRIED;

use crate::codec_facts::{name_for, written_name};
use crate::conventions::ARRAY_DIMENSIONS;
use crate::dialect::codecs;
use crate::dialect::rules::{UNKNOWN_TYPE, is_ignorable};
use crate::dialect::table::rules;
use crate::dialect::typestr;
use crate::error::{Error, ErrorKind, Result};
use crate::filter_types::{normalize_filter_types, normalize_filter_types_for_ids};
use crate::write::first_difference;
use crate::{ArrayMetadata, Dialect, Documents, Node, NodePath};
use meaning::Translation;
use std::fmt;
use zarr_dtype::{ByteOrder, DataType, FillValue, NumpyType, Spelling};
use zarr_json::pointer::escaped;
use zarr_json::{Map, NamedConfig, Value};

/// Difference that arises when a node is stored in another dialect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// JSON pointer into [`Node::to_value`] to the value that changes.
    pub pointer: String,
    /// Description of the change, in words.
    pub what: String,
    /// Whether the value is lost: the new documents do not contain it in any form.
    pub is_loss: bool,
}

impl Note {
    /// Returns a note that the value at `pointer` is expressed in another way, described by `what`.
    pub fn change(pointer: impl Into<String>, what: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), what: what.into(), is_loss: false }
    }

    /// Returns a note that the value at `pointer` is left out; `why` gives the reason, or names the member that expresses it instead.
    pub fn loss(pointer: impl Into<String>, why: &str) -> Self {
        Self { pointer: pointer.into(), what: format!("left out; {why}"), is_loss: true }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.what)
    }
}

/// Returns the node of `dialect` that comes nearest to `node`, and notes of the differences.
///
/// [`documents`](crate::documents) can write the result. Chunks have to be encoded again if `codecs`, `data_type` or `chunk_grid` of the
/// result differ from `node`. Chunks have to get new keys if `chunk_key_encoding` differs.
///
/// Members that [`ForDialect::carry`] stored in an attribute when the node was converted away from `dialect` are restored.
///
/// NaN and infinities in attributes become strings, unless the dialect [allows literals of them](Dialect::allows_nan_literals).
///
/// # Errors
/// Fails with [`ErrorKind::NotExpressible`] naming the member if the dialect has nothing near the value or dimension names would be lost,
/// and with [`ErrorKind::UnsupportedVersion`] for a dialect that cannot be written.
pub fn for_dialect(node: &Node, dialect: Dialect) -> Result<(Node, Vec<Note>)> {
    fitted(node, None, dialect, None)
}

/// Returns the node of `dialect` that comes nearest to `node`, which is stored in the dialect `from`, as [`for_dialect`] does. If both
/// dialects are equal, literals of NaN and infinities stay in the attributes. [`documents`](crate::documents) then needs the previous
/// documents of the node.
///
/// # Errors
/// Fails in the same cases as [`for_dialect`].
pub fn for_dialect_from(node: &Node, from: Dialect, dialect: Dialect) -> Result<(Node, Vec<Note>)> {
    fitted(node, Some(from), dialect, None)
}

/// Returns the node of `dialect` that comes nearest to `node`, and stores members that `dialect` lacks in an attribute, see
/// [`ForDialect::carry`].
///
/// # Errors
/// Fails in the same cases as [`for_dialect`], except that dimension names are never a reason.
///
/// # Example
/// ```
/// use zarr_json::json;
/// use zarr_meta::{Dialect, GroupMetadata, Node, for_dialect, for_dialect_carrying};
///
/// let mut group = GroupMetadata::default();
/// group.extra.insert("note", json!({"must_understand": false, "text": "x"}));
/// let node = Node::Group(group);
/// let (v2, _) = for_dialect_carrying(&node, Dialect::V3, Dialect::V2)?;
/// assert!(v2.attributes().contains_key("_zarr_carried"));
/// let (back, _) = for_dialect(&v2, Dialect::V3)?;
/// assert_eq!(back, node);
/// # Ok::<(), zarr_meta::Error>(())
/// ```
pub fn for_dialect_carrying(node: &Node, from: Dialect, dialect: Dialect) -> Result<(Node, Vec<Note>)> {
    ForDialect::new(from, dialect).carry(true).convert(node)
}

/// Options for the conversion of a node into another dialect.
///
/// ```
/// use zarr_json::json;
/// use zarr_meta::{ArrayMetadata, Dialect, Documents, ForDialect, NodePath, StoredNode};
///
/// let mut documents = Documents::new();
/// documents.insert(
///     ".zarray",
///     r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4", "fill_value": -999, "order": "C",
///         "compressor": null, "filters": null}"#,
/// );
/// documents.insert(".zattrs", r#"{"_ARRAY_DIMENSIONS": ["x"]}"#);
/// let found = StoredNode::read(Dialect::V2, NodePath::root(), &documents)?.expect("an array");
/// let (node, _) = ForDialect::new(Dialect::V2, Dialect::V3).meaning(true).convert(&found.node)?;
/// // The base64 of -999 as a float64, which is how xarray reads it.
/// assert_eq!(node.attributes().get("_FillValue"), Some(&json!("AAAAAAA4j8A=")));
/// # Ok::<(), zarr_meta::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is converted until `convert`"]
pub struct ForDialect {
    from: Dialect,
    dialect: Dialect,
    carry: bool,
    meaning: bool,
    keep_fill_value: bool,
    all_stored: bool,
}

impl ForDialect {
    /// Options to convert a node that is stored in `from` to `dialect`, with all options off: values are converted literally.
    pub fn new(from: Dialect, dialect: Dialect) -> Self {
        Self { from, dialect, carry: false, meaning: false, keep_fill_value: false, all_stored: false }
    }

    /// Sets whether members that would get lost in the other dialect are stored in the attribute [`CARRIED`]: dimension names if some
    /// dimensions have none, an undefined fill value, members that need not be understood, storage transformers, another name of the data
    /// type. A later conversion into a dialect that can express the members restores them.
    pub fn carry(mut self, carry: bool) -> Self {
        self.carry = carry;
        self
    }

    /// Sets whether the conversion preserves the meaning of the node to xarray and netCDF-C instead of its literal values. The mark of
    /// missing data moves between the fill value of version 2 and the attribute `_FillValue` of version 3 (for the drafts see
    /// [`Dialect::fill_value_marks_missing`]). An array without dimensions gets an empty list of names in a dialect whose names are in
    /// attributes. Members private to NCZarr are left out of version 3. Literals of NaN and infinities stay in the attributes of every
    /// dialect, as zarr-python writes them in version 3, so that the node has to be written by
    /// [`documents_with_nan_literals`](crate::documents_with_nan_literals).
    pub fn meaning(mut self, meaning: bool) -> Self {
        self.meaning = meaning;
        self
    }

    /// Sets whether the fill value stays even if [`meaning`](Self::meaning) would change it. Needed if some chunks are not stored.
    pub fn keep_fill_value(mut self, keep: bool) -> Self {
        self.keep_fill_value = keep;
        self
    }

    /// Sets whether all chunks are stored. If so, a fill value NaN that marks nothing need not be preserved for missing chunks, and can be
    /// dropped in dialects whose fill values mark missing data, so that xarray finds no `_FillValue` that was not there before.
    pub fn all_stored(mut self, all_stored: bool) -> Self {
        self.all_stored = all_stored;
        self
    }

    /// Returns the node of the target dialect that comes nearest to `node`, and notes of the differences.
    ///
    /// # Errors
    /// Fails in the same cases as [`for_dialect`].
    pub fn convert(&self, node: &Node) -> Result<(Node, Vec<Note>)> {
        let meaning = Translation { from: self.from, keeps_fill: self.keep_fill_value, all_stored: self.all_stored };
        let meaning = Some(meaning).filter(|_| self.meaning);
        match self.carry {
            true => carry::carrying(node, self.from, self.dialect, meaning),
            false => fitted(node, Some(self.from), self.dialect, meaning),
        }
    }
}

fn fitted(
    node: &Node,
    from: Option<Dialect>,
    dialect: Dialect,
    meaning: Option<Translation>,
) -> Result<(Node, Vec<Note>)> {
    let rules = rules(dialect);
    let mut node = node.clone();
    let mut notes = Vec::new();
    let carried_fill = carry::restore(&mut node, dialect);
    if from != Some(dialect) && !may_have_nan_literals(dialect, meaning) {
        nan_literals::to_texts(node.attributes_mut(), &mut notes);
    }
    if let Some(meaning) = meaning {
        meaning.translate(&mut node, dialect, &mut notes);
        if let Some(fill) = carried_fill {
            meaning.restore_fill(&mut node, dialect, fill);
        }
    }
    if let (Node::Array(array), true) = (&mut node, from.is_some_and(Dialect::is_v3) && !dialect.is_v3()) {
        normalize_filter_types_for_ids(&mut array.codecs);
    }
    match (&mut node, dialect.is_v3()) {
        (Node::Array(array), true) => {
            array_for_v3(array, &mut notes);
            // A node that is in version 3 already keeps its spelling.
            if !from.is_some_and(Dialect::is_v3) {
                normalize_filter_types(&mut array.codecs);
            }
        }
        (Node::Array(array), false) => older::array(array, dialect, &mut notes)?,
        (Node::Group(group), true) => {
            drop_extra(&mut group.extra, |name, value| rules.may_have_member(false, name, value), &mut notes);
        }
        (Node::Group(group), false) => older::group(group, dialect, &mut notes),
    }
    // The dialect writes the node and reads it again: members that it cannot express come back different.
    let path = NodePath::root();
    let refused = |error: Error| error.with_kind(ErrorKind::NotExpressible);
    let mut stored = Documents::new();
    for (key, document) in rules.write(dialect, &path, &node, &stored)? {
        stored.insert(key, document.to_string().into_bytes());
    }
    let Some(parsed) = rules.parse(&path, &stored).map_err(refused)? else { return Ok((node, notes)) };
    let after = parsed.node.to_value();
    for (name, value) in node.to_value().as_object().into_iter().flat_map(Map::iter) {
        let pointer = format!("/{}", escaped(name));
        let other = after.get(name).cloned().unwrap_or_default();
        if let Some((pointer, was, is)) = first_difference(value, &other, &pointer) {
            notes.push(Note::change(pointer, format!("{was} becomes {is}")));
        }
    }
    let mut written = parsed.node;
    // Which is read as its fallback.
    if let (Node::Array(from), Node::Array(to)) = (&node, &mut written)
        && let Some(data_type) = from.extra.get(UNKNOWN_TYPE)
    {
        to.extra.insert(UNKNOWN_TYPE, data_type.clone());
    }
    Ok((written, notes))
}

/// Returns whether literals of NaN and infinities may stay in attributes. They are not valid JSON, but xarray writes and reads them in
/// version 3 too (zarr-python 3.1).
fn may_have_nan_literals(dialect: Dialect, meaning: Option<Translation>) -> bool {
    dialect.allows_nan_literals() || meaning.is_some()
}

fn drop_extra(extra: &mut Map, keep: impl Fn(&str, &Value) -> bool, notes: &mut Vec<Note>) {
    let dropped: Vec<String> =
        extra.iter().filter(|(name, value)| !keep(name, value)).map(|(name, _)| name.to_owned()).collect();
    for name in dropped {
        extra.remove(&name);
        notes.push(Note::loss(format!("/{}", escaped(&name)), "the dialect has no such member"));
    }
}

/// Gives an array without a fill value the zero of its data type, for dialects that have no null. If the zero of the type is not known, the
/// fill value stays null and is refused later.
fn define_fill_value(array: &mut ArrayMetadata, notes: &mut Vec<Note>) {
    if let (None, Some(zero)) = (&array.fill_value, zero(&array.data_type)) {
        notes.push(Note::change("/fill_value", format!("undefined becomes {}", zero.excerpt())));
        array.fill_value = Some(zero);
    }
}

fn array_for_v3(array: &mut ArrayMetadata, notes: &mut Vec<Note>) {
    drop_extra(&mut array.extra, |_, value| is_ignorable(value), notes);
    define_fill_value(array, notes);
    let is_xarray = array.attributes.get(ARRAY_DIMENSIONS).and_then(Value::as_array).is_some_and(|names| {
        let wanted = array.dimension_names.as_deref().unwrap_or_default();
        names.len() == wanted.len() && names.iter().zip(wanted).all(|(a, b)| a.as_str() == b.as_deref())
    });
    if is_xarray {
        array.attributes.remove(ARRAY_DIMENSIONS);
        notes.push(Note::change("/attributes/_ARRAY_DIMENSIONS", "becomes dimension_names"));
    }
    if array.dimension_names.as_ref().is_some_and(Vec::is_empty) {
        array.dimension_names = None;
    }
    older::settled_keys(&mut array.chunk_key_encoding, notes);
    read_names(&mut array.codecs);
    for codec in &mut array.codecs {
        codec.name = name_for(&codec.name, &array.data_type.name).to_owned();
    }
    without_views(&mut array.codecs, &array.data_type, "/codecs", notes);
    for (index, codec) in array.codecs.iter_mut().enumerate() {
        let pointer = format!("/codecs/{index}/configuration");
        if codec.configuration.remove("field_endian").is_some() {
            codec.configuration.insert("endian", "little");
            notes.push(Note::change(format!("{pointer}/endian"), "fields of mixed byte orders become little-endian"));
        }
        if codec.configuration.remove("index_checksum_optional").is_some() {
            let what = "shard indexes get a checksum, which they may not have had";
            notes.push(Note::change(format!("{pointer}/index_codecs"), what));
        }
    }
}

/// Renames codecs to the names that other software reads.
fn read_names(chain: &mut [NamedConfig]) {
    for codec in chain {
        let name = written_name(&codec.name, false);
        if name != codec.name {
            codec.name = name.to_owned();
        }
        codecs::change_chains(codec, &mut read_names);
    }
}

/// Removes codecs from array to array that follow a codec to bytes, since version 3 does not allow them; chunks have to be encoded without
/// them. The filters in front of them are removed too: their decoded values might differ from the values that were encoded.
fn without_views(chain: &mut Vec<NamedConfig>, data_type: &NamedConfig, pointer: &str, notes: &mut Vec<Note>) {
    if let Some(first) = chain.iter().position(|codec| codec.name == codecs::VIEW) {
        let behind = chain.split_off(first);
        // A shuffle takes whole elements, which the bytes that come without the views need not be.
        let stays = |codec: &NamedConfig| ![codecs::VIEW, "numcodecs.shuffle"].contains(&codec.name.as_str());
        chain.extend(behind.into_iter().filter(stays));
        if let Ok(dtype) = typestr::from_model(data_type)
            && dtype != NumpyType::Object
            && let Some(to_bytes) = codecs::array_to_bytes(chain)
        {
            let plain = typestr::bytes_codec(&dtype, &dtype.all_in(&ByteOrder::Little));
            let transposes = chain.iter().take_while(|codec| codec.name == "transpose").count();
            chain.splice(transposes..=to_bytes, [plain]);
        }
        let why = "the dialect has no filters that take bytes for an array of another type; chunks are encoded without them and \
                   without the filters in front of them";
        notes.push(Note::loss(pointer, why));
    }
    for (index, shard) in chain.iter_mut().enumerate().filter(|(_, codec)| codec.name == "sharding_indexed") {
        let Some(Value::Array(inner)) = shard.configuration.get_mut("codecs") else { continue };
        let Some(mut codecs) = inner.iter().map(NamedConfig::from_value).collect::<Option<Vec<_>>>() else { continue };
        let before = notes.len();
        without_views(&mut codecs, data_type, &format!("{pointer}/{index}/configuration/codecs"), notes);
        if notes.len() > before {
            *inner = codecs.iter().map(NamedConfig::to_value).collect();
        }
    }
}

/// Replaces the data type of an array by `data_type`, another name of the same type, and respells the fill value: `raw_bytes` uses base64,
/// `r8` and the like use a list.
fn rename(array: &mut ArrayMetadata, data_type: NamedConfig) {
    let respelled = |value: &Value| {
        let known = DataType::from_config(&data_type).ok()?;
        Some(FillValue::parse_as(&known, value, Spelling::Readable).ok()?.to_json(&known))
    };
    if let Some(value) = &array.fill_value
        && let Some(respelled) = respelled(value).filter(|respelled| !respelled.semantically_eq(value))
    {
        array.fill_value = Some(respelled);
    }
    array.data_type = data_type;
}

/// Returns the zero of a data type in the notation of version 3; `None` for types that are unknown or have very large elements.
fn zero(data_type: &NamedConfig) -> Option<Value> {
    let known = DataType::from_config(data_type).ok()?;
    // Larger zeros are not written into metadata, where they are spelled byte by byte.
    let largest = match known {
        DataType::FixedUtf32 { .. } | DataType::FixedBytes { .. } => return Some(Value::from("")),
        DataType::RawBits(_) | DataType::RawBytes { .. } => 1 << 16,
        _ => 1 << 20,
    };
    if known.item_size() > largest {
        return None;
    }
    Some(FillValue::zero(&known).to_json(&known))
}
