//! The trait that providers implement.

use std::sync::Arc;

use crate::usage::{Price, TokenCount};
use crate::{Capabilities, LlmError, LlmRequest, LlmResponse, LlmStream};
use petalflow::async_trait;

/// A client for a language model: a provider's model, a script, or a wrapper around another client.
///
/// A client that returns only complete responses implements [`complete`](Self::complete) alone. A client that only
/// streams implements both methods, and completes with [`LlmStream::into_response`].
///
/// ```
/// use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse};
/// use petalflow::async_trait;
///
/// struct Echo;
///
/// #[async_trait]
/// impl LlmClient for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
///         Ok(LlmResponse::text_only(request.input_text.clone().unwrap_or_default()))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// assert_eq!(Echo.complete(&LlmRequest::prompt("hello")).await?.text(), "hello");
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping a future or a stream cancels the call and closes its connection.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model",
    label = "not a model",
    note = "`ProviderModel::new(\"gpt-5-mini\")?` is a real model (feature `providers` of `petalflow-llm`), `ScriptedModel::new([\"..\"])` is one for tests; a client of your own implements `LlmClient`"
)]
#[async_trait]
pub trait LlmClient: Send + Sync + 'static {
    /// The provider's name, such as `openai`.
    fn name(&self) -> &str;

    /// The model that is used if a request names none.
    fn model(&self) -> Option<&str> {
        None
    }

    /// The client's capabilities.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// The price of a model's tokens, if the client knows it. Limits of the cost count with it before a request.
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, ScriptedModel};
    ///
    /// assert_eq!(ScriptedModel::new(["Paris"]).price("gpt-5-mini"), None);
    /// ```
    fn price(&self, model: &str) -> Option<Price> {
        let _ = model;
        None
    }

    /// The complete response.
    ///
    /// # Errors
    ///
    /// The reason why there is no response. For a tool call whose arguments are not a JSON object, the error contains
    /// the response ([`LlmErrorKind::Arguments`](crate::LlmErrorKind::Arguments)).
    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError>;

    /// The response as a stream. A client without streaming sends the complete response at once.
    ///
    /// # Errors
    ///
    /// Failures before the first chunk. A later failure is in the last chunk.
    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        Ok(LlmStream::from_response(self.complete(request).await?))
    }

    /// The number of input tokens of this request. Nothing is generated.
    ///
    /// `ProviderModel` asks the provider: Anthropic, Gemini, and OpenAI's responses. For other formats, and by default,
    /// it is [an estimate](TokenCount::estimate).
    ///
    /// ```
    /// use petalflow_llm::{LlmClient, LlmRequest, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), petalflow_llm::LlmError> {
    /// let model = ScriptedModel::new(["Paris"]);
    /// let count = model.count_tokens(&LlmRequest::prompt("What is the capital of France?")).await?;
    /// assert_eq!((count.tokens, count.exact), (12, false));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`complete`](Self::complete), if a provider is asked.
    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        Ok(TokenCount::estimate(request))
    }
}

macro_rules! delegates {
    ($($pointer:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        #[async_trait]
        impl<C: LlmClient + ?Sized> LlmClient for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn model(&self) -> Option<&str> {
                (**self).model()
            }

            fn capabilities(&self) -> Capabilities {
                (**self).capabilities()
            }

            fn price(&self, model: &str) -> Option<Price> {
                (**self).price(model)
            }

            async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
                (**self).complete(request).await
            }

            async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
                (**self).stream(request).await
            }

            async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
                (**self).count_tokens(request).await
            }
        }
    )*};
}

delegates!(Arc<C>, Box<C>);
