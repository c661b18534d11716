//! The closure for node values returns nothing.

use petalflow::prelude::*;

#[state]
struct Chat {
    #[key(input)]
    topic: String,
    reply: String,
}

struct Model(String);

#[node(Chat)]
impl Model {
    async fn run(&self, topic: &str) -> ChatReply {
        ChatReply(format!("{} {topic}", self.0))
    }
}

flow! {
    Answer(Chat) {
        node reply: Model;
        START -> reply;
    }
}

flow! {
    Outer(Chat) {
        node inner: Answer {
            in: |topic: &str| topic.to_string(),
            out: |chat: Chat| ChatReply(chat.reply),
            values: |flow| {
                flow.reply(Model("short".into()));
            }
        };
        START -> inner;
    }
}

fn main() {}
