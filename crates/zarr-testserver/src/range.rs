//! The header `Range`.

use std::ops::Range;

/// Part of a value that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The whole value: there is no range, there are several, or the range is not of the supported form, so that a server may ignore it.
    Whole,
    /// A part of the value: this range of bytes, with at least one byte.
    Part(Range<usize>),
    /// No bytes of the value: status 416.
    Unsatisfiable,
}

/// Returns the part of a value of `size` bytes for the value `header` of the header `Range`.
pub(crate) fn asked(header: Option<&str>, size: usize) -> Asked {
    let Some((first, last)) = header.and_then(bounds) else {
        return Asked::Whole;
    };
    let (start, end) = match (first, last) {
        // Positions are inclusive.
        (Some(first), Some(last)) if last < first => return Asked::Whole,
        (Some(first), Some(last)) => (first, last.saturating_add(1).min(size as u64)),
        (Some(first), None) => (first, size as u64),
        (None, Some(count)) => ((size as u64).saturating_sub(count), size as u64),
        (None, None) => return Asked::Whole,
    };
    // Both are at most `size` where the range has a byte.
    if start < end { Asked::Part(start as usize..end as usize) } else { Asked::Unsatisfiable }
}

/// Returns the numbers on the two sides of the `-` of a single range; `None` if the header has another form.
fn bounds(header: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (first, last) = header.trim().strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            // Numbers with more digits than fit count as the largest number.
            Some(Some(digits.parse().unwrap_or(u64::MAX)))
        }
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
            ("bytes=0-0", Asked::Part(0..1)),
            ("bytes=2-5", Asked::Part(2..6)),
            ("bytes=2-99", Asked::Part(2..10)),
            ("bytes=7-", Asked::Part(7..10)),
            ("bytes=-3", Asked::Part(7..10)),
            ("bytes=-30", Asked::Part(0..10)),
            ("bytes=0-99999999999999999999", Asked::Part(0..10)),
            ("bytes=10-", Asked::Unsatisfiable),
            ("bytes=10-12", Asked::Unsatisfiable),
            ("bytes=-0", Asked::Unsatisfiable),
            ("bytes=5-2", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=0-1,4-5", Asked::Whole),
            ("bytes=a-b", Asked::Whole),
            ("items=0-1", Asked::Whole),
        ] {
            assert_eq!(asked(Some(header), 10), expected, "{header}");
        }
        assert_eq!(asked(None, 10), Asked::Whole);
        assert_eq!(asked(Some("bytes=0-0"), 0), Asked::Unsatisfiable);
        assert_eq!(asked(Some("bytes=-5"), 0), Asked::Unsatisfiable);
    }
}
