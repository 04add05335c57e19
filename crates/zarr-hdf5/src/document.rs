//! Conversion of groups and data sets to Zarr v3 metadata documents and chunk tables.

use std::sync::Arc;

use hdf5_reader::messages::HdfMessage;
use hdf5_reader::messages::attribute::AttributeMessage;
use hdf5_reader::messages::dataspace::DataspaceType;
use hdf5_reader::messages::datatype::Datatype;
use zarr_cf::fill;
use zarr_dtype::{DataType, FillValue};
use zarr_json::{Map, Value, json};
use zarr_store_virtual::{Chunk, ChunkTable, ChunkTableBuilder, SourceId};

use crate::attributes::Values;
use crate::dimensions::{Dimensions, HIDDEN, OF_SCALES, is_scale};
use crate::element_type::{Content, NATIVE, Order, Stored, append_elements, is_bool};
use crate::fault::Refusal;
use crate::file::File;
use crate::filters;
use crate::layout::{Chunks, Place, StoredChunks};
use crate::made::Maker;
use crate::raw;
use crate::walk::Node;
use crate::wrap::{self, Wrapper};

/// Approximate number of bytes of the chunks into which contiguous data is divided if chunks are ranges of the file, so that a part of a
/// chunk can be read.
const DIRECT_PART: u64 = 64 << 20;
/// Approximate number of bytes of the chunks into which contiguous data is divided if each chunk must be converted as a whole.
const MADE_PART: u64 = 4 << 20;

/// Maximum number of numbers in one element, since the fill value in the document lists all of them.
const MAX_NUMBERS: usize = 1 << 16;
/// Approximate number of bytes that a JSON number takes in memory.
const OF_NUMBER: usize = 32;

/// Maximum number of filters of a data set, as in the HDF5 library: the filter mask of a chunk has one bit for each filter.
const MAX_FILTERS: usize = 32;

/// Zarr array of a data set.
#[derive(Clone)]
pub(crate) struct Array {
    /// Metadata document without `dimension_names`, which [`with_names`] adds.
    document: Map,
    /// Number of axes.
    rank: usize,
    /// Number of chunks along each axis.
    pub(crate) counts: Vec<u64>,
    pub(crate) table: ChunkTable,
    /// Number of stored chunks, or of entries of the chunk index if there are more.
    pub(crate) stored: usize,
    /// Number of bytes of the elements that are stored in the object header and stay in memory.
    pub(crate) inline: usize,
    /// Number of bytes that the fill value takes in memory in the document of each path.
    pub(crate) weight: usize,
}

/// Returns the metadata document of a group with `attributes`.
pub(crate) fn group(attributes: Map) -> Map {
    Map::from([("zarr_format", json!(3)), ("node_type", json!("group")), ("attributes", attributes.into())])
}

/// Returns the attributes of `node` as JSON. Calls `warn` for each attribute that is left out.
pub(crate) fn attributes(
    file: &File,
    node: &Node,
    dimensions: &Dimensions,
    data_type: Option<&DataType>,
    warn: &mut dyn FnMut(String),
) -> Map {
    let is_scale = node.is_array && is_scale(file, node);
    let mut values = Values::new(file, dimensions.is_netcdf);
    let mut attributes = Map::new();
    for attribute in node.attributes.iter() {
        let name = attribute.name.as_str();
        if HIDDEN.contains(&name) || is_scale && OF_SCALES.contains(&name) {
            continue;
        }
        match values.value(attribute) {
            Ok(value) => {
                let value = match data_type.filter(|_| name == fill::FILL_VALUE) {
                    Some(data_type) => fill_attribute(data_type, value),
                    None => value,
                };
                attributes.insert(name, value);
            }
            Err(refusal) => warn(format!("attribute {name:?} is left out: {refusal}")),
        }
    }
    attributes
}

/// Converts the value of the attribute `_FillValue` to the form of Zarr v3; returns `value` unchanged if it is no element of `data_type`.
fn fill_attribute(data_type: &DataType, value: Value) -> Value {
    let one = match &value {
        Value::Array(list) if list.len() == 1 => &list[0],
        value => value,
    };
    match fill::parse(fill::FILL_VALUE, data_type, one) {
        Ok(element) => fill::to_attribute(data_type, &element),
        Err(_) => value,
    }
}

/// Converts the data set `node` to a Zarr array. Calls `warn` for each attribute that is left out.
pub(crate) fn array(
    file: &Arc<File>,
    node: &Node,
    dimensions: &Dimensions,
    source: SourceId,
    warn: &mut dyn FnMut(String),
) -> Result<Array, Refusal> {
    let messages = &node.header.messages;
    let lacking = |what: &str| Refusal::new(format!("found no {what}"));
    if messages.iter().any(|message| matches!(message, HdfMessage::ExternalFiles(_))) {
        return Err(Refusal::new("data in external files is not read"));
    }
    // Without the filters of a shared message, encoded bytes would be taken for elements.
    if messages.iter().any(|message| matches!(message, HdfMessage::Shared(_))) {
        return Err(Refusal::new("a part of its header lies elsewhere, and cannot be read there"));
    }
    let datatype = messages.iter().find_map(|message| match message {
        HdfMessage::Datatype(datatype) => Some(datatype),
        _ => None,
    });
    let dataspace = messages.iter().find_map(|message| match message {
        HdfMessage::Dataspace(dataspace) => Some(dataspace),
        _ => None,
    });
    let layout = messages.iter().find_map(|message| match message {
        HdfMessage::DataLayout(layout) => Some(&layout.layout),
        _ => None,
    });
    let filters = messages.iter().find_map(|message| match message {
        HdfMessage::FilterPipeline(pipeline) => Some(&pipeline.filters[..]),
        _ => None,
    });
    let fill = messages.iter().rev().find_map(|message| match message {
        HdfMessage::FillValue(fill) => fill.value.as_deref(),
        _ => None,
    });
    let datatype = &datatype.ok_or_else(|| lacking("data type"))?.datatype;
    let dataspace = dataspace.ok_or_else(|| lacking("shape"))?;
    let layout = layout.ok_or_else(|| lacking("layout"))?;
    let filters = filters.unwrap_or_default();
    if filters.len() > MAX_FILTERS {
        return Err(Refusal::new(format!("found {} filters, at most {MAX_FILTERS} are read", filters.len())));
    }
    let mut stored = Stored::new(datatype)?;
    let numbers = stored.numbers();
    if numbers > MAX_NUMBERS {
        return Err(Refusal::new(format!("found elements of {numbers} numbers, at most {MAX_NUMBERS} are read")));
    }
    stored.check(&raw::datatype(file, node.id.address)?)?;
    let shape = match dataspace.dataspace_type {
        DataspaceType::Scalar => Vec::new(),
        DataspaceType::Null => vec![0],
        DataspaceType::Simple => dataspace.dims.clone(),
    };
    let too_large = || Refusal::new("its elements are too large");
    let inner = stored.count().ok_or_else(too_large)?;
    let size = match stored.content {
        Content::Fixed(_) => stored.size.checked_mul(inner).ok_or_else(too_large)?,
        Content::Texts | Content::Lists { .. } => crate::heap::Reference::size(file.sizes()),
    };
    let order = stored.order();
    let codecs = order.and_then(|_| filters::codecs(filters, size));
    let part = if codecs.is_some() && filters.is_empty() { DIRECT_PART } else { MADE_PART };
    let most = dataspace.max_dims.as_deref();
    let grown = dimensions.grown(file, node, &shape, most);
    let is_filtered = !filters.is_empty();
    let edges = (is_filtered, is_filtered && raw::leaves_edges(file, node.id.address)?);
    let chunks = Chunks::new(file, layout, (&shape, most), &grown, size, edges, part)?;
    let is_unfit = |place: &Place| place.mask != 0 && !wrap::is_possible(filters, place.mask);
    let is_masked = matches!(&chunks.places, StoredChunks::At(places) if places.iter().any(is_unfit));
    let (number, inline) = match &chunks.places {
        StoredChunks::Inline(data) => (1, data.len()),
        StoredChunks::At(places) => (places.len().max(chunks.listed), 0),
    };
    let data_type = stored.data_type.clone();
    let fill = fill_value(&stored, fill)?;

    let direct = codecs.zip(order).filter(|_| !is_masked);
    let axes = |shape: &[u64]| [shape, &stored.shape].concat();
    let (shape, chunk, counts) =
        (axes(&grown), axes(&chunks.shape), [&chunks.counts[..], &vec![1; stored.shape.len()]].concat());
    if chunk.contains(&0) {
        return Err(Refusal::new("elements without numbers are not read"));
    }
    let codecs = match &direct {
        Some((codecs, order)) => std::iter::once(bytes_codec(*order)).chain(codecs.iter().cloned()).collect(),
        None => {
            let why = if is_masked { "chunks skip it" } else { "elements are brought into another form" };
            filters::check(filters, skipped_by_all(&chunks.places), why)?;
            vec![made_codec(&stored)]
        }
    };
    let table = table(file, node, chunks, filters, stored.clone(), direct.is_some(), source, &chunk)?;

    let mut attributes = attributes(file, node, dimensions, Some(&data_type), warn);
    if let Datatype::Enum { members, base } = datatype {
        flags(&mut attributes, file, base, members, &data_type);
    }
    let rank = shape.len();
    let document = Map::from([
        ("zarr_format", json!(3)),
        ("node_type", json!("array")),
        ("shape", Value::from(shape)),
        ("data_type", data_type.to_config().short_value()),
        ("chunk_grid", json!({"name": "regular", "configuration": {"chunk_shape": (Value::from(chunk))}})),
        ("chunk_key_encoding", json!({"name": "default", "configuration": {"separator": "/"}})),
        ("fill_value", fill.to_json(&data_type)),
        ("codecs", Value::Array(codecs)),
        ("attributes", attributes.into()),
    ]);
    Ok(Array { document, rank, counts, table, stored: number, inline, weight: numbers * OF_NUMBER })
}

/// Returns the filters that all chunks skip, as a bit mask.
fn skipped_by_all(places: &StoredChunks) -> u32 {
    match places {
        StoredChunks::Inline(_) => 0,
        StoredChunks::At(places) => places.iter().fold(u32::MAX, |skipped, place| skipped & place.mask),
    }
}

/// Returns the document of `array` with `dimension_names`, which may depend on the path of `node`.
pub(crate) fn with_names(
    array: &Array,
    file: &File,
    node: &Node,
    dimensions: &Dimensions,
    warn: &mut dyn FnMut(String),
) -> Map {
    let mut document = array.document.clone();
    let names = dimensions.names(file, node, array.rank).unwrap_or_else(|refusal| {
        warn(format!("its dimensions have no names: {refusal}"));
        Vec::new()
    });
    if names.iter().any(Option::is_some) {
        let names = names.into_iter().map(|name| name.map_or(Value::Null, Value::from));
        document.insert("dimension_names", Value::Array(names.collect()));
    }
    document
}

#[allow(clippy::too_many_arguments, reason = "each is a part of the array")]
fn table(
    file: &Arc<File>,
    node: &Node,
    chunks: Chunks,
    filters: &[hdf5_reader::messages::filter_pipeline::FilterDescription],
    stored: Stored,
    is_direct: bool,
    source: SourceId,
    chunk: &[u64],
) -> Result<ChunkTable, Refusal> {
    let count = chunks.counts.iter().try_fold(1_u64, |count, along| count.checked_mul(*along));
    let count = count.ok_or_else(|| Refusal::new("it has too many chunks"))?;
    let mut table = ChunkTableBuilder::new(count);
    let refuse = |fault: zarr_store_virtual::VirtualFault| Refusal::new(fault.to_string());
    match &chunks.places {
        StoredChunks::Inline(data) => {
            let chunk = if is_direct { Chunk::Inline(data.clone().into()) } else { Chunk::Made(0) };
            table.set(0, chunk).map_err(refuse)?;
        }
        StoredChunks::At(places) => {
            for (number, place) in places.iter().enumerate() {
                let chunk = if is_direct && place.mask == 0 {
                    let offset = file.source.base().saturating_add(place.offset);
                    Chunk::Range { source, offset, length: place.size }
                } else {
                    Chunk::Made(u32::try_from(number).map_err(|_| Refusal::new("it has too many chunks"))?)
                };
                table.set(place.index, chunk).map_err(refuse)?;
            }
        }
    }
    let table = table.build().map_err(refuse)?;
    let path = format!("/{}", node.path);
    if is_direct {
        let StoredChunks::At(places) = chunks.places else { return Ok(table) };
        if places.iter().all(|place| place.mask == 0) {
            return Ok(table);
        }
        let wrapper = Wrapper { file: Arc::clone(file), path, places, filters: filters.to_vec() };
        return Ok(table.with_maker(Arc::new(wrapper)));
    }
    let count = chunk.iter().try_fold(1_u64, |count, len| count.checked_mul(*len)).unwrap_or(u64::MAX);
    let maker = Maker::new(Arc::clone(file), &path, chunks.places, filters, stored, count)?;
    Ok(table.with_maker(Arc::new(maker)))
}

fn bytes_codec(order: Order) -> Value {
    match order {
        Order::None => json!({"name": "bytes"}),
        Order::Little => json!({"name": "bytes", "configuration": {"endian": "little"}}),
        Order::Big => json!({"name": "bytes", "configuration": {"endian": "big"}}),
    }
}

fn made_codec(stored: &Stored) -> Value {
    match &stored.content {
        Content::Fixed(_) => bytes_codec(Order::Little),
        Content::Texts => json!({"name": "vlen-utf8"}),
        Content::Lists { numpy, .. } => {
            json!({"name": "numcodecs.vlen-array", "configuration": {"dtype": (numpy.as_str())}})
        }
    }
}

/// Returns the fill value of the data set: zero if `bytes`, the fill value in the file, is `None` or empty.
fn fill_value(stored: &Stored, bytes: Option<&[u8]>) -> Result<FillValue, Refusal> {
    let (Content::Fixed(parts), Some(bytes)) = (&stored.content, bytes) else {
        return Ok(FillValue::zero(&stored.data_type));
    };
    let mut items = bytes.chunks_exact(stored.size.max(1));
    let Some(first) = items.next() else { return Ok(FillValue::zero(&stored.data_type)) };
    if items.any(|item| item != first) {
        return Err(Refusal::new("found a fill value whose parts differ, expected one element"));
    }
    let mut item = Vec::new();
    append_elements(parts, stored.size, first, NATIVE, &mut item);
    FillValue::from_bytes(&stored.data_type, &item).map_err(|error| Refusal::new(format!("the fill value: {error}")))
}

/// Adds the CF attributes `flag_values` and `flag_meanings` for the members of an enumeration, unless `flag_values` exists.
fn flags(
    attributes: &mut Map,
    file: &File,
    base: &Datatype,
    members: &[hdf5_reader::messages::datatype::EnumMember],
    data_type: &DataType,
) {
    if *data_type == DataType::Bool || is_bool(data_type, members) || attributes.contains_key("flag_values") {
        return;
    }
    let scalar = |value: &[u8]| {
        let dataspace = hdf5_reader::messages::dataspace::DataspaceMessage {
            rank: 0,
            dims: Vec::new(),
            max_dims: None,
            dataspace_type: DataspaceType::Scalar,
        };
        let raw_data = value.to_vec();
        let attribute = AttributeMessage { name: String::new(), datatype: base.clone(), dataspace, raw_data };
        Values::new(file, true).value(&attribute).ok()
    };
    let values: Option<Vec<Value>> = members.iter().map(|member| scalar(&member.value)).collect();
    if let Some(values) = values.filter(|values| !values.is_empty()) {
        let meanings: Vec<String> = members.iter().map(|member| member.name.replace(' ', "_")).collect();
        attributes.insert("flag_values", Value::Array(values));
        attributes.insert("flag_meanings", meanings.join(" "));
    }
}
