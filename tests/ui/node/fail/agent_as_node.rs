//! An agent is declared as a node without its keys.

use petalflow::prelude::*;
use petalflow_agent::Agent;

#[state]
struct Letter {
    #[key(input)]
    wish: String,
    text: String,
}

flow! {
    Write(Letter) {
        node writer: Agent;
        START -> writer;
    }
}

fn main() {}
