//! Ranges of text in the order of its bytes.

/// The first text that is greater than all that begin so; none if there is no such text.
pub(crate) fn first_without(prefix: &str) -> Option<String> {
    let mut chars = prefix.chars();
    while let Some(last) = chars.next_back() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            let mut end = chars.as_str().to_owned();
            end.push(next);
            return Some(end);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_without;

    #[test]
    fn the_end_of_a_prefix_is_beyond_everything_with_it() {
        assert_eq!(first_without(""), None);
        assert_eq!(first_without("a").as_deref(), Some("b"));
        assert_eq!(first_without("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
        assert_eq!(first_without("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(first_without("\u{10ffff}\u{10ffff}"), None);
        assert_eq!(first_without("~\u{7f}").as_deref(), Some("~\u{80}"));
    }
}
