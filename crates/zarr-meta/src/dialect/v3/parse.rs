//! Reading documents of version 3.

use super::provisional::ProvisionalV3;
use crate::consolidated::Consolidated;
use crate::dialect::rules::Parsed;
use crate::dialect::{Dialect, codecs, detect, layout};
use crate::documents::Read;
use crate::error::{Error, ErrorKind, Result};
use crate::filter_types::of_other_order;
use crate::{ArrayMetadata, Documents, GroupMetadata, Node, Warning};
use std::sync::Arc;
use zarr_dtype::{Class, DataType};
use zarr_json::pointer::{At, ValueError};
use zarr_json::{Deviation, Map, MemberText, NamedConfig, Number, ParseOptions, Value};

/// Members that a document of an array may have.
const ARRAY: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
];

/// Description of the deviation that marks a document from before July 2023.
const NO_NODE_TYPE: &str = "no `node_type`";

/// Members that a document of a group may have.
const GROUP: [&str; 4] = ["zarr_format", "node_type", "attributes", "consolidated_metadata"];

pub(super) fn parse(key: &str, documents: &Documents) -> Result<Option<Parsed>> {
    // Python writes NaN literals into attributes, whose contents are the user's business.
    let options = ParseOptions::ALL.trailing_comma(false);
    let Some((mut read, mut deviations)) = documents.json_apart(key, options, is_permitted)? else { return Ok(None) };
    // Elsewhere a member of this name is one as any other, and kept.
    if read.entries.is_some() && !has_inline(&read.value) {
        let Some((value, all)) = documents.json(key, options, is_permitted)? else { return Ok(None) };
        (read, deviations) = (Read { value, entries: None }, all);
    }
    let mut warnings: Vec<Warning> = deviations.into_iter().map(|deviation| Warning::of(key, deviation)).collect();
    let parsed = document(key, read, &mut warnings).map_err(|error| error.in_document(key))?;
    let (dialect, node) = parsed;
    let parsed = Parsed::new(dialect, node, warnings);
    // Documents of 2023 keep their form, which is known by such members.
    let may_change = dialect == Dialect::V3 && parsed.node.as_array().is_some();
    Ok(Some(if may_change { parsed.with_odd_members(key, &["fill_value", "codecs"]) } else { parsed }))
}

fn is_permitted(deviation: &Deviation) -> bool {
    let mut names = deviation.pointer.split('/').skip(1);
    match names.next() {
        Some("attributes") => names.next().is_some(),
        // In copies of other documents: zarr-python 3.0 wrote NaN literals for fill values there, and texts in the documents themselves.
        // Names of nodes hold `/`, but escaped.
        Some("consolidated_metadata") => names.nth(2).is_some(),
        _ => false,
    }
}

/// Returns whether the document is a group with consolidated metadata of the kind `inline`, the only one that is read.
fn has_inline(value: &Value) -> bool {
    let kind = value.get("consolidated_metadata").and_then(|member| member.get("kind"));
    let is_array = value.get("node_type").map_or(value.get("shape").is_some(), |node| node.as_str() == Some("array"));
    kind.and_then(Value::as_str) == Some("inline") && !is_array
}

fn document(key: &str, read: Read, warnings: &mut Vec<Warning>) -> Result<(Dialect, Node)> {
    let Read { value, entries } = read;
    let value = &value;
    let at = At::root(value);
    at.object()?;
    let mut provisional = ProvisionalV3::default();
    let detected = detect::of_zarr_json(value);
    let node_type = match (detected, at.get("node_type")) {
        (None, _) if at.get("zarr_format").is_none() => return Err(missing("zarr_format")),
        (Some(Dialect::V3Provisional2023), node_type) => {
            provisional.note("/zarr_format", "a URI instead of 3");
            let uri = at.member("zarr_format")?.text()?;
            node_type.map_or_else(|| Ok(uri.rsplit('#').next().unwrap_or_default()), |node_type| node_type.text())?
        }
        (Some(Dialect::V3), Some(node_type)) => node_type.text()?,
        (Some(Dialect::V3), None) => {
            provisional.note("", NO_NODE_TYPE);
            if at.get("shape").is_some() { "array" } else { "group" }
        }
        _ => return Err(detect::unsupported_zarr_json(value)),
    };
    let node = match node_type {
        "array" => Node::Array(array(key, &at, &mut provisional, warnings)?),
        "group" => Node::Group(group(key, &at, entries, &mut provisional, warnings)?),
        _ => return Err(at.member("node_type")?.invalid("\"array\" or \"group\"").into()),
    };
    if let Some((pointer, what)) =
        provisional.later.first().filter(|_| at.get("node_type").is_none() && detected == Some(Dialect::V3))
    {
        let found = format!("nothing, where {what} at {pointer} shows a document of version 3.0");
        return Err(Error::new(ErrorKind::InvalidMetadata, "/node_type", found, "\"array\" or \"group\""));
    }
    let dialect = if provisional.is_provisional() { Dialect::V3Provisional2023 } else { Dialect::V3 };
    warnings.extend(
        provisional
            .deviations
            .into_iter()
            .map(|(pointer, what)| Warning::new(key, pointer, format!("{what} (as documents of 2023 have it)"))),
    );
    Ok((dialect, node))
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::InvalidMetadata, format!("/{name}"), "nothing", "this member")
}

fn array(
    key: &str,
    at: &At<'_>,
    provisional: &mut ProvisionalV3,
    warnings: &mut Vec<Warning>,
) -> Result<ArrayMetadata> {
    let shape = layout::shape(at)?;
    let data_type = at.member("data_type")?;
    if data_type.get("fallback").is_some() {
        provisional.note(data_type.pointer(), "`fallback` in a data type");
    }
    let data_type = provisional.named(&data_type, &["fallback"])?;
    let (chunk_grid, separator) = chunk_grid(&at.member("chunk_grid")?, provisional)?;
    let chunk_key_encoding = match (at.get("chunk_key_encoding"), separator) {
        (Some(encoding), _) => provisional.named(&encoding, &[])?,
        (None, Some(separator)) => {
            let separator = Value::String(separator);
            NamedConfig::with("default", [("separator".to_owned(), separator)].into_iter().collect())
        }
        (None, None) => return Err(missing("chunk_key_encoding")),
    };
    let codecs = match at.get("codecs") {
        Some(codecs) => provisional.codecs(&codecs, shape.len(), &|| codecs::item_size(&data_type))?,
        // GDAL 3.8 to 3.10 leave it out where there is no compression. Its arrays have dimension names.
        None if at.get_non_null("dimension_names").is_none() => return Err(missing("codecs")),
        None => {
            let what = "missing; little-endian elements in C order are assumed, as GDAL wrote them";
            warnings.push(Warning::new(key, "/codecs", what));
            vec![codecs::bytes(Some("little"))]
        }
    };
    warnings
        .extend(of_other_order(&codecs, "/codecs").into_iter().map(|(pointer, what)| Warning::new(key, pointer, what)));
    let fill_value = at.member("fill_value")?;
    let fill_value = match fill_value.value() {
        // Types that are defined elsewhere may have it for a value.
        Value::Null if !codecs::is_without_null(&data_type) => Some(Value::Null),
        Value::Null if provisional.is_provisional() => {
            provisional
                .note(fill_value.pointer(), "null: elements that are not stored are undefined, and read as zero");
            None
        }
        // zarrita.js writes it by default, and GDAL 3.12 where there is no nodata value; both mean zeros. For floats it may as
        // well be the NaN of JavaScript, which becomes null in JSON.
        Value::Null if class(&data_type) != Some(Class::Float) => {
            let what = "null: elements that are not stored are undefined, and read as zero";
            warnings.push(Warning::new(key, fill_value.pointer(), what));
            None
        }
        Value::Null => {
            let found = "null, which means zero for some writers of floats and NaN for others";
            let expected = "a number, \"NaN\", \"Infinity\", \"-Infinity\" or the bits as \"0x..\"";
            return Err(Error::new(ErrorKind::InvalidMetadata, fill_value.pointer(), found, expected));
        }
        // zarrita wrote 0 until September 2023.
        Value::Number(number) if data_type.name == "bool" && matches!(number.to_i128(), Some(0 | 1)) => {
            let truth = number.to_i128() == Some(1);
            let what = format!("{number} for a bool, read as {truth}");
            warnings.push(Warning::new(key, fill_value.pointer(), what));
            Some(Value::Bool(truth))
        }
        value @ (Value::String(_) | Value::Array(_))
            if matches!(class(&data_type), Some(Class::Float | Class::Complex)) =>
        {
            Some(provisional.fill_value(&fill_value.pointer(), value))
        }
        value => Some(number(key, &fill_value, class(&data_type), warnings).unwrap_or_else(|| value.clone())),
    };
    Ok(ArrayMetadata {
        data_type,
        chunk_grid,
        chunk_key_encoding,
        fill_value,
        codecs,
        storage_transformers: storage_transformers(at, provisional)?,
        dimension_names: dimension_names(at, shape.len())?,
        attributes: attributes(at)?,
        extra: extra(at, &ARRAY, provisional)?,
        shape,
    })
}

/// Returns the class of the values of the data type; `None` for an unknown type.
fn class(data_type: &NamedConfig) -> Option<Class> {
    DataType::from_config(data_type).ok()?.class()
}

/// Returns the integer or float at `at` in the spelling of the specification, if software writes and reads it in another spelling: 0 for
/// `0.0`, 1 for `true`. `None` if it is spelled well.
fn number(key: &str, at: &At<'_>, class: Option<Class>, warnings: &mut Vec<Warning>) -> Option<Value> {
    let class = class.filter(|class| matches!(class, Class::Signed | Class::Unsigned | Class::Float))?;
    let number = match at.value() {
        // Which is the number 1 to Python, and so to zarr-python 3.
        Value::Bool(truth) => Number::from(u8::from(*truth)),
        Value::Number(number) if class != Class::Float && !number.is_integer() => {
            Number::parse(&number.to_i128()?.to_string())?
        }
        _ => return None,
    };
    let kind = if class == Class::Float { "a float" } else { "an integer" };
    let what = format!("{} for {kind}, read as {number}", at.value().excerpt());
    warnings.push(Warning::new(key, at.pointer(), what));
    Some(Value::Number(number))
}

fn group(
    key: &str,
    at: &At<'_>,
    copies: Option<(Arc<Vec<u8>>, Vec<MemberText>)>,
    provisional: &mut ProvisionalV3,
    warnings: &mut Vec<Warning>,
) -> Result<GroupMetadata> {
    let mut extra = extra(at, &GROUP, provisional)?;
    let mut consolidated = None;
    if let Some(member) = at.get_non_null("consolidated_metadata") {
        provisional.later.push((member.pointer(), "consolidated metadata"));
        consolidated = Consolidated::parse_inline(key, &member, copies, warnings)?;
        if consolidated.is_none() {
            if member.get("must_understand").and_then(|flag| flag.value().as_bool()) != Some(false) {
                return Err(Error::about(
                    &member,
                    ErrorKind::UnknownExtension,
                    "consolidated metadata of kind \"inline\"",
                ));
            }
            warnings.push(Warning::new(key, member.pointer(), "of an unknown kind, ignored"));
            extra.insert("consolidated_metadata", member.value().clone());
        }
    }
    Ok(GroupMetadata { attributes: attributes(at)?, consolidated, extra })
}

/// Returns the chunk grid, and the separator of chunk keys if an old document has it in the grid.
fn chunk_grid(at: &At<'_>, provisional: &mut ProvisionalV3) -> Result<(NamedConfig, Option<String>)> {
    // February 2023: {"type": "regular", "chunk_shape": [..], "separator": "/"}.
    let flat = at.get("type").is_some() && at.get("configuration").is_none();
    let mut grid = provisional.named(at, if flat { &["chunk_shape", "separator"] } else { &[] })?;
    if flat && let Some(chunk_shape) = at.get("chunk_shape") {
        grid.configuration.insert("chunk_shape", chunk_shape.value().clone());
    }
    let separator = if flat { at.get("separator") } else { at.get("configuration").and_then(|at| at.get("separator")) };
    let Some(separator) = separator else { return Ok((grid, None)) };
    provisional.note(separator.pointer(), "the separator of chunk keys inside of the chunk grid");
    grid.configuration.remove("separator");
    Ok((grid, Some(separator.text()?.to_owned())))
}

fn storage_transformers(at: &At<'_>, provisional: &mut ProvisionalV3) -> Result<Vec<NamedConfig>> {
    let Some(list) = at.get_non_null("storage_transformers") else { return Ok(Vec::new()) };
    let mut transformers = Vec::new();
    for item in list.items()? {
        let transformer = provisional.named(&item, &[])?;
        // No storage transformer is defined.
        if transformer.must_understand {
            return Err(Error::about(
                &item,
                ErrorKind::UnknownExtension,
                "a storage transformer that is known, or may be ignored",
            ));
        }
        transformers.push(transformer);
    }
    Ok(transformers)
}

fn dimension_names(at: &At<'_>, rank: usize) -> Result<Option<Vec<Option<String>>>> {
    let Some(list) = at.get_non_null("dimension_names") else { return Ok(None) };
    let items = list.list()?;
    if items.len() != rank {
        return Err(list.invalid(format!("{rank} names, one for each dimension")).into());
    }
    let names = items.iter().enumerate().map(|(index, item)| match item {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(name.clone())),
        _ => Err(list.item(index, item).invalid("a string or null")),
    });
    Ok(Some(names.collect::<Result<_, ValueError>>()?))
}

fn attributes(at: &At<'_>) -> Result<Map, ValueError> {
    at.get_non_null("attributes").map_or_else(|| Ok(Map::new()), |attributes| attributes.object().cloned())
}

/// Returns the members that are not `known`, if they declare that they may be ignored. Fails for other unknown members.
fn extra(at: &At<'_>, known: &[&str], provisional: &mut ProvisionalV3) -> Result<Map> {
    let mut extra = Vec::new();
    let unknown = at.object()?.keys().filter(|name| !known.contains(name));
    for (name, member) in unknown.filter_map(|name| Some((name, at.get(name)?))) {
        let ignorable = member.value().get("must_understand") == Some(&Value::Bool(false));
        // February 2023 had a list of extensions, of which none was ever defined.
        let none_listed = name == "extensions" && member.value().as_array().is_some_and(<[Value]>::is_empty);
        if none_listed && provisional.is_provisional() {
            provisional.note(member.pointer(), "an empty list of extensions");
        } else if name == "consolidated_metadata" && member.value().is_null() {
            // zarr-python 3.0 writes it into every second document.
        } else if ignorable {
            extra.push((name.to_owned(), member.value().clone()));
        } else {
            let expected = "no member of that name, or one with \"must_understand\": false";
            return Err(Error::about(&member, ErrorKind::UnknownMember, expected));
        }
    }
    Ok(extra.into_iter().collect())
}
