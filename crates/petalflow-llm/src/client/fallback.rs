//! Another model for a request that a model cannot answer now.

use std::fmt;
use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::Value;

use crate::response::FinishReason;
use crate::stream::StreamEvent;
use crate::usage::{Price, TokenCount};
use crate::{Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;

/// A client that asks its models in order until one answers.
///
/// The next model is asked after a rate limit, an overload, a failed connection and a timeout, which are the
/// [transient](LlmError::is_transient) errors, and after a prompt that the provider's filter blocked.
/// [`on_error`](Self::on_error) changes that. It is also asked after an answer of which a filter or a refusal left
/// nothing. It happens before the first piece of a stream only: no content is repeated.
/// Give each model its own retries; [`ProviderModel`](crate::ProviderModel) has some.
///
/// A conversation can change its model at any message. Signatures, and what else belongs to one provider, are left out for
/// another one. The response names the provider that answered, and `meta["fallback"]` the errors of the models before it.
///
/// A request that names a model names it for the first client only.
///
/// ```
/// use petalflow_llm::{FallbackModel, LlmClient, LlmError, LlmErrorKind, LlmRequest, Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let busy = LlmError::new(LlmErrorKind::RateLimited { retry_after: None }, "`a` asks to wait");
/// let model = FallbackModel::new([ScriptedModel::new([Reply::from(busy)]), ScriptedModel::new(["hello"])]);
/// let response = model.complete(&LlmRequest::prompt("hi")).await?;
/// assert_eq!(response.text(), "hello");
/// assert_eq!(response.meta["fallback"][0], "`a` asks to wait");
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping the future or the stream closes the connection, and no further model is asked.
#[derive(Clone)]
pub struct FallbackModel {
    models: Vec<Arc<dyn LlmClient>>,
    falls_back: Arc<dyn Fn(&LlmError) -> bool + Send + Sync>,
}

impl FallbackModel {
    /// A client with these models, in this order.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(models: impl IntoIterator<Item = impl LlmClient>) -> Self {
        let models = models
            .into_iter()
            .map(|model| Arc::new(model) as Arc<dyn LlmClient>);
        let models: Vec<_> = models.collect();
        assert!(!models.is_empty(), "a `FallbackModel` needs a model");
        FallbackModel {
            models,
            falls_back: Arc::new(|error| {
                error.is_transient() || matches!(error.kind, LlmErrorKind::Blocked { .. })
            }),
        }
    }

    /// Adds a model, which may be of another type.
    ///
    /// ```
    /// use petalflow_llm::{FallbackModel, Retrying, ScriptedModel};
    ///
    /// let model = FallbackModel::new([ScriptedModel::new(["a"])]).or(Retrying::new(ScriptedModel::new(["b"])));
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn or(mut self, model: impl LlmClient) -> Self {
        self.models.push(Arc::new(model));
        self
    }

    /// Sets the errors after which the next model is asked.
    ///
    /// ```
    /// use petalflow_llm::{FallbackModel, LlmErrorKind, ScriptedModel};
    ///
    /// let models = [ScriptedModel::new(["a"]), ScriptedModel::new(["b"])];
    /// let model = FallbackModel::new(models)
    ///     .on_error(|error| error.is_transient() || error.kind == LlmErrorKind::Auth);
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn on_error(
        mut self,
        falls_back: impl Fn(&LlmError) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.falls_back = Arc::new(falls_back);
        self
    }

    fn first(&self) -> &Arc<dyn LlmClient> {
        &self.models[0]
    }

    /// The request for the model with this index.
    fn request(index: usize, request: &LlmRequest) -> LlmRequest {
        let mut request = request.clone();
        if index > 0 {
            request.model = None;
        }
        request
    }

    /// Why the next model is asked after this answer of a model. `None` if it is the answer.
    fn problem(&self, client: &dyn LlmClient, response: &LlmResponse) -> Option<Value> {
        if is_empty(response) {
            let name = client.name();
            let problem =
                format!("the content filter or a refusal of `{name}` left nothing of the answer");
            return Some(problem.into());
        }
        // A stream ends with a blocked prompt, which is an error only when the stream is read.
        let is_blocked = response.finish == Some(FinishReason::Blocked);
        let blocked = is_blocked.then(|| LlmError::blocked(response.clone()));
        let blocked = blocked.filter(|error| (self.falls_back)(error));
        blocked.map(|error| error.to_string().into())
    }

    /// Notes the error, unless it is the last model's or one that ends the request.
    fn note(&self, index: usize, error: LlmError, errors: &mut Vec<Value>) -> Result<(), LlmError> {
        if index + 1 == self.models.len() || !(self.falls_back)(&error) {
            return Err(error);
        }
        errors.push(error.to_string().into());
        Ok(())
    }
}

/// Whether a filter or a refusal left nothing of the answer.
fn is_empty(response: &LlmResponse) -> bool {
    let is_stopped = matches!(
        response.finish,
        Some(FinishReason::ContentFilter | FinishReason::Refusal)
    );
    let message = response.message.as_ref();
    is_stopped && message.is_none_or(|message| message.parts.is_empty())
}

fn add_errors(mut response: LlmResponse, errors: &[Value]) -> LlmResponse {
    if !errors.is_empty() {
        response.meta.insert("fallback".to_string(), errors.into());
    }
    response
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl LlmClient for FallbackModel {
    fn name(&self) -> &str {
        self.first().name()
    }

    fn model(&self) -> Option<&str> {
        self.first().model()
    }

    fn capabilities(&self) -> Capabilities {
        let all = self.models.iter().map(LlmClient::capabilities);
        all.reduce(Capabilities::and).unwrap_or_default()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.models.iter().find_map(|client| client.price(model))
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let mut errors = Vec::new();
        for (index, model) in self.models.iter().enumerate() {
            match model.complete(&Self::request(index, request)).await {
                Ok(response) => match self.problem(model, &response) {
                    Some(problem) if index + 1 < self.models.len() => errors.push(problem),
                    _ => return Ok(add_errors(response, &errors)),
                },
                Err(error) => self.note(index, error, &mut errors)?,
            }
        }
        Err(LlmError::request("a `FallbackModel` has no models"))
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let mut errors = Vec::new();
        for (index, model) in self.models.iter().enumerate() {
            let started = async {
                let stream = model.stream(&Self::request(index, request)).await?;
                stream.wait_for_first_event().await
            };
            match started.await {
                Ok(mut stream) => {
                    let is_last = index + 1 == self.models.len();
                    let problem = |response: &LlmResponse| self.problem(model, response);
                    if !is_last && let Some(problem) = stream.ends_at_once(problem).await {
                        errors.push(problem);
                        continue;
                    }
                    return Ok(stream.wrap_source(move |events| {
                        events.map(move |event| match event {
                            Ok(StreamEvent::End(response)) => {
                                let response = add_errors(*response, &errors);
                                Ok(StreamEvent::End(Box::new(response)))
                            }
                            event => event,
                        })
                    }));
                }
                Err(error) => self.note(index, error, &mut errors)?,
            }
        }
        Err(LlmError::request("a `FallbackModel` has no models"))
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.first().count_tokens(request).await
    }
}

impl fmt::Debug for FallbackModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.models.iter().map(LlmClient::name);
        f.debug_list().entries(names).finish()
    }
}
