//! Names that are similar to a misspelt one.

/// `; did you mean ..?`, if one of the names is similar.
pub(crate) fn similar<'n>(name: &str, names: impl IntoIterator<Item = &'n String>) -> String {
    // The time of a comparison is the product of the lengths.
    if name.len() > 64 {
        return String::new();
    }
    let nearest = names
        .into_iter()
        .filter(|other| other.len() <= 64)
        .map(|other| (strsim::damerau_levenshtein(name, other), other))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        Some((distance, other)) if distance <= 1 + name.chars().count() / 4 => {
            format!("; did you mean `{other}`?")
        }
        _ => String::new(),
    }
}
