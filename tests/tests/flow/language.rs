//! The statements of the language.

use std::sync::atomic::{AtomicU32, Ordering};

use petalflow::prelude::*;
use petalflow::{NodeError, Result};

use super::{Seen, SeenNames, named, seen};

named!(a b c d report);

#[derive(Route)]
enum Way {
    A,
    B,
}

#[node(Seen)]
async fn way() -> Way {
    Way::B
}

#[node(Seen)]
async fn ways() -> Vec<Way> {
    vec![Way::B, Way::A]
}

#[derive(Route)]
enum Found {
    Many(Vec<String>),
    One(String),
    Nothing,
    End,
}

#[node(Seen)]
async fn many() -> Found {
    Found::Many(vec!["x".into(), "y".into()])
}

#[node(Seen)]
async fn one() -> Found {
    Found::One("z".into())
}

#[node(Seen)]
async fn plan() -> (SeenNames, Each<String>) {
    (
        SeenNames(vec!["plan".into()]),
        Each(vec!["x".into(), "y".into()]),
    )
}

#[node(Seen)]
async fn nothing() -> Each<String> {
    Each(Vec::new())
}

#[node(Seen)]
async fn dig(#[item] topic: &str) -> SeenNames {
    SeenNames(vec![format!("dig {topic}")])
}

#[node(Seen)]
async fn yes() -> bool {
    true
}

#[tokio::test]
async fn a_chain_runs_in_order() {
    flow!(Chain(Seen) { START -> a -> b; b -> c -> END; });
    assert_eq!(seen!(Chain), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_fork_runs_both_and_a_join_once_after_both() {
    flow!(Fork(Seen) { a -> b & c -> d });
    assert_eq!(seen!(Fork), ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn an_or_before_an_arrow_is_plain_edges() {
    flow!(Either(Seen) { START -> a -> b -> c; a | b -> d });
    assert_eq!(seen!(Either), ["a", "b", "d", "c", "d"]);
}

#[tokio::test]
async fn routes_are_named_like_their_targets() {
    flow!(Named(Seen) { way -> a | b -> c });
    assert_eq!(seen!(Named), ["b", "c"]);
    flow!(Both(Seen) { ways -> a | b });
    assert_eq!(seen!(Both), ["a", "b"]);
}

#[tokio::test]
async fn routes_are_spelled_out() {
    flow!(Arms(Seen) { way -> match { A => END, B => a & c } });
    assert_eq!(seen!(Arms), ["a", "c"]);
    flow!(Bools(Seen) { yes -> match { true => a, false => END } });
    assert_eq!(seen!(Bools), ["a"]);
    flow!(Alike(Seen) { way -> match { A | B => a } });
    assert_eq!(seen!(Alike), ["a"]);
}

#[tokio::test]
async fn each_runs_its_target_once_per_item() {
    flow!(Items(Seen) { plan -> each dig & a -> d });
    assert_eq!(seen!(Items), ["plan", "dig x", "dig y", "a", "d"]);
    flow!(NoItems(Seen) { nothing -> each dig -> d });
    assert_eq!(seen!(NoItems), ["d"]);
}

#[tokio::test]
async fn payloads_are_delivered_whole_or_item_by_item() {
    flow!(Many(Seen) { many -> match { Many => each dig, One => dig, Nothing | End => END } });
    assert_eq!(seen!(Many), ["dig x", "dig y"]);
    flow!(One(Seen) { one -> match { Many => each dig, One => dig, Nothing | End => END } });
    assert_eq!(seen!(One), ["dig z"]);
    let _never = (|| Found::Nothing, || Found::End, || Way::A);
}

#[tokio::test]
async fn a_second_name_is_a_second_node() {
    flow!(Twice(Seen) { a -> again -> b; node again = a; });
    assert_eq!(seen!(Twice), ["a", "a", "b"]);
    assert_eq!(Twice::topology().metrics.nodes, 3);
}

#[tokio::test]
async fn a_deferred_node_runs_last() {
    flow!(Late(Seen) { a -> report & b; b -> c -> report; defer report });
    assert_eq!(seen!(Late), ["a", "b", "c", "report"]);
}

#[tokio::test]
async fn with_and_catch_handle_failures() {
    static TRIES: AtomicU32 = AtomicU32::new(0);

    #[node(Seen)]
    async fn flaky() -> Result<SeenNames> {
        if TRIES.fetch_add(1, Ordering::Relaxed) % 3 < 2 {
            Err("not yet".into())
        } else {
            Ok(SeenNames(vec!["flaky".into()]))
        }
    }

    #[node(Seen)]
    async fn recover(#[item] failure: &NodeError) -> SeenNames {
        SeenNames(vec![failure.message.clone()])
    }

    tokio::time::pause();
    flow!(Caught(Seen) { flaky -> a; catch flaky -> recover });
    assert_eq!(seen!(Caught), ["not yet"]);
    TRIES.store(0, Ordering::Relaxed);
    flow!(Tried(Seen) { flaky -> a; with flaky { retry: 3, timeout: 2s, idle: "500 ms" }; catch flaky -> recover });
    assert_eq!(seen!(Tried), ["flaky", "a"]);
}

#[test]
fn the_graph_can_be_looked_at() {
    flow!(Shown(Seen) { way -> a | b -> c });
    let topology = Shown::topology();
    assert_eq!(
        (topology.entries, topology.exits),
        (vec!["way".to_string()], vec!["c".to_string()])
    );
    assert!(
        Shown::mermaid().contains("way -.->|A| a"),
        "{}",
        Shown::mermaid()
    );
    assert!(Shown::dot().starts_with("digraph"), "{}", Shown::dot());
}
