//! A node that returns a future.

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
fn write(topic: &str) -> impl Future<Output = EssayDraft> {
    let topic = topic.to_string();
    async move { EssayDraft(topic) }
}

flow! {
    WriteEssay(Essay) {
        START -> write;
    }
}

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let essay = WriteEssay::run("petals".to_string()).await?;
    println!("{}", essay.draft);
    Ok(())
}
