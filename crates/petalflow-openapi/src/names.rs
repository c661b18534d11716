//! Names that providers accept: letters, digits, `_` and `-`, at most 64 characters.

use std::collections::BTreeSet;

/// The longest name of a tool or of an argument.
const MAX_LENGTH: usize = 64;

/// Whether providers accept the name as it is.
pub(super) fn is_valid(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_LENGTH && name.chars().all(is_allowed)
}

fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The name with `_` in place of each run of other characters, without one at its ends. `fallback` if nothing is left.
pub(super) fn valid(name: &str, fallback: &str) -> String {
    let mut valid = String::with_capacity(name.len());
    for c in name.chars() {
        if is_allowed(c) {
            valid.push(c);
        } else if !valid.is_empty() && !valid.ends_with('_') {
            valid.push('_');
        }
    }
    valid.truncate(MAX_LENGTH);
    match valid.trim_end_matches('_') {
        "" => fallback.into(),
        name => name.into(),
    }
}

/// The name, with a number if it is taken. It is taken then.
pub(super) fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut unique = name.clone();
    let mut number = 2;
    while taken.contains(&unique) {
        let suffix = format!("_{number}");
        let end = name.len().min(MAX_LENGTH - suffix.len());
        unique = format!("{}{suffix}", &name[..end]);
        number += 1;
    }
    taken.insert(unique.clone());
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f44_6_names_are_valid_and_unique() {
        for (name, expected) in [
            ("getBook", "getBook"),
            ("books/list pages", "books_list_pages"),
            ("GET /books/{id}", "GET_books_id"),
            ("$top", "top"),
            ("filter[name]", "filter_name"),
            ("\u{e9}\u{e9}", "operation"),
        ] {
            assert_eq!(valid(name, "operation"), expected);
            assert_eq!(is_valid(name), name == expected);
        }
        let long = "a".repeat(80);
        let mut taken = BTreeSet::new();
        let names: Vec<String> = (0..3)
            .map(|_| unique(valid(&long, ""), &mut taken))
            .collect();
        assert!(names.iter().all(|name| is_valid(name)), "{names:?}");
        assert_eq!(taken.len(), 3);
        assert!(names[2].ends_with("a_3"));
    }
}
