//! A node asks a value that is not a question: one error, at that value.
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
