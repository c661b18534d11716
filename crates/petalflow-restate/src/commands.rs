//! What a program tells a thread on Restate, whether it runs or not.

use std::time::Duration;

use petalflow::Flow;
use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::RecordsError;
use petalflow::state::Storable;
use serde::Serialize;

use crate::error::RestateError;
use crate::thread::RestateThread;
use crate::thread_state::SentMessage;

/// How often a thread is told to stop whose superstep begins at the same moment.
const STOP_AGAIN: Duration = Duration::from_secs(1);

impl<F: Flow<State: Storable>> RestateThread<F> {
    /// Stops the thread now: it is [held](ThreadStatus::Held) at its last barrier, and [`resume`](Self::resume) continues it. Nodes that
    /// run are dropped, in drivers and in node hosts; what they have recorded with `once` remains, and results of nodes that have ended
    /// too. An effect that was in progress may happen again. A node host that is away is not waited for.
    ///
    /// A thread that waits or sleeps is held, too. One that has finished or failed does not change. Returns the status.
    ///
    /// # Errors
    ///
    /// There is no such thread, no driver answers, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread may still be stopped.
    pub async fn cancel(&self) -> Result<ThreadStatus, RestateError> {
        let ingress = &self.client.ingress;
        ingress.call(&self.id, "stop", Vec::new()).await?;
        // A superstep that begins at the same moment is stopped by the next call.
        let held = ingress.call_with(&self.id, "hold", Vec::new(), "stop", STOP_AGAIN);
        held.await?;
        self.status().await
    }

    /// Stops the thread at its next barrier: the superstep that runs ends, and the thread is [held](ThreadStatus::Held) with what it has
    /// written. Otherwise as [`cancel`](Self::cancel).
    ///
    /// ```no_run
    /// # use petalflow::checkpoint::ThreadStatus;
    /// # use petalflow::prelude::*;
    /// # use petalflow_restate::RestateThread;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    /// async fn pause(thread: &RestateThread<Write>) -> petalflow::Result<()> {
    ///     if thread.hold().await? == ThreadStatus::Held {
    ///         thread.resume(()).await?;
    ///     }
    ///     Ok(())
    /// }
    /// # let _ = pause;
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such thread, no driver answers, or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread may still be stopped.
    pub async fn hold(&self) -> Result<ThreadStatus, RestateError> {
        self.send_hold().await?;
        self.call("wait", Vec::new()).await?;
        self.status().await
    }

    /// The same, without waiting for it.
    pub(crate) async fn send_hold(&self) -> Result<(), RestateError> {
        self.client.ingress.send(&self.id, "hold").await
    }

    /// Sends a message, as [`Thread::send_value`](petalflow::thread::Thread::send_value) does, whether the thread runs, sleeps or waits.
    /// It is stored when the superstep has ended that runs at the moment, and taken at the barrier after that. A message with the id of
    /// another one is not stored. Returns when Restate has it.
    ///
    /// ```no_run
    /// # use petalflow::prelude::*;
    /// # use petalflow_restate::RestateThread;
    /// # #[state]
    /// # struct Trip { #[key(append, inbox)] wishes: Vec<String> }
    /// # #[node(Trip)]
    /// # async fn plan() {}
    /// # flow!(PlanTrip(Trip) { plan });
    /// async fn wish(thread: &RestateThread<PlanTrip>) -> petalflow::Result<()> {
    ///     thread.send_value("wishes", ["ice cream"], Some("mail-7".into())).await?;
    ///     Ok(())
    /// }
    /// # let _ = wish;
    /// ```
    ///
    /// # Errors
    ///
    /// There is no such thread, the state has no such key that takes messages, the value does not fit; or the server failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the message is stored or not.
    pub async fn send_value(
        &self,
        key: &str,
        value: impl Serialize,
        id: Option<String>,
    ) -> Result<(), RestateError> {
        let unfit = |error: serde_json::Error| RecordsError::Damaged(error.to_string());
        let message = SentMessage {
            key: key.into(),
            value: serde_json::to_value(value).map_err(unfit)?,
            id,
        };
        // A driver does the same, but nobody would read its error.
        let copy = message.clone();
        self.copy(async move |thread| copy.send_to(&thread).await)
            .await??;
        let body = serde_json::to_vec(&message).map_err(unfit)?;
        self.client.ingress.send_with(&self.id, "send", body).await
    }

    async fn status(&self) -> Result<ThreadStatus, RestateError> {
        let state = self.read().await?;
        if state.records.is_empty() {
            return Err(RestateError::Unknown(self.id.clone()));
        }
        Ok(state.records.status()?.0)
    }
}
