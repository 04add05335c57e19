//! Supported pairs of data types and codecs, found by writing and reading an array for each pair.

mod elements;
mod typed;

pub use typed::{Typed, typed};

use crate::Fault;
use elements::{TYPES, Values};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use zarr::store::{FilesystemStore, MemoryStore, Store};
use zarr_array::{Array, ArrayData, ErrorKind, NewArray};
use zarr_codec::{CodecEntry, add_missing};
use zarr_dtype::{ByteOrder, DataType, npy_descr};
use zarr_grid::Selection;
use zarr_json::{NamedConfig, Value, json};
use zarr_meta::{Dialect, readers};

const SHAPE: [u64; 2] = [6, 5];
const CHUNKS: [u64; 2] = [4, 3];

/// Result for a pair of a codec and a data type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// This library reads the elements that it wrote. All other results include this one.
    Ours,
    /// Other software reads the same elements, but cannot write such arrays, or is known to write other elements.
    Read,
    /// The crate zarrs reads the same elements, and this library reads its chunks. No library below supports the pair.
    Zarrs,
    /// TensorStore reads the same elements, and this library reads its chunks. Neither zarr-python nor numcodecs supports the pair.
    TensorStore,
    /// numcodecs decodes the chunks to the same elements, and this library reads its chunks. zarr-python does not support the pair.
    Numcodecs,
    /// zarr-python reads the same elements, by numcodecs if the codec is one of numcodecs, and this library reads its chunks.
    Zarr,
}

/// Results of the supported pairs, by the names of the codec and the data type.
pub type Cells = BTreeMap<(&'static str, &'static str), Cell>;

/// Codec of a column of the table, with the dialect of its arrays, and its name in that dialect.
struct Column {
    entry: CodecEntry,
    name: &'static str,
    dialect: Dialect,
}

/// Codecs without a column: a codec that occurs in no document, the older forms of two others, and experiments of zarrs with other names
/// for codecs.
const LEFT_OUT: [&str; 5] = ["array_view", "numcodecs.json", "numcodecs.msgpack", "zarrs.squeeze", "zarrs.vlen_v2"];

/// Columns of the table. Codecs that only numcodecs has are tested in version 2, the others in version 3.
static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let column = |entry: &CodecEntry| {
        // The registered codec, which takes integers too.
        let name = if entry.name == "numcodecs.bitround" { "bitround" } else { entry.name };
        let dialect = if name.starts_with("numcodecs.") { Dialect::V2 } else { Dialect::V3 };
        Column { entry: *entry, name, dialect }
    };
    zarr::registry::default().codecs.iter().filter(|entry| !LEFT_OUT.contains(&entry.name)).map(column).collect()
});

impl Column {
    /// Returns the configuration of the codec for a data type; `None` if numpy has no such type. If the configuration does not depend on
    /// the type, it is the example of the codec.
    fn codec(&self, data_type: &DataType) -> Option<NamedConfig> {
        let has_order = data_type.layout().has_byte_order();
        let big = if has_order { json!({"endian": "big"}) } else { json!({}) };
        let configuration = match self.name {
            "bytes" => big,
            "numcodecs.vlen-array" => match data_type {
                DataType::VlenArray(item) => json!({"dtype": (npy_descr(item)?)}),
                _ => json!({"dtype": "<f8"}),
            },
            "numcodecs.categorize" => {
                let descr = npy_descr(data_type).unwrap_or_else(|| "|O".to_owned());
                json!({"labels": (elements::WORDS.to_vec()), "dtype": descr, "astype": "|u1"})
            }
            "numcodecs.zfpy" => json!({"mode": 3, "tolerance": (-1), "rate": (-1), "precision": 64}),
            "numcodecs.astype" => {
                let wide = if matches!(data_type, DataType::Complex64 | DataType::Complex128) { "<c16" } else { "<f8" };
                json!({"encode_dtype": wide, "decode_dtype": (npy_descr(data_type)?)})
            }
            "sharding_indexed" => {
                let serializer =
                    zarr::registry::default().defaults.serializer?(data_type, ByteOrder::Little).to_value();
                json!({
                    "chunk_shape": [2, 1],
                    "codecs": [serializer],
                    "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
                    "index_location": "end"
                })
            }
            "n5_default" => {
                let order = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
                json!({"codecs": [order, {"name": "bytes", "configuration": big}]})
            }
            _ => Value::from_json(self.entry.example).ok()?,
        };
        let mut codec = NamedConfig::with(self.name, configuration.as_object().cloned().unwrap_or_default());
        for (member, default) in self.entry.arguments {
            if let Some(default) = default.and_then(|json| Value::from_json(json).ok()) {
                add_missing(&mut codec, [(*member, default)]);
            }
        }
        // For data types without byte order, `bytes` has no member.
        if self.name == "bytes" && !has_order {
            codec.configuration.remove("endian");
        }
        self.entry.complete(&mut codec, data_type);
        codec.name = self.name.to_owned();
        Some(codec)
    }
}

/// Writes and reads an array for each pair. With a folder, leaves the arrays in it, each with a file of its elements, for other software to
/// read.
///
/// # Errors
/// A message about the pairs whose elements change, although their arrays can be created.
pub fn cells(folder: Option<&Path>) -> Result<Cells, Fault> {
    let mut cells = Cells::new();
    let mut faults = Vec::new();
    for (name, make) in TYPES {
        let values = make();
        for column in COLUMNS.iter() {
            match pair(name, &values, column, folder) {
                Ok(true) => drop(cells.insert((column.name, *name), Cell::Ours)),
                Ok(false) => {}
                Err(fault) => faults.push(format!("{} of {name}: {fault}", column.name)),
            }
        }
    }
    if faults.is_empty() { Ok(cells) } else { Err(faults.join("\n")) }
}

/// Returns whether the elements of an array are unchanged after a write and a read; `false` if the array cannot be created.
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
    array.write(Selection::all(), values.elements.view()).map_err(fault)?;
    let found = zarr::open(&store).array().and_then(|array| array.read_data(Selection::all())).map_err(fault)?;
    same(column.name, &found, &values.elements)?;
    if let Some(path) = &path {
        let expected = json!({"codec": (column.name), "data_type": name, "values": (json_values(&values.elements))});
        std::fs::write(path.join("expected.json"), expected.to_string()).map_err(|error| error.to_string())?;
    }
    Ok(true)
}

/// Creates an array of a data type with a codec, without elements; `None` if the pair is not supported.
fn create(values: &Values, column: &Column, store: &Arc<dyn Store>) -> Result<Option<Array>, Fault> {
    let Some(codec) = column.codec(&values.data_type) else { return Ok(None) };
    let registry = zarr::registry::default();
    let new = NewArray::new(&SHAPE, values.data_type.to_config().short_value().to_string().trim_matches('"'));
    let new = new.chunks(&CHUNKS).codecs(vec![codec]).map_err(|error| error.to_string())?.dialect(column.dialect);
    let array = match Array::create(store, "/", new, &registry) {
        Ok(array) => array,
        Err(error) => {
            return match error.kind() {
                ErrorKind::UnknownExtension | ErrorKind::InvalidMetadata | ErrorKind::NotExpressible => Ok(None),
                _ => Err(error.to_string()),
            };
        }
    };
    // The type of objects of v2 depends on their codec, so that texts in JSON are values.
    let (found, due) = (array.data_type(), &values.data_type);
    // Raw bytes, and byte strings of any length, go by several names.
    let same_kind = !due.is_variable() || std::mem::discriminant(found) == std::mem::discriminant(due);
    Ok((found.layout() == due.layout() && same_kind).then_some(array))
}

/// Returns an array in memory, with all elements written, of each data type that the codec called `codec` supports.
pub(crate) fn arrays(codec: &str) -> Result<Vec<Array>, Fault> {
    let mut arrays = Vec::new();
    let registry = zarr::registry::default();
    let experiments =
        registry.codecs.iter().filter(|entry| entry.name.starts_with("zarrs.") && LEFT_OUT.contains(&entry.name));
    let experiments = experiments.map(|entry| Column { entry: *entry, name: entry.name, dialect: Dialect::V3 });
    let experiments: Vec<Column> = experiments.collect();
    for column in COLUMNS.iter().chain(&experiments).filter(|column| column.entry.name == codec) {
        for (_, make) in TYPES {
            let values = make();
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            if let Some(array) = create(&values, column, &store)? {
                array
                    .write(Selection::all(), values.elements.view())
                    .map_err(|error| format!("{codec} of {}: {error}", values.data_type))?;
                arrays.push(array);
            }
        }
    }
    Ok(arrays)
}

/// Returns every data type with some elements as fill values, in JSON.
pub(crate) fn fill_values() -> Vec<(Value, Value)> {
    let of = |make: fn() -> Values| {
        let values = make();
        let data_type = values.data_type.to_config().short_value();
        [0, 7, 11].map(|index| (data_type.clone(), values.elements.json(index)))
    };
    TYPES.iter().flat_map(|(_, make)| of(*make)).collect()
}

/// Checks that elements are equal to the expected ones, or nearly equal if the codec is lossy.
fn same(codec: &str, found: &ArrayData, due: &ArrayData) -> Result<(), Fault> {
    for index in 0..due.len() {
        let (found, due) = (found.json(index), due.json(index));
        let loses = codec == "numcodecs.zfpy";
        if !found.semantically_eq(&due) && (!loses || !is_near(&found, &due)) {
            return Err(format!("element {index}: found {found}, expected {due}"));
        }
    }
    Ok(())
}

/// Compares the array that other software wrote for a pair of a codec and a data type, beside the array that [`cells`] left in `folder`.
///
/// # Errors
/// A message about the element that differs.
pub fn compare((codec, data_type): (&str, &str), folder: &Path) -> Result<(), Fault> {
    let (_, make) = TYPES.iter().find(|(name, _)| *name == data_type).ok_or("no such data type")?;
    let store: Arc<dyn Store> =
        Arc::new(FilesystemStore::open(folder.join("back")).map_err(|error| error.to_string())?);
    let found = zarr::open(&store).array().and_then(|array| array.read_data(Selection::all()));
    same(codec, &found.map_err(|error| error.to_string())?, &make().elements)
}

/// Compares the elements that other software found in an array of a data type that [`cells`] left: the bytes of each element in hexadecimal
/// as in memory, and null for a missing element.
///
/// # Errors
/// A message about the element that differs.
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
    for (index, (item, found)) in items.into_iter().zip(found).enumerate() {
        // The first byte of an element of a type with missing values says whether the element is present.
        let bytes = match item {
            [0, ..] if data_type == "optional" => None,
            [_, value @ ..] if data_type == "optional" => Some(value),
            item => Some(item),
        };
        let due = bytes.map_or(Value::Null, |bytes| {
            Value::from(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
        });
        if *found != due {
            return Err(format!("element {index}: found {found}, expected {due}"));
        }
    }
    Ok(())
}

/// Removes the files of an array that cannot be written.
fn discard(path: Option<&Path>) -> Result<(), Fault> {
    path.map_or(Ok(()), |path| std::fs::remove_dir_all(path).map_err(|error| error.to_string()))
}

/// Returns whether an integer up to 30720 differs by no more than the codec loses.
fn is_near(found: &Value, due: &Value) -> bool {
    matches!((found.as_f64(), due.as_f64()), (Some(found), Some(due)) if (found - due).abs() <= 8.0)
}

fn json_values(elements: &ArrayData) -> Vec<Value> {
    (0..elements.len()).map(|index| elements.json(index)).collect()
}

/// Returns the results as a document in Markdown.
pub fn document(cells: &Cells) -> String {
    let mut text = String::from(HEAD);
    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(text, "| codec | {} |", names.join(" | "));
    let _ = writeln!(text, "|---|{}", "---|".repeat(names.len()));
    for column in COLUMNS.iter() {
        let marks: Vec<&str> = names.iter().map(|name| letter(cells.get(&(column.name, *name)))).collect();
        let _ = writeln!(text, "| `{}` | {} |", column.name, marks.join(" | "));
    }
    text
}

const HEAD: &str = "\
# Codecs and data types

Which codec takes which data type, and which other software has the same elements: a table of all pairs, each of them tried.

A mark says that an array of the data type was written with the codec and read again, all elements the same (with `numcodecs.zfpy`,
which loses a little, nearly), by the run that made this table, `cargo xtask conformance --matrix`:

* **z**: zarr-python read the same elements as well, wrote them again, and these were read. Codecs with `numcodecs.` in front are in
  arrays of Zarr v2, where zarr-python has numcodecs decode and encode them; the others are in arrays of v3.
* **n**: zarr-python has no such arrays, but the same holds of numcodecs and their chunks.
* **t**: neither of the two has such arrays, but the same holds of TensorStore, which has arrays of `n5_default` as arrays of N5.
* **s**: none of the three has such arrays, but the same holds of the crate zarrs.
* **r**: one of the four read the same elements, but does not write them, or writes others, of which more below.
* **o**: ours alone; none of them reads them.

Where there is none, the codec does not take elements of the type, or the dialect has no way to say it. Elements of variable length
are turned into bytes by `vlen-utf8`, `vlen-bytes`, `numcodecs.vlen-array` or `numcodecs.json2` where the codec does not do that.
`cargo test` makes the table again, without any of them, and compares it with this file.

`bitround` keeps bits of an integer from the most significant one that is set, as its text says, which says nothing of integers below
zero. Here it is the one of the magnitude. zarrs 0.23 takes the sign, so that little is left of small ones: of seven bits, -3840 as
`int64` becomes -2⁵⁷. It reads the arrays that are written here correctly.

Conversions go by this table where they warn of arrays that no other software reads (`zarr_meta::readers`).

";

/// Returns the results in the form of `zarr_meta::readers`: the names of the data types, and below them a line for each codec with its
/// marks.
pub fn marks(cells: &Cells) -> String {
    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
    let mut text = format!("{}\n", names.join(" "));
    for column in COLUMNS.iter() {
        let mark = |name: &&str| match letter(cells.get(&(column.name, *name))) {
            "" => "-",
            letter => letter,
        };
        let marks: Vec<&str> = names.iter().map(mark).collect();
        let _ = writeln!(text, "{} {}", column.name, marks.join(" "));
    }
    text
}

/// Returns the results in `zarr_meta::readers`.
///
/// # Errors
/// A message about a mark that belongs to no pair.
pub fn known() -> Result<Cells, Fault> {
    let mut cells = Cells::new();
    for mark in readers::marks() {
        let column = COLUMNS.iter().find(|column| column.name == mark.codec);
        let data_type = TYPES.iter().find(|(name, _)| *name == mark.data_type);
        let pair = column.zip(data_type).ok_or_else(|| format!("{mark:?} is of no pair"))?;
        let cell = match mark.mark {
            'z' => Cell::Zarr,
            'n' => Cell::Numcodecs,
            't' => Cell::TensorStore,
            's' => Cell::Zarrs,
            'r' => Cell::Read,
            _ => Cell::Ours,
        };
        cells.insert((pair.0.name, pair.1.0), cell);
    }
    Ok(cells)
}

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

/// Sets the result of a pair of a codec and a data type.
pub fn mark(cells: &mut Cells, pair: (&str, &str), as_what: Cell) {
    if let Some((_, cell)) = cells.iter_mut().find(|((codec, data_type), _)| (*codec, *data_type) == pair) {
        *cell = as_what;
    }
}

/// Checks that the marks in a document are those of the results, and names the first line that differs. Marks of other readers are not
/// distinguished.
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
