//! What a trial compares: the state at the end of each turn, the history, leftovers in the store, and the ids of tasks.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use petalflow::checkpoint::{Address, Cause, Claim, Store};
use petalflow::event::TaskId;
use petalflow::middleware::{Middleware, Next, NodeCall};
use petalflow::state::{EncodedKey, encode_keys};
use petalflow::thread::CheckpointInfo;
use petalflow::{BoxError, State, async_trait};

/// How a turn of a thread ended: the stored keys of its state, or the error.
pub(super) type TurnEnd = Result<Vec<EncodedKey>, String>;

/// The keys of a state as they are stored. Keys that are never stored are left out.
pub(super) fn keys<S: State>(state: &S) -> TurnEnd {
    encode_keys(state).map_err(|error| error.to_string())
}

/// The first difference between two ends of a turn.
pub(super) fn difference(expected: &TurnEnd, actual: &TurnEnd) -> Option<String> {
    match (expected, actual) {
        (Ok(expected), Ok(actual)) => {
            let mut keys = expected.iter().zip(actual);
            let (expected, actual) = keys.find(|(expected, actual)| expected != actual)?;
            let name = actual.name();
            Some(format!(
                "the key `{name}` is {actual} instead of {expected}"
            ))
        }
        (Err(expected), Err(actual)) if expected == actual => None,
        (Err(expected), Err(actual)) => {
            Some(format!("it failed with `{actual}` instead of `{expected}`"))
        }
        (Ok(_), Err(actual)) => Some(format!("it failed: {actual}")),
        (Err(expected), Ok(_)) => Some(format!("it did not fail with `{expected}`")),
    }
}

/// Checks a history, newest first: each superstep at most once, and in order.
pub(super) fn check_history(history: &[CheckpointInfo]) -> Result<(), String> {
    let mut supersteps = HashSet::new();
    for info in history {
        let number = info.checkpoint;
        if let Some(parent) = info.parent
            && parent >= number
        {
            return Err(format!("checkpoint {number} follows {parent}"));
        }
        if info.cause == Cause::Superstep && !supersteps.insert((info.turn, info.superstep)) {
            return Err(format!(
                "superstep {} of turn {} is in the history twice",
                info.superstep, info.turn
            ));
        }
    }
    let mut pairs = history.iter().zip(history.iter().skip(1));
    match pairs.find(|(newer, older)| {
        newer.checkpoint <= older.checkpoint
            || (newer.turn, newer.superstep) < (older.turn, older.superstep)
    }) {
        Some((newer, older)) => Err(format!(
            "checkpoint {} (turn {}, superstep {}) comes after {} (turn {}, superstep {})",
            newer.checkpoint,
            newer.turn,
            newer.superstep,
            older.checkpoint,
            older.turn,
            older.superstep
        )),
        None => Ok(()),
    }
}

/// Checks that a thread whose turns have all ended has no pending writes and no claim.
pub(super) async fn check_leftovers(store: &dyn Store, thread: &str) -> Result<(), String> {
    let writes = store.writes(Address::root(thread), 0..i64::MAX as u64);
    let writes = writes.await.map_err(|error| error.to_string())?;
    if let Some((seq, write)) = writes.first() {
        return Err(format!(
            "`{}` beside frontier {seq} is still in the store",
            write.name
        ));
    }
    let claim = store.claim(thread, "the next process").await;
    let claim = claim.map_err(|error| error.to_string())?;
    store.release(thread, "the next process");
    match claim {
        Claim::Granted => Ok(()),
        Claim::Busy { .. } => Err("the thread is still claimed".into()),
    }
}

/// The coordinates of a task: turn, superstep, node, index.
type Task = (usize, u64, String, Option<usize>);

/// Middleware that checks that the id of a task is the same in each process.
#[derive(Clone, Default)]
pub(super) struct TaskIds(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    turn: usize,
    ids: HashMap<Task, TaskId>,
    problem: Option<String>,
}

impl TaskIds {
    pub(super) fn begin_turn(&self, turn: usize) {
        self.lock().turn = turn;
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.lock().problem.take().map_or(Ok(()), Err)
    }

    /// Records the id of a task, which must be the same in every attempt.
    fn record<S: State>(&self, call: &NodeCall<'_, S>) {
        let cx = call.context();
        let id = cx.task_id();
        let mut seen = self.lock();
        let task = (
            seen.turn,
            call.superstep(),
            call.node().to_string(),
            cx.index(),
        );
        let known = *seen.ids.entry(task).or_insert(id);
        if known != id {
            seen.problem = Some(format!(
                "the task of node `{}` in superstep {} had the id {known} and now has {id}",
                call.node(),
                call.superstep()
            ));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<S: State> Middleware<S> for TaskIds {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        self.record(&call);
        next.run(call).await
    }
}
