//! Decoding a part of a chunk from the bytes of that part.

use crate::codec::{BytesCodec, check_len};
use crate::slab::Slabs;
use std::sync::Arc;
use zarr_codec::{ArrayToBytes, Decode, Error, Step, ViewMut};
use zarr_store::ByteRange;

/// A decode that asks for one slab after another.
///
/// ```text
/// Start ── ranges of slab 0 ──► Asked(0) ── scatters it, ranges of slab 1 ──► Asked(1) ── ... ──► Done
///   └── no elements ──────────────────────────────────────────────────────────────────────────────┘
/// ```
///
/// If the slabs are all of the chunk, the last one asks for whatever is left, so that a chunk with bytes left over is not
/// taken for a good one. A chunk that is too short has not the ranges that are asked for.
#[derive(Debug)]
pub(crate) struct Parts {
    codec: Arc<BytesCodec>,
    slabs: Slabs,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    Asked(u64),
    Done,
}

impl Parts {
    pub(crate) fn new(codec: Arc<BytesCodec>, slabs: Slabs) -> Self {
        Self { codec, slabs, state: State::Start }
    }

    fn ranges(&self, number: u64) -> Vec<ByteRange> {
        let slab = self.slabs.get(number);
        let last = self.slabs.is_whole() && number + 1 == self.slabs.count();
        let range = |bytes: std::ops::Range<u64>| {
            if last { ByteRange::From(bytes.start) } else { ByteRange::Range(bytes) }
        };
        slab.pieces().map(|piece| range(piece.bytes)).collect()
    }

    fn scatter(&self, number: u64, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<(), Error> {
        let slab = self.slabs.get(number);
        let mut got = got.iter();
        for piece in slab.pieces() {
            let bytes = got.next().copied().unwrap_or_default();
            check_len(piece.bytes.start.saturating_add(bytes.len() as u64), piece.bytes.end)?;
            self.codec.scatter(&slab.items(&piece, bytes)?, &mut out.reborrow().window(&piece.out))?;
        }
        Ok(())
    }
}

impl Decode for Parts {
    fn step(&mut self, got: &[&[u8]], out: &mut ViewMut<'_>) -> Result<Step, Error> {
        let next = match self.state {
            State::Start => 0,
            State::Asked(number) => {
                self.scatter(number, got, out)?;
                number + 1
            }
            State::Done => return Ok(Step::Done),
        };
        if next == self.slabs.count() {
            self.state = State::Done;
            return Ok(Step::Done);
        }
        self.state = State::Asked(next);
        Ok(Step::Need(self.ranges(next)))
    }
}
