//! Result of a get.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use smallvec::SmallVec;

use crate::{
    BufferUse, ByteRange, ByteRangeExt, Error, GetOptions, Key, Result, Snapshot, Version, keep_buffer, take_buffer,
};

/// Result of a get: one piece of bytes per range, in the order of the ranges.
///
/// A store that holds values in memory lends them ([`Fetched::push`]). Other stores read into memory of the result
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
    /// Number of bytes of `scratch` that belong to `pieces`.
    used: usize,
    /// Size of the whole value in bytes; `None` if the store does not tell.
    pub size: Option<u64>,
    /// Version of the value; `None` if the store does not tell.
    pub version: Option<Version>,
    /// Time of the last change of the value; `None` if the store does not tell. A directory tells it only where a get looks up the state of
    /// the value ([`crate::GetOptions::snapshot`]).
    pub modified: Option<SystemTime>,
    /// ETag of the value as its server writes it, with its quotation marks, even where it is no version: a weak one, or one beside a
    /// generation; `None` if the store does not tell.
    pub etag: Option<Arc<str>>,
    /// State of the value, if it was requested ([`crate::GetOptions::snapshot`]) and the store can name states.
    pub snapshot: Option<Snapshot>,
    unchanged: bool,
}

/// Memory from the buffers of the thread ([`take_buffer`]), taken when it is needed. Its length is the number of bytes that were ever used,
/// so that no byte is zeroed twice.
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
    /// Returns a result without pieces.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the reply that the value still has the version that the caller knows ([`GetOptions::if_none_match`]), without pieces.
    #[must_use]
    pub fn unchanged(version: Version) -> Self {
        Self { version: Some(version), unchanged: true, ..Self::default() }
    }

    /// Whether the value still has the version that the caller knows, so that there are no pieces.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.unchanged
    }

    /// Returns the reply of a store that has the whole value in memory: the pieces that `ranges` name, lent, with the size and the version
    /// of the value.
    ///
    /// # Errors
    /// The errors of [`crate::StoreExt::get`].
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

    /// Appends a piece of `len` bytes in the memory of the result, and returns it to be filled. Its content is unspecified.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is not enough memory.
    pub fn buffer(&mut self, len: usize) -> Result<&mut [u8]> {
        let start = self.used;
        let end = start.checked_add(len).ok_or(Error::Memory { size: u64::MAX })?;
        self.grow(end)?;
        self.used = end;
        self.pieces.push(Piece::Read(start..end));
        Ok(&mut self.scratch.0[start..end])
    }

    /// Reserves memory for `len` more bytes, so that the buffers of one get are not moved.
    ///
    /// # Errors
    /// [`Error::Memory`] if there is not enough memory.
    pub fn reserve(&mut self, len: usize) -> Result<()> {
        let end = self.used.checked_add(len).ok_or(Error::Memory { size: u64::MAX })?;
        self.grow(end)
    }

    /// Keeps only the first `len` pieces.
    pub fn truncate(&mut self, len: usize) {
        self.pieces.truncate(len);
    }

    /// Returns the number of free bytes in the memory that the thread keeps: [`Fetched::buffer`] allocates nothing within this number.
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
            // No bytes are in use: fresh memory comes zeroed from the system, and is not touched before it is filled. `vec!` aborts
            // without memory, hence the attempt before.
            *scratch = Vec::new();
            Vec::<u8>::new().try_reserve_exact(len).map_err(memory)?;
            *scratch = vec![0; len];
        } else {
            scratch.try_reserve(len - scratch.len()).map_err(memory)?;
            scratch.resize(len, 0);
        }
        Ok(())
    }

    /// Returns the number of pieces.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are no pieces.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the bytes of piece `i`; empty if there are at most `i` pieces.
    #[must_use]
    pub fn part(&self, i: usize) -> &[u8] {
        self.pieces.get(i).map_or(&[], |piece| self.bytes_of(piece))
    }

    /// Iterates over the bytes of all pieces, in order.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| self.bytes_of(piece))
    }

    /// Returns piece `i` as owned bytes: lent bytes are shared, read bytes are copied.
    #[must_use]
    pub fn to_bytes(&self, i: usize) -> Bytes {
        match self.pieces.get(i) {
            None => Bytes::new(),
            Some(Piece::Lent(bytes)) => bytes.clone(),
            Some(Piece::Read(at)) => Bytes::copy_from_slice(&self.scratch.0[at.clone()]),
        }
    }

    /// Returns the first piece as owned bytes; without a copy if it is lent, or if it is the only piece and its memory is not much larger.
    #[must_use]
    pub fn into_bytes(mut self) -> Bytes {
        match self.pieces.first() {
            // The memory of the thread may be much larger than the value.
            Some(Piece::Read(at)) if *at == (0..self.used) && self.scratch.0.capacity() / 2 <= self.used => {
                let mut scratch = std::mem::take(&mut self.scratch.0);
                scratch.truncate(self.used);
                Bytes::from(scratch)
            }
            _ => self.to_bytes(0),
        }
    }

    /// Replaces the pieces by parts of the present pieces: part `(i, range)` has the bytes `range` of piece `i`.
    ///
    /// Returns `false`, with the pieces unchanged, if a part is not inside its piece.
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

    /// Replaces all pieces of the reply by one.
    #[must_use]
    #[inline]
    pub fn with_piece(mut self, bytes: Bytes) -> Self {
        self.pieces.clear();
        self.push(bytes);
        self
    }

    /// Checks the reply to a get of `ranges` ranges, as every caller of a store must: a reply with too few pieces must not look like empty
    /// data.
    ///
    /// # Errors
    /// [`Error::Contract`] if the number of pieces differs, or if the reply says that the value is unchanged although `options` name no
    /// such version.
    #[inline]
    pub fn checked(
        store: &dyn fmt::Display,
        key: &Key,
        fetched: Option<Self>,
        ranges: usize,
        options: &GetOptions,
    ) -> Result<Option<Self>> {
        match fetched {
            // An unchanged value is a valid reply only if the caller named its version.
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
            .field("modified", &self.modified)
            .field("etag", &self.etag)
            .field("unchanged", &self.unchanged)
            .finish()
    }
}
