//! What PF007 proposes, and cycles over joins with a way out.
#![allow(dead_code)]

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(Route)]
enum Reading {
    DrawQuote,
    Print,
}

#[derive(Route)]
enum Other {
    Quote,
    Print,
}

#[derive(Route)]
enum Again {
    Again,
    Done,
}

#[node(Essay)]
async fn one() -> Reading {
    [Reading::DrawQuote, Reading::Print]
        .into_iter()
        .next()
        .unwrap()
}

#[node(Essay)]
async fn two() -> Other {
    [Other::Quote, Other::Print].into_iter().next().unwrap()
}

#[node(Essay)]
async fn merge() -> Again {
    [Again::Done, Again::Again].into_iter().next().unwrap()
}

#[node(Essay)]
async fn plan() {}

#[node(Essay)]
async fn draw() {}

#[node(Essay)]
async fn quote() {}

#[node(Essay)]
async fn print() {}

flow!(First(Essay) { START -> one -> match { DrawQuote => draw & quote, Print => print } });
flow!(Second(Essay) { START -> two -> match { Quote => draw & quote, Print => draw & print } });
flow!(Sources(Essay) { START -> plan & draw & quote; (plan & draw) | quote -> print });

// As in pf010_cycle_over_a_join, but `merge` chooses.
flow! {
    Rounds(Essay) {
        START -> plan & draw -> merge & print;
        merge -> match { Again => plan & draw, Done => END };
        print -> END;
    }
}
