//! Reading documents of the first protocol draft.

use super::Keys;
use crate::dialect::rules::Parsed;
use crate::dialect::{Dialect, detect, layout, numcodecs, uri};
use crate::drafts::v3::data_type::{Accept, Elements};
use crate::drafts::v3::unknown::NotKnown;
use crate::drafts::v3::{codec, data_type, fill, members};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, Documents, GroupMetadata, Node, Warning};
use zarr_json::pointer::At;
use zarr_json::{Deviation, DeviationKind, Map, ParseOptions, Value};

/// Members of a document of an array.
const ARRAY: [&str; 10] = [
    "zarr_format",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_memory_layout",
    "chunk_codecs",
    "compressor",
    "fill_value",
    "extensions",
    "attributes",
];

pub(super) fn parse(keys: &Keys, documents: &Documents) -> Result<Option<Parsed>> {
    let mut warnings = Vec::new();
    if let Some(value) = document(&keys.array, documents, &mut warnings)? {
        if documents.contains(&keys.group) {
            warnings.push(Warning::hidden(&keys.group, Dialect::V3Protocol2019, Dialect::V3Protocol2019));
        }
        let in_document = |error: Error| error.in_document(&keys.array);
        let mut odd = Vec::new();
        let mut not_known = NotKnown::default();
        let mut array = array(&At::root(&value), &mut odd, &mut not_known).map_err(in_document)?;
        warnings.extend(odd.into_iter().map(|(pointer, what)| Warning::new(&keys.array, pointer, what)));
        if let Some(error) = &not_known.fallback {
            let name = array.data_type.short_value().excerpt();
            let what = format!("{} is not known, the fallback {name} is used", error.found());
            warnings.push(Warning::new(&keys.array, "/data_type", what));
        }
        array.attributes = attributes(&value, &keys.array, &keys.array_attributes, documents, &mut warnings)?;
        let mut parsed = Parsed::new(Dialect::V3Protocol2019, Node::Array(array), warnings)
            .spelled_in(&value)
            .with_odd_members(&keys.array, &["fill_value"]);
        parsed.note_not_known(not_known, &keys.array);
        let is_inside = value.get("attributes").is_some();
        let place = if is_inside { (keys.array.as_str(), "/attributes") } else { (keys.array_attributes.as_str(), "") };
        return Ok(Some(parsed.with_names_by_convention(place)));
    }
    let Some(value) = document(&keys.group, documents, &mut warnings)? else { return Ok(None) };
    let mut group = group(&At::root(&value)).map_err(|error| error.in_document(&keys.group))?;
    group.attributes = attributes(&value, &keys.group, &keys.group_attributes, documents, &mut warnings)?;
    Ok(Some(Parsed::new(Dialect::V3Protocol2019, Node::Group(group), warnings)))
}

fn document(key: &str, documents: &Documents, warnings: &mut Vec<Warning>) -> Result<Option<Value>> {
    // An example of the text has a trailing comma; the content of attributes is the user's business.
    let permitted = |deviation: &Deviation| {
        deviation.kind == DeviationKind::TrailingComma || deviation.pointer.starts_with("/attributes/")
    };
    let Some((value, deviations)) = documents.json(key, ParseOptions::ALL, permitted)? else { return Ok(None) };
    warnings.extend(deviations.into_iter().map(|deviation| Warning::of(key, deviation)));
    check_format(&At::root(&value)).map_err(|error| error.in_document(key))?;
    Ok(Some(value))
}

/// Checks the version, which may be missing; otherwise it must be a URI of this draft.
fn check_format(at: &At<'_>) -> Result<()> {
    at.object()?;
    match (at.get("zarr_format"), detect::of_zarr_json(at.value())) {
        (None, _) | (_, Some(Dialect::V3Protocol2020)) => Ok(()),
        (Some(format), _) => Err(Error::about(&format, ErrorKind::UnsupportedVersion, super::URI)),
    }
}

/// Returns the attributes, from a member of the document or from a separate document.
fn attributes(
    document: &Value,
    key: &str,
    beside: &str,
    documents: &Documents,
    warnings: &mut Vec<Warning>,
) -> Result<Map> {
    if let Some(member) = At::root(document).get("attributes") {
        return member.object().cloned().map_err(|error| Error::from(error).in_document(key));
    }
    let Some((value, deviations)) = documents.json(beside, ParseOptions::ALL, |_| true)? else { return Ok(Map::new()) };
    warnings.extend(deviations.into_iter().map(|deviation| Warning::of(beside, deviation)));
    At::root(&value).object().cloned().map_err(|error| Error::from(error).in_document(beside))
}

fn extra(at: &At<'_>, known: &[&str]) -> Result<Map> {
    let mut extra = members::extensions(at)?;
    for (name, member) in members::others(at, known)? {
        extra.insert(name, member.value().clone());
    }
    Ok(extra)
}

fn group(at: &At<'_>) -> Result<GroupMetadata> {
    let extra = extra(at, &["zarr_format", "extensions", "attributes"])?;
    Ok(GroupMetadata { extra, ..GroupMetadata::default() })
}

fn array(at: &At<'_>, odd: &mut Vec<(String, String)>, not_known: &mut NotKnown) -> Result<ArrayMetadata> {
    let shape = layout::shape(at)?;
    let parse_type = |at: &At<'_>| data_type::parse(at, Accept::TypeStrings);
    let (Elements { dtype, endian, .. }, unknown_type) = not_known.data_type(&at.member("data_type")?, parse_type)?;
    let chunk_grid = not_known.grid(&at.member("chunk_grid")?, &shape, dtype.size().unwrap_or(1))?;
    let stored = stored_codecs(at)?;
    let stored: Vec<At<'_>> = stored.iter().map(|(value, pointer)| At::new(value, pointer)).collect();
    odd.extend(numcodecs::deviations(&stored));
    let (data_type, mut codecs) = numcodecs::to_model(&stored, &dtype, &endian)?;
    codec::name_by_uri(&mut codecs);
    codecs.splice(0..0, not_known.layout(&at.member("chunk_memory_layout")?, shape.len())?);
    let fill_value = match at.get("fill_value") {
        None => None,
        Some(value) if unknown_type.is_some() => Some(value.value().clone()).filter(|value| !value.is_null()),
        Some(value) => {
            let read = fill::to_model(&value, &dtype, &endian, &data_type.name, Accept::TypeStrings)?;
            odd.extend(crate::dialect::fill::deviation(&value, &dtype, read.as_ref(), true));
            read
        }
    };
    Ok(ArrayMetadata {
        shape,
        data_type: unknown_type.unwrap_or(data_type),
        chunk_grid,
        chunk_key_encoding: layout::keys("v2", "."),
        fill_value,
        codecs,
        storage_transformers: Vec::new(),
        dimension_names: None,
        attributes: Map::new(),
        extra: extra(at, &ARRAY)?,
    })
}

/// Returns the codecs in the form of numcodecs, with JSON pointers to them.
fn stored_codecs(at: &At<'_>) -> Result<Vec<(Value, String)>> {
    let mut stored = Vec::new();
    if let Some(list) = at.get_non_null("chunk_codecs") {
        for item in list.items()? {
            let id = uri::id_at(&item.member("codec")?)?;
            if let Some(nested) = item.get("configuration") {
                return Err(Error::about(&nested, ErrorKind::UnknownMember, "the parameters beside `codec`"));
            }
            let parameters = item.object()?.iter().filter(|(name, _)| *name != "codec");
            stored.push((codec::numcodecs_form(id, parameters), item.pointer()));
        }
    }
    // The next texts had one codec, with its parameters in an object of their own.
    if let Some(item) = at.get_non_null("compressor") {
        let id = uri::id_at(&item.member("codec")?)?;
        if let Some((_, beside)) = members::others(&item, &["codec", "configuration"])?.first() {
            return Err(Error::about(beside, ErrorKind::UnknownMember, "the parameters in `configuration`"));
        }
        let configuration = item.get_non_null("configuration");
        let parameters = configuration.as_ref().map(At::object).transpose()?;
        let pointer = configuration.as_ref().map_or_else(|| item.pointer(), At::pointer);
        stored.push((codec::numcodecs_form(id, parameters.into_iter().flat_map(Map::iter)), pointer));
    }
    Ok(stored)
}
