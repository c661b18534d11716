use petalflow::prelude::*;

#[state]
struct Essay {}

#[node(Essay)]
async fn plan() {}

#[node(Essay)]
async fn write() {}

flow! {
    WriteEssay(Essay) {
        START -> plan -> write;
        plan & plan -> END;
    }
}

fn main() {}
