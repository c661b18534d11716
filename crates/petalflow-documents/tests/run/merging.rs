//! How branches run and merge: rows P064, P065, P073 to P076.

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Decision;
use petalflow_documents::builder::EnvelopeBuilder;
use petalflow_documents::kinds::{AnyNode, FuncNode, MergeNode, NoopNode, RuleRouter};
use petalflow_documents::{Artifact, Changes, Envelope};
use serde_json::{Value, json};

use crate::builder::{mark, merge, set, visited_nodes};
use crate::support::{settings, var};

/// A node that adds one to a variable.
fn add(name: &'static str) -> AnyNode {
    AnyNode::new(FuncNode::new(move |envelope: Envelope| async move {
        let n = envelope.get_var(name).and_then(Value::as_i64).unwrap_or(0);
        Ok(Changes::new().var(name, n + 1))
    }))
}

/// A node that copies a variable.
fn copy(from: &'static str, to: &'static str) -> AnyNode {
    AnyNode::new(FuncNode::new(move |envelope: Envelope| async move {
        let value = envelope.get_var(from).cloned().unwrap_or(Value::Null);
        Ok(Changes::new().var(to, value))
    }))
}

fn pick(target: &str, default: &str) -> RuleRouter {
    RuleRouter::new(settings(
        json!({ "rules": [{ "target": target }], "default_target": default }),
    ))
}

fn merge_by(config: Value) -> MergeNode {
    MergeNode::new(settings(config))
}

fn begin() -> EnvelopeBuilder {
    EnvelopeBuilder::new("test").add_node("a", NoopNode)
}

async fn run(builder: EnvelopeBuilder) -> Envelope {
    builder.must_build().run(Envelope::new()).await.unwrap()
}

/// PetalFlow runs `d` twice in its sequential mode.
#[tokio::test]
async fn p064_a_node_after_two_branches_runs_once() {
    let envelope = run(begin()
        .fan_out([mark("b"), mark("c")])
        .edge("d", mark("d").1))
    .await;
    assert_eq!(visited_nodes(&envelope), "b c d");
}

/// PetalFlow passes one shared envelope through the merge in its sequential mode.
#[tokio::test]
async fn p065_a_merge_merges_also_if_one_node_runs_at_a_time() {
    let strategy = json!({ "strategy": "best_score", "score_var": "score" });
    let branches = [("b", set("score", 2)), ("c", set("score", 1))];
    let flow = begin()
        .fan_out(branches)
        .merge("m", merge_by(strategy))
        .must_build();
    for nodes in [1, 6] {
        let launch = flow.launch().max_concurrency(nodes);
        let envelope = launch.run(Envelope::new()).await.unwrap();
        assert_eq!(var(&envelope, "score"), json!(2), "{nodes} at a time");
    }
}

#[tokio::test]
async fn p073_branches_do_not_see_each_other() {
    // Both nodes of a branch see the writes of their own branch only.
    let left = vec![("b", add("n")), ("b2", add("n")), ("b3", copy("n", "left"))];
    let right = vec![("c", copy("n", "early")), ("c2", copy("n", "late"))];
    let envelope = run(begin().fan_out_branches([left, right]).merge("m", merge())).await;
    assert_eq!(
        json!(envelope.vars),
        json!({ "n": 2, "left": 2, "early": null, "late": null })
    );
}

#[tokio::test]
async fn p073_siblings_without_a_merge_do_not_see_each_other() {
    let envelope = run(begin().fan_out([("b", add("n")), ("c", copy("n", "seen"))])).await;
    assert_eq!(json!(envelope.vars), json!({ "n": 1, "seen": null }));
}

#[tokio::test]
async fn p074_a_merge_waits_for_its_branches_and_merges_in_their_order() {
    let long = vec![
        ("b", set("who", 1)),
        ("b2", AnyNode::new(NoopNode)),
        ("b3", AnyNode::new(NoopNode)),
    ];
    let short = vec![("c", set("who", 2))];
    for (branches, last) in [([long, short.clone()], 2)] {
        let envelope = run(begin()
            .fan_out_branches(branches)
            .merge("m", merge())
            .edge("d", mark("d").1))
        .await;
        assert_eq!(
            var(&envelope, "who"),
            json!(last),
            "the order is that of the edges, not of the arrival"
        );
        assert_eq!(visited_nodes(&envelope), "d");
    }
}

#[tokio::test]
async fn p074_the_slow_branch_can_be_the_last() {
    let slow = AnyNode::new(FuncNode::new(|_| async {
        tokio::task::yield_now().await;
        Ok(Changes::new().var("who", 1))
    }));
    let envelope = run(begin()
        .fan_out([("b", slow), ("c", set("who", 2))])
        .merge("m", merge()))
    .await;
    assert_eq!(var(&envelope, "who"), json!(2));
}

/// In PetalFlow the merge never runs.
#[tokio::test]
async fn p075_a_merge_after_a_router_runs_without_the_skipped_branch() {
    let built = begin().conditional(
        "pick",
        pick("b", "c"),
        [("b", set("b", 1)), ("c", set("c", 2))],
    );
    let envelope = run(built.merge("m", merge()).edge("d", mark("d").1)).await;
    assert_eq!(
        (var(&envelope, "b"), var(&envelope, "c")),
        (json!(1), Value::Null)
    );
    assert_eq!(visited_nodes(&envelope), "d");
}

/// In PetalFlow it runs once for each predecessor. Here once for each superstep in which one of them ran.
#[tokio::test]
async fn p076_a_node_without_a_merge_runs_once_per_superstep_of_its_predecessors() {
    let envelope = run(begin()
        .fan_out([mark("b"), mark("c")])
        .edge("d", add("runs")))
    .await;
    assert_eq!(var(&envelope, "runs"), json!(1));
    let branches = [vec![mark("b")], vec![mark("c"), mark("c2")]];
    let envelope = run(begin().fan_out_branches(branches).edge("d", add("runs"))).await;
    assert_eq!(var(&envelope, "runs"), json!(2));
}

#[tokio::test]
async fn a_merge_inside_a_branch_is_part_of_it() {
    let inner = begin().fan_out([("b", set("n", 1)), ("x", set("n", 10))]);
    let built = inner
        .branch("b")
        .fan_out([("c", add("n")), ("d", copy("n", "seen"))])
        .merge("inner", merge());
    let built = built.edge("e", add("n"));
    let built = built.edge("outer", merge()).branch("x").merge_to("outer");
    let envelope = run(built).await;
    // 1, then 2 in `c`, then 3 in `e`; the branch of `x` comes last.
    assert_eq!(json!(envelope.vars), json!({ "n": 10, "seen": 1 }));
    assert_eq!(envelope.branches.iter().count(), 0);
}

#[tokio::test]
async fn items_of_a_branch_are_appended_once() {
    let keep = |name: &'static str| {
        AnyNode::new(FuncNode::new(move |_| async move {
            Ok(Changes::new().artifact(Artifact::new(name)))
        }))
    };
    let branches = [
        vec![("b", keep("b")), ("b2", keep("b2"))],
        vec![("c", keep("c"))],
    ];
    let envelope = run(begin()
        .fan_out_branches(branches)
        .merge("m", merge())
        .edge("d", keep("d")))
    .await;
    let kinds: Vec<&str> = envelope
        .artifacts
        .iter()
        .map(|artifact| artifact.kind.as_str())
        .collect();
    assert_eq!(kinds, ["b", "b2", "c", "d"]);
}

#[tokio::test]
async fn a_path_that_leaves_a_branch_takes_its_changes_with_it() {
    let built = begin().fan_out([("b", set("b", 1)), ("c", set("c", 2))]);
    let built = built.branch("c").conditional(
        "pick",
        pick("out", "c2"),
        [("out", copy("c", "out")), ("c2", AnyNode::new(NoopNode))],
    );
    let built = built.branches(["b", "c2"]).merge("m", merge());
    let envelope = run(built).await;
    assert_eq!(
        (
            var(&envelope, "b"),
            var(&envelope, "c"),
            var(&envelope, "out")
        ),
        (json!(1), json!(2), json!(2))
    );
}

#[tokio::test]
async fn a_cycle_begins_new_branches() {
    let again = RuleRouter::new(settings(json!({
        "rules": [{ "target": "a", "conditions": [{ "var_path": "n", "op": "lt", "value": 3 }] }],
        "default_target": "z",
    })));
    let built = begin()
        .fan_out([("b", add("n")), ("c", add("k"))])
        .merge("m", merge());
    let built = built
        .edge("again", again)
        .edge_to("a")
        .branch("again")
        .edge("z", mark("z").1);
    let envelope = run(built).await;
    assert_eq!(
        (var(&envelope, "n"), var(&envelope, "k")),
        (json!(3), json!(3))
    );
    assert_eq!(visited_nodes(&envelope), "z");
}

/// What branches have changed is in the checkpoint.
#[tokio::test]
async fn branches_are_stored() {
    let ask = AnyNode::new(NoopNode);
    let branches = [
        vec![("b", add("n")), ("ask", ask), ("b2", add("n"))],
        vec![("c", set("c", 1))],
    ];
    let flow = begin()
        .fan_out_branches(branches)
        .merge("m", merge())
        .must_build();
    let store = InMemoryStore::new();
    let thread = flow
        .launch()
        .with_interrupts(&["ask"], &[])
        .store(&store)
        .thread("t");
    let paused = thread.run(Envelope::new()).await.unwrap();
    assert_eq!(paused.state().get_var("n"), None, "the merge applies it");
    let envelope = thread
        .resume(Decision::approve())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(json!(envelope.vars), json!({ "n": 2, "c": 1 }));
}
