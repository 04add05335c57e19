//! Strings in columns of a terminal, where wide characters take two and combining ones none.

use unicode_width::UnicodeWidthStr;

/// The width of the widest string.
pub(crate) fn widest<T: AsRef<str>>(strings: impl IntoIterator<Item = T>) -> usize {
    strings.into_iter().map(|string| string.as_ref().width()).max().unwrap_or(0)
}

/// The spaces that fill a string up to `width` columns.
pub(crate) fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

/// The string, followed by spaces up to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", padding(text, width))
}
