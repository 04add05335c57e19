//! Lone surrogates, which JSON can spell as escapes, but which no Unicode string can contain.
//!
//! Python reads and writes `"\ud800"`. In order to write such a string as it was read, each lone surrogate is stored as three
//! noncharacters, which no interchanged string has: one of U+FDD8 to U+FDDF, then two of U+FDD0 to U+FDDF, four bits each. If a string
//! itself has one of these characters, or U+FDE0, the character is stored with U+FDE0 in front. Strings that are read without
//! [`lone_surrogates`](crate::ParseOptions::lone_surrogates), such as strings of chunks, are stored unchanged.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Character that is stored in front of a noncharacter that belongs to the string itself.
const MARK: char = '\u{fde0}';

/// Whether a character is stored with a mark in front.
pub(crate) fn is_marked(c: char) -> bool {
    ('\u{fdd0}'..=MARK).contains(&c)
}

/// Adds a character to `text`, with a mark in front if need be.
pub(crate) fn push_char(text: &mut String, c: char) {
    text.extend(is_marked(c).then_some(MARK));
    text.push(c);
}

/// Adds the lone surrogate with code `code` to `text`, as three noncharacters.
pub(crate) fn push(text: &mut String, code: u32) {
    let digit = |shift: u32| char::from_u32(0xfdd0 | (code >> shift & 0xf)).unwrap_or(char::REPLACEMENT_CHARACTER);
    text.extend([8, 4, 0].map(digit));
}

/// Converts a string to its stored form: adds marks in front of noncharacters.
pub(crate) fn held(text: &str) -> Cow<'_, str> {
    if !text.contains(is_marked) {
        return Cow::Borrowed(text);
    }
    let mut held = String::with_capacity(2 * text.len());
    text.chars().for_each(|c| push_char(&mut held, c));
    Cow::Owned(held)
}

/// Writes the first character of `text`, a string in its stored form: without its mark, or as the escape of a lone surrogate. Returns the
/// rest of `text`.
pub(crate) fn write<'t>(text: &'t str, out: &mut impl Write) -> Result<&'t str, fmt::Error> {
    let mut chars = text.chars();
    let mut next = || chars.next().unwrap_or_default();
    match [next(), next(), next()] {
        [MARK, c, _] if is_marked(c) => {
            out.write_char(c)?;
            Ok(text.get(MARK.len_utf8() + c.len_utf8()..).unwrap_or_default())
        }
        [high @ '\u{fdd8}'..='\u{fddf}', middle @ '\u{fdd0}'..='\u{fddf}', low @ '\u{fdd0}'..='\u{fddf}'] => {
            let [high, middle, low] = [high, middle, low].map(|digit| u32::from(digit) & 0xf);
            write!(out, "\\ud{high:x}{middle:x}{low:x}")?;
            Ok(chars.as_str())
        }
        [first, ..] => {
            let (first, rest) = text.split_at(first.len_utf8());
            out.write_str(first)?;
            Ok(rest)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{DeviationKind, ParseOptions, parse};

    #[test]
    fn texts_come_back() {
        for text in [
            r#""\ud800""#,
            r#""\udfff\ud800""#,
            r#""\ud83d\ud83d😀x""#,
            r#"{"\udcff":1,"a\udcffb":["\udbff"]}"#,
            "\"\u{fdd8}\u{fdd0}\u{fdd0}\"",
            "\"\u{fde0}\u{fdd8}\u{fdd0}\u{fdd0}\"",
            "\"\u{fde0}\u{fde0}\u{fdd8}\u{fdd0}\u{fdd0}\\ud800\u{fdd8}\u{fddf}\u{fdd0}\"",
            "\"\u{fdd8}\u{fdd8}\\ud800\u{fde0}\\ud800\"",
            "\"\u{fde0}\u{fdd8}\u{fdd0}x\u{fdd0}ﷰ\u{feff}\u{fdef}\"",
        ] {
            assert_eq!(parse(text.as_bytes(), ParseOptions::ALL).unwrap().value.to_string(), text);
        }
    }

    #[test]
    fn surrogates_differ_from_their_stand_ins() {
        let escaped = parse(br#""\ufdd8\ufdd0\ufdd0""#, ParseOptions::ALL).unwrap().value;
        assert_eq!(escaped.to_string(), "\"\u{fdd8}\u{fdd0}\u{fdd0}\"");
        assert_ne!(escaped, parse(br#""\ud800""#, ParseOptions::ALL).unwrap().value);
    }

    #[test]
    fn texts_that_cannot_have_them_are_held_as_they_are() {
        for text in ["\u{fdd0}", "a\u{fde0}b", "\u{fddf}\u{fde0}"] {
            for json in [format!("\"{text}\""), format!("\"{}\"", text.escape_default()).replace(['{', '}'], "")] {
                let value = parse(json.as_bytes(), ParseOptions::default()).unwrap().value;
                assert_eq!(value.as_str(), Some(text), "{json}");
            }
        }
    }

    #[test]
    fn surrogates_are_reported_with_a_pointer() {
        let text = br#"{"a": ["\ud800x\ud800", "\ud83d\ude00"], "b": {"\ude00": 1}}"#;
        let deviations = parse(text, ParseOptions::ALL).unwrap().deviations;
        let found: Vec<_> =
            deviations.iter().map(|deviation| (deviation.pointer.as_str(), deviation.kind.clone())).collect();
        let kind = DeviationKind::LoneSurrogate;
        assert_eq!(found, [("/a/0", kind.clone()), ("/b/\\ude00", kind)]);
        assert!(parse(text, ParseOptions { lone_surrogates: false, ..ParseOptions::ALL }).is_err());
    }
}
