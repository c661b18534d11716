//! A node that removes items from a list.

use std::collections::HashMap;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::config::pattern;
use crate::kinds::{Call, EnvelopeNode};
use crate::values::{equal, get, text};
use crate::wire::{artifact_to_wire, message_to_wire};
use crate::{Changes, ConfigError, Envelope, NodeKind};
use petalflow::{BoxError, async_trait};

/// The settings of a [`FilterNode`].
///
/// ```
/// use petalflow_documents::kinds::{FilterConfig, FilterTarget};
/// use serde_json::json;
///
/// let config: FilterConfig = serde_json::from_value(json!({
///     "target": "messages",
///     "filters": [{ "type": "match", "field": "role", "value": "user" }],
///     "output_var": "questions",
/// }))?;
/// assert_eq!(config.target, FilterTarget::Messages);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FilterConfig {
    /// What is filtered.
    pub target: FilterTarget,
    /// The [path](Envelope::lookup) of the list, for [`FilterTarget::Var`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_var: Option<String>,
    /// The operations, in order.
    pub filters: Vec<FilterOp>,
    /// The variable for the items that remain. Without it, they replace the artifacts, the messages or the input variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_var: Option<String>,
    /// The variable for `{ "input_count": .., "output_count": .., "removed": .. }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats_var: Option<String>,
}

/// What a filter filters.
///
/// ```
/// use petalflow_documents::kinds::{FilterConfig, FilterTarget};
///
/// assert_eq!(FilterConfig::default().target, FilterTarget::Artifacts);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FilterTarget {
    /// The artifacts.
    #[default]
    Artifacts,
    /// The messages.
    Messages,
    /// A variable.
    Var,
}

/// An operation of a filter. Fields are paths of names separated by dots. A field of an artifact or a message that does not
/// exist is looked up in its `meta`.
///
/// ```
/// use petalflow_documents::kinds::{DuplicateKept, FilterOp};
/// use serde_json::json;
///
/// let op: FilterOp = serde_json::from_value(json!({ "type": "dedupe", "field": "url" }))?;
/// assert_eq!(op, FilterOp::Dedupe { field: "url".into(), keep: DuplicateKept::First, score_field: None });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum FilterOp {
    /// Keeps the items with the highest or lowest scores, in the order of their scores. Equal items keep their order.
    /// Items without a score have the score 0. If there are not more than `n` items, or `n` is not positive, nothing changes.
    TopN {
        /// How many.
        #[serde(default)]
        n: i64,
        /// The field with the score.
        #[serde(default)]
        score_field: String,
        /// Which ones.
        #[serde(default)]
        order: SortOrder,
    },
    /// Keeps the items whose score is within limits. Items without a score are removed.
    Threshold {
        /// The field with the score.
        #[serde(default)]
        score_field: String,
        /// The smallest score.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<f64>,
        /// The largest score.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<f64>,
    },
    /// Keeps one of the items with the same value in a field. Items without the field are the same.
    Dedupe {
        /// The field.
        field: String,
        /// Which one is kept.
        #[serde(default)]
        keep: DuplicateKept,
        /// The field with the score, for [`DuplicateKept::HighestScore`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        score_field: Option<String>,
    },
    /// Keeps items by their type: the field `type`, or `Type`.
    #[serde(rename = "type")]
    ByType {
        /// The types to keep. An empty list keeps all.
        #[serde(default)]
        include_types: Vec<String>,
        /// The types to remove.
        #[serde(default)]
        exclude_types: Vec<String>,
    },
    /// Keeps the items that match: the pattern, or else the value, or else any value.
    Match {
        /// The field.
        #[serde(default)]
        field: String,
        /// A regular expression for the text of the field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// The value that the field must equal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// Removes the items that [`Match`](Self::Match) would keep.
    Exclude {
        /// The field.
        #[serde(default)]
        field: String,
        /// A regular expression for the text of the field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// The value that the field must equal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
}

/// The order of scores.
///
/// ```
/// use petalflow_documents::kinds::SortOrder;
///
/// assert_eq!(SortOrder::default(), SortOrder::Desc);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// Lowest first.
    Asc,
    /// Highest first.
    #[default]
    Desc,
}

/// Which one of several equal items is kept.
///
/// ```
/// use petalflow_documents::kinds::DuplicateKept;
///
/// assert_eq!(serde_json::to_value(DuplicateKept::HighestScore)?, "highest_score");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DuplicateKept {
    /// The first one.
    #[default]
    First,
    /// The last one.
    Last,
    /// The one with the highest score; the first of several.
    HighestScore,
}

/// A node that removes items from the artifacts, the messages, or a variable that is a list.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::{FilterConfig, FilterNode};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let config: FilterConfig = serde_json::from_value(json!({
///     "target": "var",
///     "input_var": "pages",
///     "filters": [{ "type": "top_n", "n": 1, "score_field": "score" }],
/// }))?;
/// let flow = Graph::<Envelope>::builder("filter").node_as("best", FilterNode::new(config)?).build()?;
/// let pages = json!([{ "id": 1, "score": 0.2 }, { "id": 2, "score": 0.9 }]);
/// let envelope = flow.run(Envelope::new().with_var("pages", pages)).await?;
/// assert_eq!(envelope.get_var("pages"), Some(&json!([{ "id": 2, "score": 0.9 }])));
/// # Ok(())
/// # }
/// ```
///
/// PetalFlow sorts scores with an unstable algorithm. Here equal items keep their order.
#[derive(Clone)]
pub struct FilterNode {
    config: FilterConfig,
    /// The compiled pattern of each operation.
    patterns: Vec<Option<Regex>>,
    keep: Option<std::sync::Arc<KeepItem>>,
}

type KeepItem = dyn Fn(&Value, usize) -> Result<bool, BoxError> + Send + Sync;

impl std::fmt::Debug for FilterNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FilterNode")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl FilterNode {
    /// Creates a node.
    ///
    /// # Errors
    ///
    /// If a variable is filtered and `input_var` is missing, if `dedupe` has no field, or if a pattern is wrong.
    pub fn new(config: FilterConfig) -> Result<Self, ConfigError> {
        if config.target == FilterTarget::Var
            && config.input_var.as_deref().is_none_or(str::is_empty)
        {
            let problem = "`target: var` needs the path of the list";
            return Err(ConfigError::new("input_var", problem));
        }
        let mut patterns = Vec::with_capacity(config.filters.len());
        for (index, op) in config.filters.iter().enumerate() {
            patterns.push(match op {
                FilterOp::Match {
                    pattern: Some(text),
                    ..
                }
                | FilterOp::Exclude {
                    pattern: Some(text),
                    ..
                } => Some(pattern(format!("filters[{index}].pattern"), text)?),
                FilterOp::Dedupe { field, .. } if field.is_empty() => {
                    let field = format!("filters[{index}].field");
                    return Err(ConfigError::new(field, "`dedupe` needs a field"));
                }
                _ => None,
            });
        }
        Ok(FilterNode {
            config,
            patterns,
            keep: None,
        })
    }

    /// Adds a last operation: keeps the items, as JSON, for which the function returns true. It also gets the index.
    ///
    /// ```
    /// use petalflow_documents::kinds::{FilterConfig, FilterNode};
    ///
    /// let node = FilterNode::new(FilterConfig::default())?.keep(|_, index| Ok(index % 2 == 0));
    /// # let _ = node;
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    #[must_use]
    pub fn keep(
        mut self,
        keep: impl Fn(&Value, usize) -> Result<bool, BoxError> + Send + Sync + 'static,
    ) -> Self {
        self.keep = Some(std::sync::Arc::new(keep));
        self
    }

    /// The indices of the items that remain, in their order.
    fn remaining(&self, items: &[Item]) -> Result<Vec<usize>, BoxError> {
        let mut remaining: Vec<usize> = (0..items.len()).collect();
        for (op, pattern) in self.config.filters.iter().zip(&self.patterns) {
            apply(op, pattern.as_ref(), items, &mut remaining);
        }
        if let Some(keep) = &self.keep {
            let mut kept = Vec::with_capacity(remaining.len());
            for (index, item) in remaining.into_iter().enumerate() {
                if keep(&items[item].value, index)? {
                    kept.push(item);
                }
            }
            remaining = kept;
        }
        Ok(remaining)
    }

    fn changes(&self, envelope: &Envelope) -> Result<Changes, BoxError> {
        let input = self.config.input_var.as_deref().unwrap_or_default();
        let items: Vec<Item> = match self.config.target {
            FilterTarget::Artifacts => envelope
                .artifacts
                .iter()
                .map(|artifact| Item::with_meta(artifact_to_wire(artifact)))
                .collect(),
            FilterTarget::Messages => envelope
                .messages
                .iter()
                .map(|message| Item::with_meta(message_to_wire(message)))
                .collect(),
            FilterTarget::Var => {
                let value = envelope.lookup(input);
                let value = value.ok_or_else(|| format!("there is no variable `{input}`"))?;
                let list = value.as_array();
                let list = list.ok_or_else(|| format!("variable `{input}` is not a list"))?;
                list.iter().cloned().map(Item::without_meta).collect()
            }
        };
        let remaining = self.remaining(&items)?;
        let mut changes = Changes::new();
        if let Some(stats) = &self.config.stats_var {
            let (before, after) = (items.len(), remaining.len());
            let value =
                json!({ "input_count": before, "output_count": after, "removed": before - after });
            changes = changes.var(stats, value);
        }
        let output = self.config.output_var.as_deref();
        Ok(match (output, self.config.target) {
            (None, FilterTarget::Artifacts) => {
                changes.replace_artifacts(select(&envelope.artifacts, &remaining))
            }
            (None, FilterTarget::Messages) => {
                changes.replace_messages(select(&envelope.messages, &remaining))
            }
            (output, _) => {
                let mut items = items;
                let values = remaining
                    .iter()
                    .map(|&index| items[index].value.take())
                    .collect();
                changes.var(output.unwrap_or(input), Value::Array(values))
            }
        })
    }
}

fn select<T: Clone>(items: &[T], indices: &[usize]) -> Vec<T> {
    indices.iter().map(|&index| items[index].clone()).collect()
}

#[async_trait]
impl EnvelopeNode for FilterNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Filter
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let changes = self.changes(call.envelope);
        changes.map_err(|error| format!("filter node `{}`: {error}", call.name).into())
    }
}

/// An item of the list, as JSON.
struct Item {
    value: Value,
    /// Whether unknown fields are looked up in the field `meta`.
    has_meta: bool,
}

impl Item {
    fn without_meta(value: Value) -> Self {
        Item {
            value,
            has_meta: false,
        }
    }

    fn with_meta(value: Value) -> Self {
        Item {
            value,
            has_meta: true,
        }
    }

    fn field(&self, path: &str) -> Option<&Value> {
        let object = self.value.as_object()?;
        if !self.has_meta {
            return get(object, path);
        }
        // `ID`, `MimeType` and `mimeType` are the spellings of PetalFlow.
        let (first, rest) = path
            .split_once('.')
            .map_or((path, None), |(a, b)| (a, Some(b)));
        let name = match first {
            "ID" => "id",
            "MimeType" | "mimeType" => "mime_type",
            "Type" => "type",
            "Text" => "text",
            "URI" => "uri",
            "Meta" => "meta",
            "Role" => "role",
            "Content" => "content",
            "Name" => "name",
            name => name,
        };
        let own = object.get(name);
        let found = own.or_else(|| object.get("meta")?.as_object()?.get(first))?;
        match rest {
            None => Some(found),
            Some(rest) => get(found.as_object()?, rest),
        }
    }

    fn score(&self, field: &str) -> Option<f64> {
        self.field(field)?.as_f64()
    }

    fn kind(&self) -> &str {
        let kind = |name| self.value.get(name).and_then(Value::as_str);
        kind("Type").or_else(|| kind("type")).unwrap_or_default()
    }

    fn matches(&self, field: &str, pattern: Option<&Regex>, value: Option<&Value>) -> bool {
        let found = self.field(field);
        found.is_some_and(|found| match (pattern, value) {
            (Some(pattern), _) => pattern.is_match(&text(found)),
            (None, Some(value)) => equal(found, value),
            (None, None) => true,
        })
    }
}

fn apply(op: &FilterOp, pattern: Option<&Regex>, items: &[Item], remaining: &mut Vec<usize>) {
    match op {
        FilterOp::TopN {
            n,
            score_field,
            order,
        } => top_n(*n, score_field, *order, items, remaining),
        FilterOp::Threshold {
            score_field,
            min,
            max,
        } if min.is_some() || max.is_some() => remaining.retain(|&index| {
            let score = items[index].score(score_field);
            score.is_some_and(|score| {
                min.is_none_or(|min| score >= min) && max.is_none_or(|max| score <= max)
            })
        }),
        FilterOp::Threshold { .. } => {}
        FilterOp::Dedupe {
            field,
            keep,
            score_field,
        } => dedupe(field, *keep, score_field.as_deref(), items, remaining),
        FilterOp::ByType {
            include_types,
            exclude_types,
        } => remaining.retain(|&index| {
            let is_one_of = |types: &[String]| types.iter().any(|kind| kind == items[index].kind());
            (include_types.is_empty() || is_one_of(include_types)) && !is_one_of(exclude_types)
        }),
        FilterOp::Match { field, value, .. } => {
            remaining.retain(|&index| items[index].matches(field, pattern, value.as_ref()));
        }
        FilterOp::Exclude { field, value, .. } => {
            remaining.retain(|&index| !items[index].matches(field, pattern, value.as_ref()));
        }
    }
}

fn top_n(n: i64, field: &str, order: SortOrder, items: &[Item], remaining: &mut Vec<usize>) {
    let Ok(n) = usize::try_from(n) else { return };
    if n == 0 || n >= remaining.len() {
        return;
    }
    let score = |index: usize| items[index].score(field).unwrap_or(0.0);
    remaining.sort_by(|&a, &b| {
        let ascending = score(a).total_cmp(&score(b));
        match order {
            SortOrder::Asc => ascending,
            SortOrder::Desc => ascending.reverse(),
        }
    });
    remaining.truncate(n);
}

fn dedupe(
    field: &str,
    keep: DuplicateKept,
    score_field: Option<&str>,
    items: &[Item],
    remaining: &mut Vec<usize>,
) {
    let score = |index: usize| {
        let score = score_field.and_then(|field| items[index].score(field));
        score.unwrap_or(0.0)
    };
    // By value, the position in `remaining`.
    let mut kept: HashMap<String, usize> = HashMap::new();
    for (position, &index) in remaining.iter().enumerate() {
        let value = items[index].field(field).unwrap_or(&Value::Null);
        kept.entry(text(value))
            .and_modify(|old| {
                let replaces = match keep {
                    DuplicateKept::First => false,
                    DuplicateKept::Last => true,
                    DuplicateKept::HighestScore => score(index) > score(remaining[*old]),
                };
                if replaces {
                    *old = position;
                }
            })
            .or_insert(position);
    }
    let mut positions: Vec<usize> = kept.into_values().collect();
    positions.sort_unstable();
    *remaining = select(remaining, &positions);
}
