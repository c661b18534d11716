//! A thread that begins with a value that is not an input.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

flow!(Write(Essay) { write });

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let store = petalflow::checkpoint::InMemoryStore::new();
    Write::new().store(&store).thread("essay").begin(3).await?;
    Ok(())
}
