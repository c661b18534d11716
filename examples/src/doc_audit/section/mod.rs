//! Documents and their sections.

mod lines;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::slug::Slugs;
use super::{html, markdown, wrap};
use lines::Lines;
pub use lines::Position;

/// A Markdown file and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Its path, as the user named it.
    pub path: PathBuf,
    /// The whole text, with its own line endings.
    pub text: String,
}

/// A heading and the text below it, up to the next heading.
///
/// A section has everything that the rules need, so that it can be checked alone. The texts of all sections together are the
/// document. Offsets and lines are those of the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The path of its document.
    pub path: PathBuf,
    /// Its heading; none for the text before the first heading.
    pub heading: Option<Heading>,
    /// The headings that enclose it, outermost first.
    pub parents: Vec<Parent>,
    /// Its range in bytes.
    pub bytes: Range<usize>,
    /// Its range in lines from 1.
    pub lines: Range<usize>,
    /// Its text with the heading.
    pub text: String,
    /// The anchors that links may use after `#`.
    pub anchors: Vec<String>,
    /// Its links and images.
    pub links: Vec<Link>,
    /// Its fenced code blocks.
    pub fences: Vec<Fence>,
    /// Its lines that are too long.
    pub long_lines: Vec<LongLine>,
}

impl Section {
    /// The level of the heading, `0` before the first one.
    pub fn level(&self) -> u8 {
        self.heading.as_ref().map_or(0, |heading| heading.level)
    }
}

/// The heading of a section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Its words, without markup.
    pub text: String,
    /// `1` to `6`.
    pub level: u8,
    /// The position of its first character, or of its first `#`.
    pub at: Position,
    /// The line of the first heading with the same text under the same parent.
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
    /// The destination, with escapes resolved.
    pub destination: String,
    /// The position of its beginning.
    pub at: Position,
    /// The range of the destination in the document, if it is written without escapes.
    pub written: Option<Range<usize>>,
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// The text after the opening fence.
    pub label: String,
    /// The position of its beginning.
    pub at: Position,
    /// The offset at which a label is inserted.
    pub label_at: usize,
}

/// A line that is too long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongLine {
    /// The position of the first character after the limit.
    pub at: Position,
    /// The number of its characters.
    pub length: usize,
    /// The limit.
    pub limit: usize,
    /// White space to replace by `continuation` to make it shorter; empty if this would change the meaning.
    pub breaks: Vec<Range<usize>>,
    /// A line ending, and the beginning of the next line.
    pub continuation: String,
}

/// Splits a document at its headings. An empty document is one section.
///
/// Headings within lists and block quotes do not split it, but they have anchors. `max_line` is the limit for a line of prose.
pub fn split(document: &Document, max_line: usize) -> Vec<Section> {
    let text = document.text.as_str();
    let facts = markdown::read(text);
    let lines = Lines::new(text);
    let mut sections = sections_by_heading(document, &facts.headings, &lines);

    for long in long_lines(&lines, &facts, max_line) {
        owner(&mut sections, long.at.offset).long_lines.push(long);
    }
    for (at, anchor) in anchors_of(facts.headings, facts.anchors) {
        owner(&mut sections, at).anchors.push(anchor);
    }
    for link in facts.links {
        let at = lines.position(link.bytes.start);
        owner(&mut sections, at.offset).links.push(Link {
            destination: link.destination,
            at,
            written: link.written,
        });
    }
    for fence in facts.fences {
        let at = lines.position(fence.at);
        owner(&mut sections, at.offset).fences.push(Fence {
            label: fence.label,
            at,
            label_at: fence.label_at,
        });
    }
    sections
}

/// All anchors of a text for links from other documents.
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

/// The sections with their headings and texts only.
fn sections_by_heading(
    document: &Document,
    headings: &[markdown::Heading],
    lines: &Lines<'_>,
) -> Vec<Section> {
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
        let at = lines.position(heading.at);
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

/// The section that contains an offset.
fn owner(sections: &mut [Section], offset: usize) -> &mut Section {
    let after = sections.partition_point(|section| section.bytes.start <= offset);
    &mut sections[after.saturating_sub(1)]
}

fn long_lines(lines: &Lines<'_>, facts: &markdown::Facts, limit: usize) -> Vec<LongLine> {
    let mut found = Vec::new();
    for number in 1..=lines.count() {
        let (start, line) = lines.get(number);
        let shown = line.trim_end();
        // A line has at least as many bytes as characters, so most lines end here.
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
            at: Position {
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

/// Whether a line overlaps any of the ranges. The ranges are sorted and disjoint.
fn touches(ranges: &[Range<usize>], line: Range<usize>) -> bool {
    let before = ranges.partition_point(|range| range.start < line.end);
    ranges[..before]
        .last()
        .is_some_and(|range| line.start < range.end)
}

/// Whether a line has one word, or one link with a full stop.
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
