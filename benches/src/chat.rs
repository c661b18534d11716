//! Two nodes that append messages in turn. The cost of a round must not grow with the history.

use std::hint::black_box;

use petalflow::prelude::*;

/// The bytes of a message.
pub const MESSAGE: usize = 200;

/// A conversation.
#[state]
#[derive(Debug)]
pub struct Chat {
    /// The number of messages at which the run ends.
    #[key(input)]
    pub wanted: usize,
    /// The messages.
    #[key(append)]
    pub messages: Vec<String>,
}

/// Appends a question.
#[node(Chat)]
#[inline(never)]
pub async fn ask(messages: &[String]) -> ChatMessages {
    ChatMessages(vec![black_box(format!("question {:>191}", messages.len()))])
}

/// Appends an answer, and returns whether the run continues.
#[node(Chat)]
#[inline(never)]
pub async fn answer(messages: &[String], wanted: &usize) -> (ChatMessages, bool) {
    (
        ChatMessages(vec![black_box(format!("answer {:>193}", messages.len()))]),
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
pub async fn by_hand(wanted: usize) -> Vec<String> {
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
