//! Chunks under every codec: read whole and in part, and now and then written to.
//!
//! An input is a line with the document of a v3 array of one chunk, and the bytes of that chunk.

mod bombs;
mod chains;
pub(super) mod layers;
mod repair;
mod seeds;

use super::files::line;
use super::laws;
use crate::random::Random;
use crate::{Fault, mutate};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use zarr_array::{Array, ArrayData, Options, Registry};
use zarr_codec::Limits;
use zarr_grid::{Region, Selection};
use zarr_json::Value;
use zarr_store::{Key, MemoryStore, Store, StoreExt};

pub(super) use seeds::seeds;

/// Number of inputs of which one is a bomb, since a bomb takes as long as many other inputs.
const BOMBS: usize = 4096;
/// Codecs whose elements may differ after encoding and decoding.
const LOSSY: [&str; 8] =
    ["bitround", "quantize", "zfp", "fixedscaleoffset", "astype", "cast_value", "delta", "scale_offset"];
/// Greatest number of opened arrays in the cache.
const KEPT: usize = 1024;

/// Returns the registry of all codecs, including `PICKLE`, which must be added.
pub(super) fn registry() -> Arc<Registry> {
    static REGISTRY: LazyLock<Arc<Registry>> = LazyLock::new(|| {
        let mut registry = Registry::clone(&zarr::registry::default());
        registry.codecs.add(zarr::registry::PICKLE);
        Arc::new(registry)
    });
    Arc::clone(&REGISTRY)
}

/// Returns options with limits that no fixture reaches, so that an input that needs much memory is refused early.
pub(super) fn limited() -> Options {
    let mut limits = Limits::default();
    limits.max_chunk = 32 << 20;
    limits.max_index = 16 << 20;
    Options::default().limits(limits)
}

/// Opens the array that a document describes; `None` if that fails. The last arrays are cached, since most inputs have the document of a
/// seed.
fn opened(document: &str) -> Option<Array> {
    thread_local! {
        static OPENED: RefCell<HashMap<String, Option<Array>>> = RefCell::default();
    }
    OPENED.with_borrow_mut(|opened| {
        if let Some(array) = opened.get(document) {
            return array.clone();
        }
        let array = open(document);
        if opened.len() >= KEPT {
            opened.clear();
        }
        opened.insert(document.to_owned(), array.clone());
        array
    })
}

fn open(document: &str) -> Option<Array> {
    let store = MemoryStore::new();
    store.set_all(&Key::new("zarr.json").ok()?, document.as_bytes()).ok()?;
    let store: Arc<dyn Store> = Arc::new(store);
    let found = zarr::hierarchy::open_node(&*store, "/", None).ok()?;
    let array = Array::from_found(&store, found, &registry(), limited()).ok()?;
    laws::array::check(&array);
    Some(array)
}

pub(super) fn run(input: &[u8]) -> bool {
    let (document, chunk) = line(input);
    let Some(array) = opened(&document) else { return false };
    read(&array, chunk).is_ok()
}

/// Reads the whole chunk, an element and a part of it, and writes to one chunk in eight.
fn read(array: &Array, chunk: &[u8]) -> zarr_array::Result<()> {
    let index = vec![0; array.shape().len()];
    if array.chunk_grid().check_index(&index).is_err() {
        return Ok(());
    }
    array.write_chunk_bytes(&index, chunk)?;
    let region = array.chunk_grid().chunk_region(&index);
    let part = |from: fn(u64) -> u64, len: fn(u64) -> u64| {
        let axes = region.axes().iter().map(|axis| {
            let start = axis.start + from(axis.len);
            start..(start + len(axis.len)).min(axis.start + axis.len)
        });
        Selection::Region(Region::from_ranges(&axes.collect::<Vec<_>>()))
    };
    let element = array.read_data(part(|_| 0, |_| 1));
    let some = array.read_data(part(|len| len / 3, |len| len.div_ceil(2)));
    let all = array.read_data(Selection::Region(region.clone()));
    let sum = chunk.iter().fold(0_u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
    if sum.is_multiple_of(8)
        && let Ok(element) = &element
    {
        array.write(part(|_| 0, |_| 1), element.view())?;
    }
    if let Ok(all) = &all
        && sum % 4 == 2
        && !LOSSY.iter().any(|lossy| document_names(array, lossy))
    {
        // Elements that were read can be written, and are the same then.
        let whole = || Selection::Region(region.clone());
        if array.write(whole(), all.view()).is_ok() {
            let again = array.read_data(whole())?;
            same_elements(&again, all, &region, |_| 0, |len| len);
        }
    }
    let (third, half) = (|len: u64| len / 3, |len: u64| len.div_ceil(2));
    if let (Ok(part), Ok(all)) = (&some, &all) {
        same_elements(part, all, &region, third, half);
    }
    if let (Ok(part), Ok(all)) = (&element, &all) {
        same_elements(part, all, &region, |_| 0, |_| 1);
    }
    // Of a chunk at the edge of the array, only the elements in the array are read.
    if all.is_ok() && sum % 2 == 1 && region.shape() == array.chunk_grid().chunk_shape(&index) {
        laws::refused::check(&mut Random::new(chunk.len() as u64 ^ u64::from(sum) << 32), array, &index, chunk);
    }
    if let Ok(all) = &all
        && sum % 8 == 4
    {
        laws::alone::check(array, all);
    }
    if let Ok(all) = &all
        && region.shape() == array.chunk_grid().chunk_shape(&index)
    {
        laws::sizes::check(array, all, chunk);
    }
    for data in [element?, some?, all?] {
        laws::elements::check(&data);
        if !data.is_empty() {
            let _: Value = data.json(0);
        }
    }
    Ok(())
}

/// Returns whether a name occurs among the codecs of an array.
fn document_names(array: &Array, name: &str) -> bool {
    array.metadata().codecs.iter().any(|codec| codec.to_value().to_string().contains(name))
}

/// Compares the elements of a part with those of the whole.
fn same_elements(part: &ArrayData, all: &ArrayData, region: &Region, from: fn(u64) -> u64, len: fn(u64) -> u64) {
    let mut positions = vec![0_usize];
    for axis in region.axes() {
        let start = from(axis.len);
        let end = (start + len(axis.len)).min(axis.len);
        positions = positions
            .into_iter()
            .flat_map(|position| (start..end).map(move |at| position * axis.len as usize + at as usize))
            .collect();
    }
    assert_eq!(part.len(), positions.len(), "elements of a part");
    let size = all.data_type().item_size();
    let item = |data: &ArrayData, position: usize| {
        data.items().get(position * size..(position + 1) * size).map(<[u8]>::to_vec)
    };
    for (at, position) in positions.into_iter().enumerate() {
        let same = if all.heap().is_some() {
            part.json(at).semantically_eq(&all.json(position))
        } else {
            item(part, at) == item(all, position)
        };
        assert!(same, "element {position} is {} read in part, {} read whole", part.json(at), all.json(position));
    }
}

/// Changes the chunk below some of its codecs, or occasionally the document.
pub(super) fn mutate(random: &mut Random, input: &[u8]) -> Vec<u8> {
    let (document, chunk) = line(input);
    if random.below(BOMBS) == 0
        && let Some(codec) = opened(&document).and_then(|array| array.metadata().codecs.last().cloned())
        && let Some(bomb) = bombs::input(random, &codec.name)
    {
        return bomb;
    }
    if random.below(8) == 0
        && let Ok(value) = Value::from_json(&document)
    {
        let document = mutate::document(random, document.as_bytes(), &value);
        return [&document[..], b"\n", chunk].concat();
    }
    let chunk = match opened(&document) {
        Some(array) => layers::mutate(random, &array, chunk),
        None => mutate::bytes(random, chunk),
    };
    [document.as_bytes(), b"\n", &chunk].concat()
}

/// Changes entries of the index of a shard.
pub(super) fn mutate_index(random: &mut Random, input: &[u8]) -> Vec<u8> {
    let (document, chunk) = line(input);
    let Some(array) = opened(&document) else { return input.to_vec() };
    [document.as_bytes(), b"\n", &layers::mutate_index(random, &array, chunk)].concat()
}

/// Returns up to `most` stored chunks of an array, each as an input.
fn inputs_of(array: &Array, most: usize) -> Result<Vec<Vec<u8>>, Fault> {
    let mut inputs = Vec::new();
    for index in array.stored_chunks().unwrap_or_default().into_iter().take(most) {
        if let Ok(Some(chunk)) = array.read_chunk_bytes(&index) {
            let metadata = array.metadata();
            let shape = array.chunk_grid().chunk_shape(&index);
            let codecs: Vec<_> = metadata.codecs.iter().map(|codec| codec.to_value()).collect();
            let fill = metadata.fill_value.clone();
            inputs.push(seeds::input(metadata.data_type.to_value(), fill, &shape, codecs, &chunk));
        }
    }
    Ok(inputs)
}
