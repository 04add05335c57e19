//! Writers that buffer parts of chunks until the chunks are whole.

use crate::typed::Repeated;
use crate::write_buffer::WriteBuffer;
use crate::{Array, AsyncArray, Result, WriteFrom};
use zarr_drive::now;
use zarr_dtype::WriteElement;
use zarr_grid::IntoSelection;

/// Writer that takes elements in any order, in pieces of any size, and writes each chunk once ([`Array::writer`]).
///
/// Rows, tiles and single elements that cover a chunk in part (of sharded arrays: a shard) are buffered until all elements of the chunk are
/// there. Then the chunk is written, without being read. Chunks that a single write covers are written at once, directly from the caller's
/// elements.
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
/// At most [`buffer_size`](Self::buffer_size) bytes are buffered, or one chunk if it has more. If there is no room for a further chunk, the
/// least recently written chunks are written in part, as [`Array::write`] does: their stored value is read and patched, on the condition
/// that nobody else changes it in between. A buffered chunk has its elements, and if the new elements are not one box, a byte for each
/// element. Chunks that are being written are not counted; each thread that writes has its own.
///
/// # Who sees what
/// Readers see elements when they are stored: after [`flush`](Self::flush) all elements that were written before, until then some of them.
/// No read looks into the buffer of a writer. Elements that are never written stay as they are stored, even if others write them while
/// their chunk is buffered, if the store has conditional sets. If an element is written twice, the last value stays; a value that is
/// written past the writer while a value is buffered is replaced at the flush.
///
/// # Threads
/// Threads share a writer by reference. Writes of different chunks never wait for each other, and a write waits only for its own requests.
/// [`flush`](Self::flush) waits for what other threads are writing: a task of the pool that decodes and encodes must not call it while
/// other tasks of that pool write.
///
/// # Errors, and the end
/// If a chunk cannot be written, other chunks are written nevertheless, unless 8 fail one after the other. The first error is reported,
/// with its chunk. Elements of earlier writes stay in the buffer, and are written by the next [`flush`](Self::flush). After a failed write,
/// some of its elements may be buffered or stored, and others not. While the store refuses chunks and the buffer is full, further writes
/// are refused, so that the bound of memory holds.
///
/// When a writer is dropped, buffered elements are written as well, unless the thread panics, but only [`finish`](Self::finish) reports an
/// error.
#[derive(Debug)]
pub struct Writer {
    array: Array,
    buffer: WriteBuffer,
}

impl Array {
    /// Makes a writer that takes elements in pieces and writes each chunk once: see [`Writer`]. It writes to the array in its current
    /// shape, and with the options of this array.
    pub fn writer(&self) -> Writer {
        Writer { array: self.clone(), buffer: WriteBuffer::default() }
    }
}

impl AsyncArray {
    /// Makes a writer that takes elements in pieces and writes each chunk once: see [`AsyncWriter`].
    pub fn writer(&self) -> AsyncWriter {
        AsyncWriter { array: self.clone(), buffer: WriteBuffer::default() }
    }
}

impl Writer {
    /// Sets the maximum number of bytes that are buffered, 256 MiB by default. One chunk is buffered even if it has more.
    #[must_use]
    pub fn buffer_size(mut self, bytes: u64) -> Self {
        self.buffer.set_limit(bytes);
        self
    }

    /// Writes elements to a selection, which may be buffered first. Takes the same arguments as [`Array::write`].
    ///
    /// # Errors
    /// The errors of [`Array::write`]; [`ErrorKind::Limit`](crate::ErrorKind::Limit) if there is no memory for a chunk. The error may be of
    /// a chunk of an earlier write.
    pub fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        now(self.buffer.write_elements(&self.array.verbs(), &resolved, elements))
    }

    /// Writes one value to all elements of a selection, which may be buffered first.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub fn fill<T: WriteElement>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        let repeated = Repeated::new(self.array.data_type(), value).map_err(|error| self.array.core.locate(error))?;
        now(self.buffer.write(&self.array.verbs(), &resolved, repeated.view(&resolved)?))
    }

    /// Writes all elements that were given to this writer before, also of chunks that are not whole.
    ///
    /// # Errors
    /// The errors of [`Array::write`]; elements that could not be written stay.
    pub fn flush(&self) -> Result<()> {
        now(self.buffer.flush(&self.array.verbs()))
    }

    /// Writes all buffered elements, and consumes the writer.
    ///
    /// # Errors
    /// The errors of [`flush`](Self::flush). Elements that could not be written are lost: call [`flush`](Self::flush) before to be able to
    /// try again.
    pub fn finish(self) -> Result<()> {
        let flushed = self.flush();
        self.buffer.clear();
        flushed
    }

    /// Number of bytes of memory of the buffered elements.
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

/// Writer for arrays over async stores ([`AsyncArray::writer`]): takes elements in any order and writes each chunk once, as [`Writer`]
/// does. Tasks share it by reference, or in an `Arc`.
///
/// Buffered elements are lost when the writer is dropped, since dropping cannot wait. [`finish`](Self::finish) writes them. If the future
/// of a write or a flush is dropped, chunks that it was writing go back into the buffer, and the next flush writes them, stored or not.
#[derive(Debug)]
pub struct AsyncWriter {
    array: AsyncArray,
    buffer: WriteBuffer,
}

impl AsyncWriter {
    /// Sets the maximum number of bytes that are buffered, as [`Writer::buffer_size`] does.
    #[must_use]
    pub fn buffer_size(mut self, bytes: u64) -> Self {
        self.buffer.set_limit(bytes);
        self
    }

    /// Writes elements to a selection, which may be buffered first, as [`Writer::write`] does.
    ///
    /// # Errors
    /// The errors of [`Writer::write`].
    pub async fn write(&self, selection: impl IntoSelection, elements: impl WriteFrom) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        self.buffer.write_elements(&self.array.verbs(), &resolved, elements).await
    }

    /// Writes one value to all elements of a selection, which may be buffered first.
    ///
    /// # Errors
    /// The errors of [`write`](Self::write).
    pub async fn fill<T: WriteElement>(&self, selection: impl IntoSelection, value: T) -> Result<()> {
        let resolved = self.array.resolve(selection)?;
        let repeated = Repeated::new(self.array.data_type(), value).map_err(|error| self.array.core.locate(error))?;
        self.buffer.write(&self.array.verbs(), &resolved, repeated.view(&resolved)?).await
    }

    /// Writes all elements that were given to this writer before, as [`Writer::flush`] does.
    ///
    /// # Errors
    /// The errors of [`Writer::flush`].
    pub async fn flush(&self) -> Result<()> {
        self.buffer.flush(&self.array.verbs()).await
    }

    /// Writes all buffered elements, and consumes the writer.
    ///
    /// # Errors
    /// The errors of [`flush`](Self::flush). Elements that could not be written are lost: call [`flush`](Self::flush) before to be able to
    /// try again.
    pub async fn finish(self) -> Result<()> {
        self.flush().await
    }

    /// Number of bytes of memory of the buffered elements.
    pub fn kept(&self) -> u64 {
        self.buffer.size()
    }
}
