//! What must be the same after a crash.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use petalflow::checkpoint::{Address, Cause, Claim, EncodedKey, Store, encode_keys};
use petalflow::middleware::{BoxFuture, Middleware, Next, NodeCall};
use petalflow::thread::CheckpointInfo;
use petalflow::{BoxError, State, TaskId};

/// How a turn of a thread ended: its state as it is stored, or what was wrong.
pub(super) type Ending = Result<Vec<EncodedKey>, String>;

/// The keys of a state as they are stored; those that never are count for nothing.
pub(super) fn keys<S: State>(state: &S) -> Ending {
    encode_keys(state).map_err(|error| error.to_string())
}

/// In what one ending differs from another.
pub(super) fn difference(should: &Ending, is: &Ending) -> Option<String> {
    match (should, is) {
        (Ok(should), Ok(is)) => {
            let differs = should.iter().zip(is).find(|(should, is)| should != is);
            differs.map(|(should, is)| {
                format!("the key `{}` is {is} and should be {should}", is.name())
            })
        }
        (Err(should), Err(is)) if should == is => None,
        (Err(should), Err(is)) => Some(format!("it failed with `{is}` instead of `{should}`")),
        (Ok(_), Err(is)) => Some(format!("it failed: {is}")),
        (Err(should), Ok(_)) => Some(format!("it did not fail, as it should: {should}")),
    }
}

/// What a history must be like; newest first.
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

/// What must not be left of a thread all of whose turns have ended.
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

/// A task as the kit knows it: the turn, the superstep, the node, the index.
type Task = (usize, u64, String, Option<usize>);

/// The ids of tasks, which must be the same in each process.
#[derive(Clone, Default)]
pub(super) struct Ids(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    turn: usize,
    ids: HashMap<Task, TaskId>,
    problem: Option<String>,
}

impl Ids {
    pub(super) fn begin_turn(&self, turn: usize) {
        self.lock().turn = turn;
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.lock().problem.take().map_or(Ok(()), Err)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: State> Middleware<S> for Ids {
    fn around<'a>(
        &'a self,
        call: NodeCall<'a, S>,
        next: Next<'a, S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
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
        drop(seen);
        next.run(call)
    }
}
