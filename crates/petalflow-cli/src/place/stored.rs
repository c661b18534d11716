//! Threads in a store.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use petalflow::checkpoint::{
    AttributeTest, Store, ThreadCount, ThreadFilter, ThreadOrder, ThreadQuery, ThreadStatus,
};
use petalflow::thread::StoredThreads;
use serde_json::{Value, json};

use super::filter::FilterArgs;
use super::listing::{Next, Page};
use super::stop::Stop;
use crate::exit::{Exit, Failure, Result};
use crate::terminal;

/// The threads of a store.
pub(super) struct Stored<'s> {
    store: &'s Arc<dyn Store>,
    threads: StoredThreads,
}

fn failed(error: impl Display) -> Failure {
    Failure::new(Exit::Thread, error)
}

impl<'s> Stored<'s> {
    pub(super) fn new(store: &'s Arc<dyn Store>) -> Self {
        Stored {
            store,
            threads: StoredThreads::new(store),
        }
    }

    pub(super) async fn page(
        &self,
        filter: &FilterArgs,
        order: ThreadOrder,
        after: Option<&Next>,
        limit: usize,
    ) -> Result<Page> {
        let filters = filter.filters();
        let all = filters.all();
        let query = filters.query(&all, order);
        let mut query = match after {
            Some(Next::After(last)) => query.after_thread(last),
            _ => query,
        };
        // One more than is shown tells whether there are more.
        query.limit = Some(limit.saturating_add(1));
        let mut threads = self.store.threads(query).await.map_err(failed)?;
        if threads.is_empty() && after.is_none() {
            self.note_unknown_attributes(filter).await?;
        }
        let has_more = threads.len() > limit;
        threads.truncate(limit);
        let last = threads.last().filter(|_| has_more);
        let next = last.map(|last| Next::After(Box::new(last.clone())));
        Ok(Page { threads, next })
    }

    pub(super) async fn counts(&self, filter: &FilterArgs) -> Result<Vec<ThreadCount>> {
        let filters = filter.filters();
        let all = filters.all();
        let query = filters.query(&all, ThreadOrder::Id);
        let counts = self.store.thread_counts(query).await.map_err(failed)?;
        if counts.is_empty() {
            self.note_unknown_attributes(filter).await?;
        }
        Ok(counts)
    }

    /// Says which attributes of the conditions no thread has. A store does not know those of programs.
    async fn note_unknown_attributes(&self, filter: &FilterArgs) -> Result<()> {
        let any = AttributeTest::exists();
        for name in filter.attributes() {
            let query = ThreadQuery {
                filter: Some(ThreadFilter::Attribute(name, &any)),
                limit: Some(1),
                ..ThreadQuery::default()
            };
            if self.store.threads(query).await.map_err(failed)?.is_empty() {
                terminal::note(format_args!(
                    "no thread in the store has the attribute `{name}`: a thread has one for each key with `#[key(indexed)]`, from its next checkpoint on"
                ));
            }
        }
        Ok(())
    }

    pub(super) async fn stop(&self, thread: &str, stop: Stop) -> Result<ThreadStatus> {
        let stopped = match stop {
            Stop::Cancel => self.threads.cancel(thread),
            Stop::Hold => self.threads.hold(thread),
            Stop::Drain => self.threads.drain(thread),
        };
        stopped.await.map_err(failed)
    }

    pub(super) async fn delete(&self, thread: &str) -> Result<()> {
        self.threads.delete(thread).await.map_err(failed)
    }

    pub(super) async fn set_labels(
        &self,
        thread: &str,
        labels: &BTreeMap<String, String>,
    ) -> Result<()> {
        let set = self.threads.set_labels(thread, labels.clone());
        set.await.map_err(failed)
    }

    pub(super) async fn follow(
        &self,
        thread: &str,
        number: u64,
        mut show: impl FnMut(&Value) -> Result<()>,
    ) -> Result<()> {
        let mut events = self.threads.follow(thread, number);
        while let Some(event) = events.next().await {
            let event = event.map_err(failed)?;
            let value = serde_json::from_str(&event.value.to_string());
            let mut value: Value = value.map_err(failed)?;
            value["number"] = json!(event.number);
            value["recorded_ms"] = json!(event.recorded_ms);
            show(&value)?;
        }
        Ok(())
    }
}
