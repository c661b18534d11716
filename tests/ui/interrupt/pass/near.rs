//! Correct interrupts that are similar to those in `fail`.
#![allow(dead_code)]

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(default)]
    score: u32,
    #[key(default)]
    editor: Option<String>,
    #[key(append)]
    notes: Vec<String>,
    #[key(ephemeral)]
    hint: String,
}

#[node(Essay)]
async fn write(topic: &str) -> (EssayDraft, EssayHint) {
    (EssayDraft(topic.into()), EssayHint("short".into()))
}

#[node(Essay)]
async fn rate(draft: &str) -> Option<EssayScore> {
    draft.parse().ok().map(EssayScore)
}

#[node(Essay)]
async fn publish(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

// A node may be called `interrupt`, and so may one that is interrupted.
#[node(Essay)]
async fn interrupt() {}

#[node(Essay)]
async fn before() {}

flow! {
    WriteEssay(Essay) {
        START -> write -> rate -> interrupt -> before -> publish;
        interrupt before interrupt;
        interrupt before before;
        // A guard after a node reads what the node has written.
        interrupt after write if |draft: &str, hint: &str| draft.len() > 400 || hint == "long";
        interrupt before write if |topic: &str| -> bool {
            if topic.is_empty() {
                return true;
            }
            topic.contains("secret")
        };
        interrupt after rate if |score: &u32, notes: &[String], editor: Option<&str>| {
            *score > 3 && notes.is_empty() && editor.is_none()
        };
        interrupt before publish if |#[key(EssayDraft)] text: &str| -> petalflow::Result<bool> {
            Ok(text.trim().parse::<u32>()? > 400)
        };
        interrupt after publish if |essay: &Essay| !essay.draft.is_empty();
    }
}

flow! {
    Asks(Essay) {
        write;
        interrupt after write if || std::env::var("ASK").map(|ask| ask == "yes");
    }
}
