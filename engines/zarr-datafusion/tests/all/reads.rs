//! Chunks that queries read, the order that they know, errors, dates.

use crate::{add, group_in, new, query, rows, session, session_of};
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use zarr::arrow::TableOptions;
use zarr::store::{Counted, Key, MemoryStore, SetOptions, StoreExt};
use zarr::{Group, NewArray};
use zarr_datafusion::ZarrTable;

/// Makes a data set of 8 days x 20 x 30 elements in chunks of 2 x 10 x 30; `lon` has no labels.
fn grid() -> (Arc<Counted<MemoryStore>>, Group) {
    let store = Arc::new(Counted::new(MemoryStore::new()));
    let group = group_in(store.clone());
    let days: Vec<i32> = (0..8).collect();
    add(&group, "time", new(&[8], "int32", &["time"]).attribute("units", "days since 2020-01-28"), &days);
    let labels: Vec<f64> = (0..20).map(|index| 47.5 - f64::from(index) * 5.0).collect();
    add(&group, "lat", new(&[20], "float64", &["lat"]), &labels);
    let values: Vec<f32> = (0..4800_u16).map(f32::from).collect();
    for name in ["v", "w"] {
        let array: NewArray = new(&[8, 20, 30], "float32", &["time", "lat", "lon"]).chunks(&[2, 10, 30]);
        add(&group, name, array, &values);
    }
    (store, group)
}

async fn gets(store: &Counted<MemoryStore>, session: &SessionContext, sql: &str) -> (u64, Vec<String>) {
    let before = store.counts().gets;
    let rows = rows(session, sql).await;
    (store.counts().gets - before, rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_chunk_once_by_all_partitions() {
    let (store, group) = grid();
    for partitions in [1, 3, 4, 9] {
        let session = session_of(&group, partitions);
        let (count, sum) = gets(&store, &session, "SELECT count(v), sum(v) FROM t").await;
        assert_eq!((count, sum), (8, vec!["4800|11517600.0".to_owned()]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_a_query_needs() {
    let (store, group) = grid();
    let session = session_of(&group, 2);
    assert_eq!(gets(&store, &session, "SELECT count(*) FROM t").await, (0, vec!["4800".to_owned()]));
    let ends = gets(&store, &session, "SELECT min(time), max(time), max(lat) FROM t").await;
    assert_eq!(ends, (2, vec!["2020-01-28T00:00:00|2020-02-04T00:00:00|47.5".to_owned()]));
    // Labels are known now. One step has two chunks, and a box may have one.
    let step = gets(&store, &session, "SELECT count(v), min(v) FROM t WHERE time = '2020-01-31'").await;
    assert_eq!(step, (2, vec!["600|1800.0".to_owned()]));
    let small = "SELECT count(*), max(v) FROM t WHERE time = '2020-01-31' AND lat BETWEEN -10 AND -5 AND lon >= 28";
    assert_eq!(gets(&store, &session, small).await, (1, vec!["2|2159.0".to_owned()]));
    let months = "SELECT date_part('month', time) AS m, count(*) FROM t GROUP BY m ORDER BY m";
    // Only labels, which each partition reads for its rows.
    let (count, found) = gets(&store, &session, months).await;
    assert!(count <= 2, "{count}");
    assert_eq!(found, ["1|2400", "2|2400"]);
    let none = gets(&store, &session, "SELECT count(*), sum(v) FROM t WHERE lat > 90").await;
    assert_eq!(none, (0, vec!["0|".to_owned()]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_reads_few_chunks() {
    let (store, group) = grid();
    let session = session_of(&group, 4);
    let (count, found) = gets(&store, &session, "SELECT v FROM t LIMIT 3").await;
    // The first step has two chunks, and one of them has rows enough.
    assert!((1..=2).contains(&count) && found.len() == 3, "{count}");
}

#[tokio::test(flavor = "multi_thread")]
async fn indices_of_dimensions_without_labels_are_those_of_the_whole() {
    let (_, group) = grid();
    let session = session_of(&group, 4);
    let found =
        rows(&session, "SELECT lon, v FROM t WHERE lon IN (3, 7, 29) AND time = '2020-02-01' AND lat = 47.5").await;
    let mut found = found;
    found.sort();
    assert_eq!(found, ["29|2429.0", "3|2403.0", "7|2407.0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_are_sorted_are_not_sorted_again() {
    let (_, group) = grid();
    let session = session_of(&group, 1);
    let plan = async |sql: &str| rows(&session, &format!("EXPLAIN {sql}")).await.join("\n");
    let sorted = plan("SELECT * FROM t ORDER BY time, lat DESC, lon").await;
    assert!(!sorted.contains("SortExec") && sorted.contains("ZarrScan"), "{sorted}");
    let other = plan("SELECT * FROM t ORDER BY lat").await;
    assert!(other.contains("SortExec"), "{other}");
    // Without the outer labels the inner ones begin again.
    let inner = plan("SELECT lat, v FROM t ORDER BY lat DESC").await;
    assert!(inner.contains("SortExec"), "{inner}");
    let one = plan("SELECT lat, v FROM t WHERE time = '2020-01-31' ORDER BY lat DESC").await;
    assert!(!one.contains("SortExec"), "{one}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_in_mid_stream_ends_the_query() {
    let (store, group) = grid();
    let key = Key::new("v/c/3/1/0").unwrap();
    store.set(&key, b"short", &SetOptions::default()).unwrap();
    let options = TableOptions::default().memory(4_000);
    let session = session(ZarrTable::new(crate::dataset(&group), &options).unwrap(), 2);
    let error = query(&session, "SELECT sum(v) FROM t").await.unwrap_err().to_string();
    assert!(error.contains("v/c/3/1/0") || error.contains("/v"), "{error}");
    // Others do not read it.
    assert_eq!(rows(&session, "SELECT count(v) FROM t WHERE time < '2020-02-03'").await, ["3600"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn volatile_filters_are_applied_to_rows() {
    let (_, group) = grid();
    let session = session_of(&group, 2);
    let plan = rows(&session, "EXPLAIN SELECT v FROM t WHERE lat > 100 * random()").await.join("\n");
    assert!(plan.contains("FilterExec"), "{plan}");
}
