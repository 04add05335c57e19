//! Our kernels and frames against the kernels and frames of c-blosc, in turn: GB/s of the best of several runs, and the
//! ratio.
//!
//! `cargo bench -p zarr-codec-blosc [PART OF A NAME]`
#![expect(unsafe_code)]

use std::ffi::{CString, c_int, c_void};
use std::hint::black_box;
use zarr_bench_protocol::compare;
use zarr_codec_blosc::{Compressor, Options, Shuffle, compress, decode};
use zarr_kernels::{Isa, lz4};

unsafe extern "C" {
    fn blosc_internal_shuffle(type_size: usize, size: usize, from: *const u8, to: *mut u8);
    fn blosc_internal_unshuffle(type_size: usize, size: usize, from: *const u8, to: *mut u8);
    fn blosc_internal_bitshuffle(type_size: usize, size: usize, from: *const u8, to: *mut u8, tmp: *mut u8) -> c_int;
    fn LZ4_compress_fast(from: *const u8, to: *mut u8, size: c_int, room: c_int, acceleration: c_int) -> c_int;
    fn LZ4_decompress_safe(from: *const u8, to: *mut u8, size: c_int, room: c_int) -> c_int;
    fn blosc_internal_bitunshuffle(type_size: usize, size: usize, from: *const u8, to: *mut u8, tmp: *mut u8) -> c_int;
}

fn kernels() {
    let size = 64 << 10;
    let from: Vec<u8> = (0..size as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let (mut to, mut their, mut tmp) = (vec![0; size], vec![0; size], vec![0; size]);
    for isa in Isa::available() {
        for item in [1, 2, 4, 8, 16, 3, 12, 24] {
            // Whole numbers of 8 elements.
            let size = size / (8 * item) * 8 * item;
            let from = &from[..size];
            let (to, their) = (&mut to[..size], &mut their[..size]);
            let name = |what: &str| format!("{what}, {item} bytes, {}", isa.name());
            // SAFETY: all buffers have `size` bytes.
            unsafe {
                if item > 1 {
                    let c = || blosc_internal_shuffle(item, size, from.as_ptr(), their.as_mut_ptr());
                    compare(&name("shuffle"), size, || isa.shuffle_bytes(item, from, to), c);
                    assert!(to == their);
                    let c = || blosc_internal_unshuffle(item, size, from.as_ptr(), their.as_mut_ptr());
                    compare(&name("unshuffle"), size, || isa.unshuffle_bytes(item, from, to), c);
                    assert!(to == their);
                }
                let c = || {
                    blosc_internal_bitshuffle(item, size, from.as_ptr(), their.as_mut_ptr(), tmp.as_mut_ptr());
                };
                compare(&name("bit shuffle"), size, || isa.shuffle_bits(item, from, to), c);
                assert!(to == their);
                let c = || {
                    blosc_internal_bitunshuffle(item, size, from.as_ptr(), their.as_mut_ptr(), tmp.as_mut_ptr());
                };
                compare(&name("bit unshuffle"), size, || isa.unshuffle_bits(item, from, to), c);
                assert!(to == their);
            }
        }
    }
}

/// Returns a smooth field with some noise, in elements of `item` bytes. Compression shrinks the field to a half or a tenth, as with
/// measured data.
fn field(item: usize, size: usize) -> Vec<u8> {
    let mut state = 1u64;
    let wave = |i: usize| (i as f64 / 500.0).sin() * 300.0 + (i as f64 / 70_000.0).cos() * 900.0;
    (0..size / item)
        .flat_map(|i| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let noise = (state >> 40) as f64 / f64::from(1 << 24);
            let bytes = match item {
                2 => u64::from((wave(i) / 8.0 + 200.0 + noise) as u16),
                4 => u64::from(((wave(i) + noise / 10.0) as f32).to_bits()),
                _ => wave(i).to_bits(),
            };
            bytes.to_le_bytes().into_iter().take(item)
        })
        .collect()
}

fn lz4_blocks() {
    for (item, shuffle) in [(4, true), (4, false), (8, true), (2, true)] {
        let mut plain = field(item, 256 << 10);
        if shuffle {
            let elements = plain.clone();
            Isa::best().shuffle_bytes(item, &elements, &mut plain);
        }
        let what = if shuffle { "shuffled " } else { "" };
        let mut block = vec![0; lz4::max_compressed_size(plain.len())];
        let mut their = block.clone();
        let mut size = 0;
        compare(
            &format!("compress lz4, {what}{item} bytes"),
            plain.len(),
            || size = lz4::compress(&plain, &mut block, 1).expect("fits"),
            || {
                let (len, room) = (plain.len() as c_int, their.len() as c_int);
                // SAFETY: both buffers have these sizes.
                unsafe { LZ4_compress_fast(plain.as_ptr(), their.as_mut_ptr(), len, room, 1) };
            },
        );
        size = size.max(lz4::compress(&plain, &mut block, 1).expect("fits"));
        let (mut out, mut c_out) = (plain.clone(), plain.clone());
        compare(
            &format!("decompress lz4, {what}{item} bytes, ratio {:.2}", plain.len() as f64 / size as f64),
            plain.len(),
            || {
                lz4::decompress(&block[..size], &mut out).expect("decodes");
            },
            || {
                // SAFETY: both buffers have these sizes.
                unsafe { LZ4_decompress_safe(block.as_ptr(), c_out.as_mut_ptr(), size as c_int, plain.len() as c_int) };
            },
        );
    }
}

fn frames() {
    for (compressor, level, shuffle, item, size) in [
        (Compressor::Blosclz, 9, Shuffle::Bits, 2, 4 << 20),
        (Compressor::Blosclz, 9, Shuffle::Bits, 2, 64 << 10),
        (Compressor::Blosclz, 5, Shuffle::Bytes, 4, 4 << 20),
        (Compressor::Lz4, 5, Shuffle::Bytes, 4, 4 << 20),
        (Compressor::Lz4, 5, Shuffle::Bits, 4, 4 << 20),
        (Compressor::Lz4, 5, Shuffle::Bytes, 8, 4 << 20),
        (Compressor::Lz4hc, 5, Shuffle::Bytes, 4, 4 << 20),
        (Compressor::Lz4hc, 9, Shuffle::Bits, 2, 1 << 20),
        (Compressor::Zstd, 5, Shuffle::Bytes, 4, 4 << 20),
    ] {
        let plain = field(item, size);
        let options = Options { compressor, level, shuffle, type_size: item, block_size: 0 };
        let name = CString::new(compressor.name()).expect("no zero in a name");
        let kind = match shuffle {
            Shuffle::None => blosc_src::BLOSC_NOSHUFFLE,
            Shuffle::Bytes => blosc_src::BLOSC_SHUFFLE,
            Shuffle::Bits => blosc_src::BLOSC_BITSHUFFLE,
        };
        let mut their = vec![0u8; size + 16];
        let mut c_compress = || {
            // SAFETY: both buffers are valid for their sizes, and the name ends with a zero.
            unsafe {
                blosc_src::blosc_compress_ctx(
                    level.into(),
                    kind as c_int,
                    item,
                    size,
                    plain.as_ptr().cast::<c_void>(),
                    their.as_mut_ptr().cast::<c_void>(),
                    size + 16,
                    name.as_ptr(),
                    0,
                    1,
                )
            }
        };
        let their_size = c_compress() as usize;
        let what = format!("{} {level}, {shuffle:?} of {item}, {} KiB", compressor.name(), size >> 10);
        let mut frame = Vec::new();
        compare(
            &format!("encode {what}"),
            size,
            || {
                frame.clear();
                compress(&plain, &options, &mut frame).expect("compresses");
            },
            || {
                black_box(c_compress());
            },
        );
        let frame = &their[..their_size];
        let (mut out, mut c_out) = (vec![0; size], vec![0u8; size]);
        compare(
            &format!("decode {what}, ratio {:.2}", size as f64 / their_size as f64),
            size,
            || decode(frame, &mut out).expect("decodes"),
            || {
                let to = c_out.as_mut_ptr().cast::<c_void>();
                // SAFETY: the frame is one of c-blosc's, and the output has its size.
                black_box(unsafe { blosc_src::blosc_decompress_ctx(frame.as_ptr().cast::<c_void>(), to, size, 1) });
            },
        );
    }
}

fn main() {
    kernels();
    lz4_blocks();
    frames();
}
