//! The little of HTML that Markdown files use: targets, links and headings inside tags.

use std::ops::Range;

/// One attribute of a tag, with the position of its value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Attribute<'a> {
    pub(super) tag: &'a str,
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) bytes: Range<usize>,
}

impl Attribute<'_> {
    /// Whether this is the target of links.
    pub(super) fn is_anchor(&self) -> bool {
        self.name.eq_ignore_ascii_case("id")
            || (self.name.eq_ignore_ascii_case("name") && self.tag.eq_ignore_ascii_case("a"))
    }

    /// Whether this is a link.
    pub(super) fn is_link(&self) -> bool {
        (self.name.eq_ignore_ascii_case("href") && self.tag.eq_ignore_ascii_case("a"))
            || (self.name.eq_ignore_ascii_case("src") && self.tag.eq_ignore_ascii_case("img"))
    }
}

/// All quoted or bare attribute values, in order. Comments are skipped.
pub(super) fn attributes(html: &str) -> Vec<Attribute<'_>> {
    let mut found = Vec::new();
    for tag in tags(html) {
        let name_end = end_of(html, tag.start + 1, |c| !c.is_ascii_alphanumeric());
        let name = &html[tag.start + 1..name_end];
        let mut at = name_end;
        while at < tag.end {
            let start = end_of(html, at, |c| !c.is_whitespace() && c != '/');
            let end = end_of(html, start, |c| {
                c.is_whitespace() || matches!(c, '=' | '>' | '/')
            });
            if end == start {
                at = start + html[start..].chars().next().map_or(1, char::len_utf8);
                continue;
            }
            at = end;
            let equals = end_of(html, end, |c| !c.is_whitespace());
            if !html[equals..].starts_with('=') {
                continue;
            }
            let value = end_of(html, equals + 1, |c| !c.is_whitespace());
            let quote = html[value..]
                .chars()
                .next()
                .filter(|c| matches!(c, '"' | '\''));
            let bytes = match quote {
                Some(quote) => value + 1..end_of(html, value + 1, |c| c == quote),
                None => value..end_of(html, value, |c| c.is_whitespace() || c == '>'),
            };
            at = bytes.end + usize::from(quote.is_some());
            if bytes.end <= tag.end {
                found.push(Attribute {
                    tag: name,
                    name: &html[start..end],
                    value: &html[bytes.clone()],
                    bytes,
                });
            }
        }
    }
    found
}

/// The text of `<h1>` to `<h6>`, with offsets.
pub(super) fn headings(html: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    let mut text_from = 0;
    for tag in tags(html) {
        if let Some((_, text)) = &mut open {
            text.push_str(&html[text_from..tag.start]);
        }
        text_from = tag.end;
        match html.as_bytes()[tag.start + 1..tag.end] {
            [
                b'h' | b'H',
                b'1'..=b'6',
                b' ' | b'>' | b'\t' | b'\r' | b'\n',
                ..,
            ] => {
                open = Some((tag.start, String::new()));
            }
            [b'/', b'h' | b'H', b'1'..=b'6', ..] => found.extend(open.take()),
            _ => {}
        }
    }
    found
}

/// Whether a line has only tags. Such a line shows pictures or links and cannot be wrapped.
pub(super) fn only_tags(line: &str) -> bool {
    let mut rest = 0;
    for tag in tags(line) {
        if !line[rest..tag.start].trim().is_empty() {
            return false;
        }
        rest = tag.end;
    }
    rest > 0 && line[rest..].trim().is_empty()
}

/// The ranges of all tags, `<` to `>`. A `>` inside quotes does not end a tag.
fn tags(html: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|offset| at + offset) {
        let rest = &html[start + 1..];
        if rest.starts_with("!--") {
            let Some(end) = rest.find("-->") else { break };
            at = start + 1 + end + 3;
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
            let mut quote = None;
            let end = end_of(html, start + 1, |c| {
                match quote {
                    Some(open) if c == open => quote = None,
                    None if matches!(c, '"' | '\'') => quote = Some(c),
                    _ => {}
                }
                c == '>' && quote.is_none()
            });
            if end == html.len() {
                break;
            }
            found.push(start..end + 1);
            at = end + 1;
        } else {
            at = start + 1;
        }
    }
    found
}

/// The offset of the first character at or after `from` that `stop` accepts, or the end.
fn end_of(html: &str, from: usize, stop: impl FnMut(char) -> bool) -> usize {
    let Some(rest) = html.get(from..) else {
        return html.len();
    };
    rest.find(stop).map_or(html.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_all_quotings() {
        let html = "<a id='x y' name=z><img alt=\"a > b\" src = \"p.png\"/>\n<!-- <a id=no> --><p hidden id=ü>";
        let found: Vec<_> = attributes(html)
            .into_iter()
            .map(|a| (a.tag, a.name, a.value))
            .collect();
        assert_eq!(
            found,
            [
                ("a", "id", "x y"),
                ("a", "name", "z"),
                ("img", "alt", "a > b"),
                ("img", "src", "p.png"),
                ("p", "id", "ü")
            ]
        );
        for attribute in attributes(html) {
            assert_eq!(&html[attribute.bytes.clone()], attribute.value);
        }
    }

    #[test]
    fn broken_html_does_not_panic() {
        for html in [
            "",
            "<",
            "<a",
            "<a href=",
            "<a href='",
            "<a ==>",
            "<é>",
            "a < b > c",
            "<!--",
            "</>",
            "<a / / é=ß>",
        ] {
            attributes(html);
            headings(html);
            only_tags(html);
        }
    }

    #[test]
    fn headings_in_tags() {
        let html = "<h1 align=\"center\">\n  <b>The</b> Title\n</h1><hr><h2>Two</h2>";
        let found: Vec<_> = headings(html)
            .into_iter()
            .map(|(_, text)| text.trim().to_owned())
            .collect();
        assert_eq!(found, ["The Title", "Two"]);
    }

    #[test]
    fn lines_of_tags() {
        assert!(only_tags("  <a href=\"x\"><img src=\"y\"></a> "));
        assert!(!only_tags("<p>words</p>"));
        assert!(!only_tags(""));
    }
}
