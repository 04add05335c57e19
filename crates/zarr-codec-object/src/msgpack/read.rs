//! Reading of values from MessagePack.

use crate::special::{self, Special};
use zarr_json::{Map, Value};

/// Maximum depth of nested lists and maps, as in JSON.
const MAX_DEPTH: usize = 128;

/// Parses `bytes`. With `raw`, strings become bytes.
pub(super) fn list(bytes: &[u8], raw: bool) -> Result<Value, String> {
    let mut reader = Reader { bytes, rest: bytes, raw };
    let value = reader.value(0)?;
    match reader.rest.len() {
        0 => Ok(value),
        left => Err(format!("{left} bytes behind the value")),
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
    rest: &'b [u8],
    raw: bool,
}

impl<'b> Reader<'b> {
    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested deeper than 128 levels"));
        }
        let [marker] = self.array()?;
        Ok(match marker {
            0x00..=0x7f => Value::from(marker),
            0x80..=0x8f => self.map(usize::from(marker & 0x0f), depth)?,
            0x90..=0x9f => self.items(usize::from(marker & 0x0f), depth)?,
            0xa0..=0xbf => self.text(usize::from(marker & 0x1f))?,
            0xc0 => Value::Null,
            0xc2 => Value::from(false),
            0xc3 => Value::from(true),
            0xc4 | 0xd9 => {
                let len = u8::from_be_bytes(self.array()?);
                self.string(marker == 0xd9, usize::from(len))?
            }
            0xc5 | 0xda => {
                let len = u16::from_be_bytes(self.array()?);
                self.string(marker == 0xda, usize::from(len))?
            }
            0xc6 | 0xdb => {
                let len = self.len()?;
                self.string(marker == 0xdb, len)?
            }
            0xca => special::float(f64::from(f32::from_be_bytes(self.array()?))),
            0xcb => special::float(f64::from_be_bytes(self.array()?)),
            0xcc => Value::from(u8::from_be_bytes(self.array()?)),
            0xcd => Value::from(u16::from_be_bytes(self.array()?)),
            0xce => Value::from(u32::from_be_bytes(self.array()?)),
            0xcf => Value::from(u64::from_be_bytes(self.array()?)),
            0xd0 => Value::from(i8::from_be_bytes(self.array()?)),
            0xd1 => Value::from(i16::from_be_bytes(self.array()?)),
            0xd2 => Value::from(i32::from_be_bytes(self.array()?)),
            0xd3 => Value::from(i64::from_be_bytes(self.array()?)),
            0xdc => {
                let len = u16::from_be_bytes(self.array()?);
                self.items(usize::from(len), depth)?
            }
            0xdd => {
                let len = self.len()?;
                self.items(len, depth)?
            }
            0xde => {
                let len = u16::from_be_bytes(self.array()?);
                self.map(usize::from(len), depth)?
            }
            0xdf => {
                let len = self.len()?;
                self.map(len, depth)?
            }
            0xe0..=0xff => Value::from(marker.cast_signed()),
            0xc1 => return Err(self.error("0xc1, which MessagePack does not use")),
            0xc7..=0xc9 | 0xd4..=0xd8 => return Err(self.error("a value of an extension type")),
        })
    }

    /// Reads `count` items. No memory is reserved for `count` items, since the input may have fewer: each takes at least a byte.
    fn items(&mut self, count: usize, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.value(depth + 1)?);
        }
        Ok(Value::Array(items))
    }

    fn map(&mut self, count: usize, depth: usize) -> Result<Value, String> {
        let mut members = Vec::new();
        for _ in 0..count {
            let name = match self.value(depth + 1)? {
                Value::String(name) => name,
                name => match Special::of(&name) {
                    Some(Special::Bytes(bytes)) if self.raw => {
                        String::from_utf8(bytes).map_err(|_| self.error("a key that is not UTF-8"))?
                    }
                    _ => return Err(self.error(&format!("{} as a key, expected a string", name.kind()))),
                },
            };
            members.push((name, self.value(depth + 1)?));
        }
        Ok(Value::Object(Map::from_iter(members)))
    }

    fn string(&mut self, is_text: bool, len: usize) -> Result<Value, String> {
        if is_text { self.text(len) } else { Ok(Special::Bytes(self.take(len)?.to_vec()).to_value()) }
    }

    fn text(&mut self, len: usize) -> Result<Value, String> {
        let bytes = self.take(len)?;
        if self.raw {
            return Ok(Special::Bytes(bytes.to_vec()).to_value());
        }
        std::str::from_utf8(bytes)
            .map(Value::from)
            .map_err(|error| self.error(&format!("a string is not UTF-8: {error}")))
    }

    fn len(&mut self) -> Result<usize, String> {
        let len = u32::from_be_bytes(self.array()?);
        Ok(usize::try_from(len).unwrap_or(usize::MAX))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let bytes = self.take(N)?;
        bytes.first_chunk().copied().ok_or_else(|| self.error("the end"))
    }

    fn take(&mut self, len: usize) -> Result<&'b [u8], String> {
        let Some((bytes, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.error(&format!("the end, expected {len} more bytes")));
        };
        self.rest = rest;
        Ok(bytes)
    }

    fn error(&self, found: &str) -> String {
        format!("at byte {}: {found}", self.bytes.len() - self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zarr_json::json;

    #[test]
    fn every_marker_is_read() {
        let long = [&[0xd9, 40][..], &[b'x'; 40]].concat();
        for (bytes, expected) in [
            (&b"\x7f"[..], json!(127)),
            (b"\xe0", json!(-32)),
            (b"\x81\xa1a\xc0", json!({"a": null})),
            (b"\x92\xc2\xc3", json!([false, true])),
            (b"\xc4\x01\xff", json!({"$bytes": "/w=="})),
            (b"\xc5\0\x01\xff", json!({"$bytes": "/w=="})),
            (b"\xc6\0\0\0\x01\xff", json!({"$bytes": "/w=="})),
            (b"\xca\x3f\x80\0\0", json!(1.0)),
            (b"\xcb\x7f\xf0\0\0\0\0\0\0", json!({"$float": "Infinity"})),
            (b"\xcc\xff", json!(255)),
            (b"\xcd\xff\xff", json!(65535)),
            (b"\xce\xff\xff\xff\xff", json!(4294967295_u32)),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", json!(u64::MAX)),
            (b"\xd0\x80", json!(-128)),
            (b"\xd1\x80\0", json!(-32768)),
            (b"\xd2\x80\0\0\0", json!(i32::MIN)),
            (b"\xd3\x80\0\0\0\0\0\0\0", json!(i64::MIN)),
            (&long, json!("x".repeat(40))),
            (b"\xda\0\x01a", json!("a")),
            (b"\xdb\0\0\0\x01a", json!("a")),
            (b"\xdc\0\x01\x01", json!([1])),
            (b"\xdd\0\0\0\x01\x01", json!([1])),
            (b"\xde\0\x01\xa1a\x01", json!({"a": 1})),
            (b"\xdf\0\0\0\x01\xa1a\x01", json!({"a": 1})),
        ] {
            assert_eq!(list(bytes, false).unwrap(), expected, "{}", bytes.escape_ascii());
            for cut in 0..bytes.len() {
                assert!(list(&bytes[..cut], false).is_err());
            }
        }
        assert_eq!(list(b"\x81\xa1a\xa1b", true).unwrap(), json!({"a": {"$bytes": "Yg=="}}));
    }

    #[test]
    fn hostile_bytes_are_errors() {
        let check = |bytes: &[u8], expected: &str| {
            let error = list(bytes, false).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        check(b"\xdd\xff\xff\xff\xff", "the end");
        check(b"\xdf\xff\xff\xff\xff", "the end");
        check(b"\xc6\xff\xff\xff\xff", "expected 4294967295 more bytes");
        check(&[0x91; 1000], "nested deeper");
        check(b"\xc1", "does not use");
        check(b"\xd6\xff\0\0\0\0", "extension type");
        check(b"\x81\x01\x01", "a number as a key");
        check(b"\xa1\xff", "not UTF-8");
        check(b"\x01\x02", "1 bytes behind");
    }
}
