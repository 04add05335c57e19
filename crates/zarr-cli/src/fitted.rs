//! Help, wrapped to the width of the terminal.

use crate::columns::line_width;
use unicode_width::UnicodeWidthStr;

/// Greatest width of a line of help, in columns: longer lines are hard to read.
const MAX_WIDTH: usize = 100;

/// Wraps the lines of `help` to the width of the terminal. Without a further dependency, clap does not wrap lines.
pub(crate) fn fitted(help: &str) -> String {
    let width = line_width().min(MAX_WIDTH);
    help.lines().flat_map(|line| wrapped(line, width)).map(|line| format!("{line}\n")).collect()
}

/// Wraps a line of help to `width` columns. Continued lines begin at the column of the description in the first line.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let begin = line.len() - line.trim_start().len();
    let rest = line.get(begin..).unwrap_or_default();
    let behind_gap = |at: usize| line.len() - rest.get(at..).unwrap_or_default().trim_start().len();
    let described = rest.find("  ").map(behind_gap);
    let indent = described.filter(|&column| column < width / 2).unwrap_or(begin);
    let (first, text) = (line.get(..indent).unwrap_or_default(), line.get(indent..).unwrap_or_default());
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let fits = |line: &String| is_empty || line.width() + 1 + word.width() <= width;
        match lines.last_mut().filter(|line| fits(line)) {
            Some(line) if is_empty => line.push_str(word),
            Some(line) => line.push_str(&format!(" {word}")),
            None => lines.push(format!("{}{word}", " ".repeat(indent))),
        }
        is_empty = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_below_their_descriptions() {
        assert_eq!(wrapped("  tree  aaaa bbbb cccc", 18), ["  tree  aaaa bbbb", "        cccc"]);
        assert_eq!(wrapped("  aa bb cc", 7), ["  aa bb", "  cc"]);
        assert_eq!(wrapped("  much-longer-than-half  aa", 20), ["  much-longer-than-half", "  aa"]);
        assert_eq!(wrapped("", 5), [""]);
    }
}
