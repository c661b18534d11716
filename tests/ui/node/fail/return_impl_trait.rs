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

#[node(Essay)]
fn write() -> impl petalflow::node::Output<Essay> {
    EssayNotes(vec![])
}

fn main() {}
