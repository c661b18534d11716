use petalflow::prelude::*;

#[derive(Route)]
pub enum Verdict {
    Revise(std::rc::Rc<String>),
    Publish,
}

fn main() {}
