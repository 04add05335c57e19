//! The result of a get.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::{
    BufferUse, ByteRange, ByteRangeExt, Error, GetOptions, Key, Result, Snapshot, Version, keep_buffer, take_buffer,
};

/// The result of a get: one piece of bytes for each range, in order.
///
/// A store that holds values in memory lends them ([`Fetched::push`]); one that reads them reads into memory of this
/// ([`Fetched::buffer`]), which each thread keeps for its next get.
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
    scratch: Scratch,
    /// How much of `scratch` belongs to `pieces`.
    used: usize,
    /// The size of the whole value in bytes, if the store knows it.
    pub size: Option<u64>,
    /// The version of the value, if the store knows it.
    pub version: Option<Version>,
    /// The state of the value, where it was asked for ([`crate::GetOptions::snapshot`]) and the store can name it.
    pub snapshot: Option<Snapshot>,
    unchanged: bool,
}

/// Memory from the buffers of the thread ([`take_buffer`]), taken when it is needed. Its length is the number of bytes that were ever
/// used, so that nothing is cleared twice.
#[derive(Default)]
struct Scratch(Vec<u8>);

impl Drop for Scratch {
    fn drop(&mut self) {
        keep_buffer(BufferUse::Overwrite, std::mem::take(&mut self.0));
    }
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

    /// The reply that the value still has the version that the caller has ([`GetOptions::if_none_match`]), without pieces.
    #[must_use]
    pub fn unchanged(version: Version) -> Self {
        Self { version: Some(version), unchanged: true, ..Self::default() }
    }

    /// Whether the value still has the version that the caller has, so that there are no pieces.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.unchanged
    }

    /// The reply of a store that has the whole value at hand: the pieces that `ranges` name, lent, with the size of the value and its
    /// version.
    ///
    /// # Errors
    /// As [`crate::Store::get`].
    ///
    /// # Example
    /// ```
    /// # use zarr_store::{ByteRange, Fetched, GetOptions, Key};
    /// let key = Key::new("a/c/0")?;
    /// let fetched = Fetched::of_value(&"memory:", &key, b"0123".to_vec(), None, &[ByteRange::Suffix(1)], &GetOptions::default())?;
    /// assert_eq!((fetched.part(0), fetched.size), (&b"3"[..], Some(4)));
    /// # Ok::<(), zarr_store::Error>(())
    /// ```
    pub fn of_value(
        store: &dyn fmt::Display,
        key: &Key,
        value: impl Into<Bytes>,
        version: Option<Version>,
        ranges: &[ByteRange],
        options: &GetOptions,
    ) -> Result<Self> {
        if let Some(version) = version.clone().filter(|version| options.has(Some(version))) {
            return Ok(Self::unchanged(version));
        }
        let value = value.into();
        let size = value.len() as u64;
        let mut fetched = Self { size: Some(size), version, ..Self::default() };
        options.check(store, key, &mut fetched)?;
        for range in ranges {
            fetched.push(value.slice(range.check(store, key, size)?));
        }
        Ok(fetched)
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
        Ok(&mut self.scratch.0[start..end])
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

    /// How many bytes of the memory that the thread keeps are free, so that [`Fetched::buffer`] needs no more.
    pub fn spare(&mut self) -> usize {
        self.take_scratch();
        self.scratch.0.len() - self.used
    }

    fn take_scratch(&mut self) {
        if self.scratch.0.capacity() == 0 {
            self.scratch.0 = take_buffer(BufferUse::Overwrite);
        }
    }

    fn grow(&mut self, len: usize) -> Result<()> {
        self.take_scratch();
        let scratch = &mut self.scratch.0;
        if len <= scratch.len() {
            return Ok(());
        }
        let memory = |_| Error::Memory { size: u64::try_from(len).unwrap_or(u64::MAX) };
        if self.used == 0 {
            // Nothing to keep: fresh memory comes zeroed from the system and is not touched before it is filled. It
            // cannot be asked for fallibly, hence the attempt before.
            *scratch = Vec::new();
            Vec::<u8>::new().try_reserve_exact(len).map_err(memory)?;
            *scratch = vec![0; len];
        } else {
            scratch.try_reserve(len - scratch.len()).map_err(memory)?;
            scratch.resize(len, 0);
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

    /// The bytes of piece `i`; empty if there are at most `i` pieces.
    #[must_use]
    pub fn part(&self, i: usize) -> &[u8] {
        self.pieces.get(i).map_or(&[], |piece| self.bytes_of(piece))
    }

    /// The bytes of all pieces in order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| self.bytes_of(piece))
    }

    /// Piece `i` as bytes of its own: lent bytes are shared, read bytes are copied.
    #[must_use]
    pub fn to_bytes(&self, i: usize) -> Bytes {
        match self.pieces.get(i) {
            None => Bytes::new(),
            Some(Piece::Lent(bytes)) => bytes.clone(),
            Some(Piece::Read(at)) => Bytes::copy_from_slice(&self.scratch.0[at.clone()]),
        }
    }

    /// The first piece; without a copy if it is lent, or the only one in memory that is not much larger.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
        match self.pieces.first() {
            // Kept memory may be much larger than the value.
            Some(Piece::Read(at)) if *at == (0..self.used) && self.scratch.0.capacity() / 2 <= self.used => {
                let mut scratch = std::mem::take(&mut self.scratch.0);
                scratch.truncate(self.used);
                Bytes::from(scratch)
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

    /// The same reply with this one piece.
    #[must_use]
    #[inline]
    pub fn with_piece(mut self, bytes: Bytes) -> Self {
        self.pieces.clear();
        self.push(bytes);
        self
    }

    /// Returns the reply to a get of `ranges` ranges, checked as whoever asks a store for them has to check it: a store that returns too
    /// few pieces must not look like empty data.
    ///
    /// # Errors
    /// [`Error::Contract`] if there is another number of pieces, or the reply says that the caller has the value, which did not say so.
    #[inline]
    pub fn checked(
        store: &dyn fmt::Display,
        key: &Key,
        fetched: Option<Self>,
        ranges: usize,
        options: &GetOptions,
    ) -> Result<Option<Self>> {
        match fetched {
            // That the caller has the value is an answer only to one who said so.
            Some(fetched) if fetched.unchanged && options.has(fetched.version.as_ref()) => Ok(Some(fetched)),
            Some(fetched) if fetched.unchanged || fetched.len() != ranges => {
                Err(Error::pieces(store, key, fetched.len(), ranges))
            }
            fetched => Ok(fetched),
        }
    }

    fn bytes_of<'a>(&'a self, piece: &'a Piece) -> &'a [u8] {
        match piece {
            Piece::Lent(bytes) => bytes,
            Piece::Read(at) => &self.scratch.0[at.clone()],
        }
    }
}

impl fmt::Debug for Fetched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetched")
            .field("parts", &self.parts().map(<[u8]>::len).collect::<Vec<_>>())
            .field("size", &self.size)
            .field("version", &self.version)
            .field("unchanged", &self.unchanged)
            .finish()
    }
}
