//! Random arrays that this library writes, each with features that a peer supports.

use super::Peer;
use super::manifest::{self, Line};
use super::model::{Model, turned};
use super::random::Random;
use super::stores::Stores;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use zarr::{Array, Dialect, NewArray, NewGroup, Selection, Store};
use zarr_dtype::{DataType, FillValue};
use zarr_json::{Map, NamedConfig, Value};

/// Data types that all peers have in both formats.
const NUMBERS: [&str; 14] = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
];

/// Further data types of numpy that zarr-python has.
const NUMPY: [&str; 9] = ["|S1", "|S5", "<U1", "<U7", "<M8[ns]", "<M8[D]", "<M8[25s]", "<m8[us]", "<m8[h]"];

/// Data type of raw bytes. zarr-python does not know the type `r24` of the specification.
const RAW: &str = r#"{"name": "raw_bytes", "configuration": {"length_bytes": 3}}"#;

/// Array to be written.
pub(crate) struct PlannedArray {
    dialect: Dialect,
    data_type: String,
    shape: Vec<u64>,
    chunks: Vec<u64>,
    separator: char,
    /// List of codecs as JSON.
    codecs: String,
    dimension_names: Option<Vec<String>>,
    attributes: Map,
}

/// Store to which arrays are written.
pub(crate) struct Target<'a> {
    /// Folder of the files of values.
    pub(crate) folder: &'a Path,
    /// Name of the store in the manifest.
    pub(crate) name: &'a str,
    /// The opened store.
    pub(crate) store: &'a Arc<dyn Store>,
}

/// Writes arrays into `stores` for a peer to read, and the files of values and the manifest into `folder`.
pub(crate) fn write(folder: &Path, stores: &Stores, peer: Peer, arrays: u64, seed: u64) -> Result<Vec<Line>, String> {
    let mut random = Random::new(seed);
    let mut lines = Vec::new();
    while (lines.len() as u64) < arrays {
        let name = format!("ours-{}", lines.len());
        let plans = match peer {
            Peer::Xarray => data_set(&mut random),
            _ => {
                let dialect = random.pick(&[Dialect::V2, Dialect::V3]);
                vec![("a".to_owned(), plan(&mut random, peer, dialect, stores.most_chunks))]
            }
        };
        let opened = stores.create(&name)?;
        if peer == Peer::Xarray
            && let Some((_, plan)) = plans.first()
        {
            let group = NewGroup::default().dialect(plan.dialect);
            let group = zarr::Group::create(&opened, "/", group, &zarr::registry::default());
            group.map_err(|error| error.to_string())?;
        }
        let target = Target { folder, name: &name, store: &opened };
        for (array, plan) in plans {
            lines.push(write_one(&target, &format!("{name}-{array}"), &format!("/{array}"), plan, &mut random)?);
        }
    }
    manifest::write(folder, &lines)?;
    Ok(lines)
}

/// Writes an array at a path, and a file of its values whose name is derived from `id`.
pub(crate) fn write_one(
    target: &Target<'_>,
    id: &str,
    path: &str,
    plan: PlannedArray,
    random: &mut Random,
) -> Result<Line, String> {
    let about = format!("{}, {}, chunks {:?}, {}", plan.dialect, plan.data_type, plan.chunks, plan.codecs);
    let text = |error: zarr::Error| format!("{}{path}: {about}: {error}", target.name);
    let mut new = NewArray::new(&plan.shape, plan.data_type.as_str())
        .chunks(&plan.chunks)
        .dialect(plan.dialect)
        .separator(plan.separator)
        .attributes(plan.attributes.clone())
        .codecs(&plan.codecs)
        .map_err(text)?;
    if let Some(names) = &plan.dimension_names {
        new = new.dimension_names(names);
    }
    let known = data_type_of(&plan.data_type)?;
    let fill = random.fill(&known);
    let value = FillValue::from_bytes(&known, &fill).map_err(|error| error.to_string())?.to_json(&known);
    let array = zarr::create((target.store, path)).array(new.fill(value)).map_err(text)?;
    let fill = if known.is_variable() { fill } else { turned(&known, fill) };
    let model = fill_in(&array, &fill, random).map_err(text)?;
    let values = format!("{id}.bin");
    fs::write(target.folder.join(&values), model.to_file(&known)).map_err(|error| format!("{values}: {error}"))?;
    let names = plan.dimension_names.map_or(Value::Null, Value::from);
    let mut attributes = plan.attributes;
    // Arrays without dimensions always have names (an empty list), since xarray otherwise opens no group of version 2.
    if plan.dialect == Dialect::V2 && plan.shape.is_empty() {
        attributes.insert("_ARRAY_DIMENSIONS", Vec::<Value>::new());
    }
    Ok(Line {
        id: id.to_owned(),
        store: target.name.to_owned(),
        path: path.to_owned(),
        dtype: manifest::type_name(&known),
        shape: plan.shape,
        values,
        fill: Some(Value::from(manifest::hex(&fill))),
        attributes: Some(Value::Object(attributes)),
        // v2 only has the names of xarray.
        dimension_names: Some(names),
        about,
    })
}

/// Writes some elements, at once or in overlapping parts, and leaves the others at the fill value. Returns the expected elements.
fn fill_in(array: &Array, fill: &[u8], random: &mut Random) -> Result<Model, zarr::Error> {
    let data_type = array.data_type();
    let mut model = Model::filled(array.shape(), fill);
    let parts = random.pick(&[0, 1, 1, 1, 2, 3]);
    for part in 0..parts {
        // Half of the time the first part is the whole array.
        let selected = random.area(array.shape());
        let whole = part == 0 && random.chance(50);
        let positions: Vec<Vec<u64>> =
            if whole { array.shape().iter().map(|&len| (0..len).collect()).collect() } else { selected.positions };
        let shape: Vec<u64> = positions.iter().map(|positions| positions.len() as u64).collect();
        let selection = if whole { Selection::all() } else { Selection::Axes(selected.axes) };
        let len = shape.iter().product::<u64>();
        let new = Model { shape, elements: (0..len).map(|_| random.element(data_type)).collect() };
        array.write(&selection, new.to_data(data_type)?.view())?;
        model.put(&positions, &new);
    }
    Ok(model)
}

fn data_type_of(text: &str) -> Result<DataType, String> {
    let known = match text.chars().next() {
        Some('<' | '|') => zarr_dtype::from_npy_descr(text).map(|(data_type, _)| data_type),
        Some('{') => {
            let value = Value::from_json(text).map_err(|error| error.to_string())?;
            let config = NamedConfig::from_value(&value).ok_or_else(|| format!("{text}: no data type"))?;
            DataType::from_config(&config)
        }
        _ => DataType::from_config(&NamedConfig::new(text)),
    };
    known.map_err(|error| error.to_string())
}

/// Returns a random array of a dialect, with features that a peer supports and at most `most_chunks` chunks.
pub(crate) fn plan(random: &mut Random, peer: Peer, dialect: Dialect, most_chunks: u64) -> PlannedArray {
    loop {
        let plan = any_plan(random, peer, dialect);
        let chunks: u64 = plan.shape.iter().zip(&plan.chunks).map(|(len, chunk)| len.div_ceil(*chunk)).product();
        if chunks <= most_chunks {
            return plan;
        }
    }
}

fn any_plan(random: &mut Random, peer: Peer, dialect: Dialect) -> PlannedArray {
    let mut types = [NUMBERS, NUMBERS].concat();
    match (peer, dialect) {
        (Peer::Zarr, Dialect::V2) => types.extend(NUMPY.iter().chain(&["string", "bytes", "|V3"])),
        (Peer::Zarr, _) => types.extend(NUMPY.iter().chain(&["string", "bytes", RAW])),
        // tensorstore has no strings and no dates, and int4 only in v3.
        (Peer::Tensorstore, Dialect::V3) => types.extend(["bfloat16", "bfloat16", "int4", "int4"]),
        _ => {}
    }
    let data_type = random.pick(&types).to_owned();
    let shape = random.shape();
    let named = dialect == Dialect::V3 && !shape.is_empty() && random.chance(60);
    let dimension_names = named.then(|| (0..shape.len()).map(|axis| format!("{}{axis}", random.word())).collect());
    let attributes = random.attributes();
    with_codecs(
        random,
        peer,
        PlannedArray {
            dialect,
            data_type,
            chunks: Vec::new(),
            separator: '.',
            codecs: String::new(),
            dimension_names,
            attributes,
            shape,
        },
    )
}

/// Returns the variables and coordinates of a random data set.
fn data_set(random: &mut Random) -> Vec<(String, PlannedArray)> {
    let dialect = random.pick(&[Dialect::V2, Dialect::V3]);
    let sizes: [(&str, u64); 3] =
        [("time", 1 + random.below(30)), ("lat", 1 + random.below(12)), ("lon", 1 + random.below(14))];
    let mut variables = Vec::new();
    for &(name, len) in &sizes {
        variables.push((name.to_owned(), vec![(name, len)], random.pick(&["float32", "float64", "int64"])));
    }
    for number in 0..=random.below(3) {
        let dimensions: Vec<_> = sizes.iter().copied().filter(|_| random.chance(80)).collect();
        let data_type = random.pick(&["float32", "float64", "int16", "int16", "int32", "uint8", "bool", "string"]);
        variables.push((format!("v{number}"), dimensions, data_type));
    }
    let mut plans = Vec::new();
    for (name, dimensions, data_type) in variables {
        let names: Vec<String> = dimensions.iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut attributes = Map::new();
        attributes.insert("long_name", random.word());
        if data_type == "int16" {
            attributes.insert("scale_factor", 0.01);
            attributes.insert("add_offset", 273.15);
        }
        if dialect == Dialect::V2 {
            attributes.insert("_ARRAY_DIMENSIONS", names.clone());
        }
        let plan = with_codecs(
            random,
            Peer::Xarray,
            PlannedArray {
                dialect,
                data_type: data_type.to_owned(),
                shape: dimensions.iter().map(|(_, len)| *len).collect(),
                chunks: Vec::new(),
                separator: '.',
                codecs: String::new(),
                dimension_names: Some(names),
                attributes,
            },
        );
        plans.push((name, plan));
    }
    plans
}

/// Adds chunks and codecs to the plan that the peer supports for its data type.
fn with_codecs(random: &mut Random, peer: Peer, plan: PlannedArray) -> PlannedArray {
    let chunks = random.chunks(&plan.shape);
    let separator = random.pick(&['.', '/']);
    let codecs = match plan.dialect {
        Dialect::V2 => v2_codecs(random, peer, &plan.data_type, &chunks),
        _ => {
            let depth = random.pick(&[0, 0, 1, 1, 2]);
            v3_codecs(random, peer, &plan.data_type, &chunks, depth)
        }
    };
    PlannedArray { chunks, separator, codecs: format!("[{}]", codecs.join(", ")), ..plan }
}

/// Returns codecs of v2: the order, the byte order, and at most one compressor.
fn v2_codecs(random: &mut Random, peer: Peer, data_type: &str, chunks: &[u64]) -> Vec<String> {
    let mut codecs = Vec::new();
    match data_type {
        "string" => codecs.push(named("vlen-utf8")),
        "bytes" => codecs.push(named("vlen-bytes")),
        _ => {
            if chunks.len() > 1 && random.chance(40) {
                codecs.push(transpose(&(0..chunks.len()).rev().collect::<Vec<_>>()));
            }
            codecs.push(bytes(random, data_type));
        }
    }
    let mut kinds = vec!["none", "blosc", "blosc", "blosc", "zstd", "gzip", "zlib"];
    if peer != Peer::Tensorstore {
        kinds.push("lz4");
    }
    let kind = random.pick(&kinds);
    codecs.extend(compressor(random, peer, Some(item_size(data_type)), kind));
    codecs
}

fn v3_codecs(random: &mut Random, peer: Peer, data_type: &str, chunks: &[u64], depth: u32) -> Vec<String> {
    let mut codecs = Vec::new();
    let mut chunks = chunks.to_vec();
    let variable = matches!(data_type, "string" | "bytes");
    // zarr-python 3.1 fails to hash fill values without a type in front of shards.
    let sharded = depth > 0 && !chunks.is_empty() && data_type != RAW;
    // It compares the shape of inner chunks with that of the shard before it is transposed.
    let may_turn = !(variable || sharded && peer != Peer::Tensorstore);
    if chunks.len() > 1 && may_turn && random.chance(30) {
        let order = random.permutation(chunks.len());
        chunks = order.iter().filter_map(|&axis| chunks.get(axis).copied()).collect();
        codecs.push(transpose(&order));
    }
    match data_type {
        _ if sharded => {
            let inner = random.inner(&chunks);
            let nested = v3_codecs(random, peer, data_type, &inner, depth - 1).join(", ");
            let endian = random.pick(&["little", "little", "big"]);
            let checksum = if random.chance(80) { r#", {"name": "crc32c"}"# } else { "" };
            let location = random.pick(&["end", "end", "start"]);
            let configuration = format!(
                r#"{{"chunk_shape": {inner:?}, "codecs": [{nested}], "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}{checksum}], "index_location": "{location}"}}"#
            );
            codecs.push(configured("sharding_indexed", &configuration));
            return codecs;
        }
        "string" => codecs.push(named("vlen-utf8")),
        "bytes" => codecs.push(named("vlen-bytes")),
        _ => codecs.push(bytes(random, data_type)),
    }
    for _ in 0..random.pick(&[0, 1, 1, 1, 2]) {
        let mut kinds = vec!["blosc", "blosc", "zstd", "gzip", "crc32c"];
        if peer != Peer::Tensorstore {
            kinds.extend(["zlib", "lz4"]);
        }
        let kind = random.pick(&kinds);
        codecs.extend(compressor(random, peer, None, kind));
    }
    codecs
}

/// Returns the size of elements for the shuffle of blosc, which v2 determines by the data type.
fn item_size(data_type: &str) -> usize {
    data_type_of(data_type).map_or(1, |known| if known.is_variable() { 1 } else { known.item_size() })
}

/// Returns a random configuration of a compressor, by its name in Zarr v3; `None` if the peer lacks the compressor.
fn compressor(random: &mut Random, peer: Peer, item_size: Option<usize>, kind: &str) -> Option<String> {
    let level = random.below(10);
    Some(match kind {
        "blosc" => {
            let mut names = vec!["blosclz", "lz4", "lz4hc", "zlib", "zstd"];
            if peer == Peer::Tensorstore {
                // The wheels of numcodecs lack snappy.
                names.push("snappy");
            }
            let name = random.pick(&names);
            let shuffle = random.pick(&["noshuffle", "shuffle", "bitshuffle"]);
            let typesize = item_size.unwrap_or_else(|| random.pick(&[1, 2, 4, 8]));
            let configuration = format!(
                r#"{{"cname": "{name}", "clevel": {level}, "shuffle": "{shuffle}", "typesize": {typesize}, "blocksize": 0}}"#
            );
            configured("blosc", &configuration)
        }
        // tensorstore supports no checksums in v2, where the size of elements is given.
        "zstd" if peer == Peer::Tensorstore && item_size.is_some() => {
            configured("zstd", &format!(r#"{{"level": {level}, "checksum": false}}"#))
        }
        "zstd" => configured("zstd", &format!(r#"{{"level": {}, "checksum": {}}}"#, level * 2, random.chance(50))),
        "gzip" => configured("gzip", &format!(r#"{{"level": {level}}}"#)),
        "zlib" => configured("numcodecs.zlib", &format!(r#"{{"level": {level}}}"#)),
        "lz4" => configured("numcodecs.lz4", r#"{"acceleration": 1}"#),
        "crc32c" => named("crc32c"),
        _ => return None,
    })
}

fn bytes(random: &mut Random, data_type: &str) -> String {
    let has_order = !matches!(data_type, "bool" | "int8" | "uint8" | "int4") && !data_type.starts_with(['|', '{']);
    match has_order {
        true => configured("bytes", &format!(r#"{{"endian": "{}"}}"#, random.pick(&["little", "little", "big"]))),
        false => named("bytes"),
    }
}

fn transpose(order: &[usize]) -> String {
    configured("transpose", &format!(r#"{{"order": {order:?}}}"#))
}

fn named(name: &str) -> String {
    format!(r#"{{"name": "{name}"}}"#)
}

fn configured(name: &str, configuration: &str) -> String {
    format!(r#"{{"name": "{name}", "configuration": {configuration}}}"#)
}
