//! Data types and codecs: which go together, found out by writing and reading an array for each pair.

mod elements;
mod typed;

pub use typed::{Typed, typed};

use crate::Fault;
use elements::{TYPES, Values};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use zarr_array::{Array, ArrayData, ErrorKind, NewArray};
use zarr_dtype::{ByteOrder, DataType, npy_descr};
use zarr_grid::Selection;
use zarr_meta::json::Value;
use zarr_meta::{Dialect, NamedConfig, json};
use zarr_store::{FilesystemStore, MemoryStore, Store};

const SHAPE: [u64; 2] = [6, 5];
const CHUNKS: [u64; 2] = [4, 3];

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Elements come back as they were written.
    Ours,
    /// Besides, one of those below reads the same elements, but cannot write them, or is known to write others.
    Read,
    /// Besides, none of those below has such arrays, but the crate zarrs reads the same elements, and what it writes is read here.
    Zarrs,
    /// Besides, neither zarr-python nor numcodecs has such arrays, but TensorStore reads the same elements, and what it writes is
    /// read here.
    TensorStore,
    /// Besides, zarr-python has no such arrays, but numcodecs decodes their chunks to the same elements, and what it encodes is
    /// read here.
    Numcodecs,
    /// Besides, zarr-python reads the same elements, by numcodecs where the codec is one of it, and what it writes is read here.
    Zarr,
}

/// What goes together, by the names of codecs and data types.
pub type Cells = BTreeMap<(&'static str, &'static str), Cell>;

/// Where a codec stands in a chain.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In front of what turns elements into bytes.
    Array,
    /// It turns elements into bytes.
    ToBytes,
    /// Behind it.
    Bytes,
}

/// A codec, the dialect that it is tried in, and its configuration for a data type; `None` if numpy has no such type.
struct Column {
    name: &'static str,
    place: Place,
    dialect: Dialect,
    configuration: fn(&DataType) -> Option<Value>,
}

const fn column(
    name: &'static str,
    place: Place,
    dialect: Dialect,
    configuration: fn(&DataType) -> Option<Value>,
) -> Column {
    Column { name, place, dialect, configuration }
}

const fn v3(name: &'static str, place: Place, configuration: fn(&DataType) -> Option<Value>) -> Column {
    column(name, place, Dialect::V3, configuration)
}

const fn v2(name: &'static str, place: Place, configuration: fn(&DataType) -> Option<Value>) -> Column {
    column(name, place, Dialect::V2, configuration)
}

fn nothing(_: &DataType) -> Option<Value> {
    Some(json!({}))
}

/// `dtype` alone.
fn dtype(data_type: &DataType) -> Option<Value> {
    Some(json!({"dtype": (npy_descr(data_type)?)}))
}

const COLUMNS: &[Column] = &[
    v3("bytes", Place::ToBytes, |data_type| {
        Some(if data_type.layout().has_byte_order() { json!({"endian": "big"}) } else { json!({}) })
    }),
    v3("vlen-utf8", Place::ToBytes, nothing),
    v3("vlen-bytes", Place::ToBytes, nothing),
    v3("zarrs.vlen", Place::ToBytes, |_| {
        let little = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        let bytes = json!([{"name": "bytes"}]);
        Some(
            json!({"index_codecs": little, "data_codecs": bytes, "index_data_type": "uint32", "index_location": "end"}),
        )
    }),
    v3("optional", Place::ToBytes, |_| {
        let little = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
        Some(json!({"mask_codecs": [{"name": "packbits"}], "data_codecs": little}))
    }),
    v3("packbits", Place::ToBytes, nothing),
    v3("zfp", Place::ToBytes, |_| Some(json!({"mode": "reversible"}))),
    v3("transpose", Place::Array, |_| Some(json!({"order": [1, 0]}))),
    v3("reshape", Place::Array, |_| Some(json!({"shape": [(-1)]}))),
    v3("bitround", Place::Array, |_| Some(json!({"keepbits": 7}))),
    v3("cast_value", Place::Array, |_| Some(json!({"data_type": "float64"}))),
    v3("scale_offset", Place::Array, |_| Some(json!({"offset": 0, "scale": 1}))),
    v3("gzip", Place::Bytes, |_| Some(json!({"level": 1}))),
    v3("zstd", Place::Bytes, |_| Some(json!({"level": 1, "checksum": true}))),
    v3("blosc", Place::Bytes, |data_type| {
        let typesize = if data_type.is_variable() { 1 } else { data_type.item_size() };
        Some(json!({"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": typesize, "blocksize": 0}))
    }),
    v3("crc32c", Place::Bytes, nothing),
    v3("conditional", Place::Bytes, |_| {
        Some(json!({"codecs": [{"name": "gzip", "configuration": {"level": 1}}, {"name": "crc32c"}]}))
    }),
    v2("numcodecs.vlen-array", Place::ToBytes, |data_type| match data_type {
        DataType::VlenArray(item) => dtype(item),
        _ => Some(json!({"dtype": "<f8"})),
    }),
    v2("numcodecs.json2", Place::ToBytes, nothing),
    v2("numcodecs.msgpack2", Place::ToBytes, nothing),
    v2("numcodecs.categorize", Place::ToBytes, |data_type| {
        let descr = npy_descr(data_type).unwrap_or_else(|| "|O".to_owned());
        Some(json!({"labels": (elements::WORDS.to_vec()), "dtype": descr, "astype": "|u1"}))
    }),
    v2("numcodecs.zfpy", Place::ToBytes, |_| {
        Some(json!({"mode": 3, "tolerance": (-1), "rate": (-1), "precision": 64}))
    }),
    v2("numcodecs.pcodec", Place::ToBytes, nothing),
    v2("numcodecs.delta", Place::Array, dtype),
    v2("numcodecs.quantize", Place::Array, |data_type| Some(json!({"digits": 1, "dtype": (npy_descr(data_type)?)}))),
    v2("numcodecs.fixedscaleoffset", Place::Array, |data_type| {
        Some(json!({"offset": 0, "scale": 2, "dtype": (npy_descr(data_type)?), "astype": "<i2"}))
    }),
    v2("numcodecs.astype", Place::Array, |data_type| {
        let wide = if matches!(data_type, DataType::Complex64 | DataType::Complex128) { "<c16" } else { "<f8" };
        Some(json!({"encode_dtype": wide, "decode_dtype": (npy_descr(data_type)?)}))
    }),
    v2("numcodecs.packbits", Place::Array, nothing),
    v2("numcodecs.zlib", Place::Bytes, |_| Some(json!({"level": 1}))),
    v2("numcodecs.lz4", Place::Bytes, |_| Some(json!({"acceleration": 1}))),
    v2("numcodecs.bz2", Place::Bytes, |_| Some(json!({"level": 1}))),
    v2("numcodecs.lzma", Place::Bytes, |_| Some(json!({"format": 1, "check": (-1), "preset": 1, "filters": null}))),
    v2("numcodecs.shuffle", Place::Bytes, |data_type| {
        let size = if data_type.is_variable() { 1 } else { data_type.item_size() };
        Some(json!({"elementsize": size}))
    }),
    v2("numcodecs.base64", Place::Bytes, nothing),
    v2("numcodecs.crc32", Place::Bytes, nothing),
    v2("numcodecs.adler32", Place::Bytes, nothing),
    v2("numcodecs.fletcher32", Place::Bytes, nothing),
    v2("numcodecs.jenkins_lookup3", Place::Bytes, |_| Some(json!({"initval": 0, "prefix": null}))),
    v3("sharding_indexed", Place::ToBytes, |data_type| {
        let serializer = zarr::registry().defaults.serializer?(data_type, ByteOrder::Little).to_value();
        Some(json!({
            "chunk_shape": [2, 1],
            "codecs": [serializer],
            "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
            "index_location": "end"
        }))
    }),
    v3("n5_default", Place::ToBytes, |data_type| {
        let order = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
        let bytes = match data_type.layout().has_byte_order() {
            true => json!({"name": "bytes", "configuration": {"endian": "big"}}),
            false => json!({"name": "bytes"}),
        };
        Some(json!({"codecs": [order, bytes]}))
    }),
];

/// Writes and reads an array for each pair. With a folder they are left in it, each with a file that says what is in it, for
/// other software to read.
///
/// # Errors
/// Says which pairs do not come back, though they can be created.
pub fn cells(folder: Option<&Path>) -> Result<Cells, Fault> {
    let mut cells = Cells::new();
    let mut faults = Vec::new();
    for (name, make) in TYPES {
        let values = make();
        for column in COLUMNS {
            match pair(name, &values, column, folder) {
                Ok(true) => drop(cells.insert((column.name, *name), Cell::Ours)),
                Ok(false) => {}
                Err(fault) => faults.push(format!("{} of {name}: {fault}", column.name)),
            }
        }
    }
    if faults.is_empty() { Ok(cells) } else { Err(faults.join("\n")) }
}

/// Whether elements come back; false if such an array cannot be created.
fn pair(name: &str, values: &Values, column: &Column, folder: Option<&Path>) -> Result<bool, Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    let file_name = format!("{}-{name}", column.name).replace(['.', '[', ']'], "_");
    let path = folder.map(|folder| folder.join(file_name));
    let store: Arc<dyn Store> = match &path {
        Some(path) => Arc::new(FilesystemStore::create(path).map_err(|error| error.to_string())?),
        None => Arc::new(MemoryStore::new()),
    };
    let Some(array) = create(values, column, &store)? else {
        discard(path.as_deref())?;
        return Ok(false);
    };
    array.write_from(Selection::all(), values.elements.view()).map_err(fault)?;
    let found = zarr::open_array(&store, "/").and_then(|array| array.read_data(Selection::all())).map_err(fault)?;
    same(column.name, &found, &values.elements)?;
    if let Some(path) = &path {
        let expected = json!({"codec": (column.name), "data_type": name, "values": (json_values(&values.elements))});
        std::fs::write(path.join("expected.json"), expected.to_string()).map_err(|error| error.to_string())?;
    }
    Ok(true)
}

/// An array of a data type with a codec, without elements; `None` if there cannot be one.
fn create(values: &Values, column: &Column, store: &Arc<dyn Store>) -> Result<Option<Array>, Fault> {
    let Some(configuration) = (column.configuration)(&values.data_type) else { return Ok(None) };
    let codec = NamedConfig::with(column.name, configuration.as_object().cloned().unwrap_or_default());
    let registry = zarr::registry();
    let serializer = registry.defaults.serializer.map(|make| make(&values.data_type, ByteOrder::Little));
    // Between an array codec and bytes there are elements of another type, all of which have a byte order.
    let little = NamedConfig::with("bytes", [("endian".to_owned(), Value::from("little"))].into_iter().collect());
    let serializer = serializer.ok_or("no serializer")?;
    let changes = matches!(column.name, "cast_value" | "numcodecs.fixedscaleoffset" | "numcodecs.astype");
    let codecs = match column.place {
        Place::Array if changes => vec![codec, little],
        Place::Array if column.name == "numcodecs.packbits" => vec![codec, NamedConfig::new("bytes")],
        Place::Array => vec![codec, serializer],
        Place::ToBytes => vec![codec],
        Place::Bytes => vec![serializer, codec],
    };
    let new = NewArray::new(&SHAPE, values.data_type.to_config().short_value().to_string().trim_matches('"'));
    let new = new.chunks(&CHUNKS).codecs(codecs).dialect(column.dialect);
    let array = match Array::create(store, "/", new, &registry) {
        Ok(array) => array,
        Err(error) => {
            return match error.kind() {
                ErrorKind::UnknownExtension | ErrorKind::InvalidMetadata | ErrorKind::NotExpressible => Ok(None),
                _ => Err(error.to_string()),
            };
        }
    };
    // Objects of v2 are what their codec says, so that texts in JSON are values.
    let (found, due) = (array.data_type(), &values.data_type);
    // Raw bytes, and byte strings of any length, go by several names.
    let same_kind = !due.is_variable() || std::mem::discriminant(found) == std::mem::discriminant(due);
    Ok((found.layout() == due.layout() && same_kind).then_some(array))
}

/// An array in memory of each data type that the codec of this name takes, all of its elements written.
pub(crate) fn arrays(codec: &str) -> Result<Vec<Array>, Fault> {
    let mut arrays = Vec::new();
    for column in COLUMNS.iter().filter(|column| column.name == codec) {
        for (_, make) in TYPES {
            let values = make();
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            if let Some(array) = create(&values, column, &store)? {
                array
                    .write_from(Selection::all(), values.elements.view())
                    .map_err(|error| format!("{codec} of {}: {error}", values.data_type))?;
                arrays.push(array);
            }
        }
    }
    Ok(arrays)
}

/// Every data type with elements of it, which may be fill values, in JSON.
pub(crate) fn fill_values() -> Vec<(Value, Value)> {
    let of = |make: fn() -> Values| {
        let values = make();
        let data_type = values.data_type.to_config().short_value();
        [0, 7, 11].map(|place| (data_type.clone(), values.elements.json(place)))
    };
    TYPES.iter().flat_map(|(_, make)| of(*make)).collect()
}

/// Whether elements are those due, or nearly those where the codec loses a little.
fn same(codec: &str, found: &ArrayData, due: &ArrayData) -> Result<(), Fault> {
    for place in 0..due.len() {
        let (found, due) = (found.json(place), due.json(place));
        let loses = codec == "numcodecs.zfpy";
        if !found.same(&due) && (!loses || !is_near(&found, &due)) {
            return Err(format!("element {place}: found {found}, expected {due}"));
        }
    }
    Ok(())
}

/// Compares what others wrote again of the pair of a codec and a data type that [`cells`] left in `folder`.
///
/// # Errors
/// Says which element is another one.
pub fn compare((codec, data_type): (&str, &str), folder: &Path) -> Result<(), Fault> {
    let (_, make) = TYPES.iter().find(|(name, _)| *name == data_type).ok_or("no such data type")?;
    let store: Arc<dyn Store> =
        Arc::new(FilesystemStore::open(folder.join("back")).map_err(|error| error.to_string())?);
    let found = zarr::open_array(&store, "/").and_then(|array| array.read_data(Selection::all()));
    same(codec, &found.map_err(|error| error.to_string())?, &make().elements)
}

/// Compares what others found in an array of a data type that [`cells`] left: the bytes of each element in hexadecimal as they lie
/// in memory, and null for one that is missing.
///
/// # Errors
/// Says which element is another one.
pub fn compare_bytes(data_type: &str, found: &[Value]) -> Result<(), Fault> {
    let (_, make) = TYPES.iter().find(|(name, _)| *name == data_type).ok_or("no such data type")?;
    let elements = make().elements;
    let variable = elements.variable();
    let items: Vec<&[u8]> = match variable {
        Some(items) => items.collect(),
        None => elements.items().chunks(elements.data_type().item_size()).collect(),
    };
    if found.len() != items.len() {
        return Err(format!("{} elements, expected {}", found.len(), items.len()));
    }
    for (place, (item, found)) in items.into_iter().zip(found).enumerate() {
        // The first byte of an element that may be missing says whether it is there.
        let bytes = match item {
            [0, ..] if data_type == "optional" => None,
            [_, value @ ..] if data_type == "optional" => Some(value),
            item => Some(item),
        };
        let due = bytes.map_or(Value::Null, |bytes| {
            Value::from(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
        });
        if *found != due {
            return Err(format!("element {place}: found {found}, expected {due}"));
        }
    }
    Ok(())
}

/// Removes what was written of an array that cannot be.
fn discard(path: Option<&Path>) -> Result<(), Fault> {
    path.map_or(Ok(()), |path| std::fs::remove_dir_all(path).map_err(|error| error.to_string()))
}

/// What is lost of integers up to 30720.
fn is_near(found: &Value, due: &Value) -> bool {
    matches!((found.as_f64(), due.as_f64()), (Some(found), Some(due)) if (found - due).abs() <= 8.0)
}

fn json_values(elements: &ArrayData) -> Vec<Value> {
    (0..elements.len()).map(|place| elements.json(place)).collect()
}

/// The cells as a document in Markdown.
pub fn document(cells: &Cells) -> String {
    let mut text = String::from(HEAD);
    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(text, "| codec | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
    for column in COLUMNS {
        let marks: Vec<&str> = names.iter().map(|name| letter(cells.get(&(column.name, *name)))).collect();
        let _ = writeln!(text, "| `{}` | {} |", column.name, marks.join(" | "));
    }
    text
}

const HEAD: &str = "\
# What goes together

A mark says that an array of the data type was written with the codec and read again, all elements the same (with `numcodecs.zfpy`,
which loses a little, nearly), by the run that made this table, `cargo xtask conformance --matrix`:

* **z**: zarr-python read the same elements as well, wrote them again, and these were read. Codecs with `numcodecs.` in front are in
  arrays of Zarr v2, where zarr-python has numcodecs decode and encode them; the others are in arrays of v3.
* **n**: zarr-python has no such arrays, but the same holds of numcodecs and their chunks.
* **t**: neither of the two has such arrays, but the same holds of TensorStore, which has those of `n5_default` as arrays of N5.
* **s**: none of the three has such arrays, but the same holds of the crate zarrs.
* **r**: one of the four read the same elements, but does not write them, or writes others, of which more below.
* **o**: ours alone; none of them reads them.

Where there is none, the codec does not take elements of the type, or the dialect has no way to say it. Elements of variable length
are turned into bytes by `vlen-utf8`, `vlen-bytes`, `numcodecs.vlen-array` or `numcodecs.json2` where the codec does not do that.
`cargo test` makes the table again, without any of them, and compares it with this file.

`bitround` keeps bits of an integer from the most significant one that is set, as its text says, which says nothing of integers below
zero. Here it is that of the magnitude. zarrs 0.23 takes the sign, so that little is left of small ones: of seven bits, -3840 as
`int64` becomes -2⁵⁷. It reads what is written here as it is.

";

fn letter(cell: Option<&Cell>) -> &'static str {
    match cell {
        None => "",
        Some(Cell::Ours) => "o",
        Some(Cell::Read) => "r",
        Some(Cell::Zarrs) => "s",
        Some(Cell::TensorStore) => "t",
        Some(Cell::Numcodecs) => "n",
        Some(Cell::Zarr) => "z",
    }
}

/// Marks the pair of a codec and a data type as what else is known of it.
pub fn mark(cells: &mut Cells, pair: (&str, &str), as_what: Cell) {
    if let Some((_, cell)) = cells.iter_mut().find(|((codec, data_type), _)| (*codec, *data_type) == pair) {
        *cell = as_what;
    }
}

/// Says in which line a document has other marks than the cells, where it says nothing of other readers: a mark must be
/// there or not.
///
/// # Errors
/// The first line that differs.
pub fn check(document: &str, cells: &Cells) -> Result<(), Fault> {
    let ours = self::document(cells);
    let others = ["| z ", "| n ", "| t ", "| s ", "| r "];
    let plain = |line: &str| others.iter().fold(line.to_owned(), |line, of| line.replace(of, "| o "));
    let mut lines = document.lines();
    for due in ours.lines() {
        let found = lines.next().unwrap_or_default();
        let is_same = if due.starts_with("| `") { plain(found) == plain(due) } else { found == due };
        if !is_same {
            return Err(format!("found {found:?}, expected {due:?}"));
        }
    }
    lines.next().map_or(Ok(()), |more| Err(format!("found {more:?} at the end")))
}
