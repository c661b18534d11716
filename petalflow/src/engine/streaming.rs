//! Publishing the events of the threads that an engine runs.

use std::sync::Arc;

use super::records::ThreadRecords;
use super::records_error::RecordsError;
use super::stream::{EventSink, Publisher};
use super::thread_engine::ThreadEngine;
use crate::flow::Flow;
use crate::state::Storable;

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
        self.any.publisher = Some(Arc::new(Publisher::new(Arc::new(sink))));
        self
    }

    /// How many events this process has dropped, over all threads of the engine and of its clones.
    pub fn dropped_events(&self) -> u64 {
        let publisher = self.any.publisher.as_ref();
        publisher.map_or(0, |publisher| publisher.dropped())
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
        let publish = self.any.publish_end(thread, records, number, failure);
        publish.await
    }

    /// Removes the events of a thread that was deleted. A failure is ignored, because the sink lets events expire.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the events are removed or not.
    pub async fn forget_events(&self, thread: &str) {
        if let Some(publisher) = &self.any.publisher {
            publisher.forget(thread).await;
        }
    }
}
