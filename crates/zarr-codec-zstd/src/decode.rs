//! Decompression: at once if the size is known, else frame by frame.

use std::cell::RefCell;
use zarr_codec::{Error, Piece, Sink};
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{
    DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, find_frame_compressed_size, get_error_name,
    get_frame_content_size,
};

/// Name of the codec in errors.
pub(crate) const NAME: &str = "zstd";
/// Maximum number of bytes that a block decodes to. `MIN_BLOCK` is the minimum number of bytes of an encoded block (RFC 8878, 3.1.1.2).
const MAX_BLOCK: usize = 128 << 10;
const MIN_BLOCK: usize = 4;
/// Maximum window, as a power of two, of a frame that is decoded without knowing its size: 128 MiB, which level 22 uses, and which the
/// library by default refuses to exceed. Frames of known size are decoded in place and need no window.
const MAX_WINDOW_LOG: u32 = 27;
/// Maximum number of bytes of a context that is kept for the next chunk.
const MAX_KEPT: usize = 16 << 20;
/// Bytes at the start of a frame (RFC 8878, 3.1.1). The first byte of a skippable frame may have any low four bits.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const SKIPPABLE: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

thread_local! {
    /// Context of this thread, reused since creating one takes longer than decoding a small chunk.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Returns whether the header of the first frame announces a checksum of the content (RFC 8878, 3.1.1.1.1).
pub(crate) fn has_checksum(bytes: &[u8]) -> bool {
    bytes.strip_prefix(&MAGIC).and_then(|frame| frame.first()).is_some_and(|descriptor| descriptor & 4 != 0)
}

/// Decodes all frames of `bytes`.
///
/// # Errors
/// [`Error::CutOff`], [`Error::TooLong`], [`Error::Corrupt`], or [`Error::Limit`] for a window beyond 128 MiB.
pub(crate) fn decode(bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
    if bytes.is_empty() {
        return Err(cut_off(0));
    }
    CONTEXT.with_borrow_mut(|kept| {
        let mut context = match kept.take() {
            Some(context) => context,
            None => DCtx::try_create().ok_or(Error::Allocation { size: 0 })?,
        };
        let result = match out.expected() {
            Some(size) => at_once(&mut context, bytes, size.saturating_sub(out.len()), out),
            None => by_frames(&mut context, bytes, out),
        };
        if context.sizeof() <= MAX_KEPT {
            *kept = Some(context);
        }
        result
    })
}

/// Decodes all frames to the `due` bytes that are still missing in `out`.
fn at_once(context: &mut DCtx<'_>, bytes: &[u8], due: usize, out: &mut Sink<'_>) -> Result<(), Error> {
    let room = due.min(most(bytes.len()));
    let buffer = out.buffer(room)?;
    let came = context.decompress(buffer, bytes).map_err(|code| fault(code, bytes, due))?;
    out.unwrite(room.saturating_sub(came));
    Ok(())
}

fn by_frames(context: &mut DCtx<'_>, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
    let bound = out.bound();
    let mut rest = bytes;
    while !rest.is_empty() {
        let len = find_frame_compressed_size(rest).map_err(|code| fault(code, bytes, bound))?;
        let (frame, next) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        let claim = get_frame_content_size(frame).map_err(|_| corrupt("a frame's size is not to be read"))?;
        match claim {
            None => stream(context, frame, out)?,
            Some(size) if size > most(frame.len()) as u64 => {
                return Err(corrupt(&format!("a frame of {} bytes claims to hold {size}", frame.len())));
            }
            Some(size) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                if size > bound.saturating_sub(out.len()) {
                    return Err(too_long(out.len().saturating_add(size), bound));
                }
                at_once(context, frame, size, out)?;
            }
        }
        rest = next;
    }
    Ok(())
}

/// Decodes a single frame that does not state its decoded size.
fn stream(context: &mut DCtx<'_>, frame: &[u8], out: &mut Sink<'_>) -> Result<(), Error> {
    let bound = out.bound();
    let failed = |code: usize| fault(code, frame, bound);
    context.reset(ResetDirective::SessionOnly).map_err(failed)?;
    context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(failed)?;
    let size = out.pump(
        frame,
        |out, left| out.step(MAX_BLOCK).min(most(left)),
        |rest, buffer| {
            let (mut input, mut output) = (InBuffer::around(rest), OutBuffer::around(buffer));
            let hint = context.decompress_stream(&mut output, &mut input).map_err(failed)?;
            Ok(Piece::new(input.pos(), output.pos(), hint == 0))
        },
    )?;
    size.map(drop).ok_or_else(|| cut_off(frame.len()))
}

/// Returns an upper bound of the number of bytes that `size` bytes of frames decode to.
fn most(size: usize) -> usize {
    (size / MIN_BLOCK).saturating_add(1).saturating_mul(MAX_BLOCK)
}

/// Returns the error for an error code of the library. `bound` is the maximum number of decoded bytes.
fn fault(code: usize, bytes: &[u8], bound: usize) -> Error {
    // The library's functions return an error `e` as `-e`.
    let is = |error: ZSTD_ErrorCode| code.wrapping_neg() == error as usize;
    if is(ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) {
        return too_long(bound.saturating_add(1), bound);
    }
    if is(ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        return Error::Allocation { size: bytes.len() as u64 };
    }
    if is(ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        let limit = 1 << MAX_WINDOW_LOG;
        return Error::Limit { what: "window of a zstd frame of unknown size", found: limit + 1, limit };
    }
    if is(ZSTD_ErrorCode::ZSTD_error_srcSize_wrong) || is(ZSTD_ErrorCode::ZSTD_error_prefix_unknown) {
        return leftover(bytes).unwrap_or_else(|| no_frame(bytes));
    }
    corrupt(get_error_name(code))
}

/// Returns the error for the bytes of `bytes` after the last complete frame; `None` if there are no such bytes, or `bytes` do not begin
/// with a frame at all.
fn leftover(bytes: &[u8]) -> Option<Error> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match find_frame_compressed_size(rest) {
            Ok(len) => rest = rest.get(len..).unwrap_or_default(),
            Err(_) if begins_frame(rest) => return Some(cut_off(bytes.len())),
            Err(_) if rest.len() == bytes.len() => return None,
            Err(_) => return Some(too_long(bytes.len(), bytes.len() - rest.len())),
        }
    }
    None
}

/// Returns the error for bytes that are not a frame.
fn no_frame(bytes: &[u8]) -> Error {
    let begin = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    corrupt(&format!("found {begin:02x?} at the beginning of {} bytes, expected {MAGIC:02x?}", bytes.len()))
}

fn begins_frame(bytes: &[u8]) -> bool {
    let same = |magic: [u8; 4], mask: u8| {
        bytes.iter().zip(magic).enumerate().all(
            |(position, (&byte, due))| {
                if position == 0 { byte & mask == due } else { byte == due }
            },
        )
    };
    same(MAGIC, 0xff) || same(SKIPPABLE, 0xf0)
}

fn corrupt(what: &str) -> Error {
    Error::Corrupt { codec: NAME, what: what.to_lowercase() }
}

fn cut_off(found: usize) -> Error {
    Error::CutOff { codec: NAME, found: found as u64 }
}

fn too_long(found: usize, expected: usize) -> Error {
    Error::TooLong { codec: NAME, found: found as u64, expected: expected as u64 }
}
