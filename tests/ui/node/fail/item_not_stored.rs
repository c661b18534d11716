use petalflow::prelude::*;

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    pub draft: String,
    #[key(append)]
    pub notes: Vec<String>,
    pub subtitle: Option<String>,
}

pub struct Hint;

#[node(Essay)]
async fn plan() -> Each<Hint> {
    Each(vec![])
}

fn main() {}
