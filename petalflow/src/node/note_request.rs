//! Nodes that ask a model: what a replay compares.

use super::{Context, RequestParts};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::state::Recordable;

impl Context {
    /// Records a request to a model, before it is made, so that a [replay](crate::engine) of the thread can compare it with the request
    /// of a later program. Agents and the nodes of `petalflow-llm` call it.
    ///
    /// Only a thread that [retains results](crate::thread::Retention::with_results) records requests; in other runs `parts` is not
    /// called, and nothing happens. The record costs one access to the store. A replay that compares requests runs a node
    /// only as far as this call: what it would do afterwards does not happen. If it is called in an effect ([`once`](Self::once)) whose
    /// result is recorded, the node gets this result, and goes on to its next request. [`note_call`](Self::note_call) is for a
    /// node that makes several requests without effects.
    ///
    /// The first 256 requests of a run of the node are recorded. Of a part that is longer than 64 KiB, only the digest is.
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
                Box::pin(async move {
                    let task = self.0.task_ref();
                    services.note_request(&task, &parts).await.map(drop)
                })
            }
        }
    }

    /// Makes a request to a model, and records it as [`note_request`](Self::note_request) does. If the task makes another request, the
    /// answer is recorded with that one, so that a replay gives it, and compares the next request too. `answer` has to contain a failure
    /// as well, if the node goes on after it.
    ///
    /// A node that records its answers with [`once`](Self::once) needs only `note_request` inside of the effect.
    ///
    /// The first 256 requests of a run of the node are recorded, and answers up to 256 KiB. A replay ends at the request to which it has
    /// no answer.
    ///
    /// ```
    /// use petalflow::node::RequestParts;
    /// use petalflow::prelude::*;
    ///
    /// /// Stands for a call of a model.
    /// async fn ask(prompt: &str) -> Result<String, String> {
    ///     Ok(format!("{prompt} Petals are leaves."))
    /// }
    ///
    /// async fn write(cx: &Context) -> petalflow::Result<String> {
    ///     let mut text = String::new();
    ///     for prompt in ["Write.", "Make it shorter."] {
    ///         let parts = || RequestParts::new().whole("prompt", prompt).digest("text", &*text);
    ///         text = cx.note_call(parts, ask(prompt)).await??;
    ///     }
    ///     Ok(text)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let test = Context::test();
    /// assert_eq!(write(&test.context()).await?, "Make it shorter. Petals are leaves.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`note_request`](Self::note_request).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the call, and leaves the request recorded or not.
    pub fn note_call<'a, T: Recordable>(
        &'a self,
        parts: impl FnOnce() -> RequestParts,
        call: impl Future<Output = T> + Send + 'a,
    ) -> BoxFuture<'a, Result<T, BoxError>> {
        let services = self.0.shared.services.as_ref();
        let services = services.filter(|services| services.notes_requests());
        let noted = services.map(|services| (services, parts()));
        Box::pin(async move {
            let Some((services, parts)) = noted else {
                return Ok(call.await);
            };
            let task = self.0.task_ref();
            let noted = services.note_call(&task, &parts).await?;
            if let Some(answer) = services.recorded_answer(&task, &noted).await? {
                return Ok(answer);
            }
            let answer = call.await;
            services.note_answer(&task, noted, &answer);
            Ok(answer)
        })
    }

    /// Whether a replay runs this node only as far as its requests to models. What the request does not need should not run then, such
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
