//! Merges: joins that do not wait for sides that nothing can reach.

use petalflow::checkpoint::InMemoryStore;
use petalflow::graph::GraphBuilder;
use petalflow::interrupt::Decision;
use petalflow::node::Routes;
use petalflow::prelude::*;

#[state]
struct Log {
    #[key(append)]
    lines: Vec<String>,
    /// The routes that the routers choose, in turn.
    #[key(input, default)]
    choices: Vec<String>,
}

/// A graph of nodes that log their names, from lines such as `a -> b`.
fn builder(edges: &str) -> GraphBuilder<Log> {
    let mut builder = Graph::<Log>::builder("log");
    let mut known: Vec<&str> = Vec::new();
    for edge in edges.split(';') {
        let (from, to) = edge.split_once("->").expect("an edge");
        for name in [from.trim(), to.trim()] {
            if name != "START" && name != "END" && !known.contains(&name) {
                known.push(name);
                let line = name.to_owned();
                if name.starts_with("pick") {
                    builder = builder.node_fn(name, move |log: &Log, _| {
                        let turn = log.lines.iter().filter(|known| **known == line).count();
                        let mine: Vec<&String> = log
                            .choices
                            .iter()
                            .filter(|it| it.starts_with(&line))
                            .collect();
                        let routes = mine.get(turn).map_or("", |it| &it[line.len() + 1..]);
                        let routes = routes.split('+').filter(|it| !it.is_empty());
                        let routes = routes.collect::<Routes>();
                        std::future::ready((LogLines(vec![line.clone()]), routes))
                    });
                } else {
                    builder = builder.node_fn(name, move |_: &Log, _| {
                        std::future::ready(LogLines(vec![line.clone()]))
                    });
                }
            }
        }
    }
    let mut routes: Vec<(&str, Vec<&str>)> = Vec::new();
    for edge in edges.split(';') {
        let (from, to) = edge.split_once("->").expect("an edge");
        let (from, to) = (from.trim(), to.trim());
        if from.starts_with("pick") {
            match routes.iter_mut().find(|(name, _)| *name == from) {
                Some((_, names)) => names.push(to),
                None => routes.push((from, vec![to])),
            }
            builder = builder.route(from, to, to);
        } else {
            builder = builder.edge(from, to);
        }
    }
    for (node, names) in routes {
        builder = builder.routes(node, names);
    }
    builder
}

async fn lines(graph: &Graph<Log>, choices: &[&str]) -> String {
    let input: Vec<String> = choices.iter().map(ToString::to_string).collect();
    let log = graph.run(input).await.expect("the run ends");
    log.lines.join(" ")
}

#[tokio::test]
async fn a_merge_waits_for_sides_of_different_lengths() {
    let graph = builder("START -> a; a -> b; b -> last; a -> c; c -> d; d -> e; e -> last");
    let graph = graph.merge("last").build().unwrap();
    assert_eq!(lines(&graph, &[]).await, "a b c d e last");
}

#[tokio::test]
async fn a_merge_does_not_wait_for_what_a_route_skips() {
    let edges = "START -> pick; pick -> b; pick -> c; c -> d; b -> last; d -> last; pick -> last";
    let graph = builder(edges).merge("last").build().unwrap();
    assert_eq!(lines(&graph, &["pick b"]).await, "pick b last");
    assert_eq!(lines(&graph, &["pick c"]).await, "pick c d last");
    assert_eq!(lines(&graph, &["pick b+c"]).await, "pick b c d last");
    assert_eq!(lines(&graph, &["pick last+c"]).await, "pick c d last");
    assert_eq!(lines(&graph, &["pick last"]).await, "pick last");
    assert_eq!(lines(&graph, &["pick "]).await, "pick");
}

/// The chain beside the merge is fast. When its last node can no longer reach the merge, the merge runs beside what follows.
#[tokio::test]
async fn a_merge_fires_as_soon_as_nothing_can_reach_its_side() {
    let edges = "START -> a; a -> last; a -> x; x -> y; y -> pick; pick -> last; pick -> p; p -> q; q -> END; last -> END";
    let graph = builder(edges).merge("last").build().unwrap();
    assert_eq!(lines(&graph, &["pick p"]).await, "a x y pick last p q");
    assert_eq!(lines(&graph, &["pick last"]).await, "a x y pick last");
}

#[tokio::test]
async fn a_merge_in_a_cycle_starts_empty_each_time() {
    let edges =
        "START -> pick; pick -> b; pick -> c; pick -> END; b -> last; c -> last; last -> pick";
    let graph = builder(edges).merge("last").build().unwrap();
    let choices = ["pick b", "pick c+b", "pick END"];
    assert_eq!(
        lines(&graph, &choices).await,
        "pick b last pick b c last pick"
    );
}

#[tokio::test]
async fn inner_merges_come_before_outer_ones() {
    let edges = "START -> a; a -> pick; a -> pick_2; pick -> b; pick -> c; b -> inner; c -> inner; \
                 pick_2 -> d; pick_2 -> e; d -> outer; e -> outer; inner -> outer";
    // The outer merge is named first.
    let graph = builder(edges)
        .merge("outer")
        .merge("inner")
        .build()
        .unwrap();
    let choices = ["pick b", "pick_2 d"];
    assert_eq!(
        lines(&graph, &choices).await,
        "a pick pick_2 b d inner outer"
    );
}

/// Two merges wait for each other only. The one that was named first fires.
#[tokio::test]
async fn merges_that_wait_for_each_other_fire_in_the_order_of_their_names() {
    let edges = "START -> a; a -> one; a -> two; one -> pick; two -> pick_2; pick -> two; pick -> END; \
                 pick_2 -> one; pick_2 -> END";
    let choices = ["pick END", "pick_2 END", "pick_2 END"];
    let graph = builder(edges).merge("one").merge("two").build().unwrap();
    assert_eq!(lines(&graph, &choices).await, "a one pick two pick_2");
    let graph = builder(edges).merge("two").merge("one").build().unwrap();
    assert_eq!(lines(&graph, &choices).await, "a two pick_2 one pick");
}

#[tokio::test]
async fn a_merge_waits_for_a_deferred_node() {
    let edges = "START -> a; a -> b; b -> last; a -> late; late -> last; a -> x; x -> y";
    let graph = builder(edges).merge("last").defer("late").build().unwrap();
    assert_eq!(lines(&graph, &[]).await, "a b x y late last");
}

#[tokio::test]
async fn a_merge_waits_for_items() {
    let graph = Graph::<Log>::builder("log")
        .node_fn("list", |_: &Log, _| async { Each(vec![1_u32, 2]) })
        .node_fn("a", |_: &Log, _| async { LogLines(vec!["a".into()]) })
        .node(visit {})
        .node_fn("last", |_: &Log, _| async { LogLines(vec!["last".into()]) })
        .edge(START, "list")
        .edge(START, "a")
        .each("list", "visit")
        .edge("visit", "last")
        .edge("a", "last")
        .merge("last");
    let graph = graph.build().unwrap();
    assert_eq!(lines(&graph, &[]).await, "a page 1 page 2 last");
}

#[node(Log)]
async fn visit(#[item] page: &u32) -> LogLines {
    LogLines(vec![format!("page {page}")])
}

#[tokio::test]
async fn a_join_into_a_merge_adds_its_sides() {
    let edges = "START -> pick; pick -> a; pick -> b; pick -> c; a -> last; last -> END";
    let graph = builder(edges)
        .join(["b", "c"], "last")
        .merge("last")
        .build()
        .unwrap();
    assert_eq!(lines(&graph, &["pick a+b"]).await, "pick a b last");
}

/// The arrivals at a merge are in the checkpoint, and what follows after resuming is what would have followed.
#[tokio::test]
async fn arrivals_at_a_merge_are_stored() {
    let edges =
        "START -> a; a -> b; b -> last; a -> pick; pick -> c; pick -> d; c -> last; d -> END";
    for (choice, rest) in [("pick c", "a b pick c last"), ("pick d", "a b pick last d")] {
        let graph = builder(edges)
            .merge("last")
            .interrupt_before("pick")
            .build()
            .unwrap();
        let store = InMemoryStore::new();
        let thread = graph.store(&store).thread("t");
        let paused = thread.run(vec![choice.to_owned()]).await.unwrap();
        assert!(paused.into_finished().is_err());
        // Another program resumes it.
        let graph = builder(edges)
            .merge("last")
            .interrupt_before("pick")
            .build()
            .unwrap();
        let thread = graph.store(&store).thread("t");
        let log = thread
            .resume(Decision::approve())
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        assert_eq!(log.lines.join(" "), rest);
    }
}

/// A graph with too many states to explore is not refused for its merges.
#[tokio::test]
async fn large_graphs_have_merges() {
    let mut edges = "START -> a".to_owned();
    for i in 0..30 {
        edges += &format!(
            "; a -> pick_{i:02}; pick_{i:02} -> b_{i}; pick_{i:02} -> c_{i}; b_{i} -> last; c_{i} -> last"
        );
    }
    let graph = builder(&edges).merge("last").build().unwrap();
    let choices: Vec<String> = (0..30).map(|i| format!("pick_{i:02} b_{i}")).collect();
    let choices: Vec<&str> = choices.iter().map(String::as_str).collect();
    let lines = lines(&graph, &choices).await;
    assert_eq!(lines.matches("last").count(), 1);
    assert!(lines.ends_with("last"));
}

#[tokio::test]
async fn a_route_that_is_not_listed_is_an_error_of_the_node() {
    let graph = builder("START -> pick; pick -> a; a -> END")
        .build()
        .unwrap();
    let error = graph.run(vec!["pick b".to_owned()]).await.err().unwrap();
    let text = error.to_string();
    assert!(
        text.contains("there is no route `b`: the routes of the node are `a`"),
        "{text}"
    );
}

#[test]
fn routes_by_name_are_checked_as_others() {
    let node = |_: &Log, _: Context| async { Routes::to("a") };
    let base = || {
        let builder = Graph::<Log>::builder("log").node_fn("pick", node);
        builder
            .node_fn("a", |_: &Log, _| async {})
            .edge(START, "pick")
    };
    let codes = |builder: GraphBuilder<Log>| -> Vec<String> {
        let errors = builder.build().unwrap_err();
        errors
            .diagnostics()
            .iter()
            .map(ToString::to_string)
            .collect()
    };
    let missing = codes(base().routes("pick", ["a", "b"]).route("pick", "a", "a"));
    assert_eq!(missing.len(), 1);
    assert!(
        missing[0].starts_with("PF012: route `b` of node `pick` has no edge"),
        "{missing:?}"
    );
    let unknown = codes(
        base()
            .routes("pick", ["a"])
            .route("pick", "a", "a")
            .route("pick", "c", "a"),
    );
    assert!(unknown[0].contains("`c`"), "{unknown:?}");
    let not_listed = codes(base().route("pick", "a", "a"));
    assert!(
        not_listed
            .iter()
            .any(|text| text.starts_with("PF024: node `pick` chooses its routes by name")),
        "{not_listed:?}"
    );
    let twice = codes(base().routes("pick", ["a", "a"]).route("pick", "a", "a"));
    assert!(
        twice[0].starts_with("PF024") && twice[0].contains("contains `a` twice"),
        "{twice:?}"
    );
    let lists = codes(
        base()
            .routes("pick", ["a"])
            .routes("pick", ["a"])
            .route("pick", "a", "a"),
    );
    assert!(lists[0].contains("listed twice"), "{lists:?}");
    let of_type = codes(
        base()
            .routes("pick", ["a"])
            .route("pick", "a", "a")
            .routes("a", ["x"]),
    );
    assert!(
        of_type[0].contains("does not return `Routes`"),
        "{of_type:?}"
    );
    let no_node = codes(base().routes("pock", ["a"]));
    assert!(no_node[0].starts_with("PF002"), "{no_node:?}");
    let item = codes(
        base()
            .node(visit {})
            .routes("pick", ["v"])
            .route("pick", "v", "visit")
            .edge("pick", "a"),
    );
    assert!(
        item.iter().any(|text| text.starts_with("PF020")),
        "{item:?}"
    );
}

/// What a node chose by name is stored with the name, for a task that finished while another asked.
#[tokio::test]
async fn routes_by_name_are_stored_by_name() {
    let edges = "START -> pick; START -> x; pick -> a; pick -> b; x -> END";
    let store = InMemoryStore::new();
    let graph = builder(edges).interrupt_before("x").build().unwrap();
    let thread = graph.store(&store).thread("t");
    let paused = thread.run(vec!["pick b".to_owned()]).await.unwrap();
    assert!(paused.into_finished().is_err());
    // The other program lists the routes in another order.
    let edges = "START -> pick; START -> x; pick -> b; pick -> a; x -> END";
    let graph = builder(edges).interrupt_before("x").build().unwrap();
    let thread = graph.store(&store).thread("t");
    let log = thread
        .resume(Decision::approve())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(log.lines.join(" "), "pick x b");
}
