//! What to say about stored runs.

use std::num::NonZeroU64;

/// When a run's checkpoints are written, and so what a crash can cost. Whatever is chosen, a crash never leaves half of
/// anything: the thread goes on from a checkpoint, the nodes after it run again, and what `once` recorded is not done again.
/// So that its record is found by the same task, [`once`](crate::Context::once) first sees to it that the checkpoint which
/// its superstep began from is durable, and so does a flow inside the flow before it writes its own.
///
/// ```
/// use petalflow::thread::{Durability, HistoryQuery};
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // One checkpoint at the end, where there would be one for the input and one per superstep.
/// let threads = Talk::new().store(&InMemoryStore::new()).durability(Durability::Exit);
/// let thread = threads.thread("ann");
/// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// assert_eq!(thread.history(HistoryQuery::all()).await?.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Durability {
    /// Each superstep's checkpoint is durable before the next superstep begins. A crash costs the superstep that was under
    /// way, but for its tasks that had finished.
    #[default]
    Sync,
    /// Each superstep's checkpoint is written while the next superstep runs. A crash costs that superstep as well.
    Async,
    /// A checkpoint is written after every so many supersteps, and when the run ends or stops. A crash costs the supersteps
    /// since.
    Interval(NonZeroU64),
    /// A checkpoint is written when the run ends or stops. A crash costs the whole run.
    Exit,
}

/// What to do with a run on a thread that another run is working on.
///
/// ```
/// use petalflow::thread::OnBusy;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let threads = Talk::new().store(&InMemoryStore::new()).on_busy(OnBusy::Queue);
/// let thread = threads.thread("ann");
/// let (one, other) = tokio::join!(thread.run(vec!["hello".to_string()]), thread.run(vec!["hi".to_string()]));
/// assert_eq!(one?.state().lines.len() + other?.state().lines.len(), 2 + 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnBusy {
    /// The run is refused with [`Busy`](crate::thread::ThreadError::Busy).
    ///
    /// A run gives its thread back in the background when it ends. Whoever comes through another store at that very moment, or
    /// from another process, may still find it busy: use [`Queue`](Self::Queue) where one run follows another at once.
    #[default]
    Refuse,
    /// The run waits until the other has ended. Who waits longest is not always first.
    Queue,
    /// The other run is cancelled, if it is one of this process; else the run is refused with
    /// [`BusyElsewhere`](crate::thread::ThreadError::BusyElsewhere).
    Cancel,
}
