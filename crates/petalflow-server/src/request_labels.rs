//! Which requests of clients have begun which turns of a thread, as labels of the thread.

use crate::digest::digest;
use crate::served::Labels;

/// What the names of the labels of requests begin with. The value is the number of the last event before the turn, and a
/// checksum of the request.
const LABEL: &str = "petalflow.request.";

/// The number of requests of a thread that are known.
const KNOWN: usize = 32;

/// The labels with that of a request that begins the turn after this event. Those of the oldest requests are removed, and those of
/// requests whose turns were not stored.
pub(crate) fn with(id: &str, checksum: &str, labels: Labels, after: u64) -> Labels {
    let (requests, mut labels): (Labels, Labels) = labels
        .into_iter()
        .partition(|(name, _)| name.starts_with(LABEL));
    let stored = requests
        .into_iter()
        .filter(|(_, value)| read(value).0 < after);
    let mut stored: Vec<_> = stored.collect();
    stored.sort_by_key(|(_, value)| std::cmp::Reverse(read(value).0));
    labels.extend(stored.into_iter().take(KNOWN - 1));
    labels.insert(label(id), format!("{after}:{checksum}"));
    labels
}

/// The name of the label of a request.
pub(crate) fn label(id: &str) -> String {
    format!("{LABEL}{}", &digest(id)[..16])
}

/// The number and the checksum in the value of a label.
pub(crate) fn read(value: &str) -> (u64, &str) {
    let (after, checksum) = value.split_once(':').unwrap_or((value, ""));
    (after.parse().unwrap_or(u64::MAX), checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_requests_are_known() {
        let mut labels = Labels::from([("topic".to_string(), "roses".to_string())]);
        for number in 0..100 {
            // The turn of each second request was not stored.
            labels = with(&number.to_string(), "c", labels, number / 2 * 10);
        }
        assert_eq!(labels.len(), KNOWN + 1);
        let newest = labels.values().filter(|value| *value == "490:c");
        assert_eq!(newest.count(), 1);
        assert_eq!(labels["topic"], "roses");
    }
}
