//! Node values that threads share, two of them of one type. Similar to `fail/value_not_shared.rs`.
use petalflow::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

#[state]
pub struct Essay {
    #[key(input)]
    pub topic: String,
    #[key(append)]
    pub notes: Vec<String>,
}

#[derive(Default)]
pub struct Count(AtomicU32);

#[node(Essay)]
impl Count {
    async fn run(&self, topic: &str) -> EssayNotes {
        EssayNotes(vec![format!(
            "{topic} {}",
            self.0.fetch_add(1, Ordering::Relaxed)
        )])
    }
}

flow! {
    pub Write(Essay) {
        first -> second -> third;
        node first: Count;
        node second: Count;
        node third: self::Count = Count::default();
    }
}

flow! {
    pub EssayCount(Essay) {
        START -> first -> second;
        node first: Count;
        node second: Count = Count::default();
    }
}

#[test]
fn the_flow_takes_two_values() {
    drop(
        EssayCount::new()
            .first(Count::default())
            .run("petals".to_string()),
    );
    drop(
        Write::new()
            .first(Count::default())
            .second(Count::default())
            .run("petals".to_string()),
    );
}
