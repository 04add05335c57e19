//! Compression to a raw deflate stream.

use flate2::{Compress, Compression, FlushCompress};
use std::cell::RefCell;
use zarr_codec::Error;

/// Number of bytes by which the output grows if the estimate was too small.
const MORE: usize = 64 << 10;
/// Maximum number of bytes passed to flate2 at once: it accepts at most 4 GiB, and would apply `Finish` to the part it accepted.
const PIECE: usize = 1 << 30;

thread_local! {
    /// Level and state that this thread used last: creating a state clears a quarter of a megabyte.
    static STATE: RefCell<Option<(u32, Compress)>> = const { RefCell::new(None) };
}

/// Compresses `input`, and appends it as a deflate stream to `out`.
///
/// # Errors
/// [`Error::Allocation`].
pub(crate) fn deflate(codec: &'static str, input: &[u8], level: u32, out: &mut Vec<u8>) -> Result<(), Error> {
    STATE.with_borrow_mut(|kept| {
        let state = match kept {
            Some((of, state)) if *of == level => {
                state.reset();
                state
            }
            _ => &mut kept.insert((level, Compress::new(Compression::new(level), false))).1,
        };
        // As zlib's `deflateBound` has it for its default parameters.
        reserve(out, input.len() + (input.len() >> 12) + (input.len() >> 14) + (input.len() >> 25) + 32)?;
        let mut rest = input;
        loop {
            if out.len() == out.capacity() {
                reserve(out, MORE)?;
            }
            let piece = rest.get(..PIECE).unwrap_or(rest);
            let flush = if piece.len() == rest.len() { FlushCompress::Finish } else { FlushCompress::None };
            let before = state.total_in();
            let status = state
                .compress_vec(piece, out, flush)
                .map_err(|error| Error::Encode { codec, what: error.to_string() })?;
            let used = usize::try_from(state.total_in() - before).unwrap_or(usize::MAX);
            rest = rest.get(used..).unwrap_or_default();
            if status == flate2::Status::StreamEnd {
                return Ok(());
            }
        }
    })
}

fn reserve(out: &mut Vec<u8>, size: usize) -> Result<(), Error> {
    out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })
}
