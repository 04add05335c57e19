//! Compression and decompression of one bzip2 stream.

use bzip2::{Action, Compress, Compression, Decompress, Status};
use zarr_codec::{Error, Piece, Sink};

/// Name of the codec in errors.
pub(crate) const NAME: &str = "bz2";
/// Minimum size of the output buffer passed to the library, in bytes.
const STEP: usize = 64 << 10;
/// Maximum number of bytes passed to the library at once, since it counts in 32 bits.
const PIECE: usize = 1 << 30;

/// Compresses `input`, and appends it as one stream to `out`.
///
/// # Errors
/// [`Error::Allocation`], or [`Error::Encode`] with the message of the library.
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

/// Returns the input after its leading empty streams; `None` if it does not begin with an empty stream.
///
/// An empty stream always has the same 14 bytes except its level: the header, the end of blocks and the checksum. A separate decoder for
/// each would take 100 microseconds, and input may have any number of them.
pub(crate) fn behind_empty_streams(input: &[u8]) -> Option<&[u8]> {
    let mut rest = input;
    while let [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, 0, 0, 0, 0, behind @ ..] = rest {
        rest = behind;
    }
    (rest.len() < input.len()).then_some(rest)
}

/// Decodes the stream at the start of `input`. Returns the size of the stream, or `None` if the stream is cut off.
///
/// The output buffer grows with the decoded bytes, so that a few bytes cannot claim much memory: 40 bytes may decode to 46 MB.
///
/// # Errors
/// [`Error::Corrupt`], or [`Error::TooLong`] if the decoded bytes exceed the limit of `out`.
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
