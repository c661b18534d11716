use petalflow::prelude::*;

#[state(volatile)]
pub struct Essay {
    pub words: std::rc::Rc<String>,
}

fn main() {}
