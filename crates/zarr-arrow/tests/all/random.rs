//! Random data sets: tables have the elements that a simple model reads one by one.

use crate::decoded::{self, Columns};
use crate::{add, group, new, table};
use proptest::prelude::*;
use zarr_arrow::{Coordinates, TableOptions};
use zarr_dataset::{Dataset, Values};

const NAMES: [&str; 3] = ["x", "y", "z"];

#[derive(Clone, Debug)]
struct Given {
    /// Length and chunk length of each dimension, and whether it has labels.
    dimensions: Vec<(u64, u64, bool)>,
    /// Dimensions of each variable, and its data type.
    variables: Vec<(Vec<usize>, usize)>,
    /// Range of indices that is selected of the first dimension.
    selected: (u64, u64),
    batch_rows: usize,
    memory: u64,
    coordinates: Coordinates,
    ordered: bool,
}

fn given() -> impl Strategy<Value = Given> {
    let dimensions = prop::collection::vec((1_u64..7, 1_u64..4, any::<bool>()), 1..4);
    let coordinates = prop::sample::select(vec![Coordinates::Plain, Coordinates::Dictionary, Coordinates::RunEnd]);
    (dimensions, coordinates, 1_usize..40, prop::sample::select(vec![0_u64, 600, 3_000, 1 << 20]), any::<bool>())
        .prop_flat_map(|(dimensions, coordinates, batch_rows, memory, ordered)| {
            let names: Vec<usize> = (0..dimensions.len()).collect();
            let some = prop::sample::subsequence(names, 0..=dimensions.len()).prop_shuffle();
            let variables = prop::collection::vec((some, 0_usize..4), 1..4);
            let len = dimensions[0].0;
            (Just(dimensions), variables, (0..=len, 0..=len)).prop_map(move |(dimensions, variables, ends)| Given {
                dimensions,
                variables,
                selected: (ends.0.min(ends.1), ends.0.max(ends.1)),
                batch_rows,
                memory,
                coordinates,
                ordered,
            })
        })
}

fn dataset(given: &Given) -> Dataset {
    let group = group();
    for (name, &(len, chunk, has_labels)) in NAMES.iter().zip(&given.dimensions) {
        if has_labels {
            let labels: Vec<f64> = (0..len).map(|index| index as f64 / 2.0 + 10.0).collect();
            add(&group, name, new(&[len], "float64", &[name]).chunks(&[chunk]), &labels);
        }
    }
    for (number, (dimensions, data_type)) in given.variables.iter().enumerate() {
        let shape: Vec<u64> = dimensions.iter().map(|&axis| given.dimensions[axis].0).collect();
        let chunks: Vec<u64> = dimensions.iter().map(|&axis| given.dimensions[axis].1).collect();
        let names: Vec<&str> = dimensions.iter().map(|&axis| NAMES[axis]).collect();
        let count = shape.iter().product::<u64>() as usize;
        let name = format!("v{number}");
        match data_type {
            0 => {
                let values: Vec<i32> = (0..count as i32).map(|value| value * 7 % 101).collect();
                add(&group, &name, new(&shape, "int32", &names).chunks(&chunks), &values);
            }
            1 => {
                // Packed, with missing values.
                let values: Vec<i16> = (0..count as i16).map(|value| if value % 5 == 0 { -1 } else { value }).collect();
                let new = new(&shape, "int16", &names).chunks(&chunks).attribute("scale_factor", 0.5);
                add(&group, &name, new.attribute("_FillValue", -1), &values);
            }
            2 => {
                let values: Vec<bool> = (0..count).map(|value| value % 3 == 0).collect();
                add(&group, &name, new(&shape, "bool", &names).chunks(&chunks), &values);
            }
            _ => {
                let text = |value| if value % 4 == 0 { String::new() } else { "text ".repeat(value % 6) };
                let values: Vec<String> = (0..count).map(text).collect();
                let new = zarr_array::NewArray::new(&shape, "string").dimension_names(&names).chunks(&chunks);
                add(&group, &name, new.codecs("vlen-utf8").unwrap(), &values);
            }
        }
    }
    let range = given.selected.0 as i64..given.selected.1 as i64;
    let dataset = Dataset::open(&group).unwrap();
    match dataset.dimensions().iter().any(|dimension| dimension.name == "x") {
        true => dataset.isel("x", range).unwrap(),
        false => dataset,
    }
}

/// Elements of all rows in C order of `dimensions`, read variable by variable.
fn model(dataset: &Dataset, dimensions: &[(String, u64)], columns: &[String]) -> Columns {
    let rows: u64 = dimensions.iter().map(|(_, len)| len).product();
    let index = |row: u64, axis: usize| {
        let inner: u64 = dimensions[axis + 1..].iter().map(|(_, len)| len).product();
        row / inner % dimensions[axis].1
    };
    let mut found = Columns::new();
    for name in columns {
        let axis = |name: &str| dimensions.iter().position(|(known, _)| known == name).unwrap();
        let elements = match dataset.variable(name) {
            Err(_) => (0..rows).map(|row| Some(index(row, axis(name)).to_string())).collect(),
            Ok(variable) => {
                let values = variable.read().unwrap();
                let element = |row| {
                    let axes = variable.dimensions().zip(values.shape());
                    let at = axes.fold(0, |at, (name, len)| at * len + index(row, axis(name)));
                    text(&values, at as usize)
                };
                (0..rows).map(element).collect()
            }
        };
        found.push((name.clone(), elements));
    }
    found
}

fn text(values: &Values, index: usize) -> Option<String> {
    if values.is_missing(index) {
        return None;
    }
    Some(match values.data_type() {
        zarr_dtype::DataType::String => values.to_vec::<String>().unwrap()[index].clone(),
        zarr_dtype::DataType::Float32 => values.to_vec::<f32>().unwrap()[index].to_string(),
        zarr_dtype::DataType::Float64 => values.to_vec::<f64>().unwrap()[index].to_string(),
        _ => values.text(index),
    })
}

fn sorted(columns: &Columns) -> Vec<Vec<Option<String>>> {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let mut rows: Vec<Vec<_>> =
        (0..rows).map(|row| columns.iter().map(|(_, column)| column[row].clone()).collect()).collect();
    rows.sort();
    rows
}

/// Checks that arrow-rs has the same elements, also from a file of Parquet.
#[cfg(feature = "parquet")]
fn check_arrow_rs(dataset: &Dataset, options: &TableOptions, expected: &Columns) {
    let converted: Vec<_> = table(dataset, options).map(|batch| crate::arrow_rs::converted(&batch.unwrap())).collect();
    let read_back = crate::arrow_rs::read_back(table(dataset, &options.clone().coordinates(Coordinates::Plain)));
    for batches in [converted, read_back] {
        for (column, (name, expected)) in expected.iter().enumerate() {
            let texts: Vec<_> = batches.iter().flat_map(|batch| crate::arrow_rs::texts(batch.column(column))).collect();
            assert_eq!(&texts, expected, "{name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn tables_are_the_elements_of_each_row(given in given()) {
        let dataset = dataset(&given);
        let options = TableOptions::default()
            .coordinates(given.coordinates)
            .batch_rows(given.batch_rows)
            .memory(given.memory)
            .ordered(given.ordered);
        let batches = table(&dataset, &options);
        let dimensions = batches.dimensions().to_vec();
        let rows = batches.rows();
        let (found, lens) = decoded::read(batches);
        prop_assert!(lens.iter().all(|&len| (1..=given.batch_rows).contains(&len)));
        prop_assert_eq!(lens.iter().sum::<usize>() as u128, rows);
        let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
        #[cfg(feature = "parquet")]
        check_arrow_rs(&dataset, &options, &found);
        let expected = model(&dataset, &dimensions, &names);
        prop_assert_eq!(names.len(), dimensions.len() + given.variables.len());
        match given.ordered {
            true => prop_assert_eq!(found, expected),
            false => prop_assert_eq!(sorted(&found), sorted(&expected)),
        }
    }
}

#[test]
fn selections_with_steps_lists_and_points() {
    let group = group();
    for (name, len) in [("x", 9_u64), ("y", 7)] {
        let labels: Vec<f64> = (0..len).map(|index| index as f64).collect();
        add(&group, name, new(&[len], "float64", &[name]).chunks(&[2]), &labels);
    }
    let values: Vec<i32> = (0..63).collect();
    add(&group, "v", new(&[9, 7], "int32", &["x", "y"]).chunks(&[2, 3]), &values);
    add(&group, "w", new(&[7], "int32", &["y"]).chunks(&[3]), &values[..7]);
    let whole = Dataset::open(&group).unwrap();
    let step = |start, stop, step| zarr_grid::AxisSelection::Range { start, stop, step };
    let selected = [
        whole.isel("x", step(Some(1), None, 3)).unwrap(),
        whole.isel("x", step(None, None, -1)).unwrap().isel("y", step(Some(5), Some(0), -2)).unwrap(),
        whole.isel("y", zarr_grid::AxisSelection::Indices(vec![6, 0, 0, 3])).unwrap(),
        whole.isel_points("point", [("x", vec![8_i64, 0, 3]), ("y", vec![1, 1, 6])]).unwrap(),
    ];
    for dataset in selected {
        for (memory, ordered) in [(0, true), (0, false), (1 << 20, true)] {
            let batches = table(&dataset, &TableOptions::default().memory(memory).ordered(ordered).batch_rows(5));
            let dimensions = batches.dimensions().to_vec();
            let (found, _) = decoded::read(batches);
            let names: Vec<String> = found.iter().map(|(name, _)| name.clone()).collect();
            let expected = model(&dataset, &dimensions, &names);
            assert_eq!(sorted(&found), sorted(&expected));
            assert!(!ordered || found == expected);
        }
    }
}
