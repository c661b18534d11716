//! A handler that pauses the thread until somebody answers.

use serde::{Deserialize, Serialize};

use super::handler::HumanHandler;
use super::{HumanRequest, HumanResponse};
use petalflow::interrupt::{Ask, Expiry};
use petalflow::{BoxError, Context, async_trait};

/// A handler that stops the run until the thread is resumed with the response: a
/// [`HumanQuestion`]. The run needs a store. The answer is a [`HumanResponse`], or `None` if the question expired.
///
/// ```
/// use petalflow_documents::kinds::{HumanConfig, HumanNode, ThreadHandler};
///
/// let node = HumanNode::new(HumanConfig::default())?.handler(ThreadHandler);
/// # let _ = node;
/// # Ok::<(), petalflow_documents::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadHandler;

/// The question of a [`ThreadHandler`], to answer it.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{HumanConfig, HumanNode, HumanQuestion, HumanResponse, ThreadHandler};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config = HumanConfig { output_var: "review".into(), ..HumanConfig::default() };
/// let node = HumanNode::new(config)?.handler(ThreadHandler);
/// let flow = Graph::<Envelope>::builder("review").node_as("review", node).build()?;
/// let thread = flow.store(&InMemoryStore::new()).thread("t");
///
/// let paused = thread.run(Envelope::new()).await?;
/// let response = HumanResponse { approved: true, ..HumanResponse::default() };
/// let answer = paused.interrupts()[0].answer::<HumanQuestion>(Some(response))?;
/// let envelope = thread.resume(answer).await?.into_finished()?;
/// assert_eq!(envelope.get_var("review_approved"), Some(&true.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HumanQuestion(pub HumanRequest);

impl Ask for HumanQuestion {
    type Answer = Option<HumanResponse>;
    const NAME: &'static str = "petalflow-documents/human";

    fn key(&self) -> String {
        self.0.node.clone()
    }

    fn expires(&self) -> Option<Expiry<Self::Answer>> {
        let after = self.0.timeout.0;
        (!after.is_zero()).then_some(Expiry {
            after,
            answer: None,
        })
    }
}

#[async_trait]
impl HumanHandler for ThreadHandler {
    async fn request(
        &self,
        mut request: HumanRequest,
        cx: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        // The node asks again after the answer, and the request must have the same identifier.
        request.id = format!("{}-{}", cx.task_id(), request.node);
        let id = request.id.clone();
        let response = cx.ask(HumanQuestion(request)).await?;
        Ok(response.map(|response| HumanResponse {
            request_id: id,
            ..response
        }))
    }
}
