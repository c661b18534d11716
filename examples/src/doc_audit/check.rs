//! The rules of the audit, and their findings.

use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::section::{Link, Position, Section};
use super::slug;
use super::targets::{Destination, Target, Targets, normal};

/// A rule for documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A link or an image to a file that does not exist.
    DeadLink,
    /// A link to a heading that does not exist.
    DeadAnchor,
    /// A heading more than one level below its parent.
    SkippedLevel,
    /// A code fence without a language.
    UnlabelledFence,
    /// A line that is too long.
    LongLine,
    /// A heading with the same text under the same parent.
    RepeatedHeading,
}

impl Rule {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeadLink => "dead-link",
            Self::DeadAnchor => "dead-anchor",
            Self::SkippedLevel => "skipped-level",
            Self::UnlabelledFence => "unlabelled-fence",
            Self::LongLine => "long-line",
            Self::RepeatedHeading => "repeated-heading",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A violation of a rule, with its position and its fix.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The document.
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The rule that found it.
    pub rule: Rule,
    /// The description.
    pub message: String,
    /// The edits that fix it. They are applied together. Empty if a person must decide.
    pub edits: Vec<Edit>,
}

impl Finding {
    /// Whether [`fix::apply`](super::fix::apply) can fix it.
    pub fn fixable(&self) -> bool {
        !self.edits.is_empty()
    }
}

/// A change of the text of a document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edit {
    /// The offset in bytes.
    pub offset: usize,
    /// The present text.
    pub old: String,
    /// The new text.
    pub new: String,
}

impl Edit {
    /// The bytes that it replaces.
    pub fn bytes(&self) -> Range<usize> {
        self.offset..self.offset + self.old.len()
    }
}

/// A rule checks one section and adds its findings.
type Check = fn(&Section, &Targets, &mut Vec<Finding>);

/// All rules.
const RULES: [Check; 5] = [
    links_lead_somewhere,
    levels_are_not_skipped,
    fences_are_labelled,
    lines_are_short,
    headings_are_unique,
];

/// Applies every rule to one section. Findings have the order of the text.
pub fn section(section: &Section, targets: &Targets) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in RULES {
        rule(section, targets, &mut findings);
    }
    findings.sort();
    findings
}

fn links_lead_somewhere(section: &Section, targets: &Targets, findings: &mut Vec<Finding>) {
    for link in &section.links {
        if link.destination.trim().is_empty() {
            findings.push(finding(
                section,
                link.at,
                Rule::DeadLink,
                "the link has no target".into(),
                Vec::new(),
            ));
            continue;
        }
        let Some(destination) = targets.resolve(&section.path, &link.destination) else {
            continue;
        };
        match targets.at(&destination.path) {
            Target::Exists => {}
            Target::Missing => {
                let message = format!("`{}` does not exist", destination.path.display());
                findings.push(finding(
                    section,
                    link.at,
                    Rule::DeadLink,
                    message,
                    Vec::new(),
                ));
            }
            Target::Markdown(anchors) => {
                findings.extend(dead_anchor(section, link, &destination, anchors));
            }
        }
    }
}

/// Checks the part of a link after `#`.
fn dead_anchor(
    section: &Section,
    link: &Link,
    destination: &Destination,
    anchors: &BTreeSet<String>,
) -> Option<Finding> {
    let fragment = destination.fragment.as_deref()?;
    let wanted = fragment.strip_prefix("user-content-").unwrap_or(fragment);
    if wanted.is_empty() || wanted.eq_ignore_ascii_case("top") || anchors.contains(wanted) {
        return None;
    }
    let mut message = if destination.path == normal(&section.path) {
        format!("nothing in this document has the anchor `#{wanted}`")
    } else {
        format!(
            "nothing in `{}` has the anchor `#{wanted}`",
            destination.path.display()
        )
    };
    let mut edits = Vec::new();
    if let Some(similar) = slug::similar(wanted, anchors) {
        _ = write!(message, "; did you mean `#{similar}`?");
        let hash = link.destination.find('#').map(|hash| hash + 1);
        if let (Some(written), Some(start)) = (&link.written, hash) {
            edits.push(Edit {
                offset: written.start + start,
                old: link.destination[start..].to_owned(),
                new: similar.to_owned(),
            });
        }
    }
    Some(finding(section, link.at, Rule::DeadAnchor, message, edits))
}

fn levels_are_not_skipped(section: &Section, _: &Targets, findings: &mut Vec<Finding>) {
    let (Some(heading), Some(parent)) = (&section.heading, section.parents.last()) else {
        return;
    };
    let expected = parent.level + 1;
    if heading.level <= expected {
        return;
    }
    let message = format!(
        "a heading of level {} directly below one of level {} (“{}”), where level {expected} was due",
        heading.level, parent.level, parent.text
    );
    // Each heading moves to the level below its parent. The headings below it follow in the next round, so the outline keeps
    // its shape.
    let surplus = "#".repeat((heading.level - expected).into());
    let edit = Edit {
        offset: heading.at.offset,
        old: surplus,
        new: String::new(),
    };
    findings.push(finding(
        section,
        heading.at,
        Rule::SkippedLevel,
        message,
        vec![edit],
    ));
}

fn fences_are_labelled(section: &Section, _: &Targets, findings: &mut Vec<Finding>) {
    for fence in section.fences.iter().filter(|fence| fence.label.is_empty()) {
        let edit = Edit {
            offset: fence.label_at,
            old: String::new(),
            new: "text".into(),
        };
        let message = "the code fence does not name a language".into();
        findings.push(finding(
            section,
            fence.at,
            Rule::UnlabelledFence,
            message,
            vec![edit],
        ));
    }
}

fn lines_are_short(section: &Section, _: &Targets, findings: &mut Vec<Finding>) {
    for line in &section.long_lines {
        let edits = line.breaks.iter().filter_map(|gap| {
            let old = section
                .text
                .get(gap.start - section.bytes.start..gap.end - section.bytes.start)?;
            Some(Edit {
                offset: gap.start,
                old: old.to_owned(),
                new: line.continuation.clone(),
            })
        });
        let message = format!("{} characters, {} are allowed", line.length, line.limit);
        findings.push(finding(
            section,
            line.at,
            Rule::LongLine,
            message,
            edits.collect(),
        ));
    }
}

fn headings_are_unique(section: &Section, _: &Targets, findings: &mut Vec<Finding>) {
    let Some(heading) = &section.heading else {
        return;
    };
    let Some(first) = heading.repeats else { return };
    let under = section
        .parents
        .last()
        .map_or(String::new(), |parent| format!(" under “{}”", parent.text));
    let message = format!(
        "“{}” is already a heading{under}, on line {first}",
        heading.text
    );
    findings.push(finding(
        section,
        heading.at,
        Rule::RepeatedHeading,
        message,
        Vec::new(),
    ));
}

fn finding(
    section: &Section,
    at: Position,
    rule: Rule,
    message: String,
    edits: Vec<Edit>,
) -> Finding {
    Finding {
        path: section.path.clone(),
        line: at.line,
        column: at.column,
        rule,
        message,
        edits,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::doc_audit::section::{Document, split};

    /// The findings in some documents, beside a disk with `pic.png` and `other.md`.
    fn found(documents: &[(&str, &str)]) -> Vec<String> {
        let split_one = |&(path, text): &(&str, &str)| {
            split(
                &Document {
                    path: path.into(),
                    text: text.into(),
                },
                30,
            )
        };
        let sections: Vec<_> = documents.iter().flat_map(split_one).collect();
        let look = |path: &Path| match path.to_str() {
            Some("pic.png" | "docs") => Target::Exists,
            Some("other.md") => Target::Markdown(BTreeSet::from(["there".to_owned()])),
            _ => Target::Missing,
        };
        let targets = Targets::gather(&sections, Path::new(""), look);
        let findings = sections.iter().flat_map(|one| section(one, &targets));
        findings
            .map(|f| {
                format!(
                    "{}:{}:{} {} {}",
                    f.path.display(),
                    f.line,
                    f.column,
                    f.rule,
                    f.message
                )
            })
            .collect()
    }

    #[test]
    fn clean_documents_have_no_findings() {
        let a = "# A\n\n## Über uns\n\n[a](#a), [b](docs/b.md#b-1),\n[c](other.md#there),\n![d](pic.png), [e](docs),\n\
                 [f](#%C3%BCber-uns),\n[g](https://x.org/#x),\n[t](#top), [i](pic.png#L3),\n[h](#x)\n\n\
                 <a name=\"x\"></a>\n\n```sh\n```\n";
        assert_eq!(
            found(&[
                ("a.md", a),
                ("docs/b.md", "# B\n## B\n[a](../a.md#a) [r](/a.md)\n")
            ]),
            [""; 0]
        );
    }

    #[test]
    fn dead_links() {
        assert_eq!(
            found(&[("docs/a.md", "[x](other.md) ![y](../no.png)\n[z]()\n")]),
            [
                "docs/a.md:1:1 dead-link `docs/other.md` does not exist",
                "docs/a.md:1:15 dead-link `no.png` does not exist",
                "docs/a.md:2:1 dead-link the link has no target",
            ]
        );
    }

    #[test]
    fn dead_anchors() {
        assert_eq!(
            found(&[
                (
                    "a.md",
                    "# Getting started\n[x](#GettingStarted)\n[y](b.md#no)\n[z](other.md#ther)\n"
                ),
                ("b.md", "")
            ]),
            [
                "a.md:2:1 dead-anchor nothing in this document has the anchor `#GettingStarted`; \
                 did you mean `#getting-started`?",
                "a.md:3:1 dead-anchor nothing in `b.md` has the anchor `#no`",
                "a.md:4:1 dead-anchor nothing in `other.md` has the anchor `#ther`; did you mean `#there`?",
            ]
        );
    }

    #[test]
    fn shape() {
        assert_eq!(
            found(&[(
                "a.md",
                "# A\n### B\n### B\n#### C\n~~~\n~~~\nwords that go on and on and on.\n"
            )]),
            [
                "a.md:2:1 skipped-level a heading of level 3 directly below one of level 1 (“A”), where level 2 was due",
                "a.md:3:1 skipped-level a heading of level 3 directly below one of level 1 (“A”), where level 2 was due",
                "a.md:3:1 repeated-heading “B” is already a heading under “A”, on line 2",
                "a.md:5:1 unlabelled-fence the code fence does not name a language",
                "a.md:7:31 long-line 31 characters, 30 are allowed",
            ]
        );
        assert_eq!(
            found(&[("a.md", "### A\n# B\n")]),
            [""; 0],
            "a document may begin at any level"
        );
    }
}
