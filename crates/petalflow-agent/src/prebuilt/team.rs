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

    /// Streams the pieces of the members' answers to listeners of the flow.
    ///
    /// ```
    /// use petalflow_agent::{Agent, AgentEvent, Conversation};
    /// use petalflow_agent::prebuilt::{AskExpert, Team};
    /// use petalflow_llm::nodes::Model;
    /// use petalflow_llm::{Reply, ScriptedModel};
    /// use petalflow::event::EventKind;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let gardener = Agent::new(ScriptedModel::new([Reply::chunks(["In ", "autumn."])]));
    /// let team = Team::new().member("gardener", "knows plants", gardener).streaming();
    /// let model = ScriptedModel::new([r#"{ "name": "gardener", "reason": "it is about plants" }"#]);
    /// let run = AskExpert::new().manage(Model::new(model)).manage(team).run("When?".to_string());
    /// let mut events = run.events();
    /// let mut pieces = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     if let Some(inner) = event.nested::<Conversation>()
    ///         && let EventKind::Custom(custom) = &inner.kind
    ///         && let Some(piece) = custom.downcast_ref::<AgentEvent>()
    ///         && piece.partial
    ///     {
    ///         pieces.push(format!("{}: {}", piece.author, piece.text()));
    ///     }
    /// }
    /// assert_eq!(pieces, ["gardener: In ", "gardener: autumn."]);
    /// # }
    /// ```
    #[must_use]
    pub fn streaming(mut self) -> Self {
        for member in &mut self.0 {
            member.agent = member.agent.clone().streaming();
        }
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
