//! Prints the diagnostics of documents, as text or as JSON.

use std::fmt;

use petalflow_document_model::source::{Code, Diagnostic, Diagnostics, Severity};
use serde_json::{Value, json};

use crate::exit::Result;
use crate::terminal::{self, ERROR, STRONG, WARNING};

/// What is wrong with a document of any kind.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Each as text and as JSON.
    all: Vec<(String, Value)>,
    pub(crate) errors: usize,
    pub(crate) warnings: usize,
}

impl Findings {
    pub(crate) fn of<C: Code>(diagnostics: &Diagnostics<C>) -> Self {
        let mut findings = Findings::default();
        diagnostics.iter().for_each(|it| findings.add(it));
        findings
    }

    pub(crate) fn add<C: Code>(&mut self, diagnostic: &Diagnostic<C>) {
        let json = serde_json::to_value(diagnostic).unwrap_or_default();
        self.count(diagnostic.severity);
        self.all.push((colored(diagnostic), json));
    }

    /// Adds an error of a whole file.
    pub(crate) fn add_error(&mut self, file: &str, code: &str, message: &str) {
        self.count(Severity::Error);
        let text = format!("{STRONG}{file}:{STRONG:#} {ERROR}error[{code}]{ERROR:#}: {message}");
        let json = json!({
            "code": code, "severity": "error", "message": message, "pointer": "", "file": file,
        });
        self.all.push((text, json));
    }

    fn count(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }

    pub(crate) fn append(&mut self, mut other: Findings) {
        self.all.append(&mut other.all);
        self.errors += other.errors;
        self.warnings += other.warnings;
    }

    /// Prints them as a list in JSON.
    pub(crate) fn print_json(&self) -> Result<()> {
        terminal::json(&self.to_json())
    }

    pub(crate) fn to_json(&self) -> Vec<Value> {
        self.all.iter().map(|(_, json)| json.clone()).collect()
    }

    /// Prints them to stdout, a line for each.
    pub(crate) fn print(&self) -> Result<()> {
        self.all
            .iter()
            .try_for_each(|(text, _)| terminal::line(text))
    }

    /// Prints them to stderr, a line for each.
    pub(crate) fn note(&self) {
        self.all.iter().for_each(|(text, _)| terminal::note(text));
    }
}

/// How many there are: `2 errors, 1 warning`.
impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let Findings {
            errors, warnings, ..
        } = *self;
        write!(
            f,
            "{errors} error{}, {warnings} warning{}",
            plural(errors),
            plural(warnings)
        )
    }
}

fn colored<C: Code>(diagnostic: &Diagnostic<C>) -> String {
    let text = diagnostic.to_string();
    let style = match diagnostic.severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
    };
    let mark = format!("{}[{}]", diagnostic.severity, diagnostic.code.as_str());
    match text.split_once(&mark) {
        Some((place, rest)) => format!("{STRONG}{place}{STRONG:#}{style}{mark}{style:#}{rest}"),
        None => text,
    }
}
