//! Headers of HTTP.

use std::collections::BTreeMap;

/// Whether a text can be the name of an HTTP method or header.
pub(super) fn is_token(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !text.is_empty() && text.chars().all(allowed)
}

/// The value of the header with this name, which is compared without case.
pub(super) fn value<'a>(headers: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    let mut headers = headers.iter();
    let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    found.map(|(_, value)| value.as_str())
}
