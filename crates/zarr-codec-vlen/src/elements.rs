//! Reading the elements of an encoded chunk.

use zarr_codec::Error;

/// The elements of an encoded chunk, read from front to back.
#[derive(Debug)]
pub(crate) struct Elements<'b> {
    codec: &'static str,
    /// Bytes of the chunk.
    size: usize,
    /// Bytes that were not read yet.
    rest: &'b [u8],
    /// The number of the next element.
    next: u64,
    /// How many there are.
    count: u64,
}

impl<'b> Elements<'b> {
    /// The elements of a chunk that must have `count` of them.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if it has another number, [`Error::Truncated`] if it says none.
    pub(crate) fn new(codec: &'static str, encoded: &'b [u8], count: u64) -> Result<Self, Error> {
        let mut elements = Self { codec, size: encoded.len(), rest: encoded, next: 0, count };
        let stored = elements.number()?;
        if u64::from(stored) != count {
            return Err(Error::Corrupt { codec, what: format!("found {stored} elements, expected {count}") });
        }
        Ok(elements)
    }

    /// The bytes of the element of this number, which lies behind the elements that were read
    /// before.
    ///
    /// # Errors
    /// [`Error::Truncated`].
    pub(crate) fn at(&mut self, index: u64) -> Result<&'b [u8], Error> {
        while self.next < index {
            self.element()?;
        }
        self.element()
    }

    /// Reads the rest, and checks that the last element ends the chunk.
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

    /// How many bytes were read.
    pub(crate) fn read(&self) -> usize {
        self.size - self.rest.len()
    }

    /// The bytes that were not read yet.
    pub(crate) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    /// The bytes of the next element.
    ///
    /// # Errors
    /// [`Error::Truncated`].
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
