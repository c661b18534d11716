//! What a program says about a server's tools.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::elicitation::Answers;

/// Says of a call whether a person must confirm it, and what they are told.
pub(super) type Confirm = dyn Fn(&str, &Value) -> Option<String> + Send + Sync;

#[derive(Clone)]
pub(super) struct Options {
    pub(super) prefix: String,
    pub(super) filter: Option<Arc<dyn Fn(&str) -> bool + Send + Sync>>,
    pub(super) confirm: Option<Arc<Confirm>>,
    /// Who answers what the server asks.
    pub(super) answers: Answers,
    /// How long a call may be silent.
    pub(super) timeout: Duration,
    /// How long a connection may take, and a list.
    pub(super) patience: Duration,
    pub(super) attempts: u32,
    /// The longest message, in bytes.
    pub(super) message_limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            prefix: String::new(),
            filter: None,
            confirm: None,
            answers: Answers::default(),
            timeout: Duration::from_mins(2),
            patience: Duration::from_secs(30),
            attempts: 3,
            message_limit: 16 * 1024 * 1024,
        }
    }
}

impl Options {
    /// The name under which models know a tool. Providers take letters, digits, `_` and `-`, 64 of them at most.
    pub(super) fn name_of(&self, tool: &str) -> String {
        let name = format!("{}{tool}", self.prefix);
        name.chars()
            .map(|c| match c {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => c,
                _ => '_',
            })
            .take(64)
            .collect()
    }

    pub(super) fn wants(&self, tool: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(tool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_that_providers_take_them() {
        let options = Options {
            prefix: "files/".into(),
            ..Options::default()
        };
        assert_eq!(options.name_of("read.text-1"), "files_read_text-1");
        assert_eq!(options.name_of("größe"), "files_gr__e");
        assert_eq!(options.name_of(&"x".repeat(100)).len(), 64);
    }
}
