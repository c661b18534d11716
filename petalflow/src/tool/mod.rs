//! Tools: functions that a model may call.
//!
//! [`#[tool]`](macro@crate::tool) makes a function a tool, [`FuncTool`] a closure; [`tools!`](crate::tools) and [`ToolSet`]
//! keep several. A tool can be called without any agent:
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
//! // What does not fit is said so that a model can put it right.
//! let error = add {}.call(json!({ "a": "one", "b": 2 }), &cx).await.unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "the arguments of tool `add` do not fit at `a`: invalid type: string \"one\", expected i64; call it again with arguments that fit its schema"
//! );
//! # }
//! ```

//!
//! The type of an argument derives `Deserialize` and `JsonSchema`. The latter is of the crate `schemars`, of which
//! [`tool::schemars`](schemars) has what programs need that do not depend on it themselves:
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
mod entry;
mod error;
mod func;
mod output;
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
pub use call::{ToolCall, ToolResult};
#[doc(hidden)]
pub use confirm::{ToolConfirm, question};
pub use context::ToolContext;
pub use credential::CredentialRequest;
#[doc(hidden)]
pub use entry::Entry;
pub use error::{InvokeError, ToolError};
pub use func::FuncTool;
#[doc(hidden)]
pub use output::{ToolFails, ToolOutput};
pub use output::{invoke, normalize};
pub use registry::ToolRegistry;
pub use set::ToolSet;
pub use source::ToolSource;
pub use spec::ToolSpec;

use std::sync::Arc;

use serde_json::Value;

use self::layer::{Layered, ToolLayer};
use crate::future::BoxFuture;

/// A function that a model may call.
///
/// [`#[tool]`](macro@crate::tool) and [`FuncTool`] implement it; so may any type:
///
/// ```
/// use petalflow::middleware::BoxFuture;
/// use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
/// use serde_json::{Value, json};
/// use std::sync::Arc;
///
/// /// Repeats what it is told, so many times.
/// struct Echo(usize, Arc<ToolSpec>);
///
/// impl Tool for Echo {
///     fn spec(&self) -> &Arc<ToolSpec> {
///         &self.1
///     }
///
///     fn call<'a>(&'a self, arguments: Value, _: &'a ToolContext) -> BoxFuture<'a, Result<Value, ToolError>> {
///         Box::pin(async move {
///             let text = arguments["text"].as_str().ok_or_else(|| ToolError::Arguments("`text` is missing".into()))?;
///             Ok(json!(text.repeat(self.0)))
///         })
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
    note = "annotate the function with `#[tool]`, or make a closure one with `FuncTool::new`"
)]
pub trait Tool: Send + Sync + 'static {
    /// What a model is told about it.
    fn spec(&self) -> &Arc<ToolSpec>;

    /// Calls it. `null` stands for no result: of a tool that is `long_running`, one that comes later.
    ///
    /// # Errors
    ///
    /// When the arguments do not fit, and when the tool fails. The model reads the message.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the tool where it stands; one that is `blocking` runs on, and its result is dropped.
    fn call<'a>(
        &'a self,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>>;

    /// Whether a person must confirm this call, and what they are told.
    fn confirm(&self, arguments: &Value) -> Option<String> {
        let _ = arguments;
        None
    }

    /// The tool with code around its calls. The last layer is the outermost.
    fn layer(self, layer: impl ToolLayer) -> Layered
    where
        Self: Sized,
    {
        Layered::new(Arc::new(self), Arc::new(layer))
    }
}

/// A tool that a function became: what [`tools!`](crate::tools) takes.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::FnTool;
///
/// /// Says hello.
/// #[tool(name = "say-hello")]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// assert_eq!(hello::NAME, "say-hello");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "annotate the function with `#[tool]`; a tool that is a value is added with `.with(..)`"
)]
pub trait FnTool: Tool + Sized {
    /// Its name.
    const NAME: &'static str;
    /// The tool.
    const TOOL: Self;

    #[doc(hidden)]
    const ENTRY: Entry = Entry::of::<Self>();
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> &Arc<ToolSpec> {
        (**self).spec()
    }

    fn call<'a>(
        &'a self,
        arguments: Value,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Value, ToolError>> {
        (**self).call(arguments, cx)
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        (**self).confirm(arguments)
    }
}
