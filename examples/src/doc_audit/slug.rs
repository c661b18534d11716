//! Anchors of headings, as GitHub writes them.

use std::collections::{BTreeSet, HashMap};

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// The anchors used so far in one document.
#[derive(Debug, Default)]
pub(super) struct Slugs {
    taken: BTreeSet<String>,
    next: HashMap<String, usize>,
}

impl Slugs {
    /// The anchor of the next heading: its slug, with `-1`, `-2`, … if it is in use.
    pub(super) fn next(&mut self, heading: &str) -> String {
        let base = slug(heading);
        let next = self.next.entry(base.clone()).or_insert(0);
        loop {
            let candidate = match *next {
                0 => base.clone(),
                n => format!("{base}-{n}"),
            };
            *next += 1;
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

/// Lower case, without punctuation, with a hyphen for each space.
fn slug(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .flat_map(char::to_lowercase)
        .filter(|&c| c == ' ' || c == '-' || is_word(c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Letters, marks, decimal digits and connectors: the `\p{Word}` of the pattern that GitHub uses.
fn is_word(c: char) -> bool {
    c.is_alphabetic()
        || c.general_category_group() == GeneralCategoryGroup::Mark
        || matches!(
            c.general_category(),
            GeneralCategory::DecimalNumber | GeneralCategory::ConnectorPunctuation
        )
}

/// The anchor that is similar to `wanted`, if there is exactly one.
///
/// Anchors that differ in case and punctuation only are preferred to those with a typing mistake. A different number is a
/// different meaning (`v1-2`, `v1-3`), not a mistake.
pub(super) fn similar<'a, A>(wanted: &str, anchors: &'a A) -> Option<&'a str>
where
    &'a A: IntoIterator<Item = &'a String>,
{
    let letters = squash(wanted);
    let only = |accept: &dyn Fn(&str) -> bool| {
        let mut matching = anchors.into_iter().filter(|anchor| accept(anchor));
        match (matching.next(), matching.next()) {
            (first, None) => Ok(first.map(String::as_str)),
            (_, Some(_)) => Err(()),
        }
    };
    if letters.is_empty() {
        return None;
    }
    match only(&|anchor| squash(anchor) == letters) {
        Ok(Some(anchor)) => return Some(anchor),
        Err(()) => return None,
        Ok(None) => {}
    }
    let allowed = 2.min(wanted.chars().count() / 4);
    only(&|anchor| digits(anchor).eq(digits(wanted)) && distance(anchor, wanted) <= allowed)
        .ok()
        .flatten()
}

fn squash(anchor: &str) -> String {
    let letters = anchor.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn digits(anchor: &str) -> impl Iterator<Item = char> {
    anchor.chars().filter(|c| c.is_numeric())
}

/// The number of insertions, deletions and replacements between two texts.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_githubs() {
        for (heading, expected) in [
            ("Hello, World!", "hello-world"),
            ("`flow!` & co.", "flow--co"),
            ("snake_case and kebab-case", "snake_case-and-kebab-case"),
            ("Größe – Ärger", "größe--ärger"),
            ("日本語 の 見出し", "日本語-の-見出し"),
            ("🚀 Start", "-start"),
            ("❤️ Heart", "\u{fe0f}-heart"),
            ("m² and ½", "m-and-"),
            ("ΟΔΟΣ", "οδοσ"),
            ("2.0.1 (2024)", "201-2024"),
            ("a  b", "a--b"),
            ("e\u{301}te\u{301}", "e\u{301}te\u{301}"),
            ("...", ""),
        ] {
            assert_eq!(slug(heading), expected, "{heading}");
        }
    }

    #[test]
    fn repeated_headings_are_numbered() {
        let mut slugs = Slugs::default();
        let given = ["Setup", "Setup", "setup 1", "Setup", "", ""].map(|h| slugs.next(h));
        assert_eq!(
            given,
            ["setup", "setup-1", "setup-1-1", "setup-2", "", "-1"]
        );
    }

    #[test]
    fn a_similar_anchor_must_be_the_only_one() {
        let anchors = ["install", "usage", "v1-2", "getting-started", "usages"].map(String::from);
        assert_eq!(similar("instal", &anchors), Some("install"));
        assert_eq!(
            similar("Getting_Started", &anchors),
            Some("getting-started")
        );
        assert_eq!(similar("GettingStarted", &anchors), Some("getting-started"));
        assert_eq!(similar("usag", &anchors), Some("usage"));
        assert_eq!(
            similar("usagex", &anchors),
            None,
            "`usage` and `usages` are as near"
        );
        assert_eq!(
            similar("v1-3", &anchors),
            None,
            "another number is another thing"
        );
        assert_eq!(similar("", &anchors), None);
        assert_eq!(similar("nothing-like-it", &anchors), None);
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("größe", "grosse"), 3);
    }
}
