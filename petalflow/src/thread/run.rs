//! One run of a thread.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Outcome;
use crate::flow::Flow;
use crate::outcome::RunError;
use crate::run::{AnyRun, Events, Run};
use crate::state::State;

/// A run on a thread: a future of its [`Outcome`], or a stream of [events](Self::events).
///
/// Nothing happens before it is polled, except with [`begin`](Self::begin).
///
/// # Cancel safety
///
/// Dropping it stops the run at once, as with [`Run`]; the thread can be resumed from its last checkpoint.
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
/// let run = thread.run(vec!["hello".to_string()]);
/// assert!(thread.snapshot().await?.is_none(), "nothing has happened yet");
/// let chat = run.await?.into_finished()?;
/// assert_eq!(chat.lines.len(), 2);
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing before it is awaited"]
pub struct ThreadRun<F: Flow>(Run<F>);

impl<F: Flow> std::fmt::Debug for ThreadRun<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ThreadRun").field(&self.0).finish()
    }
}

impl<F: Flow> ThreadRun<F> {
    pub(super) fn typed(any: AnyRun) -> Self {
        ThreadRun(Run::typed(any))
    }

    /// The events of the run, as a stream. The stream drives the run: dropping it stops the run.
    ///
    /// # Panics
    ///
    /// If the run has been polled already.
    pub fn events(self) -> Events<F> {
        self.0.events()
    }

    /// Stores what the run begins with: its input, or the answers, decisions and edits with which it resumes. Returns when they
    /// are in the store, with every [`Durability`](crate::thread::Durability). No node has run then. The run that this returns
    /// continues when it is awaited, polled or spawned, and all of its [events](Self::events) can still be received. So a server
    /// can confirm that it has accepted an input or an answer, because no crash loses it after this:
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # async fn accept(thread: &petalflow::thread::Thread<Talk>) -> petalflow::Result<u16> {
    /// let run = thread.run(vec!["hello".to_string()]).begin().await?;
    /// tokio::spawn(async move {
    ///     if let Err(error) = run.await {
    ///         eprintln!("{error}");
    ///     }
    /// });
    /// Ok(202)
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
    /// # assert_eq!(accept(&thread).await?, 202);
    /// # assert_eq!(thread.snapshot().await?.expect("it has begun").state.lines, ["hello"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The run has claimed its thread. Dropping it releases the thread, and [`Thread::resume`](crate::thread::Thread::resume)
    /// with `()` runs what is stored. With a store whose claims expire, poll it before its claim expires.
    ///
    /// # Errors
    ///
    /// The errors of the run before its first node. Then nothing is stored, unless the store fails while it writes.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread is as before the call, or what the run begins with is stored.
    ///
    /// ```
    /// use petalflow::interrupt::Decision;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Post { #[key(input)] text: String }
    /// # #[node(Post)]
    /// # async fn publish(text: &str) { println!("{text}"); }
    /// # flow!(Publish(Post) { publish; interrupt before publish; });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
    /// thread.run("hello".to_string()).await?;
    /// let run = thread.resume(Decision::approve().by("Ann")).begin().await?;
    /// assert!(thread.snapshot().await?.expect("it exists").interrupts.is_empty(), "the approval is stored");
    /// run.await?.into_finished()?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn begin(self) -> Result<Self, RunError> {
        Ok(ThreadRun::typed(self.0.into_any().begin().await?))
    }

    /// Lets a new input discard the questions that the thread waits for, and the results of the tasks that finished beside
    /// them. Call it before the run is polled. It has no effect on a thread that waits for nothing, or on
    /// [`Thread::resume`](crate::thread::Thread::resume).
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Post {
    ///     #[key(input)]
    ///     text: String,
    /// }
    ///
    /// #[node(Post)]
    /// async fn publish(text: &str) {
    ///     println!("{text}");
    /// }
    ///
    /// flow!(Publish(Post) { publish; interrupt before publish; });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
    /// let paused = thread.run("frist".to_string()).await?;
    /// assert_eq!(paused.interrupts().len(), 1);
    ///
    /// assert!(thread.run("first".to_string()).await.is_err(), "a person is asked about it");
    /// let paused = thread.run("first".to_string()).discard_pending().await?;
    /// assert_eq!(paused.state().text, "first");
    /// # Ok(())
    /// # }
    /// ```
    pub fn discard_pending(self) -> Self {
        ThreadRun::typed(self.0.into_any().discard_pending())
    }
}

impl<F: Flow> Future for ThreadRun<F> {
    type Output = Result<Outcome<F::State>, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = std::task::ready!(Pin::new(&mut self.0).poll(cx));
        Poll::Ready(outcome(ended))
    }
}

/// How a run of a thread has ended.
pub(super) fn outcome<S: State>(ended: Result<S, RunError>) -> Result<Outcome<S>, RunError> {
    match ended {
        Ok(state) => Ok(Outcome::Finished(state)),
        Err(error) => error.into_paused().map(Outcome::Paused),
    }
}
