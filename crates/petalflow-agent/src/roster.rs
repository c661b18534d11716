//! The list of an agent and all agents below it.

use std::sync::Arc;

use super::{AgentError, Definition};

/// An agent and all agents below it, in the order in which they were added. Each comes before its own sub-agents.
#[derive(Debug)]
pub(super) struct Roster(Vec<Entry>);

/// An agent, with the indices of its parent and its sub-agents.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) agent: Arc<Definition>,
    pub(super) parent: Option<usize>,
    pub(super) children: Vec<usize>,
}

impl Roster {
    /// The index of the agent that has all others below it.
    pub(super) const ROOT: usize = 0;

    /// Lists an agent and the agents below it.
    ///
    /// # Errors
    ///
    /// If two agents have the same name, or if a name is empty or the user's.
    pub(super) fn of(root: &Arc<Definition>) -> Result<Self, AgentError> {
        let mut roster = Roster(Vec::new());
        roster.add(root, None)?;
        Ok(roster)
    }

    fn add(&mut self, agent: &Arc<Definition>, parent: Option<usize>) -> Result<usize, AgentError> {
        let name = &*agent.name;
        if name.is_empty() || name == super::AgentEvent::USER {
            return Err(AgentError::Name(name.into()));
        }
        if self.place(name).is_some() {
            return Err(AgentError::Twice(name.into()));
        }
        agent.check_tools()?;
        let place = self.0.len();
        self.0.push(Entry {
            agent: Arc::clone(agent),
            parent,
            children: Vec::new(),
        });
        for child in &agent.agents {
            let child = self.add(&child.0, Some(place))?;
            self.0[place].children.push(child);
        }
        Ok(place)
    }

    pub(super) fn at(&self, place: usize) -> &Entry {
        &self.0[place]
    }

    /// The index of the agent with this name.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|entry| &*entry.agent.name == name)
    }

    /// The agents above an agent, from its parent to the root.
    pub(super) fn above(&self, place: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.at(place).parent, |place| self.at(*place).parent)
    }
}
