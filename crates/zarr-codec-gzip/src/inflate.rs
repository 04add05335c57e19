//! Decompression of raw deflate streams, and reading of the formats around them.

use flate2::{Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use zarr_codec::{Error, Piece, Sink};

/// Minimum size of the output buffer, in bytes, if the decoded size is unknown.
const STEP: usize = 64 << 10;
/// Maximum number of decoded bytes per byte of a deflate stream (zlib's technical notes: 1032:1).
pub(crate) const MAX_RATIO: usize = 1032;

thread_local! {
    /// State of this thread, reused since creating one costs more than decoding a small chunk.
    static STATE: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// Decodes the next deflate stream of `input`, and advances `input` past it. `see` is called with each piece of decoded bytes; there is one
/// piece if the decoded size is known.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::CutOff`], or [`Error::TooLong`] if the decoded bytes exceed the limit of `out`.
pub(crate) fn inflate(input: &mut Reader<'_>, out: &mut Sink<'_>, mut see: impl FnMut(&[u8])) -> Result<(), Error> {
    let codec = input.codec;
    STATE.with_borrow_mut(|state| {
        state.reset(false);
        let rest = input.rest();
        let size = out.pump(rest, room, |rest, target| {
            let before = (state.total_in(), state.total_out());
            let status = state
                .decompress(rest, target, FlushDecompress::Finish)
                .map_err(|error| Error::Corrupt { codec, what: format!("deflate stream: {error}") })?;
            let taken = usize::try_from(state.total_in() - before.0).unwrap_or(usize::MAX);
            let came = usize::try_from(state.total_out() - before.1).unwrap_or(usize::MAX);
            see(target.get(..came).unwrap_or_default());
            Ok(Piece::new(taken, came, status == Status::StreamEnd))
        })?;
        input.skip(size.unwrap_or(rest.len() + 1))
    })
}

/// Returns the size of the output buffer to offer: all missing bytes if the decoded size is known, else steps that grow with the decoded
/// bytes; never more than `input` bytes can decode to.
fn room(out: &Sink<'_>, input: usize) -> usize {
    let due = match out.expected() {
        Some(size) => size.saturating_sub(out.len()),
        None => out.step(STEP),
    };
    due.min(input.saturating_mul(MAX_RATIO).saturating_add(STEP))
}

/// Reader of the bytes around a deflate stream, from front to back.
#[derive(Debug)]
pub(crate) struct Reader<'b> {
    codec: &'static str,
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    pub(crate) fn new(codec: &'static str, bytes: &'b [u8]) -> Self {
        Self { codec, bytes, at: 0 }
    }

    /// Returns the number of bytes read so far.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Returns the bytes read since offset `start`.
    pub(crate) fn since(&self, start: usize) -> &'b [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Returns the bytes not read yet.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Skips the next `count` bytes; fails if there are fewer.
    pub(crate) fn skip(&mut self, count: usize) -> Result<(), Error> {
        if count > self.rest().len() {
            return Err(self.cut_off());
        }
        self.at += count;
        Ok(())
    }

    /// Returns the next `N` bytes; fails if there are fewer.
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (bytes, _) = self.rest().split_first_chunk().ok_or_else(|| self.cut_off())?;
        self.at += N;
        Ok(*bytes)
    }

    /// Skips bytes up to and including the next zero byte.
    pub(crate) fn skip_text(&mut self) -> Result<(), Error> {
        let zero = self.rest().iter().position(|&byte| byte == 0);
        self.skip(zero.map_or(self.rest().len(), |zero| zero) + 1)
    }

    fn cut_off(&self) -> Error {
        Error::CutOff { codec: self.codec, found: self.bytes.len() as u64 }
    }
}
