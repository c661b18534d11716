//! The planned times of a schedule.

use std::time::Duration;

use croner::Cron;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::Missed;

/// After this time, a planned time is missed.
const MISSED_AFTER: Duration = Duration::from_mins(1);
/// How many planned times are begun at most before the next look at the schedule.
const MAX_DUE: usize = 100;

/// A cron line in a time zone.
pub(crate) struct Plan {
    pub(crate) cron: Cron,
    pub(crate) zone: TimeZone,
}

impl Plan {
    /// The planned times after this one.
    pub(crate) fn after(&self, time: Timestamp) -> impl Iterator<Item = Timestamp> {
        let times = self.cron.iter_after(time.to_zoned(self.zone.clone()));
        times.map(|time| time.timestamp())
    }

    /// The planned times that are to be begun: after `handled`, and not after `now`.
    pub(crate) fn due(&self, handled: Timestamp, now: Timestamp, missed: Missed) -> Vec<Timestamp> {
        let is_due = |time: &Timestamp| *time <= now;
        match missed {
            Missed::Skip => {
                let in_time = now.checked_sub(MISSED_AFTER).unwrap_or(handled);
                let times = self.after(handled.max(in_time)).take_while(is_due);
                times.take(MAX_DUE).collect()
            }
            Missed::Latest => {
                let now = now.to_zoned(self.zone.clone());
                let latest = self.cron.find_previous_occurrence(&now, true);
                let latest = latest.map(|latest| latest.timestamp());
                latest.into_iter().filter(|time| *time > handled).collect()
            }
            Missed::All => {
                let times = self.after(handled).take_while(is_due);
                times.take(MAX_DUE).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(cron: &str, zone: &str) -> Plan {
        Plan {
            cron: cron.parse().expect("a cron line"),
            zone: TimeZone::get(zone).expect("a time zone"),
        }
    }

    fn time(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn texts(times: impl IntoIterator<Item = Timestamp>) -> Vec<String> {
        times.into_iter().map(|time| time.to_string()).collect()
    }

    #[test]
    fn a_time_in_the_hour_that_is_left_out_begins_at_its_end_and_a_repeated_one_begins_once() {
        let daily = plan("30 2 * * *", "Europe/Berlin");
        let spring = daily.after(time("2026-03-28T12:00:00Z")).take(2);
        assert_eq!(
            texts(spring),
            ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]
        );
        let autumn = daily.after(time("2026-10-24T12:00:00Z")).take(2);
        assert_eq!(
            texts(autumn),
            ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
        );
        let hourly = plan("0 * * * *", "Europe/Berlin");
        let autumn = hourly.after(time("2026-10-24T23:30:00Z")).take(3);
        assert_eq!(
            texts(autumn),
            [
                "2026-10-25T00:00:00Z",
                "2026-10-25T01:00:00Z",
                "2026-10-25T02:00:00Z"
            ],
            "each hour of the day, of which one has the same name as the hour before"
        );
    }

    #[test]
    fn missed_times_are_skipped_or_caught_up() {
        let hourly = plan("0 * * * *", "UTC");
        let (handled, now) = (time("2026-05-01T09:00:00Z"), time("2026-05-01T12:00:30Z"));
        let due = |missed| texts(hourly.due(handled, now, missed));
        assert_eq!(due(Missed::Skip), ["2026-05-01T12:00:00Z"]);
        assert_eq!(due(Missed::Latest), ["2026-05-01T12:00:00Z"]);
        let all = [
            "2026-05-01T10:00:00Z",
            "2026-05-01T11:00:00Z",
            "2026-05-01T12:00:00Z",
        ];
        assert_eq!(due(Missed::All), all);

        let later = time("2026-05-01T12:20:00Z");
        assert!(hourly.due(handled, later, Missed::Skip).is_empty());
        assert_eq!(
            texts(hourly.due(handled, later, Missed::Latest)),
            ["2026-05-01T12:00:00Z"]
        );
        let handled = time("2026-05-01T12:00:00Z");
        for missed in [Missed::Skip, Missed::Latest, Missed::All] {
            assert!(hourly.due(handled, later, missed).is_empty(), "{missed:?}");
        }
        let hour_ago = time("2026-05-01T11:00:00Z");
        let secondly = plan("* * * * * *", "UTC");
        assert_eq!(secondly.due(hour_ago, later, Missed::All).len(), MAX_DUE);
    }
}
