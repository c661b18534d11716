//! A closure without `Send` and `Sync` as the input.

use petalflow::prelude::*;
use std::sync::Arc;

#[state(volatile)]
pub struct Essay {
    #[key(input)]
    pub on_reply: Arc<dyn Fn(&str)>,
    pub draft: String,
}

#[node(Essay)]
async fn write(on_reply: &Arc<dyn Fn(&str)>) -> EssayDraft {
    on_reply("x");
    EssayDraft("x".to_string())
}

flow!(WriteEssay(Essay) { write });

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let on_reply: Arc<dyn Fn(&str)> = Arc::new(|text| println!("{text}"));
    let essay = WriteEssay::run(on_reply).await?;
    println!("{}", essay.draft);
    Ok(())
}
