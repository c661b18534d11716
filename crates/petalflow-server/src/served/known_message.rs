//! Which messages of a thread have begun their turns or were read, so that a repeated message does nothing.

use super::threads::Labels;
use crate::digest::digest;

/// What the names of the labels of messages begin with. The value is the number of the newest checkpoint.
const LABEL: &str = "petalflow.message.";

/// The number of messages of a thread that are known.
const KNOWN: usize = 32;

fn label(id: &str) -> String {
    format!("{LABEL}{}", &digest(id)[..16])
}

/// Whether the message with this id is known.
pub(crate) fn is_known(labels: &Labels, id: &str) -> bool {
    labels.contains_key(&label(id))
}

/// The labels with that of a message. Those of the oldest messages are removed.
pub(crate) fn with(labels: Labels, id: &str, newest: u64) -> Labels {
    let (messages, mut labels): (Labels, Labels) = labels
        .into_iter()
        .partition(|(name, _)| name.starts_with(LABEL));
    let mut messages: Vec<_> = messages.into_iter().collect();
    messages.sort_by_key(|(_, value)| std::cmp::Reverse(value.parse::<u64>().unwrap_or(0)));
    labels.extend(messages.into_iter().take(KNOWN - 1));
    labels.insert(label(id), newest.to_string());
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f43_the_newest_messages_are_known() {
        let mut labels = Labels::from([("topic".to_string(), "roses".to_string())]);
        for number in 0..100 {
            labels = with(labels, &number.to_string(), number);
        }
        assert_eq!(labels.len(), KNOWN + 1);
        assert!(is_known(&labels, "99") && is_known(&labels, "68"));
        assert!(!is_known(&labels, "67"));
        assert_eq!(labels["topic"], "roses");
    }
}
