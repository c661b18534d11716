//! Removes the secrets of a request from what a service answers: models read it, and threads store it.

use serde_json::Value;

/// What stands for a secret.
const REPLACEMENT: &str = "***";

/// The shortest secret that is looked for. A shorter one is a part of too many words.
const SHORTEST: usize = 4;

/// The secrets of a request.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.0.push(secret.into());
            // A short one may be a part of a long one.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// The text with its secrets replaced.
    pub(super) fn text(&self, mut text: String) -> String {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REPLACEMENT);
            }
        }
        text
    }

    /// The value with its secrets replaced.
    pub(super) fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.into_iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| (self.text(name), self.value(value)));
                Value::Object(fields.collect())
            }
            other => other,
        }
    }
}
