//! Decompressing raw deflate streams, and reading the formats around them.

use flate2::{Decompress, FlushDecompress, Status};
use std::cell::RefCell;
use zarr_codec::{Error, Piece, Sink};

/// The least room that is offered for output of unknown size.
const STEP: usize = 64 << 10;
/// Most bytes that one byte of a deflate stream decodes to (zlib's technical notes: 1032:1).
pub(crate) const MAX_RATIO: usize = 1032;

thread_local! {
    /// The state of this thread: making one costs more than decoding a small chunk.
    static STATE: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

/// Decodes the deflate stream that comes next in `input`, and goes on behind it. `see` gets the decoded bytes, piece by
/// piece: one piece if the size is known.
///
/// # Errors
/// [`Error::Corrupt`], [`Error::CutOff`], or [`Error::TooLong`] if more is decoded than `out` takes.
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

/// How much output to offer: all that is due if the input can make that much, steps that grow with the decoded bytes if
/// the decoded size is not known.
fn room(out: &Sink<'_>, input: usize) -> usize {
    let due = match out.expected() {
        Some(size) => size.saturating_sub(out.len()),
        None => out.step(STEP),
    };
    due.min(input.saturating_mul(MAX_RATIO).saturating_add(STEP))
}

/// The bytes around a deflate stream, read from front to back.
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

    /// How many bytes were read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The bytes that were read since `start`.
    pub(crate) fn since(&self, start: usize) -> &'b [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// The bytes that were not.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Goes on behind the next `count` bytes, which must be there.
    pub(crate) fn skip(&mut self, count: usize) -> Result<(), Error> {
        if count > self.rest().len() {
            return Err(self.cut_off());
        }
        self.at += count;
        Ok(())
    }

    /// The next `N` bytes.
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (bytes, _) = self.rest().split_first_chunk().ok_or_else(|| self.cut_off())?;
        self.at += N;
        Ok(*bytes)
    }

    /// Goes on behind the next zero.
    pub(crate) fn skip_text(&mut self) -> Result<(), Error> {
        let zero = self.rest().iter().position(|&byte| byte == 0);
        self.skip(zero.map_or(self.rest().len(), |zero| zero) + 1)
    }

    fn cut_off(&self) -> Error {
        Error::CutOff { codec: self.codec, found: self.bytes.len() as u64 }
    }
}
