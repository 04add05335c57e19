//! Tables as types of the crates of arrow-rs (`arrow-array`, `arrow-schema`), which DataFusion, parquet and others take.
//!
//! Buffers are shared, not copied: an array of arrow-rs keeps the memory that chunks were decoded into, as a
//! [`Buffer`](crate::Buffer) does. Only a buffer that is not aligned as arrow-rs wants it is copied.

mod arrays;
mod formats;

use crate::{Batch, Batches, Schema};
use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
use arrow_schema::{ArrowError, FieldRef, SchemaRef};
use std::sync::Arc;

impl TryFrom<&Schema> for arrow_schema::Schema {
    type Error = ArrowError;

    /// Converts the columns of a table.
    fn try_from(schema: &Schema) -> Result<Self, ArrowError> {
        let fields = schema.fields().iter().map(formats::field).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::new(fields))
    }
}

impl TryFrom<&Batch> for RecordBatch {
    type Error = ArrowError;

    /// Converts rows of a table, which share their memory.
    fn try_from(batch: &Batch) -> Result<Self, ArrowError> {
        record_batch(batch, Arc::new(batch.schema().as_ref().try_into()?))
    }
}

fn record_batch(batch: &Batch, schema: SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = schema.fields().iter().zip(batch.columns());
    let array = |(field, data): (&FieldRef, _)| {
        arrays::array(field, data).map_err(|error| match error {
            ArrowError::InvalidArgumentError(message) => {
                ArrowError::InvalidArgumentError(format!("column {}: {message}", field.name()))
            }
            error => error,
        })
    };
    let arrays = columns.map(array).collect::<Result<Vec<_>, _>>()?;
    let rows = RecordBatchOptions::new().with_row_count(Some(batch.rows()));
    RecordBatch::try_new_with_options(schema, arrays, &rows)
}

/// Reader of a table for programs that take record batches of arrow-rs. After an error it ends.
#[derive(Debug)]
pub struct BatchReader {
    schema: SchemaRef,
    /// Batches that were not read yet; `None` after an error.
    batches: Option<Batches>,
}

impl BatchReader {
    /// Makes the reader of the batches that were not read yet.
    ///
    /// # Errors
    /// Never for tables of this crate: arrow-rs has all of their types.
    pub fn new(batches: Batches) -> Result<Self, ArrowError> {
        Ok(Self { schema: Arc::new(batches.schema().as_ref().try_into()?), batches: Some(batches) })
    }
}

impl Iterator for BatchReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.batches.as_mut()?.next()?.map_err(|error| ArrowError::ExternalError(Box::new(error)));
        let converted = batch.and_then(|batch| record_batch(&batch, Arc::clone(&self.schema)));
        if converted.is_err() {
            self.batches = None;
        }
        Some(converted)
    }
}

impl RecordBatchReader for BatchReader {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
