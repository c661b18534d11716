//! The index of threads: conditions on several properties, orders by time, and counts.

use std::collections::BTreeMap;

use super::{ThreadInfo, ThreadQuery, ThreadStatus};

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
            ThreadFilter::All(filters) => filters.iter().all(|filter| filter.covers(info)),
            ThreadFilter::Any(filters) => filters.iter().any(|filter| filter.covers(info)),
            ThreadFilter::Not(filter) => !filter.covers(info),
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
