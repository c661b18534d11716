//! A cycle to which every route leads back. A node that returns `Vec<Verdict>` could leave it.

use petalflow::prelude::*;

#[state]
struct Essay {
    draft: String,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write() -> (EssayDraft, Verdict) {
    (EssayDraft(String::new()), Verdict::Publish)
}

#[node(Essay)]
async fn print(draft: &str) {
    println!("{draft}");
}

#[node(Essay)]
async fn choose() -> Vec<Verdict> {
    vec![]
}

flow! {
    WriteEssay(Essay) {
        START -> write;
        write -> match { Revise => write, Publish => write & print };
    }
}

flow! {
    ChooseEssay(Essay) {
        START -> choose -> match { Revise => choose, Publish => choose };
    }
}

fn main() {}
