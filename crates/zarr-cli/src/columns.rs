//! Strings in columns of a terminal, where wide characters take two and combining ones none.

use console::Term;
use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// Columns of a line where standard output is no terminal.
const WIDTH: usize = 80;

/// The columns of a line on standard output: those of the terminal, or 80 elsewhere.
pub(crate) fn line_width() -> usize {
    let size = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let of_terminal = std::io::stdout().is_terminal().then(size).flatten();
    of_terminal.filter(|&columns| columns > 0).unwrap_or(WIDTH)
}

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
