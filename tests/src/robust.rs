//! Damaged metadata and damaged chunks: errors or values come of them, never a panic.

use crate::expected::Outcome;
use crate::fixtures::{ARCHIVES, cases};
use crate::random::Random;
use crate::{Fault, mutate, rewrite};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zarr_array::{Array, Limits, Options};
use zarr_grid::{ChunkIndex, Region, Selection};
use zarr_meta::json::{Leniency, Value, parse};
use zarr_meta::{Dialect, NodePath};
use zarr_store::{Bytes, Key, MemoryStore, Store, StoreExt};

/// What came of damage.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damage {
    /// How many damaged inputs there were.
    pub inputs: u64,
    /// How many of them were errors.
    pub errors: u64,
    /// How long it took.
    pub time: Duration,
}

/// Opens `count` damaged forms of the fixtures' metadata documents, and reads an element of the arrays that open.
///
/// # Errors
/// Says which input led to a panic.
pub fn damaged_documents(count: u64) -> Result<Damage, Fault> {
    let mut documents = Vec::new();
    for archive in ARCHIVES {
        for case in cases(archive)? {
            collect_documents(&case.folder.join("store"), &mut documents)?;
        }
    }
    documents.sort();
    documents.dedup();
    on_all_threads(count, |seeds, damage| {
        for seed in seeds {
            let mut random = Random::new(seed);
            let Some((name, text)) = random.pick(&documents) else { continue };
            let leniency = Leniency { bare_nan: true, trailing_comma: true, duplicate_names: true };
            let value = parse(text, leniency).map(|parsed| parsed.value).unwrap_or_default();
            let damaged = mutate::document(&mut random, text, &value);
            damage.take(
                || open_document(name, &damaged),
                || format!("document {name} with seed {seed}: {}", String::from_utf8_lossy(&damaged)),
            )?;
        }
        Ok(())
    })
}

/// Reads `count` damaged forms of the fixtures' chunks; writes a part of every eighth.
///
/// # Errors
/// Says which input led to a panic.
pub fn damaged_chunks(count: u64) -> Result<Damage, Fault> {
    let chunks = collect_chunks()?;
    on_all_threads(count, |seeds, damage| {
        // Each thread has stores of its own to write to.
        let copies = chunks.iter().map(|(array, index, bytes)| Ok((rewrite::copy_empty(array)?, index, bytes)));
        let copies = copies.collect::<Result<Vec<_>, Fault>>()?;
        for seed in seeds {
            let mut random = Random::new(seed);
            let Some((array, index, bytes)) = random.pick(&copies) else { continue };
            let damaged = mutate::bytes(&mut random, bytes);
            damage.take(
                || read_damaged(array, index, &damaged, seed.is_multiple_of(8)),
                || {
                    let codecs: Vec<_> = array.metadata().codecs.iter().map(|codec| &codec.name).collect();
                    format!("a chunk of {} with seed {seed}, codecs {codecs:?}: {damaged:02x?}", array.path())
                },
            )?;
        }
        Ok(())
    })
}

impl Damage {
    /// Counts one input.
    fn take(&mut self, run: impl FnOnce() -> Result<(), Fault>, input: impl FnOnce() -> String) -> Result<(), Fault> {
        self.inputs += 1;
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                self.errors += 1;
                Ok(())
            }
            Err(_) => Err(format!("panicked on {}", input())),
        }
    }
}

/// Divides `count` seeds among as many threads as there are cores.
fn on_all_threads(
    count: u64,
    run: impl Fn(std::ops::Range<u64>, &mut Damage) -> Result<(), Fault> + Sync,
) -> Result<Damage, Fault> {
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let results: Vec<Result<Damage, Fault>> = std::thread::scope(|scope| {
        let share = |thread: u64| count * thread / threads..count * (thread + 1) / threads;
        let run = &run;
        let spawn = |thread| {
            scope.spawn(move || {
                let mut damage = Damage::default();
                run(share(thread), &mut damage).map(|()| damage)
            })
        };
        let threads: Vec<_> = (0..threads).map(spawn).collect();
        let lost = || Err("a thread panicked".to_owned());
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut sum = Damage::default();
    for damage in results {
        let damage = damage?;
        sum.inputs += damage.inputs;
        sum.errors += damage.errors;
    }
    sum.time = start.elapsed();
    Ok(sum)
}

/// The metadata documents below a folder: their names without the path, and their content.
fn collect_documents(folder: &Path, into: &mut Vec<(String, Vec<u8>)>) -> Result<(), Fault> {
    // A case in a zip file has no folder.
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect_documents(&path, into)?;
        } else if matches!(name.as_str(), "zarr.json" | ".zarray" | ".zgroup" | ".zattrs" | ".zmetadata") {
            let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            into.push((name, text));
        }
    }
    Ok(())
}

/// Limits that no fixture reaches, so that damage which asks for much memory is refused early.
fn limited() -> Options {
    let mut limits = Limits::default();
    limits.max_chunk = 64 << 20;
    limits.max_index = 16 << 20;
    Options { limits, ..Options::default() }
}

/// Opens the node whose document this is, and does with it what can be done without chunks.
fn open_document(name: &str, document: &[u8]) -> Result<(), Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    let store = MemoryStore::new();
    let set = |name: &str, document: &[u8]| {
        let key = Key::new(name).map_err(|error| error.to_string())?;
        store.set_all(&key, document).map(drop).map_err(|error| error.to_string())
    };
    if matches!(name, ".zattrs" | ".zmetadata") {
        set(".zgroup", br#"{"zarr_format": 2}"#)?;
    }
    set(name, document)?;
    if name == ".zmetadata" {
        let consolidated = zarr_meta::Consolidated::parse_v2(name, document).map_err(|error| error.to_string())?;
        let consolidated = consolidated.unwrap_or_default();
        for (path, documents) in consolidated.nodes(&NodePath::root()) {
            rewrite::parse(Dialect::V2, &path, &documents)?;
        }
        return consolidated.check().map_err(|error| error.to_string());
    }
    let store: Arc<dyn Store> = Arc::new(store);
    let found = zarr::open_node(&*store, "/", None).map_err(fault)?;
    found.attributes().map_err(ToString::to_string)?;
    let _ = zarr_meta::documents(found.dialect, &found.path, &found.node, Some(&found.documents));
    if found.node.as_array().is_none() {
        return zarr::walk(&*store, "/", None).map(drop).map_err(fault);
    }
    let array = Array::from_found(&store, found, &zarr::registry(), limited()).map_err(fault)?;
    let last =
        array.shape().iter().map(|len| len.checked_sub(1).map(|last| last..last + 1)).collect::<Option<Vec<_>>>();
    if let Some(last) = last {
        let element = array.read_data(Selection::Region(Region::from_ranges(&last))).map_err(fault)?;
        element.json(0);
        element.text(0);
    }
    Ok(())
}

/// Up to four chunks of each array of the fixtures that can be read.
fn collect_chunks() -> Result<Vec<(Array, ChunkIndex, Bytes)>, Fault> {
    let mut chunks = Vec::new();
    for archive in ARCHIVES {
        for case in cases(archive)? {
            let Outcome::Good(contents) = &case.expected.outcome else { continue };
            let Ok(store) = zarr::open_store(&case.url()) else { continue };
            for path in contents.arrays.keys() {
                // What is left in this build cannot be opened.
                let Ok(array) = zarr::open_array(&store, path) else { continue };
                let Ok(stored) = array.stored_chunks() else { continue };
                for index in stored.into_iter().take(4) {
                    if let Ok(Some(bytes)) = array.read_chunk_bytes(&index) {
                        chunks.push((array.with(limited()).map_err(|error| error.to_string())?, index, bytes));
                    }
                }
            }
        }
    }
    Ok(chunks)
}

/// Reads a damaged chunk, wholly and an element of it, and perhaps writes to it.
fn read_damaged(array: &Array, index: &ChunkIndex, damaged: &[u8], write: bool) -> Result<(), Fault> {
    let fault = |error: zarr_array::Error| error.to_string();
    array.write_chunk_bytes(index, damaged).map_err(fault)?;
    let region = array.chunk_grid().chunk_region(index);
    let first: Vec<_> = region.axes().iter().map(|axis| axis.start..axis.start + 1).collect();
    let first = || Selection::Region(Region::from_ranges(&first));
    let element = array.read_data(first());
    let all = array.read_data(Selection::Region(region.clone()));
    if write && let Ok(element) = &element {
        array.write_from(first(), element.view()).map_err(fault)?;
    }
    for data in [element.map_err(fault)?, all.map_err(fault)?] {
        if data.variable().is_some_and(|mut elements| elements.any(|element| element.len() > 64 << 20)) {
            return Err("an element larger than the limits allow".to_owned());
        }
        let _: Value = data.json(0);
    }
    Ok(())
}
