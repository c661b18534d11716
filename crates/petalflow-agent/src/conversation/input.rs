//! Input of a conversation's next turn.

use serde_json::{Value, json};

use super::client::ClientSettings;
use super::state::ConversationInput;
use crate::human::{CONFIRMATION, CREDENTIAL};
use petalflow::tool::ToolResult;
use petalflow_llm::{ChatMessage, Part, Role};

impl ConversationInput {
    /// Adds a person's decision about the call that the confirmation with this id asks about.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput};
    /// use petalflow::tool::FuncTool;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::call("delete", json!({})), "All files stay.".into()]);
    /// let delete = FuncTool::new("delete", "Deletes all files.", |_: Value| async { Ok("deleted") });
    /// let agent = Agent::new(model).tool(delete.confirm_if(|_| Some("Delete all files?".into())));
    /// let talk = agent.run("tidy up").await?;
    /// let id = talk.pending()[0].id().to_string();
    /// let refused = ConversationInput::default().confirm(id, false);
    /// assert_eq!(agent.run(talk.next_input(refused)).await?.answer(), "All files stay.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn confirm(self, id: impl Into<String>, confirmed: bool) -> Self {
        self.returned(id.into(), CONFIRMATION, json!({ "confirmed": confirmed }))
    }

    /// Adds a person's refusal of the call that the confirmation with this id asks about. The model reads the reason.
    ///
    /// ```
    /// use petalflow_agent::ConversationInput;
    ///
    /// let input = ConversationInput::default().refuse("c1", "keep the files of this year");
    /// # let _ = input;
    /// ```
    #[must_use]
    pub fn refuse(self, id: impl Into<String>, reason: impl Into<String>) -> Self {
        let answer = json!({ "confirmed": false, "reason": reason.into() });
        self.returned(id.into(), CONFIRMATION, answer)
    }

    /// Adds a person's approval of the call that the confirmation with this id asks about, with other arguments than the
    /// model's. They must be a JSON object that fits the tool.
    ///
    /// The model reads the new arguments with the result.
    ///
    /// ```
    /// use petalflow_agent::ConversationInput;
    /// use serde_json::json;
    ///
    /// let input = ConversationInput::default().confirm_with("c1", json!({ "prefix": "tmp" }));
    /// # let _ = input;
    /// ```
    #[must_use]
    pub fn confirm_with(self, id: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let answer = json!({ "confirmed": true, "arguments": arguments.into() });
        self.returned(id.into(), CONFIRMATION, answer)
    }

    /// Adds the credential that the call with this id asks for. The tool interprets it. `null` if there is none.
    ///
    /// No model reads it, and the conversation's events do not contain it. A store keeps it with its turn.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput, Pending};
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// use petalflow::prelude::*;
    /// use petalflow::tool::{CredentialRequest, ToolContext};
    /// # use serde_json::json;
    ///
    /// /// What is to be done today.
    /// #[tool]
    /// fn calendar(cx: ToolContext) -> petalflow::Result<String> {
    ///     match cx.credential() {
    ///         Some(token) => Ok(format!("{token} has nothing to do")),
    ///         None => {
    ///             cx.request_credential(CredentialRequest::oauth2("calendar", "https://accounts.example/authorize"));
    ///             Err("waits until the user has signed in".into())
    ///         }
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::call("calendar", json!({})), "You are free.".into()]);
    /// let agent = Agent::new(model).tool(calendar {});
    /// let talk = agent.run("Am I free?").await?;
    /// let Some(Pending::Credential { id, request }) = talk.pending().pop() else { panic!("somebody must sign in") };
    /// assert_eq!(request.key, "calendar");
    ///
    /// let signed_in = ConversationInput::default().credential(id, "token");
    /// assert_eq!(agent.run(talk.next_input(signed_in)).await?.answer(), "You are free.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn credential(self, id: impl Into<String>, credential: impl Into<Value>) -> Self {
        self.returned(id.into(), CREDENTIAL, credential.into())
    }

    /// Adds the result of a call whose result comes later, or its progress.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput};
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// use petalflow::tool::FuncTool;
    /// # use serde_json::{Value, json};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::call("build", json!({})), "It is built.".into()]);
    /// let build = FuncTool::new("build", "Builds a house.", |_: Value| async { Ok(()) }).long_running();
    /// let agent = Agent::new(model).tool(build);
    /// let talk = agent.run("a house, please").await?;
    /// let call = talk.pending()[0].id().to_string();
    ///
    /// // A year later:
    /// let built = ConversationInput::default().result(call, "four rooms");
    /// assert_eq!(agent.run(talk.next_input(built)).await?.answer(), "It is built.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn result(self, call: impl Into<String>, content: impl Into<Value>) -> Self {
        self.returned(call.into(), "", content.into())
    }

    fn returned(mut self, call_id: String, name: &str, content: Value) -> Self {
        let result = ToolResult {
            call_id,
            name: name.into(),
            content,
            is_error: false,
        };
        let message = self
            .message
            .get_or_insert_with(|| ChatMessage::new(Role::Tool, Vec::new()));
        message.parts.push(Part::Result(result));
        self
    }

    /// Sets what the client adds to the turn. [`ClientSettings`] has an example.
    #[must_use]
    pub fn with_client(mut self, client: ClientSettings) -> Self {
        self.client = client;
        self
    }

    /// Sets a value in the conversation's state.
    ///
    /// ```
    /// use petalflow_agent::{Agent, ConversationInput};
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::from_fn(|request| request.system.clone().unwrap_or_default());
    /// let agent = Agent::new(model).instructions("You talk to {name}.");
    /// let input = ConversationInput::from("hello").with_state("name", "Ann");
    /// assert_eq!(agent.run(input).await?.answer(), "You talk to Ann.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_state(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.state.insert(key.into(), value.into());
        self
    }
}

impl From<ChatMessage> for ConversationInput {
    fn from(message: ChatMessage) -> Self {
        ConversationInput {
            message: Some(message),
            ..Self::default()
        }
    }
}

impl From<&str> for ConversationInput {
    fn from(text: &str) -> Self {
        ChatMessage::user(text).into()
    }
}

impl From<String> for ConversationInput {
    fn from(text: String) -> Self {
        ChatMessage::user(text).into()
    }
}
