//! A provider's stream, piece by piece.

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

use super::super::{Delta, LlmError, LlmErrorKind, LlmResponse, StreamEvent, TokenUsage};
use super::error::Failures;
use super::response;
use super::wire::{self, Wire};

/// What the frames of a stream say, which the library hands on only in part.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Frames>>);

#[derive(Debug, Default)]
struct Frames {
    any: bool,
    wire: Wire,
    /// What has come and is not handed on yet.
    deltas: Vec<Delta>,
    /// JSON that has only begun. The library takes an event apart where the two characters that end a line come one by one.
    begun: String,
    /// Whether the last frame was JSON, or a part of some.
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
        // What is no event is a frame without data.
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
            // The last event of some is a word.
            Err(_) => {}
        }
    }
}

/// What comes next of a stream.
enum Heard {
    /// Frames of which the library makes nothing.
    Frames,
    Event(Option<Result<ChatStreamEvent, Error>>),
}

/// The pieces of an answer, with `end` putting the last touches to it.
pub(super) fn pieces(
    kind: AdapterKind,
    events: ChatStream,
    seen: Seen,
    failures: Failures,
    end: impl Fn(LlmResponse) -> LlmResponse + Send + Sync + 'static,
) -> impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static {
    let end = Arc::new(end);
    // Nothing is read after the end: to drop the events frees the connection, or closes it.
    let begin = Some((events, Reader::default()));
    stream::unfold(begin, move |state| {
        let (seen, failures, end) = (seen.clone(), failures.clone(), Arc::clone(&end));
        async move {
            let (mut events, mut reader) = state?;
            // The library may not have thought of everything that a server can say.
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
                // What the library cannot read, the frames may say.
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

/// The library's next event, or that frames have come of which it makes none.
async fn next(events: &mut ChatStream, seen: &Seen) -> Heard {
    poll_fn(|task| match events.poll_next_unpin(task) {
        Poll::Ready(event) => Poll::Ready(Heard::Event(event)),
        Poll::Pending if seen.frames().deltas.is_empty() => Poll::Pending,
        Poll::Pending => Poll::Ready(Heard::Frames),
    })
    .await
}

/// Whether the library's end of an answer is one: of some it makes one when the connection closes.
fn is_whole(kind: AdapterKind, rest: &StreamEnd) -> bool {
    let makes_one = matches!(kind, AdapterKind::Gemini | AdapterKind::OllamaCloud);
    !makes_one || rest.captured_stop_reason.is_some()
}

impl Seen {
    /// What the frames brought since the last time, which stands for what the library makes of them. None where they are of a family
    /// that is not read here.
    fn deltas(&self) -> Option<Vec<Delta>> {
        let frames = &mut *self.frames();
        frames
            .wire
            .is_known()
            .then(|| std::mem::take(&mut frames.deltas))
    }

    /// How the answer ended, where the stream has: `rest` is the library's word for it.
    fn end(&self, rest: Option<LlmResponse>, failures: &Failures) -> Result<LlmResponse, LlmError> {
        let frames = &mut *self.frames();
        let about = &mut frames.wire.about;
        if let Some(error) = about.error.take() {
            return Err(failures.refusal(&error));
        }
        match rest {
            // Some servers end when the answer does, and leave out the last event.
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

    /// Whether the library fails over a frame that is read here.
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

    /// What it means that the stream failed: nothing, if the answer had said that it ended.
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

/// Makes pieces of the library's events, for those families that are not read here.
#[derive(Default)]
struct Reader {
    calls: Vec<Begun>,
}

/// A call that has begun.
struct Begun {
    id: String,
    /// Its arguments so far.
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

    /// What is left when the answer ends, and how it ended.
    fn end(&mut self, rest: StreamEnd) -> (Vec<Delta>, LlmResponse) {
        let usage = rest.captured_usage.unwrap_or_default();
        // Some calls come at the end only, and so do thoughts that nobody may read.
        let mut deltas = Vec::new();
        let content = rest.captured_content.unwrap_or_default();
        for part in content.into_parts() {
            match part {
                ContentPart::ToolCall(call) if !self.has_begun(&call) => {
                    deltas.extend(self.call(call));
                }
                ContentPart::Custom(part) => {
                    deltas.extend(response::redacted(&part.data).map(Delta::Part));
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

    /// The call that a piece goes on with. The library calls those without an id `call_` and their place.
    fn place(&self, id: &str, name: &str) -> Option<usize> {
        let known = self.calls.iter().rposition(|call| call.id == id);
        known.or_else(|| {
            let place = id.strip_prefix("call_")?.parse().ok()?;
            (name.is_empty() && place < self.calls.len()).then_some(place)
        })
    }
}

impl Begun {
    /// What is new: some providers' pieces are that, others' are all so far.
    fn add(&mut self, written: &str) -> String {
        let new = match written.strip_prefix(self.arguments.as_str()) {
            Some(new) if !self.arguments.trim().is_empty() => new,
            _ => written,
        };
        self.arguments.push_str(new);
        new.to_string()
    }
}
