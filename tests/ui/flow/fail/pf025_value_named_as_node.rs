//! Node values that are named by their types at a choice, items and failures: one error each.

use petalflow::NodeError;
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

struct Llm;

#[node(Essay)]
impl Llm {
    async fn call(&self, topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

struct Judge;

#[node(Essay)]
impl Judge {
    async fn call(&self, draft: &str) -> bool {
        draft.is_empty()
    }
}

struct Plan;

#[node(Essay)]
impl Plan {
    async fn call(&self) -> Each<u8> {
        Each(vec![])
    }
}

struct Dig;

#[node(Essay)]
impl Dig {
    async fn call(&self, #[item] part: &u8) -> EssayNotes {
        EssayNotes(vec![part.to_string()])
    }
}

#[node(Essay)]
async fn apologise(#[item] error: &NodeError) -> EssayDraft {
    EssayDraft(error.to_string())
}

flow! {
    WriteEssay(Essay) {
        START -> Llm -> Judge -> match { true => Plan, false => END };
        Plan -> each Dig;
        with Llm { retry: 3 };
        catch Llm -> apologise;
    }
}

fn main() {}
