//! Percent-encoding of paths and queries, and hexadecimal digits.

use std::fmt::Write;

/// Decodes percent-encoding; `None` if an escape is incomplete or the bytes are not UTF-8. If `in_query`, `+` is a space.
pub(crate) fn decode(encoded: &str, in_query: bool) -> Option<String> {
    let bytes = encoded.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while let Some(&byte) = bytes.get(index) {
        index += 1;
        match byte {
            b'%' => {
                let digits = std::str::from_utf8(bytes.get(index..index + 2)?).ok()?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return None;
                }
                decoded.push(u8::from_str_radix(digits, 16).ok()?);
                index += 2;
            }
            b'+' if in_query => decoded.push(b' '),
            byte => decoded.push(byte),
        }
    }
    String::from_utf8(decoded).ok()
}

/// Percent-encodes all characters of `text` except letters, digits, `-._~` and the characters in `kept`.
pub(crate) fn encode(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if byte.is_ascii_alphanumeric() || "-._~".contains(character) || kept.as_bytes().contains(&byte) {
            encoded.push(character);
        } else {
            push_hex(&mut encoded, "%", byte, true);
        }
    }
    encoded
}

/// Returns `bytes` in lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    bytes.iter().for_each(|&byte| push_hex(&mut text, "", byte, false));
    text
}

/// Returns the bytes of a string of hexadecimal digits; `None` if it is not one.
pub(crate) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|index| u8::from_str_radix(text.get(index..index + 2)?, 16).ok()).collect()
}

fn push_hex(text: &mut String, before: &str, byte: u8, is_upper: bool) {
    // Writing to a string does not fail.
    let _ = if is_upper { write!(text, "{before}{byte:02X}") } else { write!(text, "{before}{byte:02x}") };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        for text in ["", "a/b c+d", "é%&=?#", "\u{10ffff}"] {
            assert_eq!(decode(&encode(text, "/"), false).as_deref(), Some(text));
            assert_eq!(decode(&encode(text, ""), true).as_deref(), Some(text));
            assert_eq!(unhex(&hex(text.as_bytes())).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!(encode("a/b c", "/"), "a/b%20c");
    }

    #[test]
    fn faulty() {
        for text in ["%", "%4", "%zz", "%+1", "%ff"] {
            assert_eq!(decode(text, false), None, "{text}");
        }
        assert_eq!(unhex("abc"), None);
        assert_eq!(unhex("zz"), None);
    }
}
