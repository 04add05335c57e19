//! Arrays that the documents of a store describe, and the keys of their chunks.

use std::collections::BTreeMap;
use std::ops::Bound;

use zarr_grid::ChunkGrid;
use zarr_json::{NamedConfig, ParseOptions, Value};
use zarr_store_virtual::{ChunkKeyForm, ChunkTableBuilder, Separator};

use crate::ReferencesFault;

/// Chunk keys of an array, and the table of its chunks that is being built.
#[derive(Debug)]
pub(crate) struct ArrayKeys {
    pub(crate) prefix: String,
    pub(crate) form: ChunkKeyForm,
    pub(crate) counts: Vec<u64>,
    pub(crate) table: ChunkTableBuilder,
    /// Whether the document of the array itself was read, and not only its copy in consolidated metadata.
    is_own: bool,
}

/// Arrays of a store, in the order in which their documents were found.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    pub(crate) list: Vec<ArrayKeys>,
    by_prefix: BTreeMap<String, usize>,
    /// Index in `list` of the array that [`Arrays::chunk`] found last.
    last: usize,
}

/// Names of documents of Zarr v2 and v3.
pub(crate) const DOCUMENTS: [&str; 5] = [".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"];

/// Splits a key into its prefix, with the slash at its end, and its name.
pub(crate) fn split(key: &str) -> (&str, &str) {
    key.split_at(key.rfind('/').map_or(0, |at| at + 1))
}

impl Arrays {
    /// Adds the arrays that the document at `key` describes, if it is the document of an array or consolidated metadata.
    pub(crate) fn note(&mut self, key: &str, text: &[u8]) -> Result<(), ReferencesFault> {
        let (prefix, name) = split(key);
        if ![".zarray", ".zmetadata", "zarr.json"].contains(&name) {
            return Ok(());
        }
        let fault = |what: String| ReferencesFault::Document { key: key.to_owned(), what };
        let document = zarr_json::parse(text, ParseOptions::ALL).map_err(|error| fault(error.to_string()))?.value;
        let consolidated = match name {
            ".zarray" => return self.add(prefix, of_v2(&document).map_err(fault)?, true),
            ".zmetadata" => document.get("metadata"),
            _ => {
                if is_array(&document) {
                    self.add(prefix, of_v3(&document).map_err(fault)?, true)?;
                }
                document.get("consolidated_metadata").and_then(|consolidated| consolidated.get("metadata"))
            }
        };
        let Some(members) = consolidated.and_then(Value::as_object) else { return Ok(()) };
        for (path, document) in members.iter() {
            let fault = |what: String| fault(format!("{path}: {what}"));
            if name == "zarr.json" && is_array(document) {
                self.add(&format!("{prefix}{path}/"), of_v3(document).map_err(fault)?, false)?;
            } else if name == ".zmetadata" && split(path).1 == ".zarray" {
                self.add(&format!("{prefix}{}", split(path).0), of_v2(document).map_err(fault)?, false)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        prefix: &str,
        (form, counts): (ChunkKeyForm, Vec<u64>),
        is_own: bool,
    ) -> Result<(), ReferencesFault> {
        let product = counts.iter().try_fold(1_u64, |product, count| product.checked_mul(*count));
        let what = || format!("found {counts:?} chunks, more than there are numbers of 64 bits for");
        let count = product.ok_or_else(|| ReferencesFault::Document { key: prefix.to_owned(), what: what() })?;
        let array = ArrayKeys { prefix: prefix.to_owned(), form, counts, table: ChunkTableBuilder::new(count), is_own };
        match self.by_prefix.get(prefix).and_then(|at| self.list.get_mut(*at)) {
            Some(known) if is_own || !known.is_own => *known = array,
            Some(_) => {}
            None => {
                self.by_prefix.insert(prefix.to_owned(), self.list.len());
                self.list.push(array);
            }
        }
        Ok(())
    }

    /// Returns the array whose prefix is `prefix`.
    #[cfg(feature = "parquet")]
    pub(crate) fn at(&self, prefix: &str) -> Option<&ArrayKeys> {
        self.list.get(*self.by_prefix.get(prefix)?)
    }

    /// Returns the array that has a chunk with the key `key`, and the number of the chunk; `None` if no array has this key.
    pub(crate) fn chunk(&mut self, key: &str) -> Option<(&mut ArrayKeys, u64)> {
        let of = |array: &ArrayKeys| array.form.index(key.strip_prefix(array.prefix.as_str())?, &array.counts);
        let last = self.list.get(self.last).and_then(of).map(|index| (self.last, index));
        let (at, index) = last.or_else(|| {
            let above = prefixes_of(&self.by_prefix, key);
            above.into_iter().rev().find_map(|at| Some((at, of(self.list.get(at)?)?)))
        })?;
        self.last = at;
        self.list.get_mut(at).map(|array| (array, index))
    }
}

/// Returns the values in `prefixes` of the prefixes with which `key` begins, the longest prefix first. The time does not depend on the
/// number of slashes in `key`.
fn prefixes_of(prefixes: &BTreeMap<String, usize>, key: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut rest = key;
    while let Some((prefix, at)) = prefixes.range::<str, _>((Bound::Unbounded, Bound::Included(rest))).next_back() {
        if key.starts_with(prefix.as_str()) {
            found.push(*at);
            let Some(shorter) = prefix.len().checked_sub(1) else { break };
            rest = &key[..shorter];
        } else {
            // All prefixes before this one that `key` begins with end inside the common part.
            let common = prefix.bytes().zip(rest.bytes()).take_while(|(a, b)| a == b).count();
            rest = &rest[..rest.as_bytes()[..common].iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1)];
        }
    }
    found
}

fn is_array(document: &Value) -> bool {
    document.get("node_type").and_then(Value::as_str) == Some("array")
}

type Keys = (ChunkKeyForm, Vec<u64>);

fn of_v2(document: &Value) -> Result<Keys, String> {
    let counts = counts(document.get("shape"), document.get("chunks"))?;
    let separator = separator(document.get("dimension_separator"), Separator::Dot)?;
    Ok((ChunkKeyForm::V2(separator), counts))
}

fn of_v3(document: &Value) -> Result<Keys, String> {
    let grid = document.get("chunk_grid");
    let name = grid.and_then(|grid| grid.get("name")).and_then(Value::as_str);
    let configuration = grid.and_then(|grid| grid.get("configuration"));
    let counts = match name {
        Some("regular") => {
            counts(document.get("shape"), configuration.and_then(|configuration| configuration.get("chunk_shape")))?
        }
        Some("rectilinear") => {
            let config = grid.and_then(NamedConfig::from_value).ok_or("found a chunk grid without a configuration")?;
            let shape = numbers(document.get("shape")).ok_or("found no shape of the array")?;
            let grid = ChunkGrid::from_config(&config, &shape).map_err(|error| format!("chunk grid: {error}"))?;
            grid.grid_shape().to_vec()
        }
        name => {
            return Err(format!(
                "found the chunk grid {name:?}, expected \"regular\" or \"rectilinear\": references to others are not read"
            ));
        }
    };
    let encoding = document.get("chunk_key_encoding");
    let name = encoding.and_then(|encoding| encoding.as_str().or_else(|| encoding.get("name")?.as_str()));
    let given = encoding.and_then(|encoding| encoding.get("configuration")?.get("separator"));
    let form = match name {
        Some("default") => ChunkKeyForm::Default(separator(given, Separator::Slash)?),
        Some("v2") => ChunkKeyForm::V2(separator(given, Separator::Dot)?),
        name => return Err(format!("found the chunk key encoding {name:?}, expected \"default\" or \"v2\"")),
    };
    Ok((form, counts))
}

fn numbers(value: Option<&Value>) -> Option<Vec<u64>> {
    value?.as_array()?.iter().map(Value::as_u64).collect()
}

fn counts(shape: Option<&Value>, chunks: Option<&Value>) -> Result<Vec<u64>, String> {
    let (shape, chunks) =
        numbers(shape).zip(numbers(chunks)).ok_or("found no shapes of the array and of its chunks")?;
    if shape.len() != chunks.len() {
        return Err(format!("found the shape {shape:?} and chunks of {chunks:?}, expected as many numbers"));
    }
    // A chunk shape with a zero is refused when the array is opened.
    Ok(shape.iter().zip(&chunks).map(|(length, chunk)| length.div_ceil((*chunk).max(1))).collect())
}

fn separator(given: Option<&Value>, default: Separator) -> Result<Separator, String> {
    // Some writers write null for an absent member.
    match given.filter(|given| **given != Value::Null).map(|given| (given, given.as_str())) {
        None => Ok(default),
        Some((_, Some("/"))) => Ok(Separator::Slash),
        Some((_, Some("."))) => Ok(Separator::Dot),
        Some((given, _)) => Err(format!("found the separator {}, expected / or .", given.excerpt())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all strings of up to four names, each followed by `end`.
    fn keys(end: &str) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..4 {
            last =
                last.iter().flat_map(|text| ["a/", "b/", "a.b/", "ä/"].map(|name| format!("{text}{name}"))).collect();
            all.extend(last.clone());
        }
        all.into_iter().map(|text| format!("{text}{end}")).collect()
    }

    #[test]
    fn prefixes_are_those_that_a_key_begins_with() {
        let all = keys("");
        for step in [1, 2, 3, 7, 50] {
            let prefixes: BTreeMap<String, usize> = all.iter().cloned().step_by(step).zip(0..).collect();
            for key in keys("0.0").iter().chain(&all) {
                let begins = |(prefix, at): (&String, &usize)| key.starts_with(prefix.as_str()).then_some(*at);
                let expected: Vec<usize> = prefixes.iter().rev().filter_map(begins).collect();
                assert_eq!(prefixes_of(&prefixes, key), expected, "{key}");
            }
        }
    }
}
