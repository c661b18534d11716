//! Queries for threads as statements over the table `threads`, whose indices answer them.

use std::collections::BTreeMap;

use petalflow::checkpoint::{ThreadCount, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, params_from_iter};

use crate::error::TransactionError;

/// The most threads with a label that are found by the index of the labels. Threads with a more frequent label are found soon in the
/// order of the list, where the index would give all of them for each page.
const RARE: usize = 1_000;

/// The statuses that this store writes. A thread with another one is listed whatever its status is, as a damaged one.
const KNOWN: &str = "('running', 'sleeping', 'waiting', 'stopped', 'failed', 'finished', 'held')";

/// When the newest checkpoint of a thread was created: the latest time of the last rows of its namespaces, so the cost does not grow
/// with the history.
pub(super) fn latest(thread: &str) -> String {
    format!(
        "(SELECT max((SELECT c.created_ms FROM log c WHERE c.id BETWEEN a.number << 32 AND (a.number << 32) + 0xffffffff
            ORDER BY c.id DESC LIMIT 1)) FROM addresses a WHERE a.thread = {thread} AND NOT EXISTS (
                SELECT 1 FROM addresses b WHERE b.thread = a.thread AND b.namespace = a.namespace AND b.first > a.first))"
    )
}

/// A query for threads, which owns its texts.
pub(crate) struct Listing {
    order: ThreadOrder,
    limit: Option<usize>,
    /// The time in an order by time, and the id.
    after: Option<(i64, String)>,
    prefix: String,
    /// The id before which all with the prefix are.
    end: Option<String>,
    /// Conditions on a row `t` of `threads`, with numbered parameters.
    conditions: Vec<String>,
    values: Vec<Value>,
    /// Labels that each thread has.
    labels: Vec<(String, String)>,
    updated_from: Option<i64>,
    updated_before: Option<i64>,
}

/// The place of a thread in the order of a list.
pub(crate) struct Place {
    pub(crate) id: Vec<u8>,
    pub(crate) time_ms: u64,
}

/// A statement with its parameters.
struct Sql {
    text: String,
    values: Vec<Value>,
}

/// Part of the threads, where the times of their newest checkpoints are found in one way.
#[derive(Clone, Copy)]
enum Part {
    All,
    /// Those that no run is changing.
    Resting,
    Running,
}

impl Part {
    fn updated_ms(self) -> String {
        match self {
            Part::All => format!("ifnull(t.updated_ms, {})", latest("t.thread")),
            Part::Resting => "t.updated_ms".into(),
            // The index does not have the time of a thread that a run is changing.
            Part::Running => latest("t.thread"),
        }
    }

    fn condition(self) -> Option<&'static str> {
        match self {
            Part::All => None,
            Part::Resting => Some("t.updated_ms IS NOT NULL"),
            Part::Running => Some("t.updated_ms IS NULL"),
        }
    }
}

/// All times that are stored are below 2^63.
fn clamp(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

impl Listing {
    pub(crate) fn new(query: &ThreadQuery<'_>) -> Self {
        let after = query
            .after
            .map(|after| (clamp(query.after_ms), after.to_string()));
        let mut listing = Listing {
            order: query.order,
            limit: query.limit,
            after,
            prefix: query.prefix.into(),
            end: query.prefix_end(),
            conditions: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            updated_from: query.updated_from_ms.map(clamp),
            updated_before: query.updated_before_ms.map(clamp),
        };
        let owned = |(name, value): (&str, &str)| (name.to_string(), value.to_string());
        listing.labels.extend(query.label.map(owned));
        if let Some(due_by) = query.due_by_ms {
            // Few threads are due, so the index of the times finds them.
            let due_by = listing.bind(clamp(due_by));
            listing.conditions.push(format!(
                "t.thread IN (SELECT thread FROM threads INDEXED BY threads_by_status
                    WHERE status IN {KNOWN} AND due_ms <= {due_by} AND updated_ms IS NOT NULL
                    UNION ALL SELECT thread FROM threads WHERE state NOT IN {KNOWN})"
            ));
        }
        let conditions = [
            query.status.map(ThreadFilter::Status),
            query.flow.map(ThreadFilter::Flow),
            query.filter,
        ];
        for filter in conditions.into_iter().flatten() {
            listing.require(filter);
        }
        for (time, comparison) in [
            (query.created_from_ms, ">="),
            (query.created_before_ms, "<"),
        ] {
            if let Some(time) = time {
                let time = listing.bind(clamp(time));
                listing
                    .conditions
                    .push(format!("t.created_ms {comparison} {time}"));
            }
        }
        listing
    }

    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    /// Adds a condition that each thread meets.
    fn require(&mut self, filter: ThreadFilter<'_>) {
        match filter {
            ThreadFilter::All(filters) => {
                for filter in filters {
                    self.require(*filter);
                }
            }
            ThreadFilter::Label(name, value) => self.labels.push((name.into(), value.into())),
            filter => {
                let condition = self.condition(filter);
                let listed = format!("({condition} OR t.state NOT IN {KNOWN})");
                self.conditions.push(listed);
            }
        }
    }

    fn condition(&mut self, filter: ThreadFilter<'_>) -> String {
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
            ThreadFilter::Status(status) => {
                format!("t.state = {}", self.bind(status.as_str().to_string()))
            }
            ThreadFilter::Flow(flow) => {
                format!("ifnull(t.flow, '') = {}", self.bind(flow.to_string()))
            }
            ThreadFilter::Label(name, value) => self.has_label(name, value),
            ThreadFilter::All(filters) => self.join(filters, " AND ", "1"),
            ThreadFilter::Any(filters) => self.join(filters, " OR ", "0"),
            ThreadFilter::Not(filter) => format!("NOT ({})", self.condition(*filter)),
        }
    }

    fn has_label(&mut self, name: &str, value: &str) -> String {
        let (name, value) = (self.bind(name.to_string()), self.bind(value.to_string()));
        format!(
            "EXISTS (SELECT 1 FROM labels l WHERE l.name = {name} AND l.value = {value} AND l.thread = t.thread)"
        )
    }

    fn join(&mut self, filters: &[ThreadFilter<'_>], by: &str, of_none: &str) -> String {
        if filters.is_empty() {
            return of_none.into();
        }
        let conditions: Vec<_> = filters.iter().map(|it| self.condition(*it)).collect();
        format!("({})", conditions.join(by))
    }

    /// Whether a list has all threads, but for their ids.
    fn is_of_all(&self) -> bool {
        self.conditions.is_empty()
            && self.labels.is_empty()
            && self.updated_from.is_none()
            && self.updated_before.is_none()
    }

    /// The places of the threads of a page.
    pub(crate) fn places(&self, connection: &Connection) -> Result<Vec<Place>, TransactionError> {
        let by_change = matches!(
            self.order,
            ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest
        );
        let parts: &[Part] = if by_change {
            &[Part::Resting, Part::Running]
        } else {
            &[Part::All]
        };
        let mut places = Vec::new();
        for part in parts {
            let sql = self.select(connection, *part)?;
            places.extend(read_places(connection, &sql)?);
        }
        if self.order == ThreadOrder::Id && self.is_of_all() {
            let is_full = self.limit.is_some_and(|limit| places.len() >= limit);
            let last = places.last().filter(|_| is_full).map(|last| &*last.id);
            let unlisted = self.select_unlisted(last);
            places.extend(read_places(connection, &unlisted)?);
        }
        places.sort_unstable_by(|one, other| {
            let order = (one.time_ms, &one.id).cmp(&(other.time_ms, &other.id));
            if self.order.is_newest_first() {
                order.reverse()
            } else {
                order
            }
        });
        places.truncate(self.limit.unwrap_or(usize::MAX));
        Ok(places)
    }

    /// The statement for the threads of a page.
    fn select(&self, connection: &Connection, part: Part) -> Result<Sql, TransactionError> {
        let time = match self.order {
            ThreadOrder::Id => "0".to_string(),
            ThreadOrder::CreatedNewest | ThreadOrder::CreatedOldest => "t.created_ms".into(),
            ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest => part.updated_ms(),
        };
        let mut sql = self.within(connection, part, self.from())?;
        let newest_first = self.order.is_newest_first();
        if let Some((time_ms, id)) = &self.after {
            let id = sql.bind(id.clone());
            if self.order == ThreadOrder::Id {
                sql.require(&format!("t.thread > {id}"));
            } else {
                let comparison = if newest_first { "<" } else { ">" };
                let time_ms = sql.bind(*time_ms);
                sql.require(&format!(
                    "({time}, t.thread) {comparison} ({time_ms}, {id})"
                ));
            }
        }
        let direction = if newest_first { " DESC" } else { "" };
        let order = match self.order {
            ThreadOrder::Id => "t.thread".to_string(),
            _ => format!("{time}{direction}, t.thread{direction}"),
        };
        let limit = self.limit.map(|limit| i64::try_from(limit).unwrap_or(-1));
        let limit = sql.bind(limit.unwrap_or(-1));
        sql.text = format!(
            "SELECT t.thread, {time} {} ORDER BY {order} LIMIT {limit}",
            sql.text
        );
        Ok(sql)
    }

    /// The first id that can be listed. The index uses one lower bound.
    fn from(&self) -> &str {
        let after = self
            .after
            .as_ref()
            .filter(|_| self.order == ThreadOrder::Id);
        after.map_or(&*self.prefix, |(_, id)| id.max(&self.prefix))
    }

    /// From where, and which threads.
    fn within(
        &self,
        connection: &Connection,
        part: Part,
        from: &str,
    ) -> Result<Sql, TransactionError> {
        let mut sql = Sql {
            text: "FROM threads t WHERE t.thread <> '' AND t.created_ms IS NOT NULL".into(),
            values: self.values.clone(),
        };
        if !from.is_empty() {
            let from = sql.bind(from.to_string());
            sql.require(&format!("t.thread >= {from}"));
        }
        if let Some(end) = &self.end {
            let end = sql.bind(end.clone());
            sql.require(&format!("t.thread < {end}"));
        }
        let conditions = part.condition().into_iter();
        for condition in conditions.chain(self.conditions.iter().map(String::as_str)) {
            sql.require(condition);
        }
        for (time, comparison) in [(self.updated_from, ">="), (self.updated_before, "<")] {
            if let Some(time) = time {
                let time = sql.bind(time);
                sql.require(&format!("{} {comparison} {time}", part.updated_ms()));
            }
        }
        for (name, value) in &self.labels {
            let is_rare = is_rare(connection, name, value)?;
            let (name, value) = (sql.bind(name.clone()), sql.bind(value.clone()));
            let with_label = format!("FROM labels l WHERE l.name = {name} AND l.value = {value}");
            sql.require(&if is_rare {
                format!("t.thread IN (SELECT l.thread {with_label})")
            } else {
                format!("EXISTS (SELECT 1 {with_label} AND l.thread = t.thread)")
            });
        }
        Ok(sql)
    }

    /// The statement for the threads that have checkpoints and whose rows of the table `threads` are gone, up to the last one of a page.
    fn select_unlisted(&self, last: Option<&[u8]>) -> Sql {
        let mut sql = Sql {
            text: "SELECT DISTINCT a.thread, 0 FROM addresses a WHERE a.thread <> ''".into(),
            values: Vec::new(),
        };
        let bounds = [
            (">=", Some(self.from().to_string())),
            ("<", self.end.clone()),
            (">", self.after.as_ref().map(|(_, id)| id.clone())),
            ("<=", last.map(|last| String::from_utf8_lossy(last).into())),
        ];
        for (comparison, id) in bounds {
            if let Some(id) = id {
                let id = sql.bind(id);
                sql.require(&format!("a.thread {comparison} {id}"));
            }
        }
        sql.text += " AND NOT EXISTS (SELECT 1 FROM threads t WHERE t.thread = a.thread AND t.created_ms IS NOT NULL)";
        sql
    }

    /// How many threads of each flow have each status. Those with an unknown status are not counted.
    pub(crate) fn counts(
        &self,
        connection: &Connection,
    ) -> Result<Vec<ThreadCount>, TransactionError> {
        let sql = self.within(connection, Part::All, &self.prefix)?;
        let count = format!(
            "SELECT t.flow, t.state, count(*) {} GROUP BY t.flow, t.state",
            sql.text
        );
        let mut count = connection.prepare_cached(&count)?;
        let mut rows = count.query(params_from_iter(&sql.values))?;
        let mut counts: BTreeMap<(String, ThreadStatus), u64> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let flow: Option<String> = row.get(0)?;
            if let Some(status) = ThreadStatus::named(&row.get::<_, String>(1)?) {
                let threads: i64 = row.get(2)?;
                let key = (flow.unwrap_or_default(), status);
                *counts.entry(key).or_default() += threads.unsigned_abs();
            }
        }
        let count = |((flow, status), threads)| ThreadCount {
            flow,
            status,
            threads,
        };
        Ok(counts.into_iter().map(count).collect())
    }
}

impl Sql {
    /// Adds a condition.
    fn require(&mut self, condition: &str) {
        self.text += " AND ";
        self.text += condition;
    }

    fn bind(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }
}

fn read_places(connection: &Connection, sql: &Sql) -> Result<Vec<Place>, TransactionError> {
    let mut places = connection.prepare_cached(&sql.text)?;
    let places = places.query_map(params_from_iter(&sql.values), read_place)?;
    Ok(places.collect::<rusqlite::Result<_>>()?)
}

fn read_place(row: &Row<'_>) -> rusqlite::Result<Place> {
    let id = match row.get_ref(0)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        _ => b"?".to_vec(),
    };
    // A thread without its checkpoints has no time of the newest one.
    let time_ms: Option<i64> = row.get(1)?;
    let time_ms = time_ms.and_then(|time| u64::try_from(time).ok());
    Ok(Place {
        id,
        time_ms: time_ms.unwrap_or_default(),
    })
}

/// Whether few threads have the label.
fn is_rare(connection: &Connection, name: &str, value: &str) -> Result<bool, TransactionError> {
    let count =
        "SELECT count(*) FROM (SELECT 1 FROM labels WHERE name = ?1 AND value = ?2 LIMIT ?3 + 1)";
    let mut count = connection.prepare_cached(count)?;
    let parameters = rusqlite::params![name, value, i64::try_from(RARE).unwrap_or(i64::MAX)];
    let found: i64 = count.query_row(parameters, |row| row.get(0))?;
    Ok(usize::try_from(found).is_ok_and(|found| found <= RARE))
}
