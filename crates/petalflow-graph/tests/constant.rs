//! The analyses as a macro uses them: tables written down as constants, judged by constant evaluation.

use petalflow_graph::{
    Analysis, AnyRef, Conflict, Edge, EndlessRow, FrontiersRef, Graph, KeyFacts, KeySet, Node,
    NodeFacts, NodeIdx, PairsRef, PathsRef, Source, Tables, Target, Transition, UnwrittenRead,
    Verdict, Via, report, report_arm, report_routes, verdicts, verdicts_of,
};

const fn n(index: u32) -> NodeIdx {
    NodeIdx::new(index)
}

const KEYS: [KeyFacts<'static>; 3] = [
    KeyFacts {
        assigned: true,
        ..KeyFacts::new("topic")
    },
    KeyFacts::new("draft"),
    KeyFacts {
        output: true,
        ..KeyFacts::new("score")
    },
];

const NODES: [NodeFacts<'static>; 3] = [
    NodeFacts {
        reads: KeySet::of(0),
        may_write: KeySet::of(1),
        must_write: KeySet::of(1),
        ..NodeFacts::new("write")
    },
    NodeFacts {
        reads: KeySet::of(1),
        may_write: KeySet::of(2),
        must_write: KeySet::of(2),
        ..NodeFacts::new("rank")
    },
    NodeFacts {
        reads: KeySet::of(2),
        may_write: KeySet::of(2),
        ..NodeFacts::new("audit")
    },
];

/// `START -> write -> rank & audit`, as a macro would write it.
const TABLES: Tables<'static> = Tables {
    exact: true,
    together: PairsRef {
        offsets: &[0, 0, 1, 1],
        ranges: &[(2, 2)],
    },
    frontiers: Some(FrontiersRef {
        offsets: &[0, 0, 1, 3, 3],
        nodes: &[0, 1, 2],
        transitions: &[
            Transition::new(0, 1, 0, 0),
            Transition::new(1, 2, 0, 0),
            Transition::new(2, 3, 0, 0),
        ],
        lost: &[],
    }),
    paths: PathsRef {
        nodes: 3,
        joins: 0,
        forward: &[],
        backward: &[],
    },
    any: None::<AnyRef<'static>>,
    delivered: None,
    endless: &[],
};

const VERDICTS: [Verdict; 3] = verdicts::<3, { TABLES.scratch() }>(&TABLES, &KEYS, &NODES);
const _: () = report(n(0), &KEYS, &NODES, &VERDICTS[0]);

fn edge(from: Source, to: u32) -> Edge {
    Edge {
        from,
        via: Via::Plain,
        to: Target::Node(n(to)),
    }
}

#[test]
fn a_constant_holds_the_verdicts() {
    assert_eq!(VERDICTS[0], Verdict::FINE);
    assert_eq!(VERDICTS[1], Verdict::FINE);
    assert_eq!(
        VERDICTS[2].unwritten_read,
        Some(UnwrittenRead {
            key: 2,
            after: Some(n(0))
        })
    );
    assert_eq!(
        VERDICTS[2].conflict,
        Some(Conflict {
            key: 2,
            other: n(1)
        })
    );
    let text = VERDICTS[2]
        .diagnostic(n(2), &KEYS, &NODES)
        .unwrap()
        .to_string();
    assert_eq!(
        text,
        "PF017: node `audit` reads `score`, but after `write` the key may have no value yet: `rank` writes it only later, on another path, or not every time; write it on every path that leads here, or give it a default"
    );
}

#[test]
fn the_constants_are_those_of_the_graph() {
    let graph = Graph {
        nodes: ["write", "rank", "audit"].map(Node::named).to_vec().into(),
        edges: vec![
            edge(Source::Start, 0),
            edge(Source::Node(n(0)), 1),
            edge(Source::Node(n(0)), 2),
        ]
        .into(),
        joins: 0,
    };
    let analysis = Analysis::of(&graph);
    let tables = analysis.tables();
    assert_eq!(
        (tables.together.offsets, tables.together.ranges),
        (TABLES.together.offsets, TABLES.together.ranges)
    );
    let (ours, theirs) = (tables.frontiers.unwrap(), TABLES.frontiers.unwrap());
    assert_eq!(
        (ours.offsets, ours.nodes, ours.transitions, ours.lost),
        (
            theirs.offsets,
            theirs.nodes,
            theirs.transitions,
            theirs.lost
        )
    );
    assert_eq!(verdicts_of(&tables, &KEYS, &NODES), VERDICTS);
}

const ROUTER: NodeFacts<'static> = NodeFacts {
    routes: &["Revise", "Publish"],
    has_route: true,
    ..NodeFacts::new("critique")
};
const _: () = report_routes(&ROUTER, &["Publish", "Revise"], false);
const _: () = report_arm(&ROUTER, "Publish");

fn message(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(check).unwrap_err();
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}

#[test]
fn routes_are_checked_by_name() {
    assert!(
        message(|| report_routes(&ROUTER, &["Revise"], false))
            .starts_with("PF012: route `Publish` of node `critique` has no edge")
    );
    // A misspelt arm is the mistake, not the route that it leaves without an edge.
    report_routes(&ROUTER, &["Revise", "Pubish"], false);
    assert_eq!(
        message(|| report_arm(&ROUTER, "Pubish")),
        "PF013: node `critique` has no route `Pubish`, only `Revise`, `Publish`; did you mean `Publish`?"
    );
    assert!(
        message(|| report_routes(&ROUTER, &[], true))
            .starts_with("PF014: node `critique` chooses a route")
    );
    let plain = NodeFacts::new("write");
    assert!(
        message(|| report_routes(&plain, &["Revise"], false))
            .starts_with("PF015: node `write` does not choose a route")
    );
    report_arm(&plain, "Revise");
}

/// The messages for a flow with these edges, by node.
fn messages_for(
    edges: Vec<Edge>,
    joins: u32,
    keys: &[KeyFacts<'static>],
    nodes: &[NodeFacts<'static>],
) -> Vec<String> {
    let graph = Graph {
        nodes: nodes.iter().map(|node| Node::named(node.name)).collect(),
        edges: edges.into(),
        joins,
    };
    let verdicts = verdicts_of(&Analysis::of(&graph).tables(), keys, nodes);
    NodeIdx::all(nodes.len())
        .zip(&verdicts)
        .flat_map(|(node, verdict)| verdict.diagnostics(node, keys, nodes))
        .map(|diagnostic| diagnostic.to_string()[..30].to_owned())
        .collect()
}

fn writer(name: &'static str) -> NodeFacts<'static> {
    NodeFacts {
        may_write: KeySet::of(0),
        must_write: KeySet::of(0),
        ..NodeFacts::new(name)
    }
}

#[test]
fn an_each_node_conflicts_with_itself_and_promises_nothing() {
    let edges = || {
        vec![
            edge(Source::Start, 0),
            Edge {
                from: Source::Node(n(0)),
                via: Via::Each,
                to: Target::Node(n(1)),
            },
            edge(Source::Node(n(1)), 2),
        ]
    };
    let dig = NodeFacts {
        takes_item: true,
        ..writer("dig")
    };
    let read = NodeFacts {
        reads: KeySet::of(0),
        ..NodeFacts::new("read")
    };
    let replace = [KeyFacts::new("found")];
    assert_eq!(
        messages_for(edges(), 0, &replace, &[NodeFacts::new("plan"), dig, read]),
        [
            "PF016: node `dig` can run on s",
            "PF017: node `read` reads `foun"
        ]
    );
    let append = [KeyFacts {
        exclusive: false,
        assigned: true,
        ..KeyFacts::new("found")
    }];
    assert!(messages_for(edges(), 0, &append, &[NodeFacts::new("plan"), dig, read]).is_empty());
}

#[test]
fn one_key_without_a_reducer_is_one_conflict() {
    let edges = vec![
        edge(Source::Start, 0),
        edge(Source::Start, 1),
        edge(Source::Start, 2),
    ];
    let keys = [KeyFacts::new("draft")];
    assert_eq!(
        messages_for(edges, 0, &keys, &[writer("a"), writer("b"), writer("c")]),
        ["PF016: nodes `a` and `b` can r"]
    );
}

#[test]
fn one_missing_write_is_reported_once_on_a_path() {
    let edges = vec![
        edge(Source::Start, 0),
        edge(Source::Node(n(0)), 1),
        edge(Source::Node(n(1)), 2),
    ];
    let reader = |name| NodeFacts {
        reads: KeySet::of(0),
        ..NodeFacts::new(name)
    };
    assert_eq!(
        messages_for(
            edges,
            0,
            &[KeyFacts::new("draft")],
            &[reader("a"), reader("b"), reader("c")]
        ),
        ["PF017: node `a` reads `draft`,"]
    );
}

#[test]
fn a_caught_node_promises_nothing_to_where_its_failure_leads() {
    let edges = vec![
        edge(Source::Start, 0),
        edge(Source::Node(n(0)), 2),
        Edge {
            from: Source::Node(n(0)),
            via: Via::Catch,
            to: Target::Node(n(1)),
        },
        edge(Source::Node(n(1)), 2),
    ];
    let reader = |name| NodeFacts {
        reads: KeySet::of(0),
        ..NodeFacts::new(name)
    };
    assert_eq!(
        messages_for(
            edges,
            0,
            &[KeyFacts::new("page")],
            &[writer("fetch"), NodeFacts::new("recover"), reader("show")]
        ),
        ["PF017: node `show` reads `page"]
    );
}

#[test]
fn an_ephemeral_key_lasts_one_superstep() {
    let edges = vec![
        edge(Source::Start, 0),
        edge(Source::Node(n(0)), 1),
        edge(Source::Node(n(1)), 2),
    ];
    let keys = [KeyFacts {
        ephemeral: true,
        ..KeyFacts::new("hint")
    }];
    let reader = |name| NodeFacts {
        reads: KeySet::of(0),
        ..NodeFacts::new(name)
    };
    assert_eq!(
        messages_for(edges, 0, &keys, &[writer("a"), reader("b"), reader("c")]),
        ["PF017: node `c` reads `hint`, "]
    );
}

#[test]
fn an_output_is_written_on_every_path() {
    let choose = |name: &'static str, to| Edge {
        from: Source::Node(n(0)),
        via: Via::Route(name.into()),
        to,
    };
    let edges = || {
        vec![
            edge(Source::Start, 0),
            choose("Write", Target::Node(n(1))),
            choose("Stop", Target::End),
        ]
    };
    let keys = [KeyFacts {
        output: true,
        ..KeyFacts::new("draft")
    }];
    let critic = NodeFacts {
        routes: &["Write", "Stop"],
        has_route: true,
        ..NodeFacts::new("critic")
    };
    assert_eq!(
        messages_for(edges(), 0, &keys, &[critic, writer("write")]),
        ["PF021: output `draft` is not w"]
    );
    assert!(
        messages_for(
            edges(),
            0,
            &keys,
            &[
                NodeFacts {
                    must_write: KeySet::of(0),
                    ..critic
                },
                writer("write")
            ]
        )
        .is_empty()
    );
}

#[test]
fn a_node_that_picks_several_routes_runs_its_targets_together() {
    let choose = |name: &'static str, to| Edge {
        from: Source::Node(n(0)),
        via: Via::Route(name.into()),
        to: Target::Node(n(to)),
    };
    let edges = || vec![edge(Source::Start, 0), choose("A", 1), choose("B", 2)];
    let pick = NodeFacts {
        routes: &["A", "B"],
        has_route: true,
        ..NodeFacts::new("pick")
    };
    let keys = [KeyFacts::new("draft")];
    assert!(messages_for(edges(), 0, &keys, &[pick, writer("a"), writer("b")]).is_empty());
    assert_eq!(
        messages_for(
            edges(),
            0,
            &keys,
            &[NodeFacts { many: true, ..pick }, writer("a"), writer("b")]
        ),
        ["PF016: nodes `a` and `b` can r"]
    );
}

#[test]
fn a_route_that_is_picked_several_times_runs_its_target_several_times() {
    let choose = Edge {
        from: Source::Node(n(0)),
        via: Via::Route("A".into()),
        to: Target::Node(n(1)),
    };
    let edges = || vec![edge(Source::Start, 0), choose.clone()];
    let pick = NodeFacts {
        routes: &["A"],
        has_route: true,
        ..NodeFacts::new("pick")
    };
    let takes = NodeFacts {
        takes_item: true,
        ..writer("a")
    };
    let many = NodeFacts { many: true, ..pick };
    let keys = [KeyFacts::new("draft")];
    assert!(messages_for(edges(), 0, &keys, &[pick, takes]).is_empty());
    assert!(messages_for(edges(), 0, &keys, &[many, writer("a")]).is_empty());
    assert_eq!(
        messages_for(edges(), 0, &keys, &[many, takes]),
        ["PF016: node `a` can run on sev"]
    );
}

#[test]
fn a_node_that_several_deliveries_reach_picks_a_route_for_each() {
    let choose = |from, name: &'static str, to| Edge {
        from: Source::Node(n(from)),
        via: Via::Route(name.into()),
        to: Target::Node(n(to)),
    };
    // Both of the first two may send something to `judge` in one superstep.
    let edges = || {
        vec![
            edge(Source::Start, 0),
            edge(Source::Start, 1),
            choose(0, "A", 2),
            choose(1, "A", 2),
            choose(2, "A", 3),
            choose(2, "B", 4),
        ]
    };
    let names: &[&str] = &["A", "B"];
    let routing = |name, routes| NodeFacts {
        routes,
        has_route: true,
        ..NodeFacts::new(name)
    };
    let judge = routing("judge", names);
    let nodes = |judge| {
        let (a, b) = (routing("a", &names[..1]), routing("b", &names[..1]));
        [a, b, judge, writer("good"), writer("bad")]
    };
    let keys = [KeyFacts::new("draft")];
    // It runs once if what reaches it carries nothing.
    assert!(messages_for(edges(), 0, &keys, &nodes(judge)).is_empty());
    let takes_item = NodeFacts {
        takes_item: true,
        ..judge
    };
    assert_eq!(
        messages_for(edges(), 0, &keys, &nodes(takes_item)),
        ["PF016: nodes `good` and `bad` "]
    );
    // From one node alone it gets one at a time.
    let mut one = edges();
    one.remove(3);
    assert!(messages_for(one, 0, &keys, &nodes(takes_item)).is_empty());
}

#[test]
fn a_node_that_several_failures_reach_can_both_fail_and_not() {
    let by = |from, via, to| Edge {
        from: Source::Node(n(from)),
        via,
        to: Target::Node(n(to)),
    };
    let edges = || {
        vec![
            edge(Source::Start, 0),
            edge(Source::Start, 1),
            by(0, Via::Catch, 2),
            by(1, Via::Catch, 2),
            by(2, Via::Plain, 3),
            by(2, Via::Catch, 4),
        ]
    };
    let handle = NodeFacts::new("handle");
    let nodes = |handle| {
        let (a, b) = (NodeFacts::new("a"), NodeFacts::new("b"));
        [a, b, handle, writer("note"), writer("alarm")]
    };
    let keys = [KeyFacts::new("last")];
    assert!(messages_for(edges(), 0, &keys, &nodes(handle)).is_empty());
    let takes_item = NodeFacts {
        takes_item: true,
        ..handle
    };
    assert_eq!(
        messages_for(edges(), 0, &keys, &nodes(takes_item)),
        ["PF016: nodes `note` and `alarm"]
    );
}

#[test]
fn a_deferred_node_keeps_what_is_delivered_to_it() {
    let choose = |name: &'static str, to| Edge {
        from: Source::Node(n(0)),
        via: Via::Route(name.into()),
        to,
    };
    let graph = |more: Option<Edge>| {
        let mut nodes = vec![Node::named("ask"), Node::named("sum")];
        nodes[1].deferred = true;
        let mut edges = vec![
            edge(Source::Start, 0),
            choose("More", Target::Node(n(0))),
            choose("Done", Target::Node(n(1))),
        ];
        edges.extend(more);
        Graph {
            nodes: nodes.into(),
            edges: edges.into(),
            joins: 0,
        }
    };
    let several = |graph: &Graph| Analysis::of(graph).declared.pairs.contains(n(1), n(1));
    assert!(!several(&graph(None)));
    assert!(several(&graph(Some(choose("More", Target::Node(n(1)))))));
}

/// `START -> n; n -> match { P => n, Q => n }`, as a macro would write it.
const LOOP: Tables<'static> = Tables {
    exact: true,
    together: PairsRef {
        offsets: &[0, 0],
        ranges: &[],
    },
    frontiers: None,
    paths: PathsRef {
        nodes: 1,
        joins: 0,
        forward: &[],
        backward: &[],
    },
    any: None,
    delivered: None,
    endless: &[EndlessRow::new(0, 0, 0, 0, 2)],
};
const LOOPS: NodeFacts<'static> = NodeFacts {
    has_route: true,
    ..NodeFacts::new("n")
};
const ONE: [Verdict; 1] = verdicts::<1, { LOOP.scratch() }>(&LOOP, &[], &[LOOPS]);
const MANY: [Verdict; 1] = verdicts::<1, { LOOP.scratch() }>(
    &LOOP,
    &[],
    &[NodeFacts {
        many: true,
        ..LOOPS
    }],
);

#[test]
fn pf010_whether_a_node_picks_several_routes_is_known_to_constant_evaluation() {
    assert!(ONE[0].endless_cycle && MANY[0] == Verdict::FINE);
    assert!(
        message(|| report(n(0), &[], &[LOOPS], &ONE[0]))
            .starts_with("PF010: the cycle through `n` has no way out: ")
    );
    let choose = |name: &'static str| Edge {
        from: Source::Node(n(0)),
        via: Via::Route(name.into()),
        to: Target::Node(n(0)),
    };
    let graph = Graph {
        nodes: vec![Node::named("n")].into(),
        edges: vec![edge(Source::Start, 0), choose("P"), choose("Q")].into(),
        joins: 0,
    };
    let analysis = Analysis::of(&graph);
    assert_eq!(analysis.tables().endless, LOOP.endless);
    assert!(analysis.tables().delivered.is_none());
    assert!(petalflow_graph::check_with(&graph, &analysis.declared).is_empty());
}
