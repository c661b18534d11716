//! One thread.

use std::sync::Arc;

use super::{
    CheckpointInfo, Edit, HistoryQuery, Outcome, Retention, Snapshot, ThreadError, ThreadRun,
    Threads,
};
use crate::checkpoint::{Record, ThreadStorage};
use crate::durable::{self, Command, ThreadClaim, ThreadStart};
use crate::exec::{Begin, Start};
use crate::flow::Flow;
use crate::ids::Namespace;
use crate::interrupt::Resume;
use crate::outcome::{RunError, check_id};
use crate::question::{AnswerError, Ask};
use crate::run::Run;
use crate::state::State;

/// One thread of a flow: what runs on it is remembered. Clones are handles to the same thread.
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
/// let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
/// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// let snapshot = thread.snapshot().await?.expect("it has run");
/// assert_eq!(snapshot.state.lines, ["hello", "1 so far"]);
/// assert!(snapshot.is_finished());
/// # Ok(())
/// # }
/// ```
#[must_use = "a thread does nothing before `run`"]
pub struct Thread<F: Flow> {
    threads: Threads<F>,
    id: Arc<str>,
}

impl<F: Flow> Threads<F> {
    /// The thread of this id, which need not exist yet.
    pub fn thread(&self, id: impl Into<Arc<str>>) -> Thread<F> {
        Thread::new(self.clone(), id.into())
    }
}

impl<F: Flow> Clone for Thread<F> {
    fn clone(&self) -> Self {
        Thread {
            threads: self.threads.clone(),
            id: Arc::clone(&self.id),
        }
    }
}

impl<F: Flow> std::fmt::Debug for Thread<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Thread")
            .field("id", &self.id)
            .field("flow", &self.threads.flow.name())
            .finish_non_exhaustive()
    }
}

impl<F: Flow> Thread<F> {
    pub(super) fn new(threads: Threads<F>, id: Arc<str>) -> Self {
        Thread { threads, id }
    }

    /// The thread's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Runs the flow from this input. A thread that exists begins a new turn: keys marked `turn` go back to their defaults, the
    /// others stay, and the input folds into them. What a failed or stopped run had left to do is dropped.
    ///
    /// A thread that waits for people refuses a new input, with [`Waiting`](ThreadError::Waiting): answer first, or say that
    /// the questions may be [dropped](ThreadRun::discard_pending).
    pub fn run(&self, input: impl Into<<F::State as State>::Input>) -> ThreadRun<F> {
        self.begin(Command::Input(input.into()))
    }

    /// Goes on where the thread stopped: after a crash, a failure or a drain with `()`, after a pause with answers. What had
    /// finished does not run again. A thread that has ended stays as it is.
    ///
    /// Without an approval, a thread that waits for one keeps waiting.
    pub fn resume(&self, with: impl Into<Resume<F::State>>) -> ThreadRun<F> {
        self.begin(Command::Resume(Box::new(with.into())))
    }

    /// Answers the one question of the type `A` that the thread waits for, and goes on.
    ///
    /// # Errors
    ///
    /// When the thread waits for no such question, or for several: answer by id then, with [`resume`](Self::resume).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the run at once, as with [`ThreadRun`]; until the answer has been written down the question
    /// stays asked.
    pub async fn answer<A: Ask>(&self, answer: A::Answer) -> Result<Outcome<F::State>, RunError> {
        let refused = |error| RunError::of_thread(error, self.threads.flow.name());
        let snapshot = self.snapshot().await.map_err(refused)?;
        let snapshot = snapshot.ok_or_else(|| refused(self.unknown()))?;
        let asked: Vec<_> = snapshot
            .interrupts
            .iter()
            .filter(|interrupt| interrupt.asks::<A>())
            .collect();
        let answer = match asked[..] {
            [interrupt] => interrupt.answer::<A>(answer),
            [] => Err(AnswerError::Value(format!(
                "thread `{}` does not wait for an answer to `{}`",
                self.id,
                A::NAME
            ))),
            _ => Err(AnswerError::Ambiguous {
                waiting: asked.into_iter().cloned().collect(),
            }),
        };
        let answer = answer.map_err(|error| refused(error.into()))?;
        self.resume(answer).await
    }

    fn begin(&self, command: Command<F::State>) -> ThreadRun<F> {
        let threads = &self.threads;
        let start = ThreadStart {
            storage: self.storage(),
            namespace: Namespace::ROOT,
            durability: threads.durability,
            on_busy: threads.on_busy,
            command,
            retention: threads.retention,
            discard_pending: false,
            nested: None,
        };
        let begin = Begin::Stored(Box::new(start));
        ThreadRun(Run::new(Start {
            flow: Arc::clone(&threads.flow),
            settings: threads.settings.clone(),
            begin,
        }))
    }

    /// The thread as it stands; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// When the store fails, or what it holds does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot(&self) -> Result<Option<Snapshot<F::State>>, ThreadError> {
        self.read_snapshot(None).await
    }

    /// The thread as it stood at a checkpoint.
    ///
    /// # Errors
    ///
    /// When there is no such checkpoint, the store fails, or what it holds does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot_at(&self, checkpoint: u64) -> Result<Snapshot<F::State>, ThreadError> {
        let snapshot = self.read_snapshot(Some(checkpoint)).await?;
        snapshot.ok_or_else(|| ThreadError::UnknownCheckpoint {
            thread: self.id.to_string(),
            checkpoint,
        })
    }

    async fn read_snapshot(
        &self,
        checkpoint: Option<u64>,
    ) -> Result<Option<Snapshot<F::State>>, ThreadError> {
        let storage = self.checked()?;
        durable::snapshot(&*self.threads.flow, &storage, checkpoint).await
    }

    /// The thread's checkpoints, newest first.
    ///
    /// # Errors
    ///
    /// When the store fails, or what it holds cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn history(&self, query: HistoryQuery) -> Result<Vec<CheckpointInfo>, ThreadError> {
        /// How many are read at once.
        const PAGE: usize = 100;
        let storage = self.checked()?;
        let plan = self.threads.flow.plan();
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut infos = Vec::new();
        let mut before = query.before;
        while infos.len() < limit {
            let page = storage.history("", before, PAGE).await?;
            let Some(oldest) = page.last() else { break };
            before = Some(oldest.seq);
            for checkpoint in &page {
                let record = Record::decode(&checkpoint.bytes).map_err(ThreadError::value(
                    format!("checkpoint {} of thread `{}`", checkpoint.seq, self.id),
                ))?;
                let info = CheckpointInfo::of(checkpoint, &record, &plan);
                if query.covers(&info) && infos.len() < limit {
                    infos.push(info);
                }
            }
        }
        Ok(infos)
    }

    /// Makes an older checkpoint the newest again, and says its new number: the next [`resume`](Self::resume) goes on from
    /// there. What came after it stays in the history. Tasks get new ids, and questions are asked anew. Sub-flows that keep
    /// their state know again what they knew then.
    ///
    /// # Errors
    ///
    /// When there is no such checkpoint, what a sub-flow knew then is not stored any more, the thread is busy, or the store
    /// fails. After a failure of the store, fork again before the thread is resumed: some of its sub-flows may have been
    /// taken back already.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is like a failure of the store: fork again before the thread is resumed.
    pub async fn fork(&self, checkpoint: u64) -> Result<u64, ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        durable::fork(&*self.threads.flow, &storage, checkpoint, &storage).await
    }

    /// Begins another thread at a checkpoint of this one. Its sub-flows that keep their state know what those of this thread
    /// knew then.
    ///
    /// # Errors
    ///
    /// When there is no such checkpoint, what a sub-flow knew then is not stored any more, the other thread exists, one of the
    /// two is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave a part of the other thread: delete it before you try again. This thread stays as it is.
    pub async fn fork_to(
        &self,
        checkpoint: u64,
        id: impl Into<Arc<str>>,
    ) -> Result<Self, ThreadError> {
        let other = Thread::new(self.threads.clone(), id.into());
        let (from, to) = (self.checked()?, other.checked()?);
        let _claim = other.claim(&to).await?;
        other.must_be_new().await?;
        durable::fork(&*self.threads.flow, &from, checkpoint, &to).await?;
        Ok(other)
    }

    /// Copies the thread with its whole history. What its tasks had left in an unfinished superstep is not copied, because the
    /// copy's tasks are others: they run again, and ask again.
    ///
    /// # Errors
    ///
    /// When there is no such thread, the other one exists, one of the two is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave a part of the other thread: delete it before you try again. This thread stays as it is.
    pub async fn copy_to(&self, id: impl Into<Arc<str>>) -> Result<Self, ThreadError> {
        let other = Thread::new(self.threads.clone(), id.into());
        let (from, to) = (self.checked()?, other.checked()?);
        if self.id == other.id {
            // ThreadClaim twice, it would wait for itself.
            return Err(other.exists());
        }
        let _claims = (self.claim(&from).await?, other.claim(&to).await?);
        other.must_be_new().await?;
        if from.history("", None, 1).await?.is_empty() {
            return Err(self.unknown());
        }
        durable::copy(&from, &to).await?;
        Ok(other)
    }

    async fn must_be_new(&self) -> Result<(), ThreadError> {
        if self.threads.store.namespaces(&self.id).await?.is_empty() {
            return Ok(());
        }
        Err(self.exists())
    }

    fn exists(&self) -> ThreadError {
        ThreadError::Request(format!(
            "there is a thread `{}` already; delete it first, or take another id",
            self.id
        ))
    }

    /// Changes the thread's state from outside, as one superstep. Returns the number of the new checkpoint.
    ///
    /// # Errors
    ///
    /// When the thread does not exist or is busy, a write is refused, an edit names an unknown node, or the store fails.
    /// Nothing is changed then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as before the call or as after it.
    pub async fn update(&self, edit: Edit<F::State>) -> Result<u64, ThreadError> {
        let checkpoints = self.update_all(vec![vec![edit]]).await?;
        Ok(checkpoints.into_iter().next_back().unwrap_or_default())
    }

    /// `DirtyKeys` the thread's state from outside, superstep by superstep, and says the numbers of the new checkpoints. Several
    /// edits of one superstep must each say [by](Edit::by) which node they are.
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update); when there is no superstep, or one without edits. What writes of an edit do to each other
    /// is only seen when the superstep is reached: those before it are kept then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as it was after one of the supersteps, or before the first.
    pub async fn update_all(
        &self,
        supersteps: Vec<Vec<Edit<F::State>>>,
    ) -> Result<Vec<u64>, ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        durable::edit(&*self.threads.flow, &storage, supersteps).await
    }

    /// Forgets what need not be kept, in all flows of the thread.
    ///
    /// # Errors
    ///
    /// When the thread is busy or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves every checkpoint that is kept, and may leave some that are not.
    pub async fn prune(&self, retention: Retention) -> Result<(), ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        durable::prune(&storage, retention).await
    }

    /// Forgets the thread, with all that is stored of its sub-flows. Nothing happens if there is none.
    ///
    /// # Errors
    ///
    /// When the thread is busy or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as before the call or as after it.
    pub async fn delete(&self) -> Result<(), ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        Ok(storage.store.delete(&self.id).await?)
    }

    async fn claim(&self, storage: &ThreadStorage) -> Result<ThreadClaim, ThreadError> {
        ThreadClaim::get(storage, self.threads.on_busy, &mut None).await
    }

    fn storage(&self) -> ThreadStorage {
        ThreadStorage {
            store: Arc::clone(&self.threads.store),
            thread: Arc::clone(&self.id),
        }
    }

    fn checked(&self) -> Result<ThreadStorage, ThreadError> {
        check_id(&self.id)?;
        Ok(self.storage())
    }

    fn unknown(&self) -> ThreadError {
        ThreadError::Unknown {
            thread: self.id.to_string(),
        }
    }
}
