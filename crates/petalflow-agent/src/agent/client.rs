//! Turns of clients that keep the messages themselves, and that run tools.

use std::collections::HashSet;

use super::Agent;
use crate::conversation::ClientSettings;
use crate::definition::Definition;
use crate::human;
use crate::{AgentError, AgentEvent, ConversationInput};
use petalflow_llm::{ChatMessage, Part, Role};

/// Turns of clients that keep the messages themselves, and that run tools.
impl Agent {
    /// The input of a turn that continues these messages, for a client that keeps a conversation itself and sends all of it.
    ///
    /// The last message of the user, or the last results of tools, begin the turn. The messages before it are its history; the
    /// model reads those of the assistant as its own. Messages of the role `system` are further instructions.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::{ChatMessage, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::from_fn(|request| request.messages.len().to_string()));
    /// let messages = [ChatMessage::user("one"), ChatMessage::assistant("1"), ChatMessage::user("two")];
    /// assert_eq!(agent.run(agent.input_from(messages)?).await?.answer(), "3");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no message, or a result of a tool has no call before it.
    pub fn input_from(
        &self,
        messages: impl IntoIterator<Item = ChatMessage>,
    ) -> Result<ConversationInput, AgentError> {
        let (system, mut messages): (Vec<_>, Vec<_>) = messages
            .into_iter()
            .partition(|message| message.role == Role::System);
        if messages.is_empty() {
            return Err(AgentError::NoMessage);
        }
        name_results(&mut messages)?;
        let begins = |message: &ChatMessage| match message.role {
            Role::User => 1,
            Role::Tool => 2,
            _ => 0,
        };
        let last = messages.last().map_or(0, begins);
        let first = match last {
            1 => messages.len() - 1,
            2 => messages
                .iter()
                .rposition(|message| message.role != Role::Tool)
                .map_or(0, |other| other + 1),
            _ => messages.len(),
        };
        let new = messages.split_off(first);
        let message = new.into_iter().reduce(|mut all, next| {
            all.parts.extend(next.parts);
            all
        });
        let name = &*self.0.definition.name;
        let events = messages.into_iter().enumerate().map(|(number, message)| {
            let author = match message.role {
                Role::User => AgentEvent::USER,
                _ => name,
            };
            AgentEvent {
                id: format!("history-{number}"),
                ..AgentEvent::new(author, message)
            }
        });
        let instructions = system.iter().map(ChatMessage::text);
        Ok(ConversationInput {
            message,
            events: events.collect(),
            client: instructions.fold(ClientSettings::default(), ClientSettings::instruct),
            ..ConversationInput::default()
        })
    }

    /// Whether the agent has a form for its answers ([`output`](Self::output), [`output_function`](Self::output_function)). Then the pieces of an answer may be void: one
    /// that does not have the form goes back to the model.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// let agent = Agent::new(ScriptedModel::new(["5"]));
    /// assert!(!agent.has_output());
    /// assert!(agent.output::<u32>().has_output());
    /// ```
    pub fn has_output(&self) -> bool {
        self.0.definition.has_output()
    }

    /// Checks the tools of a client: names are given once, and no agent of the conversation has a tool of the same name. The
    /// turn checks it again, with the tools of sources, which are known then.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, ToolSpec};
    /// use petalflow_agent::{Agent, ClientSettings};
    /// use petalflow_llm::ScriptedModel;
    /// use serde_json::{Value, json};
    ///
    /// let search = FuncTool::new("search", "Searches.", |_: Value| async { Ok("nothing") });
    /// let agent = Agent::new(ScriptedModel::new(["hi"])).tool(search);
    /// let same = ToolSpec::new("search", "Searches too.", json!({ "type": "object" }));
    /// let error = agent.check_client(&ClientSettings::default().tool(same)).unwrap_err();
    /// assert_eq!(error.to_string(), "agent `agent` has a tool `search` of its own: give the tool of the client another name");
    /// ```
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn check_client(&self, client: &ClientSettings) -> Result<(), AgentError> {
        let mut names = HashSet::new();
        for tool in &client.tools {
            let name = &*tool.name;
            if name.is_empty() || human::is_request(name) || !names.insert(name) {
                let problem = format!(
                    "a tool of the client cannot have the name `{name}`: it is empty, reserved, or given twice"
                );
                return Err(AgentError::ClientSettings(problem));
            }
            if let Some(agent) = agent_with(&self.0.definition, name) {
                return Err(AgentError::ClientTool {
                    agent: agent.name.to_string(),
                    tool: name.to_string(),
                });
            }
        }
        if client.json_schema.is_some() && self.0.definition.has_output() {
            let name = &self.0.definition.name;
            return Err(AgentError::ClientSettings(format!(
                "agent `{name}` has a form for its answers: send no other one"
            )));
        }
        Ok(())
    }
}

/// The agent that has a tool of this name, or is called by it.
fn agent_with<'a>(agent: &'a Definition, tool: &str) -> Option<&'a Definition> {
    let has_tool = agent.specs().iter().any(|spec| spec.name == tool);
    let mut below = agent.agents.iter();
    if has_tool || below.any(|below| &*below.name == tool) {
        return Some(agent);
    }
    let mut below = agent.agents.iter();
    below.find_map(|below| agent_with(below, tool))
}

/// Adds the names of tools to their results.
fn name_results(messages: &mut [ChatMessage]) -> Result<(), AgentError> {
    for index in 0..messages.len() {
        let (before, rest) = messages.split_at_mut(index);
        for part in &mut rest[0].parts {
            let Part::Result(result) = part else { continue };
            let mut calls = before.iter().rev().flat_map(ChatMessage::calls);
            let Some(call) = calls.find(|call| call.id == result.call_id) else {
                return Err(AgentError::ClientSettings(format!(
                    "no call `{}` comes before its result: send the message with the call too",
                    result.call_id
                )));
            };
            result.name.clone_from(&call.name);
        }
    }
    Ok(())
}
