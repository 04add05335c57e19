//! Sharding with real inner codecs: round trips, parts, patches, broken shards.
#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use std::sync::Arc;
use zarr_codec::testing::{chunk_round_trip, corrupt_chunk, element, pipeline, read};
use zarr_codec::{Codecs, EncodeSplit, EncodedRun, Error, ErrorKind, Patch, Pipeline, Protection, View};
use zarr_grid::{AxisSelection, Region, SelectedElements, Selection};

fn codecs() -> Codecs {
    let mut codecs = Codecs::default();
    codecs.add(zarr_codec_sharding::SHARDING_INDEXED);
    codecs.add(zarr_codec_bytes::BYTES);
    codecs.add(zarr_codec_transpose::TRANSPOSE);
    codecs.add(zarr_codec_gzip::GZIP);
    codecs.add(zarr_codec_checksum::CRC32C);
    codecs
}

const BYTES: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const GZIP: &str = r#"{"name": "gzip", "configuration": {"level": 1}}"#;
const CRC: &str = r#"{"name": "crc32c"}"#;
const TURN: &str = r#"{"name": "transpose", "configuration": {"order": [1, 0]}}"#;

fn shard(chunk: [u64; 2], inner: &str, index: &str, location: &str) -> String {
    format!(
        r#"{{"name": "sharding_indexed", "configuration": {{"chunk_shape": {chunk:?}, "codecs": [{inner}],
            "index_codecs": [{index}], "index_location": "{location}"}}}}"#
    )
}

fn chain(codec: &str) -> Arc<Pipeline> {
    pipeline(&format!("[{codec}]"), &element("uint16"), &codecs()).unwrap()
}

/// Chains with the shape of shards that they take.
fn chains() -> Vec<Arc<Pipeline>> {
    let plain = shard([2, 3], BYTES, &format!("{BYTES}, {CRC}"), "end");
    let start = shard([2, 3], &format!("{BYTES}, {GZIP}"), BYTES, "start");
    let checked = shard([4, 6], &format!("{BYTES}, {CRC}"), &format!("{BYTES}, {CRC}"), "end");
    let nested = shard([4, 6], &plain, &format!("{BYTES}, {CRC}"), "start");
    let transposed = shard([3, 2], &format!("{TURN}, {BYTES}, {GZIP}"), BYTES, "end");
    vec![
        chain(&plain),
        chain(&start),
        chain(&checked),
        chain(&nested),
        chain(&format!("{TURN}, {transposed}")),
        chain(&format!("{plain}, {GZIP}")),
        chain(&format!("{nested}, {CRC}")),
    ]
}

fn items(values: impl Iterator<Item = u16>) -> Vec<u8> {
    values.flat_map(u16::to_ne_bytes).collect()
}

#[test]
fn regions_come_back() {
    for codecs in chains() {
        let data = items((0..8 * 12).map(|i| if i < 24 { 0 } else { i }));
        chunk_round_trip(&codecs, &[8, 12], &data);
        chunk_round_trip(&codecs, &[8, 12], &items((0..96).map(|_| 0)));
    }
}

#[test]
fn inner_chunks_of_fill_values_are_not_stored() {
    let codecs = chain(&shard([2, 3], BYTES, BYTES, "end"));
    let empty = chunk_round_trip(&codecs, &[8, 12], &items((0..96).map(|_| 0)));
    assert_eq!(empty.len(), 16 * 16);
    let one = chunk_round_trip(&codecs, &[8, 12], &items((0..96).map(|i| u16::from(i == 50))));
    assert_eq!(one.len(), 16 * 16 + 12);
}

#[test]
fn broken_shards_are_errors() {
    for codecs in chains() {
        let encoded = chunk_round_trip(&codecs, &[8, 12], &items(0..96));
        corrupt_chunk(&codecs, &[8, 12], &encoded);
    }
}

#[test]
fn hostile_indexes_are_refused() {
    let codecs = chain(&shard([2, 3], BYTES, BYTES, "end"));
    let good = chunk_round_trip(&codecs, &[2, 6], &items(1..13));
    assert_eq!(good.len(), 24 + 32);
    let shape = [2, 6];
    let attempt = |index: usize, word: u64| {
        let mut broken = good.clone();
        broken[24 + 8 * index..][..8].copy_from_slice(&word.to_le_bytes());
        let mut out = vec![0; 24];
        let mut view = zarr_codec::ViewMut::new(&mut out, 2, &[2, 6]).unwrap();
        codecs.decode(&broken, &shape, &Region::whole(&shape), &mut view)
    };
    assert!(attempt(0, 0).is_ok());
    for (index, word) in [(0, u64::MAX), (1, u64::MAX), (0, u64::MAX - 5), (1, 60), (0, 50), (1, u64::MAX - 1)] {
        assert_eq!(attempt(index, word).unwrap_err().kind(), ErrorKind::ShardIndex, "word {index} = {word}");
    }
}

#[test]
fn shapes_and_configurations_are_checked() {
    let chain = chain(&shard([2, 3], BYTES, BYTES, "end"));
    assert!(chain.check(&[4, 6]).is_ok());
    for shape in [&[4, 7][..], &[4], &[4, 6, 1], &[1 << 40, 3 << 30]] {
        assert!(chain.check(shape).is_err(), "{shape:?}");
    }
    let build = |codec: String| pipeline(&format!("[{codec}]"), &element("uint16"), &codecs());
    for codec in [
        shard([0, 3], BYTES, BYTES, "end"),
        shard([2, 3], BYTES, &format!("{BYTES}, {GZIP}"), "end"),
        shard([2, 3], BYTES, BYTES, "middle"),
        shard([2, 3], GZIP, BYTES, "end"),
        r#"{"name": "sharding_indexed", "configuration": {"chunk_shape": [1]}}"#.to_owned(),
    ] {
        let error = build(codec.clone()).unwrap_err();
        assert!(
            matches!(&error, Error::Metadata { pointer, .. } if pointer.starts_with("/0/configuration")),
            "{error}"
        );
    }
    let deep = (0..12).fold(BYTES.to_owned(), |inner, _| shard([2, 3], &inner, BYTES, "end"));
    assert!(build(deep).is_err(), "shards nest too deep");
}

#[test]
fn an_index_without_the_checksum_it_may_have() {
    let inner = format!(r#""chunk_shape": [2, 3], "codecs": [{BYTES}]"#);
    let old = format!(
        r#"{{"name": "sharding_indexed", "configuration": {{{inner}, "index_codecs": [{BYTES}, {CRC}], "index_checksum_optional": true}}}}"#
    );
    let either = chain(&old);
    for index in [BYTES.to_owned(), format!("{BYTES}, {CRC}")] {
        let written = chain(&shard([2, 3], BYTES, &index, "end"));
        let encoded = chunk_round_trip(&written, &[4, 6], &items(0..24));
        for parts in [false, true] {
            let all = read(&either, &encoded, &[4, 6], &Region::whole(&[4, 6]), parts);
            assert_eq!(all, items(0..24));
        }
    }
}

/// The shard that these runs are.
fn join(split: &dyn EncodeSplit, runs: &[EncodedRun]) -> Result<Vec<u8>, Error> {
    let lengths: Vec<_> = runs.iter().flat_map(|run| run.lengths.iter().copied()).collect();
    let index = split.index(&lengths)?;
    let inner_chunks = runs.iter().flat_map(|run| run.bytes.iter().copied());
    let head = usize::try_from(split.head()).unwrap();
    assert!(head == 0 || head == index.len());
    let (front, behind) = index.split_at(head);
    Ok(front.iter().copied().chain(inner_chunks).chain(behind.iter().copied()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn joined_runs_equal_the_whole(
        which in 0usize..7,
        start in (0u64..8, 0u64..12),
        len in (1u64..9, 1u64..13),
        seed in 0u16..3,
        old in proptest::option::of(any::<bool>()),
        ends in proptest::collection::vec(0u64..17, 0..5),
    ) {
        let codecs = &chains()[which];
        let shape = [8u64, 12];
        let old = old.map(|absent| {
            let mut old = Vec::new();
            let data = items((0..96).map(|i| if absent { 0 } else { i * 3 }));
            codecs.encode(&View::new(&data, 2, &[8, 12]).unwrap(), &mut old).unwrap();
            old
        });
        let (rows, columns) = (start.0..(start.0 + len.0).min(8), start.1..(start.1 + len.1).min(12));
        let dims = [(rows.end - rows.start) as usize, (columns.end - columns.start) as usize];
        let region = Region::from_ranges(&[rows, columns]);
        // Some inner chunks have nothing but fill values.
        let data = items((0..dims[0] * dims[1]).map(|i| if i < 20 { 0 } else { seed * i as u16 }));
        let new = View::new(&data, 2, &dims).unwrap();
        let mut whole = Vec::new();
        let patch = Patch::region(&shape, region.clone(), new.clone());
        codecs.patch(old.as_deref(), &patch, &mut whole).unwrap();
        let Some(split) = codecs.split_encode(old.as_deref(), &shape, &region) else {
            // The bytes of these shards are encoded once more.
            prop_assert!(which >= 5);
            return Ok(());
        };
        prop_assert!(which < 5);
        let split = split.unwrap();
        let mut ends: Vec<u64> = ends.into_iter().map(|end| end.min(split.count())).chain([0, split.count()]).collect();
        ends.sort_unstable();
        let encode = |run: &[u64]| split.encode(run[0]..run[1], old.as_deref(), &new).unwrap();
        let runs: Vec<_> = ends.windows(2).filter(|run| run[0] < run[1]).map(encode).collect();
        prop_assert_eq!(join(&*split, &runs).unwrap(), whole);
        // Inner chunks that are left out are noticed.
        let mut fewer = runs;
        fewer.pop();
        prop_assert_eq!(join(&*split, &fewer).unwrap_err().kind(), ErrorKind::ShardIndex);
    }

    #[test]
    fn patches_equal_the_model(
        which in 0usize..7,
        start in (0u64..8, 0u64..12),
        len in (1u64..9, 1u64..13),
        seed in 0u16..3,
        absent in any::<bool>(),
    ) {
        let codecs = &chains()[which];
        let shape = [8u64, 12];
        let mut model: Vec<u16> = (0..96).map(|i| if absent { 0 } else { i * 3 }).collect();
        let mut old = Vec::new();
        codecs.encode(&View::new(&items(model.iter().copied()), 2, &[8, 12]).unwrap(), &mut old).unwrap();
        let rows = start.0..(start.0 + len.0).min(8);
        let columns = start.1..(start.1 + len.1).min(12);
        let mut new = Vec::new();
        for y in rows.clone() {
            for x in columns.clone() {
                let value = seed * (y * 100 + x) as u16;
                model[(y * 12 + x) as usize] = value;
                new.push(value);
            }
        }
        let dims = [(rows.end - rows.start) as usize, (columns.end - columns.start) as usize];
        let region = Region::from_ranges(&[rows, columns]);
        let data = items(new.into_iter());
        let mut patched = Vec::new();
        let patch = Patch::region(&shape, region, View::new(&data, 2, &dims).unwrap());
        codecs.patch(Some(&old), &patch, &mut patched).unwrap();
        let all = read(codecs, &patched, &shape, &Region::whole(&shape), true);
        prop_assert_eq!(all, items(model.into_iter()));
    }

    #[test]
    fn patches_of_single_elements_equal_the_model(
        which in 0usize..7,
        points in prop::collection::vec((0i64..8, 0i64..12), 0..120),
        lists in any::<bool>(),
        seed in 0u16..3,
        absent in any::<bool>(),
        old in any::<bool>(),
    ) {
        let codecs = &chains()[which];
        let shape = [8u64, 12];
        let mut model: Vec<u16> = (0..96).map(|i| if absent || !old { 0 } else { i * 3 }).collect();
        let mut before = Vec::new();
        codecs.encode(&View::new(&items(model.iter().copied()), 2, &[8, 12]).unwrap(), &mut before).unwrap();
        let (rows, columns): (Vec<i64>, Vec<i64>) = points.into_iter().unzip();
        let (selection, positions) = if lists {
            let (rows, columns) = (rows.into_iter().take(9).collect::<Vec<_>>(), columns.into_iter().take(20).collect::<Vec<_>>());
            let positions = rows.iter().flat_map(|&y| columns.iter().map(move |&x| (y, x))).collect::<Vec<_>>();
            (Selection::Axes(vec![AxisSelection::Indices(rows), AxisSelection::Indices(columns)]), positions)
        } else {
            let positions = rows.iter().copied().zip(columns.iter().copied()).collect();
            (Selection::coordinates(vec![rows, columns]), positions)
        };
        let new: Vec<u16> = (0..positions.len()).map(|i| seed * (i as u16 + 1)).collect();
        for (&(y, x), &value) in positions.iter().zip(&new) {
            model[(y * 12 + x) as usize] = value;
        }
        let resolved = selection.resolve(&shape).unwrap();
        let data = items(new.into_iter());
        let output = View::new(&data, 2, &[positions.len()]).unwrap();
        let patch = Patch::selected(&shape, SelectedElements::new(&resolved).unwrap(), &output).unwrap();
        let mut patched = Vec::new();
        codecs.patch(old.then_some(&*before), &patch, &mut patched).unwrap();
        let all = read(codecs, &patched, &shape, &Region::whole(&shape), true);
        prop_assert_eq!(all, items(model.iter().copied()));
        // Inner chunks that became empty and had no old elements are not stored.
        if !old && model.iter().all(|&element| element == 0) {
            prop_assert_eq!(patched.len(), before.len());
        }
    }
}

#[test]
fn a_patch_decodes_only_inner_chunks_that_keep_elements() {
    let codecs = chain(&shard([2, 3], &format!("{BYTES}, {CRC}"), BYTES, "end"));
    let mut old = Vec::new();
    codecs.encode(&View::new(&items(1..97), 2, &[8, 12]).unwrap(), &mut old).unwrap();
    // All but the last inner chunk are broken.
    let broken = 15 * 16;
    old[..broken].iter_mut().step_by(16).for_each(|byte| *byte ^= 1);
    let patch = |points: &[(i64, i64)]| {
        let (rows, columns) = points.iter().copied().unzip();
        let resolved = Selection::coordinates(vec![rows, columns]).resolve(&[8, 12]).unwrap();
        let data = items((0..points.len()).map(|i| 500 + i as u16));
        let output = View::new(&data, 2, &[points.len()]).unwrap();
        let patch = Patch::selected(&[8, 12], SelectedElements::new(&resolved).unwrap(), &output).unwrap();
        let mut patched = Vec::new();
        codecs.patch(Some(&old), &patch, &mut patched).map(|()| patched)
    };
    let patched = patch(&[(7, 11), (6, 9)]).unwrap();
    assert_eq!(patched[..broken], old[..broken]);
    let last = Region::from_ranges(&[6..8, 9..12]);
    assert_eq!(read(&codecs, &patched, &[8, 12], &last, true), items([501, 83, 84, 94, 95, 500].into_iter()));
    // One that keeps an element is decoded; one that keeps none is not.
    let mut points = vec![(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)];
    assert!(matches!(patch(&points), Err(Error::Checksum { .. })));
    points.push((1, 2));
    let patched = patch(&points).unwrap();
    assert_eq!(read(&codecs, &patched, &[8, 12], &Region::from_ranges(&[0..2, 0..3]), true), items(500..506));
}

/// A shard claims a checksum only if its index and its inner chunks have one.
#[test]
fn the_part_with_the_least_protection_counts() {
    let summed = format!("{BYTES}, {CRC}");
    for (inner, index, expected) in [
        (BYTES, summed.as_str(), Protection::None),
        (summed.as_str(), BYTES, Protection::Form),
        (summed.as_str(), summed.as_str(), Protection::Checksum),
    ] {
        assert_eq!(chain(&shard([2, 3], inner, index, "end")).protection(None), expected, "{inner} {index}");
    }
}
