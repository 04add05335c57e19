//! Broken frames: decoding returns an error or a value, never panics, and never needs more memory than the output and a block.
#![expect(unsafe_code)]

use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use zarr_codec_blosc::{Compressor, Options, Shuffle, compress, decode, decode_range};

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// Allocator of the system that records the largest request of each thread.
struct Noting;

fn note(size: usize) {
    // A thread that ends has nothing to note.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: all calls are passed on to the system's allocator as they are.
unsafe impl GlobalAlloc for Noting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Noting = Noting;

/// Bytes allowed besides the output, for contexts of zlib and a table of errors, which are larger than small blocks.
const CONTEXTS: usize = 64 << 10;

fn attempt(frame: &[u8], out: &mut [u8]) {
    LARGEST.set(0);
    let result = decode(frame, out);
    let largest = LARGEST.get();
    assert!(largest <= out.len() + CONTEXTS, "{largest} bytes of memory for {} bytes", out.len());
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
    let middle = out.len() / 3..out.len() / 2;
    // The bytes held may be fewer than the range, which is an error as well.
    let _ = decode_range(frame, middle.clone(), &mut out[middle]);
}

fn frames() -> Vec<(Vec<u8>, usize)> {
    let mut frames = Vec::new();
    for compressor in Compressor::ALL {
        for shuffle in [Shuffle::None, Shuffle::Bytes, Shuffle::Bits] {
            for (len, type_size, block_size) in [(600, 4, 0), (3001, 4, 512), (5000, 2, 4096), (40, 8, 0)] {
                let bytes: Vec<u8> = (0..len as u32).map(|i| (i / 7 * (i % 3)) as u8).collect();
                let mut frame = Vec::new();
                let options = Options { compressor, level: 5, shuffle, type_size, block_size };
                compress(&bytes, &options, &mut frame).expect("compresses");
                frames.push((frame, len));
            }
        }
    }
    frames
}

#[test]
fn flipped_bits() {
    for (frame, len) in frames() {
        let mut out = vec![0; len];
        let step = (frame.len() / 100).max(1);
        for at in (0..frame.len()).filter(|at| *at < 64 || at % step == 0) {
            for bit in 0..8 {
                let mut broken = frame.clone();
                broken[at] ^= 1 << bit;
                attempt(&broken, &mut out);
            }
        }
    }
}

#[test]
fn cut_frames_are_errors_even_with_a_fitting_header() {
    for (frame, len) in frames() {
        let mut out = vec![0; len];
        for cut in 0..frame.len() {
            assert!(decode(&frame[..cut], &mut out).is_err(), "cut at {cut}");
            if cut >= 16 {
                let mut broken = frame[..cut].to_vec();
                broken[12..16].copy_from_slice(&(cut as u32).to_le_bytes());
                attempt(&broken, &mut out);
            }
        }
        let mut longer = frame.clone();
        longer.push(0);
        assert!(decode(&longer, &mut out).is_err());
        assert!(decode(&frame, &mut out[1..]).is_err());
        out.push(0);
        assert!(decode(&frame, &mut out).is_err());
    }
}

#[test]
fn extreme_numbers() {
    let extremes = [0u32, 1, 15, 16, 127, 128, 599, 600, 601, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    for (frame, len) in frames() {
        let mut out = vec![0; len];
        for at in (4..48.min(frame.len() - 3)).step_by(4) {
            for value in extremes {
                let mut broken = frame.clone();
                broken[at..at + 4].copy_from_slice(&value.to_le_bytes());
                attempt(&broken, &mut out);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_damage(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let frames = frames();
        let (mut frame, len) = frames[which.index(frames.len())].clone();
        for (at, byte) in damage {
            let at = at.index(frame.len());
            frame[at] = byte;
        }
        attempt(&frame, &mut vec![0; len]);
    }

    #[test]
    fn any_bytes(head in any::<[u8; 8]>(), body in prop::collection::vec(any::<u8>(), 0..300), len in 0usize..400) {
        let size = 16 + body.len() as u32;
        let mut frame = vec![2, 1, head[0] & 0xf7, head[1] % 20];
        frame.extend((len as u32).to_le_bytes());
        frame.extend((u32::from(head[2]) * 2).to_le_bytes());
        frame.extend(size.to_le_bytes());
        frame.extend(body);
        attempt(&frame, &mut vec![0; len]);
    }
}
