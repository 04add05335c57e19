//! Reading documents of the core draft of 2022.

use super::{Entry, Kind};
use crate::dialect::rules::Parsed;
use crate::dialect::typestr;
use crate::dialect::{Dialect, codecs, layout, numcodecs, uri};
use crate::drafts::v3::data_type::{Accept, Elements};
use crate::drafts::v3::unknown::NotKnown;
use crate::drafts::v3::{codec, data_type, fill, members};
use crate::error::{Error, Result};
use crate::{ArrayMetadata, ChunkKeyForm, Documents, GroupMetadata, Node, NodePath, Warning};
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Deviation, DeviationKind, Map, NamedConfig, ParseOptions, Value};

/// Members of a document of an array.
const ARRAY: [&str; 9] = [
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_memory_layout",
    "codecs",
    "fill_value",
    "extensions",
    "attributes",
    "storage_transformers",
];

pub(super) fn parse(path: &NodePath, entry: &Entry, documents: &Documents) -> Result<Option<Parsed>> {
    let [array_key, group_key] = [Kind::Array, Kind::Group].map(|kind| entry.key(path, kind));
    let mut warnings = entry.warnings.clone();
    if let Some(value) = document(&array_key, documents, &mut warnings)? {
        if documents.contains(&group_key) {
            warnings.push(Warning::hidden(&group_key, Dialect::V3Draft2022, Dialect::V3Draft2022));
        }
        let at = At::root(&value);
        let mut odd = missing_members(&at, &["extensions", "attributes"]);
        let mut not_known = NotKnown::default();
        let array = array(&at, entry, &mut odd, &mut not_known).map_err(|error| error.in_document(&array_key))?;
        warnings.extend(odd.into_iter().map(|(pointer, what)| Warning::new(&array_key, pointer, what)));
        let mut warn = |pointer: &str, what: String| warnings.push(Warning::new(&array_key, pointer, what));
        if let Some(error) = &not_known.fallback {
            let name = array.data_type.short_value().excerpt();
            warn("/data_type", format!("{} is not known, the fallback {name} is used", error.found()));
        }
        if array.fill_value.is_none() {
            warn("/fill_value", "null: elements that are not stored are undefined, and read as zero".to_owned());
        }
        let is_scalar = array.shape.is_empty();
        let mut parsed = Parsed::new(Dialect::V3Draft2022, Node::Array(array), warnings)
            .spelled_in(&value)
            .with_odd_members(&array_key, &["fill_value", "codecs"]);
        parsed.note_not_known(not_known, &array_key);
        if is_scalar {
            parsed.fallback_keys.push(scalar_c0(format!("data/{}", path.key_prefix())));
        }
        return Ok(Some(parsed.with_names_by_convention((&array_key, "/attributes"))));
    }
    if let Some(value) = document(&group_key, documents, &mut warnings)? {
        let at = At::root(&value);
        let group = group(&at, entry).map_err(|error| error.in_document(&group_key))?;
        let odd = missing_members(&at, &["attributes"]).into_iter();
        warnings.extend(odd.map(|(pointer, what)| Warning::new(&group_key, pointer, what)));
        return Ok(Some(Parsed::new(Dialect::V3Draft2022, Node::Group(group), warnings)));
    }
    // The root is there as soon as there is a hierarchy.
    if !path.is_root() {
        return Ok(None);
    }
    let mut root = Parsed::new(Dialect::V3Draft2022, Node::Group(GroupMetadata::default()), warnings);
    root.implicit = true;
    Ok(Some(root))
}

fn document(key: &str, documents: &Documents, warnings: &mut Vec<Warning>) -> Result<Option<Value>> {
    // The group example of the text has a trailing comma; the content of attributes is the user's business.
    let permitted = |deviation: &Deviation| {
        deviation.kind == DeviationKind::TrailingComma || deviation.pointer.starts_with("/attributes/")
    };
    let Some((value, deviations)) = documents.json(key, ParseOptions::ALL, permitted)? else { return Ok(None) };
    warnings.extend(deviations.into_iter().map(|deviation| Warning::of(key, deviation)));
    At::root(&value).object().map_err(|error| Error::from(error).in_document(key))?;
    Ok(Some(value))
}

/// Returns the chunk key form for the chunk of an array without dimensions that zarr-python stored at `c0`, contrary to the specification.
fn scalar_c0(prefix: String) -> ChunkKeyForm {
    ChunkKeyForm { prefix, encoding: layout::with_suffix(&layout::keys("joined", "/"), "0") }
}

fn attributes(at: &At<'_>) -> Result<Map, ValueError> {
    at.get("attributes").map_or_else(|| Ok(Map::new()), |attributes| attributes.object().cloned())
}

/// Returns members that a later version may have; they are preserved.
fn extra(at: &At<'_>, entry: &Entry, known: &[&str]) -> Result<Map> {
    entry.no_others(at, known)?;
    Ok(members::others(at, known)?.into_iter().map(|(name, at)| (name.to_owned(), at.value().clone())).collect())
}

fn group(at: &At<'_>, entry: &Entry) -> Result<GroupMetadata> {
    Ok(GroupMetadata {
        attributes: attributes(at)?,
        extra: extra(at, entry, &["attributes"])?,
        ..GroupMetadata::default()
    })
}

/// Returns warnings about members that the specification requires; a missing one is read as its default.
fn missing_members(at: &At<'_>, names: &[&str]) -> Vec<(String, String)> {
    let missing = names.iter().filter(|name| at.get(name).is_none());
    missing
        .map(|name| (format!("{}/{name}", at.pointer()), "missing, though the specification requires it".to_owned()))
        .collect()
}

/// Returns an error for undefined members in a data type extension and in its fallback types.
fn no_other_members_of_types(at: &At<'_>, entry: &Entry) -> Result<()> {
    entry.no_others(at, &["extension", "type", "fallback"])?;
    let Some(fallback) = at.get("fallback") else { return Ok(()) };
    let one = |at: &At<'_>| {
        at.value().as_object().map_or(Ok(()), |_| entry.no_others(at, &["extension", "type", "fallback"]))
    };
    match fallback.value().as_array() {
        Some(_) => fallback.items()?.iter().try_for_each(one),
        None => one(&fallback),
    }
}

fn array(
    at: &At<'_>,
    entry: &Entry,
    odd: &mut Vec<(String, String)>,
    not_known: &mut NotKnown,
) -> Result<ArrayMetadata> {
    let shape = layout::shape(at)?;
    let type_at = at.member("data_type")?;
    if type_at.value().as_object().is_some() {
        no_other_members_of_types(&type_at, entry)?;
    }
    let parse_type = |at: &At<'_>| data_type::parse(at, Accept::Names);
    let (Elements { dtype, endian, .. }, unknown_type) = not_known.data_type(&type_at, parse_type)?;
    let grid_at = at.member("chunk_grid")?;
    let mut chunk_grid = not_known.grid(&grid_at, &shape, dtype.size().unwrap_or(1))?;
    let mut separator = "/";
    if chunk_grid.name == "regular" {
        entry.no_others(&grid_at, &["type", "chunk_shape", "separator"])?;
        separator = members::separator(&grid_at)?.unwrap_or(separator);
        odd.extend(missing_members(&grid_at, &["separator"]));
    }
    let (data_type, endian, mut codecs) = match at.get("codecs") {
        None => chain(&[], entry, &dtype, endian, odd)?,
        Some(list) => chain(&list.items()?, entry, &dtype, endian, odd)?,
    };
    codecs.splice(0..0, not_known.layout(&at.member("chunk_memory_layout")?, shape.len())?);
    let mut storage_transformers = Vec::new();
    if let Some(list) = at.get("storage_transformers") {
        storage_transformers = not_known.transformers(&list, &mut chunk_grid, &mut codecs)?;
        for item in list.items()?.iter().filter(|_| storage_transformers.is_empty()) {
            entry.no_others(item, &["extension", "storage_transformer", "type", "format", "configuration"])?;
            item.get("configuration").map_or(Ok(()), |it| entry.no_others(&it, &["chunks_per_shard"]))?;
        }
    }
    if let Some(list) = at.get("extensions") {
        entry.no_others_in_extensions(&list)?;
    }
    let fill_at = at.member("fill_value")?;
    let fill_value = match &unknown_type {
        Some(_) => Some(fill_at.value().clone()).filter(|value| !value.is_null()),
        None => fill::to_model(&fill_at, &dtype, &endian, &data_type.name, Accept::Names)?,
    };
    if unknown_type.is_none() {
        odd.extend(crate::dialect::fill::deviation(&fill_at, &dtype, fill_value.as_ref(), true));
    }
    let mut more = members::extensions(at)?;
    extra(at, entry, &ARRAY)?.iter().for_each(|(name, value)| drop(more.insert(name, value.clone())));
    Ok(ArrayMetadata {
        fill_value,
        shape,
        data_type: unknown_type.unwrap_or(data_type),
        chunk_grid,
        chunk_key_encoding: layout::keys("joined", separator),
        codecs,
        storage_transformers,
        dimension_names: None,
        attributes: attributes(at)?,
        extra: more,
    })
}

/// Returns the data type, the byte order of elements (from the codec `endian`, or else from the data type), and the codecs.
fn chain(
    items: &[At<'_>],
    entry: &Entry,
    dtype: &NumpyType,
    endian: ByteOrder,
    odd: &mut Vec<(String, String)>,
) -> Result<(NamedConfig, ByteOrder, Vec<NamedConfig>)> {
    let mut stored = Vec::new();
    let mut said = None;
    for item in items {
        let uri = item.member("type")?;
        let id = uri::id_at(&uri)?;
        entry.no_others(item, &["type", "configuration"])?;
        let configuration = item.get("configuration");
        let members = configuration.as_ref().map_or(Ok(None), |configuration| configuration.object().map(Some))?;
        let pointer = configuration.as_ref().map_or(item.pointer(), |configuration| configuration.pointer());
        if id != "endian" {
            stored.push((codec::numcodecs_form(id, members.into_iter().flat_map(Map::iter)), pointer.to_owned()));
            continue;
        }
        let order = configuration.map_or_else(|| item.member("configuration"), Ok)?.member("endian")?;
        let word = match order.text()? {
            word @ ("little" | "big") => word.to_owned(),
            _ => return Err(order.invalid("\"little\" or \"big\"").into()),
        };
        if said.replace((stored.len(), word, item)).is_some() {
            return Err(item.invalid("one codec only that turns the array into bytes").into());
        }
    }
    let stored: Vec<At<'_>> = stored.iter().map(|(value, pointer)| At::new(value, pointer)).collect();
    odd.extend(numcodecs::deviations(&stored));
    // Without codecs of arrays in front of it, the codec says the byte order of the array itself.
    let endian = match &said {
        Some((0, word, _)) => dtype.all_in(&typestr::order(word)),
        _ => endian,
    };
    let of_arrays = said.as_ref().map_or(0, |(index, ..)| *index);
    let (data_type, mut chain) = numcodecs::to_model_in_one_order(&stored, of_arrays, dtype, &endian)?;
    codec::name_by_uri(&mut chain);
    if let Some((index, word, item)) = said {
        let Some(bytes) = chain.get_mut(index).filter(|codec| codec.name == "bytes") else {
            return Err(item.invalid("a codec of arrays at this index").into());
        };
        if !bytes.configuration.is_empty() {
            *bytes = codecs::bytes(Some(&word));
        }
    }
    Ok((data_type, endian, chain))
}
