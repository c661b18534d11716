//! Closures as tools.

use std::future::Future;
use std::sync::Arc;

use ::schemars::JsonSchema;
use async_trait::async_trait;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolError, ToolOutput as _, ToolSpec, read, schema};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::node::{Extract, Requirements};

type Call =
    dyn Fn(Value, ToolContext) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync;

type Confirm = dyn Fn(&Value) -> Option<String> + Send + Sync;

type Require = fn(&mut Requirements<'_>);

/// A closure as a tool.
///
/// ```
/// use petalflow::tool::schemars::{self, JsonSchema};
/// use petalflow::tool::{FuncTool, Tool, ToolContext};
/// use serde::Deserialize;
/// use serde_json::json;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Add {
///     a: i64,
///     b: i64,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let offset = 10;
/// let add = FuncTool::new("add", "Adds, and ten more.", move |add: Add| async move { Ok(add.a + add.b + offset) });
/// assert_eq!(add.call(json!({ "a": 1, "b": 2 }), &ToolContext::new("1")).await.unwrap(), json!(13));
/// # }
/// ```
#[derive(Clone)]
pub struct FuncTool {
    spec: Arc<ToolSpec>,
    call: Arc<Call>,
    confirm: Option<Arc<Confirm>>,
    require: Vec<Require>,
}

impl_debug!(FuncTool, |this| spec = this.spec);

impl FuncTool {
    /// A tool from a closure over a struct of the arguments, whose type gives the schema.
    pub fn new<A, T, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        T: Serialize,
        F: Future<Output = Result<T, BoxError>> + Send + 'static,
    {
        Self::with_context(name, description, move |arguments, _| function(arguments))
    }

    /// A tool from a closure that also takes the call's [context](ToolContext). [`requires`](Self::requires) declares what it
    /// takes from the run.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool, ToolContext};
    /// use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let leave = FuncTool::with_context("leave", "Ends the talk.", |_: Value, cx| async move {
    ///     cx.actions().escalate = true;
    ///     Ok("bye")
    /// });
    /// let cx = ToolContext::new("1");
    /// assert_eq!(leave.call(json!({}), &cx).await.unwrap(), "bye");
    /// assert!(cx.take_actions().escalate);
    /// # }
    /// ```
    pub fn with_context<A, T, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(A, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        T: Serialize,
        F: Future<Output = Result<T, BoxError>> + Send + 'static,
    {
        let spec = ToolSpec::new(name, description, schema::of::<A>());
        Self::of(spec.into(), function, |spec, result: T| {
            result.into_value(&spec.name)
        })
    }

    /// A tool from a closure over JSON arguments, with a schema that no type has.
    ///
    /// The arguments are not checked against the schema.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool, ToolContext, ToolSpec};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    /// let spec = ToolSpec::new("double", "Doubles.", schema);
    /// let double = FuncTool::untyped(spec, |arguments, _| async move {
    ///     let n = arguments["n"].as_i64().ok_or("`n` must be a whole number")?;
    ///     Ok(json!(2 * n))
    /// });
    /// assert_eq!(double.call(json!({ "n": 4 }), &ToolContext::new("1")).await.unwrap(), 8);
    /// # }
    /// ```
    pub fn untyped<F>(
        spec: impl Into<Arc<ToolSpec>>,
        function: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        let function = move |arguments, cx| function(Value::Object(arguments), cx);
        Self::of(spec.into(), function, |_, result| Ok(result))
    }

    /// A tool that does nothing and returns `{}`.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool, ToolContext, ToolSpec};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let noop = FuncTool::noop(ToolSpec::new("noop", "Does nothing.", json!({ "type": "object" })));
    /// assert_eq!(noop.call(json!({}), &ToolContext::new("1")).await.unwrap(), json!({}));
    /// # }
    /// ```
    pub fn noop(spec: impl Into<Arc<ToolSpec>>) -> Self {
        Self::boxed(spec.into(), |_, _| {
            Box::pin(async { Ok(Map::new().into()) })
        })
    }

    fn of<A, T, F>(
        spec: Arc<ToolSpec>,
        function: impl Fn(A, ToolContext) -> F + Send + Sync + 'static,
        value: impl Fn(&ToolSpec, T) -> Result<Value, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned,
        F: Future<Output = Result<T, BoxError>> + Send + 'static,
    {
        let shared = Arc::new((Arc::clone(&spec), function, value));
        Self::boxed(spec, move |arguments, cx| {
            let shared = Arc::clone(&shared);
            Box::pin(async move {
                let (spec, function, value) = &*shared;
                let call = function(read::<A>(spec, arguments)?, cx);
                value(spec, call.await.map_err(ToolError::Failed)?)
            })
        })
    }

    fn boxed(
        spec: Arc<ToolSpec>,
        call: impl Fn(Value, ToolContext) -> BoxFuture<'static, Result<Value, ToolError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        FuncTool {
            spec,
            call: Arc::new(call),
            confirm: None,
            require: Vec::new(),
        }
    }

    /// Declares a value that the closure takes from the run with [`ToolContext::extract`], as a parameter of a
    /// [`#[tool]`](macro@crate::tool) does. A run without the value then fails before the first model call and not in the
    /// closure.
    ///
    /// ```
    /// use petalflow::node::ManagedValues;
    /// use petalflow::prelude::*;
    /// use petalflow::tool::{FuncTool, Tool, ToolContext};
    /// use serde_json::{Value, json};
    ///
    /// struct Library(u32);
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let count = FuncTool::with_context("count", "Counts the books.", |_: Value, cx| async move {
    ///     Ok(cx.extract::<Managed<Library>>()?.0)
    /// })
    /// .requires::<Managed<Library>>();
    /// let mut values = ManagedValues::default();
    /// values.insert(std::sync::Arc::new(Library(7)));
    /// assert_eq!(count.call(json!({}), &ToolContext::managing("1", values)).await.unwrap(), 7);
    /// # }
    /// ```
    #[must_use]
    pub fn requires<T: Extract>(mut self) -> Self {
        self.require.push(T::require);
        self
    }

    /// Marks the tool as long running: its result comes later, and the returned value only confirms that it has begun.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool};
    /// use serde_json::Value;
    ///
    /// let order = FuncTool::new("order", "Orders a book.", |_: Value| async { Ok("ordered") }).long_running();
    /// assert!(order.spec().long_running);
    /// ```
    #[must_use]
    pub fn long_running(mut self) -> Self {
        Arc::make_mut(&mut self.spec).long_running = true;
        self
    }

    /// Marks the tool as deferred: it can return nothing and send its answer later in the same run.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool};
    /// use serde_json::Value;
    ///
    /// let wait = FuncTool::new("wait", "Waits.", |_: Value| async { Ok(()) }).deferred();
    /// assert!(wait.spec().deferred);
    /// ```
    #[must_use]
    pub fn deferred(mut self) -> Self {
        Arc::make_mut(&mut self.spec).deferred = true;
        self
    }

    /// Requires a person's confirmation of the calls for which `confirm` returns a question.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, Tool};
    /// use serde_json::{Value, json};
    ///
    /// let delete = FuncTool::new("delete", "Deletes a book.", |_: Value| async { Ok(()) })
    ///     .confirm_if(|arguments| (arguments["all"] == true).then(|| "delete all books?".into()));
    /// assert_eq!(delete.confirm(&json!({ "all": true })).as_deref(), Some("delete all books?"));
    /// assert_eq!(delete.confirm(&json!({ "id": 1 })), None);
    /// ```
    #[must_use]
    pub fn confirm_if(
        mut self,
        confirm: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.confirm = Some(Arc::new(confirm));
        self
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl Tool for FuncTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    async fn call(&self, arguments: Value, cx: &ToolContext) -> Result<Value, ToolError> {
        (self.call)(arguments, cx.clone()).await
    }

    fn confirm(&self, arguments: &Value) -> Option<String> {
        self.confirm.as_ref()?(arguments)
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.require
            .iter()
            .for_each(|require| require(requirements));
    }
}
