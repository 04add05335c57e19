//! The nodes and elements that a case expects in its store: the model of `expected.json`.

use crate::Fault;
use std::collections::BTreeMap;
use std::ops::Range;
use zarr_json::{Map, Value};

/// The expected content of the store of a case.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The purpose of the case, for people.
    pub what: String,
    /// The beginning of its address and the name of the file that is the store, where it is none of plain files.
    pub file: Option<(&'static str, String)>,
    /// Whether documents have a data type that is read, and that no dialect writes.
    pub is_only_read: bool,
    /// The warnings of the store, sorted.
    pub warnings: Vec<String>,
    /// Whether the option `v1_f_order_is_c` is needed to read it.
    pub v1_f_order_is_c: bool,
    /// Whether it is right as well to say that chunks are encoded in a way that is not known.
    pub may_refuse: bool,
    /// The expected result.
    pub outcome: Outcome,
}

/// The expected result of reading a store.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Nodes and values.
    Good(Contents),
    /// An error.
    Refused(Refusal),
}

/// Nodes and values.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Every node that a listing must give, by path.
    pub nodes: BTreeMap<String, ExpectedNode>,
    /// The arrays among them, by path.
    pub arrays: BTreeMap<String, ExpectedArray>,
    /// Whether the root has consolidated metadata.
    pub consolidated: bool,
    /// Nodes that the consolidated metadata does not know.
    pub after_consolidation: Vec<String>,
}

/// A node in a listing.
#[derive(Clone, Debug)]
pub enum ExpectedNode {
    /// An array.
    Array,
    /// A group, whether it has no document of its own, and its attributes.
    Group {
        /// Known only from nodes below it.
        implicit: bool,
        /// The user's attributes.
        attributes: Map,
    },
}

/// An array.
#[derive(Clone, Debug)]
pub struct ExpectedArray {
    /// Elements per axis.
    pub shape: Vec<u64>,
    /// The type as numpy writes it, in the byte order of the file.
    pub dtype: Value,
    /// The data type as a v3 document writes it, where it is from one.
    pub data_type: Option<Value>,
    /// Lengths of the chunks: one for each axis, or all of them in a list for each axis.
    pub chunk_shape: Vec<Value>,
    /// The shape of inner chunks.
    pub inner_chunk_shape: Option<Vec<u64>>,
    /// The fill value; `None` if it is undefined.
    pub fill: Option<ExpectedFill>,
    /// The user's attributes.
    pub attributes: Map,
    /// Names of the dimensions. `None`: not given.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Whether the dimension names come from a convention that this set does not resolve to names.
    pub names_by_convention: bool,
    /// The elements; `None` if only metadata can be read.
    pub data: Option<ExpectedData>,
}

/// A fill value.
#[derive(Clone, Debug)]
pub enum ExpectedFill {
    /// An element of fixed size in little-endian bytes.
    Bytes(Vec<u8>),
    /// The bytes of an element of variable length.
    Variable(Vec<u8>),
    /// Some other element, as JSON.
    Json(Value),
}

/// Where the elements are.
#[derive(Clone, Debug)]
pub struct ExpectedData {
    /// The file in the folder of the case.
    pub file: String,
    /// How the elements lie in it.
    pub encoding: Encoding,
    /// The file with a byte for each element, 1 where its value is undefined.
    pub undefined: Option<String>,
}

/// How elements lie in a file. All are in C order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Little-endian bytes.
    Raw,
    /// For each element its length in bytes, as 32 bits in little-endian order, and the bytes. Also for lists of numbers.
    Variable,
    /// A JSON list.
    Json,
}

/// An error that must come.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The step at which it is due at the latest.
    pub when: Step,
    /// The node.
    pub path: String,
    /// Kinds of error that are right.
    pub kinds: Vec<String>,
    /// A region that must be readable all the same.
    pub region_ok: Option<Vec<Range<u64>>>,
    /// The region to ask for, where all of the array is too much.
    pub region_to_read: Option<Vec<Range<u64>>>,
}

/// The steps of a reader, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Opens the store.
    OpenStore,
    /// Opens the node.
    OpenNode,
    /// Looks at its attributes.
    Attributes,
    /// Reads its elements.
    Read,
    /// Lists the nodes of the store.
    List,
}

impl Expected {
    /// Parses `expected.json`.
    ///
    /// # Errors
    /// Says which member is missing or wrong.
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

/// The shapes of chunks and inner chunks.
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

/// Members with `{"$float": "NaN"}` replaced by the text `NaN`: how attributes hold numbers that JSON does not have.
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
