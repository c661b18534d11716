//! Removes secrets from recorded values.

use serde_json::Value;

/// The replacement for a secret.
const REPLACEMENT: &str = "***";

/// The prefixes of keys of well-known services.
const KEY_PREFIXES: [&str; 8] = [
    "sk-",
    "AIza",
    "xai-",
    "gsk_",
    "ghp_",
    "github_pat_",
    "hf_",
    "AKIA",
];

/// The minimum length of a word that is treated as a key.
const MIN_KEY_LENGTH: usize = 20;

/// Texts that must not appear in a file, in addition to texts that look like keys.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn add(&mut self, secret: String) {
        // Every text contains the empty text.
        if !secret.is_empty() {
            self.0.push(secret);
        }
    }

    /// The value with its secrets replaced.
    pub(super) fn redact(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.into_iter().map(|item| self.redact(item)).collect(),
            Value::Object(fields) => {
                let fields = fields.into_iter().map(|(name, value)| {
                    let value = match value {
                        Value::String(_) if is_secret_name(&name) => REPLACEMENT.into(),
                        value => self.redact(value),
                    };
                    (self.text(name), value)
                });
                Value::Object(fields.collect())
            }
            other => other,
        }
    }

    fn text(&self, mut text: String) -> String {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REPLACEMENT);
            }
        }
        if KEY_PREFIXES.iter().any(|key| text.contains(key)) {
            return without_keys(&text);
        }
        text
    }
}

/// Whether fields with this name contain secrets.
fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase().replace(['-', '_'], "");
    [
        "apikey",
        "authorization",
        "password",
        "secret",
        "accesstoken",
        "xgoogapikey",
    ]
    .contains(&name.as_str())
}

/// The text with the words that look like keys replaced.
fn without_keys(text: &str) -> String {
    let is_key_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_key_char) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c| !is_key_char(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let key =
            word.len() >= MIN_KEY_LENGTH && KEY_PREFIXES.iter().any(|key| word.starts_with(key));
        redacted.push_str(before);
        redacted.push_str(if key { REPLACEMENT } else { word });
        rest = after;
    }
    redacted + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_removed_and_words_are_not() {
        let mut secrets = Secrets::default();
        secrets.add("hunter2".into());
        secrets.add(String::new());
        let cleaned = secrets.redact(json!({
            "text": "key=sk-abcdefghijklmnopqrstuv, and hunter2; the sk-etch is fine",
            "list": ["Bearer AIzaSyA1234567890123456789", 3],
            "extra": {"api_key": "x", "x-goog-api-key": "y", "max_tokens": "8"},
            "é": "日本 sk-abcdefghijklmnopqrstuv 語",
        }));
        assert_eq!(
            cleaned,
            json!({
                "text": "key=***, and ***; the sk-etch is fine",
                "list": ["Bearer ***", 3],
                "extra": {"api_key": "***", "x-goog-api-key": "***", "max_tokens": "8"},
                "é": "日本 *** 語",
            })
        );
    }
}
