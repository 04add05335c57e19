//! One bzip2 stream.

use bzip2::{Action, Compress, Compression, Decompress, Status};
use zarr_codec::{Error, Piece, Sink};

/// The name in errors.
pub(crate) const NAME: &str = "bz2";
/// The least room that is offered for output.
const STEP: usize = 64 << 10;
/// Bytes handed over at once: the library counts in 32 bits.
const PIECE: usize = 1 << 30;

/// Appends `input` as one stream.
///
/// # Errors
/// [`Error::Allocation`], or [`Error::Encode`] with the library's words.
pub(crate) fn compress(input: &[u8], level: u32, out: &mut Vec<u8>) -> Result<(), Error> {
    let mut state = Compress::new(Compression::new(level), 0);
    // The bound of the library's manual: 1 % and 600 bytes.
    reserve(out, (input.len() / 100).saturating_add(input.len()).saturating_add(600))?;
    let mut rest = input;
    loop {
        // The library must never be called without room.
        if out.len() == out.capacity() {
            reserve(out, STEP)?;
        }
        let piece = rest.get(..PIECE).unwrap_or(rest);
        let action = if piece.len() == rest.len() { Action::Finish } else { Action::Run };
        let before = state.total_in();
        let status = state
            .compress_vec(piece, out, action)
            .map_err(|error| Error::Encode { codec: NAME, what: error.to_string() })?;
        let used = usize::try_from(state.total_in() - before).unwrap_or(usize::MAX);
        rest = rest.get(used..).unwrap_or_default();
        if status == Status::StreamEnd {
            return Ok(());
        }
    }
}

/// The input behind the streams without data that it begins with; `None` if it begins with none.
///
/// Such a stream is the same 14 bytes but for its level: the header, the end of blocks and the checksum of nothing. A decoder
/// of its own for each would take 100 microseconds, and any number of them decodes to nothing.
pub(crate) fn behind_empty_streams(input: &[u8]) -> Option<&[u8]> {
    let mut rest = input;
    while let [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0, behind @ ..] = rest {
        rest = behind;
    }
    (rest.len() < input.len()).then_some(rest)
}

/// Decodes the stream at the start of `input`; the number of bytes it has, or `None` if it ends too early.
///
/// The output's room grows with the decoded bytes, so that a few bytes cannot claim much memory: 40 may stand for 46
/// MB.
///
/// # Errors
/// [`Error::Corrupt`], or [`Error::TooLong`] if more is decoded than `out` takes.
pub(crate) fn decompress(input: &[u8], out: &mut Sink<'_>) -> Result<Option<usize>, Error> {
    let mut state = Decompress::new(false);
    out.pump(
        input,
        |out, _| out.step(STEP).min(PIECE),
        |rest, target| {
            let before = (state.total_in(), state.total_out());
            let status = state.decompress(rest.get(..PIECE).unwrap_or(rest), target).map_err(|error| {
                let words = error.to_string();
                Error::Corrupt { codec: NAME, what: words.strip_prefix("bzip2: ").unwrap_or(&words).to_owned() }
            })?;
            if status == Status::MemNeeded {
                return Err(Error::Allocation { size: 0 });
            }
            let taken = usize::try_from(state.total_in() - before.0).unwrap_or(usize::MAX);
            let came = usize::try_from(state.total_out() - before.1).unwrap_or(usize::MAX);
            Ok(Piece::new(taken, came, status == Status::StreamEnd))
        },
    )
}

fn reserve(out: &mut Vec<u8>, size: usize) -> Result<(), Error> {
    out.try_reserve(size).map_err(|_| Error::Allocation { size: size as u64 })
}
