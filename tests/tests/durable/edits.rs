//! Edits by nodes that decide what follows.

use petalflow::checkpoint::InMemoryStore;
use petalflow::node::{Each, Routes};
use petalflow::prelude::*;
use petalflow::thread::{Edit, Snapshot};
use petalflow_test_support::assert_contains;

use crate::support::{expect_finished, flow_and_graph, run_both};

#[state]
#[derive(PartialEq)]
struct Walk {
    #[key(input)]
    score: u32,
    #[key(append)]
    steps: Vec<String>,
}

fn step(name: &str) -> WalkSteps {
    WalkSteps(vec![name.into()])
}

#[derive(Route)]
enum Way {
    Left,
    Right,
}

/// Other routes, in another order.
#[derive(Route)]
enum Speed {
    Slow,
    Right,
}

/// The names of [`Way`], and one carries a value.
#[allow(dead_code, reason = "one variant is enough to be refused")]
#[derive(Route)]
enum Load {
    Left(String),
    Right,
}

#[node(Walk)]
async fn pick(score: &u32) -> Way {
    if *score < 5 { Way::Left } else { Way::Right }
}

#[node(Walk)]
async fn note_and_pick() -> (WalkSteps, Way) {
    (step("noted"), Way::Left)
}

#[node(Walk)]
async fn left() -> WalkSteps {
    step("left")
}

#[node(Walk)]
async fn right() -> WalkSteps {
    step("right")
}

flow_and_graph!(Pick(Walk) {
    START -> pick -> match { Left => left, Right => right };
} nodes: pick, left, right);

flow_and_graph!(NoteAndPick(Walk) {
    START -> note_and_pick -> match { Left => left, Right => right };
} nodes: note_and_pick, left, right);

#[tokio::test]
async fn an_edit_by_a_router_decides_by_the_new_state() {
    run_both!(Pick, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        assert_eq!(expect_finished(thread.run(1)).await.steps, ["left"]);
        let edit = Edit::new(WalkScore(7)).by("pick");
        thread.update(edit).await.unwrap();
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(
            (snapshot.state.score, &*snapshot.info.next),
            (7, &["pick".to_string()][..])
        );
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps, ["left", "right"]);
        // Its writes need not be keys that the node writes, and need not be any.
        thread.update(Edit::new(()).by("pick")).await.unwrap();
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps, ["left", "right", "right"]);
        walk.steps
    });
}

#[tokio::test]
async fn an_edit_by_a_node_takes_its_route() {
    run_both!(NoteAndPick, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(1)).await;
        let edit = Edit::new((step("edited"), Way::Right)).by("note_and_pick");
        thread.update(edit).await.unwrap();
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps, ["noted", "left", "edited", "right"]);
        // By its name, as a program does that does not have the type.
        let edit = Edit::new((step("named"), Routes::to("Right"))).by("note_and_pick");
        thread.update(edit).await.unwrap();
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps[4..], ["named", "right"]);
        walk.steps
    });
}

#[tokio::test]
async fn an_edit_that_decides_what_its_node_does_not_is_refused_and_changes_nothing() {
    run_both!(NoteAndPick, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(1)).await;
        let ways = "`note_and_pick` chooses one of the routes `Left`, `Right`, and the route of the update by it is one of";
        let cases = [
            (
                Edit::new(step("x")),
                "note_and_pick",
                "chooses a route, and the update by it has none",
            ),
            (Edit::new(true), "note_and_pick", ways),
            (
                Edit::new(Speed::Right),
                "note_and_pick",
                "`Slow`, `Right`: give a route of the type",
            ),
            (Edit::new(Speed::Slow), "note_and_pick", ways),
            (Edit::new(Load::Right), "note_and_pick", ways),
            (
                Edit::new(Vec::<Way>::new()),
                "note_and_pick",
                "chooses exactly one route, and the update by it has 0",
            ),
            (
                Edit::new(vec![Way::Left, Way::Right]),
                "note_and_pick",
                "chooses exactly one route, and the update by it has 2",
            ),
            (
                Edit::new(Routes::to("Up")),
                "note_and_pick",
                "node `note_and_pick` has no route `Up`: its routes are `Left`, `Right`",
            ),
            (
                Edit::new(Way::Left),
                "left",
                "node `left` chooses no route, and the update by it has one",
            ),
            (
                Edit::new(Routes::to("Left")),
                "left",
                "node `left` chooses no route",
            ),
            (
                Edit::new(Each(vec![1])),
                "left",
                "node `left` sends no items",
            ),
            (
                Edit::new(Each(vec![1])),
                "note_and_pick",
                "chooses a route, and the update by it has none",
            ),
        ];
        for (edit, node, words) in cases {
            let error = thread.update(edit.by(node)).await.unwrap_err();
            assert_contains(&error, words);
        }
        for (edit, words) in [
            (
                Edit::new(Way::Left),
                "an update with a route must say by which node it is",
            ),
            (
                Edit::new(Each(vec![1])),
                "an update with items for `each` must say by which node it is",
            ),
        ] {
            assert_contains(&thread.update(edit).await.unwrap_err(), words);
        }
        // The second edit of a call is wrong, so the first is not made either.
        let several = vec![
            vec![Edit::new(step("x")).by("left")],
            vec![Edit::new(step("x")).by("note_and_pick")],
        ];
        thread.update_all(several).await.unwrap_err();
        let snapshot: Snapshot<Walk> = thread.snapshot().await.unwrap().unwrap();
        assert!(snapshot.is_finished());
        snapshot.state.steps
    });
}

/// A name that one route of [`Way`] has as well.
#[derive(Route)]
enum Parcel {
    Left(String),
    Right,
}

#[node(Walk)]
async fn load() -> Parcel {
    Parcel::Right
}

#[node(Walk)]
async fn carry(#[item] parcel: &String) -> WalkSteps {
    step(parcel)
}

flow_and_graph!(Carry(Walk) {
    START -> load -> match { Left => carry, Right => right };
} nodes: load, carry, right);

#[tokio::test]
async fn a_route_with_a_value_is_delivered() {
    run_both!(Carry, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(1)).await;
        let edit = Edit::new(Parcel::Left("petals".into())).by("load");
        thread.update(edit).await.unwrap();
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps, ["right", "petals"]);
        let error = thread
            .update(Edit::new(Routes::to("Left")).by("load"))
            .await
            .unwrap_err();
        assert_contains(&error, "the route `Left` of node `load` carries a value");
        let error = thread
            .update(Edit::new(Way::Left).by("load"))
            .await
            .unwrap_err();
        assert_contains(&error, "give a route of the type that the node returns");
        // The value has another type.
        let error = thread
            .update(Edit::new(Weight::Left(7)).by("load"))
            .await
            .unwrap_err();
        assert_contains(&error, "is not a `alloc::string::String`");
        walk.steps
    });
}

#[allow(dead_code, reason = "one variant is enough to be refused")]
#[derive(Route)]
enum Weight {
    Left(u32),
    Right,
}

#[node(Walk)]
async fn list(score: &u32) -> Each<String> {
    (0..*score).map(|number| number.to_string()).collect()
}

#[node(Walk)]
async fn note_and_list() -> (WalkSteps, Each<String>) {
    (step("listed"), Each(vec![]))
}

flow_and_graph!(List(Walk) { START -> list -> each carry; } nodes: list, carry);
flow_and_graph!(NoteAndList(Walk) {
    START -> note_and_list -> each carry;
} nodes: note_and_list, carry);

#[tokio::test]
async fn an_edit_by_a_node_that_sends_items_has_items() {
    run_both!(NoteAndList, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(1)).await;
        let items = Each(vec!["a".to_string(), "b".to_string()]);
        let edit = Edit::new((step("edited"), items)).by("note_and_list");
        thread.update(edit).await.unwrap();
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps, ["listed", "edited", "a", "b"]);
        let error = thread
            .update(Edit::new(step("x")).by("note_and_list"))
            .await
            .unwrap_err();
        assert_contains(
            &error,
            "node `note_and_list` sends items along `each`, and the update by it has none",
        );
        let error = thread
            .update(Edit::new(Each(vec![1_u32])).by("note_and_list"))
            .await
            .unwrap_err();
        assert_contains(&error, "is not a `alloc::string::String`");
        walk.steps
    });
    run_both!(List, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(1)).await;
        thread
            .update(Edit::new(WalkScore(2)).by("list"))
            .await
            .unwrap();
        let walk = expect_finished(thread.resume(())).await;
        assert_eq!(walk.steps, ["0", "0", "1"], "it lists by the new state");
        walk.steps
    });
}

#[node(Walk)]
async fn both() -> Vec<Way> {
    vec![Way::Left, Way::Right]
}

flow_and_graph!(Both(Walk) {
    START -> both -> match { Left => left, Right => right };
} nodes: both, left, right);

#[tokio::test]
async fn an_edit_by_a_node_that_chooses_many_has_any_number() {
    run_both!(Both, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        expect_finished(thread.run(1)).await;
        for edit in [
            Edit::new(Way::Right),
            Edit::new(vec![Way::Right, Way::Left]),
            Edit::new(Vec::<Way>::new()),
        ] {
            thread.update(edit.by("both")).await.unwrap();
            expect_finished(thread.resume(())).await;
        }
        let walk = thread.snapshot().await.unwrap().unwrap().state;
        assert_eq!(walk.steps, ["left", "right", "right", "left", "right"]);
        walk.steps
    });
}

/// A graph whose routes are known at run time only.
#[tokio::test]
async fn routes_that_are_named_at_run_time_are_found() {
    let graph = Graph::<Walk>::builder("named")
        .node_fn("pick", |_: &Walk, _| std::future::ready(Routes::to("one")))
        .routes("pick", ["one", "two"])
        .node_as("left", left {})
        .node_as("right", right {})
        .edge(START, "pick")
        .route("pick", "one", "left")
        .route("pick", "two", "right")
        .build()
        .unwrap();
    let thread = graph.launch().store(&InMemoryStore::new()).thread("t");
    expect_finished(thread.run(1)).await;
    thread
        .update(Edit::new(Routes::to("two")).by("pick"))
        .await
        .unwrap();
    assert_eq!(
        expect_finished(thread.resume(())).await.steps,
        ["left", "right"]
    );
    let error = thread
        .update(Edit::new(Routes::to("three")).by("pick"))
        .await
        .unwrap_err();
    assert_contains(
        &error,
        "node `pick` has no route `three`: its routes are `one`, `two`",
    );
    let error = thread
        .update(Edit::new(Way::Left).by("pick"))
        .await
        .unwrap_err();
    assert_contains(&error, "chooses one of the routes `one`, `two`");
}
