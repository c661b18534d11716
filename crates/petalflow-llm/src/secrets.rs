//! Replaces secrets in texts and values: in cassettes, and in the errors of providers.

use std::cmp::Reverse;

#[cfg(feature = "testing")]
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

/// Names of fields that contain secrets, in lower case and without `-` and `_`.
const SECRET_NAMES: [&str; 5] = ["token", "secret", "bearer", "cookie", "setcookie"];

/// The ends of such names: `client_secret`, `X-Auth-Token`. Other names end in `token` too, such as `next_page_token`.
const SECRET_ENDINGS: [&str; 16] = [
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authtoken",
    "apitoken",
    "bearertoken",
    "securitytoken",
    "sessiontoken",
    "clientsecret",
    "password",
    "passphrase",
    "authorization",
];

/// The schemes of `Authorization` headers. The word after them is the secret.
const SCHEMES: [&str; 3] = ["basic", "bearer", "token"];

/// The minimum length of a word that is treated as a key.
const MIN_KEY_LENGTH: usize = 20;

/// Known secrets. Texts that look like secrets are replaced in addition to them.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: String) {
        // Every text contains the empty text.
        if !secret.is_empty() {
            self.0.push(secret);
            // A short secret may be a part of a long one.
            self.0.sort_by_key(|secret| Reverse(secret.len()));
        }
    }

    /// The value with its secrets replaced.
    #[cfg(feature = "testing")]
    pub(crate) fn redact(&self, value: Value) -> Value {
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

    /// The text with its secrets replaced.
    pub(crate) fn text(&self, mut text: String) -> String {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), REPLACEMENT);
            }
        }
        without_secrets(&text)
    }
}

/// Whether fields with this name contain secrets.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.rsplit('.').next().unwrap_or(name);
    let name = name.to_lowercase().replace(['-', '_'], "");
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The text without the words that look like keys, the words after `Bearer`, and the values of fields with secret names
/// (`token=..`, `"token": ".."`).
fn without_secrets(text: &str) -> String {
    let is_word_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut redacted = String::with_capacity(text.len());
    let mut rest = text;
    // The word before the current one, and whether it is the scheme of an `Authorization` header.
    let (mut name, mut is_scheme) = ("", false);
    while let Some(start) = rest.find(is_word_char) {
        let (between, word) = rest.split_at(start);
        let end = word.find(|c| !is_word_char(c)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let after_scheme = is_scheme && between.trim().is_empty();
        is_scheme = between.contains([':', '='])
            && is_secret_name(name)
            && SCHEMES.iter().any(|s| word.eq_ignore_ascii_case(s));
        let secret =
            is_key(word) || after_scheme || (!is_scheme && is_secret_value(name, between, word));
        redacted.push_str(between);
        redacted.push_str(if secret { REPLACEMENT } else { word });
        // The rest of a secret, such as the end of one in Base64.
        let tail = after.find(|c| !matches!(c, '+' | '/' | '=' | '~') && !is_word_char(c));
        let tail = tail.unwrap_or(after.len());
        rest = if secret { &after[tail..] } else { after };
        name = word;
    }
    redacted + rest
}

fn is_key(word: &str) -> bool {
    word.len() >= MIN_KEY_LENGTH && KEY_PREFIXES.iter().any(|key| word.starts_with(key))
}

/// Whether the word is the secret of the name before it.
fn is_secret_value(name: &str, between: &str, word: &str) -> bool {
    // Words of a sentence are not secrets: `the bearer of news`, `Token: The next one`.
    let is_plain = word.len() < MIN_KEY_LENGTH
        && word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word[1..]
            .trim_end_matches('.')
            .chars()
            .all(|c| c.is_ascii_lowercase());
    if name.eq_ignore_ascii_case("bearer") && between.trim().is_empty() {
        return !is_plain;
    }
    let separator: String = between.chars().filter(|c| !c.is_whitespace()).collect();
    match separator.replace('\\', "").as_str() {
        "\":\"" | "':'" | "=\"" | "='" => is_secret_name(name),
        "=" | ":" | "\":" | ":\"" => (between == "=" || !is_plain) && is_secret_name(name),
        _ => false,
    }
}

#[cfg(all(test, feature = "testing"))]
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

    #[test]
    fn tokens_and_values_of_bearers_are_removed_and_sentences_are_not() {
        let secrets = Secrets::default();
        let cleaned = secrets.redact(json!({
            "token": "a1", "refresh_token": "b2", "client_secret": "c3", "idToken": "d4", "X-Auth-Token": "e5",
            "aws_secret_access_key": "f6", "db_password": "g7", "Authorization": "Basic aDg=",
            "tokens": "3", "next_page_token": "4", "token_type": "Bearer", "properties": {"token": {"type": "string"}},
        }));
        let hidden = "***";
        assert_eq!(
            cleaned,
            json!({
                "token": hidden, "refresh_token": hidden, "client_secret": hidden, "idToken": hidden,
                "X-Auth-Token": hidden, "aws_secret_access_key": hidden, "db_password": hidden,
                "Authorization": hidden, "tokens": "3", "next_page_token": "4", "token_type": "Bearer",
                "properties": {"token": {"type": "string"}},
            })
        );
        for (text, cleaned) in [
            (
                "Authorization: Bearer ab.cd-12/e+f==, ok",
                "Authorization: Bearer ***, ok",
            ),
            (
                "curl -H 'authorization: bearer Xy7'",
                "curl -H 'authorization: bearer ***'",
            ),
            (
                "GET /v1?access_token=xyz&page=2",
                "GET /v1?access_token=***&page=2",
            ),
            (
                r#"{"refresh_token": "abc", "n": 1}"#,
                r#"{"refresh_token": "***", "n": 1}"#,
            ),
            (
                r#"{\"client_secret\":\"abc\"}"#,
                r#"{\"client_secret\":\"***\"}"#,
            ),
            ("client_secret: A7b", "client_secret: ***"),
            (
                r#"{"authorization": "Basic dXNlcg=="}"#,
                r#"{"authorization": "Basic ***"}"#,
            ),
        ] {
            assert_eq!(secrets.text(text.into()), cleaned);
            assert_eq!(secrets.text(cleaned.into()), cleaned, "a second time");
        }
        for text in [
            "the bearer of news. A token: the next one",
            "Bearer Authentication: the bearer token is missing",
            "let token = next(); max_tokens: 8",
            r#""token_type": "Bearer", "expires_in": 3600"#,
            "Bearer",
        ] {
            assert_eq!(secrets.text(text.into()), text);
        }
    }
}
