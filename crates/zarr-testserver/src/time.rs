//! Times in answers.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Formats `time` as ISO 8601 with milliseconds, as in documents of S3: `2026-11-20T08:09:10.123Z`.
pub(crate) fn iso(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// Formats `time` to the minute, as in pages of nginx: `20-Nov-2026 08:09`.
pub(crate) fn nginx(time: SystemTime) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (days, minute) = (since.as_secs() / 86_400, since.as_secs() / 60 % 1440);
    let (year, month, day) = date(days);
    let month = usize::try_from(month - 1).ok().and_then(|index| MONTHS.get(index)).unwrap_or(&"");
    format!("{day:02}-{month}-{year:04} {:02}:{:02}", minute / 60, minute % 60)
}

/// Returns the year, month and day that are `days` after 1970-01-01.
fn date(days: u64) -> (u64, u64, u64) {
    // The calendar repeats after 400 years. A year that starts in March has its leap day at its end.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year, if month < 10 { month + 3 } else { month - 9 });
    (if month <= 2 { year + 1 } else { year }, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_799, "2000-02-29T23:59:59.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_767_225_599, "2025-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
    #[test]
    fn pages() {
        assert_eq!(nginx(UNIX_EPOCH), "01-Jan-1970 00:00");
        assert_eq!(nginx(UNIX_EPOCH + Duration::from_secs(1_767_225_599)), "31-Dec-2025 23:59");
    }
}
