//! Decompression of streams. Each thread reuses its contexts, since making one costs more than a small stream.

use super::Format;
use crate::blosclz;
use flate2::{Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use zarr_kernels::lz4;
use zstd::bulk::Decompressor;

thread_local! {
    static ZLIB: RefCell<Decompress> = RefCell::new(Decompress::new(true));
    static ZSTD: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Decompresses a whole stream into the beginning of `out`, and returns the number of decompressed bytes. The error is the message of the
/// decoder.
pub(crate) fn decompress(format: Format, stream: &[u8], out: &mut [u8]) -> Result<usize, String> {
    match format {
        Format::Blosclz => blosclz::decompress(stream, out).map_err(|error| error.to_string()),
        Format::Lz4 => lz4::decompress(stream, out).map_err(|error| error.to_string()),
        Format::Snappy => snap::raw::Decoder::new().decompress(stream, out).map_err(|error| error.to_string()),
        Format::Zlib => ZLIB.with_borrow_mut(|context| zlib(context, stream, out)),
        Format::Zstd => ZSTD.with_borrow_mut(|context| zstd(context, stream, out)),
    }
}

fn zlib(context: &mut Decompress, stream: &[u8], out: &mut [u8]) -> Result<usize, String> {
    context.reset(true);
    let status = context.decompress(stream, out, FlushDecompress::Finish).map_err(|error| error.to_string())?;
    if status != Status::StreamEnd {
        return Err("the stream does not end with the block".to_owned());
    }
    if context.total_in() != stream.len() as u64 {
        return Err(format!("the stream ends after {} of {} bytes", context.total_in(), stream.len()));
    }
    usize::try_from(context.total_out()).map_err(|error| error.to_string())
}

fn zstd(context: &mut Option<Decompressor<'static>>, stream: &[u8], out: &mut [u8]) -> Result<usize, String> {
    let context = match context {
        Some(context) => context,
        None => context.insert(Decompressor::new().map_err(|error| error.to_string())?),
    };
    context.decompress_to_buffer(stream, out).map_err(|error| error.to_string())
}
