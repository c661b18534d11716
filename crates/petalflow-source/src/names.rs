//! Names and texts of documents in messages.

/// `; did you mean X`, if one of the names is similar.
pub fn suggestion<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    // The time of a comparison is the product of the lengths.
    if name.len() > 64 {
        return String::new();
    }
    // Names are compared with each other: not with all of a large document.
    let near = names
        .into_iter()
        .take(1000)
        .filter(|other| other.len() <= 64 && *other != name)
        .map(|other| (strsim::osa_distance(name, other), other))
        .min_by_key(|(distance, _)| *distance);
    let length = name.chars().count();
    match near {
        // A name of one letter is not similar to another one.
        Some((distance, other)) if distance <= 1 + length / 4 && distance < length => {
            format!("; did you mean `{other}`?")
        }
        _ => String::new(),
    }
}

/// A text of a document in a message: its beginning, without control characters.
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
