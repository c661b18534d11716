//! Conversations: a turn of a client is what the person says.

use petalflow_conversations::{ConversationFlow, ConversationStateInput};
use serde_json::{Value, json};

use crate::builder::ServerBuilder;
use crate::served::{FlowKind, ServedFlow};

impl ServerBuilder {
    /// Serves a conversation under this name. An input is a text: what the person says. With `null`, the model speaks
    /// first.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_conversations::ConversationFlow;
    /// use petalflow_conversations::document::Conversation;
    /// use petalflow_documents::kinds::TriggerAuth;
    /// use petalflow_llm::ScriptedModel;
    /// use petalflow_server::Server;
    ///
    /// # fn main() -> petalflow::Result<()> {
    /// let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// let document = Conversation::from_config(&document).expect("it is a conversation");
    /// let flow = ConversationFlow::builder(document).model(ScriptedModel::new(["Hello."])).build()?;
    /// let auth = TriggerAuth::HeaderToken { header: "X-Token".into(), token: "secret".into() };
    /// let server =
    ///     Server::builder(&InMemoryStore::new()).conversation("order", &flow).threads(auth).build()?;
    /// # let _ = server;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn conversation(self, name: impl Into<String>, flow: &ConversationFlow) -> Self {
        let mut served = ServedFlow::reading(flow.launch(), |input| match input {
            Value::Null => Ok(ConversationStateInput::start()),
            Value::String(text) => Ok(ConversationStateInput::user_message(text)),
            _ => Err("a text, or `null` to let the conversation begin".into()),
        });
        served.facts.input = Some(json!({ "type": ["string", "null"] }));
        #[cfg(feature = "protocol")]
        {
            served.forms.turn = Some(Box::new(crate::turn_parts::TurnInput::for_conversation));
            served.forms.turn_end = Some(|talk| {
                let mut end = petalflow_agent::TurnEnd::default();
                end.state = talk.values;
                end
            });
        }
        self.serve_flow(served.kind(FlowKind::Conversation).named(name))
    }
}
