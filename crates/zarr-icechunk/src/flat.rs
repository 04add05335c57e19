//! Reader of FlatBuffers: of tables, whose fields are found by the offsets of a vtable, and of vectors.
//!
//! Each access is checked against the length of the bytes. Nothing is decoded in advance, and a table is read only by a caller that knows
//! its place in the schema, so that the content of a file does not determine the depth of recursion. Several offsets may point to one
//! place: a caller that walks through vectors of vectors has to bound the sum of their lengths.

use std::ops::Range;

/// Part of the bytes that is not a FlatBuffer of the expected schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlatFault {
    /// Name of the invalid part.
    pub(crate) what: &'static str,
    /// Offset of the invalid part in the bytes.
    pub(crate) at: usize,
}

pub(crate) type Result<T> = std::result::Result<T, FlatFault>;

fn fault<T>(what: &'static str, at: usize) -> Result<T> {
    Err(FlatFault { what, at })
}

/// Returns the `N` bytes at the offset `at`; `None` if they are not all inside the bytes.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(array(bytes, at)?)))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(array(bytes, at)?))
}

/// Returns the offset that the relative offset at `at` points to; it is always greater than `at`.
fn follow(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(usize::try_from(u32_at(bytes, at)?).ok()?)
}

/// Table of a FlatBuffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Size of the table in bytes: of its fields and the offset of its vtable.
    size: usize,
    /// Offset in `bytes` of the list of field offsets in the vtable.
    fields: usize,
    /// Number of field offsets in the vtable.
    count: usize,
}

impl<'b> Table<'b> {
    /// Returns the root table.
    pub(crate) fn root(bytes: &'b [u8]) -> Result<Self> {
        match follow(bytes, 0) {
            Some(at) => Self::at(bytes, at),
            None => fault("offset of the root", 0),
        }
    }

    /// Returns the table that begins at the offset `at`.
    pub(crate) fn at(bytes: &'b [u8], at: usize) -> Result<Self> {
        let parse = || {
            let back = i64::from(i32::from_le_bytes(array(bytes, at)?));
            let vtable = usize::try_from(i64::try_from(at).ok()?.checked_sub(back)?).ok()?;
            let (len, size) = (u16_at(bytes, vtable)?, u16_at(bytes, vtable.checked_add(2)?)?);
            let is_whole = vtable.checked_add(len)? <= bytes.len() && at.checked_add(size)? <= bytes.len();
            let is_table = len >= 4 && len % 2 == 0 && size >= 4;
            (is_whole && is_table).then(|| Self { bytes, at, size, fields: vtable + 4, count: (len - 4) / 2 })
        };
        parse().ok_or(FlatFault { what: "table", at })
    }

    /// Returns the offset in the bytes at which the table begins.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Returns the offset of the field `id`, whose value has `size` bytes; `None` if the field is absent and has its default value.
    fn field(&self, id: usize, size: usize) -> Result<Option<usize>> {
        if id >= self.count {
            return Ok(None);
        }
        let Some(offset) = u16_at(self.bytes, self.fields + 2 * id) else { return fault("vtable", self.fields) };
        match offset {
            0 => Ok(None),
            offset if offset >= 4 && offset + size <= self.size => Ok(Some(self.at + offset)),
            _ => fault("field of a table", self.at),
        }
    }

    /// Returns the field `id`, a struct of `N` bytes or a little-endian number; `None` if the field is absent.
    pub(crate) fn array<const N: usize>(&self, id: usize) -> Result<Option<[u8; N]>> {
        let Some(at) = self.field(id, N)? else { return Ok(None) };
        array(self.bytes, at).map(Some).ok_or(FlatFault { what: "field of a table", at })
    }

    pub(crate) fn u8_or(&self, id: usize, default: u8) -> Result<u8> {
        Ok(self.array::<1>(id)?.map_or(default, |[byte]| byte))
    }

    pub(crate) fn u32(&self, id: usize) -> Result<u32> {
        Ok(self.array(id)?.map_or(0, u32::from_le_bytes))
    }

    pub(crate) fn u64(&self, id: usize) -> Result<u64> {
        Ok(self.array(id)?.map_or(0, u64::from_le_bytes))
    }

    /// Returns the offset that the relative offset in the field `id` points to; `None` if the field is absent.
    fn reference(&self, id: usize) -> Result<Option<usize>> {
        let Some(at) = self.field(id, 4)? else { return Ok(None) };
        follow(self.bytes, at).map(Some).ok_or(FlatFault { what: "offset in a table", at })
    }

    pub(crate) fn table(&self, id: usize) -> Result<Option<Table<'b>>> {
        self.reference(id)?.map(|at| Self::at(self.bytes, at)).transpose()
    }

    /// Returns the field `id`, a vector whose items have `size` bytes: structs, numbers, or offsets of tables; `None` if the field is
    /// absent.
    pub(crate) fn vector(&self, id: usize, size: usize) -> Result<Option<Vector<'b>>> {
        self.reference(id)?.map(|at| Vector::at(self.bytes, at, size)).transpose()
    }

    /// Returns the field `id`, a vector whose items have `size` bytes. If the field is absent, the fault names it `what`.
    pub(crate) fn required(&self, id: usize, size: usize, what: &'static str) -> Result<Vector<'b>> {
        self.vector(id, size)?.ok_or(FlatFault { what, at: self.at })
    }

    /// Returns the field `id`, a struct of `N` bytes or a number. If the field is absent, the fault names it `what`.
    pub(crate) fn required_array<const N: usize>(&self, id: usize, what: &'static str) -> Result<[u8; N]> {
        self.array(id)?.ok_or(FlatFault { what, at: self.at })
    }

    /// Returns the range in the bytes of the field `id`, a vector of bytes; `None` if the field is absent.
    pub(crate) fn range(&self, id: usize) -> Result<Option<Range<usize>>> {
        Ok(self.vector(id, 1)?.map(|vector| vector.at..vector.at + vector.len))
    }

    pub(crate) fn bytes(&self, id: usize) -> Result<Option<&'b [u8]>> {
        Ok(self.range(id)?.and_then(|at| self.bytes.get(at)))
    }

    pub(crate) fn str(&self, id: usize) -> Result<Option<&'b str>> {
        let Some(bytes) = self.bytes(id)? else { return Ok(None) };
        std::str::from_utf8(bytes).map(Some).map_err(|_| FlatFault { what: "text that is not UTF-8", at: self.at })
    }
}

/// Vector of a FlatBuffer. All its items are inside the bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector<'b> {
    bytes: &'b [u8],
    at: usize,
    len: usize,
    size: usize,
}

impl<'b> Vector<'b> {
    fn at(bytes: &'b [u8], at: usize, size: usize) -> Result<Self> {
        let parse = || {
            let len = usize::try_from(u32_at(bytes, at)?).ok()?;
            let at = at.checked_add(4)?;
            (at.checked_add(len.checked_mul(size)?)? <= bytes.len()).then_some(Self { bytes, at, len, size })
        };
        parse().ok_or(FlatFault { what: "vector", at })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes of the item `i`; empty if `i` is not below the length.
    pub(crate) fn item(&self, i: usize) -> &'b [u8] {
        if i >= self.len {
            return &[];
        }
        let at = self.at + i * self.size;
        self.bytes.get(at..at + self.size).unwrap_or_default()
    }

    /// Returns the bytes of each item.
    pub(crate) fn items(&self) -> impl ExactSizeIterator<Item = &'b [u8]> + use<'b> {
        let this = *self;
        (0..this.len).map(move |i| this.item(i))
    }

    /// Returns the table whose offset is the item `i`.
    pub(crate) fn table(&self, i: usize) -> Result<Table<'b>> {
        let at = self.at + i.min(self.len) * self.size;
        match follow(self.bytes, at).filter(|_| i < self.len) {
            Some(table) => Table::at(self.bytes, table),
            None => fault("offset in a vector", at),
        }
    }

    pub(crate) fn tables(&self) -> impl Iterator<Item = Result<Table<'b>>> + use<'b> {
        let this = *self;
        (0..this.len).map(move |i| this.table(i))
    }

    /// Returns the items as little-endian numbers of 4 bytes.
    pub(crate) fn u32s(&self) -> impl ExactSizeIterator<Item = u32> + use<'b> {
        self.items().map(|item| u32_at(item, 0).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a FlatBuffer of a table with a byte, a number of 8 bytes, a string and a vector of 4-byte numbers.
    fn sample() -> Vec<u8> {
        let mut bytes = vec![0; 4];
        // The vtable: its size, the size of the table, and the offsets of the fields; field 2 is absent.
        let vtable = bytes.len();
        for number in [14_u16, 24, 4, 8, 0, 16, 20] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([0; 2]);
        let table = bytes.len();
        bytes[..4].copy_from_slice(&(table as u32).to_le_bytes());
        bytes.extend(((table - vtable) as i32).to_le_bytes());
        bytes.extend([7, 0, 0, 0]);
        bytes.extend(u64::MAX.to_le_bytes());
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend(12_u32.to_le_bytes());
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend(b"abc\0");
        bytes.extend(2_u32.to_le_bytes());
        bytes.extend([1, 0, 0, 0, 2, 0, 0, 0]);
        bytes
    }

    #[test]
    fn fields_are_found() {
        let bytes = sample();
        let table = Table::root(&bytes).expect("a table");
        assert_eq!((table.u8_or(0, 9), table.u8_or(2, 9), table.u8_or(77, 9)), (Ok(7), Ok(9), Ok(9)));
        assert_eq!((table.u64(1), table.u32(2)), (Ok(u64::MAX), Ok(0)));
        assert_eq!(table.str(3), Ok(Some("abc")));
        let vector = table.vector(4, 4).expect("a vector").expect("there");
        assert_eq!(vector.u32s().collect::<Vec<_>>(), [1, 2]);
        assert_eq!((vector.item(2), vector.table(2).is_err()), (&[][..], true));
        assert_eq!(
            table.array::<16>(1),
            Ok(Some({
                let mut both = [0; 16];
                both.copy_from_slice(&bytes[28..44]);
                both
            }))
        );
        assert_eq!(table.array::<17>(1), Err(FlatFault { what: "field of a table", at: 20 }));
    }

    #[test]
    fn no_bytes_lead_outside() {
        let bytes = sample();
        let look = |bytes: &[u8]| -> Result<()> {
            let table = Table::root(bytes)?;
            for id in 0..6 {
                let _ = (table.u8_or(id, 0), table.u64(id), table.array::<12>(id), table.str(id));
                if let Ok(Some(inner)) = table.table(id) {
                    let _ = (inner.u64(0), inner.str(1));
                }
                for size in [1, 4, 8, 12] {
                    if let Ok(Some(vector)) = table.vector(id, size) {
                        vector.items().for_each(|item| assert_eq!(item.len(), size));
                        let _ = (vector.tables().filter(Result::is_ok).count(), vector.u32s().sum::<u32>());
                    }
                }
            }
            Ok(())
        };
        for len in 0..bytes.len() {
            let _ = look(&bytes[..len]);
        }
        for at in 0..bytes.len() {
            for byte in 0..=255 {
                let mut bytes = bytes.clone();
                bytes[at] = byte;
                let _ = look(&bytes);
            }
        }
    }
}
