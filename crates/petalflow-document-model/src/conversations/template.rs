//! Placeholders in prompts.

use std::fmt::Write as _;
use std::str::FromStr;

use serde_json::{Map, Value};

/// A text with placeholders, which are filled from the state of the conversation.
///
/// `{{ key }}` is the value of a key, `{{ order.size }}` a value inside it. `\{{ key }}` is the text `{{ key }}`. What
/// is filled in is not searched for placeholders.
///
/// ```
/// use petalflow_document_model::conversations::Template;
/// use serde_json::json;
///
/// let template: Template = "{{ name }} wants a {{ order.size }} pizza.".parse()?;
/// let state = json!({ "name": "Ann", "order": { "size": "large" } });
/// assert_eq!(template.fill(state.as_object().unwrap())?, "Ann wants a large pizza.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Path(String),
}

/// Why a text cannot be read as a template.
///
/// ```
/// use petalflow_document_model::conversations::Template;
///
/// let error = "Hello, {{ 1 }}!".parse::<Template>().unwrap_err();
/// assert_eq!((error.inside.as_str(), error.position), (" 1 ", 7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{{{{{inside}}}}}` is not a placeholder: {}; for the text itself write `\\{{{{`", self.advice())]
pub struct TemplateError {
    /// What is between the braces.
    pub inside: String,
    /// The position of the braces, in bytes, from 0.
    pub position: usize,
}

impl TemplateError {
    /// What to write instead.
    fn advice(&self) -> String {
        let name = self.inside.trim().strip_prefix('.');
        // Graphs have templates of Go, whose variables begin with a dot.
        match name.filter(|name| format!("{{{{{name}}}}}").parse::<Template>().is_ok()) {
            Some(name) => {
                format!("in a conversation a key has no dot before it: write `{{{{ {name} }}}}`")
            }
            None => "write the name of a key, such as `{{ name }}` or `{{ order.size }}`".into(),
        }
    }
}

/// Why a placeholder cannot be filled.
///
/// ```
/// use petalflow_document_model::conversations::Template;
/// use serde_json::Map;
///
/// let template: Template = "Hello, {{ caller.name }}!".parse()?;
/// let error = template.fill(&Map::new()).unwrap_err();
/// assert_eq!((error.path.as_str(), error.missing.as_str()), ("caller.name", "caller"));
/// # Ok::<(), petalflow_document_model::conversations::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the placeholder `{{{{ {path} }}}}` cannot be filled: the state has no `{missing}`")]
pub struct MissingKey {
    /// The placeholder.
    pub path: String,
    /// The part of its path that is not in the state.
    pub missing: String,
}

impl FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(start) = braces(rest) {
            let (before, from_braces) = rest.split_at(start);
            let Some(length) = from_braces.find("}}") else {
                break;
            };
            let inside = &from_braces[2..length];
            rest = &from_braces[length + 2..];
            if let Some(before) = before.strip_suffix('\\') {
                plain.push_str(before);
                plain.push_str(&from_braces[..length + 2]);
                continue;
            }
            plain.push_str(before);
            let path = inside.trim();
            if !is_path(path) {
                return Err(TemplateError {
                    inside: inside.into(),
                    position: text.len() - rest.len() - length - 2,
                });
            }
            parts.push(Part::Text(std::mem::take(&mut plain)));
            parts.push(Part::Path(path.into()));
        }
        plain.push_str(rest);
        parts.push(Part::Text(plain));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Template { parts })
    }
}

/// The position of `{{`. Most texts have none, and are too short for the search of the standard library.
fn braces(text: &str) -> Option<usize> {
    text.as_bytes().windows(2).position(|pair| pair == b"{{")
}

/// Words between dots.
fn is_path(path: &str) -> bool {
    path.split('.').all(|word| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

impl Template {
    /// Returns the paths of the placeholders, in the order of the text.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Template;
    ///
    /// let template: Template = "{{ a }} and {{ b.c }}".parse()?;
    /// assert_eq!(template.paths().collect::<Vec<_>>(), ["a", "b.c"]);
    /// # Ok::<(), petalflow_document_model::conversations::TemplateError>(())
    /// ```
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Path(path) => Some(path.as_str()),
            Part::Text(_) => None,
        })
    }

    /// Fills in the values of `state`. Texts are written without quotes, lists and objects as JSON.
    ///
    /// # Errors
    ///
    /// The state has no such key.
    pub fn fill(&self, state: &Map<String, Value>) -> Result<String, MissingKey> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Path(path) => match look_up(state, path)? {
                    Value::String(text) => filled.push_str(text),
                    value => {
                        // Writing to a `String` cannot fail.
                        let _ = write!(filled, "{value}");
                    }
                },
            }
        }
        Ok(filled)
    }
}

fn look_up<'s>(state: &'s Map<String, Value>, path: &str) -> Result<&'s Value, MissingKey> {
    let mut words = path.split('.');
    let mut value = words.next().and_then(|word| state.get(word));
    let mut length = path.find('.').unwrap_or(path.len());
    for word in words {
        let Some(found) = value else { break };
        length += 1 + word.len();
        value = found.get(word);
    }
    value.ok_or_else(|| MissingKey {
        path: path.into(),
        missing: path[..length].into(),
    })
}
