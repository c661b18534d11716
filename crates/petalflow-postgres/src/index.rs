//! Queries for threads as statements over the table `threads`, whose indices answer them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petalflow::checkpoint::{
    AttributeTest, StoreError, ThreadCount, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus,
};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::connection::{Statement, TypedParam};
use crate::error::UNKNOWN;
use crate::rows::Reader;

/// When the newest checkpoint of a thread was created that a run is changing, which the index does not have.
const LATEST: &str = "(SELECT max(lines.updated_ms) FROM lines WHERE lines.thread = t.thread)";

/// A row that is listed: the thread has a checkpoint. That without a thread has none.
const LISTED: &str = "t.created_ms IS NOT NULL";

/// The statuses that this store writes, sorted. A thread with another one is listed whatever its status is, as a damaged one.
const KNOWN: [&str; 7] = [
    "failed", "finished", "held", "running", "sleeping", "stopped", "waiting",
];

/// How many rows are read in the order of a list before another way is tried to fill a page.
const WINDOW: u64 = 2_000;

const READER: Reader<'_> = Reader {
    thread: UNKNOWN,
    table: "threads",
};

/// The place of a thread in the order of a list.
pub(crate) struct Place {
    pub(crate) id: String,
    pub(crate) time_ms: u64,
}

/// Part of the threads, where the times of their newest checkpoints are found in one way.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Part {
    All,
    /// Those that no run is changing.
    Resting,
    Running,
    /// Those whose statuses are unknown or lost.
    Damaged,
}

/// The parts whose pages together have the page of a list.
pub(crate) fn parts(query: &ThreadQuery<'_>) -> Vec<Part> {
    let mut parts = match query.order.into() {
        Key::Updated => vec![Part::Resting, Part::Running],
        Key::Id | Key::Created => vec![Part::All],
    };
    if query.due_by_ms.is_some() || filters(query).next().is_some() {
        parts.push(Part::Damaged);
    }
    parts
}

/// The conditions that a damaged thread meets whatever it has.
fn filters<'a>(query: &ThreadQuery<'a>) -> impl Iterator<Item = ThreadFilter<'a>> {
    let filters = [
        query.status.map(ThreadFilter::Status),
        query.flow.map(ThreadFilter::Flow),
        query.filter,
    ];
    filters.into_iter().flatten()
}

impl Part {
    fn updated_ms(self) -> String {
        match self {
            Part::All | Part::Damaged => format!("COALESCE(t.updated_ms, {LATEST})"),
            Part::Resting => "t.updated_ms".into(),
            Part::Running => LATEST.into(),
        }
    }

    fn condition(self) -> Option<String> {
        match self {
            Part::All => None,
            Part::Resting => Some("t.updated_ms IS NOT NULL".into()),
            Part::Running => Some("t.updated_ms IS NULL".into()),
            Part::Damaged => Some(damaged()),
        }
    }
}

/// That this store never writes such a status. The ranges between the known ones let the index of the statuses find these threads,
/// of which there are few or none. The known ones are named too, because the order of the index is that of a language.
fn damaged() -> String {
    let known = KNOWN.map(|status| format!("'{status}'")).join(", ");
    let mut ranges = vec![format!("t.status < '{}'", KNOWN[0])];
    for pair in KNOWN.windows(2) {
        ranges.push(format!(
            "t.status > '{}' AND t.status < '{}'",
            pair[0], pair[1]
        ));
    }
    ranges.push(format!("t.status > '{}'", KNOWN[KNOWN.len() - 1]));
    format!(
        "(t.status NOT IN ({known}) AND t.updated_ms IS NOT NULL AND ({})
            OR t.status IS NULL AND t.status_at IS NOT NULL)",
        ranges.join(" OR ")
    )
}

/// What threads are ordered by.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    Id,
    Created,
    Updated,
}

impl From<ThreadOrder> for Key {
    fn from(order: ThreadOrder) -> Self {
        match order {
            ThreadOrder::Id => Key::Id,
            ThreadOrder::CreatedNewest | ThreadOrder::CreatedOldest => Key::Created,
            ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest => Key::Updated,
        }
    }
}

/// A statement with its parameters.
#[derive(Default)]
pub(crate) struct Sql {
    pub(crate) text: String,
    values: Vec<(Box<dyn ToSql + Send + Sync>, Type)>,
}

impl Sql {
    pub(crate) fn params(&self) -> Vec<TypedParam<'_>> {
        let values = self.values.iter();
        values
            .map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone()))
            .collect()
    }

    /// The statement with parameters of [`params`](Self::params).
    pub(crate) fn with<'a>(&'a self, params: &'a [TypedParam<'a>]) -> Statement<'a> {
        Statement::Once(&self.text, params)
    }

    fn text(&mut self, text: &str) -> String {
        self.values.push((Box::new(text.to_string()), Type::TEXT));
        format!("${}", self.values.len())
    }

    fn bytes(&mut self, bytes: &[u8]) -> String {
        self.values.push((Box::new(bytes.to_vec()), Type::BYTEA));
        format!("${}", self.values.len())
    }

    /// All times that are stored are below 2^63.
    fn number(&mut self, number: u64) -> String {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.values.push((Box::new(number), Type::INT8));
        format!("${}", self.values.len())
    }

    /// A condition that is true, or false or null.
    fn condition(&mut self, filter: ThreadFilter<'_>) -> String {
        match filter {
            ThreadFilter::Prefix(prefix) => {
                let end = ThreadQuery {
                    prefix,
                    ..ThreadQuery::default()
                };
                let conditions = self.ids(prefix, end.prefix_end().as_deref());
                format!("({})", conditions.join(" AND "))
            }
            ThreadFilter::Status(status) => format!("t.state = {}", self.text(status.as_str())),
            ThreadFilter::Flow("") => "(t.flow IS NULL OR t.flow = '')".into(),
            ThreadFilter::Flow(flow) => format!("t.flow = {}", self.text(flow)),
            ThreadFilter::Label(name, value) => {
                let (name, value) = (self.text(name), self.text(value));
                // The index has the values.
                format!(
                    "(t.label_values @> ARRAY[{value}]
                        AND t.label_values[array_position(t.label_names, {name})] = {value})"
                )
            }
            ThreadFilter::Attribute(name, test) => self.attribute(name, test),
            ThreadFilter::All(filters) => self.join(filters, " AND ", "true"),
            ThreadFilter::Any(filters) => self.join(filters, " OR ", "false"),
            ThreadFilter::Not(filter) => format!("({} IS NOT TRUE)", self.condition(*filter)),
        }
    }

    /// That a thread has an attribute with such a value.
    fn attribute(&mut self, name: &str, test: &AttributeTest) -> String {
        let name = self.text(name);
        let mut ranges = Vec::new();
        for range in test.ranges() {
            let (from, end) = (self.bytes(&range.start), self.bytes(&range.end));
            ranges.push(format!("v.value >= {from} AND v.value < {end}"));
        }
        let ranges = ranges.join(" OR ");
        let contained = test.contained().map(|text| {
            let text = self.bytes(text.as_bytes());
            format!(" AND position({text} IN substr(v.value, 2)) > 0")
        });
        format!(
            "t.thread IN (SELECT v.thread FROM attributes v WHERE v.name = {name} AND ({ranges}){})",
            contained.unwrap_or_default()
        )
    }

    fn join(&mut self, filters: &[ThreadFilter<'_>], by: &str, of_none: &str) -> String {
        if filters.is_empty() {
            return of_none.into();
        }
        let conditions: Vec<_> = filters.iter().map(|it| self.condition(*it)).collect();
        format!("({})", conditions.join(by))
    }

    fn ids(&mut self, from: &str, end: Option<&str>) -> Vec<String> {
        let mut conditions = vec![format!("t.thread >= {}", self.text(from))];
        conditions.extend(end.map(|end| format!("t.thread < {}", self.text(end))));
        conditions
    }

    /// That a thread is within the bounds that the query has for a key.
    fn bounds(&mut self, query: &ThreadQuery<'_>, part: Part, key: Key) -> Vec<String> {
        let (expression, from, before) = match key {
            Key::Id if query.prefix.is_empty() => return Vec::new(),
            Key::Id => return self.ids(query.prefix, query.prefix_end().as_deref()),
            Key::Created => (
                "t.created_ms".into(),
                query.created_from_ms,
                query.created_before_ms,
            ),
            Key::Updated => (
                part.updated_ms(),
                query.updated_from_ms,
                query.updated_before_ms,
            ),
        };
        let mut conditions = Vec::new();
        for (comparison, time) in [(">=", from), ("<", before)] {
            if let Some(time) = time {
                let time = self.number(time);
                conditions.push(format!("{expression} {comparison} {time}"));
            }
        }
        conditions
    }

    /// Which threads the order gives: those of the part, after the page before, within the bounds of what they are ordered by.
    fn keys(&mut self, query: &ThreadQuery<'_>, part: Part, order: &Order) -> Vec<String> {
        let mut keys = vec![LISTED.to_string(), "t.thread <> ''".into()];
        keys.extend(part.condition());
        keys.extend(self.bounds(query, part, query.order.into()));
        if let Some(after) = query.after {
            let id = self.text(after);
            if query.order == ThreadOrder::Id {
                keys.push(format!("t.thread > {id}"));
            } else {
                let comparison = if query.order.is_newest_first() {
                    "<"
                } else {
                    ">"
                };
                let time_ms = self.number(query.after_ms);
                keys.push(format!(
                    "({}, t.thread) {comparison} ({time_ms}, {id})",
                    order.time
                ));
            }
        }
        keys
    }

    /// All other conditions.
    fn rest(&mut self, query: &ThreadQuery<'_>, part: Part) -> Vec<String> {
        let mut rest = Vec::new();
        for key in [Key::Id, Key::Created, Key::Updated] {
            if key != query.order.into() {
                rest.extend(self.bounds(query, part, key));
            }
        }
        if let Some((name, value)) = query.label {
            rest.push(self.condition(ThreadFilter::Label(name, value)));
        }
        if part == Part::Damaged {
            return rest;
        }
        for filter in filters(query) {
            rest.push(self.condition(filter));
        }
        if let Some(due_by) = query.due_by_ms {
            let due_by = self.number(due_by);
            rest.push(format!("t.due_ms <= {due_by} AND t.updated_ms IS NOT NULL"));
        }
        rest
    }
}

/// The order of a list as SQL, of rows `t`.
struct Order {
    time: String,
    by: String,
    /// The same where `time` is a column.
    by_column: String,
}

impl Order {
    fn new(order: ThreadOrder, part: Part) -> Self {
        let time = match order.into() {
            Key::Id => "0::bigint".to_string(),
            Key::Created => "t.created_ms".into(),
            Key::Updated => part.updated_ms(),
        };
        let direction = if order.is_newest_first() { " DESC" } else { "" };
        let by = |time: &str| match order {
            ThreadOrder::Id => "t.thread".to_string(),
            _ => format!("{time}{direction}, t.thread{direction}"),
        };
        Self {
            by: by(&time),
            by_column: by("t.time_ms"),
            time,
        }
    }
}

/// The statement for the places of the threads of a page, as far as they are among the first rows in the order of the list. Frequent
/// threads are. There is none where [`page`] reads few rows too.
pub(crate) fn window(query: &ThreadQuery<'_>, part: Part) -> Option<Sql> {
    let limit = query.limit?;
    if matches!(part, Part::Running | Part::Damaged) || query.due_by_ms.is_some() {
        return None;
    }
    let mut sql = Sql::default();
    let order = Order::new(query.order, part);
    let keys = sql.keys(query, part, &order).join(" AND ");
    let rest = sql.rest(query, part);
    if rest.is_empty() {
        return None;
    }
    let limit = sql.number(limit as u64);
    sql.text = format!(
        "SELECT t.thread, {time} FROM (SELECT * FROM threads t WHERE {keys} ORDER BY {by} LIMIT {WINDOW}) t
        WHERE {} ORDER BY {by} LIMIT {limit}",
        rest.join(" AND "),
        time = order.time,
        by = order.by,
    );
    Some(sql)
}

/// The statement for the places of the threads of a page. With conditions, their indices find the threads and not the order:
/// `OFFSET 0` keeps the latter from the server, which expects to find enough threads soon.
pub(crate) fn page(query: &ThreadQuery<'_>, part: Part) -> Sql {
    let mut sql = Sql::default();
    let order = Order::new(query.order, part);
    let mut conditions = sql.keys(query, part, &order);
    let rest = sql.rest(query, part);
    let is_ordered = rest.is_empty() && part != Part::Damaged;
    conditions.extend(rest);
    let conditions = conditions.join(" AND ");
    let limit = query.limit.map(|limit| sql.number(limit as u64));
    let limit = limit.unwrap_or_else(|| "ALL".into());
    let time = &order.time;
    sql.text = if is_ordered {
        format!(
            "SELECT t.thread, {time} FROM threads t WHERE {conditions} ORDER BY {} LIMIT {limit}",
            order.by
        )
    } else {
        format!(
            "SELECT t.thread, t.time_ms FROM (SELECT t.thread, {time} AS time_ms FROM threads t WHERE {conditions} OFFSET 0) t
            ORDER BY {} LIMIT {limit}",
            order.by_column
        )
    };
    sql
}

/// The statement for the threads that have checkpoints and whose rows of the table `threads` are gone, up to the last one of a
/// page. A list with conditions does not look for them.
pub(crate) fn unlisted(query: &ThreadQuery<'_>, places: &[Place]) -> Option<Sql> {
    let plain = ThreadQuery {
        prefix: query.prefix,
        after: query.after,
        limit: query.limit,
        ..ThreadQuery::default()
    };
    if *query != plain {
        return None;
    }
    let mut sql = Sql {
        text: "SELECT DISTINCT line.thread, 0::bigint FROM lines AS line WHERE line.newest IS NOT NULL
            AND NOT EXISTS (SELECT FROM threads AS t WHERE t.thread = line.thread AND t.created_ms IS NOT NULL)"
            .into(),
        values: Vec::new(),
    };
    let is_full = query.limit.is_some_and(|limit| places.len() >= limit);
    let last = places.last().filter(|_| is_full);
    let end = query.prefix_end();
    for (comparison, id) in [
        (">=", Some(query.prefix)),
        ("<", end.as_deref()),
        (">", query.after),
        ("<=", last.map(|last| &*last.id)),
    ] {
        if let Some(id) = id {
            let id = sql.text(id);
            // Writing to a text cannot fail.
            let _ = write!(sql.text, " AND line.thread {comparison} {id}");
        }
    }
    Some(sql)
}

/// Reads the rows of [`page`].
pub(crate) fn places(rows: &[Row]) -> Result<Vec<Place>, StoreError> {
    let place = |row: &Row| {
        let time_ms: Option<i64> = READER.get(row, 1)?;
        // A thread without its checkpoints has no time of the newest one.
        let time_ms = time_ms.and_then(|time| u64::try_from(time).ok());
        Ok(Place {
            id: READER.get(row, 0)?,
            time_ms: time_ms.unwrap_or_default(),
        })
    };
    rows.iter().map(place).collect()
}

/// Brings the places of all parts into the order of the list, and cuts them at its limit.
pub(crate) fn sort(query: &ThreadQuery<'_>, places: &mut Vec<Place>) {
    places.sort_unstable_by(|one, other| {
        let order = (one.time_ms, &one.id).cmp(&(other.time_ms, &other.id));
        if query.order.is_newest_first() {
            order.reverse()
        } else {
            order
        }
    });
    // A damaged thread may meet the conditions.
    places.dedup_by(|one, other| one.id == other.id);
    places.truncate(query.limit.unwrap_or(usize::MAX));
}

/// The statement that counts threads by flow and status. It compares no ids, which the index of flows and states does not have.
pub(crate) fn counts(query: &ThreadQuery<'_>) -> Sql {
    let mut sql = Sql::default();
    let mut conditions = vec![LISTED.to_string()];
    conditions.extend(sql.bounds(query, Part::All, query.order.into()));
    conditions.extend(sql.rest(query, Part::All));
    sql.text = format!(
        "SELECT t.flow, t.state, count(*) FROM threads t WHERE {} GROUP BY t.flow, t.state",
        conditions.join(" AND ")
    );
    sql
}

/// Reads the rows of [`counts`]. Threads with an unknown status are not counted.
pub(crate) fn read_counts(rows: &[Row]) -> Result<Vec<ThreadCount>, StoreError> {
    let mut counts: BTreeMap<(String, ThreadStatus), u64> = BTreeMap::new();
    for row in rows {
        if let Some(status) = ThreadStatus::named(READER.get(row, 1)?) {
            let (flow, threads): (Option<String>, i64) = (READER.get(row, 0)?, READER.get(row, 2)?);
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
