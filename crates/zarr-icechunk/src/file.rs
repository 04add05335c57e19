//! Files of a repository: a header, and a FlatBuffer that may be compressed.

use std::io::Read;

use zarr_store::{ByteRange, Bytes, GetOptions, Key, Result};

use crate::fault::{FILE_TYPE, IcechunkFault};
use zarr_store_virtual::lookup::{EitherStore, Way};

/// Type of a file; the value of a variant is its number in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileType {
    Snapshot = 1,
    Manifest = 2,
    Repository = 6,
}

const MAGIC: &[u8; 12] = b"ICE\xF0\x9F\xA7\x8ACHUNK";
/// Offset of the version of the format in a file, behind the magic bytes and 24 bytes with the name of the software that wrote the file.
const VERSION_AT: usize = 36;
const HEADER: usize = 39;

/// Maximum size of a file in bytes, as it is stored.
const MAX_STORED: u64 = 256 << 20;
/// Minimum and maximum of the limit of the decompressed size of a file, in bytes. Between them the limit is 64 times the size of the file,
/// which manifests do not come near.
const MAX_CONTENT: (u64, u64) = (64 << 20, 1 << 30);

/// Reads the file at `key` and returns its decompressed content; `None` if the file does not exist.
pub(crate) async fn content(below: &EitherStore, way: Way, key: &Key, file_type: FileType) -> Result<Option<Bytes>> {
    let range = [ByteRange::First(MAX_STORED + 1)];
    let Some(fetched) = below.get(way, key, &range, &GetOptions::default()).await? else { return Ok(None) };
    decode(key.as_str(), fetched.into_bytes(), file_type).map(Some).map_err(|fault| fault.in_store(below.store()))
}

/// Checks the header of a file of these bytes, and returns its decompressed content.
pub(crate) fn decode(file: &str, bytes: Bytes, file_type: FileType) -> Result<Bytes, IcechunkFault> {
    let file = || file.to_owned();
    if bytes.len() as u64 > MAX_STORED {
        return Err(IcechunkFault::Large { file: file(), limit: MAX_STORED, decoded: false });
    }
    let header = bytes.get(..HEADER).filter(|header| header.starts_with(MAGIC));
    let Some(&[version, found_type, compression]) = header.and_then(|header| header.get(VERSION_AT..)) else {
        return Err(IcechunkFault::Magic { file: file() });
    };
    let header = |what, found, expected| Err(IcechunkFault::Header { file: file(), what, found, expected });
    if !matches!(version, 1 | 2) {
        return header("version of the format", version, "1 or 2");
    }
    if found_type != file_type as u8 {
        return header(
            FILE_TYPE,
            found_type,
            match file_type {
                FileType::Snapshot => "1, a snapshot",
                FileType::Manifest => "2, a manifest",
                FileType::Repository => "6, the file of the repository",
            },
        );
    }
    match compression {
        0 => Ok(bytes.slice(HEADER..)),
        1 => {
            let limit = (64 * bytes.len() as u64).clamp(MAX_CONTENT.0, MAX_CONTENT.1);
            let content = decompressed(bytes.get(HEADER..).unwrap_or_default(), limit);
            let content =
                content.map_err(|error| IcechunkFault::Compressed { file: file(), reason: error.to_string() })?;
            match content.len() as u64 > limit {
                true => Err(IcechunkFault::Large { file: file(), limit, decoded: true }),
                false => Ok(content.into()),
            }
        }
        other => header("compression", other, "0 or 1"),
    }
}

/// Decompresses `bytes`, but at most `limit` bytes of the content and one byte more.
fn decompressed(bytes: &[u8], limit: u64) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    zstd::stream::read::Decoder::with_buffer(bytes)?.take(limit + 1).read_to_end(&mut content)?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, file_type: u8, compression: u8, content: &[u8]) -> Bytes {
        [&MAGIC[..], &[b' '; 24], &[version, file_type, compression], content].concat().into()
    }

    #[test]
    fn headers_are_checked() {
        let zstd = zstd::bulk::compress(b"content", 3).expect("compressed");
        for version in [1, 2] {
            assert_eq!(
                decode("f", file(version, 1, 0, b"content"), FileType::Snapshot).as_deref(),
                Ok(&b"content"[..])
            );
            assert_eq!(decode("f", file(version, 2, 1, &zstd), FileType::Manifest).as_deref(), Ok(&b"content"[..]));
        }
        let fails = |bytes: Bytes, text: &str| {
            let fault = decode("f", bytes, FileType::Snapshot).expect_err("refused").to_string();
            assert_eq!(fault, text);
        };
        fails(Bytes::new(), "f: found another beginning, expected that of a file of Icechunk");
        fails(file(1, 1, 0, b"").slice(..38), "f: found another beginning, expected that of a file of Icechunk");
        fails(file(3, 1, 0, b""), "f: found version of the format 3, expected 1 or 2");
        fails(file(1, 6, 0, b""), "f: found file type 6, expected 1, a snapshot");
        fails(file(1, 1, 9, b""), "f: found compression 9, expected 0 or 1");
        let cut = decode("f", file(1, 1, 1, &zstd[..zstd.len() - 1]), FileType::Snapshot).expect_err("cut off");
        assert!(matches!(cut, IcechunkFault::Compressed { .. }), "{cut}");
    }

    #[test]
    fn little_does_not_become_much() {
        let large = vec![0; (MAX_CONTENT.0 + 1) as usize];
        let bytes = |content: &[u8]| file(1, 1, 1, &zstd::bulk::compress(content, 1).expect("compressed"));
        let fault = decode("f", bytes(&large), FileType::Snapshot).expect_err("too large");
        assert_eq!(fault, IcechunkFault::Large { file: "f".to_owned(), limit: MAX_CONTENT.0, decoded: true });
        let content = decode("f", bytes(&large[1..]), FileType::Snapshot).expect("as large as it may be");
        assert_eq!(content.len() as u64, MAX_CONTENT.0);
    }
}
