//! Advice on layouts: each kind of costly layout is found with its figure, and good layouts have no advice.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;
use zarr_array::{Array, NewArray, Registry, Store};
use zarr_check::{CheckOptions, Code, Event, Level, check, layout_advice};
use zarr_store::MemoryStore;

fn registry() -> Arc<Registry> {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    Arc::new(registry)
}

fn create(store: &Arc<dyn Store>, path: &str, new: NewArray) -> Array {
    Array::create(store, path, new.codecs("bytes").unwrap(), &registry()).unwrap()
}

/// Messages of the advice on an array without stored chunks.
fn advice(new: NewArray) -> Vec<String> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(&store, "/time", new);
    let found = layout_advice(&array, &array.sizes().unwrap());
    assert!(
        found.iter().all(|finding| finding.code == Code::LayoutAdvice && finding.advice.contains("`zarr ")),
        "{found:?}"
    );
    found.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn costly_layouts_are_found_with_figures() {
    let new = |shape: &[u64], chunks: &[u64]| NewArray::new(shape, "int16").chunks(chunks);
    assert_eq!(advice(new(&[1 << 20], &[4])), ["262_144 chunks of 8 B"]);
    assert_eq!(advice(new(&[1 << 20], &[64])), ["chunks of 128 B: a read of all decodes 16_384 of them"]);
    assert_eq!(
        advice(new(&[1100, 1100], &[1000, 1000])),
        ["70 % of the elements of chunks lie beyond the edges of the array"]
    );
    let time = new(&[1 << 20], &[1 << 16]).dimension_names(&["time"]);
    assert_eq!(advice(time), ["a coordinate of 2.0 MiB in 16 chunks, all of which opening a data set reads"]);
    // A part of a chunk that is not compressed is read alone.
    assert_eq!(advice(new(&[1 << 30], &[1 << 28])), [""; 0]);
    for good in [new(&[1 << 20], &[1 << 19]), new(&[10], &[1]), new(&[0], &[1]), new(&[], &[])] {
        assert_eq!(advice(good), [""; 0]);
    }
}

#[test]
fn sparse_arrays_are_not_many_objects() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let array = create(&store, "/a", NewArray::new(&[1 << 33], "int16").chunks(&[1 << 15]));
    let messages = || layout_advice(&array, &array.sizes().unwrap()).into_iter().map(|found| found.message);
    assert_eq!(messages().collect::<Vec<_>>(), ["262_144 chunks of 64.0 KiB"]);
    array.write(..3, &[1_i16, 2, 3]).unwrap();
    assert_eq!(messages().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn advice_is_given_at_its_level_alone() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    create(&store, "/a", NewArray::new(&[1 << 20], "int16").chunks(&[4]));
    for number in 0..20 {
        create(&store, &format!("/b{number}"), NewArray::new(&[4], "int16"));
    }
    let findings = |level| {
        let mut found = Vec::new();
        let options = CheckOptions::default().level(level);
        check(&store, "/", &registry(), &options, |event| {
            if let Event::Finding(finding) = event {
                found.push(finding);
            }
        })
        .unwrap();
        found.retain(|finding| finding.code == Code::LayoutAdvice);
        found.into_iter().map(|finding| finding.to_string()).collect::<Vec<_>>()
    };
    for level in [Level::Documents, Level::Keys, Level::Indexes, Level::Chunks] {
        assert_eq!(findings(level), [""; 0]);
    }
    let found = findings(Level::Advice);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("note     /  21 nodes without consolidated metadata"), "{found:?}");
    assert_eq!(found[1], "note     /a  262_144 chunks of 8 B [layout-advice]");
}
