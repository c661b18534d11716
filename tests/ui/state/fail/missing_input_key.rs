use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    #[key(input)]
    pub length: u32,
}

fn input() -> EssayInput {
    EssayInput { topic: "petals".into() }
}

fn main() {}
