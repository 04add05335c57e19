//! Reading documents of version 1.

use super::{ARRAY, ATTRIBUTES, fill};
use crate::dialect::attributes;
use crate::dialect::rules::Parsed;
use crate::dialect::typestr;
use crate::dialect::{Dialect, layout, numcodecs};
use crate::error::{Error, ErrorKind, Result};
use crate::{ArrayMetadata, Documents, Node, Warning};
use zarr_dtype::{ByteOrder, NumpyType};
use zarr_json::pointer::At;
use zarr_json::{Map, NamedConfig, ParseOptions, Value};

/// Members of `meta`, all of them mandatory. Other members are ignored.
const MEMBERS: [&str; 8] =
    ["zarr_format", "shape", "chunks", "dtype", "compression", "compression_opts", "fill_value", "order"];

pub(super) fn parse(documents: &Documents) -> Result<Option<Parsed>> {
    // Python writes a literal where it has NaN; in a fill value that is how version 1 says it.
    let nan_literals = ParseOptions::default().nan_literals(true);
    let Some((value, deviations)) = documents.json(ARRAY, nan_literals, |_| true)? else { return Ok(None) };
    let value = value.without_nan_literals();
    let odd = deviations.into_iter().filter(|deviation| deviation.pointer != "/fill_value");
    let mut warnings: Vec<_> = odd.map(|deviation| Warning::of(ARRAY, deviation)).collect();
    let mut odd = Vec::new();
    let (array, doubt) = array(&At::root(&value), &mut odd).map_err(|error| error.in_document(ARRAY))?;
    warnings.extend(odd.into_iter().map(|(pointer, what)| Warning::new(ARRAY, pointer, what)));
    let mut parsed = Parsed::new(Dialect::V1, Node::Array(array), warnings)
        .spelled_in(&value)
        .with_odd_members(ARRAY, &["dtype", "compression_opts", "fill_value"]);
    if let Some(codecs) = doubt {
        // The data does not show which of the two it is; a silent guess either way would be wrong for somebody.
        let what = "F order, read as the text of version 1 says; zarr-python 1, the only software that wrote it, stored C \
                    order here whatever the document says: see the option v1_f_order_is_c";
        parsed.warnings.push(Warning::new(ARRAY, "/order", what));
        parsed.codecs_if_c_order = Some(codecs);
    }
    if !documents.contains(ATTRIBUTES) {
        parsed.warnings.push(Warning::new(
            ATTRIBUTES,
            "",
            "missing, though the specification requires it; read as no attributes",
        ));
    }
    match attributes::read(ATTRIBUTES, documents, &mut parsed.warnings) {
        Ok(attributes) => *parsed.node.attributes_mut() = attributes,
        Err(error) => parsed.attributes_error = Some(error),
    }
    Ok(Some(parsed.with_names_by_convention((ATTRIBUTES, ""))))
}

/// Returns the array, and its codecs without the change to F order if that order is doubtful.
fn array(at: &At<'_>, odd: &mut Vec<(String, String)>) -> Result<(ArrayMetadata, Option<Vec<NamedConfig>>)> {
    let format = at.member("zarr_format")?;
    if format.value().as_u64() != Some(1) {
        return Err(Error::about(&format, ErrorKind::UnsupportedVersion, "1"));
    }
    let shape = layout::shape(at)?;
    let dtype_at = at.member("dtype")?;
    let (dtype, endian) = typestr::parse(&dtype_at)?;
    if dtype == NumpyType::Object {
        return Err(Error::about(
            &dtype_at,
            ErrorKind::UnknownExtension,
            "a type of a fixed size, all that version 1 has",
        ));
    }
    odd.extend(typestr::deviations(&dtype_at));
    let chunk_grid = layout::regular(&at.member("chunks")?, &shape, dtype.size().unwrap_or(1))?;
    let (data_type, mut codecs, is_blosc) = compression(at, &dtype, &endian, odd)?;
    let mut doubt = None;
    if let Some(transpose) = layout::to_model(&at.member("order")?, shape.len())? {
        doubt = (!is_blosc).then(|| codecs.clone());
        codecs.insert(0, transpose);
    }
    let fill_at = at.member("fill_value")?;
    let fill_value = fill::to_model(&fill_at, &dtype, &endian)?;
    odd.extend(fill::deviation(&fill_at, &dtype, fill_value.as_ref()));
    let members = at.object()?.iter().filter(|(name, _)| !MEMBERS.contains(name));
    let array = ArrayMetadata {
        shape,
        data_type,
        chunk_grid,
        chunk_key_encoding: layout::keys("v2", "."),
        fill_value,
        codecs,
        storage_transformers: Vec::new(),
        dimension_names: None,
        attributes: Map::new(),
        extra: members.map(|(name, value)| (name.to_owned(), value.clone())).collect(),
    };
    Ok((array, doubt))
}

/// Returns the data type, the codecs for the compressor, and whether the compressor is blosc.
fn compression(
    at: &At<'_>,
    dtype: &NumpyType,
    endian: &ByteOrder,
    odd: &mut Vec<(String, String)>,
) -> Result<(NamedConfig, Vec<NamedConfig>, bool)> {
    let name = at.member("compression")?;
    let options = at.member("compression_opts")?;
    let id = match name.value() {
        Value::Null => "none",
        _ => name.text()?,
    };
    // The codec that software called gzip is the stream of zlib.
    let (id, scalar) = match id {
        "none" => ("none", ""),
        "blosc" => ("blosc", "clevel"),
        "zlib" | "gzip" => ("zlib", "level"),
        "bz2" => ("bz2", "level"),
        "lzma" => ("lzma", "format"),
        _ => return Err(Error::about(&name, ErrorKind::UnknownExtension, "blosc, zlib, bz2, lzma or none")),
    };
    let mut codec = Map::new();
    codec.insert("id", id);
    match options.value() {
        Value::Null => {}
        Value::Object(members) => members.iter().for_each(|(name, value)| drop(codec.insert(name, value.clone()))),
        Value::Number(_) if !scalar.is_empty() => drop(codec.insert(scalar, options.value().clone())),
        Value::String(cname) if id == "blosc" => drop(codec.insert("cname", cname.as_str())),
        // The text allows strings, and gives them no meaning for any compressor. Decoding takes no options but of lzma.
        found @ (Value::Bool(_) | Value::Array(_)) if id == "lzma" => {
            let expected = format!("a number, an object or null; {found} may be how raw data are to be read");
            return Err(options.invalid(expected).into());
        }
        found => odd.push((options.pointer(), format!("{found} is ignored, since {id} has no such options"))),
    }
    let codec = Value::Object(codec);
    let codecs = if id == "none" { Vec::new() } else { vec![At::new(&codec, &options.pointer())] };
    odd.extend(numcodecs::deviations(&codecs));
    let (data_type, codecs) = numcodecs::to_model(&codecs, dtype, endian)?;
    Ok((data_type, codecs, id == "blosc"))
}
