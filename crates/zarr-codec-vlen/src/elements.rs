//! Reading of the elements of an encoded chunk.

use zarr_codec::Error;

/// Reader of the elements of an encoded chunk, from front to back.
#[derive(Debug)]
pub(crate) struct Elements<'b> {
    codec: &'static str,
    /// Number of bytes of the chunk.
    size: usize,
    /// Bytes of the chunk not read yet.
    rest: &'b [u8],
    /// Index of the next element.
    next: u64,
    /// Number of elements of the chunk.
    count: u64,
}

impl<'b> Elements<'b> {
    /// Creates the reader for a chunk that must have `count` elements.
    ///
    /// # Errors
    /// [`Error::Corrupt`] for another number of elements, [`Error::Truncated`] for a chunk too short to state the number.
    pub(crate) fn new(codec: &'static str, encoded: &'b [u8], count: u64) -> Result<Self, Error> {
        let mut elements = Self { codec, size: encoded.len(), rest: encoded, next: 0, count };
        let stored = elements.number()?;
        if u64::from(stored) != count {
            return Err(Error::Corrupt { codec, what: format!("found {stored} elements, expected {count}") });
        }
        Ok(elements)
    }

    /// Returns the bytes of element `index`, which must come after all elements read before.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the chunk ends before the end of the element.
    pub(crate) fn at(&mut self, index: u64) -> Result<&'b [u8], Error> {
        while self.next < index {
            self.element()?;
        }
        self.element()
    }

    /// Reads the remaining elements, and checks that the last element ends the chunk.
    ///
    /// # Errors
    /// [`Error::Truncated`] or [`Error::TooLong`].
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        while self.next < self.count {
            self.element()?;
        }
        if self.rest.is_empty() {
            return Ok(());
        }
        let (found, left) = (self.size as u64, self.rest.len() as u64);
        Err(Error::TooLong { codec: self.codec, found, expected: found - left })
    }

    /// Returns the number of bytes read so far.
    pub(crate) fn read(&self) -> usize {
        self.size - self.rest.len()
    }

    /// Returns the bytes not read yet.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// Returns the bytes of the next element.
    ///
    /// # Errors
    /// [`Error::Truncated`] if the chunk ends before the end of the element.
    pub(crate) fn element(&mut self) -> Result<&'b [u8], Error> {
        let len = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        self.next += 1;
        self.take(len)
    }

    fn number(&mut self) -> Result<u32, Error> {
        let bytes = self.take(size_of::<u32>())?;
        Ok(bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    fn take(&mut self, len: usize) -> Result<&'b [u8], Error> {
        let Some((bytes, rest)) = self.rest.split_at_checked(len) else {
            let read = self.read();
            let (found, expected) = (self.size as u64, read.saturating_add(len) as u64);
            return Err(Error::Truncated { codec: self.codec, found, expected });
        };
        self.rest = rest;
        Ok(bytes)
    }
}
