//! Arrays that peers write and this library reads.

use super::manifest::{self, Line};
use super::model::{Model, turned};
use super::random::Random;
use super::stores::Stores;
use std::fs;
use std::path::Path;
use zarr::{Array, Selection};
use zarr_json::{Map, Value};

/// Number of selections that are read of each array, besides the whole array.
const SELECTIONS: usize = 4;

/// Returns the differences of an array in `stores` from its line of the manifest in `folder`.
pub(crate) fn differences(line: &Line, folder: &Path, stores: &Stores, random: &mut Random) -> Vec<String> {
    let mut found = Vec::new();
    if let Err(error) = compare(line, folder, stores, random, &mut found) {
        found.push(error);
    }
    found
}

fn compare(
    line: &Line,
    folder: &Path,
    stores: &Stores,
    random: &mut Random,
    found: &mut Vec<String>,
) -> Result<(), String> {
    let text = |error: zarr::Error| error.to_string();
    let store = stores.open(&line.store)?;
    let array = zarr::open((&store, &line.path)).array().map_err(text)?;
    let mut differs = |what: &str, actual: String, expected: String| {
        if actual != expected {
            found.push(format!("{what} {actual}, expected {expected}"));
        }
    };
    differs("dtype", manifest::type_name(array.data_type()), line.dtype.clone());
    differs("shape", format!("{:?}", array.shape()), format!("{:?}", line.shape));
    if let Some(fill) = &line.fill {
        differs("fill", fill_of(&array).to_string(), fill.to_string());
    }
    if let Some(names) = &line.dimension_names {
        differs("dimension_names", names_of(&array).to_string(), names.to_string());
    }
    if let Some(expected) = &line.attributes {
        let actual = without_dimensions(array.attributes().map_err(text)?);
        if !actual.semantically_eq(expected) {
            differs("attributes", actual.to_string(), expected.to_string());
        }
    }
    if !found.is_empty() {
        return Ok(());
    }
    let bytes = fs::read(folder.join(&line.values)).map_err(|error| format!("{}: {error}", line.values))?;
    let model = Model::from_file(array.data_type(), &line.shape, &bytes).ok_or("the file of values is cut")?;
    same("..", &array, &Selection::all(), &model, found);
    for _ in 0..SELECTIONS {
        let selected = random.selection(&line.shape);
        let expected = model.take(&selected.positions, selected.shape);
        same(&format!("{:?}", selected.axes), &array, &Selection::Axes(selected.axes.clone()), &expected, found);
    }
    Ok(())
}

fn same(name: &str, array: &Array, selection: &Selection, expected: &Model, found: &mut Vec<String>) {
    let data = match array.read_data(selection) {
        Ok(data) => data,
        Err(error) => return found.push(format!("{name}: {error}")),
    };
    let actual = Model::from_data(&data);
    if actual.shape != expected.shape {
        return found.push(format!("{name}: shape {:?}, expected {:?}", actual.shape, expected.shape));
    }
    let mut pairs = actual.elements.iter().zip(&expected.elements);
    if let Some(index) = pairs.position(|(actual, expected)| actual != expected) {
        let hex = |model: &Model| model.elements.get(index).map_or_else(String::new, |bytes| manifest::hex(bytes));
        found.push(format!("{name}: element {index} is {}, expected {}", hex(&actual), hex(expected)));
    }
}

fn fill_of(array: &Array) -> Value {
    let fill = array.fill_value().bytes().to_vec();
    let fill = if array.data_type().is_variable() { fill } else { turned(array.data_type(), fill) };
    array.metadata().fill_value.as_ref().map_or(Value::Null, |_| Value::from(manifest::hex(&fill)))
}

fn names_of(array: &Array) -> Value {
    let value = |name: &Option<String>| name.as_deref().map_or(Value::Null, Value::from);
    array.dimension_names().map_or(Value::Null, |names| Value::Array(names.iter().map(value).collect()))
}

/// Returns attributes without the one in which xarray stores the names of dimensions.
fn without_dimensions(attributes: &Map) -> Value {
    let mut attributes = attributes.clone();
    attributes.remove("_ARRAY_DIMENSIONS");
    Value::Object(attributes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr::NewArray;
    use zarr_dtype::DataType;

    #[test]
    fn a_single_wrong_element_is_found() {
        let store = zarr::store::open("memory:").unwrap();
        let array = zarr::create((&store, "/a")).array(NewArray::new(&[3, 4], "int16").chunks(&[2, 3])).unwrap();
        let elements: Vec<i16> = (0..12).collect();
        array.write(.., &elements).unwrap();
        let bytes: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
        let mut model = Model::from_file(&DataType::Int16, &[3, 4], &bytes).unwrap();
        let mut random = Random::new(1);
        let mut found = Vec::new();
        for _ in 0..200 {
            let selected = random.selection(&[3, 4]);
            let expected = model.take(&selected.positions, selected.shape);
            same("right", &array, &Selection::Axes(selected.axes), &expected, &mut found);
        }
        assert_eq!(found, Vec::<String>::new());
        model.elements[7] = vec![0, 1];
        same("..", &array, &Selection::all(), &model, &mut found);
        assert_eq!(found, ["..: element 7 is 0700, expected 0001"]);
    }

    #[test]
    fn a_file_of_values_that_is_cut_is_refused() {
        assert_eq!(Model::from_file(&DataType::Int16, &[1], &[1]), None);
        assert_eq!(Model::from_file(&DataType::String, &[1], &[2, 0, 0, 0, b'a']), None);
        let model = Model::from_file(&DataType::String, &[2], &[1, 0, 0, 0, b'a', 0, 0, 0, 0]).unwrap();
        assert_eq!(model.elements, [b"a".to_vec(), Vec::new()]);
        assert_eq!(model.to_file(&DataType::String), [1, 0, 0, 0, b'a', 0, 0, 0, 0]);
    }
}
