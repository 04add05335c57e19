//! Decoding of a stored chunk without array, store or metadata: first zstd, then little-endian numbers.
//!
//! `cargo run -p zarr-codec-zstd --example decode_chunk`

use zarr_codec_zstd::Zstd;

/// Chunk of 64 numbers of type int32, compressed by the command `zstd`.
const CHUNK: [u8; 26] = [
    0x28, 0xb5, 0x2f, 0xfd, 0x60, 0x00, 0x00, 0x85, 0x00, 0x00, 0x28, 0x00, 0x00, 0x01, 0x02, 0x03, 0x04, 0x04, 0x27,
    0x04, 0x42, 0x70, 0xdc, 0xb1, 0x81, 0x36,
];

fn main() -> Result<(), zarr_codec::Error> {
    // The level matters for encoding only. No more than 256 bytes are decoded, whatever the frame claims.
    let bytes = Zstd::new().decode(&CHUNK, 64 * 4)?;
    let numbers: Vec<i32> = bytes.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect();
    println!("{numbers:?}");
    assert_eq!(numbers.len(), 64);
    assert_eq!(numbers[15..17], [0, 1]);
    Ok(())
}

#[test]
fn it_runs() {
    main().expect("the example runs");
}
