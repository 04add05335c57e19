//! Some rows of a table.

use crate::data::Data;
use crate::schema::Schema;
use std::sync::Arc;

/// Rows of a table that follow each other.
#[derive(Clone, Debug)]
pub struct Batch {
    pub(crate) schema: Arc<Schema>,
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Data>,
}

impl Batch {
    /// Columns of the table.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Elements of each column.
    pub fn columns(&self) -> &[Data] {
        &self.columns
    }

    /// Elements of column `index`.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn column(&self, index: usize) -> &Data {
        &self.columns[index]
    }

    /// Converts the batch to an array of structs, which stands for a batch in the C data interface.
    pub(crate) fn into_data(self) -> Data {
        Data::new(self.rows, None, []).children(self.columns, 1)
    }
}
