//! The event log in the records of a thread that an engine keeps.

use super::record_changes::RecordChanges;
use super::records::ThreadRecords;
use super::records_error::RecordsError;
use super::thread_engine::ThreadEngine;
use crate::flow::Flow;
use crate::state::Storable;

impl<F: Flow<State: Storable>> ThreadEngine<F> {
    /// Logs the events of threads in their records, as [`Threads::event_log`](crate::thread::Threads::event_log) does in a store: at least the last `events` events
    /// remain. [`Thread::events_since`](crate::thread::Thread::events_since) reads them in [`edit`](Self::edit). The log counts: it
    /// has what happened in passes that were recorded, also if all listeners were absent. The caller logs
    /// [how a turn ends](Self::log_end).
    ///
    /// The log travels with each superstep, so it has no [partial](crate::event::CustomEvent::partial) events, and none of
    /// supersteps. A placed task does not get it, and its events [follow](ThreadRecords::apply_task) those of the superstep before.
    ///
    /// ```
    /// use petalflow::engine::{ThreadEngine, ThreadRecords};
    /// use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// #[node(Essay)]
    /// async fn write(cx: Context) -> EssayDraft {
    ///     cx.emit("All about petals");
    ///     EssayDraft("petals".into())
    /// }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let engine = ThreadEngine::new(Write::new()).event_log(100);
    /// let mut records = ThreadRecords::default();
    /// records.apply(&engine.begin("ann", &records, ()).await?);
    /// let batch = engine.advance("ann", records.clone(), 0, []).next().await.expect("it ends");
    /// records.apply(&batch.changes);
    /// records.apply(&engine.log_end("ann", &records, 1_700_000_000_000, None).await?);
    ///
    /// let (events, _) = engine.edit("ann", &records, async |thread| thread.events_since(0).await).await?;
    /// let kinds: Vec<String> = events?.into_iter().map(|event| event.kind).collect();
    /// // The checkpoint of the input, and that of the superstep.
    /// let expected = ["run_started", "checkpoint", "node_started", "custom", "node_finished", "checkpoint", "finished"];
    /// assert_eq!(kinds, expected);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn event_log(mut self, events: u64) -> Self {
        self.any.logs = Some(events);
        self
    }

    /// Whether the events of threads are [logged](Self::event_log).
    pub fn has_event_log(&self) -> bool {
        self.any.logs.is_some()
    }

    /// The change that logs how the thread rests, if it does and events are [logged](Self::event_log): `finished`, `interrupted` with
    /// the questions, or `failed`. The caller makes it once each time that the thread rests after it has run. `at_ms` is the time,
    /// in milliseconds since 1970 (UTC): a caller whose code is replayed gives the same again.
    ///
    /// # Errors
    ///
    /// The records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn log_end(
        &self,
        thread: &str,
        records: &ThreadRecords,
        at_ms: u64,
        failure: Option<&str>,
    ) -> Result<RecordChanges, RecordsError> {
        self.any.log_end(thread, records, at_ms, failure).await
    }
}
