//! A node value whose `impl` block has no `#[node]`, in a program that runs the flow.
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

struct Polish;

impl Polish {
    async fn run(&self, draft: &str) -> EssayDraft {
        EssayDraft(draft.trim().into())
    }
}

flow! {
    Write(Essay) {
        START -> write -> polish;
        node polish: Polish;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    Write::new().polish(Polish).run("petals".to_string()).await?;
    Ok(())
}
