//! Stores read the same bytes into memory of the reader as they return otherwise, errors included.

use std::sync::Arc;
use zarr::store::{FilesystemStore, Key, MemoryStore, Store, StoreExt};
use zarr_array::ErrorKind;
use zarr_array::{Array, NewArray};

const LITTLE: &str = r#"{"name": "bytes", "configuration": {"endian": "little"}}"#;
const BIG: &str = r#"{"name": "bytes", "configuration": {"endian": "big"}}"#;

/// The result of a read: the elements, or the kind of the error and its message.
fn outcome(array: &Array, selection: &str) -> Result<Vec<u16>, (ErrorKind, String)> {
    array.read::<u16>(selection).map_err(|error| {
        // The store's own errors begin with its address.
        let said = error.message().split_once(": key").map_or(error.message(), |(_, said)| said);
        (error.kind(), said.to_owned())
    })
}

#[test]
fn files_read_into_memory_equal_values_in_memory() {
    for chunks in [[1, 40, 50], [2, 40, 50], [6, 40, 50], [3, 7, 50], [2, 8, 9], [1, 1, 1]] {
        for codecs in [LITTLE.to_owned(), BIG.to_owned(), format!("{LITTLE}, \"crc32c\"")] {
            let folder = tempfile::tempdir().unwrap();
            let files: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path()).unwrap());
            let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let elements: Vec<u16> = (0..6 * 40 * 50).map(|at| at as u16 ^ 0x1234).collect();
            let arrays = [&files, &memory].map(|store| {
                let new = NewArray::new(&[6, 40, 50], "uint16").chunks(&chunks);
                let array = zarr::create((store, "/a")).array(new.codecs(format!("[{codecs}]")).unwrap()).unwrap();
                array.write(.., &elements).unwrap();
                array
            });
            let same = |what: &str| {
                for selection in ["...", "1:5, 2:30, :", "::-1, :, ::2", "5, 39, 49"] {
                    let [found, expected] = [0, 1].map(|at| outcome(&arrays[at], selection));
                    assert_eq!(found, expected, "{chunks:?} {codecs} {what} {selection}");
                }
            };
            assert_eq!(outcome(&arrays[0], "...").unwrap(), elements);
            same("as written");
            let key = Key::new("a/c/1/0/0").unwrap();
            let key = if chunks[0] == 6 { Key::new("a/c/0/0/0").unwrap() } else { key };
            let value = files.get_all(&key).unwrap().unwrap().to_vec();
            let longer = [&value[..], &[7]].concat();
            let much_longer = [&value[..], &value[..], &value[..]].concat();
            for (what, value) in
                [("short", &value[..value.len() - 1]), ("empty", &[]), ("long", &longer), ("very long", &much_longer)]
            {
                for store in [&files, &memory] {
                    store.set_all(&key, value).unwrap();
                }
                same(what);
                assert!(outcome(&arrays[0], "...").is_err(), "{chunks:?} {codecs} {what}");
            }
            for store in [&files, &memory] {
                store.erase(&key).unwrap();
            }
            same("missing");
        }
    }
}

#[test]
fn inner_chunks_side_by_side_are_as_one_by_one() {
    for inner in [[3, 4], [1, 1], [24, 1], [1, 40], [8, 20]] {
        for codecs in [LITTLE.to_owned(), BIG.to_owned(), format!("{LITTLE}, \"crc32c\"")] {
            let folder = tempfile::tempdir().unwrap();
            let files: Arc<dyn Store> = Arc::new(FilesystemStore::open(folder.path()).unwrap());
            let memory: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let sharding = format!(
                r#"[{{"name": "sharding_indexed", "configuration": {{
                    "chunk_shape": {inner:?}, "codecs": [{codecs}], "index_codecs": [{LITTLE}]}}}}]"#
            );
            for store in [files, memory] {
                let new = NewArray::new(&[50, 80], "uint16").chunks(&[24, 40]);
                let array = zarr::create(&store).array(new.codecs(&sharding).unwrap()).unwrap();
                let mut due = vec![0u16; 50 * 80];
                // Not all inner chunks are stored, and of the third shard along the first axis two rows lie in the array.
                for (rows, columns, first) in
                    [(0..24, 0..80, 1), (30..40, 7..60, 5000), (47..50, 0..41, 9000), (6..9, 8..12, 0)]
                {
                    let values: Vec<u16> = (0..rows.len() * columns.len())
                        .map(|at| if first == 0 { 0 } else { first + at as u16 })
                        .collect();
                    for (at, row) in rows.clone().enumerate() {
                        due[row * 80..][columns.clone()]
                            .copy_from_slice(&values[at * columns.len()..][..columns.len()]);
                    }
                    array
                        .write((rows.start as u64..rows.end as u64, columns.start as u64..columns.end as u64), &values)
                        .unwrap();
                }
                for (rows, columns) in
                    [(0..50, 0..80), (1..49, 3..77), (24..48, 0..40), (10..11, 0..80), (0..50, 39..42)]
                {
                    let expected: Vec<u16> =
                        rows.clone().flat_map(|row| due[row * 80..][columns.clone()].to_vec()).collect();
                    let selection = (rows.start as u64..rows.end as u64, columns.start as u64..columns.end as u64);
                    assert_eq!(
                        array.read::<u16>(selection).unwrap(),
                        expected,
                        "{inner:?} {codecs} {rows:?} {columns:?}"
                    );
                }
                let stepped: Vec<u16> = (0..50).step_by(3).flat_map(|row| due[row * 80..][..80].to_vec()).collect();
                assert_eq!(array.read::<u16>("::3").unwrap(), stepped);
            }
        }
    }
}
