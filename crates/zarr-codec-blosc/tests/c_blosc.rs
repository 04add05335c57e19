//! Frames of this crate and of c-blosc, each read by both.
#![expect(unsafe_code)]

use proptest::prelude::*;
use std::ffi::{CString, c_int, c_void};
use zarr_codec_blosc::{Compressor, Header, Options, Shuffle, compress, decode, decode_range};

fn c_compress(bytes: &[u8], options: &Options) -> Vec<u8> {
    let mut out = vec![0; bytes.len() + blosc_src::BLOSC_MAX_OVERHEAD as usize];
    let name = CString::new(options.compressor.name()).expect("no zero in a name");
    let shuffle = match options.shuffle {
        Shuffle::None => blosc_src::BLOSC_NOSHUFFLE,
        Shuffle::Bytes => blosc_src::BLOSC_SHUFFLE,
        Shuffle::Bits => blosc_src::BLOSC_BITSHUFFLE,
    };
    // SAFETY: both pointers are valid for the sizes given, the name ends with a zero, and the context call uses no global.
    let size = unsafe {
        blosc_src::blosc_compress_ctx(
            options.level.into(),
            shuffle as c_int,
            options.type_size,
            bytes.len(),
            bytes.as_ptr().cast::<c_void>(),
            out.as_mut_ptr().cast::<c_void>(),
            out.len(),
            name.as_ptr(),
            options.block_size,
            1,
        )
    };
    assert!(size >= 16, "c-blosc compresses {options:?}: {size}");
    out.truncate(size as usize);
    out
}

fn c_decompress(frame: &[u8], size: usize) -> Vec<u8> {
    let mut found = 0;
    // SAFETY: the frame is valid for its length.
    let valid =
        unsafe { blosc_src::blosc_cbuffer_validate(frame.as_ptr().cast::<c_void>(), frame.len(), &raw mut found) };
    assert_eq!((valid, found), (0, size), "a valid frame");
    // A byte of room, so that the pointer of an empty output is one.
    let mut out = vec![0; size + 1];
    // SAFETY: the frame is one, which was just checked, and the output is valid for its length.
    let found = unsafe {
        blosc_src::blosc_decompress_ctx(frame.as_ptr().cast::<c_void>(), out.as_mut_ptr().cast::<c_void>(), size, 1)
    };
    assert_eq!(found, size as c_int, "c-blosc decompresses");
    out.truncate(size);
    out
}

/// Returns bytes that compress well, bytes that compress a little, and bytes that do not compress.
fn samples(len: usize) -> [Vec<u8>; 3] {
    let slope = (0..len as u32).map(|i| (((i / 4) * 3 + (i / 4) % 5) >> (8 * (i % 4))) as u8).collect();
    let mut state = 1u64;
    let noise = (0..len).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as u8
    });
    [vec![42; len], slope, noise.collect()]
}

/// Returns whether frames of this crate equal those of c-blosc byte for byte.
fn same_bytes(compressor: Compressor) -> bool {
    matches!(compressor, Compressor::Blosclz | Compressor::Lz4 | Compressor::Zstd)
}

fn check(bytes: &[u8], options: &Options) {
    let what = format!("{} bytes, {options:?}", bytes.len());
    let theirs = c_compress(bytes, options);
    let mut ours = Vec::new();
    compress(bytes, options, &mut ours).expect("compresses");

    if same_bytes(options.compressor) {
        assert!(ours == theirs, "the same bytes, {what}: {} and {} bytes", ours.len(), theirs.len());
    }

    let mut out = vec![0xEE; bytes.len()];
    assert_eq!(decode(&theirs, &mut out).map_err(|error| error.to_string()), Ok(()), "theirs, {what}");
    assert!(out == bytes, "theirs read by us, {what}");
    out.fill(0xEE);
    assert_eq!(decode(&ours, &mut out).map_err(|error| error.to_string()), Ok(()), "ours, {what}");
    assert!(out == bytes, "ours read by us, {what}");
    assert!(c_decompress(&ours, bytes.len()) == bytes, "ours read by theirs, {what}");

    let range = bytes.len() / 3..bytes.len() - bytes.len() / 4;
    let part = &mut out[range.clone()];
    part.fill(0xEE);
    assert_eq!(decode_range(&theirs, range.clone(), part).map_err(|error| error.to_string()), Ok(()), "range, {what}");
    assert!(*part == bytes[range], "a range, {what}");

    let (ours, theirs) = (Header::parse(&ours).expect("header"), Header::parse(&theirs).expect("header"));
    assert_eq!(ours.block_size(), theirs.block_size(), "block size, {what}");
    assert_eq!(ours.shuffle(), theirs.shuffle(), "shuffle, {what}");
    assert_eq!(ours.format(), theirs.format(), "format, {what}");
}

fn matrix(compressor: Compressor) {
    for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
        for type_size in [1, 2, 3, 4, 8, 12, 16, 17, 255, 256] {
            for level in [0, 1, 5, 9] {
                for len in [0, 1, 15, 127, 128, 1000, 4096, 70_001] {
                    // The highest levels of zstd take their time.
                    if level == 9 && len > 4096 && compressor == Compressor::Zstd && type_size != 4 {
                        continue;
                    }
                    for bytes in samples(len) {
                        check(&bytes, &Options { compressor, level, shuffle, type_size, block_size: 0 });
                    }
                }
            }
        }
    }
}

#[test]
fn blosclz() {
    matrix(Compressor::Blosclz);
}

#[test]
fn lz4() {
    matrix(Compressor::Lz4);
}

#[test]
fn lz4hc() {
    matrix(Compressor::Lz4hc);
}

#[test]
fn snappy() {
    matrix(Compressor::Snappy);
}

#[test]
fn zlib() {
    matrix(Compressor::Zlib);
}

#[test]
fn zstd() {
    matrix(Compressor::Zstd);
}

#[test]
fn many_blocks_of_any_size() {
    for compressor in Compressor::ALL {
        for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
            for (type_size, block_size) in
                [(1, 1), (4, 128), (4, 1000), (3, 5000), (16, 40_000), (200, 130), (8, 1 << 30)]
            {
                for level in 1..=3 {
                    let bytes = &samples(300_007)[1];
                    check(bytes, &Options { compressor, level, shuffle, type_size, block_size });
                }
            }
        }
    }
}

#[test]
fn all_block_sizes_are_theirs() {
    for compressor in Compressor::ALL {
        for level in 0..=9 {
            for (len, type_size) in [(32_767, 4), (32_768, 1), (1 << 20, 8), (3 << 20, 2), (2_000_000, 12)] {
                if level > 3 && compressor.name() == "zstd" || level > 7 && compressor.name() == "zlib" {
                    continue;
                }
                let bytes = vec![0; len];
                check(&bytes, &Options { compressor, level, shuffle: Shuffle::Bytes, type_size, block_size: 0 });
            }
        }
    }
}

/// Encoders of LZ4HC, Snappy and zlib that differ from those of c-blosc must not compress much worse.
#[test]
fn ratios_are_near() {
    for compressor in Compressor::ALL {
        for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
            for level in [1, 5, 9] {
                let bytes: Vec<u8> = (0..250_000i32)
                    .flat_map(|i| {
                        (280.0 + 20.0 * (f64::from(i) / 3000.0).sin() + f64::from(i % 1000 * (i % 1000) % 17) / 40.0)
                            .round()
                            .to_le_bytes()
                    })
                    .take(if compressor == Compressor::Zstd { 200_000 } else { 2_000_000 })
                    .collect();
                let options = Options { compressor, level, shuffle, type_size: 8, block_size: 0 };
                let (mut ours, theirs) = (Vec::new(), c_compress(&bytes, &options));
                compress(&bytes, &options, &mut ours).expect("compresses");
                let worse = ours.len() as f64 / theirs.len() as f64;
                let bound = match compressor {
                    // The first level of zlib-rs is faster and weaker than zlib's.
                    Compressor::Zlib if level == 1 => 1.7,
                    _ => 1.25,
                };
                assert!(worse < bound, "{options:?}: ours {} theirs {}", ours.len(), theirs.len());
            }
        }
    }
}

/// Generates bytes that repeat earlier bytes from near and far, among bytes that are no repetition.
fn arb_repeats() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec((0u32..4, 1usize..400, 1usize..80_000), 0..100);
    (0usize..90_000, 1u32..300, pieces).prop_map(|(len, values, pieces)| {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 13) % values
        };
        let mut bytes: Vec<u8> = (0..len).map(|_| next() as u8).collect();
        for (kind, count, distance) in pieces {
            let distance = if kind == 1 { 1 + distance % 40 } else { distance };
            match kind {
                0 => bytes.extend((0..count % 60).map(|_| next() as u8)),
                _ if distance > bytes.len() => bytes.resize(bytes.len() + count, next() as u8),
                _ => (0..count).for_each(|_| bytes.push(bytes[bytes.len() - distance])),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_bytes(
        bytes in arb_repeats(),
        compressor in prop::sample::select(Compressor::ALL.to_vec()),
        level in 1u8..8,
        shuffle in prop::sample::select(vec![Shuffle::None, Shuffle::Bytes, Shuffle::Bits]),
        type_size in 1usize..20,
        block_size in prop_oneof![Just(0), 1usize..100_000],
    ) {
        check(&bytes, &Options { compressor, level, shuffle, type_size, block_size });
    }

    #[test]
    fn any_bytes_by_blosclz(
        bytes in arb_repeats(),
        level in 1u8..10,
        shuffle in prop::sample::select(vec![Shuffle::None, Shuffle::Bits]),
        type_size in 1usize..4,
    ) {
        check(&bytes, &Options { compressor: Compressor::Blosclz, level, shuffle, type_size, block_size: 0 });
    }
}
