//! Files and streams of Arrow, in the IPC format of the [specification](https://arrow.apache.org/docs/format/Columnar.html#format-ipc).
//!
//! A stream is a message with the schema (`ipc/messages.rs`), a message for each batch, which its buffers follow (`ipc/body.rs`), and a
//! mark of its end. A file is a stream between two marks, with a table of where its messages are. Messages are FlatBuffers
//! (`ipc/flat.rs`).
//!
//! Readers take a stream without the mark of its end as whole if it ends between messages. So the first bytes of a message, or of the mark
//! of the end, are written with the message before it.

mod body;
mod flat;
mod messages;

use crate::ErrorKind;
use crate::batch::Batch;
use crate::schema::{Field, Schema};
use body::Body;
use messages::Block;
use std::io::{self, Write};
use std::sync::Arc;

/// First and last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";

/// First bytes of each message, and of the mark of the end.
const CONTINUED: [u8; 4] = [0xff; 4];

/// Number of bytes to a multiple of which messages and buffers are padded.
const ALIGNMENT: usize = 8;

/// Form of a table in the IPC format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IpcForm {
    /// A stream (`.arrows`), whose reader takes batch after batch.
    Stream,
    /// A file (`.arrow`, also known as Feather V2), whose reader may map it into memory and take any batch.
    File,
}

/// Writer of a table in the IPC format, for programs that read it later or on another machine.
///
/// Little-endian machines write little-endian data, and big-endian ones big-endian data, which the schema says. Buffers are not
/// compressed. A file that was not [finished](Self::finish) cannot be read. An unfinished stream ends within a message, so that readers
/// such as arrow-rs and pyarrow report an error behind the batches that they have.
///
/// Strings are written one by one, so that a file should be buffered ([`BufWriter`](io::BufWriter)). A stream is flushed behind each batch.
///
/// # Example
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Group, NewArray, NewGroup, Registry, Store};
/// # use zarr_arrow::{Batches, IpcForm, IpcWriter, TableOptions};
/// # let mut registry = Registry::default();
/// # zarr_codec_bytes::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// # let group = Group::create(&store, "/", NewGroup::new(), &Arc::new(registry))?;
/// # let height = NewArray::new(&[3], "int16").dimension_names(&["lat"]).codecs("bytes")?;
/// # group.create_array("height", height)?.write(.., &[1_i16, 2, 3])?;
/// # let dataset = zarr_dataset::Dataset::open(&group)?;
/// let batches = Batches::new(&dataset, &TableOptions::default())?;
/// let mut writer = IpcWriter::new(Vec::new(), batches.schema(), IpcForm::File)?;
/// for batch in batches {
///     writer.write(&batch?)?;
/// }
/// let file = writer.finish()?;
/// assert!(file.starts_with(b"ARROW1") && file.ends_with(b"ARROW1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct IpcWriter<W> {
    writer: W,
    form: IpcForm,
    schema: Arc<Schema>,
    /// Number of bytes that were written.
    written: u64,
    /// Messages of the batches of a file.
    blocks: Vec<Block>,
}

impl<W: Write> IpcWriter<W> {
    /// Begins a file or a stream, and writes its schema.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for columns that are encoded by dictionaries, which this writer lacks
    /// ([`Coordinates::Plain`](crate::Coordinates::Plain) makes none); the errors of the writer.
    pub fn new(writer: W, schema: &Arc<Schema>, form: IpcForm) -> io::Result<Self> {
        schema.fields().iter().try_for_each(check)?;
        let mut this = Self { writer, form, schema: Arc::clone(schema), written: 0, blocks: Vec::new() };
        if form == IpcForm::File {
            this.put(MAGIC)?;
            this.pad(MAGIC.len())?;
        }
        this.put(&CONTINUED)?;
        this.message(&messages::schema(schema))?;
        this.put(&CONTINUED)?;
        Ok(this)
    }

    /// Writes a batch of the table. Its buffers are written as they are; only bitmaps that begin within a byte, offsets that do not begin
    /// at 0, and views are copied. A string that several views of a batch share is written once in it.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for a batch of another table; [`io::ErrorKind::OutOfMemory`] with an [`Error`](crate::Error) that
    /// has the column; the errors of the writer.
    pub fn write(&mut self, batch: &Batch) -> io::Result<()> {
        if *batch.schema != *self.schema {
            return Err(invalid("found a batch of another table, expected the columns of its schema".to_owned()));
        }
        let body = Body::new(batch).map_err(|error| match error.kind() {
            ErrorKind::Limit => io::Error::new(io::ErrorKind::OutOfMemory, error),
            _ => io::Error::other(error),
        })?;
        let offset = self.written - CONTINUED.len() as u64;
        let metadata = self.message(&messages::batch(batch.rows(), &body))?;
        for part in body.parts() {
            part.write(|bytes| self.put(bytes))?;
            self.pad(part.len())?;
        }
        self.put(&CONTINUED)?;
        match self.form {
            IpcForm::File => self.blocks.push(Block { offset, metadata, body: body.len() }),
            IpcForm::Stream => self.writer.flush()?,
        }
        Ok(())
    }

    /// Writes what is behind the last batch, and returns the writer, which is flushed.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.put(&[0; 4])?;
        if self.form == IpcForm::File {
            let footer = messages::footer(&self.schema, &self.blocks);
            self.put(&footer)?;
            self.put(&length(footer.len())?.to_le_bytes())?;
            self.put(MAGIC)?;
        }
        self.writer.flush()?;
        Ok(self.writer)
    }

    /// Writes the metadata of a message whose first bytes are written, and returns their length in bytes with what precedes them.
    fn message(&mut self, metadata: &[u8]) -> io::Result<usize> {
        let len = metadata.len().next_multiple_of(ALIGNMENT);
        self.put(&length(len)?.to_le_bytes())?;
        self.put(metadata)?;
        self.pad(metadata.len())?;
        Ok(CONTINUED.len() + 4 + len)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    /// Writes zeros behind `len` bytes.
    fn pad(&mut self, len: usize) -> io::Result<()> {
        let zeros = [0; ALIGNMENT];
        self.put(zeros.split_at(len.next_multiple_of(ALIGNMENT) - len).0)
    }
}

/// Returns the length of metadata as it is stored.
fn length(len: usize) -> io::Result<i32> {
    i32::try_from(len).map_err(|_| invalid(format!("found {len} bytes of metadata, expected at most {}", i32::MAX)))
}

/// Checks that no part of a column is encoded by a dictionary.
fn check(field: &Field) -> io::Result<()> {
    match field.dictionary() {
        Some(_) => Err(invalid(format!(
            "column {}: found values in a dictionary, expected values in each row (`Coordinates::Plain`)",
            field.name()
        ))),
        None => field.children().iter().try_for_each(check),
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
