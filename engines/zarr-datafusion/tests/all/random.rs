//! Random data sets and predicates: the rows are those of a simple model.

use crate::{add, group, new, query, session};
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use proptest::prelude::*;
use zarr::arrow::TableOptions;
use zarr::dataset::Dataset;
use zarr_datafusion::ZarrTable;

const NAMES: [&str; 3] = ["x", "y", "z"];

/// Data set of floats, so that each row is a list of numbers or nulls.
#[derive(Clone, Debug)]
struct Given {
    /// Length, length of chunks, and the labels of each dimension: none, ascending, descending, or with repetitions.
    dimensions: Vec<(u64, u64, u8)>,
    /// Dimensions of each variable.
    variables: Vec<Vec<usize>>,
    predicates: Vec<Predicate>,
    partitions: usize,
    memory: u64,
    ordered: bool,
    limit: Option<usize>,
}

/// Comparison of a column with a number.
#[derive(Clone, Debug)]
struct Comparison {
    column: usize,
    operator: usize,
    constant: i32,
}

/// Lists of comparisons, each joined by `AND`, and the lists by `OR`; all predicates are joined by `AND`.
type Predicate = Vec<Vec<Comparison>>;

const OPERATORS: [&str; 7] = ["=", "<>", "<", "<=", ">", ">=", "IN"];

fn is_true(operator: usize, value: f64, constant: f64) -> bool {
    match OPERATORS[operator] {
        "=" => value == constant,
        "<>" => value != constant,
        "<" => value < constant,
        "<=" => value <= constant,
        ">" => value > constant,
        ">=" => value >= constant,
        // That number and the next one.
        _ => value == constant || value == constant + 1.0,
    }
}

fn given() -> impl Strategy<Value = Given> {
    let dimensions = prop::collection::vec((0_u64..7, 1_u64..4, 0_u8..4), 1..4);
    let comparison = (0_usize..6, 0..OPERATORS.len(), -1_i32..9);
    let comparison = comparison.prop_map(|(column, operator, constant)| Comparison { column, operator, constant });
    let predicate = prop::collection::vec(prop::collection::vec(comparison, 1..3), 1..3);
    (dimensions, prop::collection::vec(predicate, 0..4)).prop_flat_map(|(dimensions, predicates)| {
        let all: Vec<usize> = (0..dimensions.len()).collect();
        let some = prop::sample::subsequence(all.clone(), 0..=dimensions.len()).prop_shuffle();
        let others = prop::collection::vec(some, 0..3);
        let memory = prop::sample::select(vec![600_u64, 3_000, 1 << 20]);
        let limit = prop::option::weighted(0.2, 0_usize..30);
        (others, 1_usize..5, memory, any::<bool>(), limit).prop_map(
            move |(others, partitions, memory, ordered, limit)| {
                let variables = std::iter::once(all.clone()).chain(others).collect();
                let (dimensions, predicates) = (dimensions.clone(), predicates.clone());
                Given { dimensions, variables, predicates, partitions, memory, ordered, limit }
            },
        )
    })
}

fn label(kind: u8, len: u64, index: u64) -> f64 {
    match kind {
        1 => index as f64 + 1.0,
        2 => (len - index) as f64,
        3 => (index * 3 % 4) as f64,
        _ => index as f64,
    }
}

fn element(number: usize, at: usize) -> Option<f64> {
    let value = (at * 7 + number) % 11;
    (value != 10).then_some(value as f64)
}

fn dataset(given: &Given) -> Dataset {
    let group = group();
    for (name, &(len, chunk, kind)) in NAMES.iter().zip(&given.dimensions).filter(|(_, dimension)| dimension.2 != 0) {
        let labels: Vec<f64> = (0..len).map(|index| label(kind, len, index)).collect();
        add(&group, name, new(&[len], "float64", &[name]).chunks(&[chunk]), &labels);
    }
    for (number, axes) in given.variables.iter().enumerate() {
        let shape: Vec<u64> = axes.iter().map(|&axis| given.dimensions[axis].0).collect();
        let chunks: Vec<u64> = axes.iter().map(|&axis| given.dimensions[axis].1).collect();
        let names: Vec<&str> = axes.iter().map(|&axis| NAMES[axis]).collect();
        let count = shape.iter().product::<u64>() as usize;
        let values: Vec<f64> = (0..count).map(|at| element(number, at).unwrap_or(f64::NAN)).collect();
        add(&group, &format!("v{number}"), new(&shape, "float64", &names).chunks(&chunks), &values);
    }
    crate::dataset(&group)
}

/// Rows in order, without a predicate.
fn model(given: &Given) -> Vec<Vec<Option<f64>>> {
    let lens: Vec<u64> = given.dimensions.iter().map(|dimension| dimension.0).collect();
    let row = |number: u64| {
        let index = |axis: usize| number / lens[axis + 1..].iter().product::<u64>().max(1) % lens[axis];
        let labels =
            given.dimensions.iter().enumerate().map(|(axis, &(len, _, kind))| Some(label(kind, len, index(axis))));
        let values = given.variables.iter().enumerate().map(|(number, axes)| {
            let at = axes.iter().fold(0, |at, &axis| at * lens[axis] + index(axis));
            element(number, at as usize)
        });
        labels.chain(values).collect()
    };
    (0..lens.iter().product()).map(row).collect()
}

fn numbers(batches: &[RecordBatch]) -> Vec<Vec<Option<f64>>> {
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch.columns().iter().map(|column| cast(column, &DataType::Float64).unwrap()).collect();
        let cell = |column: &usize, row: usize| {
            let column = columns[*column].as_primitive::<Float64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        rows.extend((0..batch.num_rows()).map(|row| (0..columns.len()).map(|column| cell(&column, row)).collect()));
    }
    rows
}

fn sorted(mut rows: Vec<Vec<Option<f64>>>) -> Vec<Vec<Option<f64>>> {
    rows.sort_by(|one, other| one.partial_cmp(other).unwrap());
    rows
}

fn sql(given: &Given, columns: &[String]) -> String {
    let one = |comparison: &Comparison| {
        let (column, constant) = (&columns[comparison.column % columns.len()], comparison.constant);
        match OPERATORS[comparison.operator] {
            "IN" => format!("{column} IN ({constant}, {})", constant + 1),
            operator => format!("{column} {operator} {constant}"),
        }
    };
    let list = |list: &Vec<Comparison>| format!("({})", list.iter().map(one).collect::<Vec<_>>().join(" AND "));
    let text = |predicate: &Predicate| format!("({})", predicate.iter().map(list).collect::<Vec<_>>().join(" OR "));
    let predicates: Vec<String> = given.predicates.iter().map(text).collect();
    let filter = if predicates.is_empty() { String::new() } else { format!(" WHERE {}", predicates.join(" AND ")) };
    let limit = given.limit.map_or_else(String::new, |limit| format!(" LIMIT {limit}"));
    format!("FROM t{filter}{limit}")
}

fn check(given: &Given) {
    let options = TableOptions::default().memory(given.memory).ordered(given.ordered);
    let table = ZarrTable::new(dataset(given), &options).unwrap();
    let session = session(table, given.partitions);
    let dimensions = NAMES.iter().take(given.dimensions.len()).map(|name| (*name).to_owned());
    let columns: Vec<String> =
        dimensions.chain((0..given.variables.len()).map(|number| format!("v{number}"))).collect();
    // No comparison with null is true.
    let is_met = |row: &Vec<Option<f64>>, comparison: &Comparison| {
        let value = row[comparison.column % columns.len()];
        value.is_some_and(|value| is_true(comparison.operator, value, comparison.constant.into()))
    };
    let holds = |row: &Vec<Option<f64>>| {
        let all = |list: &Vec<Comparison>| list.iter().all(|comparison| is_met(row, comparison));
        given.predicates.iter().all(|predicate| predicate.iter().any(all))
    };
    let expected: Vec<_> = model(given).into_iter().filter(holds).collect();
    let rest = sql(given, &columns);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let found = numbers(&query(&session, &format!("SELECT * {rest}")).await.unwrap());
        match given.limit {
            Some(limit) => {
                assert_eq!(found.len(), expected.len().min(limit), "{rest}");
                assert!(found.iter().all(|row| expected.contains(row)), "{rest}");
            }
            None => assert_eq!(sorted(found), sorted(expected.clone()), "{rest}"),
        }
        if given.limit.is_some() {
            return;
        }
        let last = columns.len() - 1;
        // Counts, ends and orders, which DataFusion may know from statistics.
        let facts = format!("SELECT count(*), count(v0), min(x), max(x), min({0}), sum({0}) {rest}", columns[last]);
        let found = numbers(&query(&session, &facts).await.unwrap());
        let column = |at: usize| expected.iter().filter_map(move |row| row[at]);
        let count = |count: usize| Some(count as f64);
        let v0 = given.dimensions.len();
        let sum = column(last).reduce(|sum, value| sum + value);
        let facts = vec![
            count(expected.len()),
            count(column(v0).count()),
            column(0).reduce(f64::min),
            column(0).reduce(f64::max),
            column(last).reduce(f64::min),
            sum,
        ];
        assert_eq!(found, [facts], "{rest}");
        let names = columns[..v0].join(", ");
        let ordered = numbers(&query(&session, &format!("SELECT {names} {rest} ORDER BY {names}")).await.unwrap());
        assert_eq!(ordered, sorted(expected.iter().map(|row| row[..v0].to_vec()).collect()), "{rest}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rows_are_those_of_the_model(given in given()) {
        check(&given);
    }
}
