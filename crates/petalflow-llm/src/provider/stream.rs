//! Reads the events of a response.

use std::time::Duration;

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::error::ErrorConverter;
use super::json_memory;
use super::transport::{Event, Events};
use super::wire::{self, ResponseParser};
use crate::stream::StreamEvent;
use crate::{LlmError, LlmResponse};

/// How long the rest of a complete response is awaited. Only the token counts follow, and some servers leave the
/// connection open.
const MAX_WAIT_AT_END: Duration = Duration::from_secs(5);

/// The state while a response is read.
struct Reader<End> {
    events: Events,
    parser: ResponseParser,
    errors: ErrorConverter,
    /// Completes the response at its end.
    end: End,
    received: Received,
    /// Whether any content has arrived.
    has_content: bool,
    /// The start of the first event, or of the answer.
    start: String,
    /// How long the rest of a complete response is awaited.
    deadline: Option<Instant>,
}

/// What has arrived so far.
enum Received {
    Nothing,
    /// Events of another format.
    Unknown,
    /// Events, of which the last one was readable.
    Events,
    /// As the last event, JSON that is cut.
    PartOfJson(LlmError),
    /// The event that ends OpenAI's streams.
    Done,
}

/// The content of a response. `end` completes the response.
pub(super) fn content(
    events: Events,
    parser: ResponseParser,
    errors: ErrorConverter,
    end: impl Fn(LlmResponse) -> LlmResponse + Send + 'static,
) -> impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static {
    let reader = Reader {
        start: events.start.clone(),
        events,
        parser,
        errors,
        end,
        received: Received::Nothing,
        has_content: false,
        deadline: None,
    };
    // Nothing is read after the end: dropping the reader closes the connection.
    stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        let next = match reader.next().await {
            Some(Ok(event)) => reader.read(&event),
            Some(Err(_)) if reader.parser.has_ended() => return Some((reader.finish(), None)),
            Some(Err(error)) => Err(error),
            None => return Some((reader.finish(), None)),
        };
        Some(match next {
            Ok(events) => (events, Some(reader)),
            Err(error) => (vec![Err(error)], None),
        })
    })
    .map(stream::iter)
    .flatten()
}

impl<End: Fn(LlmResponse) -> LlmResponse> Reader<End> {
    async fn next(&mut self) -> Option<Result<Event, LlmError>> {
        let next = self.events.events.next();
        match self.received {
            Received::Done => None,
            _ if self.parser.is_closed() => None,
            _ if self.parser.has_ended() => {
                let latest = || Instant::now() + MAX_WAIT_AT_END;
                let deadline = *self.deadline.get_or_insert_with(latest);
                timeout_at(deadline, next).await.unwrap_or(None)
            }
            _ => next.await,
        }
    }

    fn read(&mut self, event: &Event) -> Result<Vec<Result<StreamEvent, LlmError>>, LlmError> {
        let data = &event.data;
        if data.trim() == "[DONE]" {
            self.received = Received::Done;
            return Ok(Vec::new());
        }
        match std::mem::replace(&mut self.received, Received::Events) {
            Received::Nothing => {
                self.start = self.errors.shown(data.as_bytes());
                self.received = Received::Unknown;
            }
            Received::Unknown => self.received = Received::Unknown,
            Received::PartOfJson(error) => return Err(error),
            Received::Events | Received::Done => {}
        }
        if json_memory::is_too_much(data.as_bytes()) {
            return Err(self.errors.too_much_memory());
        }
        let frame: Value = match serde_json::from_str(data) {
            Ok(frame) => frame,
            Err(_) if self.parser.has_ended() => return Ok(Vec::new()),
            Err(_) if event.is_error => return Err(self.errors.reported_text(data)),
            Err(error) => {
                let problem = self.errors.not_json_event(&error, data);
                // Either the connection was cut, which the next event tells, or this is not JSON.
                if error.is_eof() {
                    self.received = Received::PartOfJson(problem);
                    return Ok(Vec::new());
                }
                return Err(problem);
            }
        };
        if wire::is_known(&frame) {
            self.received = Received::Events;
        }
        let deltas = self.parser.read(&frame);
        let error = self.parser.take_error();
        if let Some(error) = error.or_else(|| event.is_error.then_some(frame)) {
            return Err(self.errors.reported(&error));
        }
        if !deltas.is_empty() {
            self.has_content = true;
            // Some servers send a reason with each event.
            self.deadline = None;
        }
        let deltas = deltas.into_iter();
        Ok(deltas.map(|delta| Ok(StreamEvent::Delta(delta))).collect())
    }

    /// The end of the response. Some servers close the stream without the last event.
    fn finish(mut self) -> Vec<Result<StreamEvent, LlmError>> {
        let end = match self.received {
            _ if self.parser.has_ended() => Ok(()),
            Received::Done if self.has_content => Ok(()),
            Received::Nothing | Received::Unknown | Received::Done => {
                Err(self.errors.no_answer(&self.start))
            }
            Received::Events | Received::PartOfJson(_) => Err(self.errors.cut()),
        };
        // What was complete before a failure is part of the answer so far.
        let rest = self.parser.rest().into_iter();
        let mut events: Vec<_> = rest.map(|delta| Ok(StreamEvent::Delta(delta))).collect();
        events.push(end.map(|()| StreamEvent::End(Box::new((self.end)(self.parser.finish())))));
        events
    }
}
