//! The table of differences.

use std::fmt;

use petalflow::engine::Difference;

use super::ReplayReport;

/// The widest text in a column. The start of a longer one is shown.
const WIDEST: usize = 60;

const HEADER: [&str; 6] = ["superstep", "node", "what", "name", "expected", "found"];

impl fmt::Display for ReplayReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.table(None))
    }
}

impl ReplayReport {
    /// The table, for a terminal with this many columns. If it is wider, each difference has lines of its own.
    ///
    /// ```
    /// use petalflow::engine::Replayed;
    /// use petalflow_testing::ReplayReport;
    ///
    /// let report = ReplayReport::new("order-7", Replayed::default());
    /// assert!(report.table(Some(60)).starts_with("thread `order-7`: no difference"));
    /// ```
    pub fn table(&self, columns: Option<usize>) -> String {
        let mut text = String::new();
        // A `String` takes all that is written to it.
        let _ = self.write(&mut text, columns);
        text
    }

    fn write(&self, f: &mut impl fmt::Write, columns: Option<usize>) -> fmt::Result {
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
            let rows: Vec<_> = rows.map(|row| cells(row, several_turns)).collect();
            let lines = table_lines(&rows);
            let widest = lines.iter().map(|line| line.chars().count()).max();
            let lines = match columns {
                Some(columns) if widest > Some(columns) => narrow_lines(&rows, columns),
                _ => lines,
            };
            for line in lines {
                writeln!(f, "{line}")?;
            }
        }
        if found.requests > 0 {
            writeln!(f, "{} requests to models were compared", found.requests)?;
        }
        if found.requests_left > 0 {
            let why = match found.requests {
                0 => "`.requests()` compares them",
                _ => "there was no answer to an earlier one, or their tasks did not come to them",
            };
            writeln!(
                f,
                "{} recorded requests to models were not compared: {why}",
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
    cut(&text, WIDEST)
}

/// The start of a line that is longer than this.
fn cut(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.into();
    }
    let kept = line.chars().take(columns.saturating_sub(1));
    kept.chain(['…']).collect()
}

fn table_lines(rows: &[[String; 6]]) -> Vec<String> {
    let header = HEADER.map(String::from);
    let all = || std::iter::once(&header).chain(rows);
    let width = |column: usize| {
        let widths = all().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADER.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(text, width)| format!("{text:width$}"))
            .collect();
        format!("  {}", cells.join("  ").trim_end())
    };
    let ruler: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let rows = rows.iter().map(|row| line(row));
    [line(&header), line(&ruler)]
        .into_iter()
        .chain(rows)
        .collect()
}

/// Each difference in lines of its own, none longer than this.
fn narrow_lines(rows: &[[String; 6]], columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for [superstep, node, what, name, expected, found] in rows {
        let place = if superstep.starts_with("program") {
            superstep.clone()
        } else {
            format!("superstep {superstep}")
        };
        let parts = [&format!("node {node}"), what, name];
        let parts = parts.into_iter().filter(|part| !part.ends_with('-'));
        let parts: Vec<&str> = parts.map(|part| &**part).collect();
        lines.push(format!("  {place}: {}", parts.join(" ")));
        lines.push(format!("    expected  {expected}"));
        lines.push(format!("    found     {found}"));
    }
    let shown = lines.into_iter().map(|line| cut(&line, columns));
    shown.collect()
}
