//! A node that returns a boxed future.

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
fn write(topic: &str) -> std::pin::Pin<Box<dyn Future<Output = EssayDraft> + Send>> {
    let topic = topic.to_string();
    Box::pin(async move { EssayDraft(topic) })
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
