//! A wrapper that makes a span for each call of a client or tool.

use std::fmt;
use std::sync::Arc;

use petalflow::async_trait;
use serde_json::Value;
use tracing::Instrument as _;

use super::ToolSpan;
use super::spawned::register;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};

/// A model client or tool that makes a span for each of its calls.
///
/// A span ends before the caller receives the answer. The span of a stream ends with its last chunk.
///
/// ```
/// use petalflow::async_trait;
/// use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
/// use petalflow_tracing::Traced;
/// use serde_json::{Value, json};
/// use std::sync::Arc;
///
/// struct Clock(Arc<ToolSpec>);
///
/// #[async_trait]
/// impl Tool for Clock {
///     fn spec(&self) -> &Arc<ToolSpec> {
///         &self.0
///     }
///
///     async fn call(&self, _: Value, _: &ToolContext) -> Result<Value, ToolError> {
///         Ok(json!("12:00"))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let spec = ToolSpec::new("clock", "What time it is.", json!({ "type": "object" }));
/// let clock = Traced::new(Clock(Arc::new(spec)));
/// // A span `execute_tool clock`.
/// assert_eq!(clock.call(json!({}), &ToolContext::new("call-1")).await?, "12:00");
/// # Ok(())
/// # }
/// ```
pub struct Traced<T> {
    pub(super) inner: T,
    pub(super) content: bool,
}

impl<T> Traced<T> {
    /// Wraps a client or tool. The spans record no content, and no message of an error that may quote it.
    pub fn new(inner: T) -> Self {
        register();
        Traced {
            inner,
            content: false,
        }
    }

    /// Records prompts, answers, arguments and results. Anyone who sees the spans can then read this content.
    ///
    /// ```
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_tracing::Traced;
    ///
    /// let model = Traced::new(ScriptedModel::new(["hi"])).with_content();
    /// # let _ = model;
    /// ```
    #[must_use]
    pub fn with_content(mut self) -> Self {
        self.content = true;
        self
    }

    /// Returns the wrapped client or tool.
    ///
    /// ```
    /// assert_eq!(petalflow_tracing::Traced::new(7).into_inner(), 7);
    /// ```
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T> fmt::Debug for Traced<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traced")
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<T: Tool> Tool for Traced<T> {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.inner.spec()
    }

    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
        let span = ToolSpan::start(self.spec(), &cx.call_id, &arguments, self.content);
        let call = self.inner.call(arguments, cx);
        let result = call.instrument(span.span().clone()).await;
        span.end(result.as_ref());
        result
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        self.inner.confirm(arguments)
    }
}
