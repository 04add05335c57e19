//! How elements are copied one by one: as they are, or with their bytes reversed.

use zarr_kernels::Isa;

/// One axis of a loop: elements, and the bytes from one to the next in the target and the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) len: usize,
    pub(super) to: isize,
    pub(super) from: isize,
}

/// The properties of a whole copy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    pub(super) isa: Isa,
    /// Bytes of an element, or of the scalars it is made of where these are reversed.
    pub(super) item: usize,
    /// Whether whole lines go past the caches.
    pub(super) stream: bool,
}

/// How one element is copied.
pub(super) trait CopyElement {
    /// Bytes of the scalars that are reversed in contiguous elements, 1 if they stay as they are; `None` if such elements are
    /// copied one by one.
    const REVERSED: Option<usize>;
    /// Bytes of an element if it is one that transposes have a loop for, and how many of them are a side of their tiles.
    const TILE: Option<(usize, usize)>;
    /// # Safety
    /// `item` bytes can be read at `from` and written at `to`, and do not overlap.
    unsafe fn copy(to: *mut u8, from: *const u8, item: usize);
}

/// Tiles are at least a line of the cache wide, and at least 16 elements.
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
