//! Bounded output of decoders.

use crate::{Error, Size};
use std::io::Read;

/// Memory for decoded bytes with a fixed limit: a decoder that would exceed the limit gets an error, and no memory beyond the limit is
/// allocated.
///
/// The sink may be the caller's own array, a worker's scratch buffer, or a growing buffer if the size is not known
/// beforehand. Decoders that know the size of their next output write to a [`buffer`](Self::buffer); other decoders append by
/// [`read_from`](Self::read_from) or [`extend`](Self::extend).
#[derive(Debug)]
pub struct Sink<'a> {
    codec: &'static str,
    target: SinkBuffer<'a>,
    len: usize,
    /// Exact number of decoded bytes; `None` if unknown.
    exact: Option<usize>,
    /// Largest number of bytes that the sink accepts.
    bound: usize,
}

/// Progress of a decoder after a piece of a stream.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Piece {
    /// Number of encoded bytes that the decoder consumed.
    pub taken: usize,
    /// Number of decoded bytes that the decoder produced.
    pub came: usize,
    /// Whether the stream is complete.
    pub is_last: bool,
}

impl Piece {
    /// Returns the progress of a decoder that consumed `taken` bytes and produced `came` bytes; `is_last` if the stream is complete.
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

/// Number of bytes of the first allocation of a growing buffer, and of its smallest step.
const FIRST_STEP: usize = 64 << 10;

impl<'a> Sink<'a> {
    /// Returns a sink that writes to `target`, which must be filled completely.
    pub fn exact(target: &'a mut [u8]) -> Self {
        let size = target.len();
        Self { codec: "", target: SinkBuffer::Slice(target), len: 0, exact: Some(size), bound: size }
    }

    /// Returns a sink that writes to `target`, which may be filled in part.
    pub fn within(target: &'a mut [u8]) -> Self {
        let bound = target.len();
        Self { codec: "", target: SinkBuffer::Slice(target), len: 0, exact: None, bound }
    }

    /// Returns a sink that overwrites `target` and grows it, up to `size` or, if `size` is unknown, up to `limit` bytes.
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

    /// Sets the name of the codec that errors mention.
    pub fn of(mut self, codec: &'static str) -> Self {
        self.codec = codec;
        self
    }

    /// Returns the exact number of decoded bytes; `None` if the metadata does not determine it.
    pub fn expected(&self) -> Option<usize> {
        self.exact
    }

    /// Returns the largest total number of bytes that the sink accepts.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Returns the number of bytes that were written to the sink.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no bytes were written to the sink.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a buffer for the next `size` bytes, which count as written; the content of the buffer is arbitrary.
    ///
    /// # Errors
    /// [`Error::TooLong`] beyond the bound, [`Error::Allocation`] if memory cannot be allocated.
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

    /// Takes back the last `size` bytes, which the decoder left unused in a [`buffer`](Self::buffer).
    pub fn unwrite(&mut self, size: usize) {
        self.len = self.len.saturating_sub(size);
    }

    /// Appends `bytes` to the output.
    ///
    /// # Errors
    /// The errors of [`buffer`](Self::buffer).
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.buffer(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Appends all bytes of `reader`, and checks that the reader ends within the bound.
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

    /// Returns the number of bytes to offer next for output of unknown size, at least `least` within the bound. The number grows with the
    /// decoded bytes, so that a small input cannot claim much memory.
    pub fn step(&self, least: usize) -> usize {
        self.len.max(least).min(self.bound - self.len)
    }

    /// Decodes a stream piece by piece. `room` is called with the number of bytes of `input` that are left, and returns the number of bytes
    /// of output to offer. `decode` decodes the rest of the input into the buffer that it is passed. Returns the number of encoded bytes of
    /// the stream; `None` if the stream is truncated.
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
            // A full sink offers one byte, to detect output beyond the bound.
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
                // The decoder consumed the whole input and needs more.
                return Ok(None);
            }
        }
    }

    /// Ends the output: checks an exact size, and returns the number of decoded bytes. A growing buffer may be longer than this number.
    ///
    /// # Errors
    /// [`Error::Truncated`] if fewer bytes came than are due.
    pub fn finish(self) -> Result<usize, Error> {
        if let Some(expected) = self.exact.filter(|&expected| self.len < expected) {
            return Err(Error::Truncated { codec: self.codec, found: self.len as u64, expected: expected as u64 });
        }
        Ok(self.len)
    }

    /// Grows the buffer to at least `size` bytes. The buffer is never shortened, so that a reused buffer is zeroed only once.
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
