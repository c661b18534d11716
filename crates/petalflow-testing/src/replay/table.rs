//! The table of differences.

use std::fmt;

use petalflow::engine::Difference;

use super::ReplayReport;

/// The widest text in a column. The start of a longer one is shown.
const WIDEST: usize = 60;

const HEADER: [&str; 6] = ["superstep", "node", "what", "name", "expected", "found"];

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = &self.replayed;
        let count = found.differences.len();
        let compared = format!(
            "{} supersteps compared, {} tasks run",
            found.supersteps, found.ran
        );
        match count {
            0 => writeln!(f, "thread `{}`: no difference; {compared}", self.thread)?,
            1 => writeln!(f, "thread `{}`: 1 difference; {compared}", self.thread)?,
            _ => writeln!(
                f,
                "thread `{}`: {count} differences; {compared}",
                self.thread
            )?,
        }
        if count > 0 {
            let several_turns = found
                .differences
                .iter()
                .any(|row| row.superstep.is_some_and(|(turn, _)| turn > 1));
            let rows = found.differences.iter();
            write_rows(f, rows.map(|row| cells(row, several_turns)).collect())?;
        }
        if found.requests > 0 {
            writeln!(f, "{} requests to models were compared", found.requests)?;
        }
        if found.requests_left > 0 {
            writeln!(
                f,
                "{} recorded requests to models were not compared: `.requests()` compares those that their nodes make first",
                found.requests_left
            )?;
        }
        if let Some((_, first)) = found.without_results.first() {
            let count = found.without_results.len();
            writeln!(
                f,
                "{count} supersteps were not compared, the first is {first}: the file has not the results of their tasks; let the threads \
                 retain them with `.retention(Retention::ALL.with_results())`"
            )?;
        }
        Ok(())
    }
}

fn cells(row: &Difference, several_turns: bool) -> [String; 6] {
    let superstep = match row.superstep {
        None if row.flow.is_empty() => "program".into(),
        None => format!("program {}", row.flow),
        Some((_, superstep)) if !row.flow.is_empty() => format!("{superstep} of {}", row.flow),
        Some((turn, superstep)) if several_turns => format!("{superstep} of turn {turn}"),
        Some((_, superstep)) => superstep.to_string(),
    };
    [
        superstep,
        row.node.clone().unwrap_or_else(|| "-".into()),
        row.kind.to_string(),
        if row.name.is_empty() {
            "-".into()
        } else {
            row.name.clone()
        },
        row.expected.clone(),
        row.found.clone(),
    ]
    .map(|text| shortened(&text))
}

/// The start of a long text, in one line.
fn shortened(text: &str) -> String {
    let text = text.replace('\n', " ");
    if text.chars().count() <= WIDEST {
        return text;
    }
    text.chars().take(WIDEST - 1).chain(['…']).collect()
}

fn write_rows(f: &mut fmt::Formatter<'_>, mut rows: Vec<[String; 6]>) -> fmt::Result {
    rows.insert(0, HEADER.map(Into::into));
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADER.len()).map(width).collect();
    for (index, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(text, width)| format!("{text:width$}"))
            .collect();
        writeln!(f, "  {}", cells.join("  ").trim_end())?;
        if index == 0 {
            let lines: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
            writeln!(f, "  {}", lines.join("  "))?;
        }
    }
    Ok(())
}
