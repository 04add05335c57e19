//! Stores of few bytes that once took much time: what is read of each is bounded by what is stored.

use super::refused;
use crate::folder::Folder;
use std::fs;
use std::time::{Duration, Instant};

/// Far more than any of these takes on a machine that has much else to do, and less than each took.
const LONG: Duration = Duration::from_secs(40);

fn v2(folder: &Folder, store: &str, shape: &str, compressor: &str) {
    fs::create_dir(folder.path(store)).unwrap();
    let document = format!(
        r#"{{"zarr_format": 2, "shape": {shape}, "chunks": {shape}, "dtype": "<i4", "compressor": {compressor},
            "fill_value": 0, "order": "C", "filters": null}}"#
    );
    fs::write(folder.path(&format!("{store}/.zarray")), document).unwrap();
}

/// Each empty stream of bzip2, of 14 bytes, took a decoder of its own: 28 MB more than a minute.
#[test]
fn bz2_streams() {
    let folder = Folder::new();
    v2(&folder, "store", "[1]", r#"{"id": "bz2", "level": 1}"#);
    let empty = b"BZh1\x17\x72\x45\x38\x50\x90\0\0\0\0";
    fs::write(folder.path("store/0"), empty.repeat(2_000_000)).unwrap();
    let begun = Instant::now();
    let err = refused(&folder, 4, &["read", "store"]);
    assert!(err.contains("codec bz2: 0 bytes, expected 4"), "{err}");
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
}

/// Work that goes by pairs of dimensions took minutes for a document of 500 KB.
#[test]
fn quadratic_dims() {
    let folder = Folder::new();
    for (rank, is_read) in [(1000, true), (1001, false), (100_000, false)] {
        let store = format!("store{rank}");
        v2(&folder, &store, &format!("{:?}", vec![1; rank]), "null");
        let ran = folder.run(&["tree", &store]);
        let refused = format!(".zarray: /shape: found {rank} dimensions, expected at most 1000");
        assert_eq!((ran.code == Some(0), ran.err.contains(&refused)), (is_read, !is_read), "{rank}: {}", ran.err);
    }
    let shape = |rank: usize| vec!["1"; rank].join(",");
    let create =
        |rank: usize| folder.run(&["create", "new", "a", "--overwrite", "--dtype", "int8", "--shape", &shape(rank)]);
    assert_eq!(create(64).code, Some(0));
    let ran = create(65);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("found 65 dimensions, expected at most 64"), "{}", ran.err);
}

/// Each of the missing chunks of one byte was asked for: hours for 400 bytes of JSON.
#[test]
fn missing_chunks() {
    let folder = Folder::new();
    let count = 1_usize << 24;
    let create =
        ["create", "store", "a", "--dtype", "uint8", "--chunks", "1", "--codecs", "none", "--fill", "7", "--shape"];
    folder.ok(&[&create[..], &[&count.to_string()]].concat());
    let begun = Instant::now();
    let read = |stored: &[(usize, u8)]| {
        let elements = folder.raw("store", "a");
        let others = elements.iter().enumerate().filter(|&(_, &element)| element != 7);
        assert_eq!(
            (elements.len(), others.map(|(at, &element)| (at, element)).collect::<Vec<_>>()),
            (count, stored.to_vec())
        );
    };
    read(&[]);
    fs::create_dir(folder.path("store/a/c")).unwrap();
    let stored = [(1000, 1), (1001, 2), (count - 1, 3)];
    stored.iter().for_each(|(at, element)| fs::write(folder.path(&format!("store/a/c/{at}")), [*element]).unwrap());
    read(&stored);
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
}
