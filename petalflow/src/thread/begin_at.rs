//! Threads that begin at a time.

use std::time::SystemTime;

use super::{Thread, ThreadError};
use crate::clock::to_ms;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::state::{InputOf, State};

impl<F: Flow> Thread<F> {
    /// Begins the thread, which must not exist yet, with this input at this time, by the clock of the store. The input is checked and
    /// stored now, and no node runs before. The thread is [`Sleeping`](crate::checkpoint::ThreadStatus::Sleeping) until then, and any
    /// process begins it: with [`Threads::wake`](super::Threads::wake), or by hand, with [`resume(())`](Thread::resume), which begins it
    /// earlier. [`cancel`](Thread::cancel) holds it. If the time has come, it is due at once.
    ///
    /// For a time that the flow itself decides, [`sleep`](crate::node::Context::sleep) in a node.
    ///
    /// # Errors
    ///
    /// [`Exists`](ThreadError::Exists) if the thread exists, [`Request`](ThreadError::Request) if the input cannot be applied, or if the
    /// store fails. Then nothing is stored. Until the thread has ended, a new input is refused with [`Sleeping`](ThreadError::Sleeping).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread exists or not. Repeat the call: a thread that exists is refused.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Post {
    ///     #[key(input)]
    ///     text: String,
    ///     sent: bool,
    /// }
    ///
    /// #[node(Post)]
    /// async fn publish(text: &str) -> PostSent {
    ///     PostSent(!text.is_empty())
    /// }
    ///
    /// flow!(Publish(Post) { publish });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// let posts = Publish::new().store(&InMemoryStore::new());
    /// let thread = posts.thread("spring");
    /// thread.begin_at("New seeds".to_string(), SystemTime::now() + Duration::from_secs(86_400)).await?;
    /// let info = thread.info().await?.expect("it exists");
    /// assert_eq!(info.status, ThreadStatus::Sleeping);
    ///
    /// // The time of this test is paused, so this takes no time.
    /// tokio::spawn(posts.wake().run());
    /// tokio::time::sleep(Duration::from_secs(2 * 86_400)).await;
    /// assert!(thread.snapshot().await?.expect("it exists").state.sent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn begin_at(
        &self,
        input: impl InputOf<F::State>,
        time: SystemTime,
    ) -> BoxFuture<'_, Result<(), ThreadError>> {
        let input: <F::State as State>::Input = input.into();
        self.any.begin_at(to_ms(time), Box::new(input))
    }
}
