//! A node that processes each item of a list.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kinds::{Call, EnvelopeNode, ITEM};
use crate::{Changes, NodeKind, Trace};
use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, async_trait};

/// The settings of a [`MapNode`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MapConfig {
    /// The [path](crate::Envelope::lookup) of the list.
    pub input_var: String,
    /// The variable for the results. The default is `<node>_output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_var: Option<String>,
    /// The variable for the item, in the envelope of the inner node.
    #[serde(default = "item")]
    pub item_var: String,
    /// The variable for the index of the item, in the envelope of the inner node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_var: Option<String>,
    /// How many items are processed at the same time. Zero means one.
    #[serde(default = "one")]
    pub concurrency: usize,
    /// The result of an item that fails is `null`. Otherwise the node fails.
    #[serde(default)]
    pub continue_on_error: bool,
}

fn item() -> String {
    "item".into()
}

fn one() -> usize {
    1
}

impl Default for MapConfig {
    fn default() -> Self {
        MapConfig {
            input_var: String::new(),
            output_var: None,
            item_var: item(),
            index_var: None,
            concurrency: one(),
            continue_on_error: false,
        }
    }
}

type Mapper = dyn Fn(Value, usize) -> BoxFuture<'static, Result<Value, BoxError>> + Send + Sync;

#[derive(Clone)]
enum Inner {
    Function(Arc<Mapper>),
    Node(Arc<dyn EnvelopeNode>),
}

/// A node that processes each item of a list with a function or another node, and collects the results in the order of the
/// items.
///
/// The inner node gets a clone of the envelope with the item in a variable. Its result is the object of all variables
/// afterwards. The trace has the run as its parent.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{MapConfig, MapNode};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config = MapConfig { input_var: "words".into(), concurrency: 4, ..MapConfig::default() };
/// let shout = MapNode::function(config, |item, _| async move {
///     Ok(item.as_str().unwrap_or_default().to_uppercase().into())
/// });
/// let flow = Graph::<Envelope>::builder("shout").node_as("shout", shout).build()?;
/// let envelope = flow.run(Envelope::new().with_var("words", vec!["a", "b"])).await?;
/// assert_eq!(envelope.get_var("shout_output"), Some(&json!(["A", "B"])));
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// Dropping or cancelling the run drops the items that are being processed.
#[derive(Clone)]
pub struct MapNode {
    config: MapConfig,
    inner: Inner,
}

impl fmt::Debug for MapNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MapNode")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl MapNode {
    /// Processes items with a function of the item and its index.
    pub fn function<F>(
        config: MapConfig,
        mapper: impl Fn(Value, usize) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        let mapper = move |item, index| -> BoxFuture<'static, _> { Box::pin(mapper(item, index)) };
        MapNode {
            config,
            inner: Inner::Function(Arc::new(mapper)),
        }
    }

    /// Processes items with another node.
    ///
    /// ```
    /// use petalflow_documents::kinds::{MapConfig, MapNode, NoopNode};
    ///
    /// let config = MapConfig { input_var: "words".into(), ..MapConfig::default() };
    /// let node = MapNode::node(config, NoopNode);
    /// # let _ = node;
    /// ```
    pub fn node(config: MapConfig, node: impl EnvelopeNode) -> Self {
        MapNode {
            config,
            inner: Inner::Node(Arc::new(node)),
        }
    }

    async fn result(
        &self,
        call: Call<'_>,
        list: &[Value],
        index: usize,
    ) -> Result<Value, BoxError> {
        match self.item(call, list[index].clone(), index).await {
            Err(_) if self.config.continue_on_error => Ok(Value::Null),
            result => result.map_err(|error| format!("map item {index}: {error}").into()),
        }
    }

    async fn item(&self, call: Call<'_>, item: Value, index: usize) -> Result<Value, BoxError> {
        let node = match &self.inner {
            Inner::Function(mapper) => return mapper(item, index).await,
            Inner::Node(node) => node,
        };
        let name = format!("{}{ITEM}{index}", call.name);
        let mut envelope = call.envelope.clone().with_var(&self.config.item_var, item);
        if let Some(variable) = &self.config.index_var {
            envelope.set_var(variable, index);
        }
        envelope.trace = Trace {
            parent_id: envelope.trace.run_id.clone(),
            span_id: name.clone(),
            ..envelope.trace
        };
        let inner = Call {
            name: &name,
            envelope: &envelope,
            cx: call.cx,
        };
        let changes = node.process(inner).await?;
        changes.apply_to(&mut envelope);
        Ok(Value::Object(envelope.vars))
    }
}

#[async_trait]
impl EnvelopeNode for MapNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Map
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let input = &self.config.input_var;
        let list = call.envelope.lookup(input);
        let problem = |what: &str| format!("map node `{}`: {what}", call.name);
        let list = list.ok_or_else(|| problem(&format!("there is no variable `{input}`")))?;
        let list = list.as_array();
        let list = list.ok_or_else(|| problem(&format!("variable `{input}` is not a list")))?;
        // Over the indices: a closure of a reference would not be general enough for `Send`.
        let results = stream::iter(0..list.len()).map(|index| self.result(call, list, index));
        let results = results.buffered(self.config.concurrency.max(1));
        let results: Vec<Value> = results.try_collect().await?;
        let output = call.output(self.config.output_var.as_deref());
        Ok(Changes::new().var(output, results))
    }
}
