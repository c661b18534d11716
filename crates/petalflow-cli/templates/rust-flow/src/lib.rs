//! The flow: its state, its nodes and its graph.

use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use serde::{Deserialize, Serialize};

/// What the nodes share. Each node reads keys by reference and returns what it writes.
#[state]
#[derive(Debug)]
pub struct Request {
    #[key(input)]
    pub wish: String,
    pub letter: String,
    #[key(append)]
    pub log: Vec<String>,
}

/// The question to a person. The node waits for the answer, also across a restart of the process.
#[derive(Debug, Serialize, Deserialize, Ask)]
#[ask(answer = bool, name = "may-send")]
pub struct MaySend {
    pub letter: String,
}

/// Where the flow continues after the answer.
#[derive(Debug, Route)]
pub enum Decision {
    Send,
    Drop,
}

#[node(Request)]
pub async fn draft(wish: &str) -> RequestLetter {
    RequestLetter(format!("Please order {wish}."))
}

#[node(Request)]
pub async fn approve(letter: &str, cx: Context) -> petalflow::Result<Decision> {
    let question = MaySend {
        letter: letter.into(),
    };
    Ok(if cx.ask(question).await? {
        Decision::Send
    } else {
        Decision::Drop
    })
}

/// Sends the letter. `once` stores that it was sent, so that a crash does not send it twice.
#[node(Request, retry = 3, timeout = 10s)]
pub async fn send(letter: &str, cx: Context) -> petalflow::Result<RequestLog> {
    let receipt = cx.once("send", deliver(letter)).await?;
    Ok(RequestLog(vec![receipt]))
}

async fn deliver(letter: &str) -> petalflow::Result<String> {
    Ok(format!("sent: {letter}"))
}

flow! {
    /// Drafts a request, asks a person, and sends it.
    pub HandleRequest(Request) {
        START -> draft -> approve -> match { Send => send, Drop => END };
    }
}
