//! Tests of the layout of arrays in stores: usage, maps, inner chunks.

use crate::{create, memory, registry};
use std::sync::Arc;
use zarr_array::{Dialect, ErrorKind, Group, NewArray, NewGroup, Store};
use zarr_hierarchy::walk;
use zarr_stats::{ChunkMap, InnerChunks, Usage};
use zarr_store::{Counted, Key, MemoryStore, StoreExt};

fn usage(store: &Arc<dyn Store>, path: &str) -> Usage {
    Usage::of(&**store, &walk(&**store, path, None).unwrap().nodes, &registry()).unwrap()
}

#[test]
fn every_key_is_counted_once() {
    for dialect in ["v3", "v2", "d2022", "p2020", "p2019"].map(|name| name.parse::<Dialect>().unwrap()) {
        let store = memory();
        let group = Group::create(&store, "/", NewGroup::new().dialect(dialect), &registry()).unwrap();
        let new = |shape: &[u64]| NewArray::new(shape, "int16").chunks(&[2]).codecs("none").unwrap();
        let a = group.create_array("g/a", new(&[7])).unwrap();
        a.write(0..5, &[1_i16; 5]).unwrap();
        group.create_array("b", new(&[4])).unwrap();
        let usage = usage(&store, "/");
        let of = |path: &str| usage.nodes.iter().find(|node| node.path.to_string() == path).unwrap();
        let chunks = of("/g/a").array.as_ref().unwrap();
        assert_eq!((chunks.stored, chunks.chunks, chunks.possible), (12, 3, 4), "{dialect}");
        assert_eq!((chunks.logical, chunks.written), (Some(14), Some(12)), "{dialect}");
        assert_eq!(of("/b").array.as_ref().unwrap().stored, 0, "{dialect}");
        let all: u64 = store.list().unwrap().iter().map(|key| store.size(key).unwrap().unwrap()).sum();
        let counted: u64 = usage.nodes.iter().map(|node| node.stored()).sum();
        assert_eq!(counted + usage.outside, all, "{dialect}: {usage:?}");
        assert_eq!(usage.nodes.iter().map(|node| node.other_keys).sum::<u64>(), 0, "{dialect}: {usage:?}");
    }
}

#[test]
fn keys_that_are_no_chunks_are_told_apart() {
    let counted = Arc::new(Counted::new(MemoryStore::new()));
    let store: Arc<dyn Store> = counted.clone();
    let array = create(&store, "/g/a", NewArray::new(&[4], "int8").chunks(&[2]).codecs("none").unwrap());
    array.write(.., &[1_i8; 4]).unwrap();
    for (key, size) in [("g/a/c/7", 5), ("g/a/notes.txt", 11), ("g/readme", 3)] {
        store.set_all(&Key::new(key).unwrap(), &vec![0; size]).unwrap();
    }
    let nodes = walk(&*store, "/g", None).unwrap().nodes;
    let before = counted.counts();
    let usage = Usage::of(&*store, &nodes, &registry()).unwrap();
    // All keys, and what a replacement that was interrupted has left.
    assert_eq!((counted.counts().lists - before.lists, counted.counts().gets - before.gets), (2, 0));
    let other: Vec<(u64, u64)> = usage.nodes.iter().map(|node| (node.other_keys, node.other)).collect();
    assert_eq!(other, [(1, 3), (2, 16)]);
    assert_eq!(usage.nodes[1].array.as_ref().unwrap().chunks, 2);
    // A node alone.
    let nodes = walk(&*store, "/g/a", None).unwrap().nodes;
    assert_eq!(Usage::of(&*store, &nodes, &registry()).unwrap().nodes[0].array.as_ref().unwrap().stored, 4);
}

#[test]
fn a_map_shows_what_is_stored() {
    let array =
        create(&memory(), "/a", NewArray::new(&[3, 8, 100], "int8").chunks(&[1, 2, 10]).codecs("none").unwrap());
    array.write((0, 0..2, ..), &[1_i8; 200]).unwrap();
    array.write((.., 7, 99), &[1_i8; 3]).unwrap();
    let map = ChunkMap::of(&array, [20, 70], None).unwrap();
    assert_eq!((map.axes, map.cells), ([Some(1), Some(2)], [4, 10]));
    assert_eq!((map.chunks, map.all(), map.bytes), (13, 120, 260));
    assert_eq!((map.min, map.median, map.max), (Some(20), Some(20), Some(20)));
    let shares: Vec<Vec<f64>> = map.shares().collect();
    assert_eq!(shares[0], [1.0 / 3.0; 10]);
    assert_eq!(shares[3][8..], [0.0, 1.0]);
    let coarse = ChunkMap::of(&array, [2, 3], Some([0, 2])).unwrap();
    assert_eq!((coarse.cells, coarse.stored.iter().sum::<u64>()), ([2, 3], 13));
    assert_eq!(coarse.possible.iter().sum::<u128>(), 120);
    assert!(ChunkMap::of(&array, [2, 3], Some([0, 3])).is_err() && ChunkMap::of(&array, [2, 3], Some([1, 1])).is_err());
    let scalar = create(&memory(), "/s", NewArray::new(&[], "int8").codecs("none").unwrap());
    assert_eq!(ChunkMap::of(&scalar, [9, 9], None).unwrap().stored, [0]);
}

#[test]
fn inner_chunks_are_counted_by_their_indexes() {
    let new = NewArray::new(&[100], "int32").shards(&[40]).chunks(&[10]).codecs("zstd(1)").unwrap();
    let array = create(&memory(), "/a", new);
    assert_eq!(InnerChunks::of(&array).unwrap().unwrap().stored, 0);
    array.write(5..25, &[7_i32; 20]).unwrap();
    array.write(99..100, &[1_i32]).unwrap();
    let inner = InnerChunks::of(&array).unwrap().unwrap();
    assert_eq!((inner.stored, inner.possible), (4, 10));
    assert!(inner.bytes > 0 && inner.bytes < 4 * 60, "{inner:?}");
    let plain = create(&memory(), "/a", NewArray::new(&[100], "int32").codecs("none").unwrap());
    assert_eq!(InnerChunks::of(&plain).unwrap(), None);
}

/// A hostile shard whose index names more bytes than the value has is an error.
#[test]
fn an_index_beyond_its_value_is_an_error() {
    let bytes = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
    let shard = |chunk: u64, codecs: &str| {
        format!(
            r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{chunk}], "codecs": [{codecs}], "index_codecs": [{bytes}]}}}}"#
        )
    };
    for codecs in [shard(2, bytes), shard(2, &shard(1, bytes))] {
        for (start, len) in [(0, 1 << 60), (u64::MAX - 20, 10), (30, 3)] {
            let store = memory();
            let codecs = format!("[{codecs}]");
            let new = NewArray::new(&[4], "int16").chunks(&[4]).codecs(codecs.as_str()).unwrap();
            let array = create(&store, "/a", new);
            let index: Vec<u8> = [start, len, u64::MAX, u64::MAX].into_iter().flat_map(u64::to_le_bytes).collect();
            store.set_all(&Key::new("a/c/0").unwrap(), &index).unwrap();
            let error = InnerChunks::of(&array).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ShardIndex, "{start} {len}: {error}");
            assert!(error.to_string().contains("a/c/0"), "{error}");
        }
    }
}
