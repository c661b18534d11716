//! Tests of the sections of a document.

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
    assert!(
        long("<p>many words in a block of tags</p>\n")[0]
            .breaks
            .is_empty()
    );
    assert_eq!(long("Setext headings cannot be broken\n---\n").len(), 1);
}

#[test]
fn sections_survive_storage() {
    for section in sections("# A\n\n```\n```\n[x](y#z) words that go on and on and on\n") {
        let json = serde_json::to_string(&section).unwrap();
        assert_eq!(serde_json::from_str::<Section>(&json).unwrap(), section);
    }
}
