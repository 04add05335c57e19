//! Tests of the number of parts and bytes that a picture reads.

use super::*;
use crate::slice::Slice;
use std::sync::Arc;
use zarr_array::{NewArray, Registry, Selection, Store};
use zarr_json::{NamedConfig, Value};
use zarr_store::MemoryStore;

fn array(new: NewArray) -> Array {
    encoded(new, "bytes")
}

/// Creates an array of 256 x 256 elements in shards of 64 x 64, with inner chunks of `inner` x `inner`.
fn sharded(inner: u64) -> Array {
    let codecs = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [{inner}, {inner}], "codecs": [{{"name": "bytes"}}],
        "index_codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}]}}}}]"#
    );
    encoded(NewArray::new(&[256, 256], "uint8").chunks(&[64, 64]), &codecs)
}

fn encoded(new: NewArray, codecs: &str) -> Array {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    zarr_codec_sharding::CODECS.iter().for_each(|entry| registry.codecs.add(*entry));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    Array::create(&store, "/a", new.codecs(codecs).unwrap(), &Arc::new(registry)).unwrap()
}

fn thinned(array: &Array, text: &str, most: &[u64], parts: u64, bytes: u64) -> CutSamples {
    let cut = Cut::new(array.shape(), &text.parse::<Selection>().unwrap(), None).unwrap();
    cut.thinned(array, most, &Budget { parts, bytes, is_strict: false }).unwrap()
}

#[test]
fn inner_chunks_are_counted_once() {
    let of = |start, len, step, part| inner(&AxisRange { start, len, step }, part);
    assert_eq!((of(0, 100, 1, 10), of(9, 2, 1, 10), of(0, 5, 100, 10), of(0, 0, 1, 10)), (10, 2, 5, 0));
    assert_eq!((of(0, 100, 1, 100), of(5, 10, 1, 10), of(70, 1, 1, 10)), (1, 2, 1));
}

/// Chunks of different lengths are counted: one chunk of 1000 rows, and 1000 chunks of one row.
#[test]
fn chunks_of_different_lengths_are_counted() {
    let configuration = Value::from_json(r#"{"kind": "inline", "chunk_shapes": [[1000, [1, 1000]], 10]}"#).unwrap();
    let Value::Object(configuration) = configuration else { panic!("an object") };
    let grid = NamedConfig::with("rectilinear", configuration);
    let array = array(NewArray::new(&[2000, 10], "uint8").chunk_grid(grid));
    let all = thinned(&array, "", &[2000, 10], u64::MAX, u64::MAX);
    assert_eq!((all.parts, all.is_cut, all.fits), (1001, false, true));
    let region = Region::whole(array.shape());
    assert_eq!(Cost::new(&array, &region).bytes, 20_000);
    // Every 50th of the short chunks at most.
    let few = thinned(&array, "", &[2000, 10], 20, u64::MAX);
    assert!(few.is_cut && few.fits && few.parts <= 20 && few.samples[1].count == 10, "{few:?}");
}

#[test]
fn indexes_of_shards_are_counted() {
    // 16 shards of 4096 inner chunks of a byte each: the index of a shard has 64 KiB.
    let array = sharded(1);
    let one = thinned(&array, "3, 5", &[], 1, 65_537);
    assert_eq!((one.parts, one.fits), (1, true));
    assert!(!thinned(&array, "3, 5", &[], 1, 65_536).fits);
    let all = thinned(&array, "", &[16, 16], 4096, 16 * 65_536 + 256);
    assert_eq!((all.parts, all.is_cut, all.fits), (256, false, true));
    let fewer = thinned(&array, "", &[16, 16], 4096, 16 * 65_536 + 255);
    assert!(fewer.is_cut && fewer.fits, "{fewer:?}");
    // Inner chunks, not shards.
    let wide = sharded(8);
    assert_eq!(thinned(&wide, "", &[256, 256], u64::MAX, u64::MAX).parts, 1024);
}

#[test]
fn selections_of_nothing_cost_nothing() {
    let array = array(NewArray::new(&[20, 20], "uint8").chunks(&[5, 5]));
    for text in ["3:3", ":, 20:", "2:4:-1, 3"] {
        let none = thinned(&array, text, &[9, 9], 1, 1);
        assert_eq!((none.parts, none.is_cut, none.fits), (0, false, true), "{text}");
    }
}

/// Creates an array of 60 frames of 200 x 200, whose chunks contain all frames of a part of the plane.
fn film() -> Array {
    let film = array(NewArray::new(&[60, 200, 200], "int32").chunks(&[60, 50, 50]));
    film.write(.., &(0..60 * 200 * 200).collect::<Vec<i32>>()).unwrap();
    film
}

/// Chunks are read once for all frames, not once per frame.
#[test]
fn frames_share_their_chunks() {
    let film = film();
    let cut = Cut::new(film.shape(), &Selection::all(), None).unwrap();
    // All chunks, which are 9.6 MB.
    let budget = Budget { parts: 16, bytes: 9_600_000, is_strict: false };
    let (frames, slices) = Slice::frames(&film, &cut, 0, 240, &[100, 100], &budget).unwrap();
    assert_eq!((frames.count, slices.len()), (60, 60));
    assert!(slices.iter().all(|slice| (slice.rows(), slice.columns(), slice.is_cut) == (100, 100, false)));
    for (number, slice) in slices.iter().enumerate() {
        let alone = Slice::read(&film, &cut.at(0, number as u64), &[100, 100], &Budget::UNLIMITED).unwrap();
        assert_eq!(*slice, alone, "{number}");
    }
}

#[test]
fn frames_are_those_of_each_axis() {
    let film = film();
    for (text, axes, axis) in [("3:50:7, 2:90", [0, 1], 2), ("::-9, 1:9", [2, 0], 1), ("20:1:-3, :, 3:9", [2, 1], 0)] {
        let cut = Cut::new(film.shape(), &text.parse().unwrap(), Some(&axes)).unwrap();
        let (frames, slices) = Slice::frames(&film, &cut, axis, 5, &[9, 11], &Budget::UNLIMITED).unwrap();
        assert!(frames.count > 1 && slices.len() == frames.count as usize, "{text}");
        for (number, slice) in (0..frames.count).zip(&slices) {
            let alone = Slice::read(&film, &cut.at(axis, frames.index(number)), &[9, 11], &Budget::UNLIMITED).unwrap();
            assert_eq!(*slice, alone, "{text}");
        }
    }
    let cut = Cut::new(film.shape(), &"3".parse().unwrap(), None).unwrap();
    assert!(Slice::frames(&film, &cut, 0, 5, &[9, 9], &Budget::UNLIMITED).is_err());
    assert!(Slice::frames(&film, &cut, 1, 5, &[9, 9], &Budget::UNLIMITED).is_err());
}

/// The number of frames is only reduced if thinner planes do not suffice.
#[test]
fn planes_are_thinned_before_frames() {
    let film = array(NewArray::new(&[40, 100, 100], "uint8").chunks(&[1, 50, 50]));
    let cut = Cut::new(film.shape(), &Selection::all(), None).unwrap();
    let read = |parts| Slice::frames(&film, &cut, 0, 240, &[100, 100], &Budget { parts, ..Budget::UNLIMITED }).unwrap();
    let (frames, slices) = read(80);
    assert_eq!((frames.count, slices[0].rows().min(slices[0].columns())), (40, 1));
    let (frames, slices) = read(10);
    assert!(frames.count <= 10 && frames.count > 4 && slices[0].is_cut, "{frames:?}");
}

/// A single element is shown with all digits: 2^53 + 1 is no float.
#[test]
fn single_elements_have_all_digits() {
    let array = array(NewArray::new(&[2], "int64"));
    array.write(.., &[9_007_199_254_740_993_i64, 1]).unwrap();
    let read = |text: &str| {
        let cut = Cut::new(&[2], &text.parse().unwrap(), None).unwrap();
        Slice::read(&array, &cut, &[9], &Budget::default()).unwrap()
    };
    assert_eq!(read("0").text.as_deref(), Some("9007199254740993"));
    assert_eq!(read("").text, None);
    assert_eq!((read("").numbers, read("1").numbers), (crate::Numbers::Floats, crate::Numbers::Integers));
}
