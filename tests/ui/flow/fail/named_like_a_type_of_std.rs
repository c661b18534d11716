//! A flow with the name of a trait of std, of which rustc prints the path, and a forgotten `.await`.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow!(Write(Essay) { write });

fn main() {
    println!("{}", Write::run("petals".to_string()).draft);
}
