//! The text of OpenAI's responses, which servers repeat.

use std::collections::HashMap;

/// How much text has arrived, in bytes.
#[derive(Debug, Default)]
pub(super) struct ReceivedText {
    of_item: HashMap<u64, usize>,
    total: usize,
    /// The text of all items that have ended.
    pub(super) ended: usize,
}

impl ReceivedText {
    pub(super) fn add(&mut self, item: u64, length: usize) {
        *self.of_item.entry(item).or_default() += length;
        self.total += length;
    }

    /// The part of an item's text that has not arrived. `all` is the length of the text of all items so far. Some servers
    /// give every item the same number: nothing is missing as long as that much text has arrived in all.
    pub(super) fn missing(&mut self, item: u64, text: &str, all: usize) -> Option<String> {
        let received = self.of_item.get(&item).copied().unwrap_or(0);
        let rest = text.get(received..).filter(|rest| !rest.is_empty())?;
        if self.total + rest.len() > all {
            return None;
        }
        self.add(item, rest.len());
        Some(rest.to_string())
    }
}
