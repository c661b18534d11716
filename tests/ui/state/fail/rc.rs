//! An `Rc` as a key, in a program that uses the key everywhere.

use petalflow::prelude::*;
use std::rc::Rc;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(default)]
    pub words: Rc<String>,
}

#[node(Essay)]
async fn write(topic: &str, words: &Rc<String>) -> (EssayDraft, EssayWords) {
    (EssayDraft(format!("{topic}{words}")), EssayWords(Rc::new(topic.to_string())))
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
