//! Which requests of clients have begun which turns of a thread, as labels of the thread.

use crate::digest::digest;
use crate::served::Labels;

/// What the names of the labels of requests begin with. The value is the number of the last event before the turn, a checksum of the
/// request, and what happened to a request that was queued.
const LABEL: &str = "petalflow.request.";

/// The number of requests of a thread that are known.
const KNOWN: usize = 32;

/// What a label says about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requested<'a> {
    /// The number of the last event before the turn.
    pub(crate) after: u64,
    pub(crate) checksum: &'a str,
    pub(crate) fate: Fate,
}

/// How a request has got its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has begun its turn at once.
    Begun,
    /// It was queued before.
    Queued,
    /// It was queued, and cancelled at this time in milliseconds since 1970 (UTC).
    Cancelled { at_ms: u64 },
}

/// The short name of a request, by which a client may know what was queued before it had a turn.
pub(crate) fn mark(id: &str) -> String {
    digest(id)[..16].to_string()
}

/// The labels with that of a request. Those of the oldest requests are removed, and those of requests whose turns were not stored.
pub(crate) fn with(id: &str, requested: Requested<'_>, labels: Labels) -> Labels {
    let (requests, mut labels): (Labels, Labels) = labels
        .into_iter()
        .partition(|(name, _)| name.starts_with(LABEL));
    let stored = requests.into_iter().filter(|(_, value)| {
        let known = Requested::read(value);
        known.after < requested.after || matches!(known.fate, Fate::Cancelled { .. })
    });
    let mut stored: Vec<_> = stored.collect();
    stored.sort_by_key(|(_, value)| std::cmp::Reverse(Requested::read(value).after));
    labels.extend(stored.into_iter().take(KNOWN - 1));
    labels.insert(format!("{LABEL}{}", mark(id)), requested.text());
    labels
}

/// What is known of the request with this short name.
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
pub(crate) fn find<'a>(labels: &'a Labels, mark: &str) -> Option<Requested<'a>> {
    let value = labels.get(&format!("{LABEL}{mark}"))?;
    Some(Requested::read(value))
}

/// The short name of the queued request that has begun the turn after this event.
#[cfg(any(feature = "a2a", feature = "openai"))]
pub(crate) fn queued_before(labels: &Labels, after: u64) -> Option<&str> {
    labels.iter().find_map(|(name, value)| {
        let known = Requested::read(value);
        let is_it = known.after == after && known.fate == Fate::Queued;
        name.strip_prefix(LABEL).filter(|_| is_it)
    })
}

/// The short names of the requests that were cancelled while they were queued.
#[cfg(feature = "a2a")]
pub(crate) fn cancelled(labels: &Labels) -> impl Iterator<Item = &str> {
    labels.iter().filter_map(|(name, value)| {
        let is_cancelled = matches!(Requested::read(value).fate, Fate::Cancelled { .. });
        name.strip_prefix(LABEL).filter(|_| is_cancelled)
    })
}

impl<'a> Requested<'a> {
    fn read(value: &'a str) -> Self {
        let mut fields = value.split(':');
        let after = fields.next().and_then(|after| after.parse().ok());
        let checksum = fields.next().unwrap_or_default();
        let fate = match (fields.next(), fields.next().and_then(|at| at.parse().ok())) {
            (Some("cancelled"), Some(at_ms)) => Fate::Cancelled { at_ms },
            (Some("queued"), _) => Fate::Queued,
            _ => Fate::Begun,
        };
        Requested {
            after: after.unwrap_or(u64::MAX),
            checksum,
            fate,
        }
    }

    fn text(self) -> String {
        let Requested {
            after, checksum, ..
        } = self;
        match self.fate {
            Fate::Begun => format!("{after}:{checksum}"),
            Fate::Queued => format!("{after}:{checksum}:queued"),
            Fate::Cancelled { at_ms } => format!("{after}:{checksum}:cancelled:{at_ms}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(after: u64) -> Requested<'static> {
        Requested {
            after,
            checksum: "c",
            fate: Fate::Begun,
        }
    }

    #[test]
    fn the_newest_requests_are_known() {
        let mut labels = Labels::from([("topic".to_string(), "roses".to_string())]);
        for number in 0..100 {
            // The turn of each second request was not stored.
            labels = with(&number.to_string(), begun(number / 2 * 10), labels);
        }
        assert_eq!(labels.len(), KNOWN + 1);
        let newest = labels.values().filter(|value| *value == "490:c");
        assert_eq!(newest.count(), 1);
        assert_eq!(labels["topic"], "roses");
    }

    #[cfg(any(feature = "a2a", feature = "openai"))]
    #[test]
    fn f43_what_happened_to_a_queued_request_is_known() {
        let queued = Requested {
            fate: Fate::Queued,
            ..begun(7)
        };
        let cancelled = Requested {
            fate: Fate::Cancelled { at_ms: 12 },
            ..begun(9)
        };
        let labels = with("queued", queued, Labels::new());
        let labels = with("cancelled", cancelled, labels);
        // It has no turn, so another one may begin after the same event.
        let labels = with("begun", begun(9), labels);
        for (id, expected) in [
            ("queued", queued),
            ("cancelled", cancelled),
            ("begun", begun(9)),
        ] {
            assert_eq!(find(&labels, &mark(id)), Some(expected));
        }
        assert_eq!(queued_before(&labels, 7), Some(&*mark("queued")));
        assert_eq!(queued_before(&labels, 9), None);
        assert_eq!(find(&labels, &mark("unknown")), None);
    }
}
