//! Checks of the memory that the head of a part claims to need, before the library allocates it.

use zarr_codec::Error;

/// Name of the codec in errors.
pub(crate) const NAME: &str = "pcodec";
/// Number of numbers that a dictionary or a window may always have: the maximum that compressors use, whatever the part contains.
const FREE: u64 = 1 << 16;
/// Number of bits before the metadata of a part: the type of its numbers, and their count in 24 bits.
const PREAMBLE: u64 = 32;

/// Checks the part at the start of `bytes`, whose numbers have `width` bits, if `due` numbers of the chunk are still missing.
///
/// Fields are read as in format version 4. `versioned` is false for older versions, which have neither a dictionary nor a window.
///
/// # Errors
/// [`Error::Truncated`] for a dictionary larger than the rest of `bytes`, [`Error::Corrupt`] for a window much larger than the chunk.
pub(crate) fn check(bytes: &[u8], width: u64, due: u64, versioned: bool) -> Result<(), Error> {
    let mut bits = Bits { bytes, at: PREAMBLE };
    let skipped = match bits.take(4) {
        0 => 0,
        1 | 2 => width,
        3 => 8,
        4 => {
            let len = bits.take(25);
            // Its numbers begin at a whole byte.
            bits.at = bits.at.next_multiple_of(8);
            let size = (bits.at / 8).saturating_add(len * width / 8);
            if size > bytes.len() as u64 {
                return Err(Error::Truncated { codec: NAME, found: bytes.len() as u64, expected: size });
            }
            len * width
        }
        // Of no meaning; the library says so.
        _ => return Ok(()),
    };
    bits.at = bits.at.saturating_add(skipped);
    if versioned && bits.take(4) == 2 {
        let window = 1u64 << (1 + bits.take(5));
        if window > due.max(FREE).next_power_of_two() {
            let what = format!("a window of {window} numbers for a chunk with {due} numbers left");
            return Err(Error::Corrupt { codec: NAME, what });
        }
    }
    Ok(())
}

/// Reader of bits, least significant first. Bits beyond the end are 0.
struct Bits<'b> {
    bytes: &'b [u8],
    at: u64,
}

impl Bits<'_> {
    fn take(&mut self, count: u64) -> u64 {
        let bit = |at: u64| {
            let byte = usize::try_from(at / 8).ok().and_then(|index| self.bytes.get(index)).copied().unwrap_or(0);
            u64::from(byte >> (at % 8) & 1)
        };
        let value = (0..count).map(|index| bit(self.at.saturating_add(index)) << index).sum();
        self.at = self.at.saturating_add(count);
        value
    }
}
