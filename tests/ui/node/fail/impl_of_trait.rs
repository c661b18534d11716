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

pub struct Write;

#[node(Essay)]
impl Clone for Write {
    fn clone(&self) -> Self {
        Write
    }
}

fn main() {}
