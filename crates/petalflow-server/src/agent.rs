//! Agents: a turn of a client is a text, or a person's decisions about calls.

use std::collections::BTreeMap;

use petalflow::BoxError;
use petalflow::state::encode_keys;
use petalflow::tool::schema;
use petalflow_agent::{Agent, AgentFlow, Conversation, ConversationInput, Pending};
use petalflow_llm::ChatMessage;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::builder::ServerBuilder;
use crate::call_decision::CallDecision;
use crate::served::{FlowKind, ServedFlow, Wait, keys};

impl ServerBuilder {
    /// Serves an agent under this name. An input is a text, or an object:
    ///
    /// | field | meaning |
    /// | --- | --- |
    /// | `text` | what the user says |
    /// | `state` | values for the state of the conversation |
    /// | `decisions` | a list of `{"id", "approve", "reason", "arguments"}`: what a person decides about calls that wait |
    /// | `results` | the results of calls whose results come later, by the id of the call |
    /// | `credentials` | the credentials that calls ask for, by the id of the request |
    ///
    /// The state of a thread has the field `pending`: what the conversation waits for, with the ids.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let librarian = Agent::new(ScriptedModel::new(["Hello."]));
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server =
    ///     Server::builder(&InMemoryStore::new()).agent("librarian", &librarian).threads(auth).build()?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn agent(self, name: impl Into<String>, agent: &Agent) -> Self {
        self.serve_flow(ServedFlow::agent(agent).named(name))
    }
}

impl ServedFlow<AgentFlow> {
    /// An agent, as [`ServerBuilder::agent`] serves it, with further settings: the questions of flows that its tools run.
    ///
    /// ```
    /// use petalflow::interrupt::Ask;
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::ServedFlow;
    ///
    /// #[derive(serde::Serialize, Ask)]
    /// #[ask(answer = bool)]
    /// struct MayOrder {
    ///     title: String,
    /// }
    ///
    /// let agent = Agent::new(ScriptedModel::new(["Hello."]));
    /// let served = ServedFlow::agent(&agent).named("librarian").question::<MayOrder>();
    /// # let _ = served;
    /// ```
    pub fn agent(agent: &Agent) -> Self {
        let mut served = Self::reading(agent.launch(), |input| match input {
            Value::String(text) => Ok(text.into()),
            input => Ok(serde_json::from_value::<AgentInput>(input)?.into()),
        });
        served.forms.state = shown;
        served.forms.waits = Some(waits);
        served.facts.input = Some(json!({
            "anyOf": [
                { "type": "string", "description": "What the user says." },
                schema::of::<AgentInput>(),
            ],
        }));
        #[cfg(feature = "protocol")]
        {
            let agent = agent.clone();
            served.facts.holds_pieces = agent.has_output();
            served.forms.turn = Some(Box::new(move |input| input.for_agent(&agent)));
            served.forms.turn_end = Some(petalflow_agent::TurnEnd::from);
        }
        served.kind(FlowKind::Agent)
    }
}

/// What a client sends to an agent.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct AgentInput {
    /// What the user says.
    text: Option<String>,
    /// Values for the state of the conversation.
    state: Map<String, Value>,
    /// What a person decides about calls that wait.
    decisions: Vec<CallDecision>,
    /// The results of calls whose results come later, by the id of the call.
    results: BTreeMap<String, Value>,
    /// The credentials that calls ask for, by the id of the request.
    credentials: BTreeMap<String, Value>,
}

impl From<AgentInput> for ConversationInput {
    fn from(sent: AgentInput) -> Self {
        let mut input = ConversationInput {
            message: sent.text.map(ChatMessage::user),
            state: sent.state,
            ..ConversationInput::default()
        };
        for decision in sent.decisions {
            input = decision.add_to(input);
        }
        let results = sent.results.into_iter();
        input = results.fold(input, |input, (id, result)| input.result(id, result));
        let credentials = sent.credentials.into_iter();
        credentials.fold(input, |input, (id, credential)| {
            input.credential(id, credential)
        })
    }
}

/// The keys of the conversation, and what it waits for.
fn shown(talk: &Conversation) -> Result<Value, BoxError> {
    let mut shown = keys(&encode_keys(talk)?)?;
    let pending = talk.pending();
    shown["pending"] = pending.iter().map(pending_value).collect();
    Ok(shown)
}

fn pending_value(pending: &Pending) -> Value {
    match pending {
        Pending::Confirmation { id, call, hint } => {
            json!({ "kind": "confirmation", "id": id, "call": call, "text": hint })
        }
        Pending::Credential { id, request } => {
            json!({ "kind": "credential", "id": id, "request": request })
        }
        Pending::Result { call } => json!({ "kind": "result", "id": call.id, "call": call }),
        other => json!({ "kind": "other", "text": other.to_string() }),
    }
}

/// What the conversation waits for, for clients of a flow of any kind.
fn waits(talk: &Conversation) -> Vec<Wait> {
    let pending = talk.pending();
    pending.iter().filter_map(Wait::of_pending).collect()
}
