//! Chunks that are cut off: errors say where, how many bytes there are, and how many there should be where that is known.

use crate::folder::{Folder, int16};

/// Cuts the only chunk or shard of an array of 1000 int16 numbers in half and reads the array. Returns the bytes that there were, the bytes
/// that are left, and the error of the read.
fn read(folder: &Folder, name: &str, options: &[&str]) -> (usize, usize, String) {
    folder.ok(&[&["create", name, "a", "--shape", "1000", "--dtype", "int16"], options].concat());
    // They compress somewhat.
    folder.fill(name, "a", "<i2", "(1000,)", &int16((0..1000_i32).map(|at| (at * at % 251) as i16)));
    let path = folder.path(&format!("{name}/a/c/0"));
    let bytes = std::fs::read(&path).unwrap();
    let half = &bytes[..bytes.len() / 2];
    std::fs::write(&path, half).unwrap();
    let ran = folder.run(&["read", name, "a"]);
    assert_eq!(ran.code, Some(4), "{name}: {}", ran.err);
    (bytes.len(), half.len(), ran.err.trim_end().to_owned())
}

#[test]
fn errors_of_chunks_that_are_cut_off_say_so() {
    let folder = Folder::new();
    // Their codec does not know how long the bytes should be.
    for codecs in ["gzip", "zlib", "zstd", "bz2", "lzma", "pcodec", "shuffle(2),zstd"] {
        let (_, found, error) = read(&folder, codecs, &["--codecs", codecs]);
        let name = codecs.rsplit(',').next().unwrap();
        let expected = format!("error: {codecs}: /a: chunk [0]: key a/c/0: codec {name}: cut off after {found} bytes");
        assert_eq!(error, expected);
    }
    for (codecs, name) in
        [("blosc(zstd,5,shuffle)", "blosc"), ("none", "bytes"), ("crc32c", "crc32c"), ("adler32", "adler32")]
    {
        let (expected, found, error) = read(&folder, codecs, &["--codecs", codecs]);
        let bytes = format!("{found} bytes, expected {expected}");
        assert_eq!(error, format!("error: {codecs}: /a: chunk [0]: key a/c/0: codec {name}: {bytes}"));
    }
    for codecs in ["zstd", "none"] {
        let store = format!("shards-{codecs}");
        let (_, _, error) = read(&folder, &store, &["--codecs", codecs, "--chunks", "100", "--shards", "1000"]);
        let begin = format!("error: {store}: /a: chunk [0]: key a/c/0: shard index of 164 bytes: checksum 0x");
        assert!(error.starts_with(&begin) && error.ends_with("; is the shard cut off?"), "{error}");
    }
}
