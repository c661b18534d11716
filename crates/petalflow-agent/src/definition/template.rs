//! Placeholders in instructions: `{city}` is replaced by the value of `city` in the conversation's state.

use std::collections::BTreeMap;

use serde_json::Value;

/// A text with placeholders, parsed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Segment>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Text(String),
    /// A key of the state.
    Key {
        name: String,
        optional: bool,
    },
    /// The text of an artifact.
    Artifact {
        name: String,
        optional: bool,
    },
}

/// Error of a placeholder without a value.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MissingValue {
    #[error(
        "the instructions need `{{{0}}}`, but the conversation's state has no such key: set it, or write `{{{0}?}}`"
    )]
    Key(String),
    #[error(
        "the instructions need `{{artifact.{0}}}`, but there is no such artifact: save it, or write `{{artifact.{0}?}}`"
    )]
    Artifact(String),
}

impl Template {
    /// Parses the placeholders. A placeholder with an invalid name stays as text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut segments = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            plain.push_str(&rest[..open]);
            rest = &rest[open..];
            // Doubled braces stay unchanged, with the text between them.
            let braces = rest.len() - rest.trim_start_matches('{').len();
            let Some(close) = rest.find('}') else { break };
            let ends = rest[close..].len() - rest[close..].trim_start_matches('}').len();
            let inner = rest[braces..close].trim();
            match placeholder(inner) {
                Some(segment) => {
                    if !plain.is_empty() {
                        segments.push(Segment::Text(std::mem::take(&mut plain)));
                    }
                    segments.push(segment);
                }
                None => plain.push_str(&rest[..close + ends]),
            }
            rest = &rest[close + ends..];
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            segments.push(Segment::Text(plain));
        }
        Template(segments)
    }

    /// The names of the artifacts in the text.
    pub(crate) fn artifacts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|segment| match segment {
            Segment::Artifact { name, .. } => Some(&**name),
            _ => None,
        })
    }

    /// The text, with its placeholders replaced.
    pub(crate) fn fill(
        &self,
        state: impl Fn(&str) -> Option<Value>,
        artifacts: &BTreeMap<String, String>,
    ) -> Result<String, MissingValue> {
        let mut text = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Text(plain) => text.push_str(plain),
                Segment::Key { name, optional } => match state(name) {
                    Some(Value::Null) => {}
                    Some(Value::String(value)) => text.push_str(&value),
                    Some(value) => text.push_str(&value.to_string()),
                    None if *optional => {}
                    None => return Err(MissingValue::Key(name.clone())),
                },
                Segment::Artifact { name, optional } => match artifacts.get(name) {
                    Some(artifact) => text.push_str(artifact),
                    None if *optional => {}
                    None => return Err(MissingValue::Artifact(name.clone())),
                },
            }
        }
        Ok(text)
    }
}

fn placeholder(inner: &str) -> Option<Segment> {
    let (name, optional) = match inner.strip_suffix('?') {
        Some(name) => (name, true),
        None => (inner, false),
    };
    if let Some(name) = name.strip_prefix("artifact.") {
        return (!name.is_empty()).then(|| Segment::Artifact {
            name: name.into(),
            optional,
        });
    }
    is_key(name).then(|| Segment::Key {
        name: name.into(),
        optional,
    })
}

/// Whether a name can be a key: an identifier, optionally with the prefix `app:`, `user:` or `temp:`.
fn is_key(name: &str) -> bool {
    let bare = ["app:", "user:", "temp:"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let mut letters = bare.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}
