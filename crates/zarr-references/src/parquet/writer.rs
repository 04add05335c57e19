//! Writing of references as a folder of documents and of files in Parquet.

use std::collections::BTreeMap;
use std::sync::Arc;

use zarr_json::{ParseOptions, Value};
use zarr_store::{Error, Key, Prefix, Result, Store, StoreExt};
use zarr_store_virtual::{ChunkKeyForm, Separator, VirtualStore};

use super::CONTENT;
use super::encode::Rows;
use super::folder::METADATA;
use crate::arrays::{Arrays, split};
use crate::{Reference, References, WriteOptions, WrittenReferences};

/// Writer of references in Parquet, which fsspec's `LazyReferenceMapper` and [`open_parquet`](crate::open_parquet) read.
///
/// The caller gives all documents first, which have to be of Zarr v2, and then the chunks of each array in order. A file is written after
/// its last chunk, so that at most `record_size` references are in memory. `.zmetadata` is written last.
///
/// ```
/// use std::sync::Arc;
/// use zarr_references::{ParquetWriter, Reference, ReferencesOptions, open_parquet};
/// use zarr_store::{Bytes, Key, MemoryStore, Prefix, StoreExt};
///
/// let files = Arc::new(MemoryStore::new());
/// files.set_all(&Key::new("data.bin")?, b"HEAD12345678")?;
/// let folder = Prefix::new("refs.parq/")?;
/// let mut writer = ParquetWriter::new(files.clone(), folder.clone(), 1000)?;
/// writer.document(".zgroup", br#"{"zarr_format": 2}"#)?;
/// writer.document("a/.zarray", br#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i2", "compressor": null}"#)?;
/// let mut array = writer.array("a")?;
/// array.push(0, &Reference::range("data.bin", 4, 4))?;
/// array.push(1, &Reference::Inline(Bytes::from_static(b"9999")))?;
/// array.finish()?;
/// writer.finish()?;
///
/// let store = open_parquet(files, &folder, &ReferencesOptions::default())?;
/// assert_eq!(store.get_all(&Key::new("a/0")?)?.as_deref(), Some(&b"1234"[..]));
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Debug)]
pub struct ParquetWriter {
    store: Arc<dyn Store>,
    folder: Prefix,
    record_size: u64,
    documents: BTreeMap<String, Value>,
    arrays: Arrays,
    /// Number of bytes of the files of references that were written.
    bytes: u64,
}

impl ParquetWriter {
    /// Number of references in a file, as kerchunk has it by default.
    pub const RECORD_SIZE: u64 = 100_000;

    /// Creates a writer of `record_size` references in each file. The folder must not contain files of references.
    ///
    /// # Errors
    /// [`Error::Argument`] if `record_size` is 0 or more than 2^22.
    pub fn new(store: Arc<dyn Store>, folder: Prefix, record_size: u64) -> Result<Self> {
        let writer =
            Self { store, folder, record_size, documents: BTreeMap::new(), arrays: Arrays::default(), bytes: 0 };
        match record_size {
            1..=super::MAX_ROWS => Ok(writer),
            found => Err(writer.refuse(format!("found a record size of {found}, expected 1 to {}", super::MAX_ROWS))),
        }
    }

    fn refuse(&self, message: String) -> Error {
        Error::Argument { store: format!("{}{}", self.store, self.folder), message }
    }

    /// Adds the document at `key`.
    ///
    /// # Errors
    /// [`Error::Argument`] if fsspec would not find the document in Parquet: it is of Zarr v3, describes an array at the root, or has chunk
    /// keys with slashes; and if `text` is not JSON, or the document was added before.
    pub fn document(&mut self, key: &str, text: &[u8]) -> Result<()> {
        let (prefix, name) = split(key);
        if ![".zarray", ".zattrs", ".zgroup"].contains(&name) {
            let expected = "those of Zarr v2, since fsspec reads no others in Parquet";
            return Err(self.refuse(format!("found the document {key}, expected {expected}")));
        }
        if name == ".zarray" && prefix.is_empty() {
            let expected = "arrays in groups, since fsspec reads no others in Parquet";
            return Err(self.refuse(format!("found an array at the root, expected {expected}")));
        }
        if self.documents.contains_key(key) {
            return Err(self.refuse(format!("found the document {key} twice")));
        }
        Key::new(key)?;
        let parsed = zarr_json::parse(text, ParseOptions::ALL);
        let document = parsed.map_err(|error| self.refuse(format!("document {key}: {error}")))?.value;
        self.arrays.note(key, text).map_err(|fault| self.refuse(fault.to_string()))?;
        if let Some(array) = self.arrays.at(prefix).filter(|_| name == ".zarray")
            && array.form != ChunkKeyForm::V2(Separator::Dot)
            && array.counts.len() > 1
        {
            let expected = "points, since fsspec reads no others in Parquet";
            return Err(self.refuse(format!("document {key}: found keys of chunks with slashes, expected {expected}")));
        }
        self.documents.insert(key.to_owned(), document);
        Ok(())
    }

    /// Returns a writer of the chunks of the array at `path`, whose document was added.
    ///
    /// # Errors
    /// [`Error::Argument`] if the document of the array was not added.
    pub fn array(&mut self, path: &str) -> Result<ArrayWriter<'_>> {
        let array = self.arrays.at(&format!("{path}/"));
        let array = array.ok_or_else(|| self.refuse(format!("array {path}: found no document of it")))?;
        // The product does not overflow: it was checked when the document was added.
        let count = array.counts.iter().product();
        let at = self.folder.join_prefix(&Prefix::new(&array.prefix)?);
        Ok(ArrayWriter { writer: self, at, count, next: 0, rows: Rows::default() })
    }

    /// Writes `.zmetadata`, and returns the number of bytes of all files that were written.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn finish(self) -> Result<u64> {
        let mut text = r#"{"metadata":{"#.to_owned();
        for (at, (key, document)) in self.documents.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "," });
            text.push_str(&format!("{}:{document}", Value::from(key.as_str())));
        }
        text.push_str(&format!("}},\"record_size\":{}}}", self.record_size));
        self.store.set_all(&self.folder.join(METADATA)?, text.as_bytes())?;
        Ok(self.bytes + text.len() as u64)
    }
}

/// Writer of the references of the chunks of one array.
#[derive(Debug)]
pub struct ArrayWriter<'w> {
    writer: &'w mut ParquetWriter,
    /// Prefix of the files of references of the array.
    at: Prefix,
    count: u64,
    /// Smallest number of a chunk that may be added next.
    next: u64,
    /// Rows of the current file of references.
    rows: Rows,
}

impl ArrayWriter<'_> {
    /// Adds the reference of the chunk with the number `index` in C order. Numbers have to increase; chunks that are not added are missing.
    ///
    /// # Errors
    /// [`Error::Argument`] if the array has no chunk `index`, if `index` is not greater than the last one, if an offset or a length has
    /// more than 63 bits, or if the file of references would be too large to be read; and the errors of the store.
    pub fn push(&mut self, index: u64, reference: &Reference) -> Result<()> {
        let refuse = |writer: &ParquetWriter, what: String| writer.refuse(format!("{}chunk {index}: {what}", self.at));
        if index >= self.count || index < self.next {
            let what = format!("found {} chunks in the array, and chunk {} as the next", self.count, self.next);
            return Err(refuse(self.writer, what));
        }
        let size = self.writer.record_size;
        let (before, record) = (self.next / size, index / size);
        let number = |value: u64| i64::try_from(value);
        let row = usize::try_from(index % size).unwrap_or(usize::MAX);
        let place = match reference {
            // An empty range at offset 0 would be read as the whole file.
            Reference::Inline(_) | Reference::Target { range: Some((0, 0)), .. } => Ok(None),
            Reference::Target { url, range: None } => Ok(Some((url.as_str(), 0, 0))),
            Reference::Target { url, range: Some((offset, length)) } => {
                number(*offset).and_then(|offset| Ok(Some((url.as_str(), offset, number(*length)?))))
            }
        };
        let place =
            place.map_err(|_| refuse(self.writer, "found an offset or a length of more than 63 bits".to_owned()))?;
        if record > before {
            self.flush(before)?;
        }
        self.rows.fill(row);
        match (place, reference) {
            (Some((url, offset, length)), _) => self.rows.push_path(url, offset, length),
            (None, Reference::Inline(bytes)) => self.rows.push_raw(bytes),
            (None, _) => self.rows.push_raw(b""),
        }
        self.next = index + 1;
        if self.rows.size() > CONTENT {
            let what =
                format!("found more than {CONTENT} bytes in a file of references, expected a smaller record size");
            return Err(self.writer.refuse(format!("{}chunk {index}: {what}", self.at)));
        }
        if self.next.is_multiple_of(size) {
            self.flush(record)?;
        }
        Ok(())
    }

    /// Writes the last file of references.
    ///
    /// # Errors
    /// The errors of the store.
    pub fn finish(mut self) -> Result<()> {
        if !self.rows.is_empty() {
            self.flush(self.next / self.writer.record_size)?;
        }
        Ok(())
    }

    /// Writes the rows as the file of references with the number `record`, unless all are missing chunks.
    fn flush(&mut self, record: u64) -> Result<()> {
        let mut rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let size = self.writer.record_size;
        let due = self.count.saturating_sub(record.saturating_mul(size)).min(size);
        rows.fill(usize::try_from(due).unwrap_or(usize::MAX));
        let bytes = rows.encode().map_err(|error| self.writer.refuse(format!("zstd: {error}")))?;
        self.writer.store.set_all(&self.at.join(&format!("refs.{record}.parq"))?, &bytes)?;
        self.writer.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// Writes references to the chunks of `store` as Parquet, together with its documents, into a folder that contains no files of references.
/// Returns the numbers of references, and the number of bytes of the files.
///
/// # Errors
/// The errors of [`References::of`], of [`ParquetWriter::document`] and of `files`.
pub fn write_parquet(
    store: &VirtualStore,
    options: &WriteOptions<'_>,
    files: Arc<dyn Store>,
    folder: Prefix,
) -> Result<(WrittenReferences, u64)> {
    let mut writer = ParquetWriter::new(files, folder, ParquetWriter::RECORD_SIZE)?;
    // Consolidated metadata repeats the other documents.
    for (key, document) in store.documents().filter(|(key, _)| key.as_str() != METADATA) {
        writer.document(key.as_str(), document)?;
    }
    let mut references = References::new(store, options);
    for array in store.arrays() {
        let mut chunks = writer.array(array.prefix().trim_end_matches('/'))?;
        for index in array.table().stored() {
            if let Some(reference) = references.of(array, index)? {
                chunks.push(index, &reference)?;
            }
        }
        chunks.finish()?;
    }
    Ok((references.written(), writer.finish()?))
}
