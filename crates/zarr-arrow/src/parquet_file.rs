//! Tables as files of Parquet.

use crate::{Batch, Schema};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// Greatest number of rows of a row group.
const GROUP_ROWS: usize = 1 << 20;

/// Number of encoded bytes after which a row group ends, so that wide tables stay in bounded memory.
const GROUP_BYTES: usize = 64 << 20;

/// Writer of a table as a file of Parquet, compressed by zstd, in row groups of at most 1,048,576 rows and about 64 MiB.
///
/// The types of the columns are those of the table: readers that know Arrow find them in the metadata of the file. A file that was not
/// [finished](Self::finish) is none.
#[derive(Debug)]
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn new(writer: W, schema: &Schema) -> Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let schema = Arc::new(schema.try_into()?);
        Ok(Self { writer: ArrowWriter::try_new(writer, schema, Some(properties))? })
    }

    /// Writes a batch of the table.
    ///
    /// # Errors
    /// An error for a batch of another table; the errors of the writer.
    pub fn write(&mut self, batch: &Batch) -> Result<()> {
        self.writer.write(&RecordBatch::try_from(batch)?)
    }

    /// Writes what is behind the last row group, and returns the writer.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn finish(self) -> Result<W> {
        self.writer.into_inner()
    }
}
