//! Sizes that a shard's index claims are not trusted. How much is read before an error ends a read depends on what else decodes.

use super::{taken, turn};
use std::sync::Arc;
use zarr::store::{Counted, FilesystemStore, Store};
use zarr_array::{ErrorKind, NewArray};

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;

/// An array of one shard of 4096 inner chunks of one element, each of which its index says to have `len` bytes from the
/// shard's first one on. The shard has `size` bytes and its index.
fn claiming(data_type: &str, codec: &str, len: u64, size: u64) -> (tempfile::TempDir, Arc<Counted<FilesystemStore>>) {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(Counted::new(FilesystemStore::open(folder.path()).unwrap()));
    let sharding = format!(
        r#"[{{"name": "sharding_indexed", "configuration": {{
            "chunk_shape": [1], "codecs": [{codec}], "index_codecs": [{LITTLE}], "index_location": "end"}}}}]"#
    );
    let new = NewArray::new(&[4096], data_type).chunks(&[4096]).codecs(&sharding).unwrap();
    let dynamic: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    zarr::create(&dynamic).array(new).unwrap();
    let index: Vec<u8> = (0..4096).flat_map(|_| [0u64, len]).flat_map(u64::to_le_bytes).collect();
    // A file with a hole: it takes no more than its index.
    std::fs::create_dir(folder.path().join("c")).unwrap();
    let file = std::fs::File::create(folder.path().join("c/0")).unwrap();
    file.set_len(size).unwrap();
    std::io::Write::write_all(
        &mut std::fs::OpenOptions::new().append(true).open(folder.path().join("c/0")).unwrap(),
        &index,
    )
    .unwrap();
    store.take();
    (folder, store)
}

#[test]
fn inner_chunks_that_are_too_long_for_their_codecs_are_not_read() {
    let _turn = turn();
    let (_folder, store) = claiming("uint8", "\"bytes\"", 1 << 30, 1 << 30);
    let dynamic: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let error = zarr::open(&dynamic).array().unwrap().read::<u8>(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ShardIndex);
    assert!(error.message().contains("1073741824 bytes"), "{error}");
    assert!(store.take().bytes_read < 1 << 20);
}

#[test]
fn inner_chunks_of_unknown_length_are_not_all_read_at_once() {
    let _turn = turn();
    // 128 GiB in all.
    let (_folder, store) = claiming("string", "\"vlen-utf8\"", 32 << 20, 32 << 20);
    let dynamic: Arc<dyn Store> = Arc::clone(&store) as Arc<dyn Store>;
    let array = zarr::open(&dynamic).array().unwrap();
    let (result, taken) = taken(|| array.read::<String>(..));
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CorruptChunk, "{error}");
    assert!(taken.peak < 1 << 30, "{} bytes of memory", taken.peak);
    // How much is read before the error ends the read depends on when the thread that finds it runs.
    let read = store.take().bytes_read;
    assert!(read < 64 << 30, "{read} bytes");
}
