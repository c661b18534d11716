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

    /// The events before the first item.
    pub(super) fn begin(&mut self) -> Vec<(u64, Value)> {
        let response = self.head.in_progress(Vec::new());
        let types = ["response.created", "response.in_progress"];
        let events = types.map(|kind| (kind, json!({ "response": response })));
        self.numbered(events.into())
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
