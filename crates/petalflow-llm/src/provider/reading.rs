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

use super::error::Failures;
use super::response;
use super::wire::{self, Wire};
use crate::{Delta, LlmError, LlmErrorKind, LlmResponse, StreamEvent, TokenUsage};

/// The frames of a stream. The `genai` library returns only a part of their content.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Frames>>);

#[derive(Debug, Default)]
struct Frames {
    any: bool,
    wire: Wire,
    /// Deltas that have arrived and are not returned yet.
    deltas: Vec<Delta>,
    /// Incomplete JSON. The library splits an event if the two characters of a line end arrive separately.
    begun: String,
    /// Whether the last frame was JSON, or a part of it.
    sound: bool,
}

impl Seen {
    pub(super) fn sink(&self) -> Arc<dyn ChatFrameSink> {
        Arc::new(self.clone())
    }

    fn frames(&self) -> std::sync::MutexGuard<'_, Frames> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatFrameSink for Seen {
    fn on_frame(&self, _: &FrameCtx, frame: RawFrameRef<'_>) {
        let mut frames = self.frames();
        // A frame without data is not an event.
        frames.any |= !frame.data.is_empty();
        if !frame.data.is_empty() {
            frames.read(frame.data);
        }
    }
}

impl Frames {
    fn read(&mut self, data: &str) {
        let joined = if self.begun.is_empty() {
            Cow::Borrowed(data)
        } else {
            Cow::Owned(format!(
                "{}
{data}",
                std::mem::take(&mut self.begun)
            ))
        };
        let frame = serde_json::from_str(&joined);
        self.sound = frame.as_ref().err().is_none_or(serde_json::Error::is_eof);
        match frame {
            Ok(frame) => self.deltas.extend(self.wire.read(&frame)),
            Err(_) if self.sound => self.begun = joined.into_owned(),
            // Some providers end the stream with a word.
            Err(_) => {}
        }
    }
}

/// The next item of a stream.
enum Heard {
    /// Frames for which the library has no event.
    Frames,
    Event(Option<Result<ChatStreamEvent, Error>>),
}

/// The events of a response. `end` completes the response at the end.
pub(super) fn pieces(
    kind: AdapterKind,
    events: ChatStream,
    seen: Seen,
    failures: Failures,
    end: impl Fn(LlmResponse) -> LlmResponse + Send + Sync + 'static,
) -> impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static {
    let end = Arc::new(end);
    // Nothing is read after the end: dropping `events` releases the connection, or closes it.
    let begin = Some((events, Reader::default()));
    stream::unfold(begin, move |state| {
        let (seen, failures, end) = (seen.clone(), failures.clone(), Arc::clone(&end));
        async move {
            let (mut events, mut reader) = state?;
            // The library may panic on unexpected data from the server.
            let heard = AssertUnwindSafe(next(&mut events, &seen))
                .catch_unwind()
                .await;
            let own = seen.deltas();
            let (deltas, last) = match heard {
                Err(_) => (Vec::new(), Some(Err(failures.panicked()))),
                Ok(Heard::Frames) => (Vec::new(), None),
                Ok(Heard::Event(Some(Ok(ChatStreamEvent::End(rest))))) => {
                    let whole = is_whole(kind, &rest);
                    let (deltas, rest) = reader.end(rest);
                    let rest = whole.then_some(rest);
                    (deltas, Some(seen.end(rest, &failures)))
                }
                Ok(Heard::Event(None)) => (Vec::new(), Some(seen.end(None, &failures))),
                Ok(Heard::Event(Some(Ok(event)))) => (reader.read(event), None),
                // The library cannot parse the data, but the frames may be readable here.
                Ok(Heard::Event(Some(Err(error)))) if seen.is_read(&error) => (Vec::new(), None),
                Ok(Heard::Event(Some(Err(error)))) => {
                    (Vec::new(), Some(seen.broken(error, &failures)))
                }
            };
            let state = last.is_none().then_some((events, reader));
            let last = last.map(|last| last.map(|rest| StreamEvent::End(Box::new(end(rest)))));
            let deltas = own.unwrap_or(deltas).into_iter();
            let pieces = deltas
                .map(|delta| Ok(StreamEvent::Delta(delta)))
                .chain(last);
            Some((stream::iter(pieces.collect::<Vec<_>>()), state))
        }
    })
    .flatten()
}

/// Waits for the library's next event, or for frames without an event.
async fn next(events: &mut ChatStream, seen: &Seen) -> Heard {
    poll_fn(|task| match events.poll_next_unpin(task) {
        Poll::Ready(event) => Poll::Ready(Heard::Event(event)),
        Poll::Pending if seen.frames().deltas.is_empty() => Poll::Pending,
        Poll::Pending => Poll::Ready(Heard::Frames),
    })
    .await
}

/// Whether the library's end event is a real end. For some providers the library sends one when the connection closes.
fn is_whole(kind: AdapterKind, rest: &StreamEnd) -> bool {
    let makes_one = matches!(kind, AdapterKind::Gemini | AdapterKind::OllamaCloud);
    !makes_one || rest.captured_stop_reason.is_some()
}

impl Seen {
    /// The new deltas from the frames. They replace the library's events. `None` if the format is unknown here.
    fn deltas(&self) -> Option<Vec<Delta>> {
        let frames = &mut *self.frames();
        frames
            .wire
            .is_known()
            .then(|| std::mem::take(&mut frames.deltas))
    }

    /// The response at the end of the stream, or the error. `rest` is the library's version of the response.
    fn end(&self, rest: Option<LlmResponse>, failures: &Failures) -> Result<LlmResponse, LlmError> {
        let frames = &mut *self.frames();
        let about = &mut frames.wire.about;
        if let Some(error) = about.error.take() {
            return Err(failures.refusal(&error));
        }
        match rest {
            // Some servers close the stream after the response, without the last event.
            None if about.has_ended() => Ok(about.response()),
            Some(rest) if !frames.wire.is_known() => Ok(rest),
            Some(rest) => {
                let mut response = frames.wire.about.response();
                if response.usage == TokenUsage::default() {
                    response.usage = rest.usage;
                }
                Ok(response)
            }
            None if frames.any => Err(failures.error(
                LlmErrorKind::Connection,
                "the connection closed before the answer was whole",
            )),
            None => Err(failures.error(
                LlmErrorKind::Malformed,
                "it answered with something that is no stream of events",
            )),
        }
    }

    /// Whether the library failed on a frame that can be read here.
    fn is_read(&self, error: &Error) -> bool {
        if matches!(error, Error::StreamParse { .. }) {
            let frames = self.frames();
            return frames.sound && frames.wire.about.error.is_none();
        }
        let real = matches!(
            error,
            Error::WebStream { .. }
                | Error::HttpError { .. }
                | Error::ChatResponse { .. }
                | Error::WebModelCall { .. }
                | Error::WebAdapterCall { .. }
        );
        let frames = self.frames();
        !real && frames.wire.is_known() && frames.wire.about.error.is_none()
    }

    /// The result of a stream that failed. It is not an error if the response had already ended.
    fn broken(&self, error: Error, failures: &Failures) -> Result<LlmResponse, LlmError> {
        let frames = &mut *self.frames();
        let about = &mut frames.wire.about;
        if let Some(said) = about.error.take() {
            return Err(failures.refusal(&said));
        }
        if about.has_ended() {
            return Ok(about.response());
        }
        Err(failures.of(error))
    }
}

/// Converts the library's events into deltas, for formats that are unknown here.
#[derive(Default)]
struct Reader {
    calls: Vec<Begun>,
}

/// A call that has begun.
struct Begun {
    id: String,
    /// The arguments so far.
    arguments: String,
}

impl Reader {
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
                ContentPart::ToolCall(call) if !self.has_begun(&call) => {
                    deltas.extend(self.call(call));
                }
                ContentPart::Custom(part) => {
                    deltas.extend(wire::redacted(&part.data).map(Delta::Part));
                }
                _ => {}
            }
        }
        let rest = LlmResponse {
            usage: response::used(&usage),
            ..wire::ended(rest.captured_stop_reason)
        };
        (deltas, rest)
    }

    fn call(&mut self, call: chat::ToolCall) -> Vec<Delta> {
        let signature = response::signature(&call).cloned().map(Delta::Signature);
        let (place, arguments) = match call.fn_arguments {
            Value::String(written) => {
                let known = self.place(&call.call_id, &call.fn_name);
                let place = known.unwrap_or_else(|| self.begin(call.call_id.clone()));
                (place, self.calls[place].add(&written))
            }
            Value::Null => (self.begin(call.call_id.clone()), String::new()),
            whole => (self.begin(call.call_id.clone()), whole.to_string()),
        };
        let delta = Delta::Call {
            place,
            id: Some(response::call_id(self.calls[place].id.clone())),
            name: Some(call.fn_name),
            arguments,
        };
        [Some(delta), signature].into_iter().flatten().collect()
    }

    fn has_begun(&self, call: &chat::ToolCall) -> bool {
        self.calls.iter().any(|begun| begun.id == call.call_id)
    }

    fn begin(&mut self, id: String) -> usize {
        self.calls.push(Begun {
            id,
            arguments: String::new(),
        });
        self.calls.len() - 1
    }

    /// The call that a chunk continues. The library uses `call_` and the index as the id of a call without one.
    fn place(&self, id: &str, name: &str) -> Option<usize> {
        let known = self.calls.iter().rposition(|call| call.id == id);
        known.or_else(|| {
            let place = id.strip_prefix("call_")?.parse().ok()?;
            (name.is_empty() && place < self.calls.len()).then_some(place)
        })
    }
}

impl Begun {
    /// Returns the new text. The chunks of some providers contain only new text, those of others all text so far.
    fn add(&mut self, written: &str) -> String {
        let new = match written.strip_prefix(self.arguments.as_str()) {
            Some(new) if !self.arguments.trim().is_empty() => new,
            _ => written,
        };
        self.arguments.push_str(new);
        new.to_string()
    }
}
