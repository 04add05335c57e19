//! The least that any library must do, as a program to measure beside the libraries: bytes come from files or go there, and
//! pass the codecs, each thread in its own buffers that stay in the cache.
//!
//! There are no regions: a chunk is decoded to the next part of the output, in one piece, whatever its shape, and
//! encoded from the next part of the input. There is no plan, no index except the index of a shard, no edge,
//! no missing chunk; a file is written under its own name at once, so that a reader may meet half of it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use zarr::codec::{ElementSpec, Pipeline, View, ViewMut, Warnings};
use zarr::grid::Region;
use zarr::meta::NamedConfig;
use zarr::meta::json::Value;
use zarr_bench_protocol::{Failure, Files, Library, Subset};

/// Number of bytes that are read at once where nothing has to be decoded: they stay in the cache until they are copied.
const SLAB: usize = 256 << 10;
/// Number of bytes of chunks that are handed out to a thread together; larger chunks are handed out one by one.
const GROUP: usize = 256 << 10;
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zattrs"];

fn main() -> Result<(), Failure> {
    zarr_bench_protocol::run(&Floor)
}

struct Floor;

/// The stored chunks of an array.
struct Chunks {
    directory: PathBuf,
    /// The files that are there, with chunks in them.
    files: Vec<PathBuf>,
    shape: Vec<u64>,
    item: usize,
    /// The shape of the elements of a file.
    chunk: Vec<u64>,
    /// The shape that the codecs take: of an inner chunk, if there are any.
    part: Vec<u64>,
    codecs: Pipeline,
    /// Whether a file holds inner chunks.
    sharded: bool,
}

impl Chunks {
    fn open(directory: &Path) -> Result<Self, Failure> {
        let store = zarr::store::open(&directory.display().to_string())?;
        let array = zarr::open(&store).array()?;
        let listed = &array.metadata().codecs;
        let sharded = array.is_sharded();
        let inner = match listed.first().filter(|_| sharded) {
            Some(shards) => inner_codecs(shards)?,
            None => listed.clone(),
        };
        let element = ElementSpec::new(array.data_type().clone(), array.fill_value().clone());
        let table = &array.registry().codecs;
        let limits = &array.options().limits;
        let mut files = Vec::new();
        collect(directory, &mut files)?;
        files.sort();
        Ok(Self {
            directory: directory.to_owned(),
            files,
            shape: array.shape().to_vec(),
            item: element.item_size(),
            chunk: array.chunk_grid().largest_chunk_shape().to_vec(),
            part: array.part_shape().to_vec(),
            codecs: Pipeline::build(&inner, &element, table, limits, 0, &Warnings::default())?,
            sharded,
        })
    }

    /// Whether elements are stored as they are, so that they need not come in chunks.
    fn plain(&self) -> bool {
        self.codecs.names() == ["bytes"]
    }

    fn size(&self, shape: &[u64]) -> Result<usize, Failure> {
        Ok(usize::try_from(shape.iter().product::<u64>())? * self.item)
    }

    fn decode(&self, encoded: &[u8], shape: &[u64], out: &mut [u8]) -> Result<(), Failure> {
        let mut out = ViewMut::new(out, self.item, &dims(shape))?.streamed(true);
        Ok(self.codecs.decode(encoded, shape, &Region::whole(shape), &mut out)?)
    }

    /// Reads the file of a chunk to `out`.
    fn read(&self, path: &Path, out: &mut [u8], buffer: &mut Vec<u8>) -> Result<(), Failure> {
        let file = File::open(path)?;
        if self.plain() {
            let mut at = 0;
            for part in out.chunks_mut(SLAB) {
                buffer.resize(part.len(), 0);
                file.read_exact_at(buffer, at)?;
                at += part.len() as u64;
                self.decode(buffer, &[(part.len() / self.item) as u64], part)?;
            }
            return Ok(());
        }
        buffer.resize(usize::try_from(file.metadata()?.len())?, 0);
        file.read_exact_at(buffer, 0)?;
        if !self.sharded {
            return self.decode(buffer, &self.chunk, out);
        }
        let size = self.size(&self.part)?;
        let index = buffer.len().checked_sub(16 * (out.len() / size) + 4).and_then(|at| buffer.get(at..));
        let index = index.ok_or("a shard without an index")?;
        for (entry, part) in index.as_chunks::<8>().0.chunks(2).zip(out.chunks_mut(size)) {
            let [start, len] = [entry[0], entry[1]].map(|number| u64::from_le_bytes(number) as usize);
            self.decode(&buffer[start..start + len], &self.part, part)?;
        }
        Ok(())
    }

    /// Writes a chunk.
    fn write(&self, index: usize, elements: &[u8], buffer: &mut Vec<u8>) -> Result<(), Failure> {
        let path = self.path(index);
        if self.plain() && !self.sharded {
            return Ok(fs::write(path, elements)?);
        }
        buffer.clear();
        let size = self.size(&self.part)?;
        for part in elements.chunks(size) {
            self.codecs.encode(&View::new(part, self.item, &dims(&self.part))?, buffer)?;
        }
        if self.sharded {
            // As long as the index would be.
            buffer.resize(buffer.len() + 16 * (elements.len() / size) + 4, 0);
        }
        Ok(fs::write(path, buffer)?)
    }

    /// Folders of 320 files.
    fn path(&self, index: usize) -> PathBuf {
        self.directory.join("c").join((index / 320).to_string()).join((index % 320).to_string())
    }
}

fn dims(shape: &[u64]) -> Vec<usize> {
    shape.iter().map(|&len| len as usize).collect()
}

fn inner_codecs(shards: &NamedConfig) -> Result<Vec<NamedConfig>, Failure> {
    let listed = shards.configuration.get("codecs").and_then(Value::as_array).ok_or("a shard without codecs")?;
    Ok(listed.iter().map(NamedConfig::from_value).collect::<Option<_>>().ok_or("a codec without a name")?)
}

fn collect(directory: &Path, into: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), into)?;
        } else if !DOCUMENTS.iter().any(|name| *name == entry.file_name()) {
            into.push(entry.path());
        }
    }
    Ok(())
}

/// Runs `work` for each part on all cores, with a buffer for each thread.
fn each<T: Send>(
    parts: Vec<T>,
    work: impl Fn(usize, T, &mut Vec<u8>) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    let parts: Vec<Mutex<Option<T>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let next = AtomicUsize::new(0);
    let thread = || -> Result<(), String> {
        let mut buffer = Vec::new();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(part) = parts.get(index)
        {
            if let Some(part) = part.lock().unwrap_or_else(PoisonError::into_inner).take() {
                work(index, part, &mut buffer).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(thread)).collect();
        let own = thread();
        let others = others.into_iter().map(|other| other.join().map_err(|_| "a thread panicked".to_owned()).flatten());
        std::iter::once(own).chain(others.collect::<Vec<_>>()).collect::<Result<(), String>>()
    })?;
    Ok(())
}

impl Library for Floor {
    type Array = Chunks;
    type Elements = Vec<u8>;

    fn offers(&self, operation: &str) -> bool {
        matches!(operation, "read_into" | "write")
    }

    fn open(&self, directory: &Path) -> Result<Chunks, Failure> {
        Chunks::open(directory)
    }

    fn open_members(&self, _: &Path, _: &[String]) -> Result<Vec<Chunks>, Failure> {
        Err("not offered".into())
    }

    fn open_cached(&self, _: &Path) -> Result<Option<Chunks>, Failure> {
        Ok(None)
    }

    fn open_in_memory(&self, _: Files) -> Result<Chunks, Failure> {
        Err("not offered".into())
    }

    fn shape(&self, array: &Chunks) -> Vec<u64> {
        array.shape.clone()
    }

    fn item_size(&self, array: &Chunks) -> usize {
        array.item
    }

    fn chunk_shape(&self, array: &Chunks) -> Vec<u64> {
        array.chunk.clone()
    }

    fn read_into(&self, array: &Chunks, out: &mut [u8]) -> Result<(), Failure> {
        let size = array.size(&array.chunk)?;
        let group = (GROUP / size).max(1);
        let parts = array.files.chunks(group).zip(out.chunks_mut(group * size)).collect();
        each(parts, |_, (files, out): (&[PathBuf], &mut [u8]), buffer| {
            files.iter().zip(out.chunks_mut(size)).try_for_each(|(file, out)| array.read(file, out, buffer))
        })
    }

    fn read(&self, _: &Chunks, _: &Subset) -> Result<Vec<u8>, Failure> {
        Err("not offered".into())
    }

    fn write(&self, array: &Chunks, _: &Subset, elements: &[u8]) -> Result<(), Failure> {
        let size = array.size(&array.chunk)?;
        for folder in 0..=(elements.len() / size / 320) {
            fs::create_dir_all(array.path(folder * 320).parent().ok_or("no folder")?)?;
        }
        let group = (GROUP / size).max(1);
        each(elements.chunks(group * size).collect(), |index, elements: &[u8], buffer| {
            let mut chunks = elements.chunks(size).enumerate();
            chunks.try_for_each(|(at, chunk)| array.write(index * group + at, chunk, buffer))
        })
    }

    fn input(&self, _: &Chunks, raw: Vec<u8>) -> Result<Vec<u8>, Failure> {
        Ok(raw)
    }

    fn resize(&self, _: &mut Chunks, _: &[u64]) -> Result<(), Failure> {
        Err("not offered".into())
    }

    fn list(&self, _: &Path) -> Result<u64, Failure> {
        Err("not offered".into())
    }
}
