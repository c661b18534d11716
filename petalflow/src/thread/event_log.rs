//! The stored events of threads.

use std::sync::Arc;

use super::{Thread, ThreadError, Threads};
use crate::event::{LogCandidate, LoggedEvent, Namespace};
use crate::flow::Flow;

impl<F: Flow> Threads<F> {
    /// Stores the events of the runs, so that any process can [read](Thread::events_since) them later. At least the last `events`
    /// events of a thread remain, and at most twice as many with those of one write. Without this setting, nothing is stored.
    ///
    /// The events of a superstep are written before its checkpoint, and the last events of a run when it ends. So a checkpoint
    /// of the thread's own flow never lacks the events of its nodes. After a crash, the next run adds that this checkpoint was
    /// written and that its superstep has finished, if the process had no time for it. It does not add them for sub-flows: the log
    /// may lack the [`Checkpoint`](crate::event::EventKind::Checkpoint) and the
    /// [`SuperstepFinished`](crate::event::EventKind::SuperstepFinished) of the last superstep of each sub-flow that ran, and the
    /// events of its nodes, because those of a sub-flow are written with the superstep of the thread's own flow in which it runs.
    /// The events of a superstep that runs again are in the log twice, as they happened.
    /// With [`Durability::Exit`](crate::thread::Durability::Exit), all events of a run are written when it ends.
    ///
    /// The log is in the store beside the checkpoints: [`ThreadInfo`](crate::checkpoint::ThreadInfo) counts it with them, a store
    /// that protects checkpoints protects it, and [`Thread::delete`] removes it. [`retention`](Self::retention) does not apply to
    /// it. Forks of a thread continue its log; copies have none.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Talk::new().store(&InMemoryStore::new()).event_log(1_000).thread("ann");
    /// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let events = thread.events_since(0).await?;
    /// assert_eq!(events.last().map(|event| &*event.kind), Some("finished"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn event_log(mut self, events: u64) -> Self {
        self.any.event_log = Some(events);
        self
    }

    /// Stores only the events for which `keeps` returns true: it gets the namespace of the flow that an event is from, which is
    /// empty for the thread's own flow, and the name of its kind, as in [`LoggedEvent::kind`]. The end of a run is always stored.
    /// Without an [event log](Self::event_log), it has no effect.
    ///
    /// An agent inside a flow has many supersteps. A client that shows what the agent writes needs none of them:
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(cx: Context) -> ChatLines { cx.emit("half done"); ChatLines(vec!["hi".into()]) }
    /// # flow!(Talk(Chat) { reply });
    /// # flow!(Outer(Chat) { node talk: Talk { in: |lines: &[String]| lines.to_vec(), out: |chat: Chat| ChatLines(chat.lines) }; talk; });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Outer::new()
    ///     .store(&InMemoryStore::new())
    ///     .event_log(1_000)
    ///     .event_log_filter(|namespace, kind| namespace.as_str().is_empty() || kind == "custom");
    /// # let thread = threads.thread("ann");
    /// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// # let events = thread.events_since(0).await?;
    /// # assert!(events.iter().any(|event| event.kind == "custom"));
    /// # assert_eq!(events.iter().filter(|event| event.kind == "superstep_started").count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn event_log_filter(
        mut self,
        keeps: impl Fn(&Namespace, &str) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.any.event_filter = Some(Arc::new(move |event: &LogCandidate<'_>| {
            keeps(event.namespace, event.kind)
        }));
        self
    }
}

impl<F: Flow> Thread<F> {
    /// The stored events of the thread with numbers above `number`, oldest first; with 0 all that are stored. A client that
    /// reconnects names the last event that it has received. Empty for a thread without an [event log](Threads::event_log).
    ///
    /// The events of a superstep that is in progress are not stored yet. [`follow`](Thread::follow) waits for them.
    ///
    /// # Errors
    ///
    /// If the store fails, or its contents cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Talk::new().store(&InMemoryStore::new()).event_log(1_000).thread("ann");
    /// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let all = thread.events_since(0).await?;
    /// let last_received = all[2].number;
    /// assert_eq!(thread.events_since(last_received).await?, all[3..]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn events_since(&self, number: u64) -> Result<Vec<LoggedEvent>, ThreadError> {
        self.any.events_since(number).await
    }

    /// The number of the newest stored event; 0 if there is none. It reads one record, where
    /// [`events_since`](Self::events_since) reads all of them.
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Talk::new().store(&InMemoryStore::new()).event_log(1_000).thread("ann");
    /// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let before = thread.last_event().await?;
    /// thread.run(vec!["and again".to_string()]).await?.into_finished()?;
    /// let of_second_turn = thread.events_since(before).await?;
    /// assert_eq!(of_second_turn.last().map(|event| event.number), Some(thread.last_event().await?));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn last_event(&self) -> Result<u64, ThreadError> {
        self.any.last_event().await
    }
}
