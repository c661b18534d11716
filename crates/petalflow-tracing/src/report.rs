//! Reports of model usage.

use std::fmt;

use petalflow_llm::TokenUsage;

/// The usage of models by one node.
///
/// ```
/// use petalflow_llm::TokenUsage;
/// use petalflow_tracing::Totals;
///
/// let totals = Totals::new();
/// totals.record("draft", &TokenUsage { input: 7, ..TokenUsage::default() });
/// let report = totals.report();
/// assert_eq!(report.nodes[0].1.calls, 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageSummary {
    /// The number of calls, including failed ones.
    pub calls: u64,
    /// The number of failed calls.
    pub failed: u64,
    /// The usage of all calls.
    pub usage: TokenUsage,
}

impl UsageSummary {
    /// One successful call with this usage.
    pub(super) fn of_call(usage: &TokenUsage) -> Self {
        UsageSummary {
            calls: 1,
            failed: 0,
            usage: *usage,
        }
    }
}

impl std::ops::AddAssign for UsageSummary {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.usage += other.usage;
    }
}

/// The usage of models by node. `Display` prints a table.
///
/// ```
/// use petalflow_llm::TokenUsage;
/// use petalflow_tracing::Totals;
///
/// let totals = Totals::new();
/// totals.record("draft", &TokenUsage { input: 1_200, output: 80, cost: 0.0125, ..TokenUsage::default() });
/// totals.record("judge", &TokenUsage { input: 300, output: 2, ..TokenUsage::default() });
/// assert_eq!(
///     totals.report().to_string(),
///     "\
/// node   calls  failed  input  cached  output  thought     cost
/// draft      1       0   1200       0      80        0  $0.0125
/// judge      1       0    300       0       2        0  $0.0000
/// all        2       0   1500       0      82        0  $0.0125
/// "
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The usage by node name, in order. Calls outside any node have an empty name.
    pub nodes: Vec<(String, UsageSummary)>,
}

impl Report {
    /// Returns the sum of all nodes.
    ///
    /// ```
    /// use petalflow_llm::TokenUsage;
    /// use petalflow_tracing::Totals;
    ///
    /// let totals = Totals::new();
    /// totals.record("draft", &TokenUsage { input: 7, ..TokenUsage::default() });
    /// let report = totals.report();
    /// assert_eq!(report.total().usage.input, 7);
    /// ```
    pub fn total(&self) -> UsageSummary {
        self.nodes
            .iter()
            .fold(UsageSummary::default(), |mut all, (_, summary)| {
                all += *summary;
                all
            })
    }

    /// Returns the usage of this node.
    ///
    /// ```
    /// use petalflow_llm::TokenUsage;
    /// use petalflow_tracing::Totals;
    ///
    /// let totals = Totals::new();
    /// totals.record("draft", &TokenUsage { input: 7, ..TokenUsage::default() });
    /// let report = totals.report();
    /// assert_eq!(report.node("draft").unwrap().usage.input, 7);
    /// assert!(report.node("judge").is_none());
    /// ```
    pub fn node(&self, name: &str) -> Option<&UsageSummary> {
        self.nodes
            .iter()
            .find(|(node, _)| node == name)
            .map(|(_, summary)| summary)
    }
}

const TITLES: [&str; 8] = [
    "node", "calls", "failed", "input", "cached", "output", "thought", "cost",
];

fn row(name: &str, summary: &UsageSummary) -> [String; 8] {
    let usage = &summary.usage;
    [
        if name.is_empty() { "(outside)" } else { name }.to_string(),
        summary.calls.to_string(),
        summary.failed.to_string(),
        usage.input.to_string(),
        usage.cached.to_string(),
        usage.output.to_string(),
        usage.reasoning.to_string(),
        format!("${:.4}", usage.cost),
    ]
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![TITLES.map(str::to_string)];
        rows.extend(self.nodes.iter().map(|(name, summary)| row(name, summary)));
        rows.push(row("all", &self.total()));
        let mut widths = [0; 8];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        for row in rows {
            let [first, others @ ..] = &row;
            write!(f, "{first:<width$}", width = widths[0])?;
            for (cell, width) in others.iter().zip(&widths[1..]) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
