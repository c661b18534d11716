//! Team of agents from which a model selects.

use crate::Agent;

/// Agents by name, each with a description: a managed value of [`Supervise`](super::Supervise) and
/// [`AskExpert`](super::AskExpert).
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_llm::ScriptedModel;
/// use petalflow_agent::prebuilt::Team;
///
/// let team = Team::new()
///     .member("writer", "writes texts", Agent::new(ScriptedModel::new(["A poem."])))
///     .member("critic", "criticizes texts", Agent::new(ScriptedModel::new(["Too long."])));
/// assert_eq!(team.names().collect::<Vec<_>>(), ["writer", "critic"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Team(Vec<Member>);

#[derive(Clone, Debug)]
struct Member {
    name: String,
    description: String,
    agent: Agent,
}

impl Team {
    /// Creates an empty team.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an agent. It replaces an agent of the same name.
    #[must_use]
    pub fn member(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        agent: Agent,
    ) -> Self {
        let name = name.into();
        self.0.retain(|member| member.name != name);
        self.0.push(Member {
            agent: agent.name(&name),
            description: description.into(),
            name,
        });
        self
    }

    /// The agent of this name.
    pub fn get(&self, name: &str) -> Option<&Agent> {
        let member = self.0.iter().find(|member| member.name == name)?;
        Some(&member.agent)
    }

    /// All names, in the order in which the members were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|member| member.name.as_str())
    }

    /// A line for each member, for the model that selects one.
    pub(super) fn descriptions(&self) -> String {
        let lines = self.0.iter();
        let lines = lines.map(|member| format!("- {}: {}", member.name, member.description));
        lines.collect::<Vec<_>>().join("\n")
    }
}
