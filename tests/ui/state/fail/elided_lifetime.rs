use std::borrow::Cow;

use petalflow::prelude::*;

#[state]
struct Essay {
    topic: Cow<'_, str>,
    title: &str,
    words: &[String],
}

fn main() {}
