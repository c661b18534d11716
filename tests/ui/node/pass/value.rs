#![deny(warnings)]
#![allow(dead_code)]

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

use std::marker::PhantomData;

use petalflow::node::Key;

pub struct Shout<K>(PhantomData<fn() -> K>);

#[node(K::State)]
impl<K: Key<Value = Vec<String>>> Shout<K> {
    pub async fn run(&self, #[key(K)] text: &[String]) -> K {
        K::new(text.iter().map(|text| text.to_uppercase()).collect())
    }
}

#[derive(Clone)]
pub struct Greeter {
    pub greeting: String,
}

#[node(Essay, blocking)]
impl Greeter {
    fn run(&self, topic: &str) -> EssayDraft {
        EssayDraft(format!("{} {topic}", self.greeting))
    }
}
