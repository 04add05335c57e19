//! Compression and decompression of whole deflate streams by the C library libdeflate.
#![expect(unsafe_code)]

use crate::inflate::{MAX_RATIO, Reader};
use libdeflate_sys as sys;
use std::cell::RefCell;
use std::ptr::NonNull;
use zarr_codec::{Error, Sink};

/// Compressor of one level.
///
/// Invariant: the pointer came from `libdeflate_alloc_compressor` and is freed once, by `drop`.
#[derive(Debug)]
struct Compressor {
    level: u32,
    state: NonNull<sys::libdeflate_compressor>,
}

impl Compressor {
    /// Creates a compressor; `None` if there is no such level, or no memory.
    fn new(level: u32) -> Option<Self> {
        let number = i32::try_from(level).ok()?;
        // SAFETY: takes any number, and gives null for a number that is no level.
        let state = NonNull::new(unsafe { sys::libdeflate_alloc_compressor(number) })?;
        Some(Self { level, state })
    }

    /// Returns the maximum compressed size of `size` bytes.
    fn bound(&mut self, size: usize) -> usize {
        // SAFETY: the state is alive; only its level is looked at.
        unsafe { sys::libdeflate_deflate_compress_bound(self.state.as_ptr(), size) }
    }

    /// Appends `input` as a deflate stream to `out`, within its capacity. Returns false if the capacity is too small.
    fn append(&mut self, input: &[u8], out: &mut Vec<u8>) -> bool {
        let room = out.spare_capacity_mut();
        // SAFETY: the state is alive and borrowed exclusively. The input is read within its length, and no more than
        // `room.len()` bytes are written to `room`, which is borrowed exclusively and does not overlap with the input.
        let size = unsafe {
            sys::libdeflate_deflate_compress(
                self.state.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                room.as_mut_ptr().cast(),
                room.len(),
            )
        };
        let fits = (1..=room.len()).contains(&size);
        if fits {
            // SAFETY: the first `size` bytes of the room, which lies behind the length, were written.
            unsafe { out.set_len(out.len() + size) };
        }
        fits
    }
}

impl Drop for Compressor {
    fn drop(&mut self) {
        // SAFETY: the invariant; nothing uses the pointer afterwards.
        unsafe { sys::libdeflate_free_compressor(self.state.as_ptr()) }
    }
}

/// Decompressor of libdeflate.
///
/// Invariant: the pointer came from `libdeflate_alloc_decompressor` and is freed once, by `drop`.
#[derive(Debug)]
struct Decompressor(NonNull<sys::libdeflate_decompressor>);

impl Decompressor {
    /// Creates a decompressor; `None` if there is no memory.
    fn new() -> Option<Self> {
        // SAFETY: takes nothing, and gives null where there is no memory.
        NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Decodes the deflate stream at the beginning of `input` to the beginning of `output`. Returns the size of the stream and the number
    /// of decoded bytes; the rest of `output` is arbitrary. `None` if the stream is broken or does not fit.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Option<(usize, usize)> {
        let (mut taken, mut came) = (0, 0);
        // SAFETY: the state is alive and borrowed exclusively. The input is read within its length.
        // At most `output.len()` bytes are written to `output`, which is borrowed exclusively. `taken` and `came` are locals.
        let result = unsafe {
            sys::libdeflate_deflate_decompress_ex(
                self.0.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                output.as_mut_ptr().cast(),
                output.len(),
                &raw mut taken,
                &raw mut came,
            )
        };
        (result == sys::libdeflate_result_LIBDEFLATE_SUCCESS).then_some((taken, came))
    }
}

impl Drop for Decompressor {
    fn drop(&mut self) {
        // SAFETY: the invariant; nothing uses the pointer afterwards.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

thread_local! {
    /// Compressor that this thread used last: creating one costs more than encoding a small chunk.
    static COMPRESSOR: RefCell<Option<Compressor>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor>> = const { RefCell::new(None) };
}

/// Compresses `input`, and appends it as a deflate stream to `out`.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn deflate(codec: &'static str, input: &[u8], level: u32, out: &mut Vec<u8>) -> Result<(), Error> {
    let failed = |what: &str| Error::Encode { codec, what: format!("{what} at level {level}") };
    COMPRESSOR.with_borrow_mut(|kept| {
        let state = match kept {
            Some(state) if state.level == level => state,
            _ => kept.insert(Compressor::new(level).ok_or_else(|| failed("no compressor"))?),
        };
        let bound = state.bound(input.len());
        out.try_reserve(bound).map_err(|_| Error::Allocation { size: bound as u64 })?;
        if state.append(input, out) { Ok(()) } else { Err(failed("more bytes than there may be")) }
    })
}

/// Decodes the next deflate stream of `input`, and advances `input` past the stream and the `N` bytes after it, if `is_right` accepts these
/// bytes for the decoded bytes. Returns false, with `input` and `out` unchanged, if the stream is broken or exceeds `out`, or if the
/// decoded size is unknown. The caller then uses the other decoder, which reports the error if there is one.
///
/// # Errors
/// The same errors as [`Sink::buffer`].
pub(crate) fn inflate_at_once<const N: usize>(
    input: &mut Reader<'_>,
    out: &mut Sink<'_>,
    is_right: impl FnOnce(&[u8], [u8; N]) -> bool,
) -> Result<bool, Error> {
    let rest = input.rest();
    let due = out.expected().map(|size| size.saturating_sub(out.len()));
    // A small input cannot claim much memory.
    let Some(due) = due.filter(|due| due / MAX_RATIO <= rest.len()) else { return Ok(false) };
    let output = out.buffer(due)?;
    let decoded = DECOMPRESSOR.with_borrow_mut(|kept| {
        if kept.is_none() {
            *kept = Decompressor::new();
        }
        kept.as_mut()?.decode(rest, output)
    });
    let end = decoded.and_then(|(taken, came)| {
        let trailer = rest.get(taken..)?.first_chunk()?;
        is_right(output.get(..came)?, *trailer).then_some((taken + N, came))
    });
    out.unwrite(due - end.map_or(0, |(_, came)| came));
    if let Some((taken, _)) = end {
        input.skip(taken)?;
    }
    Ok(end.is_some())
}
