//! Where decoders put their output.

use crate::{Error, Size};
use std::io::Read;

/// Memory for decoded bytes with a hard bound: more than fits is an error, not an allocation.
///
/// The sink may be the caller's own array, a worker's scratch buffer, or a growing buffer where the size is not known
/// beforehand. Decoders that know how much comes next take a [`buffer`](Self::buffer); others [`read_from`](Self::read_from)
/// a reader or [`extend`](Self::extend).
#[derive(Debug)]
pub struct Sink<'a> {
    codec: &'static str,
    target: SinkBuffer<'a>,
    len: usize,
    /// The exact size due, if known.
    exact: Option<usize>,
    /// The most bytes that may come.
    bound: usize,
}

/// The progress of a decoder with a piece of a stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Piece {
    /// Number of bytes that the decoder took.
    pub taken: usize,
    /// Number of bytes that the decoder made of them.
    pub came: usize,
    /// Whether the stream ends with them.
    pub is_last: bool,
}

impl Piece {
    /// A piece of `taken` bytes, decoded to `came` bytes. `is_last`: the stream ends with them.
    #[must_use]
    pub fn new(taken: usize, came: usize, is_last: bool) -> Self {
        Self { taken, came, is_last }
    }
}

#[derive(Debug)]
enum SinkBuffer<'a> {
    Slice(&'a mut [u8]),
    Vec(&'a mut Vec<u8>),
}

/// The first piece of a growing buffer, and its smallest step.
const FIRST_STEP: usize = 64 << 10;

impl<'a> Sink<'a> {
    /// A sink that must be filled exactly.
    pub fn exact(target: &'a mut [u8]) -> Self {
        let size = target.len();
        Self { codec: "", target: SinkBuffer::Slice(target), len: 0, exact: Some(size), bound: size }
    }

    /// A sink that may be filled in part.
    pub fn within(target: &'a mut [u8]) -> Self {
        let bound = target.len();
        Self { codec: "", target: SinkBuffer::Slice(target), len: 0, exact: None, bound }
    }

    /// A sink that overwrites and grows `target` up to `size`, or to `limit` bytes where `size` is not known.
    ///
    /// # Errors
    /// [`Error::Limit`] if `size` exceeds `limit`.
    pub fn growing(target: &'a mut Vec<u8>, size: Size, limit: u64) -> Result<Self, Error> {
        let bound = size.bound(limit);
        if bound > limit {
            return Err(Error::Limit { what: "decoded chunk", found: bound, limit });
        }
        let bound = usize::try_from(bound).unwrap_or(usize::MAX);
        let exact = size.exact().and_then(|size| usize::try_from(size).ok());
        Ok(Self { codec: "", target: SinkBuffer::Vec(target), len: 0, exact, bound })
    }

    /// The same sink; errors name `codec`.
    pub fn of(mut self, codec: &'static str) -> Self {
        self.codec = codec;
        self
    }

    /// How many bytes are due, if metadata tells.
    pub fn expected(&self) -> Option<usize> {
        self.exact
    }

    /// How many bytes may come in all.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// How many bytes have come.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none have come.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A buffer for the next `size` bytes, which count as written; its bytes are arbitrary at first.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the bound, [`Error::Allocation`] if there is no memory.
    pub fn buffer(&mut self, size: usize) -> Result<&mut [u8], Error> {
        let start = self.len;
        let end = start.checked_add(size).filter(|&end| end <= self.bound).ok_or(Error::TooLong {
            codec: self.codec,
            found: start.saturating_add(size) as u64,
            expected: self.bound as u64,
        })?;
        self.ensure(end)?;
        self.len = end;
        let bytes = match &mut self.target {
            SinkBuffer::Slice(slice) => slice.get_mut(start..end),
            SinkBuffer::Vec(vec) => vec.get_mut(start..end),
        };
        bytes.ok_or(Error::Allocation { size: end as u64 })
    }

    /// Takes back the last bytes of a [`buffer`](Self::buffer) that was larger than the decoded bytes.
    pub fn unwrite(&mut self, size: usize) {
        self.len = self.len.saturating_sub(size);
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// As [`buffer`](Self::buffer).
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.buffer(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Appends all that `reader` gives, and checks that it ends within the bound.
    ///
    /// # Errors
    /// [`Error::TooLong`] one byte past the bound, [`Error::Corrupt`] with the reader's words, [`Error::Allocation`].
    pub fn read_from(&mut self, reader: &mut impl Read) -> Result<(), Error> {
        loop {
            if self.len == self.bound {
                let mut probe = [0];
                return match self.read(reader, &mut probe)? {
                    0 => Ok(()),
                    _ => Err(Error::TooLong {
                        codec: self.codec,
                        found: self.len as u64 + 1,
                        expected: self.bound as u64,
                    }),
                };
            }
            let step = match self.exact {
                Some(exact) if matches!(self.target, SinkBuffer::Slice(_)) => exact - self.len,
                // Grows with the decoded bytes, so that a small input cannot claim much memory.
                _ => self.len.max(FIRST_STEP).min(self.bound - self.len),
            };
            self.ensure(self.len + step)?;
            let (start, end) = (self.len, self.len + step);
            let free = match &mut self.target {
                SinkBuffer::Slice(slice) => slice.get_mut(start..end),
                SinkBuffer::Vec(vec) => vec.get_mut(start..end),
            };
            let came = read(self.codec, reader, free.unwrap_or_default())?;
            if came == 0 {
                return Ok(());
            }
            self.len += came;
        }
    }

    fn read(&self, reader: &mut impl Read, into: &mut [u8]) -> Result<usize, Error> {
        read(self.codec, reader, into)
    }

    /// Number of bytes of room to offer for output of unknown size, `least` or more: it grows with the decoded bytes, so that a small input
    /// cannot claim much memory.
    pub fn step(&self, least: usize) -> usize {
        self.len.max(least).min(self.bound - self.len)
    }

    /// Decodes a stream piece by piece. `room` tells how many bytes to offer when the given number of bytes of `input` is left; `decode`
    /// decodes the rest of the input into the buffer that it gets. Returns the number of bytes that the stream has, or `None` if it ends
    /// too early.
    ///
    /// # Errors
    /// The errors of `decode`, [`Error::TooLong`] one byte past the bound, [`Error::Allocation`].
    pub fn pump(
        &mut self,
        input: &[u8],
        room: impl Fn(&Self, usize) -> usize,
        mut decode: impl FnMut(&[u8], &mut [u8]) -> Result<Piece, Error>,
    ) -> Result<Option<usize>, Error> {
        let mut at = 0_usize;
        loop {
            let rest = input.get(at..).unwrap_or_default();
            let room = room(self, rest.len());
            // Where no more may come, there is a byte of room to see whether more would.
            let mut probe = [0];
            let target = if room == 0 { &mut probe[..] } else { self.buffer(room)? };
            let Piece { taken, came, is_last } = decode(rest, target)?;
            at = at.saturating_add(taken);
            if room == 0 && came > 0 {
                let (found, expected) = (self.len as u64 + 1, self.bound as u64);
                return Err(Error::TooLong { codec: self.codec, found, expected });
            }
            self.unwrite(room.saturating_sub(came));
            if is_last {
                return Ok(Some(at));
            }
            if taken == 0 && came == 0 {
                // The decoder took all there is, and wants more.
                return Ok(None);
            }
        }
    }

    /// Ends the output: cuts a growing buffer to the decoded bytes, and checks an exact size.
    ///
    /// # Errors
    /// [`Error::Truncated`] if fewer bytes came than are due.
    pub fn finish(self) -> Result<usize, Error> {
        if let Some(expected) = self.exact.filter(|&expected| self.len < expected) {
            return Err(Error::Truncated { codec: self.codec, found: self.len as u64, expected: expected as u64 });
        }
        Ok(self.len)
    }

    /// Makes a growing buffer at least `size` long. It is never shortened, so that a reused one is cleared only once.
    fn ensure(&mut self, size: usize) -> Result<(), Error> {
        if let SinkBuffer::Vec(vec) = &mut self.target
            && vec.len() < size
        {
            // Twice the present capacity, as vectors grow, but never more than may come.
            let room = vec.capacity().saturating_mul(2).min(self.bound).max(size);
            vec.try_reserve_exact(room - vec.len()).map_err(|_| Error::Allocation { size: size as u64 })?;
            vec.resize(size, 0);
        }
        Ok(())
    }
}

fn read(codec: &'static str, reader: &mut impl Read, into: &mut [u8]) -> Result<usize, Error> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Corrupt { codec, what: error.to_string() }),
            Ok(came) => return Ok(came),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_sinks_are_filled_exactly() {
        let mut target = [0; 4];
        let mut sink = Sink::exact(&mut target).of("test");
        sink.read_from(&mut &b"abcd"[..]).unwrap();
        assert_eq!(sink.finish().unwrap(), 4);
        assert!(matches!(Sink::exact(&mut target).read_from(&mut &b"abcde"[..]), Err(Error::TooLong { found: 5, .. })));
        let mut short = Sink::exact(&mut target);
        short.extend(b"ab").unwrap();
        assert!(matches!(short.finish(), Err(Error::Truncated { found: 2, expected: 4, .. })));
    }

    #[test]
    fn growing_sinks_grow_with_their_input() {
        let mut vec = Vec::new();
        let mut sink = Sink::growing(&mut vec, Size::Unknown, 1 << 40).unwrap();
        sink.read_from(&mut std::io::repeat(7).take(200_000)).unwrap();
        assert_eq!(sink.finish().unwrap(), 200_000);
        assert!(vec.len() < 1 << 20);
        assert!(Sink::growing(&mut vec, Size::Exact(10), 9).is_err());
        let mut sink = Sink::growing(&mut vec, Size::AtMost(10), 100).unwrap();
        assert!(matches!(sink.read_from(&mut std::io::repeat(1)), Err(Error::TooLong { found: 11, .. })));
    }
}
