//! A middleware that does not implement its trait.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow!(Write(Essay) { write });

struct Log;

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    Write::new().middleware(Log).run("petals".to_owned()).await?;
    Ok(())
}
