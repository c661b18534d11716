//! Queries for threads: conditions, orders and counts.

use std::collections::BTreeMap;

use super::{AttributeTest, ThreadInfo, ThreadStatus};

/// Which threads to list. Conditions that are not set do not apply.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, ThreadQuery};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// # let first = StoredCheckpoint { seq: 1, base: 1, created_ms: 0, bytes: vec![7] };
/// # store.append(Address::root("ann"), &first, None, 0..0, None).await?;
/// let page = ThreadQuery { prefix: "a", limit: Some(100), ..ThreadQuery::default() };
/// let threads = store.threads(page).await?;
/// assert_eq!(threads.len(), 1);
/// let rest = ThreadQuery { after: Some(&threads[0].id), ..page };
/// assert!(store.threads(rest).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadQuery<'a> {
    /// Only ids that begin with this text, compared by bytes.
    pub prefix: &'a str,
    /// Only threads after this id, in the order of the list. For the next page, the last id of this page:
    /// [`after_thread`](Self::after_thread).
    pub after: Option<&'a str>,
    /// In an order by time, the time of the thread `after`: the list goes on after both. It need not exist any more.
    pub after_ms: u64,
    /// The order of the list.
    pub order: ThreadOrder,
    /// At most this many. `None` means all.
    pub limit: Option<usize>,
    /// Only threads with this status.
    pub status: Option<ThreadStatus>,
    /// Only threads of this flow.
    pub flow: Option<&'a str>,
    /// Only threads with a label of this name and value.
    pub label: Option<(&'a str, &'a str)>,
    /// Only threads that meet this condition besides.
    pub filter: Option<ThreadFilter<'a>>,
    /// Only threads that were created at this time or later, in milliseconds since 1970 (UTC).
    pub created_from_ms: Option<u64>,
    /// Only threads that were created before this time, in milliseconds since 1970 (UTC).
    pub created_before_ms: Option<u64>,
    /// Only threads whose newest checkpoint is of this time or later, in milliseconds since 1970 (UTC).
    pub updated_from_ms: Option<u64>,
    /// Only threads whose newest checkpoint is older than this time, in milliseconds since 1970 (UTC).
    pub updated_before_ms: Option<u64>,
    /// Only threads that are due at this time, in milliseconds since 1970 (UTC).
    pub due_by_ms: Option<u64>,
}

/// A condition on a thread, made of others: several statuses, flows and labels, with and, or and not.
///
/// ```
/// use petalflow::checkpoint::{ThreadFilter, ThreadInfo, ThreadStatus};
///
/// // Failed or held, and not for the team `night`.
/// let filter = ThreadFilter::All(&[
///     ThreadFilter::Any(&[ThreadFilter::Status(ThreadStatus::Failed), ThreadFilter::Status(ThreadStatus::Held)]),
///     ThreadFilter::Not(&ThreadFilter::Label("team", "night")),
/// ]);
/// assert!(filter.covers(&ThreadInfo { status: ThreadStatus::Held, ..ThreadInfo::default() }));
/// assert!(!filter.covers(&ThreadInfo { status: ThreadStatus::Running, ..ThreadInfo::default() }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadFilter<'a> {
    /// Threads whose ids begin with this text.
    Prefix(&'a str),
    /// Threads with this status.
    Status(ThreadStatus),
    /// Threads of this flow.
    Flow(&'a str),
    /// Threads with a label of this name and value.
    Label(&'a str, &'a str),
    /// Threads whose search attribute of this name has such a value.
    Attribute(&'a str, &'a AttributeTest),
    /// Threads that meet all of these conditions: all threads if there are none.
    All(&'a [ThreadFilter<'a>]),
    /// Threads that meet one of these conditions: no thread if there are none.
    Any(&'a [ThreadFilter<'a>]),
    /// Threads that do not meet this condition.
    Not(&'a ThreadFilter<'a>),
}

impl ThreadFilter<'_> {
    /// Whether a thread meets the condition.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadFilter, ThreadInfo};
    ///
    /// let info = ThreadInfo { flow: "Talk".into(), ..ThreadInfo::default() };
    /// assert!(ThreadFilter::Flow("Talk").covers(&info));
    /// assert!(!ThreadFilter::Label("user", "ann").covers(&info));
    /// ```
    pub fn covers(&self, info: &ThreadInfo) -> bool {
        match *self {
            ThreadFilter::Prefix(prefix) => info.id.starts_with(prefix),
            ThreadFilter::Status(status) => info.status == status,
            ThreadFilter::Flow(flow) => info.flow == flow,
            ThreadFilter::Label(name, value) => {
                info.labels.get(name).is_some_and(|label| label == value)
            }
            ThreadFilter::Attribute(name, test) => {
                let value = info.attributes.get(name);
                value.is_some_and(|value| test.covers(value))
            }
            ThreadFilter::All(filters) => filters.iter().all(|filter| filter.covers(info)),
            ThreadFilter::Any(filters) => filters.iter().any(|filter| filter.covers(info)),
            ThreadFilter::Not(filter) => !filter.covers(info),
        }
    }
}

impl<'a> ThreadFilter<'a> {
    /// The conditions on search attributes in it, with the names.
    ///
    /// ```
    /// use petalflow::checkpoint::{AttributeTest, ThreadFilter};
    ///
    /// let large = AttributeTest::above(100);
    /// let filter = ThreadFilter::Not(&ThreadFilter::Attribute("amount", &large));
    /// assert_eq!(filter.attributes(), [("amount", &large)]);
    /// ```
    pub fn attributes(&self) -> Vec<(&'a str, &'a AttributeTest)> {
        match *self {
            ThreadFilter::Attribute(name, test) => vec![(name, test)],
            ThreadFilter::All(filters) | ThreadFilter::Any(filters) => {
                filters.iter().flat_map(ThreadFilter::attributes).collect()
            }
            ThreadFilter::Not(filter) => filter.attributes(),
            _ => Vec::new(),
        }
    }
}

/// The order of a list of threads. Threads of the same millisecond are in the order of the bytes of their ids, which is turned
/// where the newest is first.
///
/// **Pages while threads change**: in an order by id or by creation, the pages have each thread once that exists all the time. A
/// thread that changes moves in an order by change: where the newest is first, no thread comes twice, and one that changed since
/// the first page may only be found at the beginning of a new list; where the oldest is first, each thread is found, and one that
/// changed comes again.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store, StoredCheckpoint, ThreadOrder, ThreadQuery};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = InMemoryStore::new();
/// for (id, created_ms) in [("ann", 1_000), ("bob", 2_000)] {
///     let first = StoredCheckpoint { seq: 1, base: 1, created_ms, bytes: vec![7] };
///     store.append(Address::root(id), &first, None, 0..0, None).await?;
/// }
/// let newest = ThreadQuery { order: ThreadOrder::CreatedNewest, ..ThreadQuery::default() };
/// assert_eq!(store.threads(newest).await?[0].id, "bob");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThreadOrder {
    /// By the bytes of the ids.
    #[default]
    Id,
    /// By the time of creation, the newest first.
    CreatedNewest,
    /// By the time of creation, the oldest first.
    CreatedOldest,
    /// By the time of the last change, the newest first.
    UpdatedNewest,
    /// By the time of the last change, the oldest first.
    UpdatedOldest,
}

impl ThreadOrder {
    /// With their names, in the order of the declaration.
    const ALL: [(Self, &str); 5] = [
        (ThreadOrder::Id, "id"),
        (ThreadOrder::CreatedNewest, "created-newest"),
        (ThreadOrder::CreatedOldest, "created-oldest"),
        (ThreadOrder::UpdatedNewest, "updated-newest"),
        (ThreadOrder::UpdatedOldest, "updated-oldest"),
    ];

    /// The order with this name, over HTTP and on the command line.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadOrder;
    ///
    /// assert_eq!(ThreadOrder::named("created-newest"), Some(ThreadOrder::CreatedNewest));
    /// assert_eq!(ThreadOrder::named("best"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(order, _)| order)
    }

    /// Whether the newest thread comes first.
    ///
    /// ```
    /// assert!(petalflow::checkpoint::ThreadOrder::UpdatedNewest.is_newest_first());
    /// ```
    pub fn is_newest_first(self) -> bool {
        matches!(
            self,
            ThreadOrder::CreatedNewest | ThreadOrder::UpdatedNewest
        )
    }

    /// The time by which a thread has its place in the order. 0 in the order of ids.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadInfo, ThreadOrder};
    ///
    /// let info = ThreadInfo { created_ms: 5, updated_ms: 9, ..ThreadInfo::default() };
    /// assert_eq!(ThreadOrder::UpdatedOldest.time_of(&info), 9);
    /// ```
    pub fn time_of(self, info: &ThreadInfo) -> u64 {
        match self {
            ThreadOrder::Id => 0,
            ThreadOrder::CreatedNewest | ThreadOrder::CreatedOldest => info.created_ms,
            ThreadOrder::UpdatedNewest | ThreadOrder::UpdatedOldest => info.updated_ms,
        }
    }

    /// Whether the place of a thread is after a place.
    pub(crate) fn is_after(self, info: &ThreadInfo, time_ms: u64, id: &str) -> bool {
        let (place, other) = ((self.time_of(info), &*info.id), (time_ms, id));
        match self {
            ThreadOrder::Id => *info.id > *id,
            newest if newest.is_newest_first() => place < other,
            _ => place > other,
        }
    }

    /// Sorts threads.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadInfo, ThreadOrder};
    ///
    /// let info = |id: &str| ThreadInfo { id: id.into(), ..ThreadInfo::default() };
    /// let mut infos = [info("bob"), info("ann")];
    /// ThreadOrder::Id.sort(&mut infos);
    /// assert_eq!(infos[0].id, "ann");
    /// ```
    pub fn sort(self, infos: &mut [ThreadInfo]) {
        infos.sort_unstable_by(|one, other| {
            let order = (self.time_of(one), &*one.id).cmp(&(self.time_of(other), &*other.id));
            if self.is_newest_first() {
                order.reverse()
            } else {
                order
            }
        });
    }
}

/// How many threads of a flow have a status: see [`Store::thread_counts`](super::Store::thread_counts).
///
/// ```
/// use petalflow::checkpoint::{InMemoryStore, Store, ThreadQuery};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// let posts = Publish::new().store(&store);
/// for id in ["one", "two"] {
///     posts.thread(id).run("hello".to_string()).await?;
/// }
/// let counts = store.thread_counts(ThreadQuery::default()).await?;
/// assert_eq!((counts.len(), &*counts[0].flow, counts[0].threads), (1, "Publish", 2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadCount {
    /// The name of the flow. Empty for threads whose first run is in progress.
    pub flow: String,
    /// The status.
    pub status: ThreadStatus,
    /// How many threads there are, at least one.
    pub threads: u64,
}

impl ThreadCount {
    /// Counts threads by flow and status, in this order. Damaged ones are not counted.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadCount, ThreadInfo};
    ///
    /// let counts = ThreadCount::of(&[ThreadInfo::default(), ThreadInfo::default()]);
    /// assert_eq!(counts[0].threads, 2);
    /// ```
    pub fn of(infos: &[ThreadInfo]) -> Vec<ThreadCount> {
        let mut counts: BTreeMap<(&str, ThreadStatus), u64> = BTreeMap::new();
        for info in infos.iter().filter(|info| info.damage.is_none()) {
            *counts.entry((&info.flow, info.status)).or_default() += 1;
        }
        let counts = counts.into_iter();
        let count = |((flow, status), threads): ((&str, _), _)| ThreadCount {
            flow: flow.into(),
            status,
            threads,
        };
        counts.map(count).collect()
    }
}

impl ThreadQuery<'_> {
    /// Whether a thread meets all conditions. The limit is not one of them. Of a [damaged](ThreadInfo::damage) thread only the id
    /// and the place in the order are compared.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadInfo, ThreadQuery};
    ///
    /// let old = ThreadQuery { updated_before_ms: Some(5_000), ..ThreadQuery::default() };
    /// assert!(old.covers(&ThreadInfo { updated_ms: 4_999, ..ThreadInfo::default() }));
    /// assert!(!old.covers(&ThreadInfo { updated_ms: 5_000, ..ThreadInfo::default() }));
    /// ```
    pub fn covers(&self, info: &ThreadInfo) -> bool {
        let label = |(name, value)| info.labels.get(name).is_some_and(|label| label == value);
        let is_after = |after| self.order.is_after(info, self.after_ms, after);
        if !info.id.starts_with(self.prefix) || !self.after.is_none_or(is_after) {
            return false;
        }
        if info.damage.is_some() {
            return true;
        }
        self.status.is_none_or(|status| status == info.status)
            && self.flow.is_none_or(|flow| flow == info.flow)
            && self.label.is_none_or(label)
            && self.filter.is_none_or(|filter| filter.covers(info))
            && self
                .created_from_ms
                .is_none_or(|time| info.created_ms >= time)
            && self
                .created_before_ms
                .is_none_or(|time| info.created_ms < time)
            && self
                .updated_from_ms
                .is_none_or(|time| info.updated_ms >= time)
            && self
                .updated_before_ms
                .is_none_or(|time| info.updated_ms < time)
            && self
                .due_by_ms
                .is_none_or(|time| info.due_ms.is_some_and(|due| due <= time))
    }

    /// The smallest text that is greater than every id with the prefix, for stores that query ranges. `None` if there is no such
    /// text.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadQuery;
    ///
    /// let end = |prefix| ThreadQuery { prefix, ..ThreadQuery::default() }.prefix_end();
    /// assert_eq!(end("essay-").as_deref(), Some("essay."));
    /// assert_eq!(end("a\u{d7ff}").as_deref(), Some("a\u{e000}"));
    /// assert_eq!(end("a\u{10ffff}\u{10ffff}").as_deref(), Some("b"));
    /// assert_eq!(end("\u{10ffff}"), None);
    /// assert_eq!(end(""), None);
    /// ```
    pub fn prefix_end(&self) -> Option<String> {
        let mut chars = self.prefix.chars();
        while let Some(last) = chars.next_back() {
            // A range of `char` skips the surrogates.
            if let Some(next) = (last..=char::MAX).nth(1) {
                return Some(format!("{}{next}", chars.as_str()));
            }
        }
        None
    }
}

impl<'a> ThreadQuery<'a> {
    /// The query for the page after the one that ends with this thread.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadInfo, ThreadOrder, ThreadQuery};
    ///
    /// let page = ThreadQuery { order: ThreadOrder::CreatedNewest, limit: Some(100), ..ThreadQuery::default() };
    /// let last = ThreadInfo { id: "ann".into(), created_ms: 5, ..ThreadInfo::default() };
    /// let next = page.after_thread(&last);
    /// assert_eq!((next.after, next.after_ms, next.limit), (Some("ann"), 5, Some(100)));
    /// ```
    #[must_use]
    pub fn after_thread<'b>(&self, last: &'b ThreadInfo) -> ThreadQuery<'b>
    where
        'a: 'b,
    {
        ThreadQuery {
            after: Some(&last.id),
            after_ms: self.order.time_of(last),
            ..*self
        }
    }

    /// Makes the page of the query from threads of a store, for stores without an index: leaves out those that it does not
    /// [cover](Self::covers), sorts the others, and cuts them at the limit.
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadInfo, ThreadQuery};
    ///
    /// let info = |id: &str| ThreadInfo { id: id.into(), ..ThreadInfo::default() };
    /// let query = ThreadQuery { limit: Some(1), ..ThreadQuery::default() };
    /// assert_eq!(query.page(vec![info("bob"), info("ann")]), [info("ann")]);
    /// ```
    pub fn page(&self, mut infos: Vec<ThreadInfo>) -> Vec<ThreadInfo> {
        infos.retain(|info| self.covers(info));
        self.order.sort(&mut infos);
        infos.truncate(self.limit.unwrap_or(usize::MAX));
        infos
    }
}
