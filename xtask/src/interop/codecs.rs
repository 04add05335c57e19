//! Exchange of chunks of every codec of numcodecs: this library decodes the chunks of numcodecs, and numcodecs those of this library, to
//! the last bit.

use super::model::Model;
use super::{Options, python};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use zarr::Array;
use zarr::registry::Registry;
use zarr_dtype::DataType;
use zarr_json::Value;

/// Name of the codec that is only decoded.
const PICKLE: &str = "pickle";

/// Greatest number of differing arrays that are printed for a codec and direction.
const SHOWN: usize = 10;

/// Result of one codec.
#[derive(Default)]
struct Count {
    cases: usize,
    /// Messages about arrays that are decoded differently.
    decoded: Vec<String>,
    encoded: Vec<String>,
}

/// Compares with numcodecs in both directions, and prints a line for each codec. Returns the numbers of arrays and of mismatches.
pub(super) fn run(python: &python::Python, options: &Options, folder: &Path) -> Result<(usize, usize), String> {
    let start = Instant::now();
    python.write_codecs(folder, options.arrays, options.seed)?;
    let values = read(&folder.join("values.bin"))?;
    let lines = String::from_utf8(read(&folder.join("cases.jsonl"))?).map_err(|error| error.to_string())?;
    let mut registry = Registry::clone(&zarr::registry::default());
    registry.codecs.add(zarr::registry::PICKLE);
    let registry = Arc::new(registry);
    let mut counts = BTreeMap::<String, Count>::new();
    for line in lines.lines() {
        let case = Case::parse(line, &values).ok_or_else(|| format!("{line}: not a case"))?;
        let count = counts.entry(case.codec.clone()).or_default();
        count.cases += 1;
        let about = |error: String| format!("{}: {error}", case.path);
        count.decoded.extend(case.decode(folder, &registry).err().map(about));
        if case.codec != PICKLE {
            count.encoded.extend(case.encode(folder, &registry).err().map(about));
        }
    }
    for line in python.read_codecs(folder)?.lines() {
        let value = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let codec = text("path").split('/').next().unwrap_or_default().to_owned();
        counts.entry(codec).or_default().encoded.push(format!("{}: {}", text("path"), text("difference")));
    }
    let (mut arrays, mut mismatches) = (0, 0);
    for (codec, count) in &counts {
        let ways = if codec == PICKLE { 1 } else { 2 };
        let differing = count.decoded.len() + count.encoded.len();
        println!("numcodecs    {codec:<18} {:>5} arrays  {differing:>4} mismatches", ways * count.cases);
        for (direction, differences) in [("ours reads", &count.decoded), ("reads ours", &count.encoded)] {
            differences.iter().take(SHOWN).for_each(|difference| println!("  {direction} {difference}"));
        }
        arrays += ways * count.cases;
        mismatches += differing;
    }
    println!("numcodecs    {arrays} arrays  {mismatches} mismatches  {:.1} s", start.elapsed().as_secs_f64());
    Ok((arrays, mismatches))
}

/// Array of one chunk, as the file of cases describes it.
struct Case<'v> {
    codec: String,
    path: String,
    /// Elements before encoding.
    input: &'v [u8],
    /// Elements that numcodecs decodes.
    decoded: &'v [u8],
}

impl<'v> Case<'v> {
    fn parse(line: &str, values: &'v [u8]) -> Option<Self> {
        let value = Value::from_json(line).ok()?;
        let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let elements = |name: &str| {
            let [offset, size] = value.get(name)?.as_array()? else { return None };
            let start = usize::try_from(offset.as_u64()?).ok()?;
            values.get(start..start.checked_add(usize::try_from(size.as_u64()?).ok()?)?)
        };
        Some(Self {
            codec: text("codec")?,
            path: text("path")?,
            input: elements("input")?,
            decoded: elements("decoded")?,
        })
    }

    /// Reads the chunk that numcodecs encoded, and compares its elements.
    fn decode(&self, folder: &Path, registry: &Arc<Registry>) -> Result<(), String> {
        let array = self.open(&folder.join("theirs").join(&self.path), registry)?;
        let data = array.read_data(..).map_err(|error| error.to_string())?;
        let expected = self.model(&array, self.decoded)?;
        let found = Model::from_data(&data);
        let mut pairs = found.elements.iter().zip(&expected.elements);
        match pairs.position(|(found, expected)| !same(array.data_type(), found, expected)) {
            Some(index) => Err(format!("{}: element {index}", array.data_type())),
            None if found.elements.len() != expected.elements.len() => Err("another number of elements".to_owned()),
            None => Ok(()),
        }
    }

    /// Writes the elements by the same document, for numcodecs to decode.
    fn encode(&self, folder: &Path, registry: &Arc<Registry>) -> Result<(), String> {
        let (theirs, ours) = (folder.join("theirs").join(&self.path), folder.join("ours").join(&self.path));
        let in_store = |error: std::io::Error| format!("{}: {error}", ours.display());
        fs::create_dir_all(&ours).map_err(in_store)?;
        fs::copy(theirs.join(".zarray"), ours.join(".zarray")).map_err(in_store)?;
        let array = self.open(&ours, registry)?;
        let text = |error: zarr::Error| error.to_string();
        let data = self.model(&array, self.input)?.to_data(array.data_type()).map_err(text)?;
        array.write(.., data.view()).map_err(text)
    }

    fn open(&self, folder: &Path, registry: &Arc<Registry>) -> Result<Array, String> {
        let text = |error: zarr::Error| error.to_string();
        let store = zarr::store::create(&folder.display().to_string()).map_err(|error| text(error.into()))?;
        let found = zarr::hierarchy::open_node(&*store, "/", None).map_err(text)?;
        let options = zarr::Options::default().write_empty_chunks(true);
        Array::from_found(&store, found, registry, options).map_err(text)
    }

    fn model(&self, array: &Array, elements: &[u8]) -> Result<Model, String> {
        let model = Model::from_file(array.data_type(), array.shape(), elements);
        model.ok_or_else(|| "the file of values is cut".to_owned())
    }
}

/// Returns whether elements are equal: to the last bit, or, for JSON values, whatever their spelling.
fn same(data_type: &DataType, found: &[u8], expected: &[u8]) -> bool {
    let value = |bytes: &[u8]| match bytes {
        [] => Some(Value::Null),
        _ => Value::from_json(std::str::from_utf8(bytes).ok()?).ok(),
    };
    found == expected
        || *data_type == DataType::Object
            && value(found).zip(value(expected)).is_some_and(|(a, b)| a.semantically_eq(&b))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_as_such() {
        let same = |a: &str, b: &str| same(&DataType::Object, a.as_bytes(), b.as_bytes());
        assert!(same(r#"{"a":[1.0,null]}"#, r#"{"a": [1.0, null]}"#));
        assert!(same("", "null"));
        assert!(!same("1", "2"));
        assert!(!super::same(&DataType::String, b"1", b"1 "));
    }

    #[test]
    fn cases_have_their_elements() {
        let line = r#"{"codec": "lz4", "path": "lz4/0", "input": [1, 2], "decoded": [0, 1]}"#;
        let case = Case::parse(line, b"abcd").unwrap();
        assert_eq!((case.input, case.decoded), (&b"bc"[..], &b"a"[..]));
        assert!(Case::parse(line, b"ab").is_none());
    }
}
