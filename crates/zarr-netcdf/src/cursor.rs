//! Reader of the numbers and names of a header, which lie one behind the other.

use crate::NetcdfFault;

/// Maximum number of dimensions, attributes and variables of a file together. netCDF-C reads no more than some thousands.
const ITEMS: u64 = 1 << 20;

/// Reason why a header could not be parsed.
#[derive(Debug)]
pub(crate) enum Lack {
    /// The header continues behind the bytes that were given: at least the bytes before this offset are needed.
    Bytes(u64),
    /// The header is invalid.
    Fault(NetcdfFault),
}

impl From<NetcdfFault> for Lack {
    fn from(fault: NetcdfFault) -> Self {
        Self::Fault(fault)
    }
}

/// Position in the beginning of a file, from which numbers and names are read in sequence.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of dimensions, attributes and variables that the lists read so far contain.
    items: u64,
    /// Whether counts and lengths have 64 bits (CDF-5) instead of 32.
    pub(crate) is_wide: bool,
    /// Whether offsets have 64 bits (CDF-2 and CDF-5) instead of 32.
    pub(crate) has_wide_offsets: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, items: 0, is_wide: false, has_wide_offsets: false }
    }

    pub(crate) fn at(&self) -> u64 {
        self.at as u64
    }

    pub(crate) fn take(&mut self, len: u64) -> Result<&'a [u8], Lack> {
        let end = self.at().saturating_add(len);
        let taken = usize::try_from(end).ok().and_then(|end| self.bytes.get(self.at..end)).ok_or(Lack::Bytes(end))?;
        self.at += taken.len();
        Ok(taken)
    }

    /// Reads `len` bytes and skips the padding up to a multiple of four.
    pub(crate) fn take_padded(&mut self, len: u64) -> Result<&'a [u8], Lack> {
        let taken = self.take(len)?;
        self.take(padded(len).saturating_sub(len))?;
        Ok(taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Lack> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    fn u64(&mut self) -> Result<u64, Lack> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads a count or a length; a negative number is an error.
    pub(crate) fn count(&mut self) -> Result<u64, Lack> {
        let at = self.at();
        let (number, most) =
            if self.is_wide { (self.u64()?, i64::MAX as u64) } else { (self.u32()?.into(), i32::MAX as u64) };
        if number <= most { Ok(number) } else { Err(header(at, number, "a number that is not negative")) }
    }

    /// Reads the number of records; `None` if the number is unknown (all bits set), and follows from the size of the file.
    pub(crate) fn records(&mut self) -> Result<Option<u64>, Lack> {
        let (number, unknown) =
            if self.is_wide { (self.u64()?, u64::MAX) } else { (self.u32()?.into(), u32::MAX.into()) };
        Ok((number != unknown).then_some(number))
    }

    pub(crate) fn offset(&mut self) -> Result<u64, Lack> {
        if self.has_wide_offsets { self.u64() } else { self.u32().map(u64::from) }
    }

    pub(crate) fn name(&mut self) -> Result<String, Lack> {
        let len = self.count()?;
        self.take_padded(len).map(text)
    }

    /// Reads the head of a list and returns the number of its items. A list that is not empty begins with `tag`; `what` names the items in
    /// errors.
    pub(crate) fn list(&mut self, tag: u32, what: &str) -> Result<u64, Lack> {
        let at = self.at();
        let found = self.u32()?;
        let count = self.count()?;
        self.items = self.items.saturating_add(count);
        match found {
            0 if count == 0 => Ok(0),
            found if found == tag && self.items > ITEMS => {
                Err(header(at, format!("{count} {what}"), &format!("at most {ITEMS} of all kinds in a file")))
            }
            found if found == tag => Ok(count),
            found => Err(header(at, format!("{found:#x}"), &format!("{tag:#x}, by which {what} begin"))),
        }
    }
}

/// Decodes a string. Bytes that are not UTF-8 are ISO 8859-1, as in old files, and each becomes one character.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// Rounds a length up to a multiple of four.
pub(crate) fn padded(len: u64) -> u64 {
    len.checked_next_multiple_of(4).unwrap_or(u64::MAX)
}

pub(crate) fn header(at: u64, found: impl ToString, expected: &str) -> Lack {
    NetcdfFault::Header { at, found: found.to_string(), expected: expected.to_owned() }.into()
}
