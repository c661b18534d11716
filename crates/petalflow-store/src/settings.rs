//! The settings of stored runs.

use std::num::NonZeroU64;

/// When the checkpoints of a run are written, which decides how much a crash can lose.
///
/// With any setting, a crash leaves nothing incomplete: the thread resumes from a checkpoint, the nodes after it run again,
/// and an effect that `once` has recorded is not repeated. For this, `Context::once` first waits until the
/// checkpoint from which its superstep began is durable. A sub-flow does the same before it writes a checkpoint of its own.
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
/// // One checkpoint at the end, instead of one for the input and one per superstep.
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
    /// The checkpoint of each superstep is durable before the next superstep begins. A crash loses the current superstep,
    /// except for its finished tasks.
    #[default]
    Sync,
    /// The checkpoint of each superstep is written while the next superstep runs. A crash loses that superstep as well.
    Async,
    /// A checkpoint is written after this number of supersteps each time, and when the run ends or stops. A crash loses the
    /// supersteps since the last checkpoint.
    Interval(NonZeroU64),
    /// One checkpoint is written when the run ends or stops. A crash loses the whole run.
    Exit,
}

impl Durability {
    /// Whether a checkpoint is written after this superstep.
    #[doc(hidden)]
    pub fn writes_after(self, superstep: u64) -> bool {
        match self {
            Durability::Sync | Durability::Async => true,
            Durability::Interval(supersteps) => superstep.is_multiple_of(supersteps.get()),
            Durability::Exit => false,
        }
    }
}

/// What to do with a run on a thread that another run has claimed.
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
    /// The run is refused with `ThreadError::Busy`.
    ///
    /// A run releases its thread in the background when it ends. A run that begins immediately after it, in another process or
    /// with another store, may still find the thread busy: use [`Queue`](Self::Queue) in this case.
    #[default]
    Refuse,
    /// The run waits until the other has ended. Waiting runs have no fixed order. A run that waits for one of this process begins as
    /// soon as that has ended. Otherwise it asks the store at intervals of up to 200 ms.
    Queue,
    /// The other run is cancelled, and the run begins when it has ended. A run of another process notices this within a second.
    Cancel,
    /// [`Cancel`](Self::Cancel), and the turn of the other run is undone: the run begins from the checkpoint before that turn, in one
    /// step with its input. So the state has nothing of the turn: no values, no messages that it has taken, and no costs. What its
    /// nodes did elsewhere stays. A turn that has finished at that moment stays too.
    ///
    /// The same holds for a turn that was cancelled, drained or killed before, but not for one that has failed or waits. A run that
    /// resumes the thread undoes nothing.
    ///
    /// The run fails if the checkpoint before the turn was removed: see `Retention`.
    Rollback,
}
