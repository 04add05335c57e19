//! Data sets that this library writes with the values of xarray's: they must equal those that xarray writes.

use super::{Options, python};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use zarr::Dialect;
use zarr::dataset::{Dataset, NewDataset};
use zarr_json::{Map, Value};

/// Writes data sets with xarray, writes their values in both versions with this library, and compares both in xarray. Returns the numbers
/// of compared and of differing data sets.
pub(super) fn run(python: &python::Python, options: &Options, folder: &Path) -> Result<(usize, usize), String> {
    python.write_datasets(folder, options.arrays, options.seed)?;
    for number in 0..options.arrays {
        let Ok(dataset) = zarr::open(folder.join(format!("{number}.zarr"))).dataset() else { continue };
        for (name, dialect) in [("v2", Dialect::V2), ("v3", Dialect::V3)] {
            let path = folder.join(format!("{number}.{name}"));
            if let Err(error) = write(&dataset, &path, dialect, number % 4) {
                let file = folder.join(format!("{number}.{name}.txt"));
                fs::write(&file, error.to_string()).map_err(|error| format!("{}: {error}", file.display()))?;
            }
        }
    }
    let (mut compared, mut refused, mut differing) = (0, 0, 0);
    for line in python.compare_written(folder)?.lines() {
        let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
        let id = answer.get("id").and_then(Value::as_str).unwrap_or_default();
        let found = answer.get("differences").and_then(Value::as_array).unwrap_or_default();
        compared += 1;
        refused += usize::from(answer.get("refused").and_then(Value::as_bool) == Some(true));
        if !found.is_empty() {
            differing += 1;
            let texts: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
            println!("  {id}: {}", texts.join("\n    "));
        }
    }
    println!(
        "written: {compared} data sets of ours compared, {differing} differ; {refused} of them xarray cannot write"
    );
    let (by_netcdf, unlike) = read_by_netcdf(python, folder)?;
    Ok((compared + by_netcdf, differing + unlike))
}

/// Reads the data sets of version 2 with netCDF-C. Returns the numbers of read and of differing ones.
fn read_by_netcdf(python: &python::Python, folder: &Path) -> Result<(usize, usize), String> {
    let (mut compared, mut arrays, mut differing) = (0, 0, 0);
    let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
    for line in python.compare_netcdf(folder)?.lines() {
        let answer = Value::from_json(line).map_err(|error| format!("{line}: {error}"))?;
        compared += 1;
        arrays += answer.get("arrays").and_then(Value::as_u64).unwrap_or(0);
        for (reason, count) in answer.get("skipped").and_then(Value::as_object).into_iter().flat_map(Map::iter) {
            *skipped.entry(reason.to_owned()).or_default() += count.as_u64().unwrap_or(0);
        }
        let found = answer.get("differences").and_then(Value::as_array).unwrap_or_default();
        if !found.is_empty() {
            differing += 1;
            let texts: Vec<&str> = found.iter().filter_map(Value::as_str).collect();
            let id = answer.get("id").and_then(Value::as_str).unwrap_or_default();
            println!("  {id}, netCDF-C: {}", texts.join("\n    "));
        }
    }
    let skipped: Vec<String> = skipped.iter().map(|(reason, count)| format!("{count} of {reason}")).collect();
    println!(
        "written: netCDF-C read {compared} data sets of ours, {arrays} arrays, {differing} differ; left out: {}",
        skipped.join(", ")
    );
    Ok((compared, differing))
}

/// Writes the values of a data set in one of three ways: at once, in two parts along a dimension, or a region after the rest.
fn write(dataset: &Dataset, path: &Path, dialect: Dialect, way: u64) -> zarr::Result<()> {
    let new = |part: &Dataset| Ok::<_, zarr::Error>(NewDataset::of(part)?.dialect(dialect));
    // Choose a dimension that all variables have, so that each is written in parts.
    let common = dataset.dimensions().iter().find(|dimension| {
        dimension.size > 1
            && dataset.variables().all(|variable| variable.dimensions().any(|name| name == dimension.name))
    });
    let Some(dimension) = common.filter(|_| way > 1) else {
        return zarr::create(path).dataset(new(dataset)?).map(drop);
    };
    let (name, middle, size) = (&dimension.name, dimension.size.div_ceil(2), dimension.size);
    let (first, last) = (dataset.isel(name, 0..middle)?, dataset.isel(name, middle..size)?);
    if way == 2 {
        return zarr::create(path).dataset(new(&first)?)?.append(name, &new(&last)?).map(drop);
    }
    let created = zarr::create(path).dataset(new(dataset)?)?;
    // Write other values, and then the right ones.
    let order: Vec<i64> = (0..i64::try_from(size).unwrap_or(0)).rev().collect();
    created.write(&new(&dataset.isel(name, order)?)?)?;
    for part in [0..middle, middle..size] {
        let values = new(&dataset.isel(name, part.clone())?)?.safe_chunks(false);
        created.isel(name, part)?.write(&values)?;
    }
    Ok(())
}
