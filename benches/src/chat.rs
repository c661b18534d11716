//! Two nodes that talk until there are many messages: the cost of a round must not grow with the history.

use std::hint::black_box;

use petalflow::prelude::*;

/// A conversation.
#[state]
#[derive(Debug)]
pub struct Chat {
    /// How many messages there shall be.
    #[key(input)]
    pub wanted: usize,
    /// What has been said.
    #[key(append)]
    pub messages: Vec<String>,
}

/// Asks.
#[node(Chat)]
#[inline(never)]
pub async fn ask(messages: &[String]) -> ChatMessages {
    ChatMessages(vec![black_box(format!("question {}", messages.len()))])
}

/// Answers, and says whether to go on.
#[node(Chat)]
#[inline(never)]
pub async fn answer(messages: &[String], wanted: &usize) -> (ChatMessages, bool) {
    (
        ChatMessages(vec![black_box(format!("answer {}", messages.len()))]),
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
        let (said, more) = answer(&messages, &wanted).await;
        messages.extend(said.0);
        if !more {
            return messages;
        }
    }
}
