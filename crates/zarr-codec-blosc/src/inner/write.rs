//! Compression of streams. Each thread reuses its contexts.

use super::Compressor;
use crate::{Error, blosclz};
use flate2::{Compress, Compression, FlushCompress, Status};
use std::cell::RefCell;
use zarr_codec::Scratch;
use zarr_kernels::lz4;
use zstd::bulk::Compressor as Zstd;
use zstd::zstd_safe::ResetDirective;

thread_local! {
    static CHAINS: RefCell<Option<Box<lz4::Chains>>> = const { RefCell::new(None) };
    static SNAPPY: RefCell<snap::raw::Encoder> = RefCell::new(snap::raw::Encoder::new());
    static ZLIB: RefCell<Option<(u8, Compress)>> = const { RefCell::new(None) };
    static ZSTD: RefCell<Option<Zstd<'static>>> = const { RefCell::new(None) };
}

/// Compressor of the streams of one frame.
#[derive(Debug)]
pub(crate) struct Writer {
    compressor: Compressor,
    /// Compression level, 1 to 9.
    level: u8,
    /// Whether blocks are split into streams.
    split: bool,
    scratch: Scratch,
}

impl Writer {
    pub(crate) fn new(compressor: Compressor, level: u8, split: bool) -> Self {
        Self { compressor, level, split, scratch: Scratch::take() }
    }

    /// Returns the compressed stream; `None` if it is not shorter than `plain`, or the compressor finds that it is not shorter than `room`.
    pub(crate) fn compress(&mut self, plain: &[u8], room: usize) -> Result<Option<&[u8]>, Error> {
        // Snappy wants room for the worst case; the others stop when the stream is no shorter.
        let room = match self.compressor {
            Compressor::Snappy => snap::raw::max_compress_len(plain.len()),
            _ => plain.len().min(room),
        };
        let out = self.scratch.sized(room).map_err(|_| Error::Allocation { size: room })?;
        let size = match self.compressor {
            Compressor::Blosclz => blosclz::compress(plain, out, self.level, self.split),
            // As c-blosc 1.21 spreads its levels.
            Compressor::Lz4 => lz4::compress(plain, out, 10 - usize::from(self.level)),
            // As many attempts as LZ4 1.10 makes from level 3 on; its lower levels are about as good as level 3.
            Compressor::Lz4hc => CHAINS.with_borrow_mut(|chains| {
                let chains = chains.get_or_insert_default();
                lz4::compress_high(plain, out, 1 << (self.level.max(3) - 1), chains)
            }),
            Compressor::Snappy => SNAPPY.with_borrow_mut(|encoder| encoder.compress(plain, out).ok()),
            Compressor::Zlib => ZLIB.with_borrow_mut(|context| zlib(context, self.level, plain, out)),
            Compressor::Zstd => ZSTD.with_borrow_mut(|context| zstd(context, self.level, plain, out))?,
        };
        Ok(size.filter(|&size| size > 0 && size < plain.len()).and_then(|size| out.get(..size)))
    }
}

fn zlib(context: &mut Option<(u8, Compress)>, level: u8, plain: &[u8], out: &mut [u8]) -> Option<usize> {
    let context = match context {
        Some((kept, context)) if *kept == level => {
            context.reset();
            context
        }
        _ => &mut context.insert((level, Compress::new(Compression::new(level.into()), true))).1,
    };
    match context.compress(plain, out, FlushCompress::Finish) {
        Ok(Status::StreamEnd) => usize::try_from(context.total_out()).ok(),
        _ => None,
    }
}

fn zstd(context: &mut Option<Zstd<'static>>, level: u8, plain: &[u8], out: &mut [u8]) -> Result<Option<usize>, Error> {
    let failed = |error: std::io::Error| Error::Compressor { compressor: "zstd", what: error.to_string() };
    // As c-blosc 1.21 spreads nine levels over the levels of zstd.
    let level = if level < 9 { i32::from(level) * 2 - 1 } else { *zstd::compression_level_range().end() };
    let context = match context {
        Some(context) => context,
        None => context.insert(Zstd::new(level).map_err(failed)?),
    };
    context.set_compression_level(level).map_err(failed)?;
    let size = context.compress_to_buffer(plain, out).ok();
    if size.is_none() {
        // It failed for lack of room: the stream is no shorter. The context does not know yet that this was its end.
        context
            .context_mut()
            .reset(ResetDirective::SessionOnly)
            .map_err(|code| failed(std::io::Error::other(zstd::zstd_safe::get_error_name(code))))?;
    }
    Ok(size)
}
