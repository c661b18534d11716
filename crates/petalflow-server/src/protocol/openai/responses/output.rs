//! The items of a response, and the events by which they are streamed.

use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::response::FinishReason;
use serde_json::{Value, json};

use crate::protocol::openai::annotations;
use crate::protocol::openai::calls::{self, FunctionCall};
use crate::protocol::turn::{ItemKind, MessageEnd, TurnEnd, TurnItem};

/// An event of a stream: its type and its fields, without its number.
pub(super) type OutputEvent = (&'static str, Value);

/// The items of a response, made from the items of a turn.
#[derive(Debug)]
pub(super) struct Output {
    /// What the ids of items end with.
    suffix: String,
    pub(super) items: Vec<Value>,
    open: Option<Open>,
    pub(super) finish: Option<FinishReason>,
}

/// An item that is not complete.
#[derive(Debug)]
struct Open {
    kind: OpenKind,
    id: String,
    text: String,
    /// The sources that the text cites, which are known at its end.
    annotations: Vec<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenKind {
    Message,
    Reasoning,
}

impl Output {
    pub(super) fn new(suffix: String) -> Self {
        Output {
            suffix,
            items: Vec::new(),
            open: None,
            finish: None,
        }
    }

    /// Adds an item of the turn. The words of agents that were called are not for the user.
    pub(super) fn add(&mut self, item: &TurnItem) -> Vec<OutputEvent> {
        if item.voice.is_called() {
            return Vec::new();
        }
        match &item.kind {
            ItemKind::Text(text) => self.grow(OpenKind::Message, text),
            ItemKind::Thought(text) => self.grow(OpenKind::Reasoning, text),
            ItemKind::Media(media) => image(media).map_or_else(Vec::new, |it| self.add_image(it)),
            ItemKind::MessageEnd(end) => self.end_message(end),
            _ => Vec::new(),
        }
    }

    /// Adds the calls of the end of the turn.
    pub(super) fn end(&mut self, thread: &str, end: &TurnEnd) -> Vec<OutputEvent> {
        let mut events = self.close();
        for call in calls::at_end(thread, end) {
            events.extend(self.add_call(&call));
        }
        events
    }

    /// The items, with the one that is not complete.
    pub(super) fn so_far(&self) -> Vec<Value> {
        let open = self.open.as_ref();
        let open = open.map(|open| open.item("in_progress"));
        self.items.iter().cloned().chain(open).collect()
    }

    fn id(&self, kind: &str) -> String {
        format!("{kind}_{}_{}", self.suffix, self.items.len())
    }

    /// Adds text to the open item of this kind, or opens one.
    fn grow(&mut self, kind: OpenKind, text: &str) -> Vec<OutputEvent> {
        let mut events = Vec::new();
        if self.open.as_ref().is_some_and(|open| open.kind != kind) {
            events.extend(self.close());
        }
        if self.open.is_none() {
            events.extend(self.open(kind));
        }
        let index = self.items.len();
        if let Some(open) = &mut self.open {
            open.text.push_str(text);
            events.push(open.delta(index, text));
        }
        events
    }

    fn open(&mut self, kind: OpenKind) -> Vec<OutputEvent> {
        let index = self.items.len();
        let id = self.id(kind.prefix());
        let open = self.open.insert(Open {
            kind,
            id,
            text: String::new(),
            annotations: Vec::new(),
        });
        let mut item = open.item("in_progress");
        item[kind.parts()] = json!([]);
        let added = json!({ "output_index": index, "item": item });
        let part = open.fields(index, json!({ "part": open.part() }));
        vec![("response.output_item.added", added), (kind.event(0), part)]
    }

    /// Ends the open item.
    fn close(&mut self) -> Vec<OutputEvent> {
        let Some(open) = self.open.take() else {
            return Vec::new();
        };
        let (kind, index) = (open.kind, self.items.len());
        let mut text = json!({ "text": open.text });
        if kind == OpenKind::Message {
            text["logprobs"] = json!([]);
        }
        let item = open.item("completed");
        let done = json!({ "output_index": index, "item": item });
        let events = vec![
            (kind.event(2), open.fields(index, text)),
            (
                kind.event(3),
                open.fields(index, json!({ "part": open.part() })),
            ),
            ("response.output_item.done", done),
        ];
        self.items.push(item);
        events
    }

    fn end_message(&mut self, end: &MessageEnd) -> Vec<OutputEvent> {
        let mut events = self.annotate(annotations::of_response(&end.cited));
        events.extend(self.close());
        if !end.is_void {
            self.finish.clone_from(&end.finish);
            if let Some(refusal) = &end.refusal {
                events.extend(self.add_refusal(refusal));
            }
        }
        events
    }

    /// Adds the sources that the open message cites.
    fn annotate(&mut self, annotations: Vec<Value>) -> Vec<OutputEvent> {
        let index = self.items.len();
        let open = self.open.as_mut();
        let Some(open) = open.filter(|open| open.kind == OpenKind::Message) else {
            return Vec::new();
        };
        open.annotations = annotations;
        let added = (0..).zip(&open.annotations).map(|(number, annotation)| {
            let fields = json!({ "annotation_index": number, "annotation": annotation });
            (
                "response.output_text.annotation.added",
                open.fields(index, fields),
            )
        });
        added.collect()
    }

    /// Adds a message with the words of a refusal.
    fn add_refusal(&mut self, refusal: &str) -> Vec<OutputEvent> {
        let (index, id) = (self.items.len(), self.id("msg"));
        let item = |status: &str, content: Value| json!({ "type": "message", "id": id, "status": status, "role": "assistant", "content": content });
        let part = |text: &str| json!({ "type": "refusal", "refusal": text });
        let at = |fields: Value| {
            with(
                json!({ "item_id": id, "output_index": index, "content_index": 0 }),
                fields,
            )
        };
        let done = item("completed", json!([part(refusal)]));
        let events = vec![
            (
                "response.output_item.added",
                json!({ "output_index": index, "item": item("in_progress", json!([])) }),
            ),
            (
                "response.content_part.added",
                at(json!({ "part": part("") })),
            ),
            ("response.refusal.delta", at(json!({ "delta": refusal }))),
            ("response.refusal.done", at(json!({ "refusal": refusal }))),
            (
                "response.content_part.done",
                at(json!({ "part": part(refusal) })),
            ),
            (
                "response.output_item.done",
                json!({ "output_index": index, "item": done }),
            ),
        ];
        self.items.push(done);
        events
    }

    /// Adds an image: its format, and its data in base64.
    fn add_image(&mut self, (format, data): (&str, &str)) -> Vec<OutputEvent> {
        let mut events = self.close();
        let (index, id) = (self.items.len(), self.id("ig"));
        let item = |status: &str, result: Value| {
            let item = json!({ "type": "image_generation_call", "id": id, "status": status,
                "output_format": format, "result": result });
            json!({ "output_index": index, "item": item })
        };
        let done = item("completed", data.into());
        let item_done = done["item"].clone();
        events.extend([
            (
                "response.output_item.added",
                item("in_progress", Value::Null),
            ),
            (
                "response.image_generation_call.completed",
                json!({ "item_id": id, "output_index": index }),
            ),
            ("response.output_item.done", done),
        ]);
        self.items.push(item_done);
        events
    }

    fn add_call(&mut self, call: &FunctionCall) -> Vec<OutputEvent> {
        let index = self.items.len();
        let added = |item: &Value| json!({ "output_index": index, "item": item });
        if let Some((confirmed, text)) = &call.confirms {
            let item = json!({
                "type": "mcp_approval_request",
                "id": calls::approval(&call.id),
                "name": confirmed.name,
                "arguments": confirmed.arguments.to_string(),
                "server_label": "petalflow",
                "text": text,
            });
            let events = vec![
                ("response.output_item.added", added(&item)),
                ("response.output_item.done", added(&item)),
            ];
            self.items.push(item);
            return events;
        }
        let id = self.id("fc");
        let item = |status: &str, arguments: &str| {
            json!({ "type": "function_call", "id": id, "call_id": call.id, "name": call.name,
                "arguments": arguments, "status": status })
        };
        let at = |fields: Value| with(json!({ "item_id": id, "output_index": index }), fields);
        let arguments = &call.arguments;
        let done = item("completed", arguments);
        let events = vec![
            (
                "response.output_item.added",
                added(&item("in_progress", "")),
            ),
            (
                "response.function_call_arguments.delta",
                at(json!({ "delta": arguments })),
            ),
            (
                "response.function_call_arguments.done",
                at(json!({ "name": call.name, "arguments": arguments })),
            ),
            ("response.output_item.done", added(&done)),
        ];
        self.items.push(done);
        events
    }
}

impl OpenKind {
    fn prefix(self) -> &'static str {
        match self {
            OpenKind::Message => "msg",
            OpenKind::Reasoning => "rs",
        }
    }

    /// The field of the item with its parts.
    fn parts(self) -> &'static str {
        match self {
            OpenKind::Message => "content",
            OpenKind::Reasoning => "summary",
        }
    }

    /// The types of the events of a part: its start, its pieces, its text, its end.
    fn event(self, step: usize) -> &'static str {
        let events = match self {
            OpenKind::Message => [
                "response.content_part.added",
                "response.output_text.delta",
                "response.output_text.done",
                "response.content_part.done",
            ],
            OpenKind::Reasoning => [
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
                "response.reasoning_summary_part.done",
            ],
        };
        events[step]
    }
}

impl Open {
    fn item(&self, status: &str) -> Value {
        match self.kind {
            OpenKind::Message => json!({ "type": "message", "id": self.id, "status": status,
                "role": "assistant", "content": [self.part()] }),
            OpenKind::Reasoning => json!({ "type": "reasoning", "id": self.id, "status": status,
                "summary": [self.part()] }),
        }
    }

    fn part(&self) -> Value {
        match self.kind {
            OpenKind::Message => {
                json!({ "type": "output_text", "text": self.text, "annotations": self.annotations, "logprobs": [] })
            }
            OpenKind::Reasoning => json!({ "type": "summary_text", "text": self.text }),
        }
    }

    fn delta(&self, index: usize, text: &str) -> OutputEvent {
        let mut fields = json!({ "delta": text });
        if self.kind == OpenKind::Message {
            fields["logprobs"] = json!([]);
        }
        (self.kind.event(1), self.fields(index, fields))
    }

    /// The fields of an event of the part of this item.
    fn fields(&self, index: usize, fields: Value) -> Value {
        let part = match self.kind {
            OpenKind::Message => "content_index",
            OpenKind::Reasoning => "summary_index",
        };
        with(
            json!({ "item_id": self.id, "output_index": index, part: 0 }),
            fields,
        )
    }
}

/// The format and the data of an image. `None` for other media, and for an image that is only an address: a response cannot show
/// them.
fn image(media: &Media) -> Option<(&str, &str)> {
    match &media.source {
        MediaSource::Base64(data) => Some((media.media_type.strip_prefix("image/")?, data)),
        _ => None,
    }
}

/// Both objects in one.
pub(super) fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
    }
    object
}
