//! Names and texts of documents in messages.

/// `; did you mean X`, if one of the names is similar.
///
/// ```
/// use petalflow_document_model::source::names::suggestion;
///
/// assert_eq!(suggestion("sice", ["size", "count"]), "; did you mean `size`?");
/// assert_eq!(suggestion("price", ["size", "count"]), "");
/// ```
pub fn suggestion<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    similar(name, names).map_or_else(String::new, |other| format!("; did you mean `{other}`?"))
}

/// The name that is most similar, if one of them is.
///
/// ```
/// use petalflow_document_model::source::names::similar;
///
/// assert_eq!(similar("sice", ["size", "count"]), Some("size"));
/// assert_eq!(similar("price", ["size", "count"]), None);
/// // Only the case of letters and the marks between words differ.
/// assert_eq!(similar("first-node", ["node", "FIRST_NODE"]), Some("FIRST_NODE"));
/// ```
pub fn similar<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The time of a comparison is the product of the lengths.
    if name.len() > 64 {
        return None;
    }
    let plain = letters(name);
    let length = name.chars().count();
    // A name of one letter is not similar to another one.
    let is_near = |distance| distance <= 1 + length / 4 && distance < length;
    // Names are compared with each other: not with all of a large document.
    let near = names
        .into_iter()
        .take(1000)
        .filter(|other| other.len() <= 64 && *other != name)
        .filter(|other| is_near(other.chars().count().abs_diff(length)))
        .map(|other| match letters(other) {
            same if !plain.is_empty() && same == plain => (0, other),
            _ => (strsim::osa_distance(name, other), other),
        })
        .min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, _)| is_near(*distance))
        .map(|(_, other)| other)
}

fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// A text of a document in a message: its beginning, without control characters.
///
/// ```
/// use petalflow_document_model::source::names::shown;
///
/// assert_eq!(shown("two\nlines"), "two lines");
/// assert!(shown(&"long ".repeat(100)).ends_with('…'));
/// ```
pub fn shown(text: &str) -> String {
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
