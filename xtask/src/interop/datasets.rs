//! Data sets that xarray writes: this library reads and decodes them, and all values and attributes are compared.

use super::manifest::hex;
use super::{Options, python};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use zarr::dataset::{Dataset, DatasetOptions, DecodeCoords, Values, Variable};
use zarr::dtype::{DataType, npy_descr};
use zarr_json::{Map, Value};

/// Writes data sets with xarray, and compares each. Returns the numbers of compared and of differing data sets.
pub(super) fn run(python: &python::Python, options: &Options, folder: &Path) -> Result<(usize, usize), String> {
    let counts = python.write_datasets(folder, options.arrays, options.seed)?;
    let (mut compared, mut differing) = (0, 0);
    for number in 0..options.arrays {
        let Ok(text) = fs::read_to_string(folder.join(format!("{number}.json"))) else { continue };
        let expected = Value::from_json(&text).map_err(|error| format!("{number}.json: {error}"))?;
        compared += 1;
        let mut found = Vec::new();
        if let Err(error) = compare(&folder.join(format!("{number}.zarr")), &expected, &mut found) {
            found.push(error);
        }
        if !found.is_empty() {
            differing += 1;
            println!("  {number}.zarr: {}", found.join("\n    "));
        }
    }
    print!("{counts}");
    println!("datasets: {compared} data sets of xarray read, {differing} differ");
    Ok((compared, differing))
}

fn compare(path: &Path, expected: &Value, found: &mut Vec<String>) -> Result<(), String> {
    let opened = zarr::open(path).dataset();
    if let Some(error) = expected.get("error") {
        // Data that xarray cannot open may be refused here or not, but without a panic.
        if let Ok(dataset) = opened {
            dataset.variables().for_each(|variable| drop(variable.read()));
        }
        return if error.as_str().is_some() { Ok(()) } else { Err("a broken list of values".to_owned()) };
    }
    let dataset = opened.map_err(|error| error.to_string())?;
    let member = |name: &str| expected.get(name).and_then(Value::as_object).ok_or_else(|| format!("no {name}"));
    let sizes: Map = Map::from_unique(dataset.dimensions().iter().map(|it| (it.name.clone(), Value::from(it.size))));
    differs("sizes", &sizes, member("sizes")?, found);
    differs("attributes", dataset.attributes(), member("attrs")?, found);
    compare_coordinates(path, member("coordinates")?, found)?;
    compare_variables(&dataset, member("variables")?, found)?;
    let Some(points) = expected.get("points").and_then(Value::as_object) else { return Ok(()) };
    let of_points =
        |name: &str| points.get(name).and_then(Value::as_object).ok_or_else(|| format!("no {name} of points"));
    let indices = of_points("indices")?.iter().map(|(dimension, indices)| {
        let indices = indices.as_array().unwrap_or_default();
        (dimension, indices.iter().filter_map(Value::as_i64).collect::<Vec<_>>())
    });
    let selected = dataset.isel_points("points", indices).map_err(|error| error.to_string())?;
    let mut differences = Vec::new();
    compare_variables(&selected, of_points("variables")?, &mut differences)?;
    found.extend(differences.iter().map(|difference| format!("points: {difference}")));
    Ok(())
}

/// Compares the names of coordinates for more and for fewer decoded attributes.
fn compare_coordinates(path: &Path, expected: &Map, found: &mut Vec<String>) -> Result<(), String> {
    let group = zarr::open(path).group().map_err(|error| error.to_string())?;
    for (name, decode) in [("all", DecodeCoords::All), ("none", DecodeCoords::None)] {
        let options = DatasetOptions::default().decode_coords(decode);
        let dataset = Dataset::open_with(&group, &options).map_err(|error| error.to_string())?;
        let actual: Vec<&str> = dataset.coordinates().map(Variable::name).collect();
        let expected = expected.get(name).and_then(Value::as_array).unwrap_or_default();
        if !actual.iter().copied().eq(expected.iter().filter_map(Value::as_str)) {
            found.push(format!("coordinates of {name} are {actual:?}, expected {}", Value::from(expected.to_vec())));
        }
    }
    Ok(())
}

fn compare_variables(dataset: &Dataset, variables: &Map, found: &mut Vec<String>) -> Result<(), String> {
    let names: BTreeSet<&str> = dataset.variables().map(Variable::name).collect();
    let expected_names: BTreeSet<&str> = variables.keys().collect();
    if names != expected_names {
        return Err(format!("variables {names:?}, expected {expected_names:?}"));
    }
    for variable in dataset.variables() {
        let expected = variables.get(variable.name()).ok_or("no such variable")?;
        let mut differences = Vec::new();
        if let Err(error) = compare_variable(dataset, variable, expected, &mut differences) {
            differences.push(error);
        }
        found.extend(differences.iter().map(|difference| format!("{}: {difference}", variable.name())));
    }
    Ok(())
}

fn differs(name: &str, actual: &Map, expected: &Map, found: &mut Vec<String>) {
    let same = actual.len() == expected.len()
        && actual.iter().all(|(name, value)| expected.get(name).is_some_and(|other| value.semantically_eq(other)));
    if !same {
        let (actual, expected) = (Value::from(actual.clone()), Value::from(expected.clone()));
        found.push(format!("{name} {actual}, expected {expected}"));
    }
}

fn compare_variable(
    dataset: &Dataset,
    variable: &Variable,
    expected: &Value,
    found: &mut Vec<String>,
) -> Result<(), String> {
    let list = |name: &str| expected.get(name).and_then(Value::as_array).unwrap_or_default();
    let dimensions: Vec<&str> = list("dims").iter().filter_map(Value::as_str).collect();
    if variable.dimensions().collect::<Vec<_>>() != dimensions {
        found.push(format!("dimensions {:?}, expected {dimensions:?}", variable.dimensions().collect::<Vec<_>>()));
    }
    let shape: Vec<u64> = list("shape").iter().filter_map(Value::as_u64).collect();
    if variable.shape() != shape {
        found.push(format!("shape {:?}, expected {shape:?}", variable.shape()));
    }
    if let Some(attributes) = expected.get("attrs").and_then(Value::as_object) {
        differs("attributes", variable.attributes(), attributes, found);
    }
    let is_coordinate = dataset.coordinates().any(|coordinate| coordinate.name() == variable.name());
    if Some(is_coordinate) != expected.get("coordinate").and_then(Value::as_bool) {
        found.push(format!("is a coordinate: {is_coordinate}"));
    }
    if let Some(error) = expected.get("error") {
        let _ = variable.read();
        return if error.as_str().is_some() { Ok(()) } else { Err("a broken value".to_owned()) };
    }
    let values = variable.read().map_err(|error| error.to_string())?;
    let dtype = expected.get("dtype").and_then(Value::as_str).unwrap_or_default();
    if let Some(texts) = expected.get("texts").and_then(Value::as_array) {
        for (index, expected) in texts.iter().enumerate() {
            let actual = text(&values, index)?;
            if Some(actual.as_str()) != expected.as_str() {
                found.push(format!("value {index} is {actual:?}, expected {expected}"));
                break;
            }
        }
        return Ok(());
    }
    let actual = npy_descr(values.data_type()).unwrap_or_default();
    if actual != dtype {
        found.push(format!("dtype {actual}, expected {dtype}"));
        return Ok(());
    }
    let expected = expected.get("values").and_then(Value::as_str).unwrap_or_default();
    let size = values.data_type().item_size();
    for (index, item) in values.data().items().chunks_exact(size).enumerate() {
        let actual = hex(&canonical(values.data_type(), item));
        let expected = expected.get(2 * index * size..2 * (index + 1) * size).unwrap_or_default();
        if actual != expected {
            found.push(format!("value {index} is {actual}, expected {expected}"));
            break;
        }
    }
    Ok(())
}

/// Returns an element, with every NaN replaced by the same one.
fn canonical(data_type: &DataType, item: &[u8]) -> Vec<u8> {
    let is_nan = data_type.to_f64(item).is_some_and(f64::is_nan);
    match item.len() {
        2 if is_nan => 0x7e00_u16.to_le_bytes().to_vec(),
        4 if is_nan => f32::NAN.to_le_bytes().to_vec(),
        8 if is_nan => f64::NAN.to_le_bytes().to_vec(),
        _ => item.to_vec(),
    }
}

/// Returns a value as `datasets.py` prints it.
fn text(values: &Values, index: usize) -> Result<String, String> {
    if values.is_missing(index) {
        return Ok("nan".to_owned());
    }
    let data = values.data();
    Ok(match data.data_type() {
        DataType::Bool => if data.items().get(index) == Some(&0) { "f" } else { "t" }.to_owned(),
        DataType::String | DataType::FixedUtf32 { .. } => format!("s{}", data.json(index).as_str().unwrap_or_default()),
        DataType::FixedBytes { len } => {
            let len = *len as usize;
            let item = data.items().get(index * len..(index + 1) * len).unwrap_or_default();
            let end = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            format!("b{}", hex(item.get(..end).unwrap_or_default()))
        }
        DataType::Bytes { .. } => {
            format!("b{}", hex(data.variable().and_then(|mut items| items.nth(index)).unwrap_or_default()))
        }
        DataType::Extension(_) => {
            let dates = values.to_dates().map_err(|error| error.to_string())?;
            let date = dates.get(index).copied().flatten().ok_or("no date")?;
            let (microsecond, calendar) = (date.microsecond(), date.calendar().name());
            format!(
                "c{calendar}|{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{microsecond:06}",
                date.year(),
                date.month(),
                date.day(),
                date.hour(),
                date.minute(),
                date.second()
            )
        }
        other => return Err(format!("values of data type {other}")),
    })
}
