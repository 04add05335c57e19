//! Compact protocol of Thrift, which encodes the footer and the page headers of Parquet.

use super::Bad;

type Result<T> = std::result::Result<T, Bad>;

/// Maximum depth of nested structures.
const DEPTH: usize = 16;

/// Number of the kind of the value true; the constants up to `STRUCT` are the other kinds of values.
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;
pub(super) const BYTE: u8 = 3;
pub(super) const I16: u8 = 4;
pub(super) const I32: u8 = 5;
pub(super) const I64: u8 = 6;
pub(super) const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
pub(super) const SET: u8 = 10;
pub(super) const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;

/// Position in encoded structures, from which values are read in sequence.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// Offset in the file of the first byte of `bytes`, for errors.
    base: u64,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8], base: u64) -> Self {
        Self { bytes, at: 0, base }
    }

    /// Returns the number of bytes that were read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn bad(&self, found: impl Into<String>, expected: &str) -> Bad {
        Bad::new(format!("byte {}", self.base + self.at as u64), found, expected)
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(|| self.bad("the end", "more bytes of a structure"))?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(self.bad("an integer of more than 64 bits", "one of at most 64"))
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Reads the number and kind of the next field of a structure; `None` at the end of the structure. `last` is the number of the field
    /// before, 0 at first, and is updated.
    pub(super) fn field(&mut self, last: &mut i64) -> Result<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let (step, kind) = (byte >> 4, byte & 0xf);
        *last = if step == 0 { self.zigzag()? } else { last.wrapping_add(step.into()) };
        Ok(Some((*last, kind)))
    }

    /// Reads the value of a field of an integer `kind`.
    pub(super) fn integer(&mut self, kind: u8) -> Result<i64> {
        match kind {
            I16 | I32 | I64 => self.zigzag(),
            BYTE => self.byte().map(|byte| byte.cast_signed().into()),
            kind => Err(self.bad(format!("a value of kind {kind}"), "an integer")),
        }
    }

    /// Returns the value of a boolean field, which is encoded in its `kind`.
    pub(super) fn boolean(&mut self, kind: u8) -> Result<bool> {
        match kind {
            TRUE => Ok(true),
            FALSE => Ok(false),
            kind => Err(self.bad(format!("a value of kind {kind}"), "true or false")),
        }
    }

    pub(super) fn binary(&mut self, kind: u8) -> Result<&'b [u8]> {
        if kind != BINARY {
            return Err(self.bad(format!("a value of kind {kind}"), "a text"));
        }
        let len = self.varint()?;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let text = usize::try_from(len).ok().and_then(|len| rest.get(..len));
        let text =
            text.ok_or_else(|| self.bad(format!("a text of {len} bytes"), "one that ends before the structure"))?;
        self.at += text.len();
        Ok(text)
    }

    /// Reads the head of a list: the kind and the number of its items. More items than bytes that are left are an error.
    pub(super) fn list(&mut self, kind: u8) -> Result<(u8, usize)> {
        if !matches!(kind, LIST | SET) {
            return Err(self.bad(format!("a value of kind {kind}"), "a list"));
        }
        let byte = self.byte()?;
        let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
        let left = self.bytes.len().saturating_sub(self.at);
        let count = usize::try_from(count).ok().filter(|count| *count <= left);
        let count = count.ok_or_else(|| self.bad("a list of more items than there are bytes", "a shorter one"))?;
        Ok((byte & 0xf, count))
    }

    pub(super) fn structure(&mut self, kind: u8) -> Result<()> {
        if kind == STRUCT { Ok(()) } else { Err(self.bad(format!("a value of kind {kind}"), "a structure")) }
    }

    pub(super) fn skip(&mut self, kind: u8) -> Result<()> {
        self.skip_at(kind, 0)
    }

    fn skip_at(&mut self, kind: u8, depth: usize) -> Result<()> {
        if depth > DEPTH {
            return Err(self.bad(format!("structures more than {DEPTH} deep in each other"), "fewer"));
        }
        match kind {
            TRUE | FALSE => Ok(()),
            BYTE => self.byte().map(drop),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => (0..8).try_for_each(|_| self.byte().map(drop)),
            BINARY => self.binary(BINARY).map(drop),
            LIST | SET => {
                let (kind, count) = self.list(kind)?;
                (0..count).try_for_each(|_| self.skip_item(kind, depth))
            }
            MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Ok(());
                }
                if count > self.bytes.len().saturating_sub(self.at) as u64 {
                    return Err(self.bad("a map of more entries than there are bytes", "a shorter one"));
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth)?;
                    self.skip_item(kinds & 0xf, depth)
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip_at(kind, depth + 1)?;
                }
                Ok(())
            }
            kind => Err(self.bad(format!("a value of kind {kind}"), "one that Thrift has")),
        }
    }

    /// Skips an item of a list. A boolean item has a byte, unlike a boolean field.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Result<()> {
        if matches!(kind, TRUE | FALSE) { self.byte().map(drop) } else { self.skip_at(kind, depth + 1) }
    }
}

/// Encoder of structures.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Number of the last field of each structure that was begun and not ended.
    last: Vec<i64>,
}

impl Writer {
    /// Begins a structure at the root or in a list.
    pub(super) fn begin(&mut self) -> &mut Self {
        self.last.push(0);
        self
    }

    pub(super) fn end(&mut self) -> &mut Self {
        self.last.pop();
        self.bytes.push(0);
        self
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(u8::try_from(value & 0x7f).unwrap_or(0) | 0x80);
            value >>= 7;
        }
        self.bytes.push(u8::try_from(value).unwrap_or(0));
    }

    fn zigzag(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63).cast_unsigned());
    }

    fn field(&mut self, number: i64, kind: u8) {
        let last = self.last.last_mut().map_or(0, |last| std::mem::replace(last, number));
        match u8::try_from(number - last) {
            Ok(step @ 1..=15) => self.bytes.push(step << 4 | kind),
            _ => {
                self.bytes.push(kind);
                self.zigzag(number);
            }
        }
    }

    pub(super) fn i32(&mut self, number: i64, value: i64) -> &mut Self {
        self.field(number, I32);
        self.zigzag(value);
        self
    }

    pub(super) fn i64(&mut self, number: i64, value: i64) -> &mut Self {
        self.field(number, I64);
        self.zigzag(value);
        self
    }

    pub(super) fn text(&mut self, number: i64, text: &str) -> &mut Self {
        self.field(number, BINARY);
        self.text_item(text)
    }

    pub(super) fn structure(&mut self, number: i64) -> &mut Self {
        self.field(number, STRUCT);
        self.begin()
    }

    /// Writes the head of a list in the field `number`. The caller writes `count` items of `kind` behind it.
    pub(super) fn list(&mut self, number: i64, kind: u8, count: usize) -> &mut Self {
        self.field(number, LIST);
        match u8::try_from(count) {
            Ok(count @ 0..15) => self.bytes.push(count << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                self.varint(count as u64);
            }
        }
        self
    }

    pub(super) fn integer_item(&mut self, value: i64) -> &mut Self {
        self.zigzag(value);
        self
    }

    pub(super) fn text_item(&mut self, text: &str) -> &mut Self {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
        self
    }
}
