//! Reading documents of version 2.

use super::{ARRAY, ATTRIBUTES, GROUP};
use crate::dialect::rules::Parsed;
use crate::dialect::typestr;
use crate::dialect::{Dialect, attributes, fill, layout, numcodecs};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, Documents, GroupMetadata, Node, Warning};
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, ParseOptions, Value};

/// Members of `.zarray` that the specification names.
const MEMBERS: [&str; 9] =
    ["zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters", "dimension_separator"];

/// Members of `.zarray` that are codecs.
const CODECS: [&str; 2] = ["filters", "compressor"];

pub(super) fn parse(prefix: &str, documents: &Documents) -> Result<Option<Parsed>> {
    let key = |name: &str| format!("{prefix}{name}");
    // Python writes a literal where it has NaN.
    let nan_literals = ParseOptions::default().nan_literals(true);
    let mut warnings = Vec::new();
    let array_key = key(ARRAY);
    let group_key = key(GROUP);
    let mut parsed = if let Some((value, deviations)) = documents.json(&array_key, nan_literals, |_| true)? {
        let value = value.without_nan_literals();
        warnings.extend(deviations.into_iter().map(|deviation| Warning::of(&array_key, deviation)));
        if documents.contains(&group_key) {
            warnings.push(Warning::hidden(&group_key, Dialect::V2, Dialect::V2));
        }
        let mut odd = Vec::new();
        let (array, separator_unmarked) =
            array(&At::root(&value), &mut odd).map_err(|error| error.in_document(&array_key))?;
        warnings.extend(odd.into_iter().map(|(pointer, what)| Warning::new(&array_key, pointer, what)));
        let mut parsed = Parsed::new(Dialect::V2, Node::Array(array), warnings)
            .spelled_in(&value)
            .with_odd_members(&array_key, &MEMBERS);
        // Together they are one chain, which may be divided otherwise.
        let is_codec = |name: &str| CODECS.contains(&name);
        if parsed.odd_members.iter().any(|(_, name)| is_codec(name)) {
            parsed.odd_members.extend(CODECS.map(|name| (array_key.clone(), name.to_owned())));
        }
        parsed.separator_unmarked = separator_unmarked;
        parsed
    } else if let Some((value, deviations)) = documents.json(&group_key, nan_literals, |_| true)? {
        let value = value.without_nan_literals();
        warnings.extend(deviations.into_iter().map(|deviation| Warning::of(&group_key, deviation)));
        let group = group(&At::root(&value)).map_err(|error| error.in_document(&group_key))?;
        Parsed::new(Dialect::V2, Node::Group(group), warnings)
    } else {
        return Ok(None);
    };
    match attributes::read(&key(ATTRIBUTES), documents, &mut parsed.warnings) {
        Ok(attributes) => *parsed.node.attributes_mut() = attributes,
        Err(error) => parsed.attributes_error = Some(error),
    }
    Ok(Some(parsed.with_names_by_convention((&key(ATTRIBUTES), ""))))
}

fn check_format(at: &At<'_>) -> Result<()> {
    let format = at.member("zarr_format")?;
    if format.value().as_u64() == Some(2) {
        Ok(())
    } else {
        Err(Error::about(&format, ErrorKind::UnsupportedVersion, "2"))
    }
}

fn group(at: &At<'_>) -> Result<GroupMetadata> {
    check_format(at)?;
    Ok(GroupMetadata { extra: extra(at, &["zarr_format"])?, ..GroupMetadata::default() })
}

fn array(at: &At<'_>, odd: &mut Vec<(String, String)>) -> Result<(ArrayMetadata, bool)> {
    check_format(at)?;
    let shape = layout::shape(at)?;
    let stored_type = at.member("dtype")?;
    let (dtype, endian, unknown) = match typestr::parse(&stored_type) {
        Ok((dtype, endian)) => (dtype, endian, None),
        // Its elements cannot be read, but the rest of its metadata can.
        Err(error) if error.kind() == ErrorKind::UnknownExtension => {
            (NumpyType::Raw(1), ByteOrder::Irrelevant, Some(unknown_type(stored_type.value())))
        }
        Err(error) => return Err(error),
    };
    if unknown.is_none() {
        odd.extend(typestr::deviations(&stored_type));
    }
    let chunks = at.member("chunks")?;
    let chunk_grid = layout::regular(&chunks, &shape, dtype.size().unwrap_or(1))?;
    if chunks.sizes()?.contains(&0) {
        odd.push((chunks.pointer(), "chunks of length 0, read as 1".to_owned()));
    }
    let filters = at.get_non_null("filters").map_or_else(|| Ok(Vec::new()), |filters| filters.items())?;
    let compressor = at.get_non_null("compressor");
    let stored: Vec<_> = filters.into_iter().chain(compressor).collect();
    let dtype = match of_variable_length(&dtype, stored.first()) {
        Some(what) => {
            odd.push((stored_type.pointer(), what.to_owned()));
            NumpyType::Object
        }
        None => dtype,
    };
    let (data_type, mut codecs) = numcodecs::to_model(&stored, &dtype, &endian)?;
    odd.extend(numcodecs::deviations(&stored));
    let is_unknown = unknown.is_some();
    let data_type = unknown.unwrap_or(data_type);
    if let Some(transpose) = layout::to_model(&at.member("order")?, shape.len())? {
        codecs.insert(0, transpose);
    }
    for name in CODECS.into_iter().filter(|name| at.get(name).is_none()) {
        odd.push((format!("/{name}"), "missing, read as null".to_owned()));
    }
    if at.get("fill_value").is_none() {
        let what = "missing, read as null: elements that are not stored are undefined, and read as zero";
        odd.push(("/fill_value".to_owned(), what.to_owned()));
    }
    let fill_value = at.get("fill_value");
    let fill_value = match fill_value {
        Some(at) if is_unknown => Some(at.value().clone()).filter(|value| !value.is_null()),
        Some(at) => fill::to_model(&at, &dtype, &endian, &data_type.name)?,
        None => None,
    };
    if let (Some(at), false) = (at.get("fill_value"), is_unknown) {
        odd.extend(fill::deviation(&at, &dtype, fill_value.as_ref(), false));
    }
    let separator = at.get_non_null("dimension_separator");
    let separator_text = match separator.as_ref().map(|at| at.value().as_str()) {
        None | Some(Some(".")) => ".",
        Some(Some("/")) => "/",
        _ => return Err(separator.unwrap_or_else(|| at.clone()).invalid("\".\" or \"/\"").into()),
    };
    let array = ArrayMetadata {
        shape,
        data_type,
        chunk_grid,
        chunk_key_encoding: layout::keys("v2", separator_text),
        fill_value,
        codecs,
        storage_transformers: Vec::new(),
        dimension_names: None,
        attributes: Map::new(),
        extra: extra(at, &MEMBERS)?,
    };
    Ok((array, separator.is_none()))
}

/// Returns the deviation of an array whose dtype has a fixed length but whose first filter is for elements of variable length, as
/// zarr-python 3.0 wrote by default: the elements are stored with variable length.
fn of_variable_length(dtype: &NumpyType, filter: Option<&At<'_>>) -> Option<&'static str> {
    let id = filter?.get("id")?;
    match (dtype, id.value().as_str()?) {
        (NumpyType::Text(_), "vlen-utf8") => {
            Some("strings of a fixed length behind vlen-utf8, read as strings of any length")
        }
        (NumpyType::Bytes(_), "vlen-bytes") => {
            Some("bytes of a fixed length behind vlen-bytes, read as bytes of any length")
        }
        _ => None,
    }
}

/// Returns the model's data type for an unknown type: its JSON text as the name, since a bare name might be a name of version 3.
fn unknown_type(stored: &Value) -> NamedConfig {
    NamedConfig::new(stored.to_string())
}

/// Returns the members that the specification does not name, such as those of netCDF-C and GDAL.
fn extra(at: &At<'_>, known: &[&str]) -> Result<Map, Error> {
    let members = at.object()?.iter().filter(|(name, _)| !known.contains(name));
    Ok(members.map(|(name, value)| (name.to_owned(), value.clone())).collect())
}
