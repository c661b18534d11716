//! Rules about which calls are made, wait for a person, or are refused.

use globset::GlobMatcher;

use super::error::DeepError;
use super::pattern::{self, Case};
use super::workspace;
use crate::extension::{Approval, Approvals, ToolStep};

/// A policy for the calls of an agent: rules about tools, paths and cost. The first rule that matches a call decides. Without
/// one, the tool itself decides (`#[tool(confirm)]`).
///
/// [`Agent::approvals`](crate::Agent::approvals) takes it. It also holds for the agents below.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::deep::{ApprovalPolicy, Calls, Workspace};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let write = |path| Reply::call("write_file", json!({ "path": path, "text": "x" }));
/// # let model = ScriptedModel::new([write("config/keys.toml"), write("notes/a.md"), write("src/main.rs")]);
/// let policy = ApprovalPolicy::new()
///     .deny(Calls::to("{write,edit}_file").path("config/**"))?
///     .allow(Calls::to("{write,edit}_file").path("notes/**"))?
///     .ask(Calls::to("{write,edit}_file"))?
///     .ask(Calls::any().from_cost(5.0))?;
/// let agent = Agent::new(model).workspace(Workspace::in_thread()).approvals(policy);
/// let talk = agent.run("Write everything.").await?;
/// assert!(talk.to_string().ends_with("the call of `write_file` for `src/main.rs` needs your approval"));
/// assert!(Workspace::files_in(&talk).into_keys().eq(["notes/a.md"]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ApprovalPolicy {
    rules: Vec<Rule>,
}

/// The calls that a rule of an [`ApprovalPolicy`] is about.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Calls {
    tool: Option<String>,
    path: Option<String>,
    argument: Option<String>,
    cost: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Allow,
    Ask,
    Deny,
}

#[derive(Clone, Debug)]
struct Rule {
    action: Action,
    tool: Option<GlobMatcher>,
    path: Option<PathRule>,
    cost: Option<f64>,
}

#[derive(Clone, Debug)]
struct PathRule {
    argument: String,
    pattern: GlobMatcher,
}

impl Calls {
    /// All calls.
    pub fn any() -> Self {
        Calls::default()
    }

    /// The calls of a tool, or of the tools whose names match a pattern such as `write_*`. An agent that is a tool counts.
    pub fn to(tool: impl Into<String>) -> Self {
        Calls {
            tool: Some(tool.into()),
            ..Calls::default()
        }
    }

    /// Only those whose argument `path` matches a pattern, such as `src/**` or `*.toml`. A pattern without `/` is about file
    /// names in any folder.
    ///
    /// A path that no workspace has, such as `a/../b`, matches the pattern of each rule that asks or denies, and of no rule that
    /// allows. Rules that ask or deny take `A` for `a`, as some file systems do.
    pub fn path(self, pattern: impl Into<String>) -> Self {
        Calls {
            path: Some(pattern.into()),
            ..self
        }
    }

    /// Sets the name of the argument with the path.
    pub fn argument(self, name: impl Into<String>) -> Self {
        Calls {
            argument: Some(name.into()),
            ..self
        }
    }

    /// Only those that are made when the turn has cost this much or more, in the money of the agent's
    /// [prices](crate::Agent::prices).
    pub fn from_cost(self, cost: f64) -> Self {
        Calls {
            cost: Some(cost),
            ..self
        }
    }

    fn into_rule(self, action: Action) -> Result<Rule, DeepError> {
        let argument = self.argument.unwrap_or_else(|| "path".into());
        // Some file systems take `Keys` for `keys`: a rule that protects files is about both.
        let case = match action {
            Action::Allow => Case::Same,
            Action::Ask | Action::Deny => Case::Any,
        };
        let path = self.path.as_deref();
        let path = path.map(|path| pattern::paths(path, case)).transpose()?;
        Ok(Rule {
            action,
            tool: self.tool.as_deref().map(pattern::names).transpose()?,
            path: path.map(|pattern| PathRule { argument, pattern }),
            cost: self.cost,
        })
    }
}

impl ApprovalPolicy {
    /// A policy without rules.
    pub fn new() -> Self {
        ApprovalPolicy::default()
    }

    /// Adds a rule: these calls are made, also if their tool asks for a confirmation.
    ///
    /// # Errors
    ///
    /// If a pattern cannot be read.
    pub fn allow(self, calls: Calls) -> Result<Self, DeepError> {
        self.with(calls, Action::Allow)
    }

    /// Adds a rule: a person must confirm these calls.
    ///
    /// # Errors
    ///
    /// If a pattern cannot be read.
    pub fn ask(self, calls: Calls) -> Result<Self, DeepError> {
        self.with(calls, Action::Ask)
    }

    /// Adds a rule: these calls are not made, and no person can confirm them.
    ///
    /// # Errors
    ///
    /// If a pattern cannot be read.
    pub fn deny(self, calls: Calls) -> Result<Self, DeepError> {
        self.with(calls, Action::Deny)
    }

    fn with(mut self, calls: Calls, action: Action) -> Result<Self, DeepError> {
        self.rules.push(calls.into_rule(action)?);
        Ok(self)
    }
}

impl Approvals for ApprovalPolicy {
    fn decide(&self, step: &ToolStep<'_>) -> Option<Approval> {
        let rule = self.rules.iter().find(|rule| rule.matches(step))?;
        let name = &step.call().name;
        let call = match rule.path_in(step) {
            Some(path) => format!("the call of `{name}` for `{path}`"),
            None => format!("the call of `{name}`"),
        };
        Some(match rule.action {
            Action::Allow => Approval::Allow,
            Action::Ask => Approval::Ask(format!("{call} needs your approval")),
            Action::Deny => {
                Approval::Deny(format!("{call} is not allowed: do the work without it"))
            }
        })
    }
}

impl Rule {
    fn matches(&self, step: &ToolStep<'_>) -> bool {
        let tool = &self.tool;
        if tool
            .as_ref()
            .is_some_and(|tool| !tool.is_match(&step.call().name))
        {
            return false;
        }
        let cost = || step.conversation().turn_usage().tokens.cost;
        if self.cost.is_some_and(|from| cost() < from) {
            return false;
        }
        let Some(rule) = &self.path else { return true };
        let Some(written) = step.arguments[&rule.argument].as_str() else {
            return false;
        };
        match workspace::normalized(written) {
            Ok(path) => rule.pattern.is_match(path),
            Err(_) => self.action != Action::Allow,
        }
    }

    /// The path of the call, for people and models.
    fn path_in<'s>(&self, step: &'s ToolStep<'_>) -> Option<&'s str> {
        let argument = self.path.as_ref().map_or("path", |rule| &rule.argument);
        step.arguments[argument].as_str()
    }
}
