//! A key of a volatile state that is not `Clone`.

use petalflow::prelude::*;
#[derive(Default)]
pub struct Log(Vec<String>);

#[state(volatile)]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(default)]
    pub log: Log,
}

#[node(Essay)]
async fn write(topic: &str, log: &Log) -> (EssayDraft, EssayLog) {
    (EssayDraft(topic.into()), EssayLog(Log(log.0.clone())))
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
