//! Graphs over envelopes and their builder: rows P033 to P052.

use petalflow_documents::builder::{
    BuildErrors, EdgeEnd, EnvelopeBuilder, EnvelopeGraph, GraphError,
};
use petalflow_documents::kinds::{
    AnyNode, FuncNode, GateNode, MergeConfig, MergeNode, NoopNode, RuleRouter,
};
use petalflow_documents::{Changes, Envelope, NodeKind};
use petalflow_llm::ChatMessage;
use serde_json::json;

use crate::support::{settings, var};

/// A node that appends its id as a message.
pub(crate) fn mark(id: &'static str) -> (&'static str, AnyNode) {
    let node =
        FuncNode::new(move |_| async move { Ok(Changes::new().message(ChatMessage::user(id))) });
    (id, AnyNode::new(node))
}

/// A node that sets a variable.
pub(crate) fn set(name: &'static str, value: i64) -> AnyNode {
    AnyNode::new(FuncNode::new(move |_| async move {
        Ok(Changes::new().var(name, value))
    }))
}

pub(crate) fn merge() -> MergeNode {
    MergeNode::new(MergeConfig::default())
}

pub(crate) fn visited_nodes(envelope: &Envelope) -> String {
    let ids: Vec<String> = envelope.messages.iter().map(ChatMessage::text).collect();
    ids.join(" ")
}

fn builder(id: &'static str) -> EnvelopeBuilder {
    EnvelopeBuilder::new("test").add_node(id, mark(id).1)
}

/// A graph of nodes that do nothing.
fn graph(nodes: &[&str], edges: &[(&str, &str)]) -> EnvelopeGraph {
    let mut graph = EnvelopeGraph::new("test");
    nodes
        .iter()
        .for_each(|id| graph.add_node(*id, NoopNode).unwrap());
    edges
        .iter()
        .for_each(|(from, to)| graph.add_edge(from, to).unwrap());
    graph
}

fn errors(result: Result<impl std::fmt::Debug, BuildErrors>) -> Vec<GraphError> {
    result.unwrap_err().errors().to_vec()
}

#[test]
fn p033_duplicate_node_is_an_error() {
    let error = graph(&["a"], &[]).add_node("a", NoopNode).unwrap_err();
    assert_eq!(error, GraphError::DuplicateNode { id: "a".into() });
    assert!(error.to_string().contains("`a`"));
}

#[test]
fn p034_an_edge_to_a_missing_node_says_which_side() {
    let invalid = |from: &str, to: &str, end| GraphError::InvalidEdge {
        from: from.into(),
        to: to.into(),
        end,
    };
    let mut graph = graph(&["a"], &[]);
    assert_eq!(
        graph.add_edge("x", "a").unwrap_err(),
        invalid("x", "a", EdgeEnd::From)
    );
    let error = graph.add_edge("a", "x").unwrap_err();
    assert_eq!(error, invalid("a", "x", EdgeEnd::To));
    assert!(
        error
            .to_string()
            .starts_with("the edge `a -> x` ends at a node that does not exist")
    );
}

#[test]
fn p035_an_edge_again_changes_nothing() {
    let graph = graph(&["a", "b"], &[("a", "b"), ("a", "b")]);
    assert_eq!(graph.successors("a"), ["b"]);
    assert_eq!(graph.predecessors("b"), ["a"]);
}

#[test]
fn p036_an_unknown_entry_is_an_error() {
    let mut graph = graph(&["a"], &[]);
    let error = graph.set_entry("b").unwrap_err();
    assert!(matches!(&error, GraphError::NodeNotFound { id, .. } if id == "b"));
    assert_eq!(graph.entry(), None);
    graph.set_entry("a").unwrap();
    assert_eq!(graph.entry(), Some("a"));
}

/// PetalFlow runs a cycle without a way out until `max_hops`. Here `build` refuses it.
#[test]
fn p037_a_graph_needs_nodes_and_an_entry() {
    assert_eq!(
        graph(&[], &[]).validate().unwrap_err(),
        GraphError::EmptyGraph
    );
    let mut cyclic = graph(&["a", "b", "apart"], &[("a", "b"), ("b", "a")]);
    assert_eq!(cyclic.validate().unwrap_err(), GraphError::NoEntryNode);
    cyclic.set_entry("a").unwrap();
    cyclic.validate().unwrap();
    let found = errors(cyclic.build());
    assert!(matches!(&found[..], [GraphError::Rule(_)]), "{found:?}");
    // A node that cannot be reached is left out.
    let mut apart = graph(&["a", "apart"], &[]);
    apart.set_entry("a").unwrap();
    assert!(!apart.build().unwrap().graph().mermaid().contains("apart"));
}

#[test]
fn p038_nodes_are_in_the_order_in_which_they_were_added() {
    let graph = graph(&["c", "a", "b"], &[("a", "c")]);
    let nodes: Vec<(&str, NodeKind)> = graph.nodes().collect();
    assert_eq!(nodes, ["c", "a", "b"].map(|id| (id, NodeKind::Noop)));
}

#[test]
fn p039_the_topological_order_is_deterministic_and_cycles_have_none() {
    let edges = [("b", "d"), ("a", "d"), ("d", "e"), ("c", "e")];
    let acyclic = graph(&["b", "a", "c", "d", "e"], &edges);
    assert_eq!(
        acyclic.topological_order(false).unwrap(),
        ["b", "a", "c", "d", "e"]
    );
    let cyclic = graph(
        &["a", "b", "c", "d"],
        &[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")],
    );
    let nodes = ["b", "c", "d"].map(String::from).to_vec();
    assert_eq!(
        cyclic.topological_order(false).unwrap_err(),
        GraphError::CycleDetected { nodes }
    );
    assert_eq!(cyclic.topological_order(true).unwrap(), ["a"]);
}

#[test]
fn p040_reachable_nodes_come_in_depth_first_order() {
    let edges = [("a", "b"), ("b", "d"), ("a", "c"), ("d", "a"), ("c", "e")];
    let graph = graph(&["a", "b", "c", "d", "e", "f"], &edges);
    assert_eq!(graph.reachable("a"), ["a", "b", "d", "c", "e"]);
    assert_eq!(graph.reachable("f"), ["f"]);
    assert!(graph.reachable("x").is_empty());
}

#[test]
fn p041_the_first_node_is_the_entry_and_a_node_has_no_edge() {
    let graph = builder("a")
        .add_node("b", NoopNode)
        .edge("c", NoopNode)
        .into_graph()
        .unwrap();
    assert_eq!(graph.entry(), Some("a"));
    assert!(graph.successors("a").is_empty());
    assert_eq!(graph.successors("b"), ["c"]);
}

#[tokio::test]
async fn p042_an_edge_leads_from_all_current_nodes() {
    let built = builder("a")
        .fan_out([mark("b"), mark("c")])
        .edge("d", mark("d").1)
        .edge("e", mark("e").1);
    let graph = built.into_graph().unwrap();
    assert_eq!(graph.predecessors("d"), ["b", "c"]);
    assert_eq!(graph.predecessors("e"), ["d"]);
    let envelope = graph.build().unwrap().run(Envelope::new()).await.unwrap();
    assert_eq!(visited_nodes(&envelope), "a b c d e");
}

#[test]
fn p043_an_edge_to_an_unknown_node_is_recorded() {
    let found = errors(builder("a").edge_to("x").build());
    assert!(matches!(&found[..], [GraphError::NodeNotFound { id, by: "edge_to" }] if id == "x"));
    let graph = builder("a")
        .add_node("b", NoopNode)
        .edge_to("a")
        .into_graph()
        .unwrap();
    assert_eq!(graph.predecessors("a"), ["b"]);
}

#[test]
fn p044_connect_does_not_move_the_current_nodes() {
    let built = builder("a")
        .edge("b", NoopNode)
        .edge("c", NoopNode)
        .connect("a", "c")
        .edge("d", NoopNode);
    let graph = built.into_graph().unwrap();
    assert_eq!(graph.successors("a"), ["b", "c"]);
    assert_eq!(graph.predecessors("d"), ["c"]);
    let found = errors(builder("a").connect("a", "x").build());
    assert!(matches!(
        &found[..],
        [GraphError::InvalidEdge {
            end: EdgeEnd::To,
            ..
        }]
    ));
}

#[test]
fn p045_fan_out_needs_nodes_and_a_current_node() {
    let none: [(&str, NoopNode); 0] = [];
    let found = errors(builder("a").fan_out(none).build());
    assert_eq!(
        found,
        [GraphError::NoNodes {
            operation: "fan_out"
        }]
    );
    let found = errors(EnvelopeBuilder::new("test").fan_out([mark("a")]).build());
    assert_eq!(
        found,
        [GraphError::NoCurrent {
            operation: "fan_out"
        }]
    );
    let graph = builder("a")
        .fan_out([mark("b"), mark("c")])
        .edge("d", NoopNode)
        .into_graph()
        .unwrap();
    assert_eq!(graph.successors("a"), ["b", "c"]);
    assert_eq!(graph.predecessors("d"), ["b", "c"]);
}

#[tokio::test]
async fn p046_branches_continue_from_their_last_nodes() {
    let branches = [vec![mark("b"), mark("c")], vec![mark("d")]];
    let graph = builder("a")
        .fan_out_branches(branches)
        .edge("e", mark("e").1)
        .into_graph()
        .unwrap();
    assert_eq!(graph.successors("a"), ["b", "d"]);
    assert_eq!(graph.successors("b"), ["c"]);
    assert_eq!(graph.predecessors("e"), ["c", "d"]);
}

/// PetalFlow counts the branches. Here the edges are the inputs: those that are added later count as well.
#[tokio::test]
async fn p047_a_merge_expects_the_branches_before_it() {
    let built = builder("a")
        .fan_out([("b", set("b", 1)), ("c", set("c", 2))])
        .merge("m", merge());
    let built = built
        .branch("a")
        .edge("d", set("d", 3))
        .merge_to("m")
        .edge("e", mark("e").1);
    let envelope = built.must_build().run(Envelope::new()).await.unwrap();
    assert_eq!(visited_nodes(&envelope), "a e");
    assert_eq!(json!(envelope.vars), json!({ "b": 1, "c": 2, "d": 3 }));
}

#[test]
fn p048_merge_to_needs_a_merge() {
    let found = errors(
        builder("a")
            .add_node("b", NoopNode)
            .branch("a")
            .merge_to("b")
            .build(),
    );
    let not_merge = GraphError::NotMerge {
        id: "b".into(),
        kind: NodeKind::Noop,
    };
    assert_eq!(found[0].to_string(), not_merge.to_string());
    assert!(found[0].to_string().contains("which is a `noop` node"));
}

#[test]
fn p049_branches_move_the_current_nodes() {
    let built = builder("a")
        .fan_out([mark("b"), mark("c"), mark("d")])
        .branches(["b", "c"])
        .edge("e", NoopNode);
    let graph = built.branch("d").edge("f", NoopNode).into_graph().unwrap();
    assert_eq!(graph.predecessors("e"), ["b", "c"]);
    assert_eq!(graph.predecessors("f"), ["d"]);
    let found = errors(builder("a").branch("x").build());
    assert!(matches!(&found[..], [GraphError::NodeNotFound { id, .. }] if id == "x"));
}

#[tokio::test]
async fn p050_a_conditional_leads_to_its_targets() {
    let router = |target: &str| {
        let config = json!({ "rules": [{ "target": target }], "default_target": "c" });
        RuleRouter::new(settings(config))
    };
    let built = builder("a")
        .conditional("pick", router("b"), [mark("b"), mark("c")])
        .edge("d", mark("d").1);
    let graph = built.into_graph().unwrap();
    assert_eq!(graph.successors("a"), ["pick"]);
    assert_eq!(graph.successors("pick"), ["b", "c"]);
    assert_eq!(graph.predecessors("d"), ["b", "c"]);
    let envelope = graph.build().unwrap().run(Envelope::new()).await.unwrap();
    assert_eq!(visited_nodes(&envelope), "a b d");
    // A target without an edge is refused, where PetalFlow ignores it.
    let found = errors(
        builder("a")
            .conditional("pick", router("x"), [mark("b"), mark("c")])
            .build(),
    );
    assert!(matches!(&found[..], [GraphError::UnknownTarget { target, .. }] if target == "x"));
}

#[tokio::test]
async fn p050_a_target_can_have_another_name_than_its_node() {
    let mut graph = graph(&["b", "c"], &[]);
    let config = json!({ "rules": [{ "target": "yes" }], "default_target": "no" });
    graph
        .add_node("pick", RuleRouter::new(settings(config)))
        .unwrap();
    graph.add_node("seen", set("seen", 1)).unwrap();
    graph.add_edge_on("pick", "yes", "seen").unwrap();
    graph.add_edge_on("pick", "no", "b").unwrap();
    graph.set_entry("pick").unwrap();
    let envelope = graph.build().unwrap().run(Envelope::new()).await.unwrap();
    assert_eq!(var(&envelope, "seen"), json!(1));
}

/// With `Pass` the path continues at all successors but that of the redirection. In PetalFlow at all of them.
#[tokio::test]
async fn p071_a_gate_of_the_builder_redirects() {
    let flow = || {
        let config =
            json!({ "condition_var": "open", "on_fail": "redirect", "redirect_node_id": "refuse" });
        let gate = GateNode::new(settings(config)).unwrap();
        let built = builder("a").edge("gate", gate);
        built
            .fan_out([mark("b"), mark("c"), mark("refuse")])
            .must_build()
    };
    let open = flow()
        .run(Envelope::new().with_var("open", true))
        .await
        .unwrap();
    assert_eq!(visited_nodes(&open), "a b c");
    let closed = flow().run(Envelope::new()).await.unwrap();
    assert_eq!(visited_nodes(&closed), "a refuse");
}

#[tokio::test]
async fn p051_terminal_ends_the_current_paths() {
    let found = errors(builder("a").terminal().edge("b", NoopNode).build());
    assert_eq!(found, [GraphError::NoCurrent { operation: "edge" }]);
    let built = builder("a")
        .edge("b", mark("b").1)
        .terminal()
        .branch("a")
        .edge("c", mark("c").1);
    let envelope = built.must_build().run(Envelope::new()).await.unwrap();
    assert_eq!(visited_nodes(&envelope), "a b c");
}

#[test]
fn p052_build_reports_all_errors_at_once() {
    let built = builder("a")
        .edge_to("x")
        .branch("y")
        .add_node("a", NoopNode)
        .build();
    let all = built.unwrap_err();
    assert_eq!(all.errors().len(), 3);
    assert_eq!(all.to_string().lines().count(), 4);
    // What `main` prints.
    assert_eq!(format!("{all:?}"), all.to_string());
    assert_eq!(
        errors(EnvelopeBuilder::new("test").build()),
        [GraphError::EmptyGraph]
    );
}

#[test]
#[should_panic(expected = "graph `test` cannot be built")]
fn p052_must_build_panics() {
    EnvelopeBuilder::new("test").must_build();
}
