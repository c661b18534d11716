//! A managed value that cannot be shared.
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
    Write::new().manage(std::rc::Rc::new(3)).run("petals".to_string()).await?;
    Ok(())
}
