use petalflow::interrupt::Decision;
use petalflow::prelude::*;

#[state]
struct Post {
    #[key(input)]
    text: String,
}

#[derive(Route)]
enum Way {
    Left,
    Right,
}

fn edited() -> Decision<Post> {
    Decision::edit((PostText("Hello".into()), Way::Left))
}

fn main() {
    let _ = (edited(), Way::Right);
}
