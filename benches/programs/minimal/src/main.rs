//! A node, run once.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(format!("An essay about {topic}"))
}

flow!(Write(Essay) { write });

#[tokio::main(flavor = "current_thread")]
async fn main() -> petalflow::Result<()> {
    println!("{}", Write::run("petals".to_string()).await?.draft);
    Ok(())
}
