use crate::{Array, NewArray, Options, Registry, Store};
use std::num::NonZeroUsize;
use std::sync::Arc;
use zarr_store::MemoryStore;

/// Batches of one read use the same memory: what a chunk that is not stored has is the fill value, and not elements of the batch before.
#[test]
fn chunks_that_are_not_stored_have_the_fill_value_in_each_batch() {
    const CHUNK: u64 = 3 << 20;
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = Options::default().threads(NonZeroUsize::new(1));
    let new = NewArray::new(&[12 * CHUNK], "uint8").chunks(&[CHUNK]).codecs(r#"["bytes"]"#).unwrap().options(options);
    let array = Array::create(&store, "/a", new, &Arc::new(registry)).unwrap();
    for chunk in [0, 1, 2, 7, 11] {
        array.fill(chunk * CHUNK..(chunk + 1) * CHUNK, 7_u8).unwrap();
    }
    // Two windows in each chunk, so that elements go through the staging buffer.
    let half = CHUNK / 2;
    let mut out = vec![1_u8; (12 * CHUNK) as usize];
    let windows = (0..24).map(|number| number * half..(number + 1) * half);
    array.read_many(windows.zip(out.chunks_exact_mut(half as usize))).unwrap();
    for (chunk, elements) in out.chunks_exact(CHUNK as usize).enumerate() {
        let due = if [0, 1, 2, 7, 11].contains(&chunk) { 7 } else { 0 };
        assert!(elements.iter().all(|&element| element == due), "chunk {chunk}");
    }
}

/// Regions that have a chunk for themselves are read into their outputs, in any layout, beside regions that share chunks.
#[test]
fn regions_with_chunks_of_their_own_are_read_beside_others() {
    let mut registry = Registry::default();
    registry.codecs.add(zarr_codec_bytes::BYTES);
    registry.codecs.add(zarr_codec_checksum::CRC32C);
    registry.codecs.add(zarr_codec_sharding::SHARDING_INDEXED);
    let registry = Arc::new(registry);
    let sharded = r#"[{"name": "sharding_indexed", "configuration": {"chunk_shape": [4, 6], "codecs": ["bytes"],
        "index_codecs": ["bytes", "crc32c"]}}]"#;
    for (chunk, codecs, fill) in [([4, 6], r#"["bytes"]"#, 0_u16), ([4, 6], r#"["bytes"]"#, 9), ([8, 12], sharded, 0)] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let new = NewArray::new(&[16, 12], "uint16").chunks(&chunk).codecs(codecs).unwrap().fill(fill);
        let array = Array::create(&store, "/a", new, &registry).unwrap();
        let elements: Vec<u16> = (0..16 * 12).collect();
        // The last four rows are not stored.
        array.write((..12, ..), &elements[..12 * 12]).unwrap();
        let due = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>, step: usize| -> Vec<u16> {
            let row = |row: usize| columns.clone().step_by(step).map(move |column| (row, column));
            let found =
                rows.flat_map(row).map(|(row, column)| if row < 12 { elements[row * 12 + column] } else { fill });
            found.collect()
        };
        // A whole chunk, a part with steps, two of the same, one over four chunks, a missing one, and one with reversed columns.
        let parts = ["0:4, 0:6", "5:7, 0:6:2", "4:8, 6:12", "4:8, 6:12", "6:10, 4:8", "12:16, 0:6", "0:2, 11:5:-1"];
        let mut outs: Vec<Vec<u16>> = [24, 6, 24, 24, 16, 24, 12].into_iter().map(|len| vec![77; len]).collect();
        array.read_many(parts.into_iter().zip(outs.iter_mut().map(Vec::as_mut_slice))).unwrap();
        let mut last = due(0..2, 6..12, 1);
        last.chunks_mut(6).for_each(<[u16]>::reverse);
        let expected = [
            due(0..4, 0..6, 1),
            due(5..7, 0..6, 2),
            due(4..8, 6..12, 1),
            due(4..8, 6..12, 1),
            due(6..10, 4..8, 1),
            due(12..16, 0..6, 1),
            last,
        ];
        assert_eq!(outs, expected, "{codecs}");
    }
}
