//! One thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    CheckpointInfo, Edit, HistoryQuery, Outcome, Retention, Snapshot, ThreadError, ThreadRun,
    Threads,
};
use crate::checkpoint::{ThreadChange, ThreadInfo, ThreadQuery, ThreadStorage};
use crate::durable::{self, Command, ThreadClaim, ThreadStart};
use crate::exec::{Begin, Start};
use crate::flow::Flow;
use crate::ids::Namespace;
use crate::interrupt::Resume;
use crate::outcome::{RunError, check_id};
use crate::question::{AnswerError, Ask};
use crate::run::Run;
use crate::state::State;

/// One thread of a flow. Its runs are stored. Clones are handles to the same thread.
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
    /// The thread with this id, which need not exist yet.
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

    /// The id of the thread.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Runs the flow with this input. A thread that exists begins a new turn: keys marked `turn` are reset to their defaults,
    /// the others retain their values, and the input folds into them. The remaining tasks of a run that failed or was stopped
    /// are discarded.
    ///
    /// A thread that waits for a person refuses a new input with [`Waiting`](ThreadError::Waiting): answer first, or let the
    /// input [discard](ThreadRun::discard_pending) the questions.
    pub fn run(&self, input: impl Into<<F::State as State>::Input>) -> ThreadRun<F> {
        self.begin(Command::Input(input.into()))
    }

    /// Resumes the thread where it stopped: with `()` after a crash, a failure or a drain, with answers after a pause. Tasks
    /// that have finished do not run again. A thread that has ended does not change.
    ///
    /// A thread that waits for an approval still waits if `with` has none.
    pub fn resume(&self, with: impl Into<Resume<F::State>>) -> ThreadRun<F> {
        self.begin(Command::Resume(Box::new(with.into())))
    }

    /// Answers the only question of the type `A` that the thread waits for, and resumes the thread.
    ///
    /// # Errors
    ///
    /// If the thread waits for no such question, or for several of them. Then answer by id, with [`resume`](Self::resume).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the run at once, as with [`ThreadRun`]. Until the answer is stored, the thread still waits for
    /// it.
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

    /// The thread at its newest checkpoint. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If the store fails, or the stored thread does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn snapshot(&self) -> Result<Option<Snapshot<F::State>>, ThreadError> {
        self.read_snapshot(None).await
    }

    /// The thread at a checkpoint.
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the store fails, or the stored thread does not fit the program.
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

    /// The checkpoints of the thread, newest first.
    ///
    /// # Errors
    ///
    /// If the store fails, or its contents cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn history(&self, query: HistoryQuery) -> Result<Vec<CheckpointInfo>, ThreadError> {
        /// The number of checkpoints that are read at once.
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
            let records = storage.records("", &page).await?;
            for (checkpoint, record) in page.iter().zip(records) {
                let info = CheckpointInfo::of(checkpoint, &record, &plan);
                if query.covers(&info) && infos.len() < limit {
                    infos.push(info);
                }
            }
        }
        Ok(infos)
    }

    /// The thread at each of these checkpoints, newest first: [`history`](Self::history) with the states. For one superstep, see
    /// [`HistoryQuery::superstep`].
    ///
    /// # Errors
    ///
    /// As [`history`](Self::history), and if a state does not fit the program.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    ///
    /// ```
    /// use petalflow::thread::HistoryQuery;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
    /// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let snapshots = thread.snapshots(HistoryQuery::all()).await?;
    /// let lines: Vec<usize> = snapshots.iter().map(|snapshot| snapshot.state.lines.len()).collect();
    /// assert_eq!(lines, [2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn snapshots(
        &self,
        query: HistoryQuery,
    ) -> Result<Vec<Snapshot<F::State>>, ThreadError> {
        let mut snapshots = Vec::new();
        for info in self.history(query).await? {
            // A checkpoint may have been pruned in the meantime.
            snapshots.extend(self.read_snapshot(Some(info.checkpoint)).await?);
        }
        Ok(snapshots)
    }

    /// What the store lists of the thread: its status, labels, times and size. `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn info(&self) -> Result<Option<ThreadInfo>, ThreadError> {
        let query = ThreadQuery {
            prefix: &self.checked()?.thread,
            limit: Some(1),
            ..ThreadQuery::default()
        };
        // The id itself comes before all others that begin with it.
        let first = self.threads.list(query).await?.pop();
        Ok(first.filter(|info| *info.id == *self.id))
    }

    /// Sets the labels of the thread, in the place of all earlier ones: names with values, by which threads can be
    /// [listed](ThreadQuery::label). The thread need not exist yet. Labels are not protected by `petalflow-protection`.
    ///
    /// # Errors
    ///
    /// If a name or a value has more than 255 bytes or a NUL, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the labels as before the call or as after it.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadQuery;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Talk::new().store(&InMemoryStore::new());
    /// let thread = threads.thread("42");
    /// thread.set_labels([("user", "ann")]).await?;
    /// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let of_ann = ThreadQuery { label: Some(("user", "ann")), ..ThreadQuery::default() };
    /// assert_eq!(threads.list(of_ann).await?[0].id, "42");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_labels<N: Into<String>, V: Into<String>>(
        &self,
        labels: impl IntoIterator<Item = (N, V)>,
    ) -> Result<(), ThreadError> {
        let storage = self.checked()?;
        let labels = labels
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let labels: BTreeMap<String, String> = labels.collect();
        let mut texts = labels.iter().flat_map(|(name, value)| [name, value]);
        if let Some(text) = texts.find(|text| text.len() > 255 || text.contains('\0')) {
            return Err(ThreadError::Request(format!(
                "a label of thread `{}` has the text {text:?}: use at most 255 bytes, without NUL",
                self.id
            )));
        }
        let change = ThreadChange::Labels(&labels);
        Ok(storage.store.describe(&self.id, change).await?)
    }

    /// Copies an older checkpoint to the end of the thread and returns its new number. The next [`resume`](Self::resume)
    /// continues from it. Later checkpoints remain in the history. Tasks get new ids, and questions are asked again. Sub-flows
    /// that retain their state get the state that they had at that checkpoint.
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the state of a sub-flow at that checkpoint is not stored any more, the thread is busy,
    /// or the store fails. After a failure of the store, fork again before you resume the thread: some of its sub-flows may
    /// have been restored already.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is like a failure of the store: fork again before you resume the thread.
    pub async fn fork(&self, checkpoint: u64) -> Result<u64, ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        let forked = durable::fork(&*self.threads.flow, &storage, checkpoint, &storage).await?;
        durable::describe(&*self.threads.flow, &storage).await?;
        Ok(forked)
    }

    /// Begins another thread with a copy of a checkpoint of this one. Sub-flows that retain their state get the state that
    /// they had at that checkpoint.
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the state of a sub-flow at that checkpoint is not stored any more, the other thread
    /// exists, one of the two is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave a part of the other thread: delete it before you try again. This thread does not change.
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
        durable::describe(&*self.threads.flow, &to).await?;
        Ok(other)
    }

    /// Copies the thread with its whole history. Task records of an unfinished superstep are not copied, because the tasks of
    /// the copy have other ids: they run again, and ask again.
    ///
    /// # Errors
    ///
    /// If there is no such thread, the other one exists, one of the two is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave a part of the other thread: delete it before you try again. This thread does not change.
    pub async fn copy_to(&self, id: impl Into<Arc<str>>) -> Result<Self, ThreadError> {
        let other = Thread::new(self.threads.clone(), id.into());
        let (from, to) = (self.checked()?, other.checked()?);
        if self.id == other.id {
            // A second claim on the same thread would wait for the first.
            return Err(other.exists());
        }
        let _claims = (self.claim(&from).await?, other.claim(&to).await?);
        other.must_be_new().await?;
        if from.history("", None, 1).await?.is_empty() {
            return Err(self.unknown());
        }
        durable::copy(&from, &to).await?;
        durable::describe(&*self.threads.flow, &to).await?;
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
            "there is a thread `{}` already: delete it first, or use another id",
            self.id
        ))
    }

    /// Edits the state of the thread, as one superstep. Returns the number of the new checkpoint.
    ///
    /// # Errors
    ///
    /// If the thread does not exist or is busy, a write is refused, an edit names an unknown node, or the store fails. Then
    /// nothing changes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as before the call or as after it.
    pub async fn update(&self, edit: Edit<F::State>) -> Result<u64, ThreadError> {
        let checkpoints = self.update_all(vec![vec![edit]]).await?;
        Ok(checkpoints.into_iter().next_back().unwrap_or_default())
    }

    /// Edits the state of the thread, superstep by superstep. Returns the numbers of the new checkpoints. If a superstep has
    /// several edits, each must name its node with [`Edit::by`].
    ///
    /// # Errors
    ///
    /// As [`update`](Self::update), and if there is no superstep, or one without edits. Two edits of a superstep that
    /// contradict each other are noticed only when this superstep is reached. The supersteps before it remain.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as after one of the supersteps, or as before the first.
    pub async fn update_all(
        &self,
        supersteps: Vec<Vec<Edit<F::State>>>,
    ) -> Result<Vec<u64>, ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        let edited = durable::edit(&*self.threads.flow, &storage, supersteps).await?;
        durable::describe(&*self.threads.flow, &storage).await?;
        Ok(edited)
    }

    /// Removes the checkpoints that need not be retained, in all flows of the thread. A run may be in progress: it continues.
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave some of the checkpoints that were to be removed.
    pub async fn prune(&self, retention: Retention) -> Result<(), ThreadError> {
        durable::prune(&self.checked()?, retention).await?;
        Ok(())
    }

    /// Deletes the thread with all its sub-flows. Does nothing if there is no such thread.
    ///
    /// # Errors
    ///
    /// If the thread is busy or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as before the call or as after it.
    pub async fn delete(&self) -> Result<(), ThreadError> {
        let storage = self.checked()?;
        let _claim = self.claim(&storage).await?;
        Ok(storage.store.delete(&self.id).await?)
    }

    /// Claims the thread, as the setting for busy threads says.
    pub(super) async fn claimed(&self) -> Result<ThreadClaim, ThreadError> {
        self.claim(&self.checked()?).await
    }

    async fn claim(&self, storage: &ThreadStorage) -> Result<ThreadClaim, ThreadError> {
        ThreadClaim::get(storage, self.threads.on_busy, &mut None).await
    }

    fn storage(&self) -> ThreadStorage {
        ThreadStorage {
            store: Arc::clone(&self.threads.store),
            thread: Arc::clone(&self.id),
            lease: None,
            begun_writes: Arc::default(),
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
