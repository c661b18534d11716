//! Reads a provider's stream.

use std::borrow::Cow;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;

use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, stream};
use genai::Error;
use genai::adapter::AdapterKind;
use genai::chat::{
    self, ChatFrameSink, ChatStream, ChatStreamEvent, ContentPart, FrameCtx, RawFrameRef, StreamEnd,
};
use serde_json::Value;

use super::error::ErrorConverter;
use super::response;
use super::wire::{self, ResponseParser};
use crate::{Delta, LlmError, LlmErrorKind, LlmResponse, StreamEvent, TokenUsage};

/// The frames of a stream. The `genai` library returns only a part of their content.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameSink(Arc<Mutex<Frames>>);

#[derive(Debug, Default)]
struct Frames {
    received_data: bool,
    parser: ResponseParser,
    /// Deltas that have arrived and are not returned yet.
    deltas: Vec<Delta>,
    /// Incomplete JSON. The library splits an event if the two characters of a line end arrive separately.
    partial: String,
    /// Whether the last frame was JSON, or a part of it.
    is_json: bool,
}

impl FrameSink {
    pub(super) fn sink(&self) -> Arc<dyn ChatFrameSink> {
        Arc::new(self.clone())
    }

    fn frames(&self) -> std::sync::MutexGuard<'_, Frames> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for FrameSink {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut frames = self.frames();
        // A frame without data is not an event.
        frames.received_data |= !frame.data.is_empty();
        if !frame.data.is_empty() {
            frames.read(frame.data);
        }
    }
}

impl Frames {
    fn read(&mut self, data: &str) {
        let joined = if self.partial.is_empty() {
            Cow::Borrowed(data)
        } else {
            Cow::Owned(format!(
                "{}
{data}",
                std::mem::take(&mut self.partial)
            ))
        };
        let frame = serde_json::from_str(&joined);
        self.is_json = frame.as_ref().err().is_none_or(serde_json::Error::is_eof);
        match frame {
            Ok(frame) => self.deltas.extend(self.parser.read(&frame)),
            Err(_) if self.is_json => self.partial = joined.into_owned(),
            // Some providers end the stream with a word.
            Err(_) => {}
        }
    }
}

/// The next item of a stream.
enum Item {
    /// Frames for which the library has no event.
    Frames,
    Event(Option<Result<ChatStreamEvent, Error>>),
}

/// The events of a response. `end` completes the response at the end.
pub(super) fn events(
    kind: AdapterKind,
    source: ChatStream,
    frame_sink: FrameSink,
    errors: ErrorConverter,
    end: impl Fn(LlmResponse) -> LlmResponse + Send + Sync + 'static,
) -> impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static {
    let end = Arc::new(end);
    // Nothing is read after the end: dropping `source` releases the connection, or closes it.
    let start = Some((source, EventConverter::default()));
    stream::unfold(start, move |state| {
        let (frame_sink, errors, end) = (frame_sink.clone(), errors.clone(), Arc::clone(&end));
        async move {
            let (mut source, mut converter) = state?;
            // The library may panic on unexpected data from the server.
            let item = AssertUnwindSafe(next(&mut source, &frame_sink))
                .catch_unwind()
                .await;
            let parsed = frame_sink.deltas();
            let (deltas, last) = match item {
                Err(_) => (Vec::new(), Some(Err(errors.panicked()))),
                Ok(Item::Frames) => (Vec::new(), None),
                Ok(Item::Event(Some(Ok(ChatStreamEvent::End(rest))))) => {
                    let is_end = is_real_end(kind, &rest);
                    let (deltas, rest) = converter.end(rest);
                    let rest = is_end.then_some(rest);
                    (deltas, Some(frame_sink.end(rest, &errors)))
                }
                Ok(Item::Event(None)) => (Vec::new(), Some(frame_sink.end(None, &errors))),
                Ok(Item::Event(Some(Ok(event)))) => (converter.read(event), None),
                // The library cannot parse the data, but the frames may be readable here.
                Ok(Item::Event(Some(Err(error)))) if frame_sink.was_parsed(&error) => {
                    (Vec::new(), None)
                }
                Ok(Item::Event(Some(Err(error)))) => {
                    (Vec::new(), Some(frame_sink.failed(error, &errors)))
                }
            };
            let state = last.is_none().then_some((source, converter));
            let last = last.map(|last| last.map(|rest| StreamEvent::End(Box::new(end(rest)))));
            let deltas = parsed.unwrap_or(deltas).into_iter();
            let events = deltas
                .map(|delta| Ok(StreamEvent::Delta(delta)))
                .chain(last);
            Some((stream::iter(events.collect::<Vec<_>>()), state))
        }
    })
    .flatten()
}

/// Waits for the library's next event, or for frames without an event.
async fn next(source: &mut ChatStream, frame_sink: &FrameSink) -> Item {
    poll_fn(|task| match source.poll_next_unpin(task) {
        Poll::Ready(event) => Poll::Ready(Item::Event(event)),
        Poll::Pending if frame_sink.frames().deltas.is_empty() => Poll::Pending,
        Poll::Pending => Poll::Ready(Item::Frames),
    })
    .await
}

/// Whether the library's end event is a real end. For some providers the library sends one when the connection closes.
fn is_real_end(kind: AdapterKind, rest: &StreamEnd) -> bool {
    let synthesizes_end = matches!(kind, AdapterKind::Gemini | AdapterKind::OllamaCloud);
    !synthesizes_end || rest.captured_stop_reason.is_some()
}

impl FrameSink {
    /// The new deltas from the frames. They replace the library's events. `None` if the format is unknown here.
    fn deltas(&self) -> Option<Vec<Delta>> {
        let frames = &mut *self.frames();
        frames
            .parser
            .is_known()
            .then(|| std::mem::take(&mut frames.deltas))
    }

    /// The response at the end of the stream, or the error. `rest` is the library's version of the response.
    fn end(
        &self,
        rest: Option<LlmResponse>,
        errors: &ErrorConverter,
    ) -> Result<LlmResponse, LlmError> {
        let frames = &mut *self.frames();
        let data = &mut frames.parser.data;
        if let Some(error) = data.error.take() {
            return Err(errors.reported(&error));
        }
        match rest {
            // Some servers close the stream after the response, without the last event.
            None if data.has_ended() => Ok(data.response()),
            Some(rest) if !frames.parser.is_known() => Ok(rest),
            Some(rest) => {
                let mut response = frames.parser.data.response();
                if response.usage == TokenUsage::default() {
                    response.usage = rest.usage;
                }
                Ok(response)
            }
            None if frames.received_data => Err(errors.error(
                LlmErrorKind::Connection,
                "the connection closed before the answer was complete",
            )),
            None => Err(errors.error(
                LlmErrorKind::Malformed,
                "its answer is not a stream of events",
            )),
        }
    }

    /// Whether the library failed on a frame that can be read here.
    fn was_parsed(&self, error: &Error) -> bool {
        if matches!(error, Error::StreamParse { .. }) {
            let frames = self.frames();
            return frames.is_json && frames.parser.data.error.is_none();
        }
        let is_transport_error = matches!(
            error,
            Error::WebStream { .. }
                | Error::HttpError { .. }
                | Error::ChatResponse { .. }
                | Error::WebModelCall { .. }
                | Error::WebAdapterCall { .. }
        );
        let frames = self.frames();
        !is_transport_error && frames.parser.is_known() && frames.parser.data.error.is_none()
    }

    /// The result of a stream that failed. It is not an error if the response had already ended.
    fn failed(&self, error: Error, errors: &ErrorConverter) -> Result<LlmResponse, LlmError> {
        let frames = &mut *self.frames();
        let data = &mut frames.parser.data;
        if let Some(body) = data.error.take() {
            return Err(errors.reported(&body));
        }
        if data.has_ended() {
            return Ok(data.response());
        }
        Err(errors.convert(error))
    }
}

/// Converts the library's events into deltas, for formats that are unknown here.
#[derive(Default)]
struct EventConverter {
    calls: Vec<StartedCall>,
}

/// A call that has started.
struct StartedCall {
    id: String,
    /// The arguments so far.
    arguments: String,
}

impl EventConverter {
    fn read(&mut self, event: ChatStreamEvent) -> Vec<Delta> {
        match event {
            ChatStreamEvent::Chunk(chunk) => vec![Delta::Text(chunk.content)],
            ChatStreamEvent::ReasoningChunk(chunk) => vec![Delta::Thought(chunk.content)],
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => vec![Delta::Signature(chunk.content)],
            ChatStreamEvent::ToolCallChunk(chunk) => self.call(chunk.tool_call),
            _ => Vec::new(),
        }
    }

    /// The remaining deltas at the end of a response, and the response without its message.
    fn end(&mut self, rest: StreamEnd) -> (Vec<Delta>, LlmResponse) {
        let usage = rest.captured_usage.unwrap_or_default();
        // Some calls arrive only at the end, and so does redacted reasoning.
        let mut deltas = Vec::new();
        let content = rest.captured_content.unwrap_or_default();
        for part in content.into_parts() {
            match part {
                ContentPart::ToolCall(call) if !self.has_started(&call) => {
                    deltas.extend(self.call(call));
                }
                ContentPart::Custom(part) => {
                    deltas.extend(wire::redacted(&part.data).map(Delta::Part));
                }
                _ => {}
            }
        }
        let rest = LlmResponse {
            usage: response::token_usage(&usage),
            ..wire::with_stop_reason(rest.captured_stop_reason)
        };
        (deltas, rest)
    }

    fn call(&mut self, call: chat::ToolCall) -> Vec<Delta> {
        let signature = response::signature(&call).cloned().map(Delta::Signature);
        let (index, arguments) = match call.fn_arguments {
            Value::String(text) => {
                let existing = self.index(&call.call_id, &call.fn_name);
                let index = existing.unwrap_or_else(|| self.start_call(call.call_id.clone()));
                (index, self.calls[index].new_text(&text))
            }
            Value::Null => (self.start_call(call.call_id.clone()), String::new()),
            object => (self.start_call(call.call_id.clone()), object.to_string()),
        };
        let delta = Delta::Call {
            index,
            id: Some(response::call_id(self.calls[index].id.clone())),
            name: Some(call.fn_name),
            arguments,
        };
        [Some(delta), signature].into_iter().flatten().collect()
    }

    fn has_started(&self, call: &chat::ToolCall) -> bool {
        self.calls.iter().any(|started| started.id == call.call_id)
    }

    fn start_call(&mut self, id: String) -> usize {
        self.calls.push(StartedCall {
            id,
            arguments: String::new(),
        });
        self.calls.len() - 1
    }

    /// The call that a chunk continues. The library uses `call_` and the index as the id of a call without one.
    fn index(&self, id: &str, name: &str) -> Option<usize> {
        let existing = self.calls.iter().rposition(|call| call.id == id);
        existing.or_else(|| {
            let index = id.strip_prefix("call_")?.parse().ok()?;
            (name.is_empty() && index < self.calls.len()).then_some(index)
        })
    }
}

impl StartedCall {
    /// Returns the new text. The chunks of some providers contain only new text, those of others all text so far.
    fn new_text(&mut self, text: &str) -> String {
        let new = match text.strip_prefix(self.arguments.as_str()) {
            Some(new) if !self.arguments.trim().is_empty() => new,
            _ => text,
        };
        self.arguments.push_str(new);
        new.to_string()
    }
}
