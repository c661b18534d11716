//! Threads that begin at a time.

use super::AnyThread;
use crate::durable::{self, Begins};
use crate::erased::InputBox;
use crate::future::BoxFuture;
use crate::outcome::ThreadError;
use crate::task_services::LATEST_MS;

impl AnyThread {
    /// Begins the thread, which must not exist yet, at a time in milliseconds since 1970 (UTC). No run has it until then.
    pub(crate) fn begin_at(
        &self,
        due_ms: u64,
        input: InputBox,
    ) -> BoxFuture<'_, Result<(), ThreadError>> {
        Box::pin(async move {
            let (storage, claim) = self.claimed().await?;
            self.must_be_new().await?;
            let flow = &*self.threads.flow;
            let begins = Begins::At(due_ms.min(LATEST_MS));
            let begin = Box::pin(durable::begin_due(flow, &storage, begins, input));
            ThreadError::catch_panic(begin).await?;
            // A waker that is told before would find the thread busy.
            drop(claim);
            durable::tell_due(flow.stored_name());
            Ok(())
        })
    }
}
