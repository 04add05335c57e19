//! Tables for people: cells, numbers, lengths of time, bars and shades.

use crate::columns::{padded, padding, widest};
use std::io::IsTerminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Alignment of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Returns the rows of a table as lines, with two spaces between columns. `sides` has the alignment of each column.
pub(crate) fn lines(sides: &[Side], rows: &[Vec<String>]) -> String {
    let width = |column: usize| widest(rows.iter().filter_map(|row| row.get(column)));
    let widths: Vec<usize> = (0..sides.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(sides).zip(&widths).map(|((cell, side), &width)| match side {
            Side::Left => padded(cell, width),
            Side::Right => format!("{}{cell}", padding(cell, width)),
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Cuts a string to at most `most` columns, with `...` at the cut.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let mut shown = String::new();
    for letter in text.chars() {
        if shown.width() + letter.width().unwrap_or(0) + 3 > most {
            break;
        }
        shown.push(letter);
    }
    format!("{shown}...")
}

/// Returns whether standard output is a terminal with a UTF-8 locale, which can show block characters.
pub(crate) fn has_blocks() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let is_utf8 = |locale: std::ffi::OsString| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    };
    std::io::stdout().is_terminal() && locale.is_some_and(is_utf8)
}

/// Returns a bar of up to `width` characters for a share from 0 to 1. A share above 0 is always visible.
pub(crate) fn bar(share: f64, width: usize, has_blocks: bool) -> String {
    const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let parts = if has_blocks { 8 } else { 1 };
    let most = width * parts;
    let len = (share.clamp(0.0, 1.0) * most as f64).round() as usize;
    let len = if share > 0.0 { len.max(1) } else { len };
    let mut bar = if has_blocks { "█" } else { "#" }.repeat(len / parts);
    bar.extend((len % parts).checked_sub(1).and_then(|eighth| EIGHTHS.get(eighth)));
    bar
}

/// Returns a character for a share from 0 to 1: the lightest only for 0, the darkest only for 1.
pub(crate) fn shade(share: f64, has_blocks: bool) -> char {
    let shades = if has_blocks { ['·', '░', '▒', '▓', '█'] } else { ['.', ':', '+', '*', '#'] };
    let [none, few, half, many, all] = shades;
    match share {
        share if share <= 0.0 => none,
        share if share >= 1.0 => all,
        share if share < 1.0 / 3.0 => few,
        share if share < 2.0 / 3.0 => half,
        _ => many,
    }
}

/// Formats a share of `whole` in percent: `0 %`, `12.5 %`, `< 0.01 %`.
pub(crate) fn share(part: u128, whole: u128) -> String {
    if part == 0 || whole == 0 {
        return "0 %".to_owned();
    }
    let percent = 100.0 * (part as f64 / whole as f64);
    if percent < 0.01 {
        return "< 0.01 %".to_owned();
    }
    let text = format!("{percent:.2}");
    // Only the whole is 100 %.
    let text = if part < whole && text == "100.00" { "99.99".to_owned() } else { text };
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats a float with seven digits.
pub(crate) fn seven_digits(value: f64) -> String {
    zarr::meta::text::rounded(value, 7)
}

/// Converts a duration with its unit, such as `90000 s`, to days, hours, minutes or seconds if it is at least one of that unit; returns any
/// other string unchanged.
pub(crate) fn length_of_time(text: &str) -> String {
    const UNITS: [(&str, f64); 8] = [
        ("W", 604_800.0),
        ("D", 86_400.0),
        ("h", 3_600.0),
        ("m", 60.0),
        ("s", 1.0),
        ("ms", 1e-3),
        ("us", 1e-6),
        ("ns", 1e-9),
    ];
    const SHOWN: [(&str, f64); 4] = [("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0), ("s", 1.0)];
    let seconds = text.split_once(' ').and_then(|(count, unit)| {
        let (_, seconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
        Some(count.parse::<f64>().ok()? * seconds)
    });
    let shown = |seconds: f64| SHOWN.iter().find(|(_, of)| seconds.abs() >= *of).map(|(name, of)| (seconds / of, name));
    match seconds.and_then(shown) {
        Some((count, unit)) => format!("{} {unit}", seven_digits(count)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_in_units_of_people() {
        for (text, shown) in [
            ("9095377735971168 ns", "105.2706 days"),
            ("36 h", "1.5 days"),
            ("90 m", "1.5 hours"),
            ("90 s", "1.5 minutes"),
            ("2500 ms", "2.5 s"),
            ("12 ns", "12 ns"),
            ("3 M", "3 M"),
            ("NaT", "NaT"),
        ] {
            assert_eq!(length_of_time(text), shown);
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (273.149_993_896, "273.15"),
            (0.0, "0"),
            (-1.5, "-1.5"),
            (123_456_789.0, "123456789"),
            (0.000_123_456_789, "0.0001234568"),
            (1e300, "1e300"),
            (-2.5e-9, "-2.5e-9"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(seven_digits(value), text);
        }
    }

    #[test]
    fn shares_of_few_and_of_nearly_all_are_seen() {
        for (part, text) in [(0, "0 %"), (1, "< 0.01 %"), (12_500, "12.5 %"), (99_999, "99.99 %"), (100_000, "100 %")] {
            assert_eq!(share(part, 100_000), text);
        }
        assert_eq!(
            (bar(0.0, 4, false), bar(1e-9, 4, false), bar(1.0, 4, false)),
            ("".into(), "#".into(), "####".into())
        );
        assert_eq!((bar(0.5, 1, true), bar(1.0, 2, true)), ("▌".to_owned(), "██".to_owned()));
        assert_eq!([0.0, 0.1, 0.5, 0.99, 1.0].map(|share| shade(share, false)), ['.', ':', '+', '*', '#']);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let rows = [["a", "1"], ["bcd", "20"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(lines(&[Side::Left, Side::Right], &rows), "a     1\nbcd  20\n");
    }
}
