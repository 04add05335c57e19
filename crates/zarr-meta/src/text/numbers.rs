//! Numbers for users: thousands, sizes, ratios, shapes.

/// Returns a number with groups of three digits, `1_323_648`.
#[must_use]
pub fn grouped(number: impl Into<u128>) -> String {
    let number = number.into();
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of bytes with a unit, `90.2 MiB`. indicatif's `BinaryBytes` has two decimals, and 64 bits.
#[must_use]
pub fn size(bytes: impl Into<u128>) -> String {
    const UNITS: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    let bytes = bytes.into();
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    // 1023.96 would be printed as 1024.
    while value >= 999.95 {
        let Some(next) = units.next() else { break };
        unit = next;
        value /= 1024.0;
    }
    if value < 99.95 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// Returns the ratio of `whole` to `part`, `18.9`; `-` if `part` is 0.
#[must_use]
pub fn ratio(whole: u128, part: u64) -> String {
    if part == 0 { "-".to_owned() } else { format!("{:.1}", whole as f64 / part as f64) }
}

/// Returns the share of `part` in `whole`, `15 %`; `100 %` if `whole` is 0.
#[must_use]
pub fn percent(part: u64, whole: u128) -> String {
    if whole == 0 { "100 %".to_owned() } else { format!("{:.0} %", 100.0 * part as f64 / whole as f64) }
}

/// Returns a float rounded to `digits` significant digits, `273.15`, with an exponent if it is very small or very large, `-2.5e-9`. Digits
/// of whole numbers are not rounded off.
#[must_use]
pub fn rounded(value: f64, digits: u8) -> String {
    let digits = i32::from(digits.clamp(1, 17));
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let count = |digits: i32| usize::try_from(digits).unwrap_or(0);
    let exponent = value.abs().log10().floor();
    let trimmed = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if !(-5.0..15.0).contains(&exponent) {
        let text = format!("{value:.*e}", count(digits - 1));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    // Within the bounds above.
    trimmed(&format!("{value:.*}", count(digits - 1 - exponent as i32)))
}

/// Returns a shape as a Python tuple with grouped digits, `(365, 180, 360)`.
#[must_use]
pub fn tuple(shape: &[u64]) -> String {
    let mut text = String::from("(");
    for (axis, &len) in shape.iter().enumerate() {
        text.push_str(if axis > 0 { ", " } else { "" });
        text.push_str(&grouped(len));
    }
    text.push_str(if shape.len() == 1 { ",)" } else { ")" });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        for (number, text) in [(0_u64, "0"), (999, "999"), (1000, "1_000"), (1_323_648, "1_323_648")] {
            assert_eq!(grouped(number), text);
        }
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (257_000, "251 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (94_608_000, "90.2 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(
            (grouped(1_u128 << 64), size(1_u128 << 80)),
            ("18_446_744_073_709_551_616".to_owned(), "1.0 YiB".to_owned())
        );
        assert_eq!((ratio(10, 4), ratio(1, 0)), ("2.5".to_owned(), "-".to_owned()));
        assert_eq!(tuple(&[365, 1_000_000]), "(365, 1_000_000)");
        assert_eq!((tuple(&[]), tuple(&[7])), ("()".to_owned(), "(7,)".to_owned()));
        assert_eq!((percent(2, 13), percent(0, 0)), ("15 %".to_owned(), "100 %".to_owned()));
    }

    #[test]
    fn floats_are_rounded() {
        for (value, digits, text) in [
            (293.149_99, 5, "293.15"),
            (0.1 + 0.2, 7, "0.3"),
            (9.999_999_9, 5, "10"),
            (-1.5e-7, 5, "-1.5e-7"),
            (0.000_123_456_789, 7, "0.0001234568"),
            (123_456_789.0, 5, "123456789"),
            (1e300, 4, "1e300"),
            (9.999_99e15, 3, "1e16"),
            (-0.0, 7, "0"),
            (f64::INFINITY, 7, "inf"),
            (f64::NAN, 7, "NaN"),
        ] {
            assert_eq!(rounded(value, digits), text, "{value} {digits}");
        }
    }
}
