//! A client of a model with the Chat Completions API.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Result;

/// A message of a conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Message {
    pub role: String,
    #[serde(default)]
    pub content: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl Message {
    pub fn new(role: &str, content: impl Into<String>) -> Self {
        Message {
            role: role.into(),
            content: Some(content.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub function: FunctionCall,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FunctionCall {
    pub name: String,
    /// JSON.
    pub arguments: String,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Clone)]
pub struct Model {
    client: reqwest::Client,
    url: String,
}

impl Model {
    pub fn new(url: &str) -> Result<Self> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().build()?;
        Ok(Model {
            client,
            url: format!("{url}/chat/completions"),
        })
    }

    /// The next message of the conversation.
    pub async fn complete(&self, messages: &[Message], tools: &Value) -> Result<Message> {
        let body = json!({ "model": "small", "messages": messages, "tools": tools });
        let mut attempt = 1;
        let response = loop {
            let response = self.client.post(&self.url).json(&body).send().await?;
            let status = response.status();
            if attempt == 3 || !(status.is_server_error() || status == 429) {
                break response.error_for_status()?;
            }
            tokio::time::sleep(std::time::Duration::from_secs(attempt)).await;
            attempt += 1;
        };
        let completion: Completion = response.json().await?;
        let choice = completion.choices.into_iter().next();
        Ok(choice.ok_or("the model returned no message")?.message)
    }
}
