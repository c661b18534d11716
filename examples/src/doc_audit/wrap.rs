//! Finds where a line of prose may be wrapped without a change of meaning.

use std::ops::Range;

/// One line. Offsets are into `text`.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The line without its ending.
    pub(super) text: &'a str,
    /// The offset of the prose, after list markers and `>`.
    pub(super) content: usize,
    /// White space in the prose, in order; empty for a line that is not prose.
    pub(super) gaps: Vec<Range<usize>>,
    /// The line below.
    pub(super) below: &'a str,
}

/// The beginning of a continuation of this line: `>` is repeated, markers of lists and footnotes become spaces.
pub(super) fn prefix(line: &Line<'_>) -> String {
    let mut prefix = String::new();
    let mut rest = &line.text[..line.content];
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '['
            && let Some((_, after)) = rest.split_once("]:")
        {
            // A footnote continues after four spaces, for any length of its name.
            rest = after.trim_start_matches(' ');
            prefix.push_str("    ");
        } else {
            prefix.push(if matches!(c, '>' | '\t') { c } else { ' ' });
        }
    }
    prefix
}

/// The gaps to replace by a line ending and [`prefix`], so that each line has at most `limit` characters if possible.
pub(super) fn breaks(line: &Line<'_>, limit: usize) -> Vec<Range<usize>> {
    let end = line.text.trim_end().len();
    if starts_something(&line.text[line.content..end], line.below) {
        return Vec::new();
    }
    let continued = prefix(line).chars().count();
    let mut breaks = Vec::new();
    let mut last: Option<Range<usize>> = None;
    let (mut start, mut indent) = (0, 0);
    let safe = line
        .gaps
        .iter()
        .filter(|gap| gap.start > line.content && gap.end < end && is_safe(line.text, gap));
    for gap in safe.cloned().map(Some).chain([None]) {
        let piece = start..gap.as_ref().map_or(end, |gap| gap.start);
        if indent + line.text[piece].chars().count() > limit
            && let Some(gap) = last.take()
        {
            (start, indent) = (gap.end, continued);
            breaks.push(gap);
        }
        last = gap;
    }
    breaks
}

/// Whether a shorter first line could become a definition, a fence, a rule, an alert, HTML or a table.
fn starts_something(content: &str, below: &str) -> bool {
    let first_word = content.split_whitespace().next().unwrap_or_default();
    let delimiter_row = below.trim_start_matches([' ', '\t', '>']).trim_end();
    content.starts_with("```")
        || content.starts_with("[!")
        || (content.starts_with('[') && content.contains("]:"))
        || (content.starts_with('<') && !content.starts_with("<http"))
        || content.starts_with('|')
        || !first_word.contains(char::is_alphanumeric)
        || (content.contains('|')
            && !delimiter_row.is_empty()
            && delimiter_row
                .chars()
                .all(|c| matches!(c, '|' | '-' | ':' | ' ')))
}

/// Whether the line may end before the gap, and the next one begin after it.
fn is_safe(text: &str, gap: &Range<usize>) -> bool {
    let next_word = text[gap.end..].split([' ', '\t']).next();
    // A backslash at the end of a line is a hard break.
    !text[..gap.start].ends_with('\\') && !next_word.is_some_and(means_something_first)
}

/// Whether a word has a special meaning at the start of a line.
fn means_something_first(word: &str) -> bool {
    let after_number = word.trim_start_matches(|c: char| c.is_ascii_digit());
    word.starts_with(['#', '>', '-', '+', '=', '~', '|', ':'])
        || (word.starts_with('<') && !word.starts_with("<http"))
        || word.starts_with("```")
        || (word.starts_with('[') && word.contains("]:"))
        || word.chars().all(|c| matches!(c, '*' | '_'))
        || (after_number.len() < word.len() && matches!(after_number, "." | ")"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap_text(text: &str, content: usize, limit: usize) -> String {
        let spaces = text
            .match_indices(' ')
            .map(|(at, _)| at..at + 1)
            .filter(|gap| gap.start > content);
        let line = Line {
            text,
            content,
            gaps: spaces.collect(),
            below: "",
        };
        let mut out = text.to_owned();
        for gap in breaks(&line, limit).into_iter().rev() {
            out.replace_range(gap, &format!("\n{}", prefix(&line)));
        }
        out
    }

    #[test]
    fn lines_are_filled() {
        assert_eq!(
            wrap_text("one two three four", 0, 9),
            "one two\nthree\nfour"
        );
        assert_eq!(wrap_text("äöü äöü äöü", 0, 7), "äöü äöü\näöü");
        assert_eq!(wrap_text("unbreakably long", 0, 4), "unbreakably\nlong");
        assert_eq!(wrap_text("short", 0, 4), "short");
    }

    #[test]
    fn prefixes_are_kept() {
        assert_eq!(wrap_text("- one two", 2, 6), "- one\n  two");
        assert_eq!(wrap_text("> 1. one two", 5, 9), "> 1. one\n>    two");
        assert_eq!(wrap_text("> > one two", 4, 8), "> > one\n> > two");
        assert_eq!(
            wrap_text("- [^note]: one two", 11, 14),
            "- [^note]: one\n      two"
        );
    }

    #[test]
    fn no_line_begins_with_syntax() {
        for word in [
            "#", "-", "+", "1.", "12)", ">", "---", "***", "~~~", "```", "<div>", "[a]:", "|",
        ] {
            assert_eq!(
                wrap_text(&format!("some {word} words"), 0, 9),
                format!("some {word}\nwords"),
                "{word}"
            );
        }
        assert_eq!(wrap_text("some\\ words", 0, 5), "some\\ words");
        assert_eq!(wrap_text("[a]: b c d", 0, 5), "[a]: b c d");
        assert_eq!(wrap_text("--- by someone", 0, 5), "--- by someone");
    }
}
