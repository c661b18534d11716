//! One thread.

use std::future::ready;
use std::marker::PhantomData;

use serde_core::Serialize;

use super::erased::AnyThread;
use super::{Edit, OnBusy, Retention, ThreadError, ThreadRun, Threads};
use crate::durable::{self, Command};
use crate::effects::Effects;
use crate::erased::StateType;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::interrupt::Resume;
use crate::node::Inbox;
use crate::question::Ask;
use crate::state::{InputOf, State, Update};

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

    /// Sets what a run of this handle does if another run has the thread, in place of what [`Threads::on_busy`]
    /// says.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # use petalflow::thread::OnBusy;
    /// # #[state]
    /// # struct Report {}
    /// # #[node(Report)]
    /// # async fn write() {}
    /// # flow!(WriteReport(Report) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = WriteReport::new().store(&InMemoryStore::new()).thread("may");
    /// thread.on_busy(OnBusy::Queue).run(()).await?.into_finished()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_busy(mut self, on_busy: OnBusy) -> Self {
        self.any.threads.on_busy = on_busy;
        self
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

    /// Sends a message: a write to a key with `inbox`, from any task and any process. Returns its number: the first message of a thread
    /// has number 1. The thread need not be claimed: it may run, wait, have failed or have finished.
    ///
    /// The message is stored when this returns. Its reducer folds it at the next barrier: when the superstep that runs has ended,
    /// behind what the nodes wrote. A thread that has finished takes its messages at the beginning of the next turn, before the input.
    /// Messages are taken in the order in which they were stored, each once: the checkpoint that has a message also records that it was
    /// taken. A fork of the thread does not take it again, and a copy of the thread begins with an empty inbox.
    ///
    /// If the reducer refuses the write (a sum that overflows, a removal of a message that does not exist), the run fails with
    /// [`RunErrorKind::Message`](crate::run::RunErrorKind::Message), and can be resumed without it.
    ///
    /// # Errors
    ///
    /// [`Unknown`](ThreadError::Unknown) if there is no such thread, [`Value`](ThreadError::Value) if the value cannot be stored, or if
    /// the store fails. Then nothing was sent.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the message is stored or not. [`send_once`](Self::send_once) can be repeated.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Trip {
    ///     #[key(input)]
    ///     days: u32,
    ///     #[key(append, inbox)]
    ///     wishes: Vec<String>,
    ///     plan: String,
    /// }
    ///
    /// #[node(Trip)]
    /// async fn look_for_hotels() {}
    ///
    /// #[node(Trip)]
    /// async fn plan(days: &u32, wishes: &[String]) -> TripPlan {
    ///     TripPlan(format!("{days} days: {}", wishes.join(", ")))
    /// }
    ///
    /// flow!(PlanTrip(Trip) { look_for_hotels -> plan; interrupt before plan; });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let trips = PlanTrip::new().store(&InMemoryStore::new());
    /// let thread = trips.thread("rome");
    /// thread.run(3).await?;
    /// // Elsewhere:
    /// trips.thread("rome").send(TripWishes(vec!["ice cream".into()])).await?;
    /// # let _ = thread.resume(petalflow::interrupt::Decision::approve()).await?;
    /// let snapshot = thread.snapshot().await?.expect("it exists");
    /// assert_eq!(snapshot.state.wishes, ["ice cream"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send<K>(&self, write: K) -> BoxFuture<'_, Result<u64, ThreadError>>
    where
        K: Inbox<State = F::State>,
    {
        self.send_write(None, write)
    }

    /// [`send`](Self::send), unless there is a message with this id: then nothing is added, and the number of that message is
    /// returned. So a sender that does not know whether its message was stored can repeat it. Ids are any text. Of the messages that
    /// the thread has taken, the last thousand are compared.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the message is stored or not. Repeat the call.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Trip { #[key(append, inbox)] wishes: Vec<String> }
    /// # #[node(Trip)]
    /// # async fn plan() {}
    /// # flow!(PlanTrip(Trip) { plan });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = PlanTrip::new().store(&InMemoryStore::new()).thread("rome");
    /// thread.run(()).await?.into_finished()?;
    /// let wish = || TripWishes(vec!["ice cream".into()]);
    /// let first = thread.send_once("mail-7", wish()).await?;
    /// assert_eq!(thread.send_once("mail-7", wish()).await?, first);
    /// assert_eq!(thread.run(()).await?.into_finished()?.wishes, ["ice cream"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_once<K>(
        &self,
        id: impl Into<String>,
        write: K,
    ) -> BoxFuture<'_, Result<u64, ThreadError>>
    where
        K: Inbox<State = F::State>,
    {
        self.send_write(Some(id.into()), write)
    }

    /// [`send`](Self::send) or, with an id, [`send_once`](Self::send_once), for a program that knows the key by its name only. The
    /// value is one write to the key, and may have any form that serde reads as the type of the key.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send), and [`Request`](ThreadError::Request) if the state has no such key, or the key does not take messages.
    ///
    /// # Cancel safety
    ///
    /// As [`send`](Self::send).
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # use serde_json::json;
    /// # #[state]
    /// # struct Trip { #[key(append, inbox)] wishes: Vec<String> }
    /// # #[node(Trip)]
    /// # async fn plan() {}
    /// # flow!(PlanTrip(Trip) { plan });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = PlanTrip::new().store(&InMemoryStore::new()).thread("rome");
    /// thread.run(()).await?.into_finished()?;
    /// assert_eq!(thread.send_value("wishes", json!(["ice cream"]), None).await?, 1);
    /// let error = thread.send_value("wish", json!(["ice cream"]), None).await.unwrap_err();
    /// assert_eq!(error.to_string(), "the state `Trip` has no key `wish` that takes messages; those are `wishes`");
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_value(
        &self,
        key: &str,
        value: impl Serialize,
        id: Option<String>,
    ) -> BoxFuture<'_, Result<u64, ThreadError>> {
        let ty = StateType::of::<F::State>();
        match durable::message_to(ty, key, &value) {
            Ok((key, effects)) => self.any.send(id, key, effects),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn send_write<K>(&self, id: Option<String>, write: K) -> BoxFuture<'_, Result<u64, ThreadError>>
    where
        K: Inbox<State = F::State>,
    {
        let mut update = Update::<F::State>::default();
        update.push::<K>(write.into_value());
        self.any
            .send(id, K::INDEX, Box::new(Effects::<F::State>::of(update)))
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
