//! Counts the calls of a client.

use std::fmt;

use super::current_node::{self, CurrentNode};
use super::spawned::register;
use super::{Totals, UsageSummary};
use petalflow::async_trait;
use petalflow::middleware::{Middleware, Next, NodeCall};
use petalflow::{BoxError, State};
use petalflow_llm::stream::StreamChunk;
use petalflow_llm::usage::{Price, TokenCount};
use petalflow_llm::{
    Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream, TokenUsage,
};

/// A client that counts its calls in [`Totals`].
///
/// ```
/// use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};
/// use petalflow_tracing::{Metered, Totals};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let totals = Totals::new();
/// let model: Metered<ScriptedModel> = totals.meter(ScriptedModel::new(["Paris"]));
/// let answer = model.complete(&LlmRequest::prompt("What is the capital of France?")).await?;
/// assert_eq!(answer.text(), "Paris");
/// assert_eq!(totals.total().calls, 1);
/// # Ok(())
/// # }
/// ```
pub struct Metered<C> {
    client: C,
    totals: Totals,
}

impl<C> fmt::Debug for Metered<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered")
            .field("totals", &self.totals)
            .finish_non_exhaustive()
    }
}

impl Totals {
    /// Wraps a client and counts its calls by the calling node, in the totals of the current run and in these.
    pub fn meter<C: LlmClient>(&self, client: C) -> Metered<C> {
        Metered {
            client,
            totals: self.clone(),
        }
    }
}

#[async_trait]
impl<S: State> Middleware<S> for Totals {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        register();
        let node = CurrentNode {
            node: call.node().into(),
            totals: self.clone(),
        };
        current_node::within(Some(node), next.run(call)).await
    }
}

/// The usage of a failed call. A response with an unreadable tool call or a blocked prompt was paid for as well.
fn failed_call(error: &LlmError) -> UsageSummary {
    let usage = match &error.kind {
        LlmErrorKind::Arguments { response } | LlmErrorKind::Blocked { response } => response.usage,
        _ => TokenUsage::default(),
    };
    UsageSummary {
        failed: 1,
        ..UsageSummary::of_call(&usage)
    }
}

/// The usage in the last chunk of a stream.
fn streamed_call(last: &StreamChunk) -> UsageSummary {
    let mut call = match &last.error {
        Some(error) => failed_call(error),
        None => UsageSummary::of_call(&TokenUsage::default()),
    };
    if let Some(response) = &last.response {
        call.usage += response.usage;
    }
    call
}

/// Counts for the current node, if any: in the totals of its run, and in `totals` if those are not part of it.
fn count(totals: &Totals, node: Option<&CurrentNode>, call: &UsageSummary) {
    let Some(current) = node else {
        totals.add("", call);
        return;
    };
    current.totals.add(&current.node, call);
    if !current.totals.is_within(totals) {
        totals.add(&current.node, call);
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<C: LlmClient> LlmClient for Metered<C> {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn model(&self) -> Option<&str> {
        self.client.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.client.price(model)
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.client.count_tokens(request).await
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let result = self.client.complete(request).await;
        let call = match &result {
            Ok(response) => UsageSummary::of_call(&response.usage),
            Err(error) => failed_call(error),
        };
        count(&self.totals, current_node::current().as_ref(), &call);
        result
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        // The node that starts the stream pays for it, even if another node reads it.
        let node = current_node::current();
        match self.client.stream(request).await {
            Ok(stream) => {
                let totals = self.totals.clone();
                Ok(stream.with_observer(move |chunk| {
                    if chunk.done {
                        count(&totals, node.as_ref(), &streamed_call(chunk));
                    }
                }))
            }
            Err(error) => {
                count(&self.totals, node.as_ref(), &failed_call(&error));
                Err(error)
            }
        }
    }
}
