//! What the run-time builder refuses, with the rules and messages of `flow!`. (`ui/` tests `flow!`.)

use petalflow::NodeError;
use petalflow::graph::{GraphBuilder, Rule};
use petalflow::policy::{Policy, Retry};
use petalflow::prelude::*;
use petalflow_graph::NodeIdx;
use petalflow_test_support::assert_starts_with;

use super::items::takes;
use crate::support::{Log, LogInput, LogXs, appending, codes, refusal};

appending!(a b c d);

fn graph() -> GraphBuilder<Log> {
    Graph::builder("g")
}

#[derive(Route)]
enum Way {
    Left,
    Right,
}

#[node(Log)]
async fn pick() -> Way {
    if std::hint::black_box(true) {
        Way::Left
    } else {
        Way::Right
    }
}

#[test]
fn g018_p037_a_graph_without_nodes() {
    // agentmesh: MISSING_NODE.
    assert_eq!(
        refusal(graph()),
        "PF001: the flow has no edges, so it has no first node; add one, such as `START -> first`"
    );
}

#[test]
fn c38a_no_edge_from_start() {
    // A single source would be where the run starts; here there are two.
    let builder = graph()
        .node(a {})
        .node(b {})
        .node(c {})
        .edge("a", "c")
        .edge("b", "c");
    assert_eq!(
        refusal(builder),
        "PF001: the flow has several possible first nodes: `a`, `b` have no edge into them; write `START -> a & b`, or lead an edge to each node that is not a first node"
    );
}

#[test]
fn c34_c38b_p034_an_edge_to_an_unknown_node() {
    let builder = graph().node(a {}).edge(START, "a").edge("a", "elsewhere");
    assert_eq!(
        refusal(builder),
        "PF002: an edge names `elsewhere`, but no node of the flow has that name; the nodes are `a`"
    );
}

#[test]
fn c38c_g018_p034_p036_edges_from_an_unknown_node_and_to_an_unknown_entry() {
    assert_eq!(
        codes(graph().node(a {}).edge(START, "a").edge("x", "a")),
        ["PF002"]
    );
    assert_eq!(
        codes(graph().node(a {}).edge(START, "entry").edge("a", END)),
        ["PF002"]
    );
}

#[test]
fn a_join_of_nothing_is_not_an_edge() {
    let builder = graph()
        .node(a {})
        .node(b {})
        .edge(START, "a")
        .join(Vec::<String>::new(), "b");
    assert_eq!(
        refusal(builder),
        "PF008: node `b` is declared, but no edge uses it; add an edge or remove the node"
    );
}

#[test]
fn c34_a_similar_name_is_offered() {
    let builder = graph().node_as("write", a {}).edge(START, "wirte");
    assert!(refusal(builder).ends_with("did you mean `write`?"));
}

#[test]
fn c38d_g017_p033_a_node_declared_twice() {
    // agentmesh lets the second silently replace the first.
    let builder = graph().node(a {}).node_as("a", b {}).edge(START, "a");
    assert_eq!(
        refusal(builder),
        "PF003: node `a` is declared twice; rename one of them, or remove it"
    );
}

#[test]
fn c38e_reserved_names() {
    for name in [START, END] {
        let text = refusal(graph().node_as(name, a {}).node(b {}).edge(START, "b"));
        assert!(
            text.starts_with(&format!("PF003: a node cannot be called `{name}`")),
            "{text}"
        );
    }
}

#[test]
fn a_node_without_a_name() {
    assert_eq!(
        refusal(graph().node(a {}).node_as("", b {}).edge(START, "a")),
        "PF003: node number 2 has no name, so that no edge can lead to it; give it a name"
    );
}

#[test]
fn c38f_c38g_edges_out_of_end_and_into_start() {
    assert!(
        refusal(graph().node(a {}).edge(START, "a").edge(END, "a")).starts_with(
            "PF006: no edge can leave END, because END ends its path, but here `a` follows END"
        )
    );
    assert!(
        refusal(graph().node(a {}).edge(START, "a").join(["a", END], "a"))
            .starts_with("PF006: a join cannot wait for END")
    );
    assert!(
        refusal(
            graph()
                .node(a {})
                .node(b {})
                .edge(START, "a")
                .edge(START, "b")
                .join(["a", "b"], START)
        )
        .starts_with("PF005: an edge from `a & b` leads into START")
    );
    assert!(
        refusal(graph().node(a {}).edge(START, "a").edge("a", START))
            .starts_with("PF005: an edge from `a` leads into START")
    );
}

#[test]
fn c38h_defer_with_and_catch_of_unknown_nodes() {
    let base = || graph().node(a {}).edge(START, "a");
    assert!(refusal(base().defer("q")).starts_with("PF002: `defer` names `q`"));
    assert!(refusal(base().with("q", Policy::NONE)).starts_with("PF002: `with` names `q`"));
    assert!(refusal(base().catch("q", "a")).starts_with("PF002: `catch` names `q`"));
    assert!(refusal(base().join(["a", "q"], END)).starts_with("PF002: a join names `q`"));
}

#[tokio::test]
async fn c38i_a_name_may_hold_any_character() {
    // LangGraph refuses "|" and ":", which its checkpoint names use as separators.
    let built = graph()
        .node_as("a|b:c d", a {})
        .edge(START, "a|b:c d")
        .build()
        .unwrap();
    assert_eq!(built.run(vec![]).await.unwrap().xs, ["a"]);
    assert!(
        built.mermaid().contains("a|b:c d") || built.mermaid().contains("#124;"),
        "{}",
        built.mermaid()
    );
}

#[test]
fn c39_g020_g021_an_unreachable_node() {
    // LangGraph compiles it without a word; agentmesh looks for it only when asked to be strict.
    let builder = graph()
        .node(a {})
        .node(b {})
        .node(c {})
        .edge(START, "a")
        .edge("b", "c");
    assert!(refusal(builder).starts_with("PF009: node `b` is unreachable: no edge leads to it"));
    assert_eq!(
        codes(graph().node(a {}).node(b {}).edge(START, "a")),
        ["PF008"],
        "without any edge it is unused"
    );
}

#[tokio::test]
async fn g020_cycles_are_allowed_if_they_end() {
    let builder = graph()
        .node(pick {})
        .node(a {})
        .edge(START, "a")
        .edge("a", "pick")
        .route("pick", "Left", END)
        .route("pick", "Right", "a");
    assert_eq!(
        builder.build().unwrap().run(vec![]).await.unwrap().xs,
        ["a"]
    );
}

#[test]
fn g021_a_cycle_without_an_exit() {
    let text = refusal(
        graph()
            .node(a {})
            .node(b {})
            .edge(START, "a")
            .edge("a", "b")
            .edge("b", "a"),
    );
    assert_starts_with(&text, "PF010: the cycle `a -> b -> a` has no way out");
}

#[test]
fn pf010_a_cycle_that_no_route_leaves() {
    let loops = || {
        graph()
            .node(a {})
            .edge(START, "pick")
            .route("pick", "Left", "pick")
            .route("pick", "Right", "pick")
            .route("pick", "Right", "a")
    };
    // Told once, and not at all of a node that may pick none.
    assert_eq!(codes(loops().node(pick {})), ["PF010"]);
    let text = refusal(loops().node(pick {}));
    assert_starts_with(&text, "PF010: the cycle through `pick` has no way out");
    assert!(loops().node_as("pick", picks_any {}).build().is_ok());
}

#[node(Log)]
async fn picks_any() -> Vec<Way> {
    vec![]
}

#[test]
fn c40_an_edge_written_twice() {
    let builder = graph()
        .node(a {})
        .node(b {})
        .edge(START, "a")
        .edge("a", "b")
        .edge("a", "b");
    assert_eq!(
        refusal(builder),
        "PF004: the edge from `a` to `b` is written twice; an edge fires once per superstep, so remove one of them"
    );
}

#[test]
fn c32_a_node_has_edges_or_routes_but_not_both() {
    // LangGraph fires both (langgraph#5829).
    let builder = graph()
        .node(pick {})
        .node(a {})
        .node(b {})
        .edge(START, "pick")
        .route("pick", "Left", "a")
        .route("pick", "Right", END)
        .edge("pick", "b");
    assert!(
        refusal(builder).starts_with("PF014: node `pick` chooses a route but also has plain edges")
    );
    let plain = graph()
        .node(pick {})
        .node(a {})
        .edge(START, "pick")
        .edge("pick", "a");
    assert_eq!(codes(plain), ["PF014"]);
}

#[test]
fn g036_routes_and_edges_fit_when_the_graph_is_built() {
    // agentmesh ignores a goto to a missing node while it runs.
    let missing = graph()
        .node(pick {})
        .node(a {})
        .edge(START, "pick")
        .route("pick", "Left", "a");
    assert!(refusal(missing).starts_with("PF012: route `Right` of node `pick` has no edge"));
    let unknown = graph()
        .node(pick {})
        .edge(START, "pick")
        .route("pick", "Left", END)
        .route("pick", "Rihgt", END);
    assert_eq!(
        refusal(unknown),
        "PF013: node `pick` has no route `Rihgt`, only `Left`, `Right`; did you mean `Right`?"
    );
    let none = graph()
        .node(a {})
        .node(b {})
        .edge(START, "a")
        .route("a", "Left", "b");
    assert!(refusal(none).starts_with("PF015: node `a` does not choose a route"));
}

#[test]
fn p075_a_join_that_a_route_can_leave_waiting() {
    let builder = graph()
        .node(pick {})
        .node(a {})
        .node(b {})
        .node(c {})
        .edge(START, "pick")
        .route("pick", "Left", "a")
        .route("pick", "Right", "b")
        .join(["a", "b"], "c");
    let text = refusal(builder);
    assert!(
        text.starts_with("PF011: the join `a & b` can wait forever") && text.contains("`defer c`"),
        "{text}"
    );
}

#[state]
struct Reads {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(output)]
    result: String,
}

#[node(Reads)]
async fn publish(draft: &str) -> ReadsResult {
    ReadsResult(draft.into())
}

#[node(Reads)]
async fn look(topic: &str) -> Option<ReadsDraft> {
    Some(ReadsDraft(topic.into()))
}

#[test]
fn a_key_read_before_it_is_always_written() {
    let never = Graph::<Reads>::builder("g")
        .node(publish {})
        .edge(START, "publish");
    let text = refusal(never);
    assert_starts_with(
        &text,
        "PF017: node `publish` reads `draft`, but no node before it writes that key",
    );
    let sometimes = Graph::<Reads>::builder("g")
        .node(look {})
        .node(publish {})
        .edge(START, "look")
        .edge("look", "publish");
    let text = refusal(sometimes);
    assert!(
        text.starts_with("PF017: node `publish` reads `draft`") && text.contains("`look`"),
        "{text}"
    );
}

#[derive(Route)]
enum Draft {
    Look,
    Publish,
}

#[node(Reads)]
async fn pick_any(topic: &str) -> Vec<Draft> {
    let _ = (topic, Draft::Publish);
    vec![Draft::Look]
}

#[test]
fn pf017_reports_when_its_analysis_is_not_exact() {
    let builder = Graph::<Reads>::builder("g")
        .node(look {})
        .node(pick_any {})
        .node(publish {})
        .edge(START, "pick_any")
        .route("pick_any", "Look", "look")
        .route("pick_any", "Publish", "publish");
    let exact = refusal(builder);
    assert!(!exact.contains("only the edges were analyzed"), "{exact}");
}

#[test]
fn an_output_that_one_path_does_not_write() {
    assert!(
        refusal(
            Graph::<Reads>::builder("g")
                .node(look {})
                .edge(START, "look")
        )
        .starts_with("PF021: output `result`")
    );
}

#[node(Log)]
async fn on_failure(#[item] failure: &NodeError) -> LogXs {
    LogXs(vec![failure.to_string()])
}

#[test]
fn a_catch_that_cannot_work() {
    let base = || {
        graph()
            .node(a {})
            .node(on_failure {})
            .edge(START, "a")
            .catch("a", "on_failure")
    };
    assert!(base().build().is_ok());
    assert!(
        refusal(base().node(takes {}).catch("a", "takes"))
            .starts_with("PF026: the failure of node `a` is caught twice")
    );
    // What is misspelt is one mistake.
    let misspelt = graph()
        .node(a {})
        .node(on_failure {})
        .edge(START, "a")
        .catch("x", "on_failure");
    assert_eq!(codes(misspelt), ["PF002"]);
    assert!(
        refusal(graph().node(a {}).edge(START, "a").catch("a", END))
            .starts_with("PF026: a failure must be caught by a node, but `END` is not a node")
    );
    // As in `flow!`, who does not care what has failed takes nothing.
    let careless = graph()
        .node(a {})
        .node(b {})
        .edge(START, "a")
        .catch("a", "b");
    assert!(careless.build().is_ok());
    let item = graph()
        .node(a {})
        .node(takes {})
        .edge(START, "a")
        .catch("a", "takes");
    assert!(refusal(item).starts_with("PF020: node `takes` takes an item of type `u32`"));
}

#[test]
fn g022_g023_p052_all_mistakes_are_reported_together_and_cannot_be_bypassed() {
    // agentmesh's `validate` returns all, its `build` only the first, and `WithoutValidation` builds anything. Here a graph
    // runs only once `build` has found nothing wrong with it.
    let errors = graph()
        .node(a {})
        .node(b {})
        .node(c {})
        .node(d {})
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "a")
        .edge("a", "b")
        .edge("c", END)
        .build()
        .unwrap_err();
    let rules: Vec<Rule> = errors
        .diagnostics()
        .iter()
        .map(|diagnostic| diagnostic.rule)
        .collect();
    assert_eq!(
        rules,
        [
            Rule::DuplicateEdge,
            Rule::UnusedNode,
            Rule::UnreachableNode,
            Rule::EndlessCycle
        ]
    );
    let text = errors.to_string();
    assert!(
        text.starts_with("graph `g` cannot be built:\n  PF004: ") && text.lines().count() == 5,
        "{text}"
    );
}

#[test]
fn g022_unknown_names_are_all_reported() {
    let builder = graph()
        .node(a {})
        .edge(START, "x")
        .edge("y", "z")
        .defer("w");
    assert_eq!(codes(builder), ["PF002"; 4]);
}

#[test]
fn ids_and_stored_states() {
    let base = || {
        graph()
            .node(a {})
            .node(b {})
            .edge(START, "a")
            .edge("a", "b")
    };
    let built = base().id("a", "old_a").build().unwrap();
    let plan = built.plan();
    assert_eq!(
        (
            plan.stored_name(NodeIdx::new(0)),
            plan.stored_name(NodeIdx::new(1))
        ),
        ("old_a", "b")
    );
    assert!(base().id("a", "b").id("b", "a").build().is_ok());
    assert_eq!(
        refusal(base().id("a", "b")),
        "PF003: nodes `a` and `b` are both stored as `b`, so a checkpoint could not distinguish them; give one of them another `id`"
    );
    assert!(refusal(base().id("q", "a")).starts_with("PF002: `id` names `q`"));
    assert!(refusal(base().keep_thread("q")).starts_with("PF002: `keep` names `q`"));
    assert!(
        refusal(base().keep_thread("a"))
            .starts_with("PF024: `keep` names `a`, which is not a sub-flow")
    );
    let inner = base().build().unwrap();
    let outer = graph()
        .subflow("sub", inner, |_: &Log| LogInput { xs: vec![] }, |_: Log| ())
        .keep_thread("sub")
        .edge(START, "sub");
    assert!(outer.build().is_ok());
}

flow! {
    Renamed(Log) {
        node sub: Inside { in: || LogInput { xs: vec![] }, out: |_log: Log| (), keep: thread };
        a -> sub;
        with a { id: "old_a" };
    }
}

flow! { Inside(Log) { b } }

#[tokio::test]
async fn a_flow_may_set_the_stored_name_of_a_node() {
    let plan = Renamed.plan();
    assert_eq!(
        (
            plan.stored_name(NodeIdx::new(0)),
            plan.stored_name(NodeIdx::new(1))
        ),
        ("sub", "old_a")
    );
    assert_eq!(Renamed::run(vec![]).await.unwrap().xs, ["a"]);
}

#[test]
#[should_panic(expected = "a node is tried at least once")]
fn g051_no_attempts_at_all_are_refused() {
    // agentmesh then never runs the node, and fails without a cause.
    let _ = Retry::attempts(0);
}

#[test]
#[should_panic(expected = "`max_concurrency` must be at least 1")]
fn no_concurrency_at_all_is_refused() {
    let graph = graph().node(a {}).edge(START, "a").build().unwrap();
    let _ = graph.launch().max_concurrency(0);
}
