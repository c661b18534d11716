//! One thread.

use std::marker::PhantomData;

use super::erased::AnyThread;
use super::{Edit, Retention, ThreadError, ThreadRun, Threads};
use crate::durable::Command;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::interrupt::Resume;
use crate::question::Ask;
use crate::state::{InputOf, State};

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
    pub(super) any: AnyThread,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Threads<F> {
    /// The thread with this id, which need not exist yet.
    pub fn thread(&self, id: impl AsRef<str>) -> Thread<F> {
        Thread::typed(self.any.thread(id.as_ref()))
    }
}

impl<F: Flow> Clone for Thread<F> {
    fn clone(&self) -> Self {
        Thread::typed(self.any.clone())
    }
}

impl<F: Flow> std::fmt::Debug for Thread<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.any.fmt(f)
    }
}

/// What a run continues. No type implements it.
#[diagnostic::on_unimplemented(
    message = "a run is one of a thread, and this is all of them",
    label = "name the thread first: `.thread(\"ann\").run(..)`",
    note = "a run without a thread is `Flow::run(..)`, or `.run(..)` of the launch before `.store(..)`"
)]
pub trait IsThread<F: Flow> {
    #[doc(hidden)]
    fn thread_itself(&self) -> &Thread<F>;
}

impl<F: Flow> Threads<F> {
    /// A run is one of a thread: `threads.thread("ann").run(input)`. This method exists for its error, which says so.
    #[doc(hidden)]
    pub fn run(&self, input: impl InputOf<F::State>) -> ThreadRun<F>
    where
        Self: IsThread<F>,
    {
        self.thread_itself().run(input)
    }
}

impl<F: Flow> Thread<F> {
    pub(crate) fn typed(any: AnyThread) -> Self {
        Thread {
            any,
            flow: PhantomData,
        }
    }

    /// The id of the thread.
    pub fn id(&self) -> &str {
        &self.any.id
    }

    /// Runs the flow with this input. A thread that exists begins a new turn: keys marked `turn` are reset to their defaults,
    /// the others retain their values, and the input folds into them. The remaining tasks of a run that failed or was stopped
    /// are discarded.
    ///
    /// A thread that waits for a person refuses a new input with [`Waiting`](ThreadError::Waiting): answer first, or let the
    /// input [discard](ThreadRun::discard_pending) the questions.
    pub fn run(&self, input: impl InputOf<F::State>) -> ThreadRun<F> {
        let input: <F::State as State>::Input = input.into();
        ThreadRun::typed(self.any.run(Command::Input(Box::new(input)), false))
    }

    /// Resumes the thread where it stopped: with `()` after a crash, a failure or a drain, with answers after a pause. Tasks
    /// that have finished do not run again. A thread that has ended does not change.
    ///
    /// If a run of this process has the thread, and waits for these answers or decisions while other nodes of its superstep run, it
    /// gets them: they are stored, and the nodes that asked run again at once. A rejection ends the run. [`begin`](ThreadRun::begin) returns when the answers are
    /// stored. The run that this method returns then waits until the other one has ended, and goes on where that has stopped: of a
    /// thread that has ended, it returns the state. An answer in another process gets [`Busy`](ThreadError::Busy), or waits as
    /// `on_busy` says, and so does a decision that edits the state, because the nodes that run have it.
    ///
    /// A thread that waits for an approval still waits if `with` has none. A thread that a person
    /// [holds](crate::checkpoint::ThreadStatus::Held) is no longer held.
    pub fn resume(&self, with: impl Into<Resume<F::State>>) -> ThreadRun<F> {
        ThreadRun::typed(self.any.resume(with.into().any))
    }

    /// Resumes the thread with `()`, but fails with [`Held`](ThreadError::Held) if a person
    /// [holds](crate::checkpoint::ThreadStatus::Held) it. For a program that continues what a crash or a shutdown has
    /// interrupted, as [`Threads::resume_all`] does. The status is read after the run has claimed the thread, so a person who
    /// holds the thread at the same moment is not overruled.
    ///
    /// ```
    /// use petalflow::thread::ThreadError;
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
    /// // A person looks at an older checkpoint.
    /// thread.fork(0).await?;
    /// let error = thread.recover().await.err().expect("it is held");
    /// assert!(matches!(error.thread_error(), Some(ThreadError::Held { .. })));
    /// // A person lets it continue.
    /// thread.resume(()).await?.into_finished()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recover(&self) -> ThreadRun<F> {
        ThreadRun::typed(self.any.recover())
    }

    /// Answers the only question of the type `A` that the thread waits for, and resumes the thread.
    ///
    /// Of several callers with an answer, one succeeds. The others get [`AnswerError::Answered`](crate::interrupt::AnswerError::Answered), in this process and in other
    /// processes. So while a run of another process has the thread, this waits up to 130 milliseconds for the answer of that
    /// run before it returns [`Busy`](ThreadError::Busy). [`ThreadRun::begin`] returns when the answer is stored.
    ///
    /// # Errors
    ///
    /// If the thread waits for no such question, or for several of them. Then answer by id, with [`resume`](Self::resume).
    ///
    /// # Cancel safety
    ///
    /// Dropping the run stops it at once. Until the answer is stored, the thread still waits for it.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::interrupt::Ask;
    /// # use petalflow::prelude::*;
    /// # #[derive(serde::Serialize, serde::Deserialize, Ask)]
    /// # #[ask(answer = bool)]
    /// # struct MayPay { euros: u32 }
    /// # #[state]
    /// # struct Refund { paid: bool }
    /// # #[node(Refund)]
    /// # async fn pay(cx: Context) -> petalflow::Result<RefundPaid> { Ok(RefundPaid(cx.ask(MayPay { euros: 7 }).await?)) }
    /// # flow!(PayRefund(Refund) { pay });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = PayRefund::new().store(&InMemoryStore::new()).thread("refund");
    /// thread.run(()).await?;
    /// let run = thread.answer::<MayPay>(true).begin().await?; // The answer is stored.
    /// let late = thread.answer::<MayPay>(false).begin().await.expect_err("it has an answer");
    /// assert!(late.to_string().contains("has an answer already"));
    /// assert!(run.await?.into_finished()?.paid);
    /// # Ok(())
    /// # }
    /// ```
    pub fn answer<A: Ask>(&self, answer: A::Answer) -> ThreadRun<F> {
        ThreadRun::typed(self.any.answer::<A>(&answer))
    }

    /// Copies an older checkpoint to the end of the thread and returns its new number. The next [`resume`](Self::resume)
    /// continues from it. Later checkpoints remain in the history. Tasks get new ids, and questions are asked again. Sub-flows
    /// that retain their state get the state that they had at that checkpoint. If nodes are to run next, the thread is
    /// [held](crate::checkpoint::ThreadStatus::Held).
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the state of a sub-flow at that checkpoint is not stored any more, the thread is busy,
    /// or the store fails. Then nothing changes.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the thread as before the call or as after it, with its sub-flows. So does a crash.
    pub async fn fork(&self, checkpoint: u64) -> Result<u64, ThreadError> {
        self.any.fork(checkpoint).await
    }

    /// Begins another thread with a copy of a checkpoint of this one, and with its labels. Sub-flows that retain their state get the state that
    /// they had at that checkpoint. If nodes are to run next, the other thread is [held](crate::checkpoint::ThreadStatus::Held).
    ///
    /// # Errors
    ///
    /// If there is no such checkpoint, the state of a sub-flow at that checkpoint is not stored any more, the other thread
    /// exists, one of the two is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no other thread, or the complete one. So does a crash. This thread does not change.
    pub async fn fork_to(&self, checkpoint: u64, id: impl AsRef<str>) -> Result<Self, ThreadError> {
        let other = self.any.threads.thread(id.as_ref());
        self.any.fork_to(checkpoint, &other).await?;
        Ok(Thread::typed(other))
    }

    /// Copies the thread with its whole history and its labels. Task records of an unfinished superstep are not copied, because the tasks of
    /// the copy have other ids: they run again, and ask again. Until the copy is resumed, it is
    /// [held](crate::checkpoint::ThreadStatus::Held). It is written in one step, so its whole history is in memory for a moment.
    ///
    /// # Errors
    ///
    /// If there is no such thread, the other one exists, one of the two is busy, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no other thread, or the complete one. So does a crash. This thread does not change.
    pub fn copy_to(&self, id: impl AsRef<str>) -> BoxFuture<'_, Result<Self, ThreadError>> {
        let other = self.any.threads.thread(id.as_ref());
        Box::pin(async move {
            self.any.copy_to(&other).await?;
            Ok(Thread::typed(other))
        })
    }

    /// Edits the state of the thread, as one superstep. Returns the number of the new checkpoint. If nodes are to run next and
    /// nobody is asked, the thread is [held](crate::checkpoint::ThreadStatus::Held).
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
    /// As [`update`](Self::update), and if there is no superstep, or one without edits.
    ///
    /// # Cancel safety
    ///
    /// As [`update`](Self::update): all supersteps are stored, or none.
    pub async fn update_all(
        &self,
        supersteps: Vec<Vec<Edit<F::State>>>,
    ) -> Result<Vec<u64>, ThreadError> {
        let supersteps = supersteps.into_iter();
        let edits = |edits: Vec<Edit<F::State>>| edits.into_iter().map(|edit| edit.any).collect();
        self.any.update(supersteps.map(edits).collect()).await
    }

    /// Removes the checkpoints that need not be retained, in all flows of the thread. A run may be in progress: it continues.
    ///
    /// Checkpoints that only append to lists build on all earlier ones. If those that are retained need more than three times as
    /// many others (or 192, if fewer than 64 are retained), a copy of the newest checkpoint that needs no other is stored, and all
    /// before it are removed. With a run in progress this is left out: a run with
    /// [`Threads::retention`](super::Threads::retention) stores such checkpoints itself.
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave some of the checkpoints that were to be removed.
    pub async fn prune(&self, retention: Retention) -> Result<(), ThreadError> {
        self.any.prune(retention).await
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
        self.any.delete().await
    }
}
