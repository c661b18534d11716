//! One pass over the events of the parser that collects the parts of the sections.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::html;

/// The parts of one document by kind, in the order of the document.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The offset of the prose: after a byte order mark and front matter.
    pub(super) body: usize,
    pub(super) headings: Vec<Heading>,
    /// Explicit `id` and `name` attributes.
    pub(super) anchors: Vec<(usize, String)>,
    pub(super) links: Vec<Link>,
    pub(super) fences: Vec<Fence>,
    /// Code, tables, link definitions: may have lines of any length.
    pub(super) exempt: Vec<Range<usize>>,
    /// HTML blocks.
    pub(super) html: Vec<Range<usize>>,
    /// The offset of the prose of each line, after list markers and `>`. Unknown for a line that begins within code.
    pub(super) leads: Vec<usize>,
    /// White space in prose that can become a line ending.
    pub(super) gaps: Vec<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Heading {
    pub(super) at: usize,
    pub(super) text: String,
    /// Zero for a heading that is only an anchor: in a list, a block quote or HTML.
    pub(super) level: u8,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) bytes: Range<usize>,
    pub(super) destination: String,
    /// The position of the destination, if it is written without escapes.
    pub(super) written: Option<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Fence {
    pub(super) at: usize,
    pub(super) label: String,
    /// The offset at which a label is inserted.
    pub(super) label_at: usize,
}

/// Parses a document. It never fails, because any text is Markdown.
pub(super) fn read(text: &str) -> Facts {
    let body = body_start(text);
    // The front matter is replaced by blanks, so that all offsets are those of the document.
    let blanked: String;
    let source = if body == 0 {
        text
    } else {
        let blank = |b: u8| if b == b'\n' { '\n' } else { ' ' };
        blanked = text[..body]
            .bytes()
            .map(blank)
            .chain(text[body..].chars())
            .collect();
        &blanked
    };
    let mut reader = Reader {
        text: source,
        ..Reader::default()
    };
    reader.facts.body = body;
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut events = Parser::new_ext(source, options).into_offset_iter();
    while let Some((event, bytes)) = events.next() {
        reader.event(event, bytes, |id| {
            let definition = events.reference_definitions().get(id)?;
            let after_label =
                definition.span.start + source[definition.span.clone()].find("]:")? + 2;
            find(source, after_label..definition.span.end, &definition.dest)
        });
    }
    let definitions = events.reference_definitions().iter();
    reader
        .facts
        .exempt
        .extend(definitions.map(|(_, definition)| definition.span.clone()));
    reader.facts.exempt.sort_by_key(|range| range.start);
    reader.facts
}

#[derive(Debug, Default)]
struct Reader<'a> {
    text: &'a str,
    facts: Facts,
    /// The number of open blocks around the current event.
    depth: usize,
    /// The open heading.
    heading: Option<Heading>,
    /// Open links, each with the present end of its text.
    links: Vec<(Link, LinkType, usize)>,
    /// Whether lines may be wrapped here: not in headings and tables.
    unbreakable: usize,
    /// Whether the current line has begun with something other than markers.
    begun: bool,
}

impl Reader<'_> {
    fn event(
        &mut self,
        event: Event<'_>,
        bytes: Range<usize>,
        definition: impl Fn(&str) -> Option<Range<usize>>,
    ) {
        if is_inline(&event) {
            if !self.begun {
                self.facts.leads.push(bytes.start);
            }
            // After a line ending, the next event has the end of the next line's markers.
            self.begun = !matches!(event, Event::SoftBreak | Event::HardBreak);
            if let Some((link, _, text_end)) = self.links.last_mut()
                && bytes != link.bytes
            {
                *text_end = bytes.end;
            }
        } else {
            self.begun = false;
        }
        match event {
            Event::Start(tag) => {
                self.depth += usize::from(is_block(&tag));
                self.start(tag, bytes, definition);
            }
            Event::End(tag) => self.end(tag),
            Event::Text(words) => {
                self.in_heading(&words);
                if self.unbreakable == 0 {
                    self.gaps(&bytes);
                }
            }
            Event::Code(code) => self.in_heading(&code),
            Event::SoftBreak | Event::HardBreak => self.in_heading("\n"),
            Event::InlineHtml(_) => self.html(bytes),
            _ => {}
        }
    }

    fn start(
        &mut self,
        tag: Tag<'_>,
        bytes: Range<usize>,
        definition: impl Fn(&str) -> Option<Range<usize>>,
    ) {
        match tag {
            Tag::Heading { level, .. } => {
                let level = if self.depth == 1 { level as u8 } else { 0 };
                self.heading = Some(Heading {
                    at: bytes.start,
                    text: String::new(),
                    level,
                });
                self.unbreakable += 1;
            }
            Tag::CodeBlock(kind) => {
                if let CodeBlockKind::Fenced(label) = kind {
                    self.fence(&label, &bytes);
                }
                self.facts.exempt.push(bytes);
                self.unbreakable += 1;
            }
            Tag::Table(_) => {
                self.facts.exempt.push(bytes);
                self.unbreakable += 1;
            }
            Tag::HtmlBlock => {
                let headings = html::headings(&self.text[bytes.clone()]).into_iter();
                self.facts
                    .headings
                    .extend(headings.map(|(at, text)| Heading {
                        at: bytes.start + at,
                        text,
                        level: 0,
                    }));
                self.facts.html.push(bytes.clone());
                self.html(bytes);
            }
            Tag::Link {
                link_type,
                dest_url,
                id,
                ..
            } => self.link(link_type, &dest_url, &id, bytes, 1, definition),
            Tag::Image {
                link_type,
                dest_url,
                id,
                ..
            } => self.link(link_type, &dest_url, &id, bytes, 2, definition),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        self.depth -= usize::from(!matches!(
            tag,
            TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image
        ));
        match tag {
            TagEnd::Heading(_) => {
                self.unbreakable -= 1;
                self.facts.headings.extend(self.heading.take());
            }
            TagEnd::CodeBlock | TagEnd::Table => self.unbreakable -= 1,
            TagEnd::Link | TagEnd::Image => {
                let Some((mut link, kind, text_end)) = self.links.pop() else {
                    return;
                };
                if kind == LinkType::Inline {
                    link.written = find(self.text, text_end..link.bytes.end, &link.destination);
                }
                if let Some((_, _, outer_end)) = self.links.last_mut() {
                    *outer_end = link.bytes.end;
                }
                // Inner links close first, but the order of their beginnings is needed.
                let place = self
                    .facts
                    .links
                    .partition_point(|other| other.bytes.start <= link.bytes.start);
                self.facts.links.insert(place, link);
            }
            _ => {}
        }
    }

    fn link(
        &mut self,
        kind: LinkType,
        destination: &CowStr<'_>,
        id: &str,
        bytes: Range<usize>,
        marker: usize,
        definition: impl Fn(&str) -> Option<Range<usize>>,
    ) {
        // `<me@example.org>` has no scheme in its text.
        if kind == LinkType::Email {
            return self.links.push((
                Link {
                    bytes,
                    destination: "mailto:".into(),
                    written: None,
                },
                kind,
                0,
            ));
        }
        let written = definition(id).filter(|_| kind != LinkType::Inline);
        let text_end = bytes.start + marker;
        self.links.push((
            Link {
                bytes,
                destination: destination.to_string(),
                written,
            },
            kind,
            text_end,
        ));
    }

    fn fence(&mut self, label: &str, bytes: &Range<usize>) {
        let opening = &self.text[bytes.clone()];
        let markers = opening.len() - opening.trim_start_matches(['`', '~']).len();
        self.facts.fences.push(Fence {
            at: bytes.start,
            label: label.trim().to_owned(),
            label_at: bytes.start + markers,
        });
    }

    fn html(&mut self, bytes: Range<usize>) {
        for attribute in html::attributes(&self.text[bytes.clone()]) {
            let value = bytes.start + attribute.bytes.start..bytes.start + attribute.bytes.end;
            if attribute.is_anchor() {
                self.facts
                    .anchors
                    .push((value.start, attribute.value.to_owned()));
            } else if attribute.is_link() {
                let destination = attribute.value.replace("&amp;", "&");
                let written = (destination == attribute.value).then(|| value.clone());
                self.facts.links.push(Link {
                    bytes: value,
                    destination,
                    written,
                });
            }
        }
    }

    fn in_heading(&mut self, words: &str) {
        // The text of an image is not text on the page.
        let in_image = self
            .links
            .iter()
            .any(|(link, ..)| self.text[link.bytes.clone()].starts_with('!'));
        if let Some(heading) = self.heading.as_mut().filter(|_| !in_image) {
            heading.text.push_str(words);
        }
    }

    fn gaps(&mut self, bytes: &Range<usize>) {
        let is_gap = |b: u8| matches!(b, b' ' | b'\t');
        let source = self.text.as_bytes();
        let mut at = bytes.start;
        while let Some(offset) = source[at..bytes.end].iter().position(|&b| is_gap(b)) {
            let start = at + offset;
            let length = source[start..bytes.end]
                .iter()
                .take_while(|&&b| is_gap(b))
                .count();
            at = start + length;
            self.facts.gaps.push(start..at);
        }
    }
}

fn is_inline(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => !is_block(tag),
        Event::End(tag) => matches!(
            tag,
            TagEnd::Emphasis
                | TagEnd::Strong
                | TagEnd::Strikethrough
                | TagEnd::Link
                | TagEnd::Image
        ),
        Event::Html(_) | Event::Rule => false,
        _ => true,
    }
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

/// The first position of `wanted` in a part of the text.
fn find(text: &str, part: Range<usize>, wanted: &str) -> Option<Range<usize>> {
    if wanted.is_empty() {
        return None;
    }
    let start = part.start + text.get(part)?.find(wanted)?;
    Some(start..start + wanted.len())
}

/// Skips a byte order mark and YAML or TOML front matter.
fn body_start(text: &str) -> usize {
    let start = if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let mut lines = text[start..].split_inclusive('\n');
    let fence = lines.next().map(str::trim_end);
    let Some(fence @ ("---" | "+++")) = fence else {
        return start;
    };
    let mut end = start
        + text[start..]
            .find('\n')
            .map_or(text.len() - start, |at| at + 1);
    for line in lines {
        end += line.len();
        if line.trim_end() == fence || (fence == "---" && line.trim_end() == "...") {
            return end;
        }
    }
    start
}
