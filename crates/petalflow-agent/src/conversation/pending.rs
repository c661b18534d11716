//! Pending confirmations, credentials and results of a conversation.

use std::collections::HashMap;
use std::fmt;

use super::state::Conversation;
use crate::human::{CONFIRMATION, CREDENTIAL, confirmation, credential};
use petalflow::tool::{CredentialRequest, ToolCall};

/// Something that a conversation waits for.
///
/// ```
/// use petalflow_agent::{Agent, ConversationInput, Pending};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// use petalflow::tool::FuncTool;
/// # use serde_json::{Value, json};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("delete", json!({})), "It is gone.".into()]);
/// let delete = FuncTool::new("delete", "Deletes everything.", |_: Value| async { Ok("deleted") });
/// let agent = Agent::new(model).tool(delete.confirm_if(|_| Some("Really everything?".into())));
/// let talk = agent.run("tidy up").await?;
/// let Some(Pending::Confirmation { id, hint, .. }) = talk.pending().pop() else { panic!("a confirmation is needed") };
/// assert_eq!(hint, "Really everything?");
///
/// let talk = agent.run(talk.next_input(ConversationInput::default().confirm(id, true))).await?;
/// assert_eq!(talk.answer(), "It is gone.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pending {
    /// A person must decide about a call: [`ConversationInput::confirm`](crate::ConversationInput::confirm).
    Confirmation {
        /// The id to answer.
        id: String,
        /// The call.
        call: ToolCall,
        /// The text for the person.
        hint: String,
    },
    /// A call needs a credential: [`ConversationInput::credential`](crate::ConversationInput::credential).
    Credential {
        /// The id to answer.
        id: String,
        /// The credential that is needed, and how to get it.
        request: CredentialRequest,
    },
    /// The result of a call comes later: [`ConversationInput::result`](crate::ConversationInput::result).
    Result {
        /// The call.
        call: ToolCall,
    },
}

/// Displays what a person has to do, with the id to answer.
impl fmt::Display for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pending::Confirmation { id, call, hint } => {
                let (name, arguments) = (&call.name, &call.arguments);
                write!(
                    f,
                    "waits for a decision about `{id}`, which is {name}({arguments}): {hint}"
                )
            }
            Pending::Credential { id, .. } => write!(f, "waits for the credential of `{id}`"),
            Pending::Result { call } => {
                write!(
                    f,
                    "waits for the result of `{}` of the tool `{}`",
                    call.id, call.name
                )
            }
        }
    }
}

impl Conversation {
    /// Everything that the conversation waits for, in the order of the requests.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow::tool::FuncTool;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::call("build", json!({}))]);
    /// let build = FuncTool::new("build", "Builds a house.", |_: Value| async { Ok(()) }).long_running();
    /// let talk = Agent::new(model).tool(build).run("a house, please").await?;
    /// assert_eq!(talk.pending().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn pending(&self) -> Vec<Pending> {
        let mut pending: Vec<Option<Pending>> = Vec::new();
        // The last call with each id, and its index if its result comes later: some servers give calls of different answers
        // the same id.
        let mut last: HashMap<&str, Option<usize>> = HashMap::new();
        for event in &self.events {
            for result in event.results() {
                if let Some(Some(index)) = last.get(&*result.call_id) {
                    pending[*index] = None;
                }
            }
            for call in event.calls() {
                let waits = event.long_running.contains(&call.id);
                let index = waits.then_some(pending.len());
                if waits {
                    pending.push(Some(Pending::of(call)));
                }
                last.insert(&call.id, index);
            }
        }
        pending.into_iter().flatten().collect()
    }
}

impl Pending {
    fn of(call: &ToolCall) -> Self {
        let id = call.id.clone();
        match &*call.name {
            CONFIRMATION => {
                let (call, confirmation) = confirmation::parse_request(call).unwrap_or_default();
                let hint = confirmation.hint;
                Pending::Confirmation { id, call, hint }
            }
            CREDENTIAL => {
                let (_, request) = credential::parse_request(call).unwrap_or_default();
                Pending::Credential { id, request }
            }
            _ => Pending::Result { call: call.clone() },
        }
    }

    /// The id to answer.
    pub fn id(&self) -> &str {
        match self {
            Pending::Confirmation { id, .. } | Pending::Credential { id, .. } => id,
            Pending::Result { call } => &call.id,
        }
    }
}
