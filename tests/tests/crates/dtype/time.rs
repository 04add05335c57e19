use zarr_dtype::*;

#[test]
fn dates_are_iso_text() {
    let check = |code: &str, scale: u32, count: i64, expected: &str| {
        let unit = TimeUnit { unit: Unit::from_code(code).unwrap(), scale };
        assert_eq!(unit.date_text(count), expected, "{count} {code}");
    };
    check("Y", 1, -1, "1969");
    check("Y", 1, -1970, "0000");
    check("M", 1, -1, "1969-12");
    check("M", 1, 361, "2000-02");
    check("W", 1, -1, "1969-12-25");
    check("D", 1, 11_016, "2000-02-29");
    check("D", 1, -1, "1969-12-31");
    check("D", 1, -719_162, "0001-01-01");
    check("D", 1, -719_529, "-0001-12-31");
    check("h", 1, -1, "1969-12-31T23");
    check("m", 1, -1, "1969-12-31T23:59");
    check("s", 25, 2, "1970-01-01T00:00:50");
    check("ms", 1, -1, "1969-12-31T23:59:59.999");
    check("us", 1, 1, "1970-01-01T00:00:00.000001");
    check("ns", 1, i64::MAX, "2262-04-11T23:47:16.854775807");
    check("as", 1, i64::MIN + 1, "1969-12-31T23:59:50.776627963145224193");
    check("D", 1, i64::MIN, "NaT");
    check("generic", 1, 5, "5");
    // Beyond the range of a 64-bit year there is still no overflow.
    check("Y", u32::MAX, i64::MAX, "39614081247908796755622234035");
    let week = TimeUnit { unit: Unit::Week, scale: u32::MAX };
    assert!(week.date_text(i64::MIN + 1).starts_with('-'));
}

#[test]
fn days_follow_each_other() {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut year, mut month, mut day) = (1560, 1, 1);
    // 1560-01-01 is 410 years, 100 of them leap years, before the start of the count.
    for count in -(410 * 365 + 100)..100_000_i64 {
        let expected = format!("{year}-{month:02}-{day:02}");
        assert_eq!(TimeUnit::new(Unit::Day).date_text(count), expected);
        let days = match month {
            2 => 28 + i64::from(leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (year, month, day) = match (month, day) {
            (12, 31) => (year + 1, 1, 1),
            _ if day == days => (year, month + 1, 1),
            _ => (year, month, day + 1),
        };
    }
}

#[test]
fn lengths_of_time_have_their_unit() {
    assert_eq!(TimeUnit { unit: Unit::Millisecond, scale: 10 }.delta_text(-5), "-50 ms");
    assert_eq!(TimeUnit::new(Unit::Generic).delta_text(7), "7");
    assert_eq!(TimeUnit::new(Unit::Day).delta_text(i64::MIN), "NaT");
}

#[test]
fn micro_has_three_spellings() {
    for code in ["us", "\u{3bc}s", "\u{b5}s"] {
        assert_eq!(Unit::from_code(code), Some(Unit::Microsecond));
    }
    assert_eq!(Unit::from_code("S"), None);
}
