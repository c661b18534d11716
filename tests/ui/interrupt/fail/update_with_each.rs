use petalflow::interrupt::Resume;
use petalflow::prelude::*;

#[state]
struct Post {
    #[key(input)]
    text: String,
}

fn resumed() -> Resume<Post> {
    Resume::new().update(Each(vec![1, 2]))
}

fn main() {
    let _ = resumed();
}
