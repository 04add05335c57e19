//! Decimal numbers without leading zeros.

/// Appends `number` to `into` without a formatter.
pub(super) fn write(mut number: u64, into: &mut String) {
    // Chunk indices are short: most keys have numbers of one or two digits.
    if number < 10 {
        into.push(digit(number));
        return;
    }
    // u64::MAX has 20 digits.
    let mut digits = ['0'; 20];
    let mut from = digits.len();
    while number > 0 {
        from -= 1;
        digits[from] = digit(number % 10);
        number /= 10;
    }
    into.extend(&digits[from..]);
}

/// Returns the number that [`write`] writes as `text`; `None` if there is none.
pub(super) fn parse(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    // `str::parse` alone would take signs and leading zeros.
    let plain = bytes.iter().all(u8::is_ascii_digit) && (bytes.len() == 1 || bytes.first() != Some(&b'0'));
    plain.then(|| text.parse().ok()).flatten()
}

/// Returns the decimal digit of a number below 10.
fn digit(number: u64) -> char {
    char::from(b'0' + (number % 10) as u8)
}
