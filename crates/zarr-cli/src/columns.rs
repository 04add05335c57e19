//! Width and padding of strings on a terminal, in columns: a wide character takes two columns, a combining character none.

use console::Term;
use std::io::IsTerminal;
use unicode_width::UnicodeWidthStr;

/// Columns of a line if standard output is no terminal.
const WIDTH: usize = 80;

/// Returns the number of columns of a line on standard output: the width of the terminal, or 80 if standard output is no terminal.
pub(crate) fn line_width() -> usize {
    let size = || Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    let of_terminal = std::io::stdout().is_terminal().then(size).flatten();
    of_terminal.filter(|&columns| columns > 0).unwrap_or(WIDTH)
}

/// Returns the number of columns of the widest string, or 0 without strings.
pub(crate) fn widest<T: AsRef<str>>(strings: impl IntoIterator<Item = T>) -> usize {
    strings.into_iter().map(|string| string.as_ref().width()).max().unwrap_or(0)
}

/// Returns the spaces that fill `text` up to `width` columns.
pub(crate) fn padding(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width()))
}

/// Returns `text`, followed by spaces up to `width` columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", padding(text, width))
}
