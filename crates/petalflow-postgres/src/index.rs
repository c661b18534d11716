//! Queries for threads as statements over the table `threads`, whose indices answer them.

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    StoreError, ThreadCount, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus,
};
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use crate::connection::{Statement, TypedParam};
use crate::error::UNKNOWN;
use crate::rows::Reader;

/// When the newest checkpoint of a thread was created that a run is changing, which the index does not have.
const LATEST: &str = "(SELECT max(lines.updated_ms) FROM lines WHERE lines.thread = t.thread)";

/// That this store never writes such a status. The thread is listed whatever its status is, as a damaged one.
const DAMAGED: &str =
    "(t.state NOT IN ('running', 'sleeping', 'waiting', 'stopped', 'failed', 'finished', 'held')
    OR t.status IS NULL AND t.status_at IS NOT NULL)";

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
#[derive(Clone, Copy)]
pub(crate) enum Part {
    All,
    /// Those that no run is changing.
    Resting,
    Running,
}

/// The parts whose pages together have the page of a list in this order.
pub(crate) fn parts(order: ThreadOrder) -> &'static [Part] {
    match order {
        ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest => &[Part::Resting, Part::Running],
        _ => &[Part::All],
    }
}

impl Part {
    fn updated_ms(self) -> String {
        match self {
            Part::All => format!("COALESCE(t.updated_ms, {LATEST})"),
            Part::Resting => "t.updated_ms".into(),
            Part::Running => LATEST.into(),
        }
    }

    fn condition(self) -> &'static str {
        match self {
            Part::All => "",
            Part::Resting => " AND t.updated_ms IS NOT NULL",
            Part::Running => " AND t.updated_ms IS NULL",
        }
    }
}

/// A statement with its parameters.
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

    /// All times that are stored are below 2^63.
    fn number(&mut self, number: u64) -> String {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.values.push((Box::new(number), Type::INT8));
        format!("${}", self.values.len())
    }

    fn condition(&mut self, filter: ThreadFilter<'_>) -> String {
        match filter {
            ThreadFilter::Prefix(prefix) => {
                let begin = self.text(prefix);
                let end = ThreadQuery {
                    prefix,
                    ..ThreadQuery::default()
                };
                match end.prefix_end() {
                    Some(end) => {
                        format!("(t.thread >= {begin} AND t.thread < {})", self.text(&end))
                    }
                    None => format!("t.thread >= {begin}"),
                }
            }
            ThreadFilter::Status(status) => format!("t.state = {}", self.text(status.as_str())),
            ThreadFilter::Flow(flow) => format!("COALESCE(t.flow, '') = {}", self.text(flow)),
            ThreadFilter::Label(name, value) => {
                let (name, value) = (self.text(name), self.text(value));
                // The index has the values.
                format!(
                    "(t.label_values @> ARRAY[{value}] AND EXISTS (
                        SELECT FROM unnest(t.label_names, t.label_values) AS label (name, value)
                        WHERE label.name = {name} AND label.value = {value}
                    ))"
                )
            }
            ThreadFilter::All(filters) => self.join(filters, " AND ", "true"),
            ThreadFilter::Any(filters) => self.join(filters, " OR ", "false"),
            ThreadFilter::Not(filter) => format!("NOT ({})", self.condition(*filter)),
        }
    }

    fn join(&mut self, filters: &[ThreadFilter<'_>], by: &str, of_none: &str) -> String {
        if filters.is_empty() {
            return of_none.into();
        }
        let conditions: Vec<_> = filters.iter().map(|it| self.condition(*it)).collect();
        format!("({})", conditions.join(by))
    }

    /// Adds from where, and which threads.
    fn within(&mut self, query: &ThreadQuery<'_>, part: Part) {
        self.text += "FROM threads t WHERE t.thread <> '' AND t.created_ms IS NOT NULL";
        self.text += part.condition();
        if !query.prefix.is_empty() {
            let begin = self.text(query.prefix);
            self.require(&format!("t.thread >= {begin}"));
        }
        if let Some(end) = query.prefix_end() {
            let end = self.text(&end);
            self.require(&format!("t.thread < {end}"));
        }
        let filters = [
            query.status.map(ThreadFilter::Status),
            query.flow.map(ThreadFilter::Flow),
            query.filter,
        ];
        for filter in filters.into_iter().flatten() {
            let condition = self.condition(filter);
            self.require(&format!("({condition} OR {DAMAGED})"));
        }
        if let Some((name, value)) = query.label {
            let condition = self.condition(ThreadFilter::Label(name, value));
            self.require(&condition);
        }
        if let Some(due_by) = query.due_by_ms {
            let due_by = self.number(due_by);
            self.require(&format!(
                "(t.due_ms <= {due_by} AND t.updated_ms IS NOT NULL OR {DAMAGED})"
            ));
        }
        let updated_ms = part.updated_ms();
        for (expression, comparison, time) in [
            ("t.created_ms", ">=", query.created_from_ms),
            ("t.created_ms", "<", query.created_before_ms),
            (&*updated_ms, ">=", query.updated_from_ms),
            (&*updated_ms, "<", query.updated_before_ms),
        ] {
            if let Some(time) = time {
                let time = self.number(time);
                self.require(&format!("{expression} {comparison} {time}"));
            }
        }
    }

    /// Adds a condition.
    fn require(&mut self, condition: &str) {
        self.text += " AND ";
        self.text += condition;
    }
}

/// The statement for the places of the threads of a page.
pub(crate) fn page(query: &ThreadQuery<'_>, part: Part) -> Sql {
    let time = match query.order {
        ThreadOrder::Id => "0::bigint".to_string(),
        ThreadOrder::CreatedNewest | ThreadOrder::CreatedOldest => "t.created_ms".into(),
        ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest => part.updated_ms(),
    };
    let mut sql = Sql {
        text: format!("SELECT t.thread, {time} "),
        values: Vec::new(),
    };
    sql.within(query, part);
    let newest_first = query.order.is_newest_first();
    if let Some(after) = query.after {
        let id = sql.text(after);
        if query.order == ThreadOrder::Id {
            sql.require(&format!("t.thread > {id}"));
        } else {
            let comparison = if newest_first { "<" } else { ">" };
            let time_ms = sql.number(query.after_ms);
            sql.require(&format!(
                "({time}, t.thread) {comparison} ({time_ms}, {id})"
            ));
        }
    }
    let direction = if newest_first { " DESC" } else { "" };
    let order = match query.order {
        ThreadOrder::Id => " ORDER BY t.thread".to_string(),
        _ => format!(" ORDER BY {time}{direction}, t.thread{direction}"),
    };
    sql.text += &order;
    if let Some(limit) = query.limit {
        let limit = sql.number(limit as u64);
        sql.text += " LIMIT ";
        sql.text += &limit;
    }
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
            sql.require(&format!("line.thread {comparison} {id}"));
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
    places.truncate(query.limit.unwrap_or(usize::MAX));
}

/// The statement that counts threads by flow and status.
pub(crate) fn counts(query: &ThreadQuery<'_>) -> Sql {
    let mut sql = Sql {
        text: "SELECT COALESCE(t.flow, ''), t.state, count(*) ".into(),
        values: Vec::new(),
    };
    sql.within(query, Part::All);
    sql.text += " GROUP BY 1, 2";
    sql
}

/// Reads the rows of [`counts`]. Threads with an unknown status are not counted.
pub(crate) fn read_counts(rows: &[Row]) -> Result<Vec<ThreadCount>, StoreError> {
    let mut counts: BTreeMap<(String, ThreadStatus), u64> = BTreeMap::new();
    for row in rows {
        if let Some(status) = ThreadStatus::named(READER.get(row, 1)?) {
            let threads: i64 = READER.get(row, 2)?;
            *counts.entry((READER.get(row, 0)?, status)).or_default() += threads.unsigned_abs();
        }
    }
    let count = |((flow, status), threads)| ThreadCount {
        flow,
        status,
        threads,
    };
    Ok(counts.into_iter().map(count).collect())
}
