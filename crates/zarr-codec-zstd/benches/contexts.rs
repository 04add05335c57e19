//! The codec, which keeps contexts between chunks, compared with a new context and buffer for each chunk: GB/s of the best of several runs,
//! in turn, and the ratio.
//!
//! `cargo bench -p zarr-codec-zstd`

use std::hint::black_box;
use zarr_bench_protocol::compare;
use zarr_codec::Sink;
use zarr_codec::testing::{bytes_to_bytes, element};
use zarr_codec_zstd::ZSTD;

fn main() {
    let codec = bytes_to_bytes(&ZSTD, r#"{"level": 3, "checksum": false}"#, &element("uint16"));
    for size in [4 << 10, 64 << 10, 1 << 20] {
        let wave = |i: usize| (i as f64 / 900.0).sin() * 300.0 + ((i * i) % 13) as f64;
        let plain: Vec<u8> = (0..size / 2).flat_map(|i| (wave(i) as i16).to_le_bytes()).collect();
        let (mut encoded, mut out) = (Vec::new(), vec![0; size]);
        compare(
            &format!("encode {} KiB", size >> 10),
            size,
            || {
                encoded.clear();
                codec.encode(&plain, &mut encoded).expect("encodes");
            },
            || {
                black_box(zstd::bulk::compress(&plain, 3).expect("encodes"));
            },
        );
        compare(
            &format!("decode {} KiB", size >> 10),
            size,
            || codec.decode(&encoded, &mut Sink::exact(&mut out)).expect("decodes"),
            || {
                black_box(zstd::bulk::decompress(&encoded, size).expect("decodes"));
            },
        );
        assert!(out == plain);
    }
}
