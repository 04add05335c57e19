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
