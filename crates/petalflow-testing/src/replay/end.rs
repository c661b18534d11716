//! Runs a stored thread on from one of its supersteps.

use std::fmt;
use std::sync::Arc;

use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::state::Durable;
use petalflow::thread::ThreadFile;
use petalflow::{Flow, Launch, State};

use super::Runs;

/// A [`Replay`](super::Replay) that runs on from a superstep. See [`ReplayOf::from`](super::ReplayOf::from).
#[must_use = "it does nothing before `ends`"]
pub struct ReplayFrom<F: Flow> {
    /// The path of the file, as the start of an error.
    pub(super) name: String,
    pub(super) file: Arc<ThreadFile>,
    pub(super) launch: Launch<F>,
    pub(super) runs: Runs,
    pub(super) at: (u64, u64),
}

/// The two ends of a turn: as it was stored, and as it is with the nodes that ran.
#[non_exhaustive]
pub struct ReplayEnds<S> {
    /// The state at the end of the turn, as it was stored.
    pub recorded: S,
    /// The state after the supersteps that ran on.
    pub found: S,
    /// How many tasks ran. All others gave their recorded results.
    pub ran: u64,
    /// Why the turn did not end: a node was to run that was not named, or it waits, or it has failed. `None` if it ended.
    pub stopped: Option<String>,
}

impl<S: fmt::Debug> fmt::Debug for ReplayEnds<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayEnds")
            .field("recorded", &self.recorded)
            .field("found", &self.found)
            .field("ran", &self.ran)
            .field("stopped", &self.stopped)
            .finish()
    }
}

impl<F: Flow> fmt::Debug for ReplayFrom<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayFrom")
            .field("file", &self.file)
            .field("runs", &self.runs)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

impl<F: Flow<State: State<Storage = Durable>>> ReplayFrom<F> {
    /// Runs the turn to its end.
    ///
    /// # Panics
    ///
    /// If the thread has no such superstep, or the program cannot read it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the nodes that run.
    pub async fn ends(self) -> ReplayEnds<F::State> {
        let engine = ThreadEngine::new(self.launch);
        let runs = self.runs;
        let is_run = move |node: &str| runs.has(node);
        let replay = engine.replay_from(&self.file, self.at, is_run).await;
        let replay = replay.unwrap_or_else(|error| panic!("{}{error}", self.name));
        let thread = self.file.thread();
        ReplayEnds {
            recorded: state(&engine, thread, &replay.recorded).await,
            found: state(&engine, thread, &replay.found).await,
            ran: replay.ran,
            stopped: replay.stopped,
        }
    }
}

/// The state at the newest checkpoint.
async fn state<F: Flow<State: State<Storage = Durable>>>(
    engine: &ThreadEngine<F>,
    thread: &str,
    records: &ThreadRecords,
) -> F::State {
    let read = engine.edit(thread, records, async |thread| thread.snapshot().await);
    let (snapshot, _) = read.await.unwrap_or_else(|error| panic!("{error}"));
    let snapshot = snapshot.unwrap_or_else(|error| panic!("{error}"));
    match snapshot {
        Some(snapshot) => snapshot.state,
        None => panic!("thread `{thread}` has no checkpoint"),
    }
}
