//! Parser of strings and their escapes.

use super::{Parser, SyntaxError, error_at};
use crate::surrogate;
use std::borrow::Cow;

impl<'t> Parser<'t> {
    /// Parses a string: borrowed from the document, or built if it has escapes.
    pub(super) fn string(&mut self) -> Result<Cow<'t, str>, SyntaxError> {
        self.at += 1;
        let mut text = Cow::Borrowed("");
        loop {
            // Runs end at ASCII bytes, and so between characters.
            let plain = self.rest().iter().take_while(|&&byte| byte != b'"' && byte != b'\\' && byte >= 0x20).count();
            let run = self.checked.get(self.at..self.at + plain).unwrap_or_default();
            let is_held = self.options.lone_surrogates && !self.is_ascii;
            let run = if is_held { surrogate::held(run) } else { Cow::Borrowed(run) };
            match text.is_empty() {
                true => text = run,
                false => text.to_mut().push_str(&run),
            }
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => self.escape(text.to_mut())?,
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("expected `\"`")),
            }
        }
    }

    /// Parses an escape, and adds its character to `text`.
    fn escape(&mut self, text: &mut String) -> Result<(), SyntaxError> {
        let start = self.at;
        self.at += 1;
        let escaped = self.peek();
        self.at += 1;
        text.push(match escaped {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start, text),
            _ => return Err(error_at(self.text, start, "unknown escape")),
        });
        Ok(())
    }

    fn unicode_escape(&mut self, start: usize, text: &mut String) -> Result<(), SyntaxError> {
        let malformed = || error_at(self.text, start, "malformed \\u escape");
        let first = self.hex4().ok_or_else(malformed)?;
        let behind = self.at;
        let second = if (0xd800..0xdc00).contains(&first) && self.take("\\u") { self.hex4() } else { None };
        let code = match second {
            Some(second) if (0xdc00..0xe000).contains(&second) => {
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            _ => {
                self.at = behind;
                first
            }
        };
        match char::from_u32(code) {
            Some(c) if self.options.lone_surrogates => surrogate::push_char(text, c),
            Some(c) => text.push(c),
            None if self.options.lone_surrogates => {
                self.lone_surrogates = true;
                surrogate::push(text, code);
            }
            None => return Err(error_at(self.text, start, "lone surrogate in a \\u escape")),
        }
        Ok(())
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = std::str::from_utf8(self.rest().get(..4)?).ok()?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}
