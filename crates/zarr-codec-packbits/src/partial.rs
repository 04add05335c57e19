//! Decoding of a part of a chunk from the bytes around it.

use crate::packed::{NAME, PackBits};
use crate::positions::Positions;
use std::ops::Range;
use std::sync::Arc;
use zarr_bytes::ByteRange;
use zarr_codec::{Decode, Error, Step, ViewMut};

/// Decoding step by step that requests the bytes from the first to the last element of a region.
///
/// ```text
/// Start ── one range ──► Asked ── unpacks it ──► Done
///   └── no elements ──────────────────────────────┘
/// ```
#[derive(Debug)]
pub(crate) struct Part {
    codec: Arc<PackBits>,
    /// Offsets of the bytes to read, counted from the first byte of packed elements.
    bytes: Range<u64>,
    state: State,
}

#[derive(Debug)]
enum State {
    Start(Positions),
    Asked(Positions),
    Done,
}

impl Part {
    pub(crate) fn new(codec: Arc<PackBits>, bytes: Range<u64>, positions: Positions) -> Self {
        Self { codec, bytes, state: State::Start(positions) }
    }
}

impl Decode for Part {
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error> {
        match std::mem::replace(&mut self.state, State::Done) {
            State::Start(positions) if !self.bytes.is_empty() => {
                self.state = State::Asked(positions);
                let header = self.codec.header();
                Ok(Step::Need(vec![ByteRange::Range(self.bytes.start + header..self.bytes.end + header)]))
            }
            State::Asked(positions) => {
                let packed = got.first().copied().unwrap_or_default();
                let (found, expected) = (packed.len() as u64, self.bytes.end - self.bytes.start);
                if found < expected {
                    return Err(Error::Truncated { codec: NAME, found, expected });
                }
                self.codec.unpack(packed, self.bytes.start, positions, out)?;
                Ok(Step::Done)
            }
            State::Start(_) | State::Done => Ok(Step::Done),
        }
    }
}
