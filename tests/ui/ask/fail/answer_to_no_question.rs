//! An answer to a type that is not a question.

use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
}

pub struct Approve;

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    WriteEssay(Essay) {
        START -> write;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let store = petalflow::checkpoint::InMemoryStore::new();
    let thread = WriteEssay::new().store(&store).thread("a");
    let out = thread.answer::<Approve>(true).await?;
    println!("{}", out.into_finished()?.draft);
    Ok(())
}
