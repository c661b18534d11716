//! In which order the rows of threads are read that conditions are compared with.

use petalflow::checkpoint::AttributeTest;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::condition::Conditions;
use crate::error::TransactionError;

/// The most threads with a flow or a label that are read for each page. More of them are found soon in the order of the list.
const RARE: usize = 1_000;

/// How rows of threads are found. SQLite does not know how many threads a condition leaves, so it is told.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// In the order of the list, or by the ids that a condition has.
    Planned,
    /// By flow and status. The index has all that conditions need, but for labels.
    States,
    /// By the ids.
    Ids,
    /// By the label with this number.
    Label(usize),
    /// By the attribute with this number.
    Attribute(usize),
}

/// A source, and whether a page is likely to be full before many rows are read in the order of the list.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub(super) source: Source,
    pub(super) is_frequent: bool,
}

/// What the choice depends on.
pub(super) struct Wanted<'a> {
    /// That only these threads are listed, which the index of the times finds.
    pub(super) is_due: bool,
    pub(super) flow: Option<&'a str>,
    pub(super) labels: &'a [(String, String)],
    pub(super) attributes: &'a [(String, AttributeTest)],
    pub(super) has_prefix: bool,
}

impl Wanted<'_> {
    pub(super) fn choose(&self, connection: &Connection) -> Result<Choice, TransactionError> {
        let rarely = |source| {
            Ok(Choice {
                source,
                is_frequent: false,
            })
        };
        if self.is_due {
            return rarely(Source::Planned);
        }
        for (index, (name, value)) in self.labels.iter().enumerate() {
            let found = "SELECT 1 FROM labels WHERE name = ?1 AND value = ?2";
            let of = [name, value].map(|text| Value::from(text.clone()));
            if is_rare(connection, found, &of)? {
                return rarely(Source::Label(index));
            }
        }
        for (index, (name, test)) in self.attributes.iter().enumerate() {
            if test.contained().is_some() {
                // All values are read to find few, so this does not cost less than the list itself.
                continue;
            }
            let mut of = Conditions::default();
            let condition = of.attribute_of("s", name, test);
            let found = format!(
                "SELECT 1 FROM attributes s INDEXED BY attributes_by_value WHERE {condition}"
            );
            if is_rare(connection, &found, &of.values)? {
                return rarely(Source::Attribute(index));
            }
        }
        if let Some(flow) = self.flow {
            let found = "SELECT 1 FROM threads WHERE flow = ?1";
            if is_rare(connection, found, &[flow.to_string().into()])? {
                return rarely(Source::States);
            }
        }
        let source = match self {
            _ if !self.labels.is_empty() => Source::Label(0),
            _ if !self.attributes.is_empty() => Source::Attribute(0),
            Wanted {
                has_prefix: true,
                flow: None,
                ..
            } => Source::Ids,
            _ => Source::States,
        };
        Ok(Choice {
            source,
            is_frequent: true,
        })
    }
}

impl Source {
    /// What stands after `FROM`.
    pub(super) fn table(self) -> &'static str {
        match self {
            Source::Planned => "threads t",
            Source::States => "threads t INDEXED BY threads_by_state",
            // SQLite's name for the primary key.
            Source::Ids => "threads t INDEXED BY sqlite_autoindex_threads_1",
            Source::Label(_) => "labels s CROSS JOIN threads t ON t.thread = s.thread",
            Source::Attribute(_) => {
                "attributes s INDEXED BY attributes_by_value CROSS JOIN threads t ON t.thread = s.thread"
            }
        }
    }

    /// Adds that a thread has the labels.
    pub(super) fn require_labels(self, conditions: &mut Conditions, labels: &[(String, String)]) {
        for (number, (name, value)) in labels.iter().enumerate() {
            let condition = match self {
                Source::Label(driving) if driving == number => {
                    let name = conditions.bind(name.clone());
                    let value = conditions.bind(value.clone());
                    format!("s.name = {name} AND s.value = {value}")
                }
                _ => conditions.label(name, value),
            };
            conditions.push(condition);
        }
    }

    /// Adds that a thread has such attributes.
    pub(super) fn require_attributes(
        self,
        conditions: &mut Conditions,
        attributes: &[(String, AttributeTest)],
    ) {
        for (number, (name, test)) in attributes.iter().enumerate() {
            let condition = match self {
                Source::Attribute(driving) if driving == number => {
                    conditions.attribute_of("s", name, test)
                }
                _ => conditions.attribute(name, test),
            };
            conditions.push(condition);
        }
    }
}

/// Whether the statement, with these parameters, finds few rows.
fn is_rare(connection: &Connection, found: &str, of: &[Value]) -> Result<bool, TransactionError> {
    let count = format!("SELECT count(*) FROM ({found} LIMIT {RARE} + 1)");
    let mut count = connection.prepare_cached(&count)?;
    let found: i64 = count.query_row(params_from_iter(of), |row| row.get(0))?;
    Ok(usize::try_from(found).is_ok_and(|found| found <= RARE))
}
