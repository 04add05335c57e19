//! Speed of verifying checksums: GB/s of the best of several runs.
//!
//! `cargo bench -p zarr-codec-checksum`

use std::time::Instant;
use zarr_codec::Sink;
use zarr_codec::testing::{bytes_to_bytes, element};
use zarr_codec_checksum::{ADLER32, CRC32, CRC32C, FLETCHER32, JENKINS_LOOKUP3};

fn main() {
    for size in [4 << 10, 64 << 10, 1 << 20] {
        let plain: Vec<u8> = (0..size as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for entry in [&CRC32C, &CRC32, &ADLER32, &FLETCHER32, &JENKINS_LOOKUP3] {
            let codec = bytes_to_bytes(entry, "{}", &element("uint8"));
            let mut encoded = Vec::new();
            codec.encode(&plain, &mut encoded).expect("encodes");
            let turns = (4 << 20) / size;
            let mut best = f64::MAX;
            for _ in 0..9 {
                let start = Instant::now();
                for _ in 0..turns {
                    match codec.decode_in_place(&encoded) {
                        Some(cut) => assert_eq!(cut.expect("is right").len(), size),
                        None => codec.decode(&encoded, &mut Sink::exact(&mut plain.clone())).expect("is right"),
                    }
                }
                best = best.min(start.elapsed().as_secs_f64());
            }
            let speed = (turns * size) as f64 / best / 1e9;
            println!("{:16} {:5} KiB: {speed:6.2} GB/s", codec.name(), size >> 10);
        }
    }
}
