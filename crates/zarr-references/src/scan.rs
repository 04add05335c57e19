//! JSON scanner, which reads token by token, so that a million references never are values in memory.

use std::borrow::Cow;
use std::ops::Range;

use crate::ReferencesFault;

type Result<T> = std::result::Result<T, ReferencesFault>;

/// Position in a JSON document, from which tokens are read in sequence.
pub(crate) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Skips white space and returns the next byte, which is not consumed.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn expect(&mut self, byte: u8, expected: &str) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(self.error(expected)) }
    }

    pub(crate) fn error(&mut self, expected: &str) -> ReferencesFault {
        let found = match self.peek() {
            None => "the end of the file".to_owned(),
            Some(byte) if byte.is_ascii_graphic() => format!("`{}`", char::from(byte)),
            Some(byte) => format!("byte {byte:#04x}"),
        };
        self.fault(self.at, found, expected)
    }

    pub(crate) fn fault(&self, at: usize, found: impl Into<String>, expected: &str) -> ReferencesFault {
        ReferencesFault::Syntax { at: at as u64, found: found.into(), expected: expected.to_owned() }
    }

    /// Reads the name of the next member of an object whose `{` was read, up to the value; `None` at the end of the object. `is_first` is
    /// true before the first member.
    pub(crate) fn member(&mut self, is_first: &mut bool) -> Result<Option<Cow<'t, str>>> {
        if !self.item(is_first, b'}')? {
            return Ok(None);
        }
        let name = self.string()?;
        self.expect(b':', "`:` behind the name of a member")?;
        Ok(Some(name))
    }

    /// Whether another item follows, and not the closing bracket `end`, which is consumed. `is_first` is true before the first item.
    pub(crate) fn item(&mut self, is_first: &mut bool, end: u8) -> Result<bool> {
        if self.take(end) {
            return Ok(false);
        }
        if !std::mem::take(is_first) {
            self.expect(b',', "`,` or the end")?;
        }
        Ok(true)
    }

    pub(crate) fn string(&mut self) -> Result<Cow<'t, str>> {
        self.expect(b'"', "a text in quotes")?;
        let begin = self.at;
        let rest = &self.text.as_bytes()[begin..];
        let Some(len) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)) else {
            return Err(self.fault(begin - 1, "a text without an end", "`\"` at its end"));
        };
        self.at += len;
        match rest[len] {
            b'"' => {
                let text = &self.text[begin..self.at];
                self.at += 1;
                Ok(Cow::Borrowed(text))
            }
            b'\\' => self.escaped(begin).map(Cow::Owned),
            byte => Err(self.fault(self.at, format!("byte {byte:#04x}"), "an escape in a text")),
        }
    }

    /// Reads the rest of a string that begins at `begin`, from its first escape.
    fn escaped(&mut self, begin: usize) -> Result<String> {
        let mut text = self.text[begin..self.at].to_owned();
        loop {
            let mut rest = self.text[self.at..].char_indices();
            let Some((_, next)) = rest.next() else {
                return Err(self.fault(begin - 1, "a text without an end", "`\"` at its end"));
            };
            match next {
                '"' => {
                    self.at += 1;
                    return Ok(text);
                }
                '\\' => {
                    self.at += 1;
                    text.push(self.escape()?);
                }
                next => {
                    text.push(next);
                    self.at += next.len_utf8();
                }
            }
        }
    }

    /// Reads an escape whose backslash was read, and returns its character.
    fn escape(&mut self) -> Result<char> {
        let byte = self.text.as_bytes().get(self.at).copied();
        let plain = match byte {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.unit()?;
                let is_low = |unit: u32| (0xdc00..0xe000).contains(&unit);
                if !(0xd800..0xdc00).contains(&first) {
                    return char::from_u32(first).ok_or_else(|| self.fault(self.at, "half a character", "a character"));
                }
                if self.text[self.at..].starts_with("\\u") {
                    self.at += 1;
                    let second = self.unit()?;
                    let pair = is_low(second).then(|| 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
                    if let Some(pair) = pair.and_then(char::from_u32) {
                        return Ok(pair);
                    }
                }
                return Err(self.fault(self.at, "half a character", "a character"));
            }
            _ => return Err(self.error("an escape, as \\n")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// Reads the four hexadecimal digits behind `u`, the current byte.
    fn unit(&mut self) -> Result<u32> {
        let digits = self.text.get(self.at + 1..self.at + 5);
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.fault(self.at, "another text", "four digits behind \\u"))?;
        self.at += 5;
        Ok(unit)
    }

    /// Reads an integer that is not negative.
    pub(crate) fn number(&mut self) -> Result<u64> {
        self.peek();
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        let is_whole = !matches!(rest.as_bytes().get(len), Some(b'.' | b'e' | b'E'));
        match rest[..len].parse().ok().filter(|_| is_whole) {
            Some(number) => {
                self.at += len;
                Ok(number)
            }
            None => Err(self.error("an integer that is not negative")),
        }
    }

    /// Skips the next value and returns its range. Brackets are counted, but the syntax between them is not checked.
    pub(crate) fn skip(&mut self) -> Result<Range<usize>> {
        let first = self.peek();
        let begin = self.at;
        match first {
            Some(b'"') => self.string().map(drop)?,
            Some(b'{' | b'[') => {
                let mut depth = 0_u64;
                loop {
                    match self.peek() {
                        Some(b'"') => {
                            self.string()?;
                            continue;
                        }
                        Some(b'{' | b'[') => depth += 1,
                        Some(b'}' | b']') => depth -= 1,
                        Some(_) => {}
                        None => return Err(self.fault(begin, "a value without an end", "its closing bracket")),
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                let rest = &self.text.as_bytes()[begin..];
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
                if self.at == begin {
                    return Err(self.error("a value"));
                }
            }
        }
        Ok(begin..self.at)
    }

    pub(crate) fn end(&mut self) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.error("the end of the file")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_json_crate() {
        for text in [r#""""#, r#""plain""#, r#""a\"b\\c\/d\b\f\n\r\t""#, r#""\u00e4\ud83d\ude00 ä""#] {
            let expected = zarr_json::Value::from_json(text).unwrap();
            assert_eq!(Scanner::new(text, 0).string().unwrap(), expected.as_str().unwrap());
        }
        for text in ["\"", r#""\"#, r#""\x""#, r#""\u12""#, r#""\ud800""#, r#""\ud800\u0041""#, r#""\udc00""#, "\"\n\""]
        {
            Scanner::new(text, 0).string().unwrap_err();
        }
    }

    #[test]
    fn values_are_skipped_whole() {
        for text in ["1.5e3", "\"]\"", "[1, \"]\", {\"a\": [2]}]", "null", "{}"] {
            let padded = format!("  {text} , 1");
            let range = Scanner::new(&padded, 0).skip().unwrap();
            assert_eq!(&padded[range], text);
        }
        let deep = "[".repeat(1_000_000);
        Scanner::new(&deep, 0).skip().unwrap_err();
        assert_eq!(Scanner::new(&format!("{deep}{}", "]".repeat(1_000_000)), 0).skip().unwrap(), 0..2_000_000);
    }
}
