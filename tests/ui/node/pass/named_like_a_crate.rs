//! A node with the name of a crate: `::` before the name means the crate.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn serde_json(topic: &str) -> EssayDraft {
    EssayDraft(::serde_json::json!(topic).to_string())
}

flow!(Write(Essay) { serde_json });

#[tokio::test]
async fn the_crate_is_used() {
    let essay = Write::run("petals".to_string()).await.expect("it runs");
    assert_eq!(essay.draft, "\"petals\"");
}
