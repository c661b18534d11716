//! The date of today.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today in UTC, such as `2026-01-31`.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    of_day(since.map_or(0, |since| since.as_secs() / 86_400))
}

/// The date of a day, counted from 1970-01-01.
fn of_day(mut day: u64) -> String {
    let is_leap =
        |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::of_day;

    #[test]
    fn f44_days_have_dates() {
        assert_eq!(of_day(0), "1970-01-01");
        assert_eq!(of_day(11_016), "2000-02-29");
        assert_eq!(of_day(20_453), "2025-12-31");
        assert_eq!(of_day(20_454), "2026-01-01");
    }
}
