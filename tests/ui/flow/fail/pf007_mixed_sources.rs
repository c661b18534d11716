//! `&` and `|` mixed before an arrow.

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
async fn plan() {}

#[node(Essay)]
async fn draw() {}

#[node(Essay)]
async fn quote() {}

#[node(Essay)]
async fn print() {}

flow! {
    WriteEssay(Essay) {
        START -> plan & draw & quote;
        plan & draw | quote -> print;
    }
}

fn main() {}
