//! A node that caches the changes of another node.

use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::cache_store::{CacheEntry, CacheStore, MemoryCacheStore};
use crate::clock::now_ms;
use crate::kinds::{Call, EnvelopeNode};
use crate::template::{MissingVariable, Template, Variables};
use crate::values::canonical;
use crate::wire::{artifact_to_wire, rfc3339};
use crate::{Changes, ConfigError, NodeKind, Period};
use petalflow::{BoxError, async_trait};

/// The settings of a [`CacheNode`].
///
/// ```
/// use petalflow_documents::kinds::CacheConfig;
/// use serde_json::json;
///
/// let config: CacheConfig = serde_json::from_value(json!({ "cache_key": "{{.city}}", "ttl": "1h" }))?;
/// assert_eq!(config.ttl.0.as_secs(), 3600);
/// assert!(!config.include_input);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// A template for the key: `{{.name}}` or `{{.vars.name}}` is a variable, `{{.input}}` the input of the flow. Without
    /// it, the key is a hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_key: Option<String>,
    /// The variables in the hash. An empty list means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub input_vars: Vec<String>,
    /// Whether the input is in the hash.
    pub include_input: bool,
    /// Whether the artifacts are in the hash.
    pub include_artifacts: bool,
    /// How long an entry is valid. Zero means without end.
    pub ttl: Period,
    /// The variable for `{ "hit": .., "key": .., "stored_at": .., "expires_at": .. }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_var: Option<String>,
}

/// A node that caches the changes of another node, by a key that is made of the envelope. The key begins with the name of
/// the node. Errors are not cached. In a [`MapNode`](super::MapNode), the items share the entries.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::kinds::{CacheConfig, CacheNode, FuncNode};
/// use petalflow_documents::{Changes, Envelope};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let slow = FuncNode::new(|envelope: Envelope| async move {
///     Ok(Changes::new().var("length", envelope.get_var_string("text").len()))
/// });
/// let config = CacheConfig { input_vars: vec!["text".into()], output_var: Some("cache".into()), ..CacheConfig::default() };
/// let flow = Graph::<Envelope>::builder("measure")
///     .node_as("measure", CacheNode::new(config, slow)?)
///     .build()?;
/// for hit in [false, true] {
///     let envelope = flow.run(Envelope::new().with_var("text", "petal")).await?;
///     assert_eq!(envelope.get_var("length"), Some(&5.into()));
///     assert_eq!(envelope.get_var_nested("cache.hit"), Some(&hit.into()));
/// }
/// # Ok(())
/// # }
/// ```
///
/// PetalFlow caches the whole envelope, and returns it instead of that of the run: with the variables and the trace of an
/// earlier run. Here only what the inner node changed is cached, and the rest of the envelope is not touched.
#[derive(Clone)]
pub struct CacheNode {
    config: CacheConfig,
    key: Option<Template>,
    node: Option<Arc<dyn EnvelopeNode>>,
    store: Arc<dyn CacheStore>,
}

impl fmt::Debug for CacheNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheNode")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl CacheNode {
    /// Caches this node, in a store of its own in memory.
    ///
    /// # Errors
    ///
    /// If the template of the key cannot be parsed.
    pub fn new(config: CacheConfig, node: impl EnvelopeNode) -> Result<Self, ConfigError> {
        Self::build(config, Some(Arc::new(node)))
    }

    fn build(
        config: CacheConfig,
        node: Option<Arc<dyn EnvelopeNode>>,
    ) -> Result<Self, ConfigError> {
        let key = config.cache_key.as_deref();
        let key = key.map(Template::parse).transpose();
        Ok(CacheNode {
            key: key.map_err(|problem| ConfigError::new("cache_key", problem))?,
            config,
            node,
            store: Arc::new(MemoryCacheStore::new()),
        })
    }

    /// A cache that only reads: it fails if there is no entry.
    ///
    /// ```
    /// use petalflow_documents::kinds::{CacheConfig, CacheNode};
    ///
    /// let cache = CacheNode::without_node(CacheConfig::default())?;
    /// # let _ = cache;
    /// # Ok::<(), petalflow_documents::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the template of the key cannot be parsed.
    pub fn without_node(config: CacheConfig) -> Result<Self, ConfigError> {
        Self::build(config, None)
    }

    /// Uses this store.
    ///
    /// ```
    /// use petalflow_documents::kinds::{CacheConfig, CacheNode, MemoryCacheStore, NoopNode};
    ///
    /// let store = MemoryCacheStore::new();
    /// let cache = CacheNode::new(CacheConfig::default(), NoopNode)?.store(store.clone());
    /// # let _ = cache;
    /// # Ok::<(), petalflow_documents::ConfigError>(())
    /// ```
    #[must_use]
    pub fn store(mut self, store: impl CacheStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Runs the inner node and stores its changes.
    async fn compute(&self, call: Call<'_>, key: &str) -> Result<CacheEntry, BoxError> {
        let Some(node) = &self.node else {
            let name = call.name;
            return Err(format!(
                "cache node `{name}` has no entry `{key}`, and no inner node that could compute one"
            )
            .into());
        };
        let changes = node.process(call).await?;
        let stored_ms = now_ms();
        let ttl = self.config.ttl.0;
        let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
        let entry = CacheEntry {
            changes,
            stored_ms,
            expires_ms: (!ttl.is_zero()).then(|| stored_ms.saturating_add(ttl_ms)),
        };
        self.store.set(key, entry.clone()).await?;
        Ok(entry)
    }

    fn key(&self, call: Call<'_>) -> Result<String, BoxError> {
        let envelope = call.envelope;
        let input = envelope.input.as_deref();
        if let Some(template) = &self.key {
            let null = Value::Null;
            let values = Variables::new(&envelope.vars)
                .with("input", input.unwrap_or(&null))
                .with_object("vars", &envelope.vars);
            let key = template.render(&values, MissingVariable::Error)?;
            return Ok(format!("{}:{key}", call.name_of_all_items()));
        }
        let is_included = |name: &String| {
            self.config.input_vars.is_empty() || self.config.input_vars.contains(name)
        };
        let vars = envelope.vars.iter().filter(|(name, _)| is_included(name));
        let vars: Map<String, Value> = vars.map(|(a, b)| (a.clone(), b.clone())).collect();
        let mut hashed = Map::from_iter([("vars".to_owned(), Value::Object(vars))]);
        if self.config.include_input {
            hashed.insert("input".into(), input.cloned().unwrap_or_default());
        }
        if self.config.include_artifacts {
            let artifacts = envelope.artifacts.iter().map(artifact_to_wire).collect();
            hashed.insert("artifacts".into(), Value::Array(artifacts));
        }
        let text = canonical(&Value::Object(hashed)).to_string();
        let mut key = format!("{}:", call.name_of_all_items());
        for byte in Sha256::digest(text) {
            write!(key, "{byte:02x}")?;
        }
        Ok(key)
    }
}

#[async_trait]
impl EnvelopeNode for CacheNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Cache
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let key = self.key(call)?;
        let found = self.store.get(&key).await?;
        let hit = found.is_some();
        let entry = match found {
            Some(entry) => entry,
            None => self.compute(call, &key).await?,
        };
        let Some(output) = &self.config.output_var else {
            return Ok(entry.changes);
        };
        let expires_at = entry.expires_ms.map(rfc3339);
        let info = json!({
            "hit": hit,
            "key": key,
            "stored_at": rfc3339(entry.stored_ms),
            "expires_at": expires_at,
        });
        Ok(entry.changes.var(output, info))
    }
}
