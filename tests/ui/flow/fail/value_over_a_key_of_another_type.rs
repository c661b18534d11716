//! A node value that is generic over its keys, and a key whose value has another type.

use petalflow::node::Key;
use petalflow::prelude::*;
use std::marker::PhantomData;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    #[key(append)]
    notes: Vec<String>,
}

/// A node over any list of texts.
struct Sort<K>(PhantomData<fn() -> K>);

#[node(K::State)]
#[diagnostic::do_not_recommend]
impl<K: Key<Value = Vec<String>>> Sort<K> {
    async fn run(&self, #[key(K)] lines: &Vec<String>) -> K {
        K::new(lines.clone())
    }
}

flow! {
    SortNotes(Essay) {
        START -> sort;
        node sort: Sort<EssayTopic> = Sort(PhantomData);
    }
}

fn main() {}
