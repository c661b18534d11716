//! Queries for threads as statements over the table `threads`, whose indices answer them.

mod condition;
mod source;

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    AttributeTest, ThreadCount, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params_from_iter};

use self::condition::{Conditions, damaged};
use self::source::{Choice, Source, Wanted};
use crate::error::TransactionError;

/// How many rows are read in the order of a list before another way is tried to fill a page.
const WINDOW: usize = 2_000;

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
    /// The conditions that a damaged thread meets whatever it has.
    conditions: Conditions,
    is_due: bool,
    /// The flow that each thread has.
    flow: Option<String>,
    /// Labels that each thread has.
    labels: Vec<(String, String)>,
    /// Search attributes that each thread has, with such values.
    attributes: Vec<(String, AttributeTest)>,
    created: (Option<i64>, Option<i64>),
    updated: (Option<i64>, Option<i64>),
}

/// The place of a thread in the order of a list.
pub(crate) struct Place {
    pub(crate) id: Vec<u8>,
    pub(crate) time_ms: u64,
}

/// Part of the threads, where the times of their newest checkpoints are found in one way.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    All,
    /// Those that no run is changing.
    Resting,
    Running,
    /// Those whose statuses are unknown, which rest.
    Damaged,
}

impl Part {
    fn updated_ms(self) -> String {
        match self {
            Part::All => format!("ifnull(t.updated_ms, {})", latest("t.thread")),
            Part::Resting | Part::Damaged => "t.updated_ms".into(),
            // The index does not have the time of a thread that a run is changing.
            Part::Running => latest("t.thread"),
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

/// The order of a list as SQL.
struct Order {
    time: String,
    by: String,
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

/// All times that are stored are below 2^63.
fn clamp(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

impl Listing {
    pub(crate) fn new(query: &ThreadQuery<'_>) -> Self {
        let after = query
            .after
            .map(|after| (clamp(query.after_ms), after.to_string()));
        let range = |from: Option<u64>, before: Option<u64>| (from.map(clamp), before.map(clamp));
        let mut listing = Listing {
            order: query.order,
            limit: query.limit,
            after,
            prefix: query.prefix.into(),
            end: query.prefix_end(),
            conditions: Conditions::default(),
            is_due: query.due_by_ms.is_some(),
            flow: None,
            labels: Vec::new(),
            attributes: Vec::new(),
            created: range(query.created_from_ms, query.created_before_ms),
            updated: range(query.updated_from_ms, query.updated_before_ms),
        };
        let owned = |(name, value): (&str, &str)| (name.to_string(), value.to_string());
        listing.labels.extend(query.label.map(owned));
        if let Some(due_by) = query.due_by_ms {
            listing.conditions.push_due_by(clamp(due_by));
        }
        let conditions = [
            query.status.map(ThreadFilter::Status),
            query.flow.map(ThreadFilter::Flow),
            query.filter,
        ];
        for filter in conditions.into_iter().flatten() {
            listing.require(filter);
        }
        listing
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
            ThreadFilter::Attribute(name, test) => {
                self.attributes.push((name.into(), test.clone()));
            }
            filter => {
                if let ThreadFilter::Flow(flow) = filter
                    && !flow.is_empty()
                {
                    self.flow = Some(flow.into());
                }
                self.conditions.push_filter(filter);
            }
        }
    }

    /// Whether a list has all threads, but for their ids.
    fn is_of_all(&self) -> bool {
        let no_time = (None, None);
        self.conditions.is_empty()
            && self.labels.is_empty()
            && self.attributes.is_empty()
            && (self.created, self.updated) == (no_time, no_time)
    }

    /// The places of the threads of a page.
    pub(crate) fn places(&self, connection: &Connection) -> Result<Vec<Place>, TransactionError> {
        let mut parts = match Key::from(self.order) {
            Key::Updated => vec![Part::Resting, Part::Running],
            Key::Id | Key::Created => vec![Part::All],
        };
        if !self.conditions.is_empty() {
            parts.push(Part::Damaged);
        }
        let choice = self.wanted().choose(connection)?;
        let mut places = Vec::new();
        for part in parts {
            places.extend(self.part(connection, part, choice)?);
        }
        if self.order == ThreadOrder::Id && self.is_of_all() {
            let is_full = self.limit.is_some_and(|limit| places.len() >= limit);
            let last = places.last().filter(|_| is_full).map(|last| &*last.id);
            places.extend(self.unlisted(connection, last)?);
        }
        places.sort_unstable_by(|one, other| {
            let order = (one.time_ms, &one.id).cmp(&(other.time_ms, &other.id));
            if self.order.is_newest_first() {
                order.reverse()
            } else {
                order
            }
        });
        // A damaged thread may meet the conditions.
        places.dedup_by(|one, other| one.id == other.id);
        places.truncate(self.limit.unwrap_or(usize::MAX));
        Ok(places)
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            is_due: self.is_due,
            flow: self.flow.as_deref(),
            labels: &self.labels,
            attributes: &self.attributes,
            has_prefix: !self.prefix.is_empty(),
        }
    }

    /// The places of a page of the threads of a part.
    fn part(
        &self,
        connection: &Connection,
        part: Part,
        choice: Choice,
    ) -> Result<Vec<Place>, TransactionError> {
        let order = self.order(part);
        let keys = self.keys(part, &order);
        let limit = self.limit.map(|limit| i64::try_from(limit).unwrap_or(-1));
        let select = |from: &str, conditions: &Conditions| {
            let select = format!(
                "SELECT t.thread, {} FROM {from} WHERE {} ORDER BY {} LIMIT {}",
                order.time,
                conditions.all(),
                order.by,
                limit.unwrap_or(-1)
            );
            read_places(connection, &select, conditions)
        };
        // The order finds the threads of these parts.
        let is_narrow = matches!(part, Part::Running | Part::Damaged);
        let rest = self.rest(part, Source::Planned, keys.with_values());
        if is_narrow || rest.is_empty() {
            return select(Source::Planned.table(), &keys.and(&rest));
        }
        if choice.is_frequent
            && let Some(limit) = self.limit
        {
            let window = format!(
                "(SELECT * FROM threads t WHERE {} ORDER BY {} LIMIT {WINDOW}) t",
                keys.all(),
                order.by
            );
            let found = select(&window, &rest)?;
            if found.len() >= limit {
                return Ok(found);
            }
        }
        select(choice.source.table(), &self.rest(part, choice.source, keys))
    }

    fn order(&self, part: Part) -> Order {
        let time = match self.order {
            ThreadOrder::Id => "0".to_string(),
            ThreadOrder::CreatedNewest | ThreadOrder::CreatedOldest => "t.created_ms".into(),
            ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest => part.updated_ms(),
        };
        let direction = if self.order.is_newest_first() {
            " DESC"
        } else {
            ""
        };
        let by = match self.order {
            ThreadOrder::Id => "t.thread".to_string(),
            _ => format!("{time}{direction}, t.thread{direction}"),
        };
        Order { time, by }
    }

    /// Which threads the order gives: those of the part, after the page before, within the bounds of what they are ordered by.
    fn keys(&self, part: Part, order: &Order) -> Conditions {
        let mut keys = self.listed(part);
        self.bound(&mut keys, part, self.order.into());
        if let Some((time_ms, id)) = &self.after {
            let id = keys.bind(id.clone());
            if self.order == ThreadOrder::Id {
                keys.push(format!("t.thread > {id}"));
            } else {
                let comparison = if self.order.is_newest_first() {
                    "<"
                } else {
                    ">"
                };
                let time_ms = keys.bind(*time_ms);
                keys.push(format!(
                    "({}, t.thread) {comparison} ({time_ms}, {id})",
                    order.time
                ));
            }
        }
        keys
    }

    /// Adds all other conditions.
    fn rest(&self, part: Part, source: Source, mut conditions: Conditions) -> Conditions {
        for key in [Key::Id, Key::Created, Key::Updated] {
            if key != self.order.into() {
                self.bound(&mut conditions, part, key);
            }
        }
        if part != Part::Damaged {
            conditions.extend(&self.conditions);
        }
        source.require_labels(&mut conditions, &self.labels);
        source.require_attributes(&mut conditions, &self.attributes);
        conditions
    }

    /// The threads of a part that can be listed, with the values of the conditions that they must meet.
    fn listed(&self, part: Part) -> Conditions {
        let mut listed = match part {
            Part::Damaged => Conditions::default(),
            _ => self.conditions.with_values(),
        };
        listed.push("t.thread <> '' AND t.created_ms IS NOT NULL");
        part.condition().into_iter().for_each(|it| listed.push(it));
        listed
    }

    fn bound(&self, conditions: &mut Conditions, part: Part, key: Key) {
        match key {
            Key::Id => conditions.push_ids(self.from(), self.end.as_deref()),
            Key::Created => conditions.push_range("t.created_ms", self.created),
            Key::Updated => conditions.push_range(&part.updated_ms(), self.updated),
        }
    }

    /// The first id that can be listed. The index uses one lower bound.
    fn from(&self) -> &str {
        let after = self
            .after
            .as_ref()
            .filter(|_| self.order == ThreadOrder::Id);
        after.map_or(&*self.prefix, |(_, id)| id.max(&self.prefix))
    }

    /// The threads that have checkpoints and whose rows of the table `threads` are gone, up to the last one of a page.
    fn unlisted(
        &self,
        connection: &Connection,
        last: Option<&[u8]>,
    ) -> Result<Vec<Place>, TransactionError> {
        let mut conditions = Conditions::default();
        conditions.push("a.thread <> ''");
        let bounds = [
            (">=", Some(self.from().to_string())),
            ("<", self.end.clone()),
            (">", self.after.as_ref().map(|(_, id)| id.clone())),
            ("<=", last.map(|last| String::from_utf8_lossy(last).into())),
        ];
        for (comparison, id) in bounds {
            if let Some(id) = id {
                let id = conditions.bind(id);
                conditions.push(format!("a.thread {comparison} {id}"));
            }
        }
        conditions.push(
            "NOT EXISTS (SELECT 1 FROM threads t WHERE t.thread = a.thread AND t.created_ms IS NOT NULL)",
        );
        let select = format!(
            "SELECT DISTINCT a.thread, 0 FROM addresses a WHERE {}",
            conditions.all()
        );
        read_places(connection, &select, &conditions)
    }

    /// The statement that counts the threads of each flow and stored status: those that rest, and all.
    fn count(&self, source: Source) -> (String, Conditions) {
        let mut conditions = self.listed(Part::All);
        self.bound(&mut conditions, Part::All, self.order.into());
        let conditions = self.rest(Part::All, source, conditions);
        let count = format!(
            "SELECT t.flow, t.status, count(t.updated_ms), count(*) FROM {} WHERE {} GROUP BY t.flow, t.status",
            source.table(),
            conditions.all()
        );
        (count, conditions)
    }

    /// How many threads of each flow have each status. Those with an unknown status are not counted.
    pub(crate) fn counts(
        &self,
        connection: &Connection,
    ) -> Result<Vec<ThreadCount>, TransactionError> {
        let source = self.wanted().choose(connection)?.source;
        let (count, conditions) = self.count(source);
        let mut count = connection.prepare_cached(&count)?;
        let mut rows = count.query(params_from_iter(&conditions.values))?;
        let mut counts: BTreeMap<(String, ThreadStatus), u64> = BTreeMap::new();
        let mut add = |flow: &str, status, threads: u64| {
            if threads > 0 {
                *counts.entry((flow.to_string(), status)).or_default() += threads;
            }
        };
        while let Some(row) = rows.next()? {
            let flow: Option<String> = row.get(0)?;
            let flow = flow.unwrap_or_default();
            let status: Option<String> = row.get(1)?;
            let (resting, all): (i64, i64) = (row.get(2)?, row.get(3)?);
            add(&flow, ThreadStatus::Running, all.abs_diff(resting));
            let status = status.map_or(Some(ThreadStatus::Running), |it| ThreadStatus::named(&it));
            if let Some(status) = status {
                add(&flow, status, resting.unsigned_abs());
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

fn read_places(
    connection: &Connection,
    select: &str,
    conditions: &Conditions,
) -> Result<Vec<Place>, TransactionError> {
    let mut places = connection.prepare_cached(select)?;
    let places = places.query_map(params_from_iter(&conditions.values), read_place)?;
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

#[cfg(test)]
mod tests {
    use petalflow::checkpoint::{ThreadFilter, ThreadQuery, ThreadStatus};
    use rusqlite::{Connection, params_from_iter};

    use super::{Listing, Source};
    use crate::connection::schema::MIGRATIONS;

    #[test]
    fn f43_counts_read_one_index_only() {
        let connection = Connection::open_in_memory().expect("it opens");
        for migration in MIGRATIONS {
            connection.execute_batch(migration).expect("it is SQL");
        }
        let failed = ThreadFilter::Status(ThreadStatus::Failed);
        let filters = [
            ThreadFilter::All(&[]),
            failed,
            ThreadFilter::Status(ThreadStatus::Running),
            ThreadFilter::Flow("Talk"),
            ThreadFilter::Not(&ThreadFilter::Flow("")),
            ThreadFilter::Any(&[failed, ThreadFilter::Prefix("essay")]),
        ];
        for filter in filters {
            let query = ThreadQuery {
                filter: Some(filter),
                created_from_ms: Some(1),
                ..ThreadQuery::default()
            };
            let (count, conditions) = Listing::new(&query).count(Source::States);
            let mut plan = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {count}"))
                .expect("it is SQL");
            let plan = plan.query_map(params_from_iter(&conditions.values), |row| row.get(3));
            let plan: Vec<String> = plan.and_then(Iterator::collect).expect("it has a plan");
            let one = matches!(&*plan, [step] if step.contains("COVERING INDEX threads_by_state"));
            assert!(one, "{query:?}: {plan:?}");
        }
    }
}
