//! Transposes of planes, tile by tile.
//!
//! A tile is read in whole lines of the cache into a buffer, transposed there, and written in whole lines: each line of source
//! and target is touched once. Reading elements straight from a source whose rows lie a power of two apart would throw the
//! lines out of the first-level cache between one element and the next, since such rows share a few sets of it.

use super::copy_element::{Action, Axis, CopyElement};
use std::mem::MaybeUninit;
use zarr_kernels::Rows;

/// Size in bytes of the largest tiles: 64 × 64 elements of 1 byte, or 16 × 16 elements of 16 bytes.
const TILE: usize = 4096;

#[repr(align(64))]
struct Buffer(MaybeUninit<[u8; TILE]>);

impl Buffer {
    const NEW: Self = Self(MaybeUninit::uninit());

    fn ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// Copies a plane whose elements are contiguous along `across` in the source and along `row` in the target.
///
/// # Safety
/// All elements of the plane, which begins at `from`, can be read, and written to the plane that begins at `to`; the planes do not overlap.
pub(super) unsafe fn plane<C: CopyElement>(to: *mut u8, from: *const u8, across: Axis, row: Axis, how: Action) {
    let Some((item, side)) = C::TILE else { return };
    let line = (side * item) as isize;
    let (mut read, mut transposed) = (Buffer::NEW, Buffer::NEW);
    let (read, transposed) = (read.ptr(), transposed.ptr());
    for a0 in (0..across.len).step_by(side) {
        let width = side.min(across.len - a0);
        for r0 in (0..row.len).step_by(side) {
            let height = side.min(row.len - r0);
            let (a, r) = (a0 as isize, r0 as isize);
            let lines = Rows { count: height, len: width * item, to_step: line, from_step: row.from };
            let out = Rows { count: width, len: height * item, to_step: across.to, from_step: line };
            // SAFETY: elements `a0..a0 + width` of the rows `r0..r0 + height` are elements of the plane; both buffers have room for
            // `side` lines of `side` elements, and reads of `transposed` only touch bytes that were written.
            unsafe {
                let (to, from) = (to.offset(a * across.to + r * row.to), from.offset(a * across.from + r * row.from));
                how.isa.copy_rows(read, from, lines, 1, false);
                if (width, height) == (side, side) {
                    transpose::<C>(transposed, read, side, side, side, item);
                } else {
                    transpose::<C>(transposed, read, side, width, height, item);
                }
                how.isa.copy_rows(to, transposed, out, 1, how.stream);
            }
        }
    }
}

/// Transposes `width` × `height` elements of a tile; lines have `side` elements in source and target.
///
/// # Safety
/// The elements that begin at `from` can be read, and the elements that begin at `to` can be written.
#[inline(always)]
unsafe fn transpose<C: CopyElement>(
    to: *mut u8,
    from: *const u8,
    side: usize,
    width: usize,
    height: usize,
    item: usize,
) {
    for a in 0..width {
        for r in 0..height {
            // SAFETY: as the caller says.
            unsafe { C::copy(to.add((a * side + r) * item), from.add((r * side + a) * item), item) };
        }
    }
}
