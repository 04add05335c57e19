//! The result of a get.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::{Error, Result, Snapshot, Version};

/// The result of a get: one piece of bytes for each range, in order.
///
/// It is passed to many gets, and keeps its memory between them. A store that holds values in memory lends
/// them ([`Fetched::push`]); one that reads them reads into memory that this keeps ([`Fetched::buffer`]).
///
/// # Example
/// ```
/// # use zarr_store::{Bytes, Fetched};
/// let mut fetched = Fetched::new();
/// fetched.push(Bytes::from_static(b"lent"));
/// fetched.buffer(4)?.copy_from_slice(b"read");
/// assert_eq!(fetched.parts().collect::<Vec<_>>(), [b"lent", b"read"]);
/// # Ok::<(), zarr_store::Error>(())
/// ```
#[derive(Default)]
pub struct Fetched {
    pieces: SmallVec<[Piece; 2]>,
    /// The reused memory. Its length is what has ever been used, so that nothing is cleared twice.
    scratch: Vec<u8>,
    /// How much of `scratch` belongs to `pieces`.
    used: usize,
    /// The size of the whole value in bytes, if the store knows it.
    pub size: Option<u64>,
    /// The version of the value, if the store knows it.
    pub version: Option<Version>,
    /// The state of the value, where it was asked for ([`crate::GetOptions::snapshot`]) and the store can name it.
    pub snapshot: Option<Snapshot>,
}

#[derive(Clone)]
enum Piece {
    Lent(Bytes),
    Read(Range<usize>),
}

impl Fetched {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With nothing in it, and this memory for what is read.
    pub(crate) fn with_memory(scratch: Vec<u8>) -> Self {
        Self { scratch, ..Self::default() }
    }

    /// The memory for what is read; the rest is dropped.
    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.scratch
    }

    /// Forgets the pieces, size, version and snapshot; keeps the memory.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.used = 0;
        self.size = None;
        self.version = None;
        self.snapshot = None;
    }

    /// Appends a piece that the store lends.
    pub fn push(&mut self, bytes: Bytes) {
        self.pieces.push(Piece::Lent(bytes));
    }

    /// Appends a piece of `len` bytes in the memory of this and returns it to be filled. Its content is unspecified.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is not that much.
    pub fn buffer(&mut self, len: usize) -> Result<&mut [u8]> {
        let start = self.used;
        let end = start.checked_add(len).ok_or(Error::Memory { size: u64::MAX })?;
        self.grow(end)?;
        self.used = end;
        self.pieces.push(Piece::Read(start..end));
        Ok(&mut self.scratch[start..end])
    }

    /// Makes room for `len` bytes in all, so that the buffers of one get do not move each other.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is not that much.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        let end = self.used.checked_add(len).ok_or(Error::Memory { size: u64::MAX })?;
        self.grow(end)
    }

    /// Keeps the first `len` pieces.
    pub fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len);
    }

    /// How many bytes of memory are free, so that [`Fetched::buffer`] needs no more.
    #[must_use]
    pub fn spare(&self) -> usize {
        self.scratch.len() - self.used
    }

    fn grow(&mut self, len: usize) -> Result<()> {
        if len <= self.scratch.len() {
            return Ok(());
        }
        let memory = |_| Error::Memory { size: u64::try_from(len).unwrap_or(u64::MAX) };
        if self.used == 0 {
            // Nothing to keep: fresh memory comes zeroed from the system and is not touched before it is filled. It
            // cannot be asked for fallibly, hence the attempt before.
            self.scratch = Vec::new();
            Vec::<u8>::new().try_reserve_exact(len).map_err(memory)?;
            self.scratch = vec![0; len];
        } else {
            self.scratch.try_reserve(len - self.scratch.len()).map_err(memory)?;
            self.scratch.resize(len, 0);
        }
        Ok(())
    }

    /// The number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are no pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The bytes of piece `i`; empty if there are not so many pieces.
    #[must_use]
    pub fn part(&self, i: usize) -> &[u8] {
        self.pieces.get(i).map_or(&[], |piece| self.bytes_of(piece))
    }

    /// The bytes of all pieces in order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| self.bytes_of(piece))
    }

    /// Piece `i` as bytes of its own: what was lent is shared, what was read is copied.
    #[must_use]
    pub fn to_bytes(&self, i: usize) -> Bytes {
        match self.pieces.get(i) {
            None => Bytes::new(),
            Some(Piece::Lent(bytes)) => bytes.clone(),
            Some(Piece::Read(at)) => Bytes::copy_from_slice(&self.scratch[at.clone()]),
        }
    }

    /// The first piece; without a copy if it is lent or the only one.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
        match self.pieces.first() {
            Some(Piece::Read(at)) if *at == (0..self.used) => {
                self.scratch.truncate(self.used);
                Bytes::from(self.scratch)
            }
            _ => self.to_bytes(0),
        }
    }

    /// Replaces the pieces by parts of themselves: of piece `.0`, the bytes `.1`.
    ///
    /// Returns false, with the pieces as they were, if a part is not inside its piece.
    pub fn recut(&mut self, parts: impl Iterator<Item = (usize, Range<usize>)>) -> bool {
        let mut cut = SmallVec::new();
        for (i, at) in parts {
            let piece = match self.pieces.get(i) {
                Some(Piece::Lent(bytes)) if at.start <= at.end && at.end <= bytes.len() => Piece::Lent(bytes.slice(at)),
                Some(Piece::Read(whole)) if at.start <= at.end && at.end <= whole.len() => {
                    Piece::Read(whole.start + at.start..whole.start + at.end)
                }
                _ => return false,
            };
            cut.push(piece);
        }
        self.pieces = cut;
        true
    }

    fn bytes_of<'a>(&'a self, piece: &'a Piece) -> &'a [u8] {
        match piece {
            Piece::Lent(bytes) => bytes,
            Piece::Read(at) => &self.scratch[at.clone()],
        }
    }
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched")
            .field("parts", &self.parts().map(<[u8]>::len).collect::<Vec<_>>())
            .field("size", &self.size)
            .field("version", &self.version)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_stay_where_they_are_and_memory_is_kept() {
        let mut fetched = Fetched::new();
        for round in 0..3_u8 {
            fetched.clear();
            fetched.buffer(3).expect("memory").fill(round);
            fetched.push(Bytes::from_static(b"x"));
            fetched.buffer(5000).expect("memory").fill(round + 1);
            assert_eq!(fetched.part(0), [round; 3]);
            assert_eq!(fetched.part(1), b"x");
            assert_eq!(fetched.part(2), [round + 1; 5000]);
            assert_eq!(fetched.part(3), b"");
            assert_eq!((fetched.len(), fetched.is_empty()), (3, false));
        }
        assert_eq!(fetched.spare(), 0);
    }

    #[test]
    fn too_much_memory_is_an_error() {
        let mut fetched = Fetched::new();
        assert!(matches!(fetched.buffer(usize::MAX / 2), Err(Error::Memory { .. })));
        fetched.buffer(1).expect("memory").fill(1);
        assert!(matches!(fetched.buffer(usize::MAX), Err(Error::Memory { .. })));
        assert!(matches!(fetched.buffer(usize::MAX / 2), Err(Error::Memory { .. })));
        assert_eq!(fetched.part(0), [1]);
    }

    #[test]
    fn cutting_pieces() {
        let mut fetched = Fetched::new();
        fetched.buffer(4).expect("memory").copy_from_slice(b"abcd");
        fetched.push(Bytes::from_static(b"efgh"));
        assert!(!fetched.recut([(0, 3..5)].into_iter()));
        assert!(!fetched.recut([(2, 0..0)].into_iter()));
        assert!(fetched.recut([(1, 1..3), (0, 2..4), (0, 0..1)].into_iter()));
        assert_eq!(fetched.parts().collect::<Vec<_>>(), [&b"fg"[..], b"cd", b"a"]);
        assert_eq!(fetched.into_bytes(), "fg");
    }
}
