//! When a thread begins.

use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use jiff::{Span, SpanRelativeTo, Timestamp};
use petalflow::checkpoint::Store;

use crate::refusal::Refusal;

/// The time at which a thread is to begin, by the clock of the store. `None`: at once. `delay` is a duration such as `90s`, `3d`
/// or `PT36H`, and `at` a time of RFC 3339.
pub(super) async fn time(
    store: &dyn Store,
    delay: Option<&str>,
    at: Option<&str>,
) -> Result<Option<SystemTime>, Refusal> {
    match (delay, at) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(unfit("a start has `delay` or `at`, and not both".into())),
        (Some(delay), None) => {
            let delay = duration(delay)?;
            let now = SystemTime::UNIX_EPOCH + Duration::from_millis(store.now_ms().await?);
            let time = now.checked_add(delay);
            time.map(Some)
                .ok_or_else(|| unfit("`delay` is too long".into()))
        }
        (None, Some(at)) => {
            let time: Timestamp = at.parse().map_err(|_| {
                unfit(format!(
                    "`at` is `{}`: write a time as RFC 3339 says, such as `2026-12-24T18:00:00Z`",
                    at.escape_debug()
                ))
            })?;
            Ok(Some(time.into()))
        }
    }
}

fn duration(text: &str) -> Result<Duration, Refusal> {
    let span = text.parse::<Span>().ok();
    // Months and years have no length without a date.
    let duration = span.and_then(|span| {
        let length = span.to_duration(SpanRelativeTo::days_are_24_hours());
        Duration::try_from(length.ok()?).ok()
    });
    duration.ok_or_else(|| {
        unfit(format!(
            "`delay` is `{}`: write a duration of days, hours, minutes or seconds, such as `90s`, `3d` or `PT36H`",
            text.escape_debug()
        ))
    })
}

fn unfit(text: String) -> Refusal {
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text)
}

#[cfg(test)]
mod tests {
    use petalflow::checkpoint::InMemoryStore;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn f43_a_delay_is_a_duration_and_at_is_a_time() {
        let store = InMemoryStore::new();
        for (text, seconds) in [
            ("90s", 90),
            ("3d", 3 * 86_400),
            ("1h 30m", 5_400),
            ("PT36H", 36 * 3_600),
            ("P1W", 7 * 86_400),
            ("0s", 0),
        ] {
            let now = Duration::from_millis(store.now_ms().await.expect("it has a clock"));
            let time = time(&store, Some(text), None).await.expect("a duration");
            let at = time.expect("later").duration_since(SystemTime::UNIX_EPOCH);
            let delay = at.expect("it is after 1970").saturating_sub(now);
            assert!(delay.as_secs().abs_diff(seconds) < 2, "{text}: {delay:?}");
        }
        let at = time(&store, None, Some("2026-12-24T18:00:00+01:00")).await;
        let expected = SystemTime::UNIX_EPOCH + Duration::from_hours(499_481);
        assert_eq!(at.expect("a time"), Some(expected));
        for (delay, at) in [
            (Some("soon"), None),
            (Some("1 month"), None),
            (Some("-3d"), None),
            (Some("90"), None),
            (None, Some("tomorrow")),
            (None, Some("2026-12-24")),
            (Some("3d"), Some("2026-12-24T18:00:00Z")),
        ] {
            let refused = time(&store, delay, at).await.expect_err("not a time");
            assert!(refused.text().contains('`'), "{refused:?}");
        }
    }
}
