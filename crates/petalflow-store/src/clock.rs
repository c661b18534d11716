//! The system time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time, in milliseconds since 1970 (UTC).
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    // Not `as_millis`, which multiplies numbers of 128 bits. No clock is at the end of this number.
    since.map_or(0, |since| {
        let seconds = since.as_secs().saturating_mul(1_000);
        seconds.saturating_add(since.subsec_millis().into())
    })
}

/// The time of this many milliseconds since 1970 (UTC). The latest one that the system knows, if that is earlier.
pub fn from_ms(ms: u64) -> SystemTime {
    let mut since = Duration::from_millis(ms);
    loop {
        match UNIX_EPOCH.checked_add(since) {
            Some(time) => return time,
            None => since /= 2,
        }
    }
}

/// This time in milliseconds since 1970 (UTC), rounded up. 0 for an earlier one.
pub fn to_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    duration_ms(since)
}

/// The milliseconds of a duration, rounded up: what waits for it does not end before it.
pub fn duration_ms(duration: Duration) -> u64 {
    let ms = duration.as_nanos().div_ceil(1_000_000);
    u64::try_from(ms).unwrap_or(u64::MAX)
}

/// The time in milliseconds since 1970, as text: RFC 3339 in UTC, to the second. For messages.
pub fn utc(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date this many days after 1970-01-01, with Howard Hinnant's `civil_from_days`: years begin in March, so that the leap day is
/// the last one.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (year_of_era + era * 400 + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399_999), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(utc(4_107_542_400_000), "2100-03-01T00:00:00Z");
        assert_eq!(utc(i64::MAX as u64), "292278994-08-17T07:12:55Z");
    }
}
