//! The requests of the protocol, as clients send them. Unknown fields are allowed, as the specification says.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// `SendMessageRequest`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SendMessage {
    pub(super) message: Message,
    #[serde(default)]
    pub(super) configuration: Configuration,
}

/// `SendMessageConfiguration`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Configuration {
    pub(super) accepted_output_modes: Vec<String>,
    pub(super) task_push_notification_config: Option<Value>,
    pub(super) history_length: Option<i64>,
    pub(super) return_immediately: bool,
}

/// `Message`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Message {
    #[serde(rename = "messageId")]
    pub(super) id: String,
    pub(super) context_id: String,
    pub(super) task_id: String,
    pub(super) role: String,
    pub(super) parts: Vec<Part>,
    pub(super) metadata: Map<String, Value>,
    pub(super) extensions: Vec<String>,
    pub(super) reference_task_ids: Vec<String>,
}

/// `Part`: one of `text`, `raw`, `url` and `data`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Part {
    pub(super) text: Option<String>,
    /// Base64.
    pub(super) raw: Option<String>,
    pub(super) url: Option<String>,
    /// Any value, `null` too.
    #[serde(deserialize_with = "present")]
    pub(super) data: Option<Value>,
    pub(super) metadata: Map<String, Value>,
    pub(super) filename: String,
    pub(super) media_type: String,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The requests that name a task.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct OfTask {
    pub(super) id: String,
    pub(super) history_length: Option<i64>,
}

/// `ListTasksRequest`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListTasks {
    pub(super) context_id: String,
    pub(super) status: String,
    pub(super) page_size: Option<i64>,
    pub(super) page_token: String,
    pub(super) history_length: Option<i64>,
    pub(super) status_timestamp_after: Option<String>,
    pub(super) include_artifacts: bool,
}
