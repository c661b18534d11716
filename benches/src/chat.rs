//! Two nodes that append messages in turn. The cost of a round must not grow with the history.

use std::hint::black_box;

use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

/// A message of [`CONTENT`] bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    /// Who wrote it.
    pub role: String,
    /// The text.
    pub content: String,
}

/// The bytes of the content of a message.
pub const CONTENT: usize = 200;

impl Message {
    fn new(role: &str, content: impl std::fmt::Display) -> Self {
        Message {
            role: role.into(),
            content: format!("{content:>CONTENT$}"),
        }
    }

    /// The bytes of its texts.
    pub fn bytes(&self) -> usize {
        self.role.len() + self.content.len()
    }
}

/// A conversation.
#[state]
#[derive(Debug)]
pub struct Chat {
    /// The number of messages at which the run ends.
    #[key(input)]
    pub wanted: usize,
    /// The messages.
    #[key(append)]
    pub messages: Vec<Message>,
}

/// Appends a question.
#[node(Chat)]
#[inline(never)]
pub async fn ask(messages: &[Message]) -> ChatMessages {
    ChatMessages(vec![black_box(Message::new("user", messages.len()))])
}

/// Appends an answer, and returns whether the run continues.
#[node(Chat)]
#[inline(never)]
pub async fn answer(messages: &[Message], wanted: &usize) -> (ChatMessages, bool) {
    (
        ChatMessages(vec![black_box(Message::new("assistant", messages.len()))]),
        messages.len() + 1 < *wanted,
    )
}

flow! {
    /// A conversation.
    pub Talk(Chat) {
        START -> ask -> answer;
        answer -> match { true => ask, false => END };
    }
}

/// The same by hand.
pub async fn by_hand(wanted: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    loop {
        messages.extend(ask(&messages).await.0);
        let (new_messages, more) = answer(&messages, &wanted).await;
        messages.extend(new_messages.0);
        if !more {
            return messages;
        }
    }
}
