//! Nodes that ask a model: what a replay compares.

use super::{Context, RequestParts};
use crate::error::BoxError;
use crate::future::BoxFuture;

impl Context {
    /// Records a request to a model, before it is made, so that a [replay](crate::engine) of the thread can compare it with the request
    /// of a later program. Agents and the nodes of `petalflow-llm` call it.
    ///
    /// Only a thread that [retains results](crate::thread::Retention::with_results) records requests; in other runs `parts` is not
    /// called, and nothing happens. The record costs one access to the store. A replay that compares requests runs a node
    /// only as far as this call: what it would do afterwards does not happen.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::node::RequestParts;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Retention;
    ///
    /// #[state]
    /// struct Essay {
    ///     #[key(input)]
    ///     topic: String,
    ///     draft: String,
    /// }
    ///
    /// #[node(Essay)]
    /// async fn write(topic: &str, cx: Context) -> petalflow::Result<EssayDraft> {
    ///     cx.note_request(|| RequestParts::new().whole("prompt", format!("Write about {topic}."))).await?;
    ///     // Here the model is asked.
    ///     Ok(EssayDraft("Petals are leaves.".into()))
    /// }
    ///
    /// flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let retention = Retention::ALL.with_results();
    /// let threads = Write::new().store(&InMemoryStore::new()).retention(retention);
    /// let thread = threads.thread("petals");
    /// thread.run("petals".to_string()).await?.into_finished()?;
    /// assert!(thread.export().await?.to_string().contains("Write about petals."));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the run of the node has ended: a clone of the context on a spawned task may outlive it. If the request cannot be stored, the
    /// run ends.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the request recorded or not.
    pub fn note_request(
        &self,
        parts: impl FnOnce() -> RequestParts,
    ) -> BoxFuture<'_, Result<(), BoxError>> {
        let services = self.0.shared.services.as_ref();
        match services.filter(|services| services.notes_requests()) {
            None => Box::pin(std::future::ready(Ok(()))),
            Some(services) => {
                let parts = parts();
                Box::pin(async move { services.note_request(&self.0.task_ref(), &parts).await })
            }
        }
    }

    /// Whether a replay runs this node only as far as its request to a model. What the request does not need should not run then, such
    /// as a check that asks another model.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// let test = Context::test();
    /// assert!(!test.context().is_prepared());
    /// ```
    pub fn is_prepared(&self) -> bool {
        let services = self.0.shared.services.as_ref();
        services.is_some_and(|services| services.storage.store.prepares(self.0.task_id()))
    }

    /// Call this before a call that a replay must not make, such as that of a tool: in a replay that runs this node only as far as a
    /// request to a model, the node ends here. In other runs, nothing happens.
    ///
    /// ```
    /// use petalflow::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let test = Context::test();
    /// test.context().leave_if_prepared().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// In such a replay, if the run of the node has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub fn leave_if_prepared(&self) -> BoxFuture<'_, Result<(), BoxError>> {
        #[cfg(feature = "engine")]
        if self.is_prepared()
            && let Some(services) = self.0.shared.services.as_ref()
        {
            return Box::pin(async move { services.leave_if_prepared(&self.0.task_ref()).await });
        }
        Box::pin(std::future::ready(Ok(())))
    }
}
