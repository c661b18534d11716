//! The trait that providers implement.

use std::sync::Arc;

use super::{LlmError, LlmRequest, LlmResponse, LlmStream};
use petalflow::middleware::BoxFuture;

/// Something that answers requests: a provider's model, a script, or another client with something around it.
///
/// A client that only has whole answers implements [`complete`](Self::complete) alone. One that only has pieces implements both
/// and completes with [`LlmStream::into_response`].
///
/// ```
/// use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse};
/// use petalflow::middleware::BoxFuture;
///
/// struct Echo;
///
/// impl LlmClient for Echo {
///     fn name(&self) -> &str {
///         "echo"
///     }
///
///     fn complete<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmResponse, LlmError>> {
///         Box::pin(async { Ok(LlmResponse::text_only(request.input_text.clone().unwrap_or_default())) })
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
/// To drop a future or a stream cancels the call and closes its connection.
pub trait LlmClient: Send + Sync + 'static {
    /// The name of whoever answers, such as `openai`.
    fn name(&self) -> &str;

    /// The model that answers where a request names none.
    fn model(&self) -> Option<&str> {
        None
    }

    /// What it can do.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// The whole answer.
    ///
    /// # Errors
    ///
    /// Why there is none. A tool call whose arguments are not a JSON object is an error that has the answer in it
    /// ([`LlmErrorKind::Arguments`](super::LlmErrorKind::Arguments)).
    fn complete<'a>(
        &'a self,
        request: &'a LlmRequest,
    ) -> BoxFuture<'a, Result<LlmResponse, LlmError>>;

    /// The answer piece by piece; at once as it is, where the client has only whole answers.
    ///
    /// # Errors
    ///
    /// What fails before the first piece. What fails later stands in the last piece.
    fn stream<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmStream, LlmError>> {
        Box::pin(async move { Ok(LlmStream::whole(self.complete(request).await?)) })
    }
}

/// What a client can do.
///
/// ```
/// use petalflow_llm::Capabilities;
///
/// assert!(!Capabilities::default().schema_with_tools);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// It keeps to a `json_schema` while it has tools.
    pub schema_with_tools: bool,
}

impl Capabilities {
    /// It keeps to a `json_schema` while it has tools.
    ///
    /// ```
    /// use petalflow_llm::Capabilities;
    ///
    /// assert!(Capabilities::default().with_schema_with_tools().schema_with_tools);
    /// ```
    #[must_use]
    pub const fn with_schema_with_tools(mut self) -> Self {
        self.schema_with_tools = true;
        self
    }
}

macro_rules! delegates {
    ($($pointer:ty),*) => {$(
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

            fn complete<'a>(
                &'a self,
                request: &'a LlmRequest,
            ) -> BoxFuture<'a, Result<LlmResponse, LlmError>> {
                (**self).complete(request)
            }

            fn stream<'a>(
                &'a self,
                request: &'a LlmRequest,
            ) -> BoxFuture<'a, Result<LlmStream, LlmError>> {
                (**self).stream(request)
            }
        }
    )*};
}

delegates!(Arc<C>, Box<C>);
