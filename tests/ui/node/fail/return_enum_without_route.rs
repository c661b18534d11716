//! An enum that is not a route.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

enum Verdict {
    Revise,
}

#[node(Essay)]
async fn write(topic: &str) -> Verdict {
    drop(topic.to_owned());
    Verdict::Revise
}

fn main() {}
