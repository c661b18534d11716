//! Tasks that were cancelled while they waited. No run could end with them, so labels of the thread name them.

use std::collections::BTreeMap;

use petalflow_agent::Pending;
use serde_json::json;

use crate::call_decision::CallDecision;
use crate::digest::digest;
use crate::protocol::turn::PersonAnswer;
use crate::served::Labels;

/// The names of the labels begin with this. The number of the last event of the cancelled turn follows.
const LABEL: &str = "petalflow.a2a.cancelled.";

/// What the model reads about a call that waited.
const REASON: &str = "the user cancelled the task";

/// The tasks of a thread that were cancelled while they waited: the times in milliseconds since 1970 (UTC), by the numbers of the
/// last events of their turns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cancelled(BTreeMap<u64, u64>);

impl Cancelled {
    /// Reads the labels of a thread. Those that a copy or a fork has from another thread say nothing about it.
    pub(super) fn of(thread: &str, labels: &Labels) -> Self {
        let own = checksum(thread);
        let read = |(name, value): (&String, &String)| {
            let end = name.strip_prefix(LABEL)?.parse().ok()?;
            let (at_ms, checksum) = value.split_once(':')?;
            (checksum == own).then_some((end, at_ms.parse().ok()?))
        };
        Cancelled(labels.iter().filter_map(read).collect())
    }

    /// When the task was cancelled that waited after this event.
    pub(super) fn at_ms(&self, end: u64) -> Option<u64> {
        self.0.get(&end).copied()
    }
}

/// The label of a task that waited after the event `end`.
pub(super) fn label(thread: &str, end: u64, at_ms: u64) -> (String, String) {
    (
        format!("{LABEL}{end}"),
        format!("{at_ms}:{}", checksum(thread)),
    )
}

fn checksum(thread: &str) -> String {
    digest(thread)[..8].to_string()
}

/// The answers that end what a cancelled turn has waited for, when the conversation goes on.
pub(super) fn refusals(pending: &[Pending]) -> Vec<PersonAnswer> {
    pending.iter().filter_map(refusal).collect()
}

fn refusal(pending: &Pending) -> Option<PersonAnswer> {
    let id = pending.id().to_string();
    Some(match pending {
        Pending::Confirmation { .. } => PersonAnswer::Decision(CallDecision {
            id,
            approve: false,
            reason: Some(REASON.into()),
            arguments: None,
        }),
        // There is none.
        Pending::Credential { .. } => PersonAnswer::Credential {
            id,
            credential: json!(null),
        },
        Pending::Result { .. } => PersonAnswer::Result {
            id,
            content: json!({ "error": REASON }),
        },
        // Of a later version of petalflow.
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_of_one_thread() {
        let labels = Labels::from([label("guide:a", 7, 12), ("topic".into(), "roses".into())]);
        assert_eq!(Cancelled::of("guide:a", &labels).at_ms(7), Some(12));
        assert_eq!(Cancelled::of("guide:a", &labels).at_ms(8), None);
        assert_eq!(Cancelled::of("guide:copy", &labels), Cancelled::default());
    }
}
