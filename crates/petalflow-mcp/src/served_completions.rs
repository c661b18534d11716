//! The completions of our server: what a person may write as an argument of a prompt or of a resource.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo};

use super::prompts::{Completes, Reference};
use super::served::answered;
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;

type Offer = dyn Fn(String, BTreeMap<String, String>) -> BoxFuture<'static, Result<Vec<String>, BoxError>>
    + Send
    + Sync;

/// The functions that complete arguments.
#[derive(Clone, Default)]
pub(super) struct ServedCompletions(Vec<(Completes, Arc<Offer>)>);

impl ServedCompletions {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add<F>(
        &mut self,
        completes: Completes,
        offer: impl Fn(String, BTreeMap<String, String>) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<Vec<String>, BoxError>> + Send + 'static,
    {
        let offer =
            move |start, others| -> BoxFuture<'static, _> { Box::pin(offer(start, others)) };
        self.0.push((completes, Arc::new(offer)));
    }

    /// The first mistake: a completion of something that is not served, or two of the same. `is_served` says whether a prompt
    /// or a template has an argument of this name.
    pub(super) fn problem(&self, is_served: impl Fn(&Completes) -> bool) -> Option<String> {
        self.0.iter().enumerate().find_map(|(at, (completes, _))| {
            if !is_served(completes) {
                return Some(format!(
                    "a completion is for {completes}, which is not served; serve it, or correct the names"
                ));
            }
            let earlier = self.0[..at].iter().any(|(earlier, _)| earlier == completes);
            earlier.then(|| format!("two completions are for {completes}"))
        })
    }

    /// The values that an argument can have. There are none for one without a completion.
    pub(super) async fn complete(
        &self,
        request: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let wanted = Completes {
            of: match request.r#ref {
                rmcp::model::Reference::Prompt(prompt) => Reference::Prompt(prompt.name),
                rmcp::model::Reference::Resource(template) => Reference::Resource(template.uri),
                other => {
                    let message = format!("`{}` cannot be completed", other.reference_type());
                    return Err(ErrorData::invalid_params(message, None));
                }
            },
            argument: request.argument.name,
        };
        let Some((_, offer)) = self.0.iter().find(|(completes, _)| *completes == wanted) else {
            return Ok(CompleteResult::new(CompletionInfo::default()));
        };
        let others = request.context.and_then(|context| context.arguments);
        let others = others.unwrap_or_default().into_iter().collect();
        let what = format!("{wanted} cannot be completed");
        let values = answered(&what, offer(request.argument.value, others)).await?;
        Ok(CompleteResult::new(first(values)))
    }
}

/// As many values as the protocol permits, and how many there are.
fn first(mut values: Vec<String>) -> CompletionInfo {
    let total = values.len();
    values.truncate(CompletionInfo::MAX_VALUES);
    let mut info = CompletionInfo::default();
    info.has_more = Some(values.len() < total);
    info.total = u32::try_from(total).ok();
    info.values = values;
    info
}
