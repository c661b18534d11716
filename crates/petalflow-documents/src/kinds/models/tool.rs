//! A node that stores the result of a tool in a variable.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::RetryConfig;
use super::call_settings::{CallSettings, Retryable, call_settings};
use crate::kinds::{Call, EnvelopeNode};
use crate::{Changes, Envelope, NodeKind, Period};
use petalflow::tool::{Tool, ToolContext, ToolError, ToolRegistry, ToolSet, normalize};
use petalflow::{BoxError, Context, async_trait};
use petalflow_llm::nodes::NodeOutput;

/// The settings of a [`ToolNode`].
///
/// ```
/// use petalflow_documents::kinds::ToolConfig;
/// use serde_json::json;
///
/// let config: ToolConfig = serde_json::from_value(json!({
///     "tool_name": "search",
///     "static_args": { "limit": 5 },
///     "args_template": { "query": "question" },
/// }))?;
/// assert_eq!(config.args_template["query"], "question");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolConfig {
    /// The name of the tool.
    pub tool_name: String,
    /// Arguments with fixed values.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub static_args: Map<String, Value>,
    /// The [path](Envelope::lookup) of the value of an argument. It overrides a fixed value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub args_template: BTreeMap<String, String>,
    /// The arguments that must have a value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_args: Vec<String>,
    /// The variable for the result. The default is `<node>_output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_key: Option<String>,
    /// The longest time of all attempts together. The default is 30 seconds. Zero means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Period>,
    /// The retries.
    #[serde(default)]
    pub retry: RetryConfig,
}

/// A node that calls a tool and sets a variable to the result, an object.
///
/// ```
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::ToolNode;
/// use petalflow::prelude::*;
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(
///     /// The first one.
///     a: i64,
///     /// The second one.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// flow! {
///     Add(Envelope) {
///         sum;
///         node sum: ToolNode = ToolNode::new(add {}).arg("a", 1).arg_from("b", "numbers.second");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let envelope = Envelope::new().with_var("numbers", json!({ "second": 2 }));
/// let envelope = Add::run(envelope).await?;
/// assert_eq!(envelope.get_var("sum_output"), Some(&json!({ "result": 3 })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ToolNode {
    tool: ToolRef,
    registry: Option<ToolRegistry>,
    args: Map<String, Value>,
    /// The paths of arguments, by argument name.
    paths: BTreeMap<String, String>,
    required: Vec<String>,
    call: CallSettings,
}

#[derive(Clone)]
enum ToolRef {
    Value(Arc<dyn Tool>),
    Name(String),
}

impl fmt::Debug for ToolNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolNode")
            .field("tool", &self.name())
            .field("args", &self.args)
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}

impl ToolNode {
    /// Creates a node that calls this tool, with three attempts and a timeout of 30 seconds.
    pub fn new(tool: impl Tool) -> Self {
        Self::with_tool(ToolRef::Value(Arc::new(tool)))
    }

    /// Creates a node that finds its tool by name at run time: in its own [registry](Self::registry), or else in the
    /// run's managed [`ToolRegistry`] or [`ToolSet`].
    ///
    /// ```
    /// use petalflow_documents::kinds::ToolNode;
    ///
    /// let node = ToolNode::named("search");
    /// # let _ = node;
    /// ```
    pub fn named(name: impl Into<String>) -> Self {
        Self::with_tool(ToolRef::Name(name.into()))
    }

    /// Creates a node from settings, which finds its tool as [`named`](Self::named) does.
    ///
    /// ```
    /// use petalflow_documents::kinds::{ToolConfig, ToolNode};
    ///
    /// let config: ToolConfig = serde_json::from_str(r#"{ "tool_name": "search", "args_template": { "query": "question" } }"#)?;
    /// let node = ToolNode::from_config(config);
    /// # let _ = node;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    pub fn from_config(config: ToolConfig) -> Self {
        let timeout = config.timeout.map_or(Duration::from_secs(30), |it| it.0);
        ToolNode {
            args: config.static_args,
            paths: config.args_template,
            required: config.required_args,
            call: CallSettings {
                output: config.output_key,
                ..CallSettings::with_timeout(timeout).with_retry(config.retry)
            },
            ..Self::named(config.tool_name)
        }
    }

    fn with_tool(tool: ToolRef) -> Self {
        ToolNode {
            tool,
            registry: None,
            args: Map::new(),
            paths: BTreeMap::new(),
            required: Vec::new(),
            call: CallSettings::with_timeout(Duration::from_secs(30)),
        }
    }

    /// Sets the registry to find the tool in.
    ///
    /// ```
    /// use petalflow_documents::kinds::ToolNode;
    /// use petalflow::tool::ToolRegistry;
    ///
    /// let node = ToolNode::named("search").registry(ToolRegistry::new());
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn registry(mut self, registry: ToolRegistry) -> Self {
        self.registry = Some(registry);
        self
    }

    /// Sets an argument to a fixed value.
    #[must_use]
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Sets an argument to the [value at a path](Envelope::lookup). It overrides a fixed value. Without a value at
    /// the path the fixed value is used, or the argument is left out.
    #[must_use]
    pub fn arg_from(mut self, name: impl Into<String>, path: impl Into<String>) -> Self {
        self.paths.insert(name.into(), path.into());
        self
    }

    /// Requires these arguments. If one is missing, the node fails without calling the tool.
    ///
    /// ```
    /// use petalflow_documents::kinds::ToolNode;
    ///
    /// let node = ToolNode::named("search").arg_from("query", "question").required(["query"]);
    /// # let _ = node;
    /// ```
    #[must_use]
    pub fn required<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.required = names.into_iter().map(Into::into).collect();
        self
    }

    fn name(&self) -> &str {
        match &self.tool {
            ToolRef::Value(tool) => &tool.spec().name,
            ToolRef::Name(name) => name,
        }
    }

    fn find(&self, cx: &Context) -> Result<Arc<dyn Tool>, BoxError> {
        let name = match &self.tool {
            ToolRef::Value(tool) => return Ok(Arc::clone(tool)),
            ToolRef::Name(name) => name,
        };
        let registry = self.registry.as_ref().map(ToolRegistry::tools);
        let registry = registry
            .or_else(|| cx.managed::<ToolRegistry>().map(|tools| tools.tools()))
            .or_else(|| cx.managed::<ToolSet>().map(|tools| (*tools).clone()));
        let Some(tools) = registry else {
            return Err(format!(
                "node `{}` has no registry to find tool `{name}` in: give the launch one with `.manage(ToolRegistry)`, or the node its own with `.registry(..)`",
                cx.node()
            )
            .into());
        };
        tools.get(name).cloned().ok_or_else(|| {
            let names: Vec<&str> = tools.names().collect();
            let names = if names.is_empty() {
                "it is empty".to_string()
            } else {
                format!("it has {}", names.join(", "))
            };
            format!("tool not found: there is no `{name}` in the registry ({names}); register it before the node runs").into()
        })
    }

    /// The arguments of the call.
    fn arguments(&self, envelope: &Envelope) -> Result<Map<String, Value>, BoxError> {
        let mut arguments = self.args.clone();
        for (name, path) in &self.paths {
            if let Some(value) = envelope.lookup(path) {
                arguments.insert(name.clone(), value.clone());
            }
        }
        let absent = |name: &&String| !arguments.contains_key(*name);
        let mut missing: Vec<&str> = self
            .required
            .iter()
            .filter(absent)
            .map(String::as_str)
            .collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() {
            return Ok(arguments);
        }
        Err(format!("missing required tool args: {}", missing.join(", ")).into())
    }
}

call_settings!(ToolNode, "ToolNode::named(\"search\")");

#[async_trait]
impl EnvelopeNode for ToolNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Tool
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let cx = call.cx;
        let tool = self.find(cx)?;
        let arguments = Value::Object(self.arguments(call.envelope)?);
        let id = cx.task_id().to_string();
        cx.emit_with(|| NodeOutput::Call {
            id: id.clone(),
            tool_name: self.name().into(),
            arguments: arguments.clone(),
        });
        let context = ToolContext::within(&*id, cx.clone());
        let name = format!("tool `{}`", self.name());
        let attempt = |_| tool.call(arguments.clone(), &context);
        let returned = self.call.run(name, attempt).await;
        let result = match &returned {
            Ok(value) => Value::Object(normalize(value.clone())),
            Err(error) => json!({ "error": error.to_string() }),
        };
        cx.emit_with(|| NodeOutput::Result {
            id,
            tool_name: self.name().into(),
            is_error: returned.is_err(),
            result: result.clone(),
        });
        returned?;
        Ok(Changes::new().var(self.call.output_name(call), result))
    }
}

impl Retryable for ToolError {
    fn is_transient(&self) -> bool {
        !matches!(self, ToolError::Arguments(_))
    }
}
