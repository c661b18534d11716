//! The events of a response, with their numbers.

use serde_json::{Value, json};

use super::object::Head;
use super::output::{Output, OutputEvent, with};
use crate::protocol::openai::error::ApiError;
use crate::protocol::turn::{ItemKind, TurnItem};

/// Makes the events of a response from the items of its turn.
#[derive(Debug)]
pub(super) struct Events {
    head: Head,
    output: Output,
    thread: String,
    next: u64,
}

impl Events {
    pub(super) fn new(head: Head, output: Output, thread: String) -> Self {
        Events {
            head,
            output,
            thread,
            next: 0,
        }
    }

    /// The events before the first item, and of a response that was queued those before its turn.
    pub(super) fn begin(&mut self, was_queued: bool) -> Vec<(u64, Value)> {
        if was_queued {
            let response = self.head.queued();
            let types = ["response.created", "response.queued"];
            return self.of_response(types.into(), &response);
        }
        let response = self.head.in_progress(Vec::new());
        let types = ["response.created", "response.in_progress"];
        self.of_response(types.into(), &response)
    }

    /// The event with which the turn of a queued response begins.
    pub(super) fn begin_turn(&mut self) -> Vec<(u64, Value)> {
        let response = self.head.in_progress(Vec::new());
        self.of_response(vec!["response.in_progress"], &response)
    }

    /// The event of a response that was cancelled before its turn.
    pub(super) fn cancelled(&mut self) -> Vec<(u64, Value)> {
        let (kind, response) = self.head.cancelled();
        self.of_response(vec![kind], &response)
    }

    fn of_response(&mut self, types: Vec<&'static str>, response: &Value) -> Vec<(u64, Value)> {
        let events = types.into_iter();
        let events = events.map(|kind| (kind, json!({ "response": response })));
        self.numbered(events.collect())
    }

    /// The events of an item.
    pub(super) fn of(&mut self, item: &TurnItem) -> Vec<(u64, Value)> {
        let ItemKind::End(end) = &item.kind else {
            let events = self.output.add(item);
            return self.numbered(events);
        };
        let mut events = self.output.end(&self.thread, end);
        let (kind, response) = self.head.at_end(&self.output, end);
        events.push((kind, json!({ "response": response })));
        self.numbered(events)
    }

    /// The event of an error that ends the stream.
    pub(super) fn error(&mut self, error: &ApiError) -> Vec<(u64, Value)> {
        let fields = json!({ "code": error.code(), "message": error.message(), "param": null });
        self.numbered(vec![("error", fields)])
    }

    fn numbered(&mut self, events: Vec<OutputEvent>) -> Vec<(u64, Value)> {
        let mut numbered = Vec::new();
        for (kind, fields) in events {
            let number = self.next;
            self.next += 1;
            let event = json!({ "type": kind, "sequence_number": number });
            numbered.push((number, with(event, fields)));
        }
        numbered
    }
}
