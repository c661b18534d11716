//! The body of a request for a chat completion.

use std::sync::Arc;

use petalflow_agent::ClientSettings;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::message::{self, SentMessage};
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::start::{self, Start};
use crate::protocol::openai::{function, parameters};
use crate::threads::start::Starter;

/// A request.
#[derive(Debug, Deserialize)]
pub(super) struct ChatRequest {
    pub(super) model: String,
    messages: Vec<SentMessage>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Value,
    #[serde(default)]
    parallel_tool_calls: Option<bool>,
    #[serde(default)]
    response_format: Value,
    #[serde(default)]
    temperature: Option<f32>,
    #[serde(default)]
    top_p: Option<f32>,
    #[serde(default)]
    max_tokens: Option<u32>,
    #[serde(default)]
    max_completion_tokens: Option<u32>,
    #[serde(default)]
    stop: Option<Stop>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Stop {
    One(String),
    Several(Vec<String>),
}

/// How the answer is sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) streams: bool,
    pub(super) with_usage: bool,
}

impl ChatRequest {
    /// How the answer is sent.
    pub(super) fn shape(&self) -> Result<Shape, ApiError> {
        let streams = self.stream.unwrap_or(false);
        if self.stream_options.is_some() && !streams {
            let text = "`stream_options` is for requests with `stream`";
            return Err(ApiError::param("stream_options", text));
        }
        let options = self.stream_options.as_ref();
        Ok(Shape {
            streams,
            with_usage: options.is_some_and(|options| options.include_usage),
        })
    }

    /// What begins the turn.
    pub(super) fn start(self, starter: Starter) -> Result<Start, ApiError> {
        parameters::check(&self.rest)?;
        let mut settings = ClientSettings::default();
        settings.temperature = self.temperature;
        settings.top_p = self.top_p;
        settings.parallel_calls = self.parallel_tool_calls;
        settings.max_tokens = self.max_completion_tokens.or(self.max_tokens);
        settings.seed = self.seed;
        settings.stop = match self.stop {
            None => Vec::new(),
            Some(Stop::One(text)) => vec![text],
            Some(Stop::Several(texts)) => texts,
        };
        settings.json_schema = json_schema(&self.response_format)?;
        let tools = self.tools.unwrap_or_default();
        let (messages, results) = message::read(self.messages)?;
        Ok(Start {
            messages,
            settings: function::add(settings, &tools, &self.tool_choice)?,
            labels: start::labels(
                self.user,
                self.metadata.unwrap_or_default(),
                &starter.access,
            )?,
            results,
            starter,
        })
    }
}

/// The schema that the answer has to fit.
fn json_schema(format: &Value) -> Result<Option<Arc<Value>>, ApiError> {
    let schema = format.pointer("/json_schema/schema");
    match (format["type"].as_str(), schema) {
        _ if format.is_null() => Ok(None),
        (Some("text"), _) => Ok(None),
        (Some("json_schema"), Some(schema)) => Ok(Some(Arc::new(schema.clone()))),
        _ => Err(ApiError::param(
            "response_format",
            "`response_format` is of the type `text`, or `json_schema` with a schema",
        )),
    }
}
