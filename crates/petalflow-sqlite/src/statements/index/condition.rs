//! Conditions on a row `t` of the table `threads`.
//!
//! They name the columns of the index `threads_by_state`, so that a list or a count reads the index only. A generated column for the
//! status that holds would not do: SQLite reads the row of each thread for it.

use petalflow::checkpoint::{AttributeTest, ThreadFilter, ThreadQuery, ThreadStatus};
use rusqlite::types::Value;

/// The statuses that this store writes, sorted. A thread with another one is listed whatever its status is, as a damaged one.
const KNOWN: [&str; 7] = [
    "failed", "finished", "held", "running", "sleeping", "stopped", "waiting",
];

/// Conditions with the values of their numbered parameters.
#[derive(Clone, Default)]
pub(super) struct Conditions {
    texts: Vec<String>,
    pub(super) values: Vec<Value>,
}

/// The threads with a status that this store never writes. Few or none have one, and the ranges between the known ones find them.
pub(super) fn damaged() -> String {
    let mut ranges = vec![format!("status < '{}'", KNOWN[0])];
    for pair in KNOWN.windows(2) {
        ranges.push(format!("status > '{}' AND status < '{}'", pair[0], pair[1]));
    }
    ranges.push(format!("status > '{}'", KNOWN[KNOWN.len() - 1]));
    format!(
        "t.thread IN (SELECT thread FROM threads INDEXED BY threads_by_status
            WHERE ({}) AND updated_ms IS NOT NULL)",
        ranges.join(" OR ")
    )
}

impl Conditions {
    pub(super) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    pub(super) fn push(&mut self, condition: impl Into<String>) {
        self.texts.push(condition.into());
    }

    /// The values alone, for more conditions beside these.
    pub(super) fn with_values(&self) -> Self {
        Self {
            texts: Vec::new(),
            values: self.values.clone(),
        }
    }

    /// Adds conditions whose values these have.
    pub(super) fn extend(&mut self, others: &Conditions) {
        self.texts.extend_from_slice(&others.texts);
    }

    /// These and others, which have the values of these.
    pub(super) fn and(&self, others: &Conditions) -> Self {
        Self {
            texts: [&*self.texts, &*others.texts].concat(),
            values: others.values.clone(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All of them, joined. There is at least one.
    pub(super) fn all(&self) -> String {
        self.texts.join(" AND ")
    }

    pub(super) fn push_filter(&mut self, filter: ThreadFilter<'_>) {
        let condition = self.filter(filter);
        self.push(condition);
    }

    /// That a thread is due. Few are, so the index of the times finds them.
    pub(super) fn push_due_by(&mut self, due_by_ms: i64) {
        let due_by = self.bind(due_by_ms);
        let known = KNOWN.map(|status| format!("'{status}'")).join(", ");
        self.push(format!(
            "t.thread IN (SELECT thread FROM threads INDEXED BY threads_by_status
                WHERE status IN ({known}) AND due_ms <= {due_by} AND updated_ms IS NOT NULL)"
        ));
    }

    /// That `expression` is within a range of which either end may be missing.
    pub(super) fn push_range(&mut self, expression: &str, range: (Option<i64>, Option<i64>)) {
        for (comparison, time) in [(">=", range.0), ("<", range.1)] {
            if let Some(time) = time {
                let time = self.bind(time);
                self.push(format!("{expression} {comparison} {time}"));
            }
        }
    }

    pub(super) fn push_ids(&mut self, from: &str, end: Option<&str>) {
        if !from.is_empty() {
            let from = self.bind(from.to_string());
            self.push(format!("t.thread >= {from}"));
        }
        if let Some(end) = end {
            let end = self.bind(end.to_string());
            self.push(format!("t.thread < {end}"));
        }
    }

    /// Each is true or false, never null, so that it can be negated.
    fn filter(&mut self, filter: ThreadFilter<'_>) -> String {
        match filter {
            ThreadFilter::Prefix(prefix) => {
                let begin = self.bind(prefix.to_string());
                let end = ThreadQuery {
                    prefix,
                    ..ThreadQuery::default()
                };
                match end.prefix_end() {
                    Some(end) => {
                        format!("(t.thread >= {begin} AND t.thread < {})", self.bind(end))
                    }
                    None => format!("t.thread >= {begin}"),
                }
            }
            // While a run is in progress, no other status holds.
            ThreadFilter::Status(ThreadStatus::Running) => {
                "(t.updated_ms IS NULL OR t.status IS NULL OR t.status = 'running')".into()
            }
            ThreadFilter::Status(status) => {
                let status = self.bind(status.as_str().to_string());
                format!("(t.status IS {status} AND t.updated_ms IS NOT NULL)")
            }
            ThreadFilter::Flow("") => "ifnull(t.flow, '') = ''".into(),
            ThreadFilter::Flow(flow) => format!("t.flow IS {}", self.bind(flow.to_string())),
            ThreadFilter::Label(name, value) => self.label(name, value),
            ThreadFilter::Attribute(name, test) => self.attribute(name, test),
            ThreadFilter::All(filters) => self.join(filters, " AND ", "1"),
            ThreadFilter::Any(filters) => self.join(filters, " OR ", "0"),
            ThreadFilter::Not(filter) => format!("NOT ({})", self.filter(*filter)),
        }
    }

    pub(super) fn label(&mut self, name: &str, value: &str) -> String {
        let (name, value) = (self.bind(name.to_string()), self.bind(value.to_string()));
        format!(
            "EXISTS (SELECT 1 FROM labels l WHERE l.name = {name} AND l.value = {value} AND l.thread = t.thread)"
        )
    }

    /// That a thread has an attribute with such a value.
    pub(super) fn attribute(&mut self, name: &str, test: &AttributeTest) -> String {
        let value = self.attribute_of("v", name, test);
        format!("EXISTS (SELECT 1 FROM attributes v WHERE v.thread = t.thread AND {value})")
    }

    /// That a row of the table `attributes` is of this name and has such a value.
    pub(super) fn attribute_of(&mut self, row: &str, name: &str, test: &AttributeTest) -> String {
        let name = self.bind(name.to_string());
        let mut ranges = Vec::new();
        for range in test.ranges() {
            let (from, end) = (self.bind(range.start.clone()), self.bind(range.end.clone()));
            ranges.push(format!("{row}.value >= {from} AND {row}.value < {end}"));
        }
        let condition = match &*ranges {
            [one] => format!("{row}.name = {name} AND {one}"),
            _ => format!("{row}.name = {name} AND ({})", ranges.join(" OR ")),
        };
        if let Some(text) = test.contained() {
            let text = self.bind(text.as_bytes().to_vec());
            return format!("{condition} AND instr(substr({row}.value, 2), {text}) > 0");
        }
        condition
    }

    fn join(&mut self, filters: &[ThreadFilter<'_>], by: &str, of_none: &str) -> String {
        if filters.is_empty() {
            return of_none.into();
        }
        let conditions: Vec<_> = filters.iter().map(|it| self.filter(*it)).collect();
        format!("({})", conditions.join(by))
    }
}
