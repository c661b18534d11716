use petalflow::prelude::*;

#[state]
pub struct Essay {
    pub draft: String,
}

#[node(Essay)]
async fn write() {}

flow! {
    #[flow(ids = "Write")]
    #[flow(id = Write)]
    #[flow = "Write"]
    pub WriteEssay(Essay) { write }
}

fn main() {}
