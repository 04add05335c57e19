//! Nodes and elements that a case expects in its store: the model of `expected.json`.

use crate::Fault;
use std::collections::BTreeMap;
use std::ops::Range;
use zarr_json::{Map, Value};

/// Expected content of the store of a case.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Purpose of the case, for people.
    pub what: String,
    /// Scheme of the address, and name of the file that is the store; `None` if the store is a directory.
    pub file: Option<(&'static str, String)>,
    /// Whether documents have a data type that can be read, but that no dialect writes.
    pub is_only_read: bool,
    /// Warnings of the store, sorted.
    pub warnings: Vec<String>,
    /// Whether the store must be read with the option `v1_f_order_is_c`.
    pub v1_f_order_is_c: bool,
    /// Whether an error about an unknown encoding of chunks is correct too.
    pub may_refuse: bool,
    /// Expected result.
    pub outcome: Outcome,
}

/// Expected result of reading a store.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Nodes and values of a valid store.
    Good(Contents),
    /// Error of a store that must be refused.
    Refused(Refusal),
}

/// Nodes and values of a valid store.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Nodes that a listing must return, by path.
    pub nodes: BTreeMap<String, ExpectedNode>,
    /// Arrays among the nodes, by path.
    pub arrays: BTreeMap<String, ExpectedArray>,
    /// Whether the root has consolidated metadata.
    pub consolidated: bool,
    /// Paths of nodes that are missing in the consolidated metadata.
    pub after_consolidation: Vec<String>,
}

/// Node in a listing.
#[derive(Clone, Debug)]
pub enum ExpectedNode {
    /// Node that is an array.
    Array,
    /// Node that is a group, with its attributes.
    Group {
        /// Whether the group has no document of its own, and is known only from nodes below it.
        implicit: bool,
        /// Attributes of the user.
        attributes: Map,
    },
}

/// Expected properties and elements of an array.
#[derive(Clone, Debug)]
pub struct ExpectedArray {
    /// Length of the array along each axis.
    pub shape: Vec<u64>,
    /// Data type as numpy writes it, in the byte order of the file.
    pub dtype: Value,
    /// Data type as in a document of v3; `None` for other dialects.
    pub data_type: Option<Value>,
    /// Lengths of the chunks along each axis: one length, or a list of the lengths of all chunks.
    pub chunk_shape: Vec<Value>,
    /// Shape of inner chunks; `None` without shards.
    pub inner_chunk_shape: Option<Vec<u64>>,
    /// Fill value; `None` if it is undefined.
    pub fill: Option<ExpectedFill>,
    /// Attributes of the user.
    pub attributes: Map,
    /// Names of the dimensions; `None` if none are given.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Whether the dimension names come from a convention that the fixtures do not resolve to names.
    pub names_by_convention: bool,
    /// Elements; `None` if only metadata can be read.
    pub data: Option<ExpectedData>,
}

/// Fill value of an array.
#[derive(Clone, Debug)]
pub enum ExpectedFill {
    /// Element of fixed size in little-endian bytes.
    Bytes(Vec<u8>),
    /// Bytes of an element of variable length.
    Variable(Vec<u8>),
    /// Any other element, as JSON.
    Json(Value),
}

/// Files with the elements of an array.
#[derive(Clone, Debug)]
pub struct ExpectedData {
    /// Name of the file in the folder of the case.
    pub file: String,
    /// Encoding of the elements in the file.
    pub encoding: Encoding,
    /// Name of the file with a byte for each element, which is 1 if the value of the element is undefined; `None` if all are defined.
    pub undefined: Option<String>,
}

/// Encoding of elements in a file, in C order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Little-endian bytes of elements of fixed size.
    Raw,
    /// Length of each element in bytes, as 32 bits in little-endian order, followed by its bytes. Also for lists of numbers.
    Variable,
    /// JSON list of the elements.
    Json,
}

/// Error that a reader must return.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Last step at which the error may come.
    pub when: Step,
    /// Path of the node.
    pub path: String,
    /// Names of the kinds of error that are accepted.
    pub kinds: Vec<String>,
    /// Region that must be readable nevertheless; `None` if there is none.
    pub region_ok: Option<Vec<Range<u64>>>,
    /// Region to read instead of the whole array, which would be too large.
    pub region_to_read: Option<Vec<Range<u64>>>,
}

/// Steps of a reader, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Opens the store.
    OpenStore,
    /// Opens the node.
    OpenNode,
    /// Reads the attributes of the node.
    Attributes,
    /// Reads the elements of the array.
    Read,
    /// Lists the nodes of the store.
    List,
}

impl Expected {
    /// Parses `expected.json`.
    ///
    /// # Errors
    /// A message about the member that is missing or wrong.
    pub fn parse(text: &[u8]) -> Result<Self, Fault> {
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        let value = Value::from_json(text).map_err(|error| error.to_string())?;
        if string(&value, "format")? != "zarr-fixture-1" {
            return Err("format: expected zarr-fixture-1".to_owned());
        }
        let outcome = match string(&value, "expect")? {
            "ok" => Outcome::Good(contents(&value)?),
            _ => Outcome::Refused(refusal(member(&value, "error")?)?),
        };
        let scheme = value.get("container").map(|kind| if kind.as_str() == Some("file") { "" } else { "zip:" });
        let file = scheme.map(|scheme| Ok::<_, Fault>((scheme, string(&value, "store")?.to_owned()))).transpose()?;
        let options = value.get("options").and_then(Value::as_array).unwrap_or_default();
        Ok(Self {
            what: string(&value, "what")?.to_owned(),
            file,
            warnings: value
                .get("warnings")
                .and_then(Value::as_array)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            v1_f_order_is_c: options.iter().any(|option| option.as_str() == Some("v1_f_order_is_c")),
            is_only_read: value.get("only_read").is_some(),
            may_refuse: value.get("may_refuse").is_some(),
            outcome,
        })
    }
}

fn contents(value: &Value) -> Result<Contents, Fault> {
    let mut nodes = BTreeMap::new();
    for node in list(value, "nodes")? {
        let parsed = match string(node, "kind")? {
            "array" => ExpectedNode::Array,
            _ => ExpectedNode::Group {
                implicit: flag(node, "implicit"),
                attributes: object(node, "attributes").map(plain_members)?,
            },
        };
        nodes.insert(string(node, "path")?.to_owned(), parsed);
    }
    let arrays = object(value, "arrays")?.iter();
    let arrays = arrays.map(|(path, array)| match parse_array(array) {
        Ok(array) => Ok((path.to_owned(), array)),
        Err(fault) => Err(format!("arrays, {path}: {fault}")),
    });
    let late = value.get("after_consolidation").and_then(Value::as_array).unwrap_or_default();
    Ok(Contents {
        nodes,
        arrays: arrays.collect::<Result<_, _>>()?,
        consolidated: flag(value, "consolidated"),
        after_consolidation: late.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

fn parse_array(value: &Value) -> Result<ExpectedArray, Fault> {
    let names = match member(value, "dimension_names")? {
        Value::Array(names) => Some(names.iter().map(|name| name.as_str().map(str::to_owned)).collect()),
        _ => None,
    };
    let data = member(value, "data")?;
    let encoding = match string(data, "encoding")? {
        "raw" => Encoding::Raw,
        "json" => Encoding::Json,
        "vlen-utf8" | "vlen-bytes" | "vlen-array" => Encoding::Variable,
        other => return Err(format!("encoding {other}")),
    };
    let undefined = data.get("undefined").map(|mask| string(mask, "file")).transpose()?;
    let data =
        ExpectedData { file: string(data, "file")?.to_owned(), encoding, undefined: undefined.map(str::to_owned) };
    let shape = lengths(member(value, "shape")?)?;
    let (chunk_shape, inner_chunk_shape) = chunks(value, &shape)?;
    Ok(ExpectedArray {
        shape,
        dtype: member(value, "dtype")?.clone(),
        data_type: value.get("data_type").cloned(),
        chunk_shape,
        inner_chunk_shape,
        fill: fill(member(value, "fill_value")?, encoding)?,
        attributes: object(value, "attributes").map(plain_members)?,
        names_by_convention: names.is_none() && value.get("dimension_names_from").is_some(),
        dimension_names: names,
        data: value.get("unreadable").is_none().then_some(data),
    })
}

/// Returns the shapes of chunks and of inner chunks.
fn chunks(value: &Value, shape: &[u64]) -> Result<(Vec<Value>, Option<Vec<u64>>), Fault> {
    let mut chunk_shape = list(value, "chunk_shape")?.to_vec();
    // Where there are no chunks, their length makes no difference.
    for (chunk, length) in chunk_shape.iter_mut().zip(shape) {
        if chunk.as_u64() == Some(0) && *length == 0 {
            *chunk = Value::from(1);
        }
    }
    // Storage transformers put the chunks of the grid into shards.
    let Some(counts) = value.get("chunks_per_shard").map(lengths).transpose()? else {
        return Ok((chunk_shape, value.get("inner_chunk_shape").map(lengths).transpose()?));
    };
    let inner = lengths(&Value::Array(chunk_shape))?;
    let shards = inner.iter().zip(&counts).map(|(chunk, count)| Value::from(chunk * count));
    Ok((shards.collect(), Some(inner)))
}

fn fill(value: &Value, encoding: Encoding) -> Result<Option<ExpectedFill>, Fault> {
    if !flag(value, "defined") {
        return Ok(None);
    }
    if value.get("hex").is_some() {
        return hex(string(value, "hex")?).map(|bytes| Some(ExpectedFill::Bytes(bytes)));
    }
    if encoding != Encoding::Variable {
        return Ok(Some(ExpectedFill::Json(member(value, "value")?.clone())));
    }
    let text = match member(value, "value")? {
        // The default of old software, which means nothing.
        Value::Number(zero) if zero.as_f64() == 0.0 => "",
        text => text.as_str().ok_or_else(|| format!("value is no text: {text}"))?,
    };
    Ok(Some(ExpectedFill::Variable(match value.get("value_encoding").and_then(Value::as_str) {
        Some("base64") => base64::Engine::decode(&base64::prelude::BASE64_STANDARD, text)
            .map_err(|error| format!("fill value {text:?}: {error}"))?,
        _ => text.as_bytes().to_vec(),
    })))
}

fn refusal(value: &Value) -> Result<Refusal, Fault> {
    let when = match string(value, "when")? {
        "open-store" => Step::OpenStore,
        "open-node" => Step::OpenNode,
        "attributes" => Step::Attributes,
        "read" => Step::Read,
        "list" => Step::List,
        other => return Err(format!("when: {other}")),
    };
    let others = value.get("other_kinds").and_then(Value::as_array).unwrap_or_default();
    let kinds = std::iter::once(member(value, "kind")?).chain(others);
    let region = |name: &str| value.get(name).map(ranges).transpose();
    Ok(Refusal {
        when,
        path: string(value, "path")?.to_owned(),
        kinds: kinds.filter_map(Value::as_str).map(str::to_owned).collect(),
        region_ok: region("region_ok")?,
        region_to_read: region("region_to_read")?,
    })
}

fn ranges(value: &Value) -> Result<Vec<Range<u64>>, Fault> {
    let range = |range: &Value| match lengths(range)?.as_slice() {
        &[start, stop] => Ok(start..stop),
        _ => Err(format!("no range: {range}")),
    };
    value.as_array().unwrap_or_default().iter().map(range).collect()
}

/// Replaces `{"$float": "NaN"}` by the string `NaN`, since attributes may have numbers that JSON lacks.
fn plain_members(members: &Map) -> Map {
    members.iter().map(|(name, value)| (name.to_owned(), plain(value))).collect()
}

fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
        Value::Object(members) => match (members.len(), members.get("$float")) {
            (1, Some(text)) => text.clone(),
            _ => Value::Object(plain_members(members)),
        },
        other => other.clone(),
    }
}

fn hex(text: &str) -> Result<Vec<u8>, Fault> {
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
    digits.map(|pair| u8::from_str_radix(pair, 16).map_err(|error| format!("hex {text}: {error}"))).collect()
}

fn member<'a>(value: &'a Value, name: &str) -> Result<&'a Value, Fault> {
    value.get(name).ok_or_else(|| format!("no member {name}"))
}

fn string<'a>(value: &'a Value, name: &str) -> Result<&'a str, Fault> {
    member(value, name)?.as_str().ok_or_else(|| format!("{name} is no text"))
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], Fault> {
    member(value, name)?.as_array().ok_or_else(|| format!("{name} is no list"))
}

fn object<'a>(value: &'a Value, name: &str) -> Result<&'a Map, Fault> {
    member(value, name)?.as_object().ok_or_else(|| format!("{name} is no object"))
}

fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn lengths(value: &Value) -> Result<Vec<u64>, Fault> {
    let lengths = value.as_array().unwrap_or_default().iter().map(Value::as_u64);
    lengths.collect::<Option<_>>().ok_or_else(|| format!("no list of lengths: {value}"))
}
