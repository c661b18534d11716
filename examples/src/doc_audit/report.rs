//! The report of an audit, as text and as JSON.

use std::fmt::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::check::Finding;
use super::walk::Problem;

/// The result of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The findings, sorted by document and position.
    pub findings: Vec<Finding>,
    /// The paths that could not be read or written.
    pub problems: Vec<Problem>,
    /// The number of documents.
    pub documents: usize,
    /// The number of fixed findings.
    pub fixed: usize,
    /// The number of rounds that fixed something.
    pub rounds: usize,
}

impl Report {
    /// Sorts findings and problems, so that the same audit always gives the same report.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.findings.sort();
        self.findings.dedup();
        self.problems.sort();
        self.problems.dedup();
        self
    }

    /// `0` without findings, `1` with findings, `2` if a path could not be read or written.
    pub fn exit_status(&self) -> u8 {
        match (self.problems.is_empty(), self.findings.is_empty()) {
            (false, _) => 2,
            (true, false) => 1,
            (true, true) => 0,
        }
    }

    /// The report as JSON, on several lines.
    ///
    /// # Errors
    ///
    /// If a path is not UTF-8. [`walk::collect`](super::walk::collect) returns no such path.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let findings = self.findings.iter().map(|finding| JsonFinding {
            path: &finding.path,
            line: finding.line,
            column: finding.column,
            rule: finding.rule.name(),
            message: &finding.message,
            fixable: finding.fixable(),
        });
        serde_json::to_string_pretty(&Json {
            findings: findings.collect(),
            problems: &self.problems,
            documents: self.documents,
            fixed: self.fixed,
            rounds: self.rounds,
        })
    }

    /// The text above the summary: a block of lines for each document, and one for the problems. Empty without either.
    pub fn details(&self) -> String {
        let mut text = String::new();
        for document in self.findings.chunk_by(|a, b| a.path == b.path) {
            for Finding {
                path,
                line,
                column,
                rule,
                message,
                ..
            } in document
            {
                _ = writeln!(text, "{}:{line}:{column} {rule} {message}", path.display());
            }
            text.push('\n');
        }
        for problem in &self.problems {
            _ = writeln!(text, "{problem}");
        }
        if !self.problems.is_empty() {
            text.push('\n');
        }
        text
    }

    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.findings.len() {
            0 => write!(f, "no findings")?,
            n => write!(f, "{}", plural(n, "finding"))?,
        }
        write!(f, " in {}", plural(self.documents, "document"))?;
        let fixable = self
            .findings
            .iter()
            .filter(|finding| finding.fixable())
            .count();
        if fixable > 0 {
            write!(f, ", `--fix` can fix {fixable}")?;
        }
        if self.fixed > 0 {
            write!(
                f,
                "; {} fixed in {}",
                plural(self.fixed, "finding"),
                plural(self.rounds, "round")
            )?;
        }
        if !self.problems.is_empty() {
            write!(
                f,
                "; {} not read or written",
                plural(self.problems.len(), "path")
            )?;
        }
        writeln!(f)
    }
}

/// The report as text: a block of lines for each document, and a summary.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.details())?;
        self.summary(f)
    }
}

/// The form of [`Report::to_json`]. It is stable, independent of the types inside.
#[derive(Serialize)]
struct Json<'a> {
    findings: Vec<JsonFinding<'a>>,
    problems: &'a [Problem],
    documents: usize,
    fixed: usize,
    rounds: usize,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    path: &'a Path,
    line: usize,
    column: usize,
    rule: &'a str,
    message: &'a str,
    fixable: bool,
}

fn plural(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doc_audit::check::{Edit, Rule};

    fn report() -> Report {
        let finding = |path: &str, line, rule, edits| Finding {
            path: path.into(),
            line,
            column: 1,
            rule,
            message: "is wrong".into(),
            edits,
        };
        let edit = Edit {
            offset: 0,
            old: String::new(),
            new: "text".into(),
        };
        Report {
            findings: vec![
                finding("b.md", 2, Rule::DeadLink, vec![]),
                finding("a.md", 10, Rule::LongLine, vec![]),
                finding("a.md", 9, Rule::UnlabelledFence, vec![edit]),
            ],
            problems: vec![Problem {
                path: "c.md".into(),
                message: "not UTF-8".into(),
            }],
            documents: 3,
            fixed: 1,
            rounds: 1,
        }
        .sorted()
    }

    #[test]
    fn text_has_a_block_for_each_document() {
        assert_eq!(
            report().to_string(),
            "a.md:9:1 unlabelled-fence is wrong\n\
             a.md:10:1 long-line is wrong\n\n\
             b.md:2:1 dead-link is wrong\n\n\
             c.md: not UTF-8\n\n\
             3 findings in 3 documents, `--fix` can fix 1; 1 finding fixed in 1 round; \
             1 path not read or written\n"
        );
        let clean = Report {
            documents: 1,
            ..Report::default()
        };
        assert_eq!(clean.to_string(), "no findings in 1 document\n");
    }

    #[test]
    fn json_has_all_fields() {
        let json: serde_json::Value = serde_json::from_str(&report().to_json().unwrap()).unwrap();
        assert_eq!(json["findings"][0]["rule"], "unlabelled-fence");
        assert_eq!(json["findings"][0]["fixable"], true);
        assert_eq!(json["findings"][0].get("edits"), None);
        assert_eq!(json["problems"][0]["path"], "c.md");
        assert_eq!(json["fixed"], 1);
    }

    #[test]
    fn exit_statuses() {
        assert_eq!(report().exit_status(), 2);
        assert_eq!(
            Report {
                problems: vec![],
                ..report()
            }
            .exit_status(),
            1
        );
        assert_eq!(Report::default().exit_status(), 0);
    }
}
