//! What uses the answer whose type is missing is no second error.
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;

#[derive(serde::Serialize, Ask)]
struct ReviewDraft {
    draft: String,
}

#[state]
struct Essay {
    #[key(input)]
    draft: String,
    accepted: bool,
}

#[node(Essay)]
async fn review(draft: &str, cx: Context) -> petalflow::Result<EssayAccepted> {
    let accepted = cx.ask(ReviewDraft { draft: draft.into() }).await?;
    Ok(EssayAccepted(accepted))
}

flow!(Review(Essay) { review });

#[tokio::main]
async fn main() -> petalflow::Result<()> {
    let store = InMemoryStore::new();
    let thread = Review::new().store(&store).thread("a");
    thread.run("a draft".to_string()).await?;
    thread.answer::<ReviewDraft>(true).await?;
    Ok(())
}
