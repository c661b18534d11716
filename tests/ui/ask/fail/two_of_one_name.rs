//! Two questions with one name. The serde derive of the second one causes an error in serde's code, too.
use petalflow::interrupt::Ask;
use petalflow::prelude::*;

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct Approve {
    draft: String,
}

#[derive(Ask)]
#[ask(answer = String)]
struct Approve {
    notes: Vec<String>,
}

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    approved: bool,
}

#[node(Essay)]
async fn review(topic: &str, cx: Context) -> petalflow::Result<EssayApproved> {
    let draft = topic.to_owned();
    Ok(EssayApproved(cx.ask(Approve { draft }).await?))
}

fn main() {}
