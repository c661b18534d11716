//! The body of a request for a response.

use std::sync::Arc;

use petalflow_agent::ClientSettings;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::input::{self, Input, ReadInput};
use crate::access::Access;
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::{function, parameters, start};
use crate::served::Labels;

/// A request.
#[derive(Debug, Deserialize)]
pub(super) struct ResponseRequest {
    pub(super) model: String,
    #[serde(default)]
    input: Option<Input>,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    pub(super) previous_response_id: Option<String>,
    #[serde(default)]
    store: Option<bool>,
    #[serde(default)]
    background: Option<bool>,
    #[serde(default)]
    stream: Option<bool>,
    /// The events have no padding in any case.
    #[serde(default, rename = "stream_options")]
    _stream_options: Option<Value>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Value,
    #[serde(default)]
    parallel_tool_calls: Option<bool>,
    #[serde(default)]
    text: Value,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    top_p: Option<f32>,
    #[serde(default)]
    max_output_tokens: Option<u32>,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A request that was read.
pub(super) struct ReadRequest {
    pub(super) input: ReadInput,
    pub(super) settings: ClientSettings,
    pub(super) labels: Labels,
}

impl ResponseRequest {
    /// Whether the thread is kept.
    pub(super) fn stores(&self) -> bool {
        self.store.unwrap_or(true)
    }

    pub(super) fn is_background(&self) -> bool {
        self.background.unwrap_or(false)
    }

    pub(super) fn streams(&self) -> bool {
        self.stream.unwrap_or(false)
    }

    /// Checks the request, and reads it.
    pub(super) fn read(self, access: &Access) -> Result<ReadRequest, ApiError> {
        if self.is_background() && !self.stores() {
            let text = "a response in the `background` is stored: leave out `store`";
            return Err(ApiError::param("background", text));
        }
        parameters::check(&self.rest)?;
        let mut settings = ClientSettings::default();
        settings.instructions = self.instructions;
        settings.temperature = self.temperature;
        settings.top_p = self.top_p;
        settings.parallel_calls = self.parallel_tool_calls;
        settings.max_tokens = self.max_output_tokens;
        settings.json_schema = json_schema(&self.text)?;
        let tools = self.tools.unwrap_or_default();
        Ok(ReadRequest {
            input: input::read(self.input, self.previous_response_id.is_some())?,
            settings: function::add(settings, &tools, &self.tool_choice)?,
            labels: start::labels(self.user, self.metadata.unwrap_or_default(), access)?,
        })
    }
}

/// The schema that the answer has to fit.
fn json_schema(text: &Value) -> Result<Option<Arc<Value>>, ApiError> {
    let format = &text["format"];
    match (format["type"].as_str(), format.get("schema")) {
        _ if format.is_null() => Ok(None),
        (Some("text"), _) => Ok(None),
        (Some("json_schema"), Some(schema)) => Ok(Some(Arc::new(schema.clone()))),
        _ => Err(ApiError::param(
            "text.format",
            "`text.format` is of the type `text`, or `json_schema` with a schema",
        )),
    }
}
