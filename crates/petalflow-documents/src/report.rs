//! Findings of the rules, before they have a place in a text.

use std::fmt::Write as _;

use crate::diagnostic::{Code, Diagnostic};

/// A path of names and indices in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pointer(String);

impl Pointer {
    pub(crate) fn root() -> Self {
        Pointer::default()
    }

    /// The value with this name in this one.
    pub(crate) fn name(&self, name: &str) -> Self {
        let mut text = self.0.clone();
        text.push('/');
        text.push_str(&name.replace('~', "~0").replace('/', "~1"));
        Pointer(text)
    }

    /// The item of this list.
    pub(crate) fn item(&self, index: usize) -> Self {
        let mut text = self.0.clone();
        let _ = write!(text, "/{index}");
        Pointer(text)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Something that is wrong at a pointer.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) code: Code,
    pub(crate) pointer: Pointer,
    pub(crate) message: String,
    /// The name is wrong, not the value.
    pub(crate) at_name: bool,
}

/// Collects what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Report(pub(crate) Vec<Finding>);

impl Report {
    pub(crate) fn add(&mut self, code: Code, pointer: Pointer, message: impl Into<String>) {
        self.0.push(Finding {
            code,
            pointer,
            message: message.into(),
            at_name: false,
        });
    }

    pub(crate) fn add_at_name(&mut self, code: Code, pointer: Pointer, message: impl Into<String>) {
        self.add(code, pointer, message);
        if let Some(last) = self.0.last_mut() {
            last.at_name = true;
        }
    }

    pub(crate) fn has(&self, code: Code) -> bool {
        self.0.iter().any(|finding| finding.code == code)
    }

    pub(crate) fn is_wrong(&self, pointer: &str) -> bool {
        self.0
            .iter()
            .any(|finding| finding.pointer.as_str() == pointer)
    }
}

impl Finding {
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        Diagnostic {
            code: self.code,
            severity: self.code.severity(),
            message: self.message,
            pointer: self.pointer.0,
            file: None,
            position: None,
        }
    }
}

/// `; did you mean X`, if one of the names is similar.
pub(crate) fn suggestion<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    // The time of a comparison is the product of the lengths.
    if name.len() > 64 {
        return String::new();
    }
    let near = names
        .into_iter()
        .filter(|other| other.len() <= 64 && *other != name)
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .min_by_key(|(distance, _)| *distance);
    match near {
        Some((distance, other)) if distance <= 1 + name.chars().count() / 4 => {
            format!("; did you mean `{other}`?")
        }
        _ => String::new(),
    }
}

/// A text of a document in a message: its beginning, without control characters.
pub(crate) fn shown(text: &str) -> String {
    let mut short: String = text
        .chars()
        .take(64)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
