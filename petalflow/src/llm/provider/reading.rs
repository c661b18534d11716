//! A provider's stream, piece by piece.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, stream};
use genai::adapter::AdapterKind;
use genai::chat::{
    self, ChatFrameSink, ChatStream, ChatStreamEvent, ContentPart, FrameCtx, RawFrameRef,
    StopReason, StreamEnd,
};
use serde_json::{Map, Value};

use super::super::{Delta, LlmError, LlmErrorKind, LlmResponse, Piece};
use super::error::Failures;
use super::{gemini, response};

/// What the library does not hand on of the frames of a stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Frames>>);

#[derive(Debug, Default)]
struct Frames {
    any: bool,
    id: Option<String>,
    model: Option<String>,
    finish: Option<String>,
    /// Gemini's word that it does not answer.
    blocked: Option<LlmResponse>,
    gemini: gemini::Chunks,
    /// What Gemini's frames brought; none of another provider.
    parts: Option<Vec<Delta>>,
    /// What Gemini says beside them.
    meta: Map<String, Value>,
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
        // Of others than Gemini, only the first frames and the last are worth a second look.
        let ends = frame.data.contains("\"finish_reason\":\"")
            || frame.data.contains("\"finish_reason\": \"");
        if frames.model.is_some() && frames.parts.is_none() && !ends {
            return;
        }
        let Some(data) = frame.json() else { return };
        let Frames {
            id,
            model,
            finish,
            blocked,
            gemini,
            parts,
            meta,
            ..
        } = &mut *frames;
        *blocked = blocked.take().or_else(|| response::blocked(&data));
        if let Some(deltas) = gemini.read(&data) {
            parts.get_or_insert_default().extend(deltas);
            meta.extend(gemini::beside(&data));
        }
        *id = id.take().or_else(|| response::id_of(&data));
        *model = model.take().or_else(|| response::model_of(&data));
        let reason = data.pointer("/choices/0/finish_reason");
        *finish = finish
            .take()
            .or_else(|| reason?.as_str().map(str::to_string));
    }
}

/// The pieces of an answer, with `end` putting the last touches to it.
pub(super) fn pieces(
    kind: AdapterKind,
    events: ChatStream,
    seen: Seen,
    failures: Failures,
    end: impl Fn(LlmResponse) -> LlmResponse + Send + Sync + 'static,
) -> impl Stream<Item = Result<Piece, LlmError>> + Send + 'static {
    let end = Arc::new(end);
    // Nothing is read after the end: to drop the events frees the connection, or closes it.
    let begin = Some((events, Reader::default()));
    stream::unfold(begin, move |state| {
        let (seen, failures, end) = (seen.clone(), failures.clone(), Arc::clone(&end));
        async move {
            let (mut events, mut reader) = state?;
            // The library may not have thought of everything that a server can say.
            let event = AssertUnwindSafe(events.next()).catch_unwind().await;
            let own = seen.parts();
            let (deltas, last) = match event {
                Err(_) => (Vec::new(), Some(Err(failures.panicked()))),
                Ok(Some(Ok(ChatStreamEvent::End(rest)))) if is_whole(kind, &rest) => {
                    let (deltas, rest) = reader.end(rest);
                    (deltas, Some(Ok(end(seen.named(rest)))))
                }
                Ok(Some(Ok(ChatStreamEvent::End(_))) | None) => {
                    (Vec::new(), Some(seen.cut(&failures).map(|rest| end(rest))))
                }
                Ok(Some(Ok(event))) => (reader.read(event), None),
                Ok(Some(Err(error))) => {
                    let blocked = seen.frames().blocked.take();
                    let blocked = blocked.map(|rest| end(seen.named(rest)));
                    (Vec::new(), Some(blocked.ok_or_else(|| failures.of(error))))
                }
            };
            let state = last.is_none().then_some((events, reader));
            let last = last.map(|last| last.map(|rest| Piece::End(Box::new(rest))));
            let deltas = own.unwrap_or(deltas).into_iter();
            let pieces = deltas.map(|delta| Ok(Piece::Delta(delta))).chain(last);
            Some((stream::iter(pieces.collect::<Vec<_>>()), state))
        }
    })
    .flatten()
}

/// Whether an answer came to its end. Gemini says why it ended; without that, the connection was cut.
fn is_whole(kind: AdapterKind, rest: &StreamEnd) -> bool {
    kind != AdapterKind::Gemini || rest.captured_stop_reason.is_some()
}

impl Seen {
    /// What Gemini's frames brought since the last time, which stands for what the library makes of them.
    fn parts(&self) -> Option<Vec<Delta>> {
        self.frames().parts.as_mut().map(std::mem::take)
    }

    /// An answer with what the frames said about it.
    fn named(&self, rest: LlmResponse) -> LlmResponse {
        let mut frames = self.frames();
        LlmResponse {
            id: frames.id.take().unwrap_or_default(),
            model: frames.model.take().unwrap_or_default(),
            meta: std::mem::take(&mut frames.meta)
                .into_iter()
                .chain(rest.meta)
                .collect(),
            ..rest
        }
    }

    /// What it means that the stream is over without its last event.
    fn cut(&self, failures: &Failures) -> Result<LlmResponse, LlmError> {
        let (any, finish) = {
            let mut frames = self.frames();
            (frames.any, frames.finish.take())
        };
        match finish {
            // Some servers end when the answer does, and leave out the last event.
            Some(reason) => {
                let reason = Some(StopReason::from(reason));
                Ok(self.named(response::ended(reason, &chat::Usage::default())))
            }
            None if any => Err(failures.error(
                LlmErrorKind::Connection,
                "the connection closed before the answer was whole",
            )),
            None => Err(failures.error(
                LlmErrorKind::Malformed,
                "it answered with something that is no stream of events",
            )),
        }
    }
}

/// Makes pieces of events.
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
        (deltas, response::ended(rest.captured_stop_reason, &usage))
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
