//! A cycle over a join: the branch that ends next to it does not end the run.

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
async fn merge() {}

#[node(Essay)]
async fn print() {}

flow! {
    WriteEssay(Essay) {
        START -> plan & draw -> merge & print;
        merge -> plan & draw;
        print -> END;
    }
}

fn main() {}
