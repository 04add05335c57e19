//! Reading of the bytes of a pickle, and of the arguments of opcodes.

use zarr_json::{Number, Value};

/// Reader of bytes, from front to back.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, rest: bytes }
    }

    pub(super) fn at(&self) -> usize {
        self.bytes.len() - self.rest.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N).map(|bytes| bytes.first_chunk().copied().unwrap_or([0; N]))
    }

    pub(super) fn byte(&mut self) -> Result<u8, String> {
        self.array().map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        self.array().map(u32::from_le_bytes)
    }

    /// Returns the bytes after a length of `width` bytes: 1, 4 or 8.
    pub(super) fn counted(&mut self, width: usize) -> Result<&'b [u8], String> {
        let len = match width {
            1 => self.byte()?.into(),
            4 => self.u32()?.into(),
            _ => u64::from_le_bytes(self.array()?),
        };
        self.take(usize::try_from(len).unwrap_or(usize::MAX))
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'b [u8], String> {
        let Some((bytes, rest)) = self.rest.split_at_checked(len) else {
            return Err(format!("the end, expected {len} more bytes"));
        };
        self.rest = rest;
        Ok(bytes)
    }

    /// Returns the bytes before the next line feed, and skips the line feed.
    pub(super) fn line(&mut self) -> Result<&'b str, String> {
        let len = self.rest.iter().position(|&byte| byte == b'\n').ok_or("a line without end")?;
        let line = self.take(len)?;
        self.take(1)?;
        std::str::from_utf8(line).map_err(|_| "a line that is not UTF-8".to_owned())
    }

    /// Returns a line of Latin-1 with the escapes `\uXXXX` and `\UXXXXXXXX` replaced. Escapes of surrogates are errors.
    pub(super) fn escaped_line(&mut self) -> Result<String, String> {
        let len = self.rest.iter().position(|&byte| byte == b'\n').ok_or("a line without end")?;
        let mut line = self.take(len)?;
        self.take(1)?;
        let mut text = String::new();
        while let Some((&byte, rest)) = line.split_first() {
            let digits = match (byte, rest.first()) {
                (b'\\', Some(b'u')) => 4,
                (b'\\', Some(b'U')) => 8,
                _ => 0,
            };
            if digits == 0 {
                text.push(char::from(byte));
                line = rest;
                continue;
            }
            let code = rest.get(1..=digits).and_then(|digits| std::str::from_utf8(digits).ok());
            let code = code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
            text.push(code.ok_or("an escape that is not a code point")?);
            line = rest.get(1 + digits..).unwrap_or_default();
        }
        Ok(text)
    }
}

pub(super) fn utf8(bytes: &[u8]) -> Result<Value, String> {
    std::str::from_utf8(bytes).map(Value::from).map_err(|_| "a string that is not UTF-8".to_owned())
}

/// Returns the integer with two's complement `bytes`, lowest byte first.
pub(super) fn long(bytes: &[u8]) -> Result<Value, String> {
    let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut all = [sign; 16];
    match all.get_mut(..bytes.len()) {
        Some(low) => low.copy_from_slice(bytes),
        None => return Err("an integer beyond 128 bits".to_owned()),
    }
    Ok(integer(i128::from_le_bytes(all)))
}

/// Returns the integer or bool that a line spells: bools are `00` and `01`.
pub(super) fn spelled(line: &str) -> Result<Value, String> {
    match line {
        "00" => Ok(Value::from(false)),
        "01" => Ok(Value::from(true)),
        _ => line.strip_suffix('L').unwrap_or(line).parse().map(integer).map_err(|_| format!("{line:?} as an integer")),
    }
}

fn integer(value: i128) -> Value {
    Number::parse(&value.to_string()).map_or(Value::Null, Value::Number)
}
