//! A node that merges branches.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kinds::{Call, EnvelopeNode};
use crate::values::{deep_merge, text};
use crate::{Branch, Changes, Envelope, NodeKind};
use petalflow::{BoxError, async_trait};

/// The settings of a [`MergeNode`]: how branches are merged.
///
/// ```
/// use petalflow_documents::kinds::{Conflict, MergeConfig};
/// use serde_json::json;
///
/// let config: MergeConfig = serde_json::from_value(json!({ "strategy": "best_score", "score_var": "score" }))?;
/// assert_eq!(config, MergeConfig::BestScore { score_var: "score".into(), higher_is_better: true });
/// assert!(matches!(MergeConfig::default(), MergeConfig::JsonMerge { conflict: Conflict::Last, .. }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "strategy", rename_all = "snake_case", deny_unknown_fields)]
pub enum MergeConfig {
    /// Applies the changes of all branches, in their order.
    #[serde(alias = "json")]
    JsonMerge {
        /// What happens if several branches set a variable to different values.
        #[serde(default, rename = "conflict_policy")]
        conflict: Conflict,
        /// With [`Conflict::Last`], objects are merged recursively.
        #[serde(default)]
        deep_merge: bool,
        /// Applies the artifacts and messages of the first branch only.
        #[serde(default)]
        vars_only: bool,
    },
    /// Joins the texts of one variable. Other changes are applied as by `json_merge`.
    Concat {
        /// The variable. The default is the output variable of each branch, `<branch>_output`.
        #[serde(default)]
        var_name: String,
        /// The variable for the text. The default is the variable, or `<node>_output`.
        #[serde(default)]
        output_key: Option<String>,
        /// The text between two values. The default is a line break.
        #[serde(default)]
        separator: Option<String>,
    },
    /// Applies the changes of the branch with the best score. Without scores it is the first branch.
    BestScore {
        /// The variable with the score.
        score_var: String,
        /// Whether the highest score is the best. The default is true.
        #[serde(default = "yes")]
        higher_is_better: bool,
    },
    /// Merges, and sets a variable to the list of the variables of each branch.
    All {
        /// The strategy. The default is `json_merge`.
        #[serde(default)]
        inner: Box<MergeConfig>,
        /// The variable for the list. The default is `all_inputs`.
        #[serde(default)]
        collect_key: Option<String>,
        /// The variables to collect. An empty list means all.
        #[serde(default)]
        collect_vars: Vec<String>,
    },
}

fn yes() -> bool {
    true
}

impl Default for MergeConfig {
    fn default() -> Self {
        MergeConfig::JsonMerge {
            conflict: Conflict::Last,
            deep_merge: false,
            vars_only: false,
        }
    }
}

/// What happens if several branches set a variable to different values. An unknown name is [`Last`](Self::Last).
///
/// ```
/// use petalflow_documents::kinds::Conflict;
///
/// assert_eq!(Conflict::from("error".to_owned()), Conflict::Error);
/// assert_eq!(Conflict::from("newest".to_owned()), Conflict::Last);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", rename_all = "snake_case")]
pub enum Conflict {
    /// The value of the last branch is used.
    #[default]
    Last,
    /// The value of the first branch is used.
    First,
    /// The node fails.
    Error,
}

impl From<String> for Conflict {
    fn from(name: String) -> Self {
        match name.as_str() {
            "first" => Conflict::First,
            "error" => Conflict::Error,
            _ => Conflict::Last,
        }
    }
}

type Function = dyn Fn(&Envelope, &[Branch]) -> Result<Changes, BoxError> + Send + Sync;

/// A node that merges the [branches](Branch) that are open, in the order of their nodes. See [`Branch`] and
/// [`BranchNode`](crate::kinds::BranchNode) for examples.
///
/// Each branch is compared with the envelope at the fork, which is also the envelope of the merge. Only what a branch
/// changed is merged. PetalFlow merges whole envelopes. There, a variable that was set before the fork is a conflict of all
/// branches, and an artifact that was there before the fork is there once per branch afterwards.
///
/// ```
/// use petalflow_documents::builder::EnvelopeBuilder;
/// use petalflow_documents::kinds::{FuncNode, MergeConfig, MergeNode, NoopNode};
/// use petalflow_documents::{Changes, Envelope};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let set = |name| FuncNode::new(move |_| async move { Ok(Changes::new().var(name, 1)) });
/// let flow = EnvelopeBuilder::new("diamond")
///     .add_node("start", NoopNode)
///     .fan_out([("left", set("left")), ("right", set("right"))])
///     .merge("join", MergeNode::new(MergeConfig::default()))
///     .build()?;
/// let envelope = flow.run(Envelope::new()).await?;
/// assert_eq!((envelope.get_var("left"), envelope.get_var("right")), (Some(&1.into()), Some(&1.into())));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MergeNode {
    inputs: Vec<String>,
    strategy: Strategy,
}

#[derive(Clone)]
enum Strategy {
    Config(MergeConfig),
    Function(Arc<Function>),
}

impl fmt::Debug for MergeNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("MergeNode");
        f.field("inputs", &self.inputs);
        if let Strategy::Config(strategy) = &self.strategy {
            f.field("strategy", strategy);
        }
        f.finish_non_exhaustive()
    }
}

impl MergeNode {
    /// Creates a node.
    pub fn new(config: MergeConfig) -> Self {
        MergeNode {
            inputs: Vec::new(),
            strategy: Strategy::Config(config),
        }
    }

    /// Merges only the branches with these names, in this order.
    ///
    /// ```
    /// use petalflow_documents::kinds::{MergeConfig, MergeNode};
    ///
    /// let merge = MergeNode::new(MergeConfig::default()).inputs(["right", "left"]);
    /// # let _ = merge;
    /// ```
    #[must_use]
    pub fn inputs<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.inputs = names.into_iter().map(Into::into).collect();
        self
    }

    /// Creates a node that merges with a function of the envelope at the fork and the branches.
    ///
    /// ```
    /// use petalflow_documents::Changes;
    /// use petalflow_documents::kinds::MergeNode;
    ///
    /// let merge = MergeNode::function(|_, branches| Ok(Changes::new().var("branches", branches.len())));
    /// # let _ = merge;
    /// ```
    pub fn function(
        merge: impl Fn(&Envelope, &[Branch]) -> Result<Changes, BoxError> + Send + Sync + 'static,
    ) -> Self {
        MergeNode {
            inputs: Vec::new(),
            strategy: Strategy::Function(Arc::new(merge)),
        }
    }
}

#[async_trait]
impl EnvelopeNode for MergeNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Merge
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let open = &call.envelope.branches;
        let branches: Vec<Branch> = if self.inputs.is_empty() {
            open.iter().cloned().collect()
        } else {
            let named = |name: &String| open.iter().find(|branch| branch.name == *name).cloned();
            self.inputs.iter().filter_map(named).collect()
        };
        let merged = match &self.strategy {
            Strategy::Function(merge) => merge(call.envelope, &branches),
            Strategy::Config(_) if branches.len() < 2 => {
                let changes = branches.iter().map(|it| changes_of(it, call.envelope));
                Ok(changes.fold(Changes::new(), Changes::then))
            }
            Strategy::Config(strategy) => merge(strategy, call, &branches),
        };
        let merged = merged.map_err(|error| format!("merge node `{}`: {error}", call.name))?;
        let names = branches.into_iter().map(|branch| branch.name).collect();
        Ok(merged.take_branches(names))
    }
}

fn merge(strategy: &MergeConfig, call: Call<'_>, branches: &[Branch]) -> Result<Changes, BoxError> {
    match strategy {
        MergeConfig::JsonMerge {
            conflict,
            deep_merge,
            vars_only,
        } => {
            let merger = Merger {
                conflict: *conflict,
                deep: *deep_merge,
                set_by: HashMap::new(),
                merged: Changes::new(),
            };
            merger.all(branches, call.envelope, *vars_only)
        }
        MergeConfig::Concat {
            var_name,
            output_key,
            separator,
        } => {
            let values = texts(branches, var_name);
            let joined = values.join(separator.as_deref().unwrap_or("\n"));
            let output = output_key
                .clone()
                .unwrap_or_else(|| match var_name.as_str() {
                    "" => call.output(None),
                    name => name.into(),
                });
            Ok(merge(&MergeConfig::default(), call, branches)?.var(output, joined))
        }
        MergeConfig::BestScore {
            score_var,
            higher_is_better,
        } => {
            let best = best(branches, score_var, *higher_is_better).or(branches.first());
            Ok(best.map_or_else(Changes::new, |branch| changes_of(branch, call.envelope)))
        }
        MergeConfig::All {
            inner,
            collect_key,
            collect_vars,
        } => {
            let collected: Vec<Value> = branches
                .iter()
                .map(|branch| {
                    let mut vars = branch.vars.clone();
                    vars.retain(|name, _| collect_vars.is_empty() || collect_vars.contains(name));
                    Value::Object(vars)
                })
                .collect();
            let key = collect_key.as_deref().unwrap_or("all_inputs");
            Ok(merge(inner, call, branches)?.var(key, collected))
        }
    }
}

/// The texts of a variable of the branches; without a name, of the output of each branch.
fn texts(branches: &[Branch], var_name: &str) -> Vec<String> {
    let values = branches.iter().filter_map(|branch| match var_name {
        "" => branch.vars.get(&format!("{}_output", branch.name)),
        name => branch.vars.get(name),
    });
    values.map(text).collect()
}

/// The branch with the best score. `None` if no branch has one. Of equal scores, the first one wins.
fn best<'b>(branches: &'b [Branch], score_var: &str, higher_is_better: bool) -> Option<&'b Branch> {
    let mut best: Option<(&Branch, f64)> = None;
    for branch in branches {
        let Some(score) = branch.vars.get(score_var).and_then(Value::as_f64) else {
            continue;
        };
        let is_better = best.is_none_or(|(_, best)| {
            if higher_is_better {
                score > best
            } else {
                score < best
            }
        });
        if is_better {
            best = Some((branch, score));
        }
    }
    best.map(|(branch, _)| branch)
}

/// The changes of a branch to the envelope at the fork.
pub(crate) fn changes_of(branch: &Branch, fork: &Envelope) -> Changes {
    let end = Envelope {
        vars: branch.vars.clone(),
        artifacts: branch.artifacts.clone(),
        messages: branch.messages.clone(),
        errors: branch.errors.clone(),
        ..Envelope::default()
    };
    Changes::between(fork, &end)
}

/// Applies the changes of branches one after another.
struct Merger<'b> {
    conflict: Conflict,
    deep: bool,
    /// The first branch that set a variable.
    set_by: HashMap<String, &'b str>,
    merged: Changes,
}

impl<'b> Merger<'b> {
    /// The changes of all branches. With `vars_only`, the other items are those of the first branch.
    fn all(
        mut self,
        branches: &'b [Branch],
        fork: &Envelope,
        vars_only: bool,
    ) -> Result<Changes, BoxError> {
        for (index, branch) in branches.iter().enumerate() {
            let mut changes = changes_of(branch, fork);
            if vars_only && index > 0 {
                changes = changes.without_items();
            }
            self.add(&branch.name, changes)?;
        }
        Ok(self.merged)
    }

    fn add(&mut self, branch: &'b str, mut changes: Changes) -> Result<(), BoxError> {
        let mut problem = None;
        let merged = self.merged.vars();
        changes.vars_mut().retain(|name, value| {
            let Some(old) = merged.get(name) else {
                self.set_by.insert(name.clone(), branch);
                return true;
            };
            match (self.conflict, old, &mut *value) {
                (Conflict::First, ..) => return false,
                (Conflict::Error, old, value) if old != value => {
                    let first = self.set_by.get(name).copied().unwrap_or_default();
                    problem.get_or_insert_with(|| {
                        format!("branches `{first}` and `{branch}` set variable `{name}` to different values")
                    });
                }
                (Conflict::Last, Value::Object(old), Value::Object(value)) if self.deep => {
                    let mut both = old.clone();
                    deep_merge(&mut both, value);
                    *value = both;
                }
                _ => {}
            }
            true
        });
        if let Some(problem) = problem {
            return Err(problem.into());
        }
        self.merged = std::mem::take(&mut self.merged).then(changes);
        Ok(())
    }
}
