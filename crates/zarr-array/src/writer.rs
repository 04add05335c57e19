//! Writers that keep parts of chunks until these are whole.

use crate::typed::Repeated;
use crate::write_buffer::WriteBuffer;
use crate::{Array, AsyncArray, Result, WriteFrom};
use zarr_drive::now;
use zarr_dtype::WriteElement;
use zarr_grid::IntoSelection;

/// Writes elements in any order, in pieces of any size, and each chunk once ([`Array::writer`]).
///
/// Rows, tiles and single elements that cover a chunk in part (of sharded arrays: a shard) are kept in memory until all of its elements
/// are there. Then it is written, without being read. Chunks that one write covers are written at once, from where the elements lie.
///
/// ```
/// # use std::sync::Arc;
/// # use zarr_array::{Array, NewArray, Registry, Store};
/// # let mut registry = Registry::default();
/// # registry.codecs.add(zarr_codec_bytes::BYTES);
/// # let registry = Arc::new(registry);
/// # let store: Arc<dyn Store> = Arc::new(zarr_store::MemoryStore::new());
/// let new = NewArray::new(&[400, 300], "int32").chunks(&[100, 100]).codecs(r#"["bytes"]"#)?;
/// let array = Array::create(&store, "/a", new, &registry)?;
/// let writer = array.writer();
/// for row in 0..400_i32 {
///     // Each of these touches three chunks; twelve chunks are written in all.
///     writer.write((row as u64, ..), &vec![row; 300])?;
/// }
/// writer.finish()?;
/// assert_eq!(array.read::<i32>((250..253, 0))?, [250, 251, 252]);
/// # Ok::<(), zarr_array::Error>(())
/// ```
///
/// # Memory
/// At most [`buffer_size`](Self::buffer_size) bytes are kept, but always one chunk, however large. If there is no room for a further
/// chunk, those to which nothing was written for the longest time are written in part, as [`Array::write`] does: what is stored of them is
/// read and patched, on the condition that nobody else changes it in between. A chunk is kept as its elements, and a byte for each
/// element where those that were written are no box. Chunks that are being written are not counted: each thread that writes has those
/// that it is writing.
///
/// # Who sees what
/// Readers see elements when they are stored: after [`flush`](Self::flush) all that were written before, until then some. A read never
/// looks into a writer, neither of this array. Elements that are never written stay as they are stored, also where others write them while
/// their chunk is kept, as far as the store keeps preconditions. Of elements that are written twice the last value stays; a value that is
/// written past the writer while one is kept is replaced at the flush.
///
/// # Threads
/// A writer is shared by threads as it is. Writes of different chunks never wait for each other, and a write waits for no request but
/// its own. [`flush`](Self::flush) waits for what other threads are writing: a task of the pool that decodes and encodes must not
/// call it while other tasks of that pool write.
///
/// # Errors, and the end
/// If a chunk cannot be written, the others are all the same, unless 8 fail one after the other. The first error is reported, with its
/// chunk. All that was taken by writes before stays and is written by the next [`flush`](Self::flush). Of a write that fails, some elements
/// may be taken or stored, and others not. While the store refuses chunks and there is no room, further writes are refused, so that the
/// bound of memory holds.
///
/// Elements that are kept when a writer is dropped are written as well, unless the thread panics, but only [`finish`](Self::finish) reports
/// that they could not be.
#[derive(Debug)]
pub struct Writer {
    array: Array,
    buffer: WriteBuffer,
}

impl Array {
    /// A writer that takes elements in pieces and writes each chunk once: see [`Writer`]. It writes to the array in the shape that this
    /// has now, and with its options.
    pub fn writer(&self) -> Writer {
        Writer { array: self.clone(), buffer: WriteBuffer::default() }
    }
}

impl AsyncArray {
    /// A writer that takes elements in pieces and writes each chunk once: see [`AsyncWriter`].
    pub fn writer(&self) -> AsyncWriter {
        AsyncWriter { array: self.clone(), buffer: WriteBuffer::default() }
    }
}

impl Writer {
    /// Sets the maximum number of bytes that are kept, 256 MiB by default; one chunk is kept always.
    #[must_use]
    pub fn buffer_size(mut self, bytes: u64) -> Self {
        self.buffer.set_limit(bytes);
        self
    }

    /// Writes elements to a selection, as [`Array::write`] takes them.
    ///
    /// # Errors
    /// As there; [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no memory for a chunk. They may be of chunks of earlier writes.
    pub fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        now(self.buffer.write_elements(&self.array.verbs(), &resolved, elements))
    }

    /// Writes one value to all elements of a selection.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn fill<T: WriteElement>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        let repeated = Repeated::new(self.array.data_type(), value).map_err(|error| self.array.core.locate(error))?;
        now(self.buffer.write(&self.array.verbs(), &resolved, repeated.view(&resolved)?))
    }

    /// Writes all that was written to this writer before, also chunks that are not whole.
    ///
    /// # Errors
    /// The errors of [`Array::write`]; elements that could not be written stay.
    pub fn flush(&self) -> Result<()> {
        now(self.buffer.flush(&self.array.verbs()))
    }

    /// Writes all that is kept, and ends.
    ///
    /// # Errors
    /// As [`flush`](Self::flush). What could not be written is lost: flush before to be able to try again.
    pub fn finish(self) -> Result<()> {
        let flushed = self.flush();
        self.buffer.clear();
        flushed
    }

    /// The bytes of memory in which elements are kept.
    pub fn kept(&self) -> u64 {
        self.buffer.size()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // `finish` is there for those who want to know.
            drop(self.flush());
        }
    }
}

/// As [`Writer`], for arrays over stores that do not block ([`AsyncArray::writer`]). Tasks share it by reference, or in an `Arc`.
///
/// Elements that are kept when it is dropped are lost: nothing can wait then. [`finish`](Self::finish) writes it. If the future of a write or a flush
/// is dropped, chunks that it was writing are kept again, and written by the next flush, whether they had been stored or not.
#[derive(Debug)]
pub struct AsyncWriter {
    array: AsyncArray,
    buffer: WriteBuffer,
}

impl AsyncWriter {
    /// Sets the maximum number of bytes that are kept, as [`Writer::buffer_size`].
    #[must_use]
    pub fn buffer_size(mut self, bytes: u64) -> Self {
        self.buffer.set_limit(bytes);
        self
    }

    /// Writes elements to a selection, as [`Writer::write`].
    ///
    /// # Errors
    /// As there.
    pub async fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        self.buffer.write_elements(&self.array.verbs(), &resolved, elements).await
    }

    /// Writes one value to all elements of a selection.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub async fn fill<T: WriteElement>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        let repeated = Repeated::new(self.array.data_type(), value).map_err(|error| self.array.core.locate(error))?;
        self.buffer.write(&self.array.verbs(), &resolved, repeated.view(&resolved)?).await
    }

    /// Writes all that was written to this writer before, as [`Writer::flush`].
    ///
    /// # Errors
    /// As there.
    pub async fn flush(&self) -> Result<()> {
        self.buffer.flush(&self.array.verbs()).await
    }

    /// Writes all that is kept, and ends.
    ///
    /// # Errors
    /// As [`flush`](Self::flush). What could not be written is lost: flush before to be able to try again.
    pub async fn finish(self) -> Result<()> {
        self.flush().await
    }

    /// The bytes of memory in which elements are kept.
    pub fn kept(&self) -> u64 {
        self.buffer.size()
    }
}
