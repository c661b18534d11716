//! The audit as a graph: what runs when, and how much of it at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use petalflow::prelude::*;

use super::args::Options;
use super::check::{self, Finding};
use super::fix;
use super::report::Report;
use super::section::{self, Document, Section};
use super::targets::{self, Targets};
use super::walk::{self, Problem};

/// What an audit knows.
#[state]
#[derive(Debug)]
pub struct Audit {
    /// What to check, and how.
    #[key(input)]
    pub options: Options,
    /// The documents as they stand, fixes included.
    #[key(append)]
    pub documents: Vec<Document>,
    /// The documents as they were read.
    #[key(append)]
    pub originals: Vec<Document>,
    /// What the sections of this round link to. Shared, because every check reads it on a thread of its own.
    pub targets: Arc<Targets>,
    /// What is wrong, as of this round.
    #[key(append)]
    pub findings: Vec<Finding>,
    /// What could not be read or written.
    #[key(append)]
    pub problems: Vec<Problem>,
    /// How many findings have been put right.
    #[key(sum)]
    pub fixed: usize,
    /// How many rounds of fixing that took.
    #[key(sum)]
    pub rounds: usize,
}

/// Finds the documents.
#[node(Audit, blocking)]
fn collect(options: &Options) -> (AuditProblems, Each<PathBuf>) {
    let found = walk::collect(&options.paths);
    (AuditProblems(found.problems), Each(found.files))
}

/// Reads one document; one that cannot be read does not stop the others.
#[node(Audit, blocking)]
#[allow(clippy::ptr_arg, reason = "the items are `PathBuf`s")]
fn load(#[item] path: &PathBuf) -> (AuditDocuments, AuditOriginals, AuditProblems) {
    match walk::read(path) {
        Ok(document) => (
            AuditDocuments(vec![document.clone()]),
            AuditOriginals(vec![document]),
            AuditProblems(vec![]),
        ),
        Err(problem) => (
            AuditDocuments(vec![]),
            AuditOriginals(vec![]),
            AuditProblems(vec![problem]),
        ),
    }
}

/// Begins a round: splits the documents and looks up all that they link to.
#[node(Audit, blocking)]
fn split(
    documents: &[Document],
    options: &Options,
) -> (Overwrite<AuditFindings>, AuditTargets, Each<Section>) {
    let sections: Vec<Section> = documents
        .iter()
        .flat_map(|document| section::split(document, options.max_line.get()))
        .collect();
    let root = targets::root_of(
        options
            .paths
            .first()
            .map_or(Path::new("."), PathBuf::as_path),
    );
    let targets = Targets::gather(&sections, &root, targets::on_disk);
    (
        Overwrite(AuditFindings(vec![])),
        AuditTargets(Arc::new(targets)),
        Each(sections),
    )
}

/// Judges one section.
#[node(Audit, blocking)]
fn check_section(#[item] section: &Section, targets: &Targets) -> AuditFindings {
    AuditFindings(check::section(section, targets))
}

/// What to do with the findings of a round.
#[derive(Debug, Route)]
pub enum Verdict {
    /// Put right what can be put right.
    Fix,
    /// Nothing is left to do, or nothing more can be done.
    Done,
}

/// Decides whether another round is worth it.
#[node(Audit)]
fn judge(findings: &[Finding], options: &Options, rounds: &usize) -> Verdict {
    let more =
        options.fix && *rounds < options.rounds.get() && findings.iter().any(Finding::fixable);
    if more { Verdict::Fix } else { Verdict::Done }
}

/// Puts right what can be put right, in memory. Whether anything was: two fixes may stand in each other's way.
#[node(Audit)]
fn fix_documents(
    documents: &[Document],
    findings: &[Finding],
) -> (Overwrite<AuditDocuments>, AuditFixed, AuditRounds, bool) {
    let fixed: Vec<fix::Fixed> = documents
        .iter()
        .map(|document| fix::apply(document, findings))
        .collect();
    let count = fixed.iter().map(|fixed| fixed.findings).sum();
    let documents = fixed.into_iter().map(|fixed| fixed.document).collect();
    (
        Overwrite(AuditDocuments(documents)),
        AuditFixed(count),
        AuditRounds(usize::from(count > 0)),
        count > 0,
    )
}

/// Writes back what has changed.
#[node(Audit, blocking)]
fn save(originals: &[Document], documents: &[Document]) -> AuditProblems {
    let changed = originals
        .iter()
        .zip(documents)
        .filter(|(old, new)| old != new);
    AuditProblems(
        changed
            .filter_map(|(old, new)| walk::replace(old, new).err())
            .collect(),
    )
}

flow! {
    /// Audits Markdown documents: reads them all at once, judges their sections all at once, and fixes and judges again
    /// until nothing is left to do or the rounds are used up.
    pub DocAudit(Audit) {
        START -> collect -> each load -> split -> each check_section -> judge;
        judge -> match { Fix => fix_documents, Done => save };
        fix_documents -> match { true => split, false => save };
        save -> END;
    }
}

impl Audit {
    /// What is to be printed.
    pub fn report(self) -> Report {
        let Audit {
            documents,
            findings,
            problems,
            fixed,
            rounds,
            ..
        } = self;
        Report {
            findings,
            problems,
            documents: documents.len(),
            fixed,
            rounds,
        }
        .sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_threads_go_on() {
        petalflow_testing::assert_flow_lock!(DocAudit, "flow.lock");
    }
}
