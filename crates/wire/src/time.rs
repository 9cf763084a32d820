//! Times as session files and HTTP write them.

/// Milliseconds since 1970 as ISO 8601 in UTC, `2026-11-30T12:22:00.000Z`.
pub fn iso_time(ms: u64) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// The date of a day since 1970. Years are counted from March, so that the leap day is the last one; after
/// Howard Hinnant, "chrono-compatible low-level date algorithms".
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year + era * 400 + next, month, date)
}

/// The day since 1970 of a date; the inverse of [`civil`]. `None` before 1970.
pub(crate) fn days(year: u64, month: u64, date: u64) -> Option<u64> {
    let (year, month) = match month {
        3.. => (year, month - 3),
        _ => (year.checked_sub(1)?, month + 9),
    };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * month + 2) / 5 + date.checked_sub(1)?;
    let day = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    (era * 146_097 + day).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |ms: u64, expect: &str| assert_eq!(iso_time(ms), expect);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_399_999, "2000-02-28T23:59:59.999Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(951_868_800_000, "2000-03-01T00:00:00.000Z");
        check(1_796_041_384_248, "2026-11-30T12:23:04.248Z");
        check(4_107_542_400_000, "2100-03-01T00:00:00.000Z");
    }

    #[test]
    fn days_and_dates_are_each_others_inverse() {
        for day in (0..60_000).step_by(7).chain([11_016, 11_017, 47_540]) {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), Some(day));
        }
        assert_eq!(
            (days(1969, 12, 31), days(0, 1, 1), days(1970, 1, 0)),
            (None, None, None)
        );
    }
}
