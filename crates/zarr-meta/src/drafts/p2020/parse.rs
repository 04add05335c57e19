//! Reading documents of the protocol drafts.

use super::data_type;
use super::entry::{self, Form};
use crate::dialect::rules::Parsed;
use crate::dialect::{Dialect, fill, layout, numcodecs, uri};
use crate::drafts::v3::data_type::Accept;
use crate::drafts::v3::unknown::NotKnown;
use crate::drafts::v3::{self, codec, members};
use crate::error::Result;
use crate::{ArrayMetadata, ChunkKeyForm, Documents, GroupMetadata, Node, NodePath, Warning};
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Deviation, DeviationKind, Map, NamedConfig, ParseOptions, Value, json};

/// Members of documents of arrays. `dimension_separator` is a stray member of zarr-python 2; the separator in the grid counts.
const ARRAY: [&str; 10] = [
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_memory_layout",
    "compressor",
    "fill_value",
    "extensions",
    "attributes",
    "storage_transformers",
    "dimension_separator",
];

const GROUP: [&str; 2] = ["extensions", "attributes"];

pub(super) fn parse(path: &NodePath, documents: &Documents) -> Result<Option<Parsed>> {
    let form = Form::of(documents)?;
    let has_entry = documents.contains(entry::KEY);
    let (array_key, group_key) = (form.array_key(path), form.group_key(path));
    let mut parsed = if let Some((value, warnings)) = document(&array_key, documents)? {
        let mut parsed = array(&At::root(&value), path, &form).map_err(|error| error.in_document(&array_key))?;
        parsed.warnings.iter_mut().for_each(|warning| warning.key.clone_from(&array_key));
        parsed.warnings.extend(warnings);
        parsed = parsed.with_odd_members(&array_key, &["fill_value", "compressor"]);
        if documents.contains(&group_key) {
            parsed.warnings.push(Warning::hidden(&group_key, Dialect::V3Protocol2020, Dialect::V3Protocol2020));
        }
        parsed
    } else if let Some((value, warnings)) = document(&group_key, documents)? {
        let mut parsed = group(&At::root(&value)).map_err(|error| error.in_document(&group_key))?;
        parsed.warnings.iter_mut().for_each(|warning| warning.key.clone_from(&group_key));
        parsed.warnings.extend(warnings);
        parsed
    } else if path.is_root() && has_entry {
        let mut parsed = Parsed::new(Dialect::V3Protocol2020, Node::Group(GroupMetadata::default()), Vec::new());
        parsed.implicit = true;
        parsed
    } else {
        return Ok(None);
    };
    if !has_entry {
        let what = "missing; the document of zarr-python 2 is taken for granted";
        parsed.warnings.push(Warning::new(entry::KEY, "", what));
    }
    Ok(Some(parsed))
}

fn document(key: &str, documents: &Documents) -> Result<Option<(Value, Vec<Warning>)>> {
    // Python writes a literal where it has NaN; duplicate members in attributes are the user's business.
    let permitted = |deviation: &Deviation| match deviation.kind {
        DeviationKind::NanLiteral(_) | DeviationKind::TrailingComma => true,
        _ => deviation.pointer.strip_prefix("/attributes").is_some_and(|rest| !rest.is_empty()),
    };
    let Some((value, deviations)) = documents.json(key, ParseOptions::ALL, permitted)? else { return Ok(None) };
    let value = only_in_attributes(value);
    Ok(Some((value, deviations.into_iter().map(|deviation| Warning::of(key, deviation)).collect())))
}

/// Replaces literals of NaN and infinities by strings, except in attributes.
fn only_in_attributes(value: Value) -> Value {
    let Value::Object(members) = value else { return value };
    let member = |(name, value): (String, Value)| {
        let value = if name == "attributes" { value } else { value.without_nan_literals() };
        (name, value)
    };
    Value::Object(members.into_iter().map(member).collect())
}

fn attributes(at: &At<'_>) -> Result<Map, ValueError> {
    at.get_non_null("attributes").map_or_else(|| Ok(Map::new()), |attributes| attributes.object().cloned())
}

/// Returns members that no draft defines. They are preserved, with a warning whose key the caller has to set.
fn extra(at: &At<'_>, known: &[&str], warnings: &mut Vec<Warning>) -> Result<Map> {
    let mut extra = members::extensions(at)?;
    for (name, member) in members::others(at, known)? {
        warnings.push(Warning::new("", member.pointer(), "not known, ignored"));
        extra.insert(name, member.value().clone());
    }
    Ok(extra)
}

fn group(at: &At<'_>) -> Result<Parsed> {
    let mut warnings = Vec::new();
    let extra = extra(at, &GROUP, &mut warnings)?;
    let group = GroupMetadata { attributes: attributes(at)?, consolidated: None, extra };
    Ok(Parsed::new(Dialect::V3Protocol2020, Node::Group(group), warnings))
}

fn array(at: &At<'_>, path: &NodePath, form: &Form) -> Result<Parsed> {
    let mut warnings = Vec::new();
    let shape = layout::shape(at)?;
    let data_type_at = at.member("data_type")?;
    let mut not_known = NotKnown::default();
    let (elements, unknown_type) = not_known.data_type(&data_type_at, data_type::parse)?;
    let (dtype, endian) = (&elements.dtype, &elements.endian);
    if let Some(error) = &not_known.fallback {
        let what = format!("{error}; the fallback is taken");
        warnings.push(Warning::new("", data_type_at.pointer(), what));
    }
    let grid_at = at.member("chunk_grid")?;
    let mut chunk_grid = not_known.grid(&grid_at, &shape, dtype.size().unwrap_or(1))?;
    let mut separator = if form.is_first { "." } else { "/" };
    if chunk_grid.name == "regular" {
        let chunk_shape = grid_at.member("chunk_shape")?;
        if chunk_shape.sizes()?.contains(&0) {
            return Err(chunk_shape.invalid("lengths above 0").into());
        }
        separator = members::separator(&grid_at)?.unwrap_or(separator);
    }
    let mut attributes = attributes(at)?;
    let (data_type, mut codecs) = codecs(at, &mut attributes, (dtype, endian), &mut warnings)?;
    codecs.splice(0..0, not_known.layout(&at.member("chunk_memory_layout")?, shape.len())?);
    let fill_at = at.member("fill_value")?;
    let fill_value = match &unknown_type {
        Some(_) => Some(fill_at.value().clone()).filter(|value| !value.is_null()),
        None => v3::fill::to_model(&fill_at, dtype, endian, &data_type.name, Accept::TypeStrings)?,
    };
    if unknown_type.is_none() {
        let odd = fill::deviation(&fill_at, dtype, fill_value.as_ref(), true);
        warnings.extend(odd.map(|(pointer, what)| Warning::new("", pointer, what)));
    }
    let storage_transformers = match at.get_non_null("storage_transformers") {
        Some(transformers) => not_known.transformers(&transformers, &mut chunk_grid, &mut codecs)?,
        None => Vec::new(),
    };
    let rank = shape.len();
    let array = ArrayMetadata {
        shape,
        data_type: unknown_type.unwrap_or(data_type),
        chunk_grid,
        chunk_key_encoding: key_encoding(form, rank, separator),
        fill_value,
        codecs,
        storage_transformers,
        dimension_names: None,
        attributes,
        extra: extra(at, &ARRAY, &mut warnings)?,
    };
    let mut parsed = Parsed::new(Dialect::V3Protocol2020, Node::Array(array), warnings).spelled_in(at.value());
    parsed.fallback_keys = fallback_keys(path, form, rank, separator);
    parsed.note_not_known(not_known, form.array_key(path).as_str());
    Ok(parsed.with_names_by_convention(("", "/attributes")))
}

/// Returns the data type, and the codecs: the filters, which zarr-python 2 keeps among the attributes, and the compressor.
fn codecs(
    at: &At<'_>,
    attributes: &mut Map,
    (dtype, endian): (&NumpyType, &ByteOrder),
    warnings: &mut Vec<Warning>,
) -> Result<(NamedConfig, Vec<NamedConfig>)> {
    let filters = filters(attributes.get("filters")).then(|| attributes.remove("filters")).flatten();
    let filters = filters.unwrap_or(json!([])).without_nan_literals();
    let mut compressor = None;
    if let Some(at) = at.get_non_null("compressor") {
        let codec_at = at.member("codec")?;
        let configuration = at.get_non_null("configuration");
        let pointer = configuration.as_ref().map_or_else(|| at.pointer(), At::pointer);
        let members = configuration.as_ref().map(At::object).transpose()?;
        let codec = codec::numcodecs_form(uri::id_at(&codec_at)?, members.into_iter().flat_map(Map::iter));
        compressor = Some((codec, pointer));
    }
    let mut chain = At::new(&filters, "/attributes/filters").items()?;
    chain.extend(compressor.as_ref().map(|(codec, pointer)| At::new(codec, pointer)));
    let odd = numcodecs::deviations(&chain);
    warnings.extend(odd.into_iter().map(|(pointer, what)| Warning::new("", pointer, what)));
    let (data_type, mut codecs) = numcodecs::to_model(&chain, dtype, endian)?;
    codec::name_by_uri(&mut codecs);
    Ok((data_type, codecs))
}

/// Returns whether the attribute `filters` is the list of filters, and not an attribute of the user.
pub(super) fn filters(attribute: Option<&Value>) -> bool {
    let list = attribute.and_then(Value::as_array).unwrap_or_default();
    !list.is_empty() && list.iter().all(|codec| codec.get("id").is_some_and(|id| id.as_str().is_some()))
}

/// Returns the chunk key encoding. In July 2020 keys are as in version 2, with `.` unless a document gives another separator. In later
/// forms the key of an array without dimensions is `c` according to the drafts and zarrita, but `c0` in zarr-python 2.
pub(super) fn key_encoding(form: &Form, rank: usize, separator: &str) -> NamedConfig {
    if form.is_first {
        return layout::keys("v2", separator);
    }
    let joined = layout::keys("joined", separator);
    if form.is_settled() && rank == 0 { layout::with_suffix(&joined, "0") } else { joined }
}

fn fallback_keys(path: &NodePath, form: &Form, rank: usize, separator: &str) -> Vec<ChunkKeyForm> {
    if form.is_first {
        return Vec::new();
    }
    let own = key_encoding(form, rank, separator);
    let mut encodings = vec![own.clone()];
    if rank == 0 {
        let joined = layout::keys("joined", separator);
        encodings.push(if own == joined { layout::with_suffix(&joined, "0") } else { joined });
    }
    let prefix = form.chunk_prefix(path);
    let other = encodings.get(1).map(|encoding| ChunkKeyForm { prefix, encoding: encoding.clone() });
    let mut fallback: Vec<_> = other.into_iter().collect();
    // The text of August 2020 had no `root` in keys of chunks. Below a node of that name they are the keys of other arrays.
    if path.names().next() != Some("root") {
        let prefix = Form::unrooted_prefix(path);
        fallback.extend(encodings.into_iter().map(|encoding| ChunkKeyForm { prefix: prefix.clone(), encoding }));
    }
    fallback
}
