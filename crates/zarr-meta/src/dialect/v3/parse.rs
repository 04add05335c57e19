//! Reading documents of version 3.

use crate::consolidated::Consolidated;
use crate::dialect::age::Age;
use crate::dialect::{Dialect, Parsed, codecs, detect};
use crate::error::{Error, ErrorKind, Result};
use crate::filter_types::of_other_order;
use crate::json::{Leniency, Map, Number, Oddity, Value};
use crate::pointer::At;
use crate::{ArrayMetadata, Documents, GroupMetadata, NamedConfig, Node, Warning};

/// The members that a document of an array may have.
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

/// What shows a document from before July 2023.
const NO_NODE_TYPE: &str = "no `node_type`";

/// The members that a document of a group may have.
const GROUP: [&str; 4] = ["zarr_format", "node_type", "attributes", "consolidated_metadata"];

pub(super) fn parse(key: &str, documents: &Documents) -> Result<Option<Parsed>> {
    // Python writes bare tokens into attributes, and what is right or wrong there is the user's business.
    let leniency = Leniency { trailing_comma: false, ..Leniency::ALL };
    let Some((value, oddities)) = documents.json(key, leniency, is_permitted)? else { return Ok(None) };
    let mut warnings: Vec<Warning> = oddities.into_iter().map(|oddity| oddity.warning(key)).collect();
    let parsed = document(key, &value, &mut warnings).map_err(|error| error.in_document(key))?;
    let (dialect, node) = parsed;
    Ok(Some(Parsed::new(dialect, node, warnings)))
}

fn is_permitted(oddity: &Oddity) -> bool {
    let mut names = oddity.pointer.split('/').skip(1);
    match names.next() {
        Some("attributes") => names.next().is_some(),
        // In copies of other documents: zarr-python 3.0 wrote bare tokens for fill values there, and texts in the documents themselves.
        // Names of nodes hold `/`, but escaped.
        Some("consolidated_metadata") => names.nth(2).is_some(),
        _ => false,
    }
}

fn document(key: &str, value: &Value, warnings: &mut Vec<Warning>) -> Result<(Dialect, Node)> {
    let at = At::root(value);
    at.object()?;
    let mut age = Age::default();
    let detected = detect::of_zarr_json(value);
    let node_type = match (detected, at.get("node_type")) {
        (None, _) if at.get("zarr_format").is_none() => return Err(missing("zarr_format")),
        (Some(Dialect::V3Of2023), node_type) => {
            age.note("/zarr_format", "a URI instead of 3");
            let uri = at.member("zarr_format")?.text()?;
            node_type.map_or_else(|| Ok(uri.rsplit('#').next().unwrap_or_default()), |node_type| node_type.text())?
        }
        (Some(Dialect::V3), Some(node_type)) => node_type.text()?,
        (Some(Dialect::V3), None) => {
            age.note("", NO_NODE_TYPE);
            if at.get("shape").is_some() { "array" } else { "group" }
        }
        _ => return Err(detect::unsupported_zarr_json(value)),
    };
    let node = match node_type {
        "array" => Node::Array(array(key, &at, &mut age, warnings)?),
        "group" => Node::Group(group(key, &at, &mut age, warnings)?),
        _ => return Err(at.member("node_type")?.invalid("\"array\" or \"group\"")),
    };
    if let Some((pointer, what)) =
        age.later.first().filter(|_| at.get("node_type").is_none() && detected == Some(Dialect::V3))
    {
        let found = format!("nothing, where {what} at {pointer} shows a document of version 3.0");
        return Err(Error::new(ErrorKind::InvalidMetadata, "/node_type", found, "\"array\" or \"group\""));
    }
    let dialect = if age.shows() { Dialect::V3Of2023 } else { Dialect::V3 };
    warnings.extend(
        age.signs
            .into_iter()
            .map(|(pointer, what)| Warning::new(key, pointer, format!("{what} (as documents of 2023 have it)"))),
    );
    Ok((dialect, node))
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::InvalidMetadata, format!("/{name}"), "nothing", "this member")
}

fn array(key: &str, at: &At<'_>, age: &mut Age, warnings: &mut Vec<Warning>) -> Result<ArrayMetadata> {
    let shape = at.member("shape")?.sizes()?;
    let data_type = at.member("data_type")?;
    if data_type.get("fallback").is_some() {
        age.note(data_type.pointer(), "`fallback` in a data type");
    }
    let data_type = age.named(&data_type, &["fallback"])?;
    let (chunk_grid, separator) = chunk_grid(&at.member("chunk_grid")?, age)?;
    let chunk_key_encoding = match (at.get("chunk_key_encoding"), separator) {
        (Some(encoding), _) => age.named(&encoding, &[])?,
        (None, Some(separator)) => {
            let separator = Value::String(separator);
            NamedConfig::with("default", [("separator".to_owned(), separator)].into_iter().collect())
        }
        (None, None) => return Err(missing("chunk_key_encoding")),
    };
    let codecs = match at.get("codecs") {
        Some(codecs) => age.codecs(&codecs, shape.len(), codecs::item_size(&data_type))?,
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
        Value::Null if age.shows() => {
            age.note(fill_value.pointer(), "null; what is not stored is undefined, and reads as zero");
            None
        }
        // zarrita.js writes it by default, and GDAL 3.12 where there is no nodata value; both mean zeros. For floats it may as
        // well be the NaN of JavaScript, which becomes null in JSON.
        Value::Null if !is_real(&data_type.name) => {
            let what = "null; what is not stored is undefined, and reads as zero";
            warnings.push(Warning::new(key, fill_value.pointer(), what));
            None
        }
        Value::Null => {
            let found = "null, which for floats stands for zero with some writers and for NaN with others";
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
        value if is_float(&data_type.name) => Some(age.fill_value(&fill_value.pointer(), value)),
        value => Some(match integer(value).filter(|_| is_integer(&data_type.name)) {
            Some(integer) => {
                let what = format!("{value} for an integer, read as {integer}");
                warnings.push(Warning::new(key, fill_value.pointer(), what));
                Value::Number(integer)
            }
            None => value.clone(),
        }),
    };
    Ok(ArrayMetadata {
        data_type,
        chunk_grid,
        chunk_key_encoding,
        fill_value,
        codecs,
        storage_transformers: storage_transformers(at, age)?,
        dimension_names: dimension_names(at, shape.len())?,
        attributes: attributes(at)?,
        extra: extra(at, &ARRAY, age)?,
        shape,
    })
}

fn is_float(name: &str) -> bool {
    ["float", "bfloat", "complex"].iter().any(|kind| name.starts_with(kind))
}

fn is_real(name: &str) -> bool {
    is_float(name) && !name.starts_with("complex")
}

fn is_integer(name: &str) -> bool {
    name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_start_matches('u') == "int"
}

/// The integer that a number with a fraction of zero is, as software without integers writes it: 0 for `0.0`.
fn integer(value: &Value) -> Option<Number> {
    let number = value.as_number().filter(|number| !number.is_integer())?;
    Number::parse(&number.to_i128()?.to_string())
}

fn group(key: &str, at: &At<'_>, age: &mut Age, warnings: &mut Vec<Warning>) -> Result<GroupMetadata> {
    let mut extra = extra(at, &GROUP, age)?;
    let mut consolidated = None;
    if let Some(member) = at.get_non_null("consolidated_metadata") {
        age.later.push((member.pointer(), "consolidated metadata"));
        consolidated = Consolidated::parse_inline(key, &member, warnings)?;
        if consolidated.is_none() {
            if member.get("must_understand").and_then(|flag| flag.value().as_bool()) != Some(false) {
                return Err(member.error(ErrorKind::UnknownExtension, "consolidated metadata of kind \"inline\""));
            }
            warnings.push(Warning::new(key, member.pointer(), "of an unknown kind, ignored"));
            extra.insert("consolidated_metadata", member.value().clone());
        }
    }
    Ok(GroupMetadata { attributes: attributes(at)?, consolidated, extra })
}

/// The chunk grid, and the separator of chunk keys where an old document has it in there.
fn chunk_grid(at: &At<'_>, age: &mut Age) -> Result<(NamedConfig, Option<String>)> {
    // February 2023: {"type": "regular", "chunk_shape": [..], "separator": "/"}.
    let flat = at.get("type").is_some() && at.get("configuration").is_none();
    let mut grid = age.named(at, if flat { &["chunk_shape", "separator"] } else { &[] })?;
    if flat && let Some(chunk_shape) = at.get("chunk_shape") {
        grid.configuration.insert("chunk_shape", chunk_shape.value().clone());
    }
    let separator = if flat { at.get("separator") } else { at.get("configuration").and_then(|at| at.get("separator")) };
    let Some(separator) = separator else { return Ok((grid, None)) };
    age.note(separator.pointer(), "the separator of chunk keys inside of the chunk grid");
    grid.configuration.remove("separator");
    Ok((grid, Some(separator.text()?.to_owned())))
}

fn storage_transformers(at: &At<'_>, age: &mut Age) -> Result<Vec<NamedConfig>> {
    let Some(list) = at.get_non_null("storage_transformers") else { return Ok(Vec::new()) };
    let mut transformers = Vec::new();
    for item in list.items()? {
        let transformer = age.named(&item, &[])?;
        // No storage transformer is defined.
        if transformer.must_understand {
            return Err(
                item.error(ErrorKind::UnknownExtension, "a storage transformer that is known, or may be ignored")
            );
        }
        transformers.push(transformer);
    }
    Ok(transformers)
}

fn dimension_names(at: &At<'_>, rank: usize) -> Result<Option<Vec<Option<String>>>> {
    let Some(list) = at.get_non_null("dimension_names") else { return Ok(None) };
    let items = list.list()?;
    if items.len() != rank {
        return Err(list.invalid(format!("{rank} names, one for each dimension")));
    }
    let names = items.iter().enumerate().map(|(index, item)| match item {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(name.clone())),
        _ => Err(list.item(index, item).invalid("a text or null")),
    });
    names.collect::<Result<_>>().map(Some)
}

fn attributes(at: &At<'_>) -> Result<Map> {
    at.get_non_null("attributes").map_or_else(|| Ok(Map::new()), |attributes| attributes.object().cloned())
}

/// The members that are not `known`, if they say that they may be ignored.
fn extra(at: &At<'_>, known: &[&str], age: &mut Age) -> Result<Map> {
    let mut extra = Vec::new();
    let unknown = at.object()?.keys().filter(|name| !known.contains(name));
    for (name, member) in unknown.filter_map(|name| Some((name, at.get(name)?))) {
        let ignorable = member.value().get("must_understand") == Some(&Value::Bool(false));
        // February 2023 had a list of extensions, of which none was ever defined.
        let none_listed = name == "extensions" && member.value().as_array().is_some_and(<[Value]>::is_empty);
        if none_listed && age.shows() {
            age.note(member.pointer(), "an empty list of extensions");
        } else if name == "consolidated_metadata" && member.value().is_null() {
            // zarr-python 3.0 writes it into every second document.
        } else if ignorable {
            extra.push((name.to_owned(), member.value().clone()));
        } else {
            let expected = "no member of that name, or one with \"must_understand\": false";
            return Err(member.error(ErrorKind::UnknownMember, expected));
        }
    }
    Ok(extra.into_iter().collect())
}
