//! Applies the edits of findings.

use std::collections::BTreeMap;

use super::check::{Edit, Finding};
use super::section::Document;

/// The result of fixing a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The fixed document.
    pub document: Document,
    /// The number of fixed findings.
    pub findings: usize,
}

/// Applies the edits of the findings in this document. All edits of a finding are applied, or none.
///
/// A finding is skipped if the text has changed since it was found, or if an earlier finding changes the same position in
/// another way. A fix may reveal another finding, so check again afterwards.
pub fn apply(document: &Document, findings: &[Finding]) -> Fixed {
    let mut accepted: BTreeMap<usize, &Edit> = BTreeMap::new();
    let mut fixed = 0;
    for finding in findings
        .iter()
        .filter(|finding| finding.path == document.path && finding.fixable())
    {
        let applies = |edit: &Edit| {
            document.text.get(edit.bytes()) == Some(&edit.old) && is_free(&accepted, edit)
        };
        if finding.edits.iter().all(applies) {
            accepted.extend(finding.edits.iter().map(|edit| (edit.offset, edit)));
            fixed += 1;
        }
    }

    let mut text = String::with_capacity(document.text.len());
    let mut rest = 0;
    for edit in accepted.into_values() {
        text.push_str(&document.text[rest..edit.offset]);
        text.push_str(&edit.new);
        rest = edit.bytes().end;
    }
    text.push_str(&document.text[rest..]);
    Fixed {
        document: Document {
            path: document.path.clone(),
            text,
        },
        findings: fixed,
    }
}

/// Whether no other edit changes the same position, except in the same way.
fn is_free(accepted: &BTreeMap<usize, &Edit>, edit: &Edit) -> bool {
    if let Some(same) = accepted.get(&edit.offset) {
        return *same == edit;
    }
    let before = accepted.range(..edit.offset).next_back();
    let after = accepted.range(edit.offset..).next();
    before.is_none_or(|(_, before)| before.bytes().end <= edit.offset)
        && after.is_none_or(|(&after, _)| edit.bytes().end <= after)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::doc_audit::check::{self, Rule};
    use crate::doc_audit::section::split;
    use crate::doc_audit::targets::{Target, Targets};

    /// One round.
    fn fix_text(text: &str) -> String {
        let document = Document {
            path: "a.md".into(),
            text: text.into(),
        };
        let sections = split(&document, 20);
        let targets = Targets::gather(&sections, Path::new(""), |_| Target::Missing);
        let findings: Vec<_> = sections
            .iter()
            .flat_map(|section| check::section(section, &targets))
            .collect();
        apply(&document, &findings).document.text
    }

    #[test]
    fn fences_are_labelled() {
        assert_eq!(fix_text("```\nx\n```\n"), "```text\nx\n```\n");
        assert_eq!(
            fix_text("> - ~~~~ \r\n>   x\r\n"),
            "> - ~~~~text \r\n>   x\r\n"
        );
        assert_eq!(fix_text("```"), "```text");
    }

    #[test]
    fn levels_move_up_one_generation_at_a_time() {
        let first = fix_text("# A\n### B\n##### C\n### D ###\n## E\n");
        assert_eq!(first, "# A\n## B\n#### C\n## D ###\n## E\n");
        assert_eq!(fix_text(&first), "# A\n## B\n### C\n## D ###\n## E\n");
    }

    #[test]
    fn anchors_are_corrected() {
        assert_eq!(
            fix_text("# Set up\n[x](#set_up) [y][y]\n[y]\n\n[y]: <#setup> '#setup'\n"),
            "# Set up\n[x](#set-up) [y][y]\n[y]\n\n[y]: <#set-up> '#setup'\n"
        );
        assert_eq!(
            fix_text("# A b\n\n<a href='#a_b'>\n"),
            "# A b\n\n<a href='#a-b'>\n"
        );
        assert_eq!(
            fix_text("# Set up\n# Setup\n[x](#set_up)\n"),
            "# Set up\n# Setup\n[x](#set_up)\n"
        );
    }

    #[test]
    fn prose_is_wrapped() {
        assert_eq!(
            fix_text("one two three four five\n"),
            "one two three four\nfive\n"
        );
        assert_eq!(
            fix_text("> - one two three four\r\n"),
            "> - one two three\r\n>   four\r\n"
        );
        assert_eq!(
            fix_text("1. a\n   - [x] one two three"),
            "1. a\n   - [x] one two\n     three"
        );
        assert_eq!(
            fix_text("one two three four five  \nsix\n"),
            "one two three four\nfive  \nsix\n"
        );
        assert_eq!(
            fix_text("one `two three four five` six\n"),
            "one\n`two three four five`\nsix\n"
        );
        assert_eq!(
            fix_text("one [two three](four five) six\n"),
            fix_text("one [two three](four five) six\n")
        );
        assert_eq!(
            fix_text("- one\ntwo three four five six\n"),
            "- one\ntwo three four five\nsix\n"
        );
        assert_eq!(
            fix_text("one two three four - five\n"),
            "one two three four -\nfive\n"
        );
    }

    #[test]
    fn stale_and_conflicting_findings_are_passed_over() {
        let document = Document {
            path: "a.md".into(),
            text: "abc".into(),
        };
        let finding = |offset, old: &str, new: &str| Finding {
            path: "a.md".into(),
            line: 1,
            column: 1,
            rule: Rule::LongLine,
            message: String::new(),
            edits: vec![Edit {
                offset,
                old: old.into(),
                new: new.into(),
            }],
        };
        let elsewhere = Finding {
            path: "b.md".into(),
            ..finding(0, "a", "x")
        };
        let findings = [
            finding(0, "ab", "x"),
            finding(1, "b", "y"),
            finding(0, "ab", "x"),
            finding(2, "x", "y"),
            finding(2, "cd", "y"),
            finding(9, "", "y"),
            elsewhere,
            finding(3, "", "!"),
        ];
        let fixed = apply(&document, &findings);
        assert_eq!((fixed.document.text.as_str(), fixed.findings), ("xc!", 3));
    }
}
