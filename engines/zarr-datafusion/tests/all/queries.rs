//! Queries over the data set of the examples, whose results are computed from the rows of `Batches`, and over small ones that have what it
//! lacks.

use crate::{add, group, new, rows, session, session_of};
use datafusion::arrow::array::{Array, AsArray, Float64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{Float32Type, Float64Type, TimestampNanosecondType};
use datafusion::prelude::SessionContext;
use std::collections::BTreeMap;
use std::sync::Arc;
use zarr::arrow::{BatchReader, Batches, TableOptions};
use zarr_datafusion::ZarrTable;

const CLIMATE: &str = "../../examples/data/climate.zarr";

/// Row of the table of `sst`.
#[derive(Clone, Debug)]
struct Row {
    /// Nanoseconds since 1970.
    time: i64,
    lat: f64,
    lon: f64,
    sst: Option<f32>,
}

fn options() -> TableOptions {
    TableOptions::default().variables(["sst"])
}

/// Rows as `to_arrow` of the Python package has them, which xarray's are compared with there.
fn model() -> Vec<Row> {
    let dataset = zarr::open(CLIMATE).dataset().unwrap();
    let reader = BatchReader::new(Batches::new(&dataset, &options()).unwrap()).unwrap();
    let mut all = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let times = batch.column_by_name("time").unwrap().as_primitive::<TimestampNanosecondType>();
        let float = |name: &str| {
            let column = batch.column_by_name(name).unwrap();
            datafusion::arrow::compute::cast(column, &datafusion::arrow::datatypes::DataType::Float64).unwrap()
        };
        let (lats, lons) = (float("lat"), float("lon"));
        let (lats, lons) = (lats.as_primitive::<Float64Type>(), lons.as_primitive::<Float64Type>());
        let values = batch.column_by_name("sst").unwrap().as_primitive::<Float32Type>();
        all.extend((0..batch.num_rows()).map(|row| Row {
            time: times.value(row),
            lat: lats.value(row),
            lon: lons.value(row),
            sst: values.is_valid(row).then(|| values.value(row)),
        }));
    }
    all
}

fn climate(partitions: usize) -> SessionContext {
    session(ZarrTable::open(CLIMATE, &options()).unwrap(), partitions)
}

/// Number of rows, of values, and the sum of the values rounded to 6 digits.
fn summary<'r>(rows: impl Iterator<Item = &'r Row>) -> String {
    let (mut count, mut values, mut sum) = (0, 0, 0.0);
    for row in rows {
        count += 1;
        if let Some(value) = row.sst {
            values += 1;
            sum += f64::from(value);
        }
    }
    let sum = if values == 0 { String::new() } else { format!("{sum:.3}") };
    format!("{count}|{values}|{sum}")
}

/// Year and month of a time, by the days of the Gregorian calendar.
fn month(time: i64) -> (i64, i64) {
    let mut days = time.div_euclid(86_400_000_000_000);
    let mut year = 1970;
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    while days >= 365 + i64::from(is_leap(year)) {
        days -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let lens = [31, 28 + i64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for len in lens {
        if days < len {
            break;
        }
        days -= len;
        month += 1;
    }
    (year, month)
}

#[tokio::test(flavor = "multi_thread")]
async fn predicates_select_the_rows_of_the_model() {
    type Holds = Box<dyn Fn(&Row) -> bool>;
    let model = model();
    let (first, lat) = (model[0].clone(), model[model.len() / 2].lat);
    let text = |time: i64| {
        let seconds = time / 1_000_000_000;
        format!("to_timestamp_seconds({seconds})")
    };
    let cases: Vec<(String, Holds)> = vec![
        (format!("time = {}", text(first.time)), Box::new(move |row| row.time == first.time)),
        (format!("lat = {lat}"), Box::new(move |row| row.lat == lat)),
        ("lat < -2".to_owned(), Box::new(|row| row.lat < -2.0)),
        (
            "lat BETWEEN -2 AND 2 AND lon >= 180.5".to_owned(),
            Box::new(|row| row.lat >= -2.0 && row.lat <= 2.0 && row.lon >= 180.5),
        ),
        (
            "time >= '2007-02-01' AND time < '2007-05-01'".to_owned(),
            Box::new(|row| (2007, 2) <= month(row.time) && month(row.time) < (2007, 5)),
        ),
        ("date_part('month', time) IN (3, 7)".to_owned(), Box::new(|row| [3, 7].contains(&month(row.time).1))),
        (format!("lat IN ({lat}, 1000) OR lat > 3"), Box::new(move |row| row.lat == lat || row.lat > 3.0)),
        ("NOT (lat > 0)".to_owned(), Box::new(|row| row.lat <= 0.0)),
        // Conditions of several dimensions, and of a variable.
        (
            "(lat < -3 AND lon < 100) OR (lat > 3 AND lon > 300)".to_owned(),
            Box::new(|row| (row.lat < -3.0 && row.lon < 100.0) || (row.lat > 3.0 && row.lon > 300.0)),
        ),
        ("sst > 302 AND lat > 0".to_owned(), Box::new(|row| row.sst.is_some_and(|sst| sst > 302.0) && row.lat > 0.0)),
        (
            "(lat > 3 AND sst > 302) OR lat < -4".to_owned(),
            Box::new(|row| (row.lat > 3.0 && row.sst.is_some_and(|sst| sst > 302.0)) || row.lat < -4.0),
        ),
        ("sst IS NULL".to_owned(), Box::new(|row| row.sst.is_none())),
        ("sst IS NULL OR sst < 298".to_owned(), Box::new(|row| row.sst.is_none_or(|sst| sst < 298.0))),
        // Nothing.
        ("lat > 1000".to_owned(), Box::new(|_| false)),
        ("time < '1900-01-01' AND sst > 0".to_owned(), Box::new(|_| false)),
    ];
    for partitions in [1, 3] {
        let session = climate(partitions);
        for (condition, holds) in &cases {
            let query =
                format!("SELECT count(*), count(sst), round(sum(CAST(sst AS DOUBLE)), 3) FROM t WHERE {condition}");
            let found = rows(&session, &query).await;
            let expected = summary(model.iter().filter(|row| holds(row)));
            let number = |text: &str| text.split('|').map(|cell| cell.parse::<f64>().ok()).collect::<Vec<_>>();
            assert_eq!(number(&found[0]), number(&expected), "{condition}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn means_of_months_are_those_of_the_model() {
    let mut months: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
    for row in model() {
        months.entry(month(row.time).1).or_default().extend(row.sst.map(f64::from));
    }
    let query = "SELECT date_part('month', time) AS month, count(sst), avg(sst) FROM t GROUP BY month ORDER BY month";
    let found = rows(&climate(3), query).await;
    assert_eq!(found.len(), months.len());
    for (line, (month, values)) in found.iter().zip(&months) {
        let cells: Vec<f64> = line.split('|').map(|cell| cell.parse().unwrap()).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        assert_eq!((cells[0] as i64, cells[1] as usize), (*month, values.len()));
        assert!((cells[2] - mean).abs() < 1e-4, "{line}: {mean}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_with_a_table_in_memory() {
    let session = climate(3);
    let regions = RecordBatch::try_from_iter([
        ("region", Arc::new(StringArray::from(vec!["Nino 3.4", "Atlantic"])) as Arc<dyn Array>),
        ("west", Arc::new(Float64Array::from(vec![190.0, 320.0]))),
        ("east", Arc::new(Float64Array::from(vec![240.0, 350.0]))),
    ]);
    session.register_batch("regions", regions.unwrap()).unwrap();
    let query = "SELECT region, count(*), count(sst) FROM t JOIN regions ON lon BETWEEN west AND east \
                 WHERE lat BETWEEN -5 AND 5 GROUP BY region ORDER BY region";
    let model = model();
    let count = |west: f64, east: f64| {
        let inside = model.iter().filter(|row| row.lat.abs() <= 5.0 && row.lon >= west && row.lon <= east);
        let all: Vec<&Row> = inside.collect();
        format!("{}|{}", all.len(), all.iter().filter(|row| row.sst.is_some()).count())
    };
    let expected = [format!("Atlantic|{}", count(320.0, 350.0)), format!("Nino 3.4|{}", count(190.0, 240.0))];
    assert_eq!(rows(&session, query).await, expected);
    // A join of equal labels, with labels that the data set lacks.
    let lats = RecordBatch::try_from_iter([(
        "at",
        Arc::new(Float64Array::from(vec![model[0].lat, 1000.0, model[0].lat])) as Arc<dyn Array>,
    )]);
    session.register_batch("lats", lats.unwrap()).unwrap();
    let found = rows(&session, "SELECT count(*) FROM t JOIN lats ON CAST(lat AS DOUBLE) = at").await;
    let matching = model.iter().filter(|row| row.lat == model[0].lat).count();
    assert_eq!(found, [(2 * matching).to_string()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_limits_and_projections() {
    let model = model();
    let session = climate(3);
    let found = rows(&session, "SELECT lon FROM t ORDER BY time, lat, lon LIMIT 5").await;
    let mut sorted = model.clone();
    sorted.sort_by(|one, other| (one.time, one.lat, one.lon).partial_cmp(&(other.time, other.lat, other.lon)).unwrap());
    let near = |found: &str, expected: f64| (found.parse::<f64>().unwrap() - expected).abs() < 1e-3;
    assert_eq!(found.len(), 5);
    assert!(found.iter().zip(&sorted).all(|(found, row)| near(found, row.lon)), "{found:?}");
    let found = rows(&session, "SELECT sst FROM t WHERE sst IS NOT NULL ORDER BY sst DESC LIMIT 3").await;
    let mut values: Vec<f32> = model.iter().filter_map(|row| row.sst).collect();
    values.sort_by(|one, other| other.partial_cmp(one).unwrap());
    assert_eq!(found.len(), 3);
    assert!(found.iter().zip(&values).all(|(found, value)| near(found, f64::from(*value))), "{found:?}");
    // Rows beyond the end, and none.
    assert_eq!(rows(&session, "SELECT sst FROM t LIMIT 5 OFFSET 93310").await.len(), 2);
    assert_eq!(rows(&session, "SELECT sst FROM t LIMIT 0").await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_with_other_queries_are_applied() {
    let session = climate(2);
    let model = model();
    let last = model.iter().map(|row| row.time).max().unwrap();
    let expected = model.iter().filter(|row| row.time == last).count().to_string();
    let found = rows(&session, "SELECT count(*) FROM t WHERE time = (SELECT max(time) FROM t)").await;
    assert_eq!(found, [expected.as_str()]);
    let inner = "SELECT time FROM t GROUP BY time ORDER BY time DESC LIMIT 1";
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t WHERE time IN ({inner})")).await, [expected]);
    let exists = "EXISTS (SELECT 1 FROM t b WHERE b.time = a.time AND b.lat > 1000)";
    assert_eq!(rows(&session, &format!("SELECT count(*) FROM t a WHERE {exists}")).await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_of_several_dimensions_narrow_what_is_read() {
    let session = climate(1);
    let plan =
        rows(&session, "EXPLAIN SELECT sst FROM t WHERE (lat > 3 AND lon < 10) OR (lat < -3 AND lon < 20)").await;
    let plan = plan.join("\n");
    assert!(plan.contains("FilterExec") && plan.contains("lon=") && plan.contains("lat="), "{plan}");
    let plan = rows(&session, "EXPLAIN SELECT sst FROM t WHERE lat > 3 AND lon < 10").await.join("\n");
    assert!(!plan.contains("FilterExec"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn coordinates_along_a_dimension_are_looked_up() {
    let group = group();
    let names = ["a", "b", "a", "c"].map(str::to_owned);
    let texts = zarr::NewArray::new(&[4], "string").dimension_names(&["station"]).codecs("vlen-utf8").unwrap();
    add(&group, "kind", texts, &names);
    let values = new(&[4, 3], "int16", &["station", "x"]).chunks(&[1, 3]).attribute("coordinates", "kind");
    add(&group, "v", values.attribute("_FillValue", 5), &(0..12).collect::<Vec<i16>>());
    let session = session_of(&group, 2);
    let plan = rows(&session, "EXPLAIN SELECT v FROM t WHERE kind = 'a' AND x < 2").await.join("\n");
    assert!(plan.contains("station=2 of 4") && !plan.contains("FilterExec"), "{plan}");
    let found = rows(&session, "SELECT station, kind, v FROM t WHERE kind = 'a' AND x < 2 ORDER BY station, v").await;
    assert_eq!(found, ["0|a|0.0", "0|a|1.0", "2|a|6.0", "2|a|7.0"]);
    // What is marked as missing is null.
    let found = rows(&session, "SELECT count(*), count(v), sum(v) FROM t WHERE kind <> 'c'").await;
    assert_eq!(found, ["9|8|31.0"]);
    let ends = rows(&session, "SELECT min(kind), max(kind), count(*) FROM t").await;
    assert_eq!(ends, ["a|c|12"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_that_become_constants_are_applied() {
    let group = group();
    add(&group, "v", new(&[4, 3], "int16", &["x", "y"]).chunks(&[1, 3]), &(0..12).collect::<Vec<i16>>());
    add(&group, "one", new(&[], "int16", &[]), &[7_i16]);
    let session = session_of(&group, 2);
    let kinds = "SELECT v, CASE WHEN x > 1 THEN 'a' ELSE 'b' END AS k, x AS one, x AS other FROM t";
    for (condition, expected) in [
        ("k = 'c'", "0|"),
        ("k = 'a'", "6|51"),
        ("k <> 'c'", "12|66"),
        ("one IN (0, 1) AND other IN (2, 3)", "0|"),
        ("(one IN (0, 1) AND other IN (2, 3)) OR (one IN (0) AND other IN (1, 2))", "0|"),
        ("one = 1 AND NULL", "0|"),
    ] {
        let query = format!("SELECT count(*), sum(v) FROM ({kinds}) AS kinds WHERE {condition}");
        assert_eq!(rows(&session, &query).await, [expected], "{condition}");
    }
    // A table without dimensions has one row.
    let table = ZarrTable::new(crate::dataset(&group), &TableOptions::default().variables(["one"])).unwrap();
    let session = crate::session(table, 2);
    let state = session.state();
    let provider = session.table_provider("t").await.unwrap();
    for (value, expected) in [(true, 1), (false, 0)] {
        let plan = provider.scan(&state, None, &[datafusion::prelude::lit(value)], None).await.unwrap();
        let found = datafusion::physical_plan::collect(plan, session.task_ctx()).await.unwrap();
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_in_any_order_and_twice() {
    let group = group();
    add(&group, "v", new(&[4, 3], "int16", &["x", "y"]).chunks(&[2, 3]), &(0..12).collect::<Vec<i16>>());
    let session = session_of(&group, 2);
    let state = session.state();
    let provider = session.table_provider("t").await.unwrap();
    let condition = datafusion::prelude::col("x").gt_eq(datafusion::prelude::lit(2_i64));
    for projection in [vec![2, 0], vec![1, 2, 0], vec![0, 1], vec![]] {
        let plan = provider.scan(&state, Some(&projection), std::slice::from_ref(&condition), None).await.unwrap();
        let schema = plan.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, projection.iter().map(|&number| ["x", "y", "v"][number]).collect::<Vec<_>>());
        let found = datafusion::physical_plan::collect(plan, session.task_ctx()).await.unwrap();
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>(), 6);
        for (batch, number) in
            found.iter().flat_map(|batch| names.iter().position(|name| *name == "x").map(|n| (batch, n)))
        {
            let labels = batch.column(number).as_primitive::<datafusion::arrow::datatypes::Int64Type>();
            assert!(labels.values().iter().all(|label| *label >= 2));
        }
    }
}

#[test]
fn readers_of_more_partitions_than_threads_end() {
    let group = group();
    add(&group, "v", new(&[40, 300], "int16", &["x", "y"]).chunks(&[1, 300]), &(0..12_000).collect::<Vec<i16>>());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).max_blocking_threads(3).build().unwrap();
    runtime.block_on(async {
        // Each partition has several batches, and the merge wants one of each.
        let session = session_of(&group, 40);
        let found = rows(&session, "SELECT x, y FROM t WHERE v % 2 = 0 ORDER BY x, y").await;
        assert_eq!((found.len(), found[0].as_str(), found[5_999].as_str()), (6_000, "0|0", "39|298"));
        let plan = rows(&session, "EXPLAIN SELECT x, y FROM t ORDER BY x, y").await.join("\n");
        assert!(plan.contains("SortPreservingMergeExec") && !plan.contains("SortExec"), "{plan}");
    });
}
