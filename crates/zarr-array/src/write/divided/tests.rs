//! Tests that shards that are divided have the bytes of shards that are encoded as a whole.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::{Array, ErrorKind, NewArray, Options, Registry, Store};
use proptest::prelude::*;
use std::num::NonZeroUsize;
use std::ops::Range;
use zarr_codec::CodecEntry;
use zarr_drive::Job;
use zarr_grid::Region;
use zarr_store::{AccessProfile, Capabilities, Counted, Durability, MemoryStore, StoreExt};

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const ZSTD: &str = r#"{"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#;
const CRC: &str = r#"{"name": "crc32c"}"#;
const CRC_BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}"#;
const TURN: &str = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;

fn shard(chunk: [u64; 2], inner: &str, location: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunk:?}, "codecs": [{inner}],
            "index_codecs": [{BYTES}, {CRC}], "index_location": "{location}"}}}}"#
    )
}

/// Array of one shard of 4 MiB, whose last rows lie beyond the array, for `threads` threads.
fn array(codecs: &str, threads: usize) -> (Arc<Counted<MemoryStore>>, Array) {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = Arc::clone(&counted) as _;
    let mut registry = Registry::default();
    let codecs_of = [zarr_codec_bytes::BYTES, zarr_codec_sharding::SHARDING_INDEXED, zarr_codec_zstd::ZSTD];
    let others: [CodecEntry; 2] = [zarr_codec_checksum::CRC32C, zarr_codec_transpose::TRANSPOSE];
    codecs_of.into_iter().chain(others).for_each(|codec| registry.codecs.add(codec));
    let new = NewArray::new(&[1000, 1024], "uint32").chunks(&[1024, 1024]).codecs(codecs).unwrap();
    let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
    let options = Options::default().trust_missing(true).threads(NonZeroUsize::new(threads));
    let array = array.with(options).unwrap();
    counted.take();
    (counted, array)
}

fn key() -> Key {
    Key::new("a/c/0/0").unwrap()
}

/// Elements of which about every fourth square of 64 x 64 has nothing but fill values.
fn elements(rows: &Range<u64>, columns: &Range<u64>, seed: u64) -> Vec<u32> {
    let element =
        |y: u64, x: u64| if (y / 64 + x / 64 + seed).is_multiple_of(4) { 0 } else { (y * x + seed * y) as u32 };
    rows.clone().flat_map(|y| columns.clone().map(move |x| element(y, x))).collect()
}

#[test]
fn divided_shards_have_the_bytes_of_whole_ones() {
    let zstd = format!("{BYTES}, {ZSTD}");
    let nested = shard([32, 64], &format!("{BYTES}, {CRC}"), "start");
    let encodings = [
        shard([64, 64], BYTES, "end"),
        shard([128, 32], &zstd, "start"),
        shard([256, 128], &nested, "end"),
        format!("{TURN}, {}", shard([64, 128], &format!("{TURN}, {zstd}"), "start")),
        format!("{}, {CRC}", shard([64, 64], &zstd, "end")),
    ];
    // All of the chunk, and then parts of it: many inner chunks in part, whole rows of them, few.
    let writes = [(0..1000, 0..1024), (13..900, 7..1000), (128..768, 0..1024), (0..70, 0..70), (0..1000, 0..1024)];
    for codecs in encodings {
        let codecs = format!("[{codecs}]");
        let (divided, two) = array(&codecs, 2);
        let (whole, one) = array(&codecs, 1);
        let mut model = vec![0_u32; 1000 * 1024];
        for (seed, (rows, columns)) in writes.iter().enumerate() {
            let data = elements(rows, columns, seed as u64);
            for array in [&two, &one] {
                array.write((rows.clone(), columns.clone()), &data).unwrap();
            }
            // A chunk that is written whole is not read.
            let gets = u64::from((rows, columns) != (&(0..1000), &(0..1024)));
            let (counts, others) = (divided.take(), whole.take());
            assert_eq!((counts.gets, counts.sets, counts.erases), (gets, 1, 0), "{codecs}");
            assert_eq!(counts, others, "{codecs}");
            let stored = [&divided, &whole].map(|store| store.inner().get_all(&key()).unwrap().unwrap());
            assert!(stored[0] == stored[1], "{codecs}: rows {rows:?}, columns {columns:?}");
            for (row, new) in rows.clone().zip(data.chunks((columns.end - columns.start) as usize)) {
                let start = (row * 1024 + columns.start) as usize;
                model[start..start + new.len()].copy_from_slice(new);
            }
            assert!(two.read::<u32>(..).unwrap() == model, "{codecs}: rows {rows:?}, columns {columns:?}");
            divided.take();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_region_has_the_same_bytes(
        rows in (0_u64..1000, 1_u64..1000),
        columns in (0_u64..1024, 1_u64..1024),
        which in 0_usize..3,
        threads in 2_usize..6,
    ) {
        let codecs = [shard([64, 64], BYTES, "end"), shard([32, 256], CRC_BYTES, "start"), shard([512, 64], BYTES, "start")];
        let codecs = format!("[{}]", codecs[which]);
        let (divided, several) = array(&codecs, threads);
        let (whole, one) = array(&codecs, 1);
        let (rows, columns) = (rows.0..(rows.0 + rows.1).min(1000), columns.0..(columns.0 + columns.1).min(1024));
        for (seed, (rows, columns)) in [(rows.clone(), columns.clone()), (0..1000, 0..1024), (rows, columns)].iter().enumerate() {
            let data = elements(rows, columns, seed as u64);
            for array in [&several, &one] {
                array.write((rows.clone(), columns.clone()), &data).unwrap();
            }
            let stored = [&divided, &whole].map(|store| store.inner().get_all(&key()).unwrap());
            prop_assert!(stored[0] == stored[1], "{}: rows {:?}, columns {:?}", codecs, rows, columns);
        }
    }
}

/// A job that writes a shard has in memory only the runs that are being encoded, and the runs before them.
#[test]
fn runs_are_appended_while_the_next_are_encoded() {
    let (store, array) = array(&format!("[{}]", shard([64, 64], BYTES, "start")), 2);
    let data = elements(&(0..1000), &(0..1024), 1);
    let bytes: Vec<u8> = data.iter().flat_map(|element| element.to_ne_bytes()).collect();
    let view = View::new(&bytes, 4, &[1000, 1024]).unwrap();
    let region = Region::from_ranges(&[0..1000, 0..1024]);
    let all = Capabilities::none().write(true).conditional(true);
    let mut job = WriteJob::new(&array.core, &region, view, Durability::None, (all, &AccessProfile::MEMORY));
    let (mut replies, mut windows, mut appended) = (Vec::new(), 0, 0);
    loop {
        match job.step(&mut replies).unwrap() {
            Next::Ask(requests) => {
                replies.clear();
                for request in requests {
                    if let Request::AppendToSet { pieces, .. } = &request {
                        appended += pieces.len();
                    }
                    replies.push(zarr_drive::answer(&store, request).unwrap());
                }
            }
            Next::Fork(forks) => {
                let appends: Vec<_> = forks.iter().filter(|fork| matches!(fork, WriteJob::Append(_))).collect();
                assert_eq!(appends.len(), usize::from(windows > 0), "the window before");
                assert!(forks.len() - appends.len() <= 4, "two runs for each of two threads");
                for fork in &appends {
                    if let WriteJob::Append(Request::AppendToSet { pieces, .. }) = fork {
                        assert_eq!(pieces.len(), 4);
                        appended += pieces.len();
                    }
                }
                forks.into_iter().for_each(|fork| zarr_drive::run(&store, fork).unwrap());
                replies.clear();
                windows += 1;
            }
            Next::Done(()) => break,
            Next::FetchInto(_) => unreachable!("nothing is read"),
        }
    }
    assert_eq!((windows, appended), (13, 52), "of five inner chunks each");
    assert_eq!(array.read::<u32>(..).unwrap(), data);
}

#[test]
fn one_shard_is_divided_where_there_are_threads_for_it() {
    let forks = |codecs: &str, threads, rows: Range<u64>| {
        let (_, array) = array(&format!("[{codecs}]"), threads);
        let data = vec![7_u8; (rows.end - rows.start) as usize * 4096];
        let view = View::new(&data, 4, &[(rows.end - rows.start) as usize, 1024]).unwrap();
        let region = Region::from_ranges(&[rows, 0..1024]);
        let all = Capabilities::none().write(true).conditional(true);
        let mut job = WriteJob::new(&array.core, &region, view, Durability::None, (all, &AccessProfile::MEMORY));
        let Next::Ask(requests) = job.step(&mut Vec::new()).unwrap() else { return 0 };
        if !matches!(requests[..], [Request::BeginSet { .. }]) {
            return 0;
        }
        let stream = MemoryStore::new().begin_set(&key(), 0, &SetOptions::default()).unwrap();
        match job.step(&mut vec![Reply::Begun(stream)]).unwrap() {
            Next::Fork(runs) => runs.len(),
            _ => 0,
        }
    };
    let codecs = shard([64, 64], BYTES, "end");
    assert_eq!(forks(&codecs, 2, 0..1000), 4);
    assert_eq!(forks(&codecs, 1, 0..1000), 0);
    // No shard, or one whose bytes are encoded once more.
    assert_eq!(forks(BYTES, 2, 0..1000), 0);
    assert_eq!(forks(&format!("{codecs}, {CRC}"), 2, 0..1000), 0);
    // One inner chunk.
    assert_eq!(forks(&shard([1024, 1024], BYTES, "end"), 2, 0..1000), 0);
}

#[test]
fn texts_count_with_their_bytes() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let mut registry = Registry::default();
    let codecs = [zarr_codec_bytes::BYTES, zarr_codec_sharding::SHARDING_INDEXED, zarr_codec_vlen::VLEN_UTF8];
    codecs.into_iter().for_each(|codec| registry.codecs.add(codec));
    registry.codecs.add(zarr_codec_checksum::CRC32C);
    let codecs = format!("[{}]", shard([2, 8], r#"{"name": "vlen-utf8"}"#, "end"));
    let new = NewArray::new(&[8, 8], "string").chunks(&[8, 8]).codecs(&*codecs).unwrap();
    let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
    let array = array.with(Options::default().threads(NonZeroUsize::new(2))).unwrap();
    let begins = |len: usize| {
        let data = crate::ArrayData::from_elements(array.data_type(), &[8, 8], &vec!["t".repeat(len); 64]).unwrap();
        let (region, all) = (Region::from_ranges(&[0..8, 0..8]), Capabilities::none().write(true));
        let profile = AccessProfile::MEMORY;
        let mut job = WriteJob::new(&array.core, &region, data.view(), Durability::None, (all, &profile));
        matches!(job.step(&mut Vec::new()).unwrap(), Next::Ask(requests) if matches!(requests[..], [Request::BeginSet { .. }]))
    };
    assert_eq!((begins(10), begins(10_000)), (false, true));
}

/// The weight of a job is the number of bytes that a driver counts before a chunk is encoded.
#[test]
fn chunks_that_are_encoded_as_a_whole_have_the_weight_of_their_elements() {
    let weight = |codecs: &str| {
        let (_, array) = array(&format!("[{codecs}]"), 2);
        let data = vec![7_u8; 1000 * 4096];
        let (view, region) = (View::new(&data, 4, &[1000, 1024]).unwrap(), Region::from_ranges(&[0..1000, 0..1024]));
        let store = (Capabilities::none().write(true), &AccessProfile::MEMORY);
        WriteJob::new(&array.core, &region, view, Durability::None, store).weight()
    };
    assert_eq!((weight(BYTES), weight(&shard([64, 64], BYTES, "end"))), (4 << 20, 0));
    let texts =
        crate::ArrayData::from_elements(&zarr_dtype::DataType::String, &[10], &vec!["t".repeat(50); 10]).unwrap();
    let (region, store) = (Region::whole(&[10]), Arc::new(MemoryStore::new()) as Arc<dyn Store>);
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_vlen::VLEN_UTF8);
    let new = NewArray::new(&[10], "string").chunks(&[5]).codecs(r#"["vlen-utf8"]"#).unwrap();
    let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
    let store = (Capabilities::none().write(true), &AccessProfile::MEMORY);
    let mut job = WriteJob::new(&array.core, &region, texts.view(), Durability::None, store);
    let Next::Fork(chunks) = job.step(&mut Vec::new()).unwrap() else { panic!("two chunks") };
    assert_eq!(chunks.iter().map(Job::weight).collect::<Vec<_>>(), [5 * (16 + 50); 2]);
}

#[test]
fn an_inner_chunk_that_is_corrupt_stops_the_write() {
    let (store, array) = array(&format!("[{}]", shard([64, 64], &format!("{BYTES}, {CRC}"), "end")), 2);
    array.write(.., &vec![7_u32; 1000 * 1024]).unwrap();
    let mut value = store.inner().get_all(&key()).unwrap().unwrap().to_vec();
    value[100] ^= 1;
    store.inner().set_all(&key(), &value).unwrap();
    let error = array.write((1..1000, ..), &vec![8_u32; 999 * 1024]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ChecksumMismatch);
    assert_eq!(error.location().chunk.as_deref(), Some(&[0, 0][..]), "{error}");
    assert_eq!(error.location().key.as_deref(), Some("a/c/0/0"), "{error}");
    assert!(store.inner().get_all(&key()).unwrap().as_deref() == Some(&value[..]));
    // Inner chunks that are written whole are not read, and neither are the others.
    array.write((64..1000, ..), &vec![9_u32; 936 * 1024]).unwrap();
    assert_eq!(array.read::<u32>((64..1000, 5..6)).unwrap(), [9; 936]);
}
