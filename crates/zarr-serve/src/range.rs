//! The header `Range`.

use std::ops::Range;

/// Bytes of a value that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    /// All bytes: the header is missing, has several ranges, or has another form, which a server may ignore (RFC 9110, section 14.2).
    Whole,
    /// Bytes of this range, at least one.
    Part(Range<u64>),
    /// No bytes, since the value has none in the range: status 416.
    Unsatisfiable,
}

/// Returns the bytes that the header `Range: header` requests from a value of `size` bytes.
pub(crate) fn asked(header: Option<&[u8]>, size: u64) -> RequestedRange {
    let Some((first, last)) = header.and_then(|header| std::str::from_utf8(header).ok()).and_then(bounds) else {
        return RequestedRange::Whole;
    };
    let (start, end) = match (first, last) {
        // Positions are inclusive.
        (Some(first), Some(last)) if last < first => return RequestedRange::Whole,
        (Some(first), Some(last)) => (first, last.saturating_add(1).min(size)),
        (Some(first), None) => (first, size),
        (None, Some(count)) => (size.saturating_sub(count), size),
        (None, None) => return RequestedRange::Whole,
    };
    if start < end { RequestedRange::Part(start..end) } else { RequestedRange::Unsatisfiable }
}

/// Parses the numbers on both sides of the `-` of a single range; `None` if the header has another form.
fn bounds(header: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (unit, range) = header.trim().split_once('=')?;
    let (first, last) = range.split_once('-').filter(|_| unit.trim().eq_ignore_ascii_case("bytes"))?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        // More digits than fit are as far away as the largest number.
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(Some(digits.parse().unwrap_or(u64::MAX))),
        _ => None,
    };
    Some((number(first)?, number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (header, expected) in [
            ("bytes=0-0", RequestedRange::Part(0..1)),
            ("bytes=2-5", RequestedRange::Part(2..6)),
            ("Bytes = 2-99", RequestedRange::Part(2..10)),
            ("bytes=7-", RequestedRange::Part(7..10)),
            ("bytes=-3", RequestedRange::Part(7..10)),
            ("bytes=-30", RequestedRange::Part(0..10)),
            ("bytes=0-99999999999999999999", RequestedRange::Part(0..10)),
            ("bytes=10-", RequestedRange::Unsatisfiable),
            ("bytes=99999999999999999999-", RequestedRange::Unsatisfiable),
            ("bytes=10-12", RequestedRange::Unsatisfiable),
            ("bytes=-0", RequestedRange::Unsatisfiable),
            ("bytes=5-2", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("bytes=0-1,4-5", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
            ("bytes=+1-2", RequestedRange::Whole),
            ("items=0-1", RequestedRange::Whole),
            ("", RequestedRange::Whole),
        ] {
            assert_eq!(asked(Some(header.as_bytes()), 10), expected, "{header}");
        }
        assert_eq!(asked(None, 10), RequestedRange::Whole);
        assert_eq!(asked(Some(b"bytes=\xff-1"), 10), RequestedRange::Whole);
        assert_eq!(asked(Some(b"bytes=0-0"), 0), RequestedRange::Unsatisfiable);
        assert_eq!(asked(Some(b"bytes=-5"), 0), RequestedRange::Unsatisfiable);
    }
}
