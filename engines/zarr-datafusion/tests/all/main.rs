//! Tests of queries over data sets: rows, what is read, order, plans for other processes.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs, reason = "tests")]

#[cfg(feature = "proto")]
mod codec;
mod queries;
mod random;
mod reads;

use datafusion::arrow::array::RecordBatch;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;
use zarr::arrow::TableOptions;
use zarr::dataset::{Dataset, DatasetOptions};
use zarr::dtype::WriteElement;
use zarr::store::MemoryStore;
use zarr::{Array, Group, NewArray, NewGroup, Options, Store};
use zarr_datafusion::ZarrTable;

fn group_in(store: Arc<dyn Store>) -> Group {
    zarr::create(&store).group(NewGroup::new()).unwrap()
}

fn group() -> Group {
    group_in(Arc::new(MemoryStore::new()))
}

fn new(shape: &[u64], data_type: &str, names: &[&str]) -> NewArray {
    NewArray::new(shape, data_type).dimension_names(names).codecs("bytes").unwrap()
}

fn add<T: WriteElement>(group: &Group, name: &str, new: NewArray, values: &[T]) -> Array {
    let array = group.create_array(name, new).unwrap();
    array.write(.., values).unwrap();
    array
}

/// Opens a data set whose missing chunks cause no request that checks whether the array still exists.
fn dataset(group: &Group) -> Dataset {
    let options = DatasetOptions::default().arrays(Options::default().trust_missing(true));
    Dataset::open_with(group, &options).unwrap()
}

/// Session with the table `t`, whose queries have `partitions` partitions.
fn session(table: ZarrTable, partitions: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(64);
    let session = SessionContext::new_with_config(config);
    session.register_table("t", Arc::new(table)).unwrap();
    session
}

fn session_of(group: &Group, partitions: usize) -> SessionContext {
    session(ZarrTable::new(dataset(group), &TableOptions::default()).unwrap(), partitions)
}

async fn query(session: &SessionContext, sql: &str) -> datafusion::error::Result<Vec<RecordBatch>> {
    session.sql(sql).await?.collect().await
}

/// Rows of a query as text, columns separated by bars.
async fn rows(session: &SessionContext, sql: &str) -> Vec<String> {
    let batches = query(session, sql).await.unwrap();
    let text = datafusion::arrow::util::pretty::pretty_format_batches(&batches).unwrap().to_string();
    let lines = text.lines().filter(|line| line.starts_with('|')).skip(1);
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>().join("|")).collect()
}
