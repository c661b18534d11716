//! The formats of providers. Each has its requests and its responses in one file.
//!
//! Requests are written from scratch, and responses are read leniently, because servers differ from their own documents.

mod answer_tool;
mod call_ids;
mod chat;
mod chat_opaque;
mod chat_pieces;
mod citations;
mod content;
#[cfg(feature = "bedrock")]
mod converse;
#[cfg(feature = "bedrock")]
mod converse_blocks;
#[cfg(feature = "bedrock")]
mod converse_tools;
mod counting;
mod embeddings;
mod gemini;
mod gemini_calls;
mod gemini_computer;
mod gemini_parts;
mod message_items;
mod messages;
mod messages_computer;
mod messages_media;
mod messages_metadata;
mod messages_opaque;
mod messages_tools;
mod messages_version;
mod native;
mod open_calls;
mod origins;
#[cfg(feature = "voice")]
pub(super) mod realtime;
mod received_text;
mod response_data;
mod responses;
mod responses_computer;
mod responses_media;
mod responses_tools;
mod schemas;
mod think_tags;
mod usage;

use serde_json::{Map, Value};

use super::catalog::{Family, Target};
use crate::stream::{Delta, StreamAccumulator};
use crate::{LlmError, LlmRequest, LlmResponse, Part, TokenUsage};
use answer_tool::AnswerTool;
#[cfg(feature = "voice")]
pub(super) use content::merge;
pub(super) use messages::VERSION as ANTHROPIC_VERSION;
pub(super) use messages_computer::beta;
use origins::Origins;
use response_data::ResponseData;
pub(super) use schemas::Schemas;
use think_tags::ThinkTagParser;

impl Target<'_> {
    /// The parameter of the address that asks for events.
    pub(super) fn query(&self) -> Option<(&'static str, &'static str)> {
        (self.family == Family::Gemini && self.streaming).then_some(("alt", "sse"))
    }

    /// The body of a request.
    ///
    /// # Errors
    ///
    /// For media that the provider does not accept, and native tools and settings that it does not have.
    pub(super) fn body(&self, request: &LlmRequest, schemas: Schemas) -> Result<Value, LlmError> {
        native::check(self, request)?;
        match self.family {
            Family::Chat => chat::body(self, request, schemas),
            Family::Responses => responses::body(self, request, schemas),
            Family::Messages => messages::body(self, request, schemas),
            Family::Gemini => Ok(gemini::body(self, request, schemas)),
            #[cfg(feature = "bedrock")]
            Family::Converse => converse::body(self, request, schemas),
        }
    }

    /// The parts of these texts that are requested together.
    pub(super) fn embedding_batches<'t>(&self, texts: &'t [String]) -> Vec<&'t [String]> {
        embeddings::batches(texts, self.quirks.texts)
    }

    /// The value of a part that only the provider uses, if it is one of this provider.
    pub(super) fn own_value<'p>(&self, part: &'p Part) -> Option<&'p Value> {
        self.opaque(part)
    }

    /// How many signatures and opaque parts of other providers the request does without.
    pub(super) fn left_out(&self, request: &LlmRequest) -> Map<String, Value> {
        self.foreign_parts(request)
    }

    /// The path and the body of a request for the vectors of these texts. `None` for a provider without embeddings.
    pub(super) fn embeddings(&self, texts: &[String]) -> Option<(String, Value)> {
        embeddings::request(self, texts)
    }

    /// The path and the body of a request for the number of tokens of a request with this body. `None` for a format
    /// without such requests.
    pub(super) fn count_request(&self, body: Value) -> Option<(String, Value)> {
        counting::request(self, body)
    }

    /// A parser of the response to a request with this body. The calls of this tool are the answer.
    pub(super) fn parser(&self, body: &Value, answer_tool: Option<&str>) -> ResponseParser {
        ResponseParser {
            format: match self.family {
                Family::Chat => Format::Chat(chat::ChatParser::default()),
                Family::Responses => Format::Responses(responses::ResponsesParser::default()),
                Family::Messages => Format::Messages(messages::MessagesParser::default()),
                Family::Gemini => Format::Gemini(gemini::GeminiParser::of(body)),
                #[cfg(feature = "bedrock")]
                Family::Converse => Format::Converse(converse::ConverseParser::default()),
            },
            data: ResponseData::default(),
            origins: Origins::of(&self.origin()),
            think_tags: ThinkTagParser::new(self.capabilities.think_tags),
            answer_tool: answer_tool.map(|name| AnswerTool::new(name.to_string())),
        }
    }
}

/// The vectors in an answer, in the order of the texts. `None` if there is not one for each text.
pub(super) fn vectors(body: &Value, texts: usize) -> Option<Vec<Vec<f32>>> {
    embeddings::vectors(body, texts)
}

/// The number of tokens in an answer.
pub(super) fn count(body: &Value) -> Option<u64> {
    counting::count(body)
}

/// Reads one response: its events, or its body.
#[derive(Debug)]
pub(super) struct ResponseParser {
    format: Format,
    data: ResponseData,
    origins: Origins,
    think_tags: ThinkTagParser,
    answer_tool: Option<AnswerTool>,
}

#[derive(Debug)]
enum Format {
    Chat(chat::ChatParser),
    Responses(responses::ResponsesParser),
    Messages(messages::MessagesParser),
    Gemini(gemini::GeminiParser),
    #[cfg(feature = "bedrock")]
    Converse(converse::ConverseParser),
}

impl Format {
    /// What the provider needs back with a thought.
    fn with_thoughts(&self) -> Map<String, Value> {
        match self {
            Format::Chat(parser) => parser.with_thoughts(),
            _ => Map::new(),
        }
    }
}

impl ResponseParser {
    /// Reads an event or a complete body, and returns the new content.
    pub(super) fn read(&mut self, frame: &Value) -> Vec<Delta> {
        if is_error(frame) {
            self.data.error.get_or_insert_with(|| frame.clone());
            return Vec::new();
        }
        let data = &mut self.data;
        let deltas = match &mut self.format {
            Format::Chat(parser) => parser.read(frame, data),
            Format::Responses(parser) => parser.read(frame, data),
            Format::Messages(parser) => parser.read(frame, data),
            Format::Gemini(parser) => parser.read(frame, data),
            #[cfg(feature = "bedrock")]
            Format::Converse(parser) => parser.read(frame, data),
        };
        let deltas = self.think_tags.read(deltas);
        let deltas = self.origins.add(deltas, &self.format.with_thoughts());
        self.with_answer(deltas)
    }

    /// The content that is complete only at the end of the response.
    pub(super) fn rest(&mut self) -> Vec<Delta> {
        let deltas = match &mut self.format {
            Format::Chat(parser) => parser.rest(),
            Format::Messages(_) => self
                .data
                .container
                .take()
                .map(messages_opaque::container)
                .into_iter()
                .collect(),
            Format::Gemini(parser) => parser.rest(&self.data),
            Format::Responses(_) => Vec::new(),
            #[cfg(feature = "bedrock")]
            Format::Converse(_) => Vec::new(),
        };
        let with_thoughts = self.format.with_thoughts();
        let held = self.think_tags.rest().into_iter().collect();
        let mut all = self.origins.add(held, &with_thoughts);
        self.origins.end_thought(&mut all, &with_thoughts);
        all.extend(self.origins.add(deltas, &with_thoughts));
        self.with_answer(all)
    }

    fn with_answer(&mut self, deltas: Vec<Delta>) -> Vec<Delta> {
        match &mut self.answer_tool {
            Some(tool) => tool.read(deltas),
            None => deltas,
        }
    }

    /// The error that the provider sent instead of a response, or in the middle of one.
    pub(super) fn take_error(&mut self) -> Option<Value> {
        self.data.error.take()
    }

    /// Whether the response has sent its end.
    pub(super) fn has_ended(&self) -> bool {
        self.data.has_ended()
    }

    /// Whether nothing follows, not even token counts.
    pub(super) fn is_closed(&self) -> bool {
        self.data.closed
    }

    /// The response without its message.
    pub(super) fn finish(mut self) -> LlmResponse {
        let answer = self.answer_tool.as_ref();
        let json = answer.and_then(|tool| tool.finish(&mut self.data));
        LlmResponse {
            json,
            ..self.data.response()
        }
    }

    /// Reads a complete body. The error is what the provider sent instead of a response; `None` if it sent neither.
    pub(super) fn read_body(mut self, body: &Value) -> Result<LlmResponse, Option<Value>> {
        let mut accumulator = StreamAccumulator::new();
        let deltas = self.read(body);
        let rest = self.rest();
        let deltas = deltas.iter().chain(&rest);
        deltas.for_each(|delta| accumulator.push(delta));
        if let Some(error) = self.take_error() {
            return Err(Some(error));
        }
        let response = accumulator.finish(self.finish());
        // Even a response without content has a reason for its end, or a usage.
        let is_empty = response.message.is_none()
            && response.finish.is_none()
            && response.usage == TokenUsage::default();
        if is_empty { Err(None) } else { Ok(response) }
    }
}

/// Whether this is an error and not a part of a response. Complete responses have an `error` that is null.
pub(super) fn is_error(frame: &Value) -> bool {
    let frame = frame.get(0).unwrap_or(frame);
    let has_error = frame.get("error").is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(errors) => !errors.is_empty(),
        _ => true,
    });
    has_error || frame["type"] == "error" || frame["object"] == "error"
}

/// Whether this is an event of any of the formats, perhaps one without content.
pub(super) fn is_known(frame: &Value) -> bool {
    const FIELDS: [&str; 8] = [
        "messageStart",
        "type",
        "choices",
        "candidates",
        "promptFeedback",
        "usageMetadata",
        "usage",
        "id",
    ];
    FIELDS.iter().any(|field| frame.get(field).is_some())
}
