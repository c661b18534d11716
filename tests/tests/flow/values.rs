//! Node values: given, overridden, shared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use petalflow::prelude::*;

use super::{Seen, SeenNames, named};

named!(a);

#[derive(Clone)]
struct Say(&'static str);

#[node(Seen)]
impl Say {
    fn say(&self) -> SeenNames {
        SeenNames(vec![self.0.into()])
    }
}

/// A value that cannot be cloned.
struct Count(Arc<AtomicU32>);

#[node(Seen)]
impl Count {
    async fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

flow! {
    Greet(Seen) {
        node hello: Say = Say("hello");
        node name: Say;
        hello -> name -> a;
    }
}

#[tokio::test]
async fn a_value_without_a_default_is_given_to_the_builder() {
    let seen = Greet::new()
        .name(Say("rose"))
        .run(())
        .await
        .expect("the flow runs");
    assert_eq!(seen.names, ["hello", "rose", "a"]);
}

#[tokio::test]
async fn a_default_can_be_overridden_in_any_order_and_more_than_once() {
    let launch = Greet::new()
        .limit(9)
        .hello(Say("hi"))
        .max_concurrency(1)
        .name(Say("x"))
        .hello(Say("hey"))
        .name(Say("iris"));
    let seen = launch.clone().run(()).await.expect("the flow runs");
    assert_eq!(seen.names, ["hey", "iris", "a"]);
    let seen = launch
        .name(Say("lily"))
        .run(())
        .await
        .expect("the flow runs");
    assert_eq!(seen.names, ["hey", "lily", "a"]);
}

#[tokio::test]
async fn a_flow_of_defaults_runs_by_itself() {
    flow!(Hello(Seen) { node hello: Say = Say("hello"); hello });
    assert_eq!(
        Hello::run(()).await.expect("the flow runs").names,
        ["hello"]
    );
    assert_eq!(
        Hello::new()
            .hello(Say("hi"))
            .run(())
            .await
            .expect("the flow runs")
            .names,
        ["hi"]
    );
}

#[tokio::test]
async fn a_default_is_made_only_where_it_is_used() {
    static MADE: AtomicU32 = AtomicU32::new(0);
    flow! {
        Lazy(Seen) {
            node say: Say = { MADE.fetch_add(1, Ordering::Relaxed); Say("made") };
            say
        }
    }
    let seen = Lazy::new()
        .say(Say("given"))
        .run(())
        .await
        .expect("the flow runs");
    assert_eq!(
        (seen.names, MADE.load(Ordering::Relaxed)),
        (vec!["given".to_string()], 0)
    );
    let seen = Lazy::run(()).await.expect("the flow runs");
    assert_eq!(
        (seen.names, MADE.load(Ordering::Relaxed)),
        (vec!["made".to_string()], 1)
    );
}

#[tokio::test]
async fn runs_of_one_launch_share_its_values() {
    flow!(Counts(Seen) { node count: Count; count });
    let counter = Arc::new(AtomicU32::new(0));
    let launch = Counts::new().count(Count(Arc::clone(&counter)));
    for _ in 0..3 {
        let _seen = launch.clone().run(()).await.expect("the flow runs");
    }
    assert_eq!(counter.load(Ordering::Relaxed), 3);
}
