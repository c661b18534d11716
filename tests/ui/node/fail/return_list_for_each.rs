//! A node that returns a list for an edge with `each`.

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
async fn write(topic: &str) -> (EssayDraft, Vec<String>) {
    (EssayDraft(topic.into()), vec![topic.into()])
}

#[node(Essay)]
async fn research(#[item] about: &String) -> EssayNotes {
    EssayNotes(vec![about.clone()])
}

flow! {
    WriteEssay(Essay) {
        START -> write -> each research;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
