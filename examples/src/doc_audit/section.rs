//! Documents, and the sections they fall into.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::slug::Slugs;
use super::{html, markdown, wrap};

/// A Markdown file and what it said when it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Where it is, as the user named it.
    pub path: PathBuf,
    /// All of it, with its own line endings.
    pub text: String,
}

/// A heading and what stands below it, up to the next heading.
///
/// A section knows everything that the rules ask about it, so that it can be judged alone. The texts of the sections of
/// a document, one after the other, are the document. Offsets and lines are those of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The document it is from.
    pub path: PathBuf,
    /// Its heading; none for what stands before the first one.
    pub heading: Option<Heading>,
    /// The headings it stands under, outermost first.
    pub parents: Vec<Parent>,
    /// Where it is, in bytes.
    pub bytes: Range<usize>,
    /// Where it is, in lines from 1.
    pub lines: Range<usize>,
    /// What it says, heading included.
    pub text: String,
    /// What a link may name after `#` to get here.
    pub anchors: Vec<String>,
    /// Its links and images.
    pub links: Vec<Link>,
    /// Its fenced code blocks.
    pub fences: Vec<Fence>,
    /// Its lines that are longer than they may be.
    pub long_lines: Vec<LongLine>,
}

impl Section {
    /// The level of the heading, `0` before the first one.
    pub fn level(&self) -> u8 {
        self.heading.as_ref().map_or(0, |heading| heading.level)
    }
}

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// In bytes, from 0.
    pub offset: usize,
}

/// The heading of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Its words, without markup.
    pub text: String,
    /// `1` to `6`.
    pub level: u8,
    /// The first of its characters; the first `#`, if it is written with `#`.
    pub at: Place,
    /// The line of the first heading of the same text under the same parent.
    pub repeats: Option<usize>,
}

/// A heading that encloses a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its words, without markup.
    pub text: String,
    /// `1` to `6`.
    pub level: u8,
}

/// A link, an image, or an `href` or `src` in HTML.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Where it leads, escapes resolved.
    pub destination: String,
    /// Where it begins.
    pub at: Place,
    /// The bytes of the document that spell the destination out, if they are the same as it.
    pub written: Option<Range<usize>>,
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// What follows the opening fence.
    pub label: String,
    /// Where it begins.
    pub at: Place,
    /// Where in the document a label goes.
    pub label_at: usize,
}

/// A line that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongLine {
    /// The first character that is too many.
    pub at: Place,
    /// How many characters it has.
    pub length: usize,
    /// How many it may have.
    pub limit: usize,
    /// White space to replace by `continuation` to make it shorter; empty where that would change what it means.
    pub breaks: Vec<Range<usize>>,
    /// A line ending, and what the next line must begin with.
    pub continuation: String,
}

/// Splits a document at its headings; even an empty one is one section.
///
/// Headings within lists and block quotes do not split it, but can be linked to. `max_line` is the most characters a
/// line of prose may have.
pub fn split(document: &Document, max_line: usize) -> Vec<Section> {
    let text = document.text.as_str();
    let facts = markdown::read(text);
    let lines = Lines::new(text);
    let mut sections = headed(document, &facts.headings, &lines);

    for long in long_lines(&lines, &facts, max_line) {
        owner(&mut sections, long.at.offset).long_lines.push(long);
    }
    for (at, anchor) in anchors_of(facts.headings, facts.anchors) {
        owner(&mut sections, at).anchors.push(anchor);
    }
    for link in facts.links {
        let at = lines.place(link.bytes.start);
        owner(&mut sections, at.offset).links.push(Link {
            destination: link.destination,
            at,
            written: link.written,
        });
    }
    for fence in facts.fences {
        let at = lines.place(fence.at);
        owner(&mut sections, at.offset).fences.push(Fence {
            label: fence.label,
            at,
            label_at: fence.label_at,
        });
    }
    sections
}

/// All anchors of a text, as far as links from elsewhere are concerned.
pub(super) fn anchors(text: &str) -> impl Iterator<Item = String> {
    let facts = markdown::read(text);
    anchors_of(facts.headings, facts.anchors).map(|(_, anchor)| anchor)
}

fn anchors_of(
    mut headings: Vec<markdown::Heading>,
    explicit: Vec<(usize, String)>,
) -> impl Iterator<Item = (usize, String)> {
    headings.sort_by_key(|heading| heading.at);
    let mut slugs = Slugs::default();
    let slugs = headings
        .into_iter()
        .map(move |heading| (heading.at, slugs.next(&heading.text)));
    slugs.chain(explicit)
}

/// The sections with their headings and texts, and nothing else yet.
fn headed(document: &Document, headings: &[markdown::Heading], lines: &Lines<'_>) -> Vec<Section> {
    let text = document.text.as_str();
    let tops: Vec<_> = headings
        .iter()
        .filter(|heading| heading.level > 0)
        .collect();
    let starts: Vec<_> = tops
        .iter()
        .map(|heading| lines.start_of(heading.at))
        .collect();
    let blank = |text: &str| text.trim_start_matches('\u{feff}').trim().is_empty();

    let mut sections = Vec::with_capacity(tops.len() + 1);
    let section = |heading, parents, bytes: Range<usize>| Section {
        path: document.path.clone(),
        heading,
        parents,
        lines: lines.number(bytes.start)
            ..lines.number(bytes.end.saturating_sub(1).max(bytes.start)) + 1,
        text: text[bytes.clone()].to_owned(),
        bytes,
        anchors: Vec::new(),
        links: Vec::new(),
        fences: Vec::new(),
        long_lines: Vec::new(),
    };
    // Blank lines before the first heading are part of its section.
    let first = starts.first().copied().unwrap_or(text.len());
    let mut from = 0;
    if starts.is_empty() || !blank(&text[..first]) {
        sections.push(section(None, Vec::new(), 0..first));
        from = first;
    }
    // Each open heading with the headings directly below it, by text.
    let mut open: Vec<(Parent, HashMap<&str, usize>)> = Vec::new();
    let mut outermost: HashMap<&str, usize> = HashMap::new();
    for (i, heading) in tops.iter().enumerate() {
        let at = lines.place(heading.at);
        while open
            .pop_if(|(parent, _)| parent.level >= heading.level)
            .is_some()
        {}
        let siblings = open.last_mut().map_or(&mut outermost, |(_, below)| below);
        let name = heading.text.trim();
        let first = *siblings.entry(name).or_insert(at.line);
        let found = Heading {
            text: name.to_owned(),
            level: heading.level,
            at,
            repeats: (first != at.line).then_some(first),
        };
        let parents = open.iter().map(|(parent, _)| parent.clone()).collect();
        let end = starts.get(i + 1).copied().unwrap_or(text.len());
        sections.push(section(Some(found), parents, from..end));
        from = end;
        open.push((
            Parent {
                text: name.to_owned(),
                level: heading.level,
            },
            HashMap::new(),
        ));
    }
    sections
}

/// The section that an offset is in.
fn owner(sections: &mut [Section], offset: usize) -> &mut Section {
    let after = sections.partition_point(|section| section.bytes.start <= offset);
    &mut sections[after.saturating_sub(1)]
}

fn long_lines(lines: &Lines<'_>, facts: &markdown::Facts, limit: usize) -> Vec<LongLine> {
    let mut found = Vec::new();
    for number in 1..=lines.count() {
        let (start, line) = lines.get(number);
        let shown = line.trim_end();
        // Bytes are never fewer than characters: most lines end here.
        if shown.len() <= limit || start < facts.body || shown.chars().count() <= limit {
            continue;
        }
        let end = start + shown.len();
        let in_html = touches(&facts.html, start..end);
        if touches(&facts.exempt, start..end) || (in_html && html::only_tags(shown)) {
            continue;
        }
        let lead = facts.leads[facts.leads.partition_point(|&lead| lead < start)..].first();
        let markers = shown.len() - shown.trim_start_matches([' ', '\t', '>']).len();
        let lead = lead.filter(|&&lead| lead < end);
        let content = lead.map_or(markers, |lead| lead - start);
        if is_only_link(&shown[content..], start + content, &facts.links) {
            continue;
        }
        let gaps = &facts.gaps[facts.gaps.partition_point(|gap| gap.start < start)..];
        let on_line = gaps
            .iter()
            .take_while(|gap| lead.is_some() && gap.end <= end);
        let (_, below) = lines.get(number + 1);
        let view = wrap::Line {
            text: line,
            content,
            gaps: on_line
                .map(|gap| gap.start - start..gap.end - start)
                .collect(),
            below,
        };
        let breaks = wrap::breaks(&view, limit)
            .into_iter()
            .map(|gap| gap.start + start..gap.end + start);
        let (too_many, _) = shown.char_indices().nth(limit).unwrap_or_default();
        found.push(LongLine {
            at: Place {
                line: number,
                column: limit + 1,
                offset: start + too_many,
            },
            length: shown.chars().count(),
            limit,
            breaks: breaks.collect(),
            continuation: format!("{}{}", lines.ending(number), wrap::prefix(&view)),
        });
    }
    found
}

/// Whether a line meets any of the ranges, which are in order and apart from each other.
fn touches(ranges: &[Range<usize>], line: Range<usize>) -> bool {
    let before = ranges.partition_point(|range| range.start < line.end);
    ranges[..before]
        .last()
        .is_some_and(|range| line.start < range.end)
}

/// Whether a line holds one word, or one link and the full stop after it.
fn is_only_link(content: &str, start: usize, links: &[markdown::Link]) -> bool {
    let task = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find(|task| content.starts_with(**task));
    let skipped = task.map_or(0, |task| task.len());
    let (content, start) = (&content[skipped..], start + skipped);
    let end = start
        + content
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')'])
            .len();
    let from_here = &links[links.partition_point(|link| link.bytes.start < start)..];
    let linked = from_here
        .iter()
        .take_while(|link| link.bytes.start == start)
        .any(|link| end <= link.bytes.end);
    linked || !content.contains(char::is_whitespace)
}

/// Where the lines of a text begin.
#[derive(Debug)]
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let next = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            text,
            starts: [0].into_iter().chain(next).collect(),
        }
    }

    fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line at an offset, from 1.
    fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    fn start_of(&self, offset: usize) -> usize {
        self.starts[self.number(offset) - 1]
    }

    fn place(&self, offset: usize) -> Place {
        let column = self.text[self.start_of(offset)..offset]
            .trim_start_matches('\u{feff}')
            .chars()
            .count()
            + 1;
        Place {
            line: self.number(offset),
            column,
            offset,
        }
    }

    /// Where a line starts and what it says, without its ending; nothing beyond the last one.
    fn get(&self, number: usize) -> (usize, &'a str) {
        let Some(&start) = self.starts.get(number - 1) else {
            return (self.text.len(), "");
        };
        let end = self.starts.get(number).copied().unwrap_or(self.text.len());
        (start, self.text[start..end].trim_end_matches(['\n', '\r']))
    }

    /// The ending of a line, or of the first line where the last one has none.
    fn ending(&self, number: usize) -> &'static str {
        let end = self.starts.get(number).or(self.starts.get(1));
        if end.is_some_and(|&end| self.text[..end].ends_with("\r\n")) {
            "\r\n"
        } else {
            "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(text: &str) -> Vec<Section> {
        split(
            &Document {
                path: "a.md".into(),
                text: text.to_owned(),
            },
            20,
        )
    }

    fn headings(text: &str) -> Vec<String> {
        let named = |section: &Section| {
            let parents: String = section
                .parents
                .iter()
                .flat_map(|parent| [&parent.text, "/"])
                .collect();
            let name = section.heading.as_ref().map_or("", |heading| &heading.text);
            format!("{}{parents}{name}", section.level())
        };
        sections(text).iter().map(named).collect()
    }

    fn anchors(text: &str) -> Vec<String> {
        sections(text)
            .into_iter()
            .flat_map(|section| section.anchors)
            .collect()
    }

    fn destinations(text: &str) -> Vec<String> {
        sections(text)
            .into_iter()
            .flat_map(|section| section.links)
            .map(|link| link.destination)
            .collect()
    }

    #[test]
    fn empty_documents_are_one_section() {
        for text in ["", "\n", "\u{feff}", "words\n"] {
            let found = sections(text);
            assert_eq!(found.len(), 1, "{text:?}");
            assert_eq!(
                (found[0].text.as_str(), found[0].heading.as_ref()),
                (text, None)
            );
        }
        assert_eq!(sections("")[0].lines, 1..2);
    }

    #[test]
    fn headings_split() {
        assert_eq!(
            headings("a\n# B\n## C\n### D\n## E\n# F\n"),
            ["0", "1B", "2B/C", "3B/C/D", "2B/E", "1F"]
        );
        assert_eq!(headings("\n\n# `B` *c* [d](e) ![f](g) #\n"), ["1B c d"]);
        assert_eq!(headings("B\n=\n\nC\nc\n---\n\n----\n"), ["1B", "2B/C\nc"]);
        assert_eq!(headings("\u{feff}# B\n"), ["1B"]);
        assert_eq!(headings("# B\r\n\r\n## C\r\ntext\r\n"), ["1B", "2B/C"]);
    }

    #[test]
    fn only_headings_of_the_document_split() {
        assert_eq!(
            headings("- # B\n\n> # C\n\n~~~~\n# D\n~~~\n~~~~\n\n    # E\n\n<!--\n# F\n-->\n"),
            ["0"]
        );
        assert_eq!(headings("---\ntitle: x\n# y\n---\n# B\n"), ["0", "1B"]);
        assert_eq!(headings("+++\n# y\n+++\r\n# B\n"), ["0", "1B"]);
        assert_eq!(
            headings("---\n\n# B\n"),
            ["0", "1B"],
            "a rule is not front matter"
        );
    }

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let found = sections("---\nü: x\n---\r\n# Ü\r\n\r\nüü [x](y)\r\n\r\n> ```\r\n> ```\r\n");
        let heading = found[1].heading.as_ref().unwrap();
        assert_eq!((heading.at.line, heading.at.column), (4, 1));
        assert_eq!(found[1].lines, 4..10);
        let link = found[1].links[0].at;
        assert_eq!((link.line, link.column), (6, 4));
        let fence = found[1].fences[0].at;
        assert_eq!((fence.line, fence.column), (8, 3));
        assert_eq!(sections("\u{feff}[x](y)")[0].links[0].at.column, 1);
    }

    #[test]
    fn repeated_headings_have_the_same_parent() {
        let repeats = |text: &str| -> Vec<usize> {
            sections(text)
                .into_iter()
                .filter_map(|section| section.heading?.repeats)
                .collect()
        };
        assert_eq!(repeats("# A\n## B\n# C\n## B\n"), [0; 0]);
        assert_eq!(repeats("# A\n## B\n### D\n## C\n## B\n## B\n"), [2, 2]);
        assert_eq!(repeats("# A\n# A\n"), [1]);
    }

    #[test]
    fn anchors_are_found_everywhere() {
        assert_eq!(
            anchors("# A\n\n- ## A\n\n> # B\n\n# A\n"),
            ["a", "a-1", "b", "a-2"]
        );
        assert_eq!(
            anchors("<a name=\"x\"></a>\n<h1 align=center>Big <b>T</b></h1>\n\ntext <a id='y'>\n"),
            ["big-t", "x", "y"]
        );
    }

    #[test]
    fn links_are_found_everywhere() {
        let text = "# [a](1)\n\n- ![b](2)\n  | x |\n  |---|\n  | [c](3) |\n\n[![d](4)](5) <https://6> <me@x.org>\n\
                    [e][r] [r] [r][]\n\n[r]: 7 \"t\"\n\n<img src=\"8\"> <a href='9'>x</a>\n\n`[f](10)`\n";
        let mut found = destinations(text);
        found.sort();
        assert_eq!(
            found,
            [
                "1",
                "2",
                "3",
                "4",
                "5",
                "7",
                "7",
                "7",
                "8",
                "9",
                "https://6",
                "mailto:"
            ]
        );
    }

    #[test]
    fn destinations_are_known_where_they_are_written() {
        let text = "[x](x) [a [b](b) c][r] ![i](<i i> \"i\") [e](a&amp;b) [](n) [t [u]](#u)\n\n[r]: <r#s> 'r#s'\n\n<a href=h>h</a>\n";
        let found: Vec<_> = sections(text).swap_remove(0).links.into_iter().collect();
        for link in &found {
            match link.destination.as_str() {
                "a&b" => assert_eq!(link.written, None),
                destination => assert_eq!(&text[link.written.clone().unwrap()], destination),
            }
        }
        let x = found.iter().find(|link| link.destination == "x").unwrap();
        assert_eq!(x.written, Some(4..5));
    }

    #[test]
    fn fences_of_all_kinds() {
        let text = "```rust\n```\n~~~\n~~~\n- a\n\n  ````\n  ```\n  ````\n\n      ```\n      code\n\n> ~~~ \tc d \n";
        let found = sections(text).swap_remove(0).fences;
        let labels: Vec<_> = found
            .iter()
            .map(|fence| (fence.at.line, fence.label.as_str()))
            .collect();
        assert_eq!(labels, [(1, "rust"), (3, ""), (7, ""), (14, "c d")]);
        assert_eq!(
            &text[..found[2].label_at][text[..found[2].label_at].len() - 4..],
            "````"
        );
    }

    #[test]
    fn long_lines_are_prose() {
        let long = |text: &str| sections(text).swap_remove(0).long_lines;
        let x = "x".repeat(30);
        for text in [
            format!("```text\na {x}\n```"),
            format!("a\n\n    b {x}"),
            format!("|a {x}|\n|---|\n|b {x}|"),
            format!("- [a b]({x})."),
            format!("- [ ] https://{x}"),
            format!("> 1. https://{x}"),
            format!("[![a b]({x})](x)"),
            format!("a [r]\n\n[r]: {x} 'a b'"),
            format!("---\na: b {x}\n---\n"),
            format!("<p align=center><img src=\"{x}\"></p>"),
            "äöüßäöü äöüßäöü ab\r\n".into(),
        ] {
            assert_eq!(long(&text), [], "{text}");
        }
        let prose = long("- äöüßäöü äöüßäöü äöü äöü\r\n").swap_remove(0);
        assert_eq!(
            (prose.length, prose.at.column, prose.continuation.as_str()),
            (25, 21, "\r\n  ")
        );
        assert_eq!(prose.breaks.len(), 1);
        assert_eq!(long("<p>many words in a block of tags</p>\n")[0].breaks, []);
        assert_eq!(long("Setext headings cannot be broken\n---\n").len(), 1);
    }

    #[test]
    fn sections_survive_storage() {
        for section in sections("# A\n\n```\n```\n[x](y#z) words that go on and on and on\n") {
            let json = serde_json::to_string(&section).unwrap();
            assert_eq!(serde_json::from_str::<Section>(&json).unwrap(), section);
        }
    }
}
