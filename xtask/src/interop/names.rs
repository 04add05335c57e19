//! Codecs by the names that users type: whether other software knows the codecs of the resulting documents.

use super::python::Python;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Instant;
use zarr_json::Value;
use zarr_tests::matrix;

/// Codecs, as users type them, that no Python software has, each with the dialect.
const UNKNOWN: [(&str, &str); 15] = [
    ("base64", "v3"),
    // That of integers.
    ("bitround", "v3"),
    ("categorize", "v3"),
    ("conditional", "v3"),
    ("msgpack", "v3"),
    ("numcodecs.json", "v2"),
    ("numcodecs.json", "v3"),
    ("numcodecs.msgpack", "v2"),
    ("numcodecs.msgpack", "v3"),
    ("packbits", "v3"),
    ("reshape", "v3"),
    ("zarrs.squeeze", "v3"),
    ("zarrs.vlen", "v3"),
    ("zarrs.vlen_v2", "v3"),
    ("zfp", "v3"),
];

/// Results of the arrays of one codec in one dialect.
#[derive(Default)]
struct Count {
    arrays: usize,
    read: usize,
    /// Number of arrays with a codec that no software knows.
    unknown: usize,
    /// Reason why the first of the arrays with an unknown codec was not read.
    reason: String,
    /// Arrays that are read with other elements than were written.
    differing: Vec<String>,
}

/// Writes an array for each supported codec, data type and dialect, and reads them with zarr-python, numcodecs and TensorStore. Prints a
/// line for each codec. Returns the numbers of arrays and of mismatches: elements that differ, and codecs that no software knows although
/// they are not in `UNKNOWN`.
pub(super) fn run(python: &Python, folder: &Path) -> Result<(usize, usize), String> {
    let start = Instant::now();
    let arrays = matrix::typed(folder)?;
    let mut results = HashMap::new();
    for line in python.matrix(folder)?.lines() {
        let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        results.insert(text("folder"), text("result"));
    }
    let mut counts = BTreeMap::<_, Count>::new();
    for array in &arrays {
        let count = counts.entry((array.codec, array.dialect.name())).or_default();
        let result = results.remove(&array.folder).unwrap_or_else(|| "was not read".to_owned());
        count.arrays += 1;
        match result.as_str() {
            "zarr" | "numcodecs" | "tensorstore" => count.read += 1,
            "differs" | "was not read" => count.differing.push(format!("{}: {result}", array.data_type)),
            why if is_unknown_codec(why) => {
                count.unknown += 1;
                count.reason = why.to_owned();
            }
            // The data type is one that they lack, or that their codec does not take.
            _ => {}
        }
    }
    let mut mismatches = 0;
    for ((codec, dialect), count) in &counts {
        let is_known = !UNKNOWN.contains(&(*codec, *dialect));
        let is_stale = !is_known && count.unknown == 0;
        let faults = count.differing.len() + if is_known { count.unknown } else { usize::from(is_stale) };
        let Count { arrays, read, .. } = count;
        println!(
            "names        {codec:<18} {dialect}  {arrays:>4} arrays  {read:>4} read by others  {faults:>4} mismatches"
        );
        count.differing.iter().for_each(|difference| println!("  {difference}"));
        if is_known && count.unknown > 0 {
            println!("  {}", count.reason);
        }
        if is_stale {
            println!("  is known by now: take it out of the list of codecs that no software in Python has");
        }
        mismatches += faults;
    }
    println!("names        {} arrays  {mismatches} mismatches  {:.1} s", arrays.len(), start.elapsed().as_secs_f64());
    Ok((arrays.len(), mismatches))
}

/// Returns whether `reason` is the message of zarr-python or numcodecs about a missing codec.
fn is_unknown_codec(reason: &str) -> bool {
    ["UnknownCodecError", "codec not available"].iter().any(|known| reason.contains(known))
}
