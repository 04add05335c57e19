//! Data sets that xarray writes, converted into the other version and back: xarray must find the same values in all of them.

use super::Options;
use super::python::Python;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use zarr::convert::{Conversion, ConvertOptions};
use zarr::{Dialect, Store};
use zarr_json::Value;

/// Writes data sets with xarray, converts each to the other version and back, and compares them with xarray. Prints a line for all, and one
/// for each difference. Returns the numbers of data sets and of differing ones.
pub(super) fn run(python: &Python, options: &Options, folder: &Path) -> Result<(usize, usize), String> {
    let start = Instant::now();
    // A data set has several arrays.
    python.write_data_sets(folder, options.arrays.div_ceil(2), options.seed)?;
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    let mut failed = Vec::new();
    for name in &names {
        if let Err(error) = there_and_back(&folder.join(name)) {
            failed.push(format!("{name}: {error}"));
        }
    }
    let mut differing = Vec::new();
    for line in python.compare_data_sets(folder)?.lines() {
        let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
        let id = answer.get("id").and_then(Value::as_str).unwrap_or_default();
        let found = answer.get("differences").and_then(Value::as_array).unwrap_or_default();
        if !found.is_empty() {
            let texts: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
            differing.push(format!("{id}: {}", texts.join("\n    ")));
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let (count, mismatches) = (names.len(), differing.len());
    println!("xarray       conversions {count:>4} data sets  {mismatches:>1} mismatches  {seconds:>6.1} s");
    failed.iter().chain(&differing).for_each(|line| println!("  {line}"));
    Ok((count, mismatches))
}

/// Converts a data set into the other version, and the result back.
fn there_and_back(path: &Path) -> zarr::Result<()> {
    let at = |end: &str| format!("{}{end}", path.display());
    let (v2, v3) = (Dialect::V2, Dialect::V3);
    let steps = if path.join("zarr.json").exists() { [v2, v3] } else { [v3, v2] };
    for (source, target, dialect) in [("", ".there", steps[0]), (".there", ".back", steps[1])] {
        let source: Arc<dyn Store> = zarr::store::open(&at(source))?;
        let target: Arc<dyn Store> = zarr::store::create(&at(target))?;
        let options = ConvertOptions::default().dialect(dialect);
        Conversion::plan(&source, &zarr::registry::default(), options)?.run(&target, |_| {})?;
    }
    Ok(())
}
