//! The system time.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time, in milliseconds since 1970 (UTC).
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    // Not `as_millis`, which multiplies numbers of 128 bits. No clock is at the end of this number.
    since.map_or(0, |since| {
        let seconds = since.as_secs().saturating_mul(1_000);
        seconds.saturating_add(since.subsec_millis().into())
    })
}
