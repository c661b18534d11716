//! Tools: functions that a model may call.
//!
//! [`#[tool]`](macro@crate::tool) makes a tool from a function, [`FuncTool`] from a closure; [`tools!`](crate::tools)
//! and [`ToolSet`] hold several. A tool can be called without an agent:
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow::tool::{Tool, ToolContext};
//! use serde_json::json;
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(
//!     /// The first one.
//!     a: i64,
//!     /// The second one.
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let cx = ToolContext::new("call-1");
//! assert_eq!(add {}.call(json!({ "a": 1, "b": 2 }), &cx).await.unwrap(), json!(3));
//!
//! // The message tells a model how to correct the call.
//! let error = add {}.call(json!({ "a": "one", "b": 2 }), &cx).await.unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the arguments of tool `add` do not fit at `a`: invalid type: string \"one\", expected i64; call it again with arguments that fit its schema"
//! );
//! # }
//! ```

//!
//! The type of an argument derives `Deserialize` and `JsonSchema`. `JsonSchema` is from the crate `schemars`; programs
//! that do not depend on it use [`tool::schemars`](schemars):
//!
//! ```
//! use petalflow::prelude::*;
//! use petalflow::tool::schemars::{self, JsonSchema};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! #[serde(rename_all = "snake_case")]
//! enum Shelf {
//!     Novels,
//!     FieldGuides,
//! }
//!
//! /// Counts the books on a shelf.
//! #[tool]
//! fn count(shelf: Shelf) -> u32 {
//!     match shelf {
//!         Shelf::Novels => 70,
//!         Shelf::FieldGuides => 7,
//!     }
//! }
//! # assert_eq!(tools![count].len(), 1);
//! ```

mod actions;
mod argument;
mod attempts;
mod call;
mod confirm;
mod context;
mod credential;
mod error;
mod fn_tool;
mod func;
mod output;
mod partial;
mod registry;
mod set;
mod source;
mod spec;

pub mod layer;
pub mod schema;
pub mod schemars;

pub(crate) use argument::read;
pub(crate) use attempts::attempts;

pub use actions::{Actions, Confirmation, merge};
#[doc(hidden)]
pub use argument::{ToolArgument, ToolHandle};
pub use call::{Origin, ToolCall, ToolResult};
#[doc(hidden)]
pub use confirm::{
    ConfirmByReference, ConfirmByValue, ConfirmFunction, ConfirmOtherwise, ToolConfirm, question,
};
pub use context::ToolContext;
pub use credential::CredentialRequest;
pub use error::{InvokeError, ToolError};
#[doc(hidden)]
pub use fn_tool::Entry;
pub use fn_tool::FnTool;
pub use func::FuncTool;
#[doc(hidden)]
pub use output::{ToolFails, ToolOutput};
pub use output::{invoke, normalize};
pub use partial::Partial;
#[doc(hidden)]
pub use partial::whole;
pub use registry::ToolRegistry;
pub use set::ToolSet;
pub use source::ToolSource;
pub use spec::ToolSpec;

pub use petalflow_macros::Partial;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::node::Requirements;

/// A function that a model may call.
///
/// [`#[tool]`](macro@crate::tool) and [`FuncTool`] implement it. It can also be implemented directly:
///
/// ```
/// use petalflow::async_trait;
/// use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
/// use serde_json::{Value, json};
/// use std::sync::Arc;
///
/// /// Repeats a text this many times.
/// struct Echo(usize, Arc<ToolSpec>);
///
/// #[async_trait]
/// impl Tool for Echo {
///     fn spec(&self) -> &Arc<ToolSpec> {
///         &self.1
///     }
///
///     async fn call(&self, arguments: Value, _: &ToolContext) -> Result<Value, ToolError> {
///         let text = arguments["text"].as_str().ok_or_else(|| ToolError::Arguments("`text` is missing".into()))?;
///         Ok(json!(text.repeat(self.0)))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
/// let echo = Echo(2, ToolSpec::new("echo", "Repeats a text.", schema).into());
/// let result = echo.call(json!({ "text": "ho" }), &ToolContext::new("1")).await;
/// assert_eq!(result.unwrap(), "hoho");
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "a function is given with braces, `find {{}}`, and is annotated with `#[tool]`; a closure becomes a tool with `FuncTool::new`"
)]
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// The description of the tool for models.
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Calls the tool. `null` means no result; for a tool that is `long_running`, the result comes later.
    ///
    /// # Errors
    ///
    /// Fails if the arguments do not fit or if the tool fails. The model reads the message.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the tool. A `blocking` tool continues, and its result is dropped.
    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError>;

    /// The question for a person who must confirm this call, if one must.
    fn confirm(&self, arguments: &Value) -> Option<String> {
        let _ = arguments;
        None
    }

    /// Adds what the run must have, so that missing values are reported before a model is asked. `#[tool]` adds what the
    /// parameters of the function need.
    fn require(&self, requirements: &mut Requirements<'_>) {
        let _ = requirements;
    }

    /// Wraps the tool in a layer. The last layer is the outermost.
    fn layer(self, layer: impl ToolLayer) -> Layered
    where
        Self: Sized,
    {
        Layered::new(Arc::new(self), Arc::new(layer))
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &Arc<ToolSpec> {
        (**self).spec()
    }

    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
        (**self).call(arguments, cx).await
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        (**self).confirm(arguments)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        (**self).require(requirements);
    }
}

/// Code around the calls of a tool. It can skip the call, or call the tool several times.
///
/// ```
/// use petalflow::async_trait;
/// use petalflow::tool::layer::ToolLayer;
/// use petalflow::tool::{FuncTool, Tool, ToolContext, ToolError};
/// use serde_json::{Value, json};
///
/// /// Answers in capitals.
/// struct Loud;
///
/// #[async_trait]
/// impl ToolLayer for Loud {
///     async fn call(&self, tool: &dyn Tool, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
///         let result = tool.call(arguments, cx).await?;
///         Ok(json!(result.as_str().unwrap_or_default().to_uppercase()))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }).layer(Loud);
/// assert_eq!(ping.call(json!({}), &ToolContext::new("1")).await.unwrap(), "PONG");
/// # }
/// ```
#[async_trait]
pub trait ToolLayer: Send + Sync + 'static {
    /// Runs around one call.
    ///
    /// # Errors
    ///
    /// The errors of the tool and of the layer.
    async fn call(
        &self,
        tool: &dyn Tool,
        arguments: Value,
        cx: &ToolContext,
    ) -> Result<Value, ToolError>;

    /// The question for a person who must confirm a call of `tool`, if one must: by default, that of the tool.
    fn confirm(&self, tool: &dyn Tool, arguments: &Value) -> Option<String> {
        tool.confirm(arguments)
    }
}

/// A tool inside a layer, created by [`Tool::layer`]. Its name and schema are the tool's.
///
/// ```
/// use petalflow::tool::layer::{Layered, TimeoutLayer};
/// use petalflow::tool::{FuncTool, Tool};
/// use serde_json::Value;
/// use std::time::Duration;
///
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
/// let ping: Layered = ping.layer(TimeoutLayer::new(Duration::from_secs(1)));
/// assert_eq!(ping.spec().name, "ping");
/// ```
#[derive(Clone)]
pub struct Layered {
    tool: Arc<dyn Tool>,
    layer: Arc<dyn ToolLayer>,
}

impl_debug!(Layered, |this| tool = this.tool.spec().name);

impl Layered {
    pub(crate) fn new(tool: Arc<dyn Tool>, layer: Arc<dyn ToolLayer>) -> Self {
        Layered { tool, layer }
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl Tool for Layered {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.tool.spec()
    }

    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
        self.layer.call(&*self.tool, arguments, cx).await
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        self.layer.confirm(&*self.tool, arguments)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.tool.require(requirements);
    }
}
