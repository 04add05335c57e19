//! LZ4 blocks of this crate, compared with blocks of the C library that comes with c-blosc.
#![expect(unsafe_code)]

use proptest::prelude::*;
use std::ffi::c_int;
use zarr_kernels::lz4;

// The library is linked by this crate.
use blosc_src as _;

unsafe extern "C" {
    fn LZ4_compress_fast(from: *const u8, to: *mut u8, size: c_int, room: c_int, acceleration: c_int) -> c_int;
    fn LZ4_decompress_safe(from: *const u8, to: *mut u8, size: c_int, room: c_int) -> c_int;
}

fn check(plain: &[u8], room: usize, acceleration: usize) {
    let (mut ours, mut theirs) = (vec![0; room], vec![0; room + 1]);
    let found = lz4::compress(plain, &mut ours, acceleration);
    // SAFETY: the buffers have at least these sizes.
    let due = unsafe {
        let (from, to) = (plain.as_ptr(), theirs.as_mut_ptr());
        LZ4_compress_fast(from, to, plain.len() as c_int, room as c_int, acceleration as c_int)
    };
    assert_eq!(found.unwrap_or(0), due as usize, "{} bytes to {room} at {acceleration}", plain.len());
    let Some(size) = found else { return };
    assert!(ours[..size] == theirs[..size], "{} bytes to {room} at {acceleration}", plain.len());
    let mut out = vec![0xEE; plain.len() + 1];
    // SAFETY: the buffers have these sizes.
    let len = unsafe { LZ4_decompress_safe(ours.as_ptr(), out.as_mut_ptr(), size as c_int, plain.len() as c_int) };
    assert_eq!(len as usize, plain.len());
    assert!(out[..plain.len()] == *plain);
    out.fill(0xEE);
    assert_eq!(lz4::decompress(&ours[..size], &mut out), Ok(plain.len()));
    assert!(out[..plain.len()] == *plain);
}

#[test]
fn all_small_sizes() {
    for len in 0..300 {
        for room in [0, len / 2, len, lz4::max_compressed_size(len)] {
            check(&vec![7; len], room, 1);
            check(&(0..len).map(|i| (i % 11 * (i % 3)) as u8).collect::<Vec<_>>(), room, 3);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn any_bytes(
        pieces in prop::collection::vec((0u32..4, 1usize..700, 1usize..90_000), 0..300),
        values in 1u32..300,
        part in 0usize..12,
        acceleration in 0usize..12,
    ) {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 13) % values
        };
        let mut plain: Vec<u8> = Vec::new();
        for (kind, count, distance) in pieces {
            match kind {
                0 => plain.extend((0..count).map(|_| next() as u8)),
                1 => (0..count).for_each(|_| plain.push(plain.len().checked_sub(distance % 20 + 1).map_or(0, |at| plain[at]))),
                _ => (0..count).for_each(|_| plain.push(plain.len().checked_sub(distance).map_or(0, |at| plain[at]))),
            }
        }
        let room = if part > 9 { lz4::max_compressed_size(plain.len()) } else { plain.len() * part / 10 };
        check(&plain, room, acceleration);
    }

    /// For each block that the C library decodes, the decoder of this crate has the same result, except for distances of 0. The decoder
    /// also accepts some blocks that break the rules of the library for the end of a block.
    #[test]
    fn any_damage(
        plain in prop::collection::vec(0u8..3, 20..600),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        room in 0usize..700,
    ) {
        let mut block = vec![0; lz4::max_compressed_size(plain.len())];
        let size = lz4::compress(&plain, &mut block, 1).expect("fits");
        block.truncate(size);
        for (at, byte) in damage {
            let at = at.index(size);
            block[at] = byte;
        }
        let (mut out, mut due) = (vec![0; room], vec![0; room + 1]);
        // SAFETY: the buffers have at least these sizes.
        let len = unsafe { LZ4_decompress_safe(block.as_ptr(), due.as_mut_ptr(), size as c_int, room as c_int) };
        if let Ok(len) = usize::try_from(len) {
            match lz4::decompress(&block, &mut out) {
                // The format says that it is invalid; the C library repeats arbitrary bytes.
                Err(lz4::Error::Distance { distance: 0, .. }) => {}
                found => {
                    prop_assert_eq!(found, Ok(len));
                    prop_assert_eq!(&out[..len], &due[..len]);
                }
            }
        }
    }
}
