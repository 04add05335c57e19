//! Compression.

use crate::decode::NAME;
use std::cell::RefCell;
use std::io::Cursor;
use zarr_codec::Error;
use zstd::zstd_safe::{CCtx, CParameter, ResetDirective, compress_bound, get_error_name};

/// Maximum number of bytes of a context that is kept for the next chunk: the highest levels use hundreds of megabytes.
const MAX_KEPT: usize = 64 << 20;

thread_local! {
    /// Context of this thread, reused since creating one takes as long as compressing a small chunk.
    static CONTEXT: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
}

/// Appends `bytes` as a single frame.
///
/// # Errors
/// [`Error::Allocation`], or [`Error::Encode`] with the message of the library.
pub(crate) fn encode(bytes: &[u8], level: i32, checksum: bool, out: &mut Vec<u8>) -> Result<(), Error> {
    CONTEXT.with_borrow_mut(|kept| {
        let no_memory = |size: usize| Error::Allocation { size: size as u64 };
        let failed = |code: usize| Error::Encode { codec: NAME, what: get_error_name(code).to_owned() };
        let mut context = match kept.take() {
            Some(context) => context,
            None => CCtx::try_create().ok_or_else(|| no_memory(0))?,
        };
        context.reset(ResetDirective::SessionAndParameters).map_err(failed)?;
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(failed)?;
        context.set_parameter(CParameter::ChecksumFlag(checksum)).map_err(failed)?;
        let bound = compress_bound(bytes.len());
        out.try_reserve(bound).map_err(|_| no_memory(bound))?;
        let start = out.len() as u64;
        let mut end = Cursor::new(out);
        end.set_position(start);
        context.compress2(&mut end, bytes).map_err(failed)?;
        if context.sizeof() <= MAX_KEPT {
            *kept = Some(context);
        }
        Ok(())
    })
}
