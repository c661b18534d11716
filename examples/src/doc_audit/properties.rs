//! Properties of every document.

use std::path::Path;

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::check::{self, Finding, Rule};
use super::fix;
use super::markdown;
use super::section::{Document, split};
use super::targets::{Target, Targets};

fn check(document: &Document, max_line: usize) -> Vec<Finding> {
    let sections = split(document, max_line);
    let targets = Targets::gather(&sections, Path::new(""), |_| Target::Missing);
    sections
        .iter()
        .flat_map(|section| check::section(section, &targets))
        .collect()
}

fn pieces(pieces: &'static [&'static str]) -> BoxedStrategy<String> {
    prop::sample::select(pieces).prop_map(str::to_owned).boxed()
}

/// Markdown of pieces that have a meaning at the start of a line or within one.
fn documents() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé ]{1,12}".boxed(),
        4 => pieces(&[" ", "  ", "\n", "\n", "\r\n", "\n\n", "\t", "\n    ", "\n  "]),
        2 => pieces(&["# ", "### ", "##### ", "\n# a b\n", "\n### a\n", "\n---\n", "\n===\n", "+++\n"]),
        2 => pieces(&["\n- ", "\n1. ", "\n> ", "> ", "- ", "* ", "[ ] ", "12) ", "[^1]: ", "[^1]"]),
        2 => pieces(&["\n```\n", "\n~~~\n", "```", "`", "``", "\n> ```\n", "\n  ~~~~ \n"]),
        2 => pieces(&["[a b](#a_b)", "[a][r]", "\n[r]: #ab\n", "![i i](no \"t t\")", "<https://x.y>", "[", "](", ")"]),
        2 => pieces(&["*", "**", "_", "~~", "\\", "&amp;", "|", "\n|-|-|\n", "\n-|-\n", "[!NOTE]", ":"]),
        1 => pieces(&["<b>", "</b>", "\n<div>\n", "<!--", "-->", "<a id=x>", "<", ">", "\u{feff}", "日本 語", "e\u{301} "]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// The visible content. Line endings are spaces.
fn meaning(text: &str) -> Vec<String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_GFM;
    let mut seen: Vec<String> = Vec::new();
    let mut words = String::new();
    // Front matter is not Markdown.
    for event in Parser::new_ext(&text[markdown::read(text).body..], options) {
        match event {
            Event::Text(text) => words.push_str(&text),
            Event::SoftBreak => words.push(' '),
            other => {
                seen.push(
                    words
                        .split([' ', '\t'])
                        .filter(|word| !word.is_empty())
                        .collect::<Vec<_>>()
                        .join(" "),
                );
                words.clear();
                seen.push(match other {
                    Event::Start(Tag::Heading { .. }) => "heading".into(),
                    Event::End(TagEnd::Heading(_)) => "heading ends".into(),
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(label)))
                        if label.trim().is_empty() =>
                    {
                        format!("{:?}", Tag::CodeBlock(CodeBlockKind::Fenced("text".into())))
                    }
                    Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(label))) => {
                        format!(
                            "{:?}",
                            Tag::CodeBlock(CodeBlockKind::Fenced(label.trim().to_owned().into()))
                        )
                    }
                    other => format!("{other:?}")
                        .replace("a_b", "ab")
                        .replace("a-b", "ab"),
                });
            }
        }
    }
    seen.push(words);
    seen
}

/// The text without the parts that fixes may change: white space, and the `>` of continued quotes.
fn letters(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_whitespace() && *c != '>')
        .collect()
}

/// [`letters`] without labels, heading markers, and the differences between the anchors of [`documents`].
fn without_markers(text: &str) -> String {
    letters(text)
        .replace("text", "")
        .replace(['#', '-', '_'], "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn sections_make_up_the_document(text in documents(), max_line in 1usize..40) {
        let document = Document { path: "a.md".into(), text };
        let sections = split(&document, max_line);
        prop_assert_eq!(sections.iter().map(|section| section.text.as_str()).collect::<String>(), document.text);
        for section in &sections {
            for link in &section.links {
                prop_assert!(section.bytes.contains(&link.at.offset));
            }
        }
    }

    #[test]
    fn wrapping_changes_white_space_only(text in documents(), max_line in 1usize..40) {
        let document = Document { path: "a.md".into(), text };
        let mut findings = check(&document, max_line);
        findings.retain(|finding| finding.rule == Rule::LongLine);
        let fixed = fix::apply(&document, &findings);
        prop_assert_eq!(letters(&fixed.document.text), letters(&document.text));
        prop_assert_eq!(meaning(&fixed.document.text), meaning(&document.text), "{:?}", fixed.document.text);
    }

    #[test]
    fn fixes_lose_nothing(text in documents(), max_line in 1usize..40) {
        let document = Document { path: "a.md".into(), text };
        let findings = check(&document, max_line);
        let fixed = fix::apply(&document, &findings);
        prop_assert_eq!(fixed.findings, findings.iter().filter(|finding| finding.fixable()).count());

        prop_assert_eq!(without_markers(&fixed.document.text), without_markers(&document.text));
    }

    #[test]
    fn rounds_come_to_an_end(text in documents(), max_line in 1usize..40) {
        let mut document = Document { path: "a.md".into(), text };
        for _ in 0..50 {
            let findings = check(&document, max_line);
            let fixed = fix::apply(&document, &findings);
            if fixed.findings == 0 {
                return Ok(());
            }
            document = fixed.document;
        }
        prop_assert!(false, "still fixing: {:?}", document.text);
    }
}
