//! The clock on the wall.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time, in milliseconds since 1970 (UTC).
#[inline]
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
