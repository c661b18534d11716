//! What is found in a text.

use regex::{Regex, RegexBuilder};

/// The maximum number of lines that a search finds.
pub(super) const MAX_MATCHES: usize = 100;
/// The maximum number of characters of such a line.
const MAX_LINE: usize = 300;
/// The maximum size of a compiled expression, in bytes.
const MAX_EXPRESSION: usize = 1024 * 1024;

/// A regular expression of a model.
pub(super) fn expression(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern)
        .size_limit(MAX_EXPRESSION)
        .build();
    built.map_err(|error| format!("the expression cannot be read: {error}"))
}

/// The lines of a file in which something is found, as `path:number: line`, without what is beyond `room`.
pub(super) fn lines(expression: &Regex, path: &str, text: &str, room: usize) -> Vec<String> {
    let lines = text.lines().enumerate();
    let found = lines.filter(|(_, line)| expression.is_match(line));
    found
        .take(room)
        .map(|(index, line)| {
            let shown: String = line.chars().take(MAX_LINE).collect();
            let more = if shown.len() < line.len() { "..." } else { "" };
            format!("{path}:{}: {shown}{more}", index + 1)
        })
        .collect()
}

/// The lines of a text from `first` on, at most `count` and at most `max` bytes; and the number of the last one.
pub(super) fn range(text: &str, first: usize, count: usize, max: usize) -> (&str, usize) {
    let mut from = 0;
    let mut last = 0;
    let mut to = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if number < first {
            from += line.len();
            (to, last) = (from, number);
            continue;
        }
        // One line is always read, in part if it is long.
        if number >= first.saturating_add(count) || (to > from && to - from + line.len() > max) {
            break;
        }
        to += line.len();
        last = number;
    }
    let read = &text[from..to];
    (&read[..read.floor_char_boundary(max)], last)
}

#[cfg(test)]
mod tests {
    use super::{expression, lines, range};

    #[test]
    fn f44_a_range_has_whole_lines_up_to_a_limit() {
        let text = "one\ntwo\nthree\nfour";
        assert_eq!(range(text, 1, 10, 100), (text, 4));
        assert_eq!(range(text, 2, 2, 100), ("two\nthree\n", 3));
        assert_eq!(range(text, 2, 9, 9), ("two\n", 2));
        assert_eq!(range(text, 3, 9, 2), ("th", 3));
        assert_eq!(range(text, 9, 9, 9), ("", 4));
        assert_eq!(range("", 1, 9, 9), ("", 0));
    }

    #[test]
    fn f44_lines_are_found_with_their_numbers() {
        let find = expression("^t").unwrap();
        assert_eq!(
            lines(&find, "a.md", "one\ntwo\nthree", 9),
            ["a.md:2: two", "a.md:3: three"]
        );
        assert_eq!(lines(&find, "a.md", "one\ntwo\nthree", 1), ["a.md:2: two"]);
        let long = lines(&find, "a.md", &"t".repeat(400), 1);
        assert_eq!(long, [format!("a.md:1: {}...", "t".repeat(300))]);
        assert!(
            expression("(")
                .unwrap_err()
                .starts_with("the expression cannot be read: ")
        );
        assert!(expression("((a{1000}){1000}){1000}").is_err());
    }
}
