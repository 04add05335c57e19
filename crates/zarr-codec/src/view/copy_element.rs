//! Copies of single elements, with or without reversing their bytes.

use zarr_kernels::Isa;

/// Axis of a copy loop: number of elements, and distance in bytes between neighbours in target and source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) len: usize,
    pub(super) to: isize,
    pub(super) from: isize,
}

/// Parameters of a whole copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    pub(super) isa: Isa,
    /// Number of bytes of an element; of a scalar of the element if bytes are reversed.
    pub(super) item: usize,
    /// Whether writes of whole cache lines bypass the caches.
    pub(super) stream: bool,
}

/// Way to copy one element.
pub(super) trait CopyElement {
    /// Number of bytes of the scalars that are reversed in contiguous elements; 1 if bytes are not reversed; `None` if even contiguous
    /// elements are copied one by one.
    const REVERSED: Option<usize>;
    /// Number of bytes of an element and the side of a tile in elements, for elements that transposes copy by tiles; `None` for other
    /// elements.
    const TILE: Option<(usize, usize)>;
    /// # Safety
    /// `item` bytes can be read at `from` and written at `to`, and do not overlap.
    unsafe fn copy(to: *mut u8, from: *const u8, item: usize);
}

/// Size of an element and side of a tile: at least a cache line wide, and at least 16 elements.
const fn tile(item: usize) -> Option<(usize, usize)> {
    Some((item, if item > 4 { 16 } else { 64 / item }))
}

pub(super) struct AsIs<const N: usize>;
impl<const N: usize> CopyElement for AsIs<N> {
    const REVERSED: Option<usize> = Some(1);
    const TILE: Option<(usize, usize)> = tile(N);
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: as the caller says; `[u8; N]` has no alignment.
        unsafe { to.cast::<[u8; N]>().write(from.cast::<[u8; N]>().read()) };
    }
}

pub(super) struct AsIsAny;
impl CopyElement for AsIsAny {
    const REVERSED: Option<usize> = Some(1);
    const TILE: Option<(usize, usize)> = None;
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, item: usize) {
        // SAFETY: as the caller says.
        unsafe { std::ptr::copy_nonoverlapping(from, to, item) };
    }
}

pub(super) struct Reversed<const N: usize>;
impl<const N: usize> CopyElement for Reversed<N> {
    const REVERSED: Option<usize> = Some(N);
    const TILE: Option<(usize, usize)> = tile(N);
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, _: usize) {
        // SAFETY: as the caller says; `[u8; N]` has no alignment.
        unsafe {
            let mut bytes = from.cast::<[u8; N]>().read();
            bytes.reverse();
            to.cast::<[u8; N]>().write(bytes);
        }
    }
}

pub(super) struct ReversedAny;
impl CopyElement for ReversedAny {
    const REVERSED: Option<usize> = None;
    const TILE: Option<(usize, usize)> = None;
    #[inline(always)]
    unsafe fn copy(to: *mut u8, from: *const u8, item: usize) {
        for i in 0..item {
            // SAFETY: as the caller says.
            unsafe { to.add(i).write(from.add(item - 1 - i).read()) };
        }
    }
}
