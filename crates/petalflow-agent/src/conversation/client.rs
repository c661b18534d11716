//! What a client adds to a turn: tools that it runs itself, and settings of the model's requests.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::request::ToolChoice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a client adds to a turn: tools that it runs itself, instructions, and settings of the model's requests. It is stored
/// with the turn, so that a turn that resumes has the same. The next turn has its own.
///
/// The agents that have the conversation use it. Agents that are called as tools do not see it.
///
/// A model calls the tools of the client as it calls those of the agent. The turn then ends, and the client sends the result
/// with [`ConversationInput::result`](crate::ConversationInput::result).
///
/// ```
/// use petalflow::tool::ToolSpec;
/// use petalflow_agent::{Agent, ClientSettings, ConversationInput, Pending};
/// # use petalflow_llm::{Reply, ScriptedModel};
/// # use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("locate", json!({})), "You are in Kyoto.".into()]);
/// let agent = Agent::new(model);
/// let locate = ToolSpec::new("locate", "Where the person is.", json!({ "type": "object" }));
/// let client = ClientSettings::default().tool(locate).instruct("Be brief.");
/// let talk = agent.run(ConversationInput::from("Where am I?").with_client(client.clone())).await?;
/// let Some(Pending::Result { call }) = talk.pending().pop() else { panic!("the client runs it") };
/// assert_eq!(call.name, "locate");
///
/// let found = ConversationInput::default().result(call.id, "Kyoto").with_client(client);
/// assert_eq!(agent.run(talk.next_input(found)).await?.answer(), "You are in Kyoto.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ClientSettings {
    /// The tools that the client runs. No tool of the agent may have the same name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Arc<ToolSpec>>,
    /// Which tools the model calls, for the first model call of the turn. The others are up to the model.
    pub tool_choice: ToolChoice,
    /// Whether the model may call several tools at once. `None`: as its provider decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_calls: Option<bool>,
    /// Further instructions. They follow those of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The JSON Schema of the answer, for an agent without an [`output`](crate::Agent::output) of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<Arc<Value>>,
    /// The temperature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f32>,
    /// The probability mass that tokens are chosen from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f32>,
    /// The largest number of tokens of an answer. The agent's own limit holds if it is lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts that end an answer, in addition to those of the agent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// The seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl ClientSettings {
    /// Adds a tool that the client runs.
    #[must_use]
    pub fn tool(mut self, spec: ToolSpec) -> Self {
        self.tools.push(Arc::new(spec));
        self
    }

    /// Adds a paragraph to the instructions.
    ///
    /// ```
    /// use petalflow_agent::ClientSettings;
    ///
    /// let client = ClientSettings::default().instruct("Be brief.").instruct("Be kind.");
    /// assert_eq!(client.instructions.as_deref(), Some("Be brief.\n\nBe kind."));
    /// ```
    #[must_use]
    pub fn instruct(mut self, text: impl AsRef<str>) -> Self {
        let text = text.as_ref();
        match &mut self.instructions {
            _ if text.is_empty() => {}
            Some(instructions) => {
                instructions.push_str("\n\n");
                instructions.push_str(text);
            }
            none => *none = Some(text.to_string()),
        }
        self
    }

    /// Whether the client has a tool of this name.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|spec| spec.name == name)
    }
}
