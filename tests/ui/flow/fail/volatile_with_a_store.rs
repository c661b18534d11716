//! A store for a state that cannot be stored.

use petalflow::prelude::*;

#[state(volatile)]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(default)]
    pub n: u32,
}

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
    let out = WriteEssay::new().store(&store).thread("a").run("petals".to_string()).await?;
    println!("{}", out.into_finished()?.draft);
    Ok(())
}
