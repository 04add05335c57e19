//! Tables as files of Parquet.

mod seconds;

use crate::{Batch, Error, Schema};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Greatest number of rows of a row group.
const GROUP_ROWS: usize = 1 << 20;

/// Number of encoded bytes after which a row group ends, so that wide tables stay in bounded memory.
const GROUP_BYTES: usize = 64 << 20;

/// Writer of a table as a file of Parquet, compressed by zstd, in row groups of at most 1,048,576 rows and about 64 MiB.
///
/// The types of the columns are those of the table, but times in seconds, which Parquet lacks, become times in milliseconds. Metadata of
/// the file has the types of Arrow that Parquet lacks, such as time spans; readers that do not know Arrow find integers there. A file
/// that was not [finished](Self::finish) cannot be read.
#[derive(Debug)]
pub struct ParquetWriter<W: Write + Send> {
    writer: ArrowWriter<Taken<W>>,
    /// Columns of the table.
    schema: Schema,
    has_seconds: bool,
    /// Number of rows that were written.
    rows: u64,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// An error for a table without columns; the errors of the writer.
    pub fn new(writer: W, schema: &Schema) -> Result<Self> {
        if schema.fields().is_empty() {
            let message = "found no columns, expected at least one: Parquet counts rows by columns";
            return Err(ParquetError::External(Box::new(Error::argument(message))));
        }
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(GROUP_ROWS))
            .set_max_row_group_bytes(Some(GROUP_BYTES))
            .build();
        let has_seconds = schema.fields().iter().any(seconds::has_any);
        let written = Arc::new((&seconds::schema(schema)).try_into()?);
        let writer = ArrowWriter::try_new(Taken(Some(writer)), written, Some(properties))?;
        Ok(Self { writer, schema: schema.clone(), has_seconds, rows: 0 })
    }

    /// Writes a batch of the table.
    ///
    /// # Errors
    /// An error whose source is an [`Error`](crate::Error) for a batch of another table, for a time in seconds that milliseconds cannot hold
    /// (with its column and row), and if there is no memory; the errors of the writer.
    pub fn write(&mut self, batch: &Batch) -> Result<()> {
        if **batch.schema() != self.schema {
            let message = "found a batch of another table, expected the columns of its schema";
            return Err(ParquetError::External(Box::new(Error::argument(message))));
        }
        let converted = match self.has_seconds {
            true => Some(seconds::batch(batch, self.rows).map_err(|error| ParquetError::External(Box::new(error)))?),
            false => None,
        };
        self.writer.write(&RecordBatch::try_from(converted.as_ref().unwrap_or(batch))?)?;
        self.rows += batch.rows() as u64;
        Ok(())
    }

    /// Writes what is behind the last row group, and returns the writer, which is flushed.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn finish(mut self) -> Result<W> {
        self.writer.finish()?;
        self.writer.inner_mut().0.take().ok_or_else(|| io::Error::from(TAKEN).into())
    }
}

/// Writer until it is taken back: [`ArrowWriter::into_inner`] does not tell which error the last bytes had.
#[derive(Debug)]
struct Taken<W>(Option<W>);

/// Kind of the error for writes after the writer was taken back.
const TAKEN: io::ErrorKind = io::ErrorKind::NotConnected;

impl<W: Write> Write for Taken<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().ok_or(TAKEN)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().ok_or(TAKEN)?.flush()
    }
}
