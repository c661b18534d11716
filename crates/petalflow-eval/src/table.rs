//! A report as a table.

use std::fmt::{self, Write as _};

use super::Report;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self)
    }
}

/// Writes a line for each case, the number of cases that passed, and what has failed.
fn write(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    let mut scorers: Vec<&str> = Vec::new();
    for scorer in report.cases.iter().flat_map(|case| &case.scorers) {
        if !scorers.contains(&&*scorer.scorer) {
            scorers.push(&scorer.scorer);
        }
    }
    let header = std::iter::once("case").chain(scorers.iter().copied());
    let mut rows = vec![
        header
            .chain(["tokens", "result"])
            .map(String::from)
            .collect::<Vec<_>>(),
    ];
    for case in &report.cases {
        let mut row = vec![case.name.clone()];
        row.extend(scorers.iter().map(|name| {
            let scorer = case.scorers.iter().find(|scorer| scorer.scorer == *name);
            scorer.map_or_else(|| "-".into(), |scorer| format!("{:.2}", scorer.mean))
        }));
        row.push(case.usage.total.to_string());
        row.push(if case.passed { "passed" } else { "failed" }.into());
        rows.push(row);
    }
    let columns = rows[0].len();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // Names and results are on the left, numbers on the right.
            match column {
                0 => write!(line, "{cell:width$}")?,
                last if last == columns - 1 => write!(line, "  {cell}")?,
                _ => write!(line, "  {cell:>width$}")?,
            }
        }
        writeln!(f, "{line}")?;
    }
    let passed = report.cases.iter().filter(|case| case.passed).count();
    writeln!(f, "\n{passed} of {} cases passed", report.cases.len())?;
    for case in report.cases.iter().filter(|case| !case.passed) {
        writeln!(f)?;
        for failure in case.failures() {
            writeln!(f, "{}: {failure}", case.name)?;
        }
    }
    Ok(())
}
