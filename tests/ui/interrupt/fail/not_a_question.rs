//! Asks what is no question: one error, at what is asked.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    draft: String,
    approved: bool,
}

struct Review {
    draft: String,
}

#[node(Essay)]
async fn review(draft: &str, cx: Context) -> petalflow::Result<EssayApproved> {
    let draft = draft.to_string();
    Ok(EssayApproved(cx.ask(Review { draft }).await?))
}

flow!(Write(Essay) { review });

fn main() {
    let _ = Write::run("petals".to_string());
}
