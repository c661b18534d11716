//! What a program says about its agents.

use std::collections::BTreeMap;

use serde::Serialize;

/// How agents are served by A2A, and what their cards say.
///
/// ```
/// use petalflow_server::{A2a, AgentProfile, AgentSkill};
///
/// let skill = AgentSkill::new("find", "Find books", "Finds books of the library.").tag("books");
/// let a2a = A2a::new("https://agents.example.com")
///     .provider("The library", "https://example.com")
///     .agent("librarian", AgentProfile::new("Knows all books of the library.").version("2.1").skill(skill));
/// # let _ = a2a;
/// ```
#[derive(Clone, Debug)]
pub struct A2a {
    pub(crate) url: String,
    pub(crate) root: Option<String>,
    pub(crate) provider: Option<(String, String)>,
    pub(crate) profiles: BTreeMap<String, AgentProfile>,
}

/// What the card of an agent says.
#[derive(Clone, Debug)]
pub struct AgentProfile {
    pub(crate) description: String,
    pub(crate) version: String,
    pub(crate) documentation_url: Option<String>,
    pub(crate) skills: Vec<AgentSkill>,
}

/// A skill of an agent.
#[derive(Clone, Debug, Serialize)]
pub struct AgentSkill {
    id: String,
    name: String,
    description: String,
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
}

impl A2a {
    /// Serves all agents and conversations of the server. The cards say that they are below this URL, which is that of a proxy
    /// if there is one, with its path.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        A2a {
            url: url.into().trim_end_matches('/').to_string(),
            root: None,
            provider: None,
            profiles: BTreeMap::new(),
        }
    }

    /// The names of agents that the settings name.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let profiles = self.profiles.keys();
        profiles.chain(&self.root).map(String::as_str)
    }

    /// Sets the agent whose card is at `/.well-known/agent-card.json`. The default is the first one of the server.
    #[must_use]
    pub fn root(mut self, agent: impl Into<String>) -> Self {
        self.root = Some(agent.into());
        self
    }

    /// Sets the organization that provides the agents, and its URL.
    #[must_use]
    pub fn provider(mut self, organization: impl Into<String>, url: impl Into<String>) -> Self {
        self.provider = Some((organization.into(), url.into()));
        self
    }

    /// Sets what the card of an agent says.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>, profile: AgentProfile) -> Self {
        self.profiles.insert(name.into(), profile);
        self
    }
}

impl AgentProfile {
    /// A profile with a description.
    #[must_use]
    pub fn new(description: impl Into<String>) -> Self {
        AgentProfile {
            description: description.into(),
            version: "1.0.0".into(),
            documentation_url: None,
            skills: Vec::new(),
        }
    }

    /// Sets the version of the agent. The default is `1.0.0`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the URL of the documentation of the agent.
    #[must_use]
    pub fn documentation_url(mut self, url: impl Into<String>) -> Self {
        self.documentation_url = Some(url.into());
        self
    }

    /// Adds a skill. Without one, the card has a skill with the name and the description of the agent.
    #[must_use]
    pub fn skill(mut self, skill: AgentSkill) -> Self {
        self.skills.push(skill);
        self
    }
}

impl AgentSkill {
    /// A skill.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        AgentSkill {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            tags: Vec::new(),
            examples: Vec::new(),
        }
    }

    /// Adds a word by which clients find the skill.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Adds an example of a request.
    #[must_use]
    pub fn example(mut self, example: impl Into<String>) -> Self {
        self.examples.push(example.into());
        self
    }
}
