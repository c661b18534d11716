//! Reads the events of a response.

use std::pin::Pin;

use futures_core::Stream;
use futures_util::{StreamExt, stream};
use serde_json::Value;

use super::error::ErrorConverter;
use super::wire::ResponseParser;
use crate::stream::StreamEvent;
use crate::{LlmError, LlmResponse};

/// The data of the events of a response.
type Events = Pin<Box<dyn Stream<Item = Result<String, LlmError>> + Send>>;

/// The state while a response is read.
struct Reader<End> {
    events: Events,
    parser: ResponseParser,
    errors: ErrorConverter,
    /// Completes the response at its end.
    end: End,
    received: Received,
}

/// What has arrived so far.
enum Received {
    Nothing,
    /// Events, of which the last one was readable.
    Events,
    /// As the last event, JSON that is cut.
    PartOfJson,
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
        events,
        parser,
        errors,
        end,
        received: Received::Nothing,
    };
    // Nothing is read after the end: dropping the reader closes the connection.
    stream::unfold(Some(reader), |reader| async {
        let mut reader = reader?;
        let next = match reader.next().await {
            Some(Ok(data)) => reader.read(&data),
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
    async fn next(&mut self) -> Option<Result<String, LlmError>> {
        match self.received {
            Received::Done => None,
            _ => self.events.next().await,
        }
    }

    fn read(&mut self, data: &str) -> Result<Vec<Result<StreamEvent, LlmError>>, LlmError> {
        if data.trim() == "[DONE]" {
            self.received = Received::Done;
            return Ok(Vec::new());
        }
        if matches!(self.received, Received::PartOfJson) {
            return Err(self.errors.malformed("it sent a chunk that is not JSON"));
        }
        self.received = Received::Events;
        let frame: Value = match serde_json::from_str(data) {
            Ok(frame) => frame,
            Err(_) if self.parser.has_ended() => return Ok(Vec::new()),
            // Either the connection was cut, which the next event tells, or this is not JSON.
            Err(error) if error.is_eof() => {
                self.received = Received::PartOfJson;
                return Ok(Vec::new());
            }
            Err(error) => {
                return Err(self
                    .errors
                    .malformed(&format!("it sent a chunk that is not JSON: {error}")));
            }
        };
        let deltas = self.parser.read(&frame);
        if let Some(error) = self.parser.take_error() {
            return Err(self.errors.reported(&error));
        }
        let deltas = deltas.into_iter();
        Ok(deltas.map(|delta| Ok(StreamEvent::Delta(delta))).collect())
    }

    /// The end of the response. Some servers close the stream without the last event.
    fn finish(self) -> Vec<Result<StreamEvent, LlmError>> {
        let end = match self.received {
            _ if self.parser.has_ended() => Ok(()),
            Received::Done => Ok(()),
            Received::Nothing => Err(self
                .errors
                .malformed("its answer is not a stream of events")),
            Received::Events | Received::PartOfJson => Err(self.errors.cut()),
        };
        let end = end.map(|()| StreamEvent::End(Box::new((self.end)(self.parser.finish()))));
        vec![end]
    }
}
