//! Tests of measurements of codecs on a sample.

use crate::{create, memory};
use std::time::Duration;
use zarr_array::{Dialect, NewArray};
use zarr_stats::{BenchOptions, CodecBench};

fn options() -> BenchOptions {
    BenchOptions::default().sample(40_000).time(Duration::ZERO)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn the_recommended_codecs_make_an_array() {
    for dialect in [Dialect::V3, Dialect::V2] {
        let new = || NewArray::new(&[100, 1_000], "int32").chunks(&[10, 1_000]).dialect(dialect);
        let array = create(&memory(), "/", new().codecs("gzip(1)").unwrap());
        array.write((0..60, ..), &(0..60_000).map(|at| at / 100).collect::<Vec<i32>>()).unwrap();
        let candidates = texts(&["none", "zstd(3)", "gzip(5)", "no_such_codec"]);
        let bench = CodecBench::of(&array, &candidates, &options()).unwrap();
        assert_eq!((bench.chunks.len(), bench.bytes, bench.codecs.len()), (1, 40_000, 5), "{dialect}");
        // Only the six chunks that are stored.
        assert!(bench.chunks.iter().all(|chunk| chunk[0] < 6));
        let measured = |number: usize| bench.codecs[number].measured.clone().unwrap();
        assert_eq!((measured(1).stored, measured(1).ratio), (40_000, 1.0));
        assert!(measured(0).ratio > 10.0 && measured(2).ratio > 10.0);
        assert!((0..4).all(|number| measured(number).is_lossless && measured(number).decode > 0.0));
        assert!(bench.codecs[4].measured.as_ref().unwrap_err().contains("no_such_codec"));
        let recommended = &bench.codecs[bench.recommended.unwrap()];
        let json = recommended.json().to_string();
        create(&memory(), "/", new().codecs(json.as_str()).unwrap()).write((0, ..), &[1_i32; 1_000]).unwrap();
    }
}

#[test]
fn slow_storage_favours_small_codecs() {
    let array = create(&memory(), "/", NewArray::new(&[10_000], "int32").chunks(&[10_000]).codecs("none").unwrap());
    array.write(.., &vec![7_i32; 10_000]).unwrap();
    let candidates = texts(&["none", "zstd(1)"]);
    // What the array has already is recommended as it is.
    for (bandwidth, name) in [(1.0, Some("zstd(1)")), (1e18, None)] {
        let bench = CodecBench::of(&array, &candidates, &options().bandwidth(bandwidth)).unwrap();
        assert_eq!(bench.codecs[bench.recommended.unwrap()].name.as_deref(), name);
    }
}

#[test]
fn shards_texts_and_empty_arrays() {
    let new = NewArray::new(&[64, 64], "float32").shards(&[32, 32]).chunks(&[8, 8]).codecs("zstd(1)").unwrap();
    let array = create(&memory(), "/", new);
    array.write((3, 40..44), &[1.0_f32; 4]).unwrap();
    let bench = CodecBench::of(&array, &texts(&["zstd(3)"]), &options()).unwrap();
    // The inner chunk that has elements, among those of its shard.
    assert_eq!((bench.chunks.clone(), bench.bytes), (vec![vec![0, 1]], 256));
    assert!(bench.codecs[1].measured.as_ref().unwrap().stored > 12);
    let array = create(&memory(), "/", NewArray::new(&[4], "string").codecs("zstd(1)").unwrap());
    let error = CodecBench::of(&array, &[], &options()).unwrap_err();
    assert!(error.to_string().contains("no chunk"), "{error}");
    array.write(0..2, &["one".to_owned(), "three".to_owned()]).unwrap();
    let bench = CodecBench::of(&array, &texts(&["none"]), &options()).unwrap();
    assert_eq!(bench.bytes, 8);
    assert!(bench.codecs.iter().all(|result| result.measured.as_ref().unwrap().is_lossless));
}
