//! A doc comment on an arm.

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

#[derive(Route)]
pub enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn critique(draft: &str) -> Verdict {
    if draft.is_empty() { Verdict::Revise } else { Verdict::Publish }
}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique;
        critique -> match {
            /// Again.
            Revise => write,
            Publish => END,
        };
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
