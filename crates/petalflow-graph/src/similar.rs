//! Suggestions for misspelled names.

/// Longer names are not compared, because the table of distances has a fixed size for constant evaluation.
const MAX_LENGTH: usize = 64;

/// The known name that is most similar to `name`, if the difference can be a typing mistake. The measure is that of rustc: an
/// edit distance of at most a third of the longer name.
///
/// ```
/// # use petalflow_graph::similar;
/// assert_eq!(similar("citique", ["write", "critique"].into_iter()), Some("critique"));
/// assert_eq!(similar("publish", ["write", "critique"].into_iter()), None);
/// ```
pub fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut best = Best::NONE;
    for candidate in known {
        best.compare(name, candidate);
    }
    best.known
}

/// The most similar of the names that have been compared.
struct Best<'a> {
    distance: usize,
    known: Option<&'a str>,
}

impl<'a> Best<'a> {
    const NONE: Self = Best {
        distance: usize::MAX,
        known: None,
    };

    const fn compare(&mut self, name: &str, candidate: &'a str) {
        if let Some(distance) = distance(name, candidate)
            && distance < self.distance
        {
            self.distance = distance;
            self.known = Some(candidate);
        }
    }
}

/// [`similar`] for constant evaluation: the most similar of the known names.
pub(crate) const fn similar_in<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let mut best = Best::NONE;
    let mut i = 0;
    while i < known.len() {
        best.compare(name, known[i]);
        i += 1;
    }
    best.known
}

/// Whether two strings are equal (`==` for constant evaluation).
pub const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// The number of letters to change, add, remove or swap with their neighbour, if it is below the limit. Upper and lower case are
/// equal.
const fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() > MAX_LENGTH || b.len() > MAX_LENGTH {
        return None;
    }
    let longer = if a.len() > b.len() { a.len() } else { b.len() };
    let limit = if longer < 3 { 1 } else { longer / 3 };
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before = [0; MAX_LENGTH + 1];
    let mut above = [0; MAX_LENGTH + 1];
    let mut row = [0; MAX_LENGTH + 1];
    let mut j = 0;
    while j <= b.len() {
        above[j] = j;
        j += 1;
    }
    let mut i = 1;
    while i <= a.len() {
        row[0] = i;
        let mut j = 1;
        while j <= b.len() {
            let equal = a[i - 1].eq_ignore_ascii_case(&b[j - 1]);
            let mut least = above[j - 1] + !equal as usize;
            if above[j] + 1 < least {
                least = above[j] + 1;
            }
            if row[j - 1] + 1 < least {
                least = row[j - 1] + 1;
            }
            let swapped = i > 1
                && j > 1
                && a[i - 1].eq_ignore_ascii_case(&b[j - 2])
                && a[i - 2].eq_ignore_ascii_case(&b[j - 1]);
            if swapped && before[j - 2] + 1 < least {
                least = before[j - 2] + 1;
            }
            row[j] = least;
            j += 1;
        }
        before = above;
        above = row;
        i += 1;
    }
    if above[b.len()] <= limit {
        Some(above[b.len()])
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{similar, similar_in};

    #[test]
    fn a_typing_mistake_is_recognized_and_another_word_is_not() {
        const FOUND: Option<&str> = similar_in("Publsih", &["Revise", "Publish"]);
        assert_eq!(FOUND, Some("Publish"));
        assert_eq!(
            similar("revise", ["Revise", "Publish"].into_iter()),
            Some("Revise")
        );
        assert_eq!(similar("a", ["b"].into_iter()), Some("b"));
        assert_eq!(similar("ab", ["xyz", "cd"].into_iter()), None);
        assert_eq!(similar(&"x".repeat(65), ["x"].into_iter()), None);
    }
}
