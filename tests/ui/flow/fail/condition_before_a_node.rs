//! `if` instead of a node.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn polish(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

#[node(Essay)]
async fn audit(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

flow! {
    WriteEssay(Essay) {
        START -> write;
        write -> if draft.is_empty() { polish } else { audit };
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
