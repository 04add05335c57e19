//! Numbers and names of a header, one behind the other.

use crate::NetcdfFault;

/// The most dimensions, attributes and variables of a file. netCDF-C reads no more than some thousands.
const ITEMS: u64 = 1 << 20;

/// Why a header is not read yet.
#[derive(Debug)]
pub(crate) enum Lack {
    /// It needs the bytes up to this offset.
    Bytes(u64),
    /// The file is at fault.
    Fault(NetcdfFault),
}

impl From<NetcdfFault> for Lack {
    fn from(fault: NetcdfFault) -> Self {
        Self::Fault(fault)
    }
}

/// Reads the beginning of a file, as far as it is in memory.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of items of all lists so far.
    items: u64,
    /// Counts and lengths have 64 bits (CDF-5).
    pub(crate) is_wide: bool,
    /// Offsets have 64 bits (CDF-2 and CDF-5).
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

    /// Bytes that are filled up to a multiple of four.
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

    /// A count or a length, which is not negative.
    pub(crate) fn count(&mut self) -> Result<u64, Lack> {
        let at = self.at();
        let (number, most) =
            if self.is_wide { (self.u64()?, i64::MAX as u64) } else { (self.u32()?.into(), i32::MAX as u64) };
        if number <= most { Ok(number) } else { Err(header(at, number, "a number that is not negative")) }
    }

    /// The number of records; `None` if the size of the file tells it.
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

    /// The number of items of a list, which begins with this tag unless it is empty.
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

/// The text of these bytes. Old files have ISO 8859-1, whose bytes are the first code points.
pub(crate) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect(),
    }
}

/// A length up to a multiple of four.
pub(crate) fn padded(len: u64) -> u64 {
    len.checked_next_multiple_of(4).unwrap_or(u64::MAX)
}

pub(crate) fn header(at: u64, found: impl ToString, expected: &str) -> Lack {
    NetcdfFault::Header { at, found: found.to_string(), expected: expected.to_owned() }.into()
}
