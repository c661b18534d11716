//! Publishing the events of the threads that an engine runs.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex};

use super::records::ThreadRecords;
use super::records_error::RecordsError;
use super::stream::{EventSink, PassEvents, Publisher, Role, StreamedEvent};
use super::thread_engine::ThreadEngine;
use crate::checkpoint::ThreadStatus;
use crate::clock::now_ms;
use crate::event::RunEnd;
use crate::flow::Flow;
use crate::ids::TaskId;
use crate::state::{RawValue, Storable};

impl<F: Flow<State: Storable>> ThreadEngine<F> {
    /// Publishes the events of all passes: of nodes, what they emit, supersteps, checkpoints. The caller says when a thread
    /// [rests](Self::publish_end).
    ///
    /// No run waits for the sink or fails with it. At most 4,096 events wait; further ones, and those of a call that fails or
    /// takes longer than five seconds, are dropped and [counted](Self::dropped_events). A pass that ends waits at most 100 ms
    /// until its events are published, and not at all while the sink fails.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use petalflow::engine::{EventSink, StreamedEvent, ThreadEngine, ThreadRecords};
    /// use petalflow::prelude::*;
    /// use petalflow::{BoxError, async_trait};
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// #[derive(Clone, Default)]
    /// struct Kinds(Arc<Mutex<Vec<String>>>);
    ///
    /// #[async_trait]
    /// impl EventSink for Kinds {
    ///     async fn publish(&self, events: &[StreamedEvent]) -> Result<(), BoxError> {
    ///         self.0.lock().unwrap().extend(events.iter().map(|event| event.kind.clone()));
    ///         Ok(())
    ///     }
    ///
    ///     async fn forget(&self, _: &str) -> Result<(), BoxError> {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let kinds = Kinds::default();
    /// let engine = ThreadEngine::new(Write::new()).stream_to(kinds.clone());
    /// let mut records = ThreadRecords::default();
    /// records.apply(&engine.begin("ann", &records, ()).await?);
    /// let batch = engine.advance("ann", records.clone(), 0, []).next().await.expect("it ends");
    /// records.apply(&batch.changes);
    /// engine.publish_end("ann", &records, 1, None).await?;
    /// assert_eq!(
    ///     *kinds.0.lock().unwrap(),
    ///     ["run_started", "superstep_started", "node_started", "node_finished", "checkpoint", "superstep_finished", "finished"]
    /// );
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stream_to(mut self, sink: impl EventSink + 'static) -> Self {
        self.publisher = Some(Arc::new(Publisher::new(Arc::new(sink))));
        self
    }

    /// How many events this process has dropped, over all threads of the engine and of its clones.
    pub fn dropped_events(&self) -> u64 {
        self.publisher
            .as_ref()
            .map_or(0, |publisher| publisher.dropped())
    }

    /// Publishes how the thread rests, if it does: `finished`, `interrupted` with the questions, or `failed`. The number must differ
    /// each time that the thread rests, and be the same if the call is repeated.
    ///
    /// # Errors
    ///
    /// The records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the event is published or not.
    pub async fn publish_end(
        &self,
        thread: &str,
        records: &ThreadRecords,
        number: u64,
        failure: Option<&str>,
    ) -> Result<(), RecordsError> {
        let Some(publisher) = &self.publisher else {
            return Ok(());
        };
        let Some((kind, superstep, value)) = self.turn_end(thread, records, failure).await? else {
            return Ok(());
        };
        publisher.publish(StreamedEvent {
            thread: thread.into(),
            checkpoint: records.newest_number(),
            superstep,
            task: None,
            attempt: number,
            sequence: 0,
            recorded_ms: now_ms(),
            kind: kind.into(),
            value,
        });
        publisher.flush().await;
        Ok(())
    }

    /// How a turn ends: the kind of the event, the superstep, and the event. `None` if the thread does not rest.
    pub(super) async fn turn_end(
        &self,
        thread: &str,
        records: &ThreadRecords,
        failure: Option<&str>,
    ) -> Result<Option<(&'static str, u64, RawValue)>, RecordsError> {
        let kind = match records.status()?.0 {
            ThreadStatus::Running => return Ok(None),
            ThreadStatus::Finished => "finished",
            ThreadStatus::Waiting => "interrupted",
            _ => "failed",
        };
        let read = self.edit(thread, records, async |thread| thread.snapshot().await);
        // A thread whose state cannot be read rests as well.
        let snapshot = read.await?.0.ok().flatten();
        let is_held = records.status()?.0 == ThreadStatus::Held;
        let interrupts = snapshot
            .as_ref()
            .map_or(&[][..], |snapshot| &snapshot.interrupts);
        let superstep = snapshot
            .as_ref()
            .map_or(0, |snapshot| snapshot.info.superstep);
        let error = match (failure, is_held) {
            (Some(failure), _) => Some(failure.to_string()),
            (None, true) => Some("the run was cancelled".to_string()),
            (None, false) => None,
        };
        let end = RunEnd {
            kind,
            superstep,
            interrupts: if kind == "interrupted" {
                interrupts
            } else {
                &[]
            },
            error: error.filter(|_| kind == "failed"),
            reason: is_held.then_some("cancelled"),
        };
        let value = RawValue::new(&end).ok();
        Ok(value.map(|value| (kind, superstep, value)))
    }

    /// Removes the events of a thread that was deleted. A failure is ignored, because the sink lets events expire.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the events are removed or not.
    pub async fn forget_events(&self, thread: &str) {
        if let Some(publisher) = &self.publisher {
            publisher.forget(thread).await;
        }
    }

    /// The receiver of the events of a pass that runs a superstep, or this task of it.
    pub(super) fn pass_events(
        &self,
        thread: &str,
        records: &ThreadRecords,
        used: u64,
        task: Option<TaskId>,
        placed: &Arc<BTreeMap<String, String>>,
    ) -> Option<Arc<PassEvents>> {
        let publisher = self.publisher.as_ref()?;
        Some(Arc::new(PassEvents {
            publisher: Arc::clone(publisher),
            role: Role::of(task, placed),
            thread: thread.into(),
            checkpoint: records.newest_number(),
            is_first: used == 0,
            attempt: RandomState::new().hash_one(0),
            sequence: Mutex::new(0),
        }))
    }
}
