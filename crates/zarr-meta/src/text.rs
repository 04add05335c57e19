//! Text for users: metadata and numbers in short, without characters that control a terminal.
//!
//! ```
//! use zarr_json::{NamedConfig, json};
//! use zarr_meta::text::{codecs_in_short, line, size};
//!
//! let codecs = [json!({"name": "bytes", "configuration": {"endian": "little"}}),
//!     json!({"name": "zstd", "configuration": {"level": 3}})];
//! let codecs: Vec<NamedConfig> = codecs.iter().filter_map(NamedConfig::from_value).collect();
//! assert_eq!(codecs_in_short(&codecs), "zstd(3)");
//! assert_eq!((size(94_608_000_u64), line("a\nb")), ("90.2 MiB".to_owned(), "a\\nb".into()));
//! ```

mod metadata;
mod numbers;

pub use metadata::{ChunkShapes, codecs_in_full, codecs_in_short, extents, fields, type_in_short};
pub use numbers::{grouped, percent, ratio, rounded, size, tuple};

use std::borrow::Cow;

/// Returns `text` as one line: characters that [control](is_control) a terminal are escaped as in Rust (`\n`, `\u{1b}`).
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_control) else { return Cow::Borrowed(text) };
    let (safe, rest) = text.split_at(first);
    let mut escaped = String::with_capacity(text.len() + 8);
    escaped.push_str(safe);
    for c in rest.chars() {
        match c {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c if is_control(c) => escaped.extend(c.escape_unicode()),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Returns whether the character controls a terminal: C0, DEL and C1, separators of lines and paragraphs, and controls of text direction.
/// Such characters can move the cursor, change the title of a terminal, and hide or reorder printed text.
#[must_use]
pub fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(line("t2m température"), "t2m température");
        assert_eq!(line("a\nb\u{1b}[31m\u{202e}\u{9b}\u{61c}"), r"a\nb\u{1b}[31m\u{202e}\u{9b}\u{61c}");
    }
}
