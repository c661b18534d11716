//! A layer that decides which calls a person must confirm.

use async_trait::async_trait;
use serde_json::Value;

use crate::tool::confirm::{ToolConfirm, question};
use crate::tool::{Tool, ToolContext, ToolError, ToolLayer};

type Decide = dyn Fn(&str, &Value) -> Option<String> + Send + Sync;

/// Requires a person's confirmation where a tool is used, and not where it is written. The same tool can need a confirmation
/// in one agent and none in another.
///
/// The layer replaces what `#[tool(confirm)]` or a layer inside says.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::Tool;
/// use petalflow::tool::layer::ConfirmLayer;
/// use serde_json::json;
///
/// /// Returns money.
/// #[tool]
/// fn refund(euros: u32) -> String {
///     format!("returned {euros} euros")
/// }
///
/// // `Agent::tool` and other places take a tool in a layer as they take the tool.
/// let always = refund {}.layer(ConfirmLayer::always());
/// assert_eq!(always.confirm(&json!({ "euros": 5 })).as_deref(), Some("the tool `refund` needs your approval"));
///
/// let large = refund {}.layer(ConfirmLayer::when(|arguments| {
///     let euros = arguments["euros"].as_u64().unwrap_or(u64::MAX);
///     (euros > 50).then(|| format!("Return {euros} euros?"))
/// }));
/// assert_eq!(large.confirm(&json!({ "euros": 5 })), None);
/// assert_eq!(large.confirm(&json!({ "euros": 80 })).as_deref(), Some("Return 80 euros?"));
/// ```
pub struct ConfirmLayer(Box<Decide>);

impl std::fmt::Debug for ConfirmLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfirmLayer").finish_non_exhaustive()
    }
}

impl ConfirmLayer {
    /// A person must confirm each call.
    #[must_use]
    pub fn always() -> Self {
        ConfirmLayer(Box::new(|tool, _| Some(question(tool))))
    }

    /// A person must confirm each call, and reads this question.
    ///
    /// ```
    /// use petalflow::tool::layer::ConfirmLayer;
    /// use petalflow::tool::{FuncTool, Tool};
    /// use serde_json::{Value, json};
    ///
    /// let send = FuncTool::new("send", "Sends the letter.", |_: Value| async { Ok("sent") });
    /// let send = send.layer(ConfirmLayer::ask("Send the letter?"));
    /// assert_eq!(send.confirm(&json!({})).as_deref(), Some("Send the letter?"));
    /// ```
    pub fn ask(question: impl Into<String>) -> Self {
        let question = question.into();
        ConfirmLayer(Box::new(move |_, _| Some(question.clone())))
    }

    /// A person must confirm the calls that this function selects by their arguments. It returns `bool`, or an `Option` with
    /// the question.
    ///
    /// The model wrote the arguments: they may be missing, or of another type than the schema says.
    pub fn when<C: ToolConfirm>(select: impl Fn(&Value) -> C + Send + Sync + 'static) -> Self {
        ConfirmLayer(Box::new(move |tool, arguments| {
            select(arguments).question(tool)
        }))
    }

    /// No call needs a confirmation, even if the tool asks for one.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow::tool::Tool;
    /// use petalflow::tool::layer::ConfirmLayer;
    /// use serde_json::json;
    ///
    /// /// Deletes a file.
    /// #[tool(confirm)]
    /// fn delete(name: String) -> String {
    ///     format!("deleted {name}")
    /// }
    ///
    /// // For a folder of temporary files.
    /// let delete = delete {}.layer(ConfirmLayer::never());
    /// assert_eq!(delete.confirm(&json!({ "name": "a.tmp" })), None);
    /// ```
    #[must_use]
    pub fn never() -> Self {
        ConfirmLayer(Box::new(|_, _| None))
    }
}

#[async_trait]
impl ToolLayer for ConfirmLayer {
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError> {
        tool.call(arguments, cx).await
    }

    fn confirm(&self, tool: &dyn Tool, arguments: &Value) -> Option<String> {
        (self.0)(&tool.spec().name, arguments)
    }
}
