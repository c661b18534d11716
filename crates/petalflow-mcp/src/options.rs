//! The options of a client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::elicitation::RequestHandlers;

/// A function that decides whether a call needs confirmation, and returns the question.
pub(super) type Confirm = dyn Fn(&str, &Value) -> Option<String> + Send + Sync;

#[derive(Clone)]
pub(super) struct Options {
    pub(super) prefix: String,
    pub(super) filter: Option<Arc<dyn Fn(&str) -> bool + Send + Sync>>,
    pub(super) confirm: Option<Arc<Confirm>>,
    /// The handlers for requests from the server.
    pub(super) request_handlers: RequestHandlers,
    /// The longest time of a call without progress.
    pub(super) timeout: Duration,
    /// The longest time to connect, and to list the tools.
    pub(super) connect_timeout: Duration,
    pub(super) connect_attempts: u32,
    /// The longest message, in bytes.
    pub(super) message_limit: usize,
    /// Whether descriptions have the schemas of results.
    pub(super) describe_results: bool,
    /// Whether results may not fit their schemas.
    pub(super) unchecked_results: bool,
    /// The variables that a child process inherits, besides those of every child process.
    pub(super) inherited_env: Vec<String>,
    /// The tokens for a server over HTTP.
    #[cfg(feature = "oauth")]
    pub(super) authorization: Option<Arc<super::oauth::Authorization>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            prefix: String::new(),
            filter: None,
            confirm: None,
            request_handlers: RequestHandlers::default(),
            timeout: Duration::from_mins(2),
            connect_timeout: Duration::from_secs(30),
            connect_attempts: 3,
            message_limit: 16 * 1024 * 1024,
            describe_results: false,
            unchecked_results: false,
            inherited_env: Vec::new(),
            #[cfg(feature = "oauth")]
            authorization: None,
        }
    }
}

impl Options {
    /// The name of a tool for models. Providers accept letters, digits, `_` and `-`, at most 64 characters.
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

    pub(super) fn includes(&self, tool: &str) -> bool {
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
