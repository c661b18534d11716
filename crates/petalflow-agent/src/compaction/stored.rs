//! All events of a stored conversation, those that were removed from it included.

use crate::{AgentEvent, Conversation};
use petalflow::Flow;
use petalflow::thread::{CheckpointInfo, HistoryQuery, Snapshot, Thread, ThreadError};

/// All events of a stored conversation: those that it has, and before them those that
/// [`Agent::remove_cut_events`](crate::Agent::remove_cut_events) has removed.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::compaction::{LastMessages, StoredEvents};
/// # use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let store = petalflow::checkpoint::InMemoryStore::new();
/// # let model = ScriptedModel::from_fn(|request| request.messages.len().to_string());
/// let agent = Agent::new(model).compaction(LastMessages::new(10)).remove_cut_events();
/// let thread = agent.store(&store).thread("ann");
/// for number in 1..=100 {
///     thread.run(number.to_string()).await?.into_finished()?;
/// }
/// let talk = thread.run("the last one").await?.into_finished()?;
/// assert!(talk.events.len() < 30);
/// let whole = StoredEvents::of(&thread).await?;
/// assert_eq!(whole.events[0].text(), "1");
/// assert_eq!(whole.events.len() as u64, talk.removed_events() + talk.events.len() as u64);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StoredEvents {
    /// The events, in order.
    pub events: Vec<AgentEvent>,
    /// The number of events before these. They were removed from the conversation, and their checkpoints from the store.
    pub missing: u64,
}

impl StoredEvents {
    /// Reads the events of a thread from its checkpoints. There are none if the thread does not exist.
    ///
    /// It reads the properties of all checkpoints if events were removed, and some of the states. A thread that was made
    /// with [`Thread::fork_to`] has only the checkpoints since then.
    ///
    /// # Errors
    ///
    /// If the store fails, or the stored thread does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn of<F>(thread: &Thread<F>) -> Result<Self, ThreadError>
    where
        F: Flow<State = Conversation>,
    {
        let Some(newest) = thread.snapshot().await? else {
            return Ok(Self::default());
        };
        let Conversation {
            events,
            removed: mut missing,
            ..
        } = newest.state;
        let mut parts = vec![events];
        let mut ends = Vec::new();
        if missing > 0 {
            let history = thread.history(HistoryQuery::all()).await?;
            ends = ends_of_turns(newest.info, history);
        }
        // Each turn begins with the events of the one before, or without the first of them.
        while missing > 0 {
            let Some((older, earlier)) = newest_with_fewer_removed(thread, &ends, missing).await?
            else {
                break;
            };
            let Conversation {
                mut events,
                removed,
                ..
            } = older.state;
            events.truncate(usize::try_from(missing - removed).unwrap_or(usize::MAX));
            parts.push(events);
            missing = removed;
            ends = earlier;
        }
        Ok(StoredEvents {
            events: parts.into_iter().rev().flatten().collect(),
            missing,
        })
    }
}

/// The last checkpoint of each turn before `newest`, in its own branch, newest first.
fn ends_of_turns(newest: CheckpointInfo, history: Vec<CheckpointInfo>) -> Vec<u64> {
    let mut child = newest;
    let mut ends = Vec::new();
    for info in history {
        if child.parent != Some(info.checkpoint) {
            continue;
        }
        if info.turn != child.turn {
            ends.push(info.checkpoint);
        }
        child = info;
    }
    ends
}

/// The newest of these checkpoints at which fewer events than `removed` were removed, and the checkpoints before it.
async fn newest_with_fewer_removed<F>(
    thread: &Thread<F>,
    ends: &[u64],
    removed: u64,
) -> Result<Option<(Snapshot<Conversation>, Vec<u64>)>, ThreadError>
where
    F: Flow<State = Conversation>,
{
    let (mut from, mut to) = (0, ends.len());
    let mut found = None;
    while from < to {
        let middle = usize::midpoint(from, to);
        let snapshot = thread.snapshot_at(ends[middle]).await?;
        if snapshot.state.removed < removed {
            found = Some((snapshot, ends[middle + 1..].to_vec()));
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    Ok(found)
}
