//! From the stored events of a turn to its items, without text that comes twice.

use std::collections::HashMap;

use petalflow::tool::{ToolCall, ToolResult};
use petalflow_agent::AgentEvent;
use petalflow_conversations::ConversationEvent;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{Part, Role};

use super::cited::CitedPassage;
use super::item::{ItemKind, MessageEnd, TurnItem};
use crate::turn_parts::{Logged, Piece, Streamed, Voice};

/// Reads the stored events of a turn, and pieces that are not stored yet.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Whether pieces are kept back.
    holds_pieces: bool,
    /// The number of pieces of answers that were read, from the log or before.
    delivered: u64,
    /// The number of pieces that the log had.
    logged: u64,
    /// The number of nodes that have finished, as the log has it.
    pub(super) nodes: u64,
    /// The newest checkpoint.
    pub(super) checkpoint: Option<u64>,
    /// The messages that are not complete.
    open: HashMap<Voice, OpenMessage>,
    /// The ids of events that were read. A turn that resumes after a crash has some twice.
    known: std::collections::HashSet<String>,
    /// The number of calls of a conversation of a document, whose events name no calls.
    calls: u64,
    /// The calls that have no result, by their function.
    called: Vec<(String, String)>,
}

/// A message that is not complete: its text and its reasoning.
#[derive(Debug, Default)]
struct OpenMessage {
    text: Grown,
    thought: Grown,
}

/// A text that grows. After a retry it grows from its start again.
#[derive(Debug, Default)]
struct Grown {
    /// What was given to the reader.
    sent: String,
    /// What has arrived in the newest attempt.
    so_far: String,
}

impl Grown {
    /// Adds a piece. Returns what is new.
    fn push(&mut self, piece: &str) -> Vec<ItemText> {
        self.so_far.push_str(piece);
        self.news()
    }

    /// Replaces the text by the whole one. Returns what is new.
    fn whole(&mut self, text: String) -> Vec<ItemText> {
        self.so_far = text;
        let news = self.news();
        *self = Grown::default();
        news
    }

    fn news(&mut self) -> Vec<ItemText> {
        if self.sent.starts_with(&self.so_far) {
            return Vec::new();
        }
        if let Some(rest) = self.so_far.strip_prefix(&*self.sent) {
            let rest = rest.to_string();
            self.sent.clone_from(&self.so_far);
            return vec![ItemText::More(rest)];
        }
        // What was sent cannot be taken back.
        self.sent.clone_from(&self.so_far);
        vec![ItemText::Again, ItemText::More(self.so_far.clone())]
    }
}

/// What is new of a text.
enum ItemText {
    More(String),
    /// The text begins again, as another message.
    Again,
}

impl Reader {
    /// A reader of a turn. With `holds_pieces`, messages come whole.
    pub(super) fn new(holds_pieces: bool) -> Self {
        Reader {
            holds_pieces,
            ..Reader::default()
        }
    }

    /// The number of the next piece that was not read.
    pub(super) fn next_piece(&self) -> u64 {
        self.delivered
    }

    /// Reads the next piece before the log has it.
    pub(super) fn live(&mut self, piece: &Streamed) -> Vec<TurnItem> {
        self.delivered += 1;
        self.streamed(piece)
    }

    /// Reads a stored event. Its end, if it is one, is not an item.
    pub(super) fn logged(&mut self, event: &Logged) -> Vec<TurnItem> {
        match event {
            Logged::RunStarted => self.begin_again(),
            Logged::NodeFinished => self.nodes += 1,
            Logged::Checkpoint(checkpoint) => self.checkpoint = Some(*checkpoint),
            Logged::Streamed(piece) => {
                self.logged += 1;
                if self.logged > self.delivered {
                    self.delivered = self.logged;
                    return self.streamed(piece);
                }
            }
            Logged::Agent(event) => return self.agent(event),
            Logged::Conversation(event) => return self.conversation(event),
            Logged::Finished | Logged::Interrupted(_) | Logged::Failed { .. } => {}
        }
        Vec::new()
    }

    fn begin_again(&mut self) {
        for message in self.open.values_mut() {
            message.text.so_far.clear();
            message.thought.so_far.clear();
        }
    }

    fn streamed(&mut self, streamed: &Streamed) -> Vec<TurnItem> {
        let Streamed::Pieces { voice, pieces } = streamed else {
            self.begin_again();
            return Vec::new();
        };
        if self.holds_pieces {
            return Vec::new();
        }
        let message = self.open.entry(voice.clone()).or_default();
        let mut items = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => items.extend(texts(message.text.push(text), ItemKind::Text)),
                Piece::Thought(text) => {
                    items.extend(texts(message.thought.push(text), ItemKind::Thought));
                }
            }
        }
        said(voice, items)
    }

    /// A message or an action of an agent.
    fn agent(&mut self, event: &AgentEvent) -> Vec<TurnItem> {
        // The request for another answer is a message to the model.
        let is_to_model = event
            .message
            .as_ref()
            .is_some_and(|it| it.role == Role::User);
        if event.is_from_user() || is_to_model || !self.known.insert(event.id.clone()) {
            return Vec::new();
        }
        let voice = Voice::from(event);
        let parts = event.message.iter().flat_map(|message| &message.parts);
        let parts: Vec<&Part> = parts.collect();
        let is_of_model = !parts.iter().any(|part| matches!(part, Part::Result(_)));
        let (mut items, mut refusal) = (Vec::new(), None);
        if is_of_model {
            let is_void = event.repair.is_some();
            refusal = refusal_of(event);
            let mut message = self.open.remove(&voice).unwrap_or_default();
            let thought = joined(&parts, |part| matches!(part, Part::Thought(_)));
            items.extend(texts(message.thought.whole(thought), ItemKind::Thought));
            if !is_void && refusal.is_none() {
                let text = joined(&parts, |part| matches!(part, Part::Text(_)));
                items.extend(texts(message.text.whole(text), ItemKind::Text));
            }
        }
        items.extend(parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(ItemKind::Call(call.clone())),
            Part::Result(result) => Some(ItemKind::Result(result.clone())),
            Part::Media(media) => Some(ItemKind::Media(media.clone())),
            _ => None,
        }));
        if is_of_model {
            items.push(ItemKind::MessageEnd(Box::new(MessageEnd {
                finish: event.finish.clone(),
                refusal,
                finish_message: event.finish_message.clone(),
                error: event.error.clone(),
                usage: event.usage,
                cited: event
                    .message
                    .as_ref()
                    .map(CitedPassage::all)
                    .unwrap_or_default(),
                is_void: event.repair.is_some(),
            })));
        }
        if !event.actions.state_delta.is_empty() {
            items.push(ItemKind::State(event.actions.state_delta.clone()));
        }
        said(&voice, items)
    }

    /// An event of a conversation of a document.
    fn conversation(&mut self, event: &ConversationEvent) -> Vec<TurnItem> {
        let voice = Voice::default();
        let end = || ItemKind::MessageEnd(Box::default());
        let items = match event {
            ConversationEvent::Answer { text } => {
                let mut message = self.open.remove(&voice).unwrap_or_default();
                let mut items = texts(message.text.whole(text.clone()), ItemKind::Text);
                items.push(end());
                items
            }
            ConversationEvent::Say { text } => vec![ItemKind::Text(text.clone()), end()],
            ConversationEvent::Called {
                function,
                arguments,
            } => {
                self.calls += 1;
                let id = format!("function-{}", self.calls);
                self.called.push((function.clone(), id.clone()));
                vec![ItemKind::Call(ToolCall {
                    id,
                    name: function.clone(),
                    arguments: arguments.clone(),
                    ..ToolCall::default()
                })]
            }
            ConversationEvent::Returned {
                function, result, ..
            } => {
                let called = self.called.iter().position(|(name, _)| name == function);
                let id = called.map(|called| self.called.remove(called).1);
                vec![ItemKind::Result(ToolResult {
                    call_id: id.unwrap_or_default(),
                    name: function.clone(),
                    content: result.clone(),
                    is_error: false,
                })]
            }
            _ => Vec::new(),
        };
        said(&voice, items)
    }
}

/// The words of a refusal: those of the message, or what the provider says.
fn refusal_of(event: &AgentEvent) -> Option<String> {
    if event.finish != Some(FinishReason::Refusal) {
        return None;
    }
    let text = event.text();
    let said = event.finish_message.clone().filter(|_| text.is_empty());
    Some(said.unwrap_or(text))
}

/// The text of these parts.
fn joined(parts: &[&Part], is_wanted: impl Fn(&Part) -> bool) -> String {
    let parts = parts.iter().filter(|part| is_wanted(part));
    let texts = parts.filter_map(|part| match part {
        Part::Text(text) | Part::Thought(text) => Some(&*text.text),
        _ => None,
    });
    texts.collect()
}

fn texts(news: Vec<ItemText>, kind: fn(String) -> ItemKind) -> Vec<ItemKind> {
    let news = news.into_iter();
    news.map(|text| match text {
        ItemText::More(text) => kind(text),
        ItemText::Again => ItemKind::MessageEnd(Box::new(MessageEnd {
            is_void: true,
            ..MessageEnd::default()
        })),
    })
    .collect()
}

fn said(voice: &Voice, kinds: Vec<ItemKind>) -> Vec<TurnItem> {
    let items = kinds.into_iter().map(|kind| TurnItem {
        voice: voice.clone(),
        kind,
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use petalflow_llm::ChatMessage;

    use super::*;

    fn piece(text: &str) -> Streamed {
        let voice = Voice {
            agent: "guide".into(),
            ..Voice::default()
        };
        Streamed::text(voice, text.into())
    }

    fn whole(id: &str, text: &str) -> Logged {
        Logged::Agent(Box::new(AgentEvent {
            id: id.into(),
            ..AgentEvent::new("guide", ChatMessage::assistant(text))
        }))
    }

    fn text(items: Vec<TurnItem>) -> String {
        let texts = items.into_iter().map(|item| match item.kind {
            ItemKind::Text(text) => text,
            ItemKind::MessageEnd(_) => "|".into(),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    #[test]
    fn text_comes_once() {
        let mut reader = Reader::default();
        assert_eq!(text(reader.live(&piece("Good "))), "Good ");
        assert_eq!(text(reader.logged(&Logged::Streamed(piece("Good ")))), "");
        assert_eq!(
            text(reader.logged(&Logged::Streamed(piece("morn")))),
            "morn"
        );
        assert_eq!(text(reader.logged(&whole("1", "Good morning"))), "ing|");
        assert_eq!(text(reader.logged(&whole("1", "Good morning"))), "");
        assert_eq!(
            text(reader.logged(&whole("2", "Good night"))),
            "Good night|"
        );
    }

    #[test]
    fn a_retried_answer_continues_or_begins_another_message() {
        let mut reader = Reader::default();
        reader.live(&piece("Good morn"));
        assert_eq!(text(reader.live(&Streamed::Retry)), "");
        assert_eq!(text(reader.live(&piece("Good "))), "");
        assert_eq!(text(reader.live(&piece("morning"))), "ing");
        reader.live(&Streamed::Retry);
        assert_eq!(text(reader.live(&piece("Hello"))), "|Hello");
        assert_eq!(text(reader.logged(&whole("1", "Hello you"))), " you|");
    }
}
