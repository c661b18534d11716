//! Tests of parsing, lowering and rules.

use petalflow_graph::{Analysis, NodeIdx, Source, Target, Via, When};
use proc_macro2::TokenStream;

use super::ast::route_named_like;
use super::ast::{FlowAst, Mistakes};
use super::check;
use super::model::{Kind, Model};

/// The model of a graph and its errors, one per line.
fn parse(graph: &str) -> (Model, Vec<String>) {
    let flow: FlowAst =
        syn::parse_str(&format!("Flow(State) {{ {graph} }}")).expect("the head is right");
    let FlowAst {
        name,
        statements,
        mut mistakes,
        ..
    } = flow;
    let model = super::lower::lower(statements, &mut mistakes);
    let graph = model.graph();
    let cx = check::Cx {
        name: &name,
        model: &model,
        graph: &graph,
        analysis: &Analysis::of(&graph),
    };
    check::all(&cx, &mut mistakes);
    (model, messages(mistakes))
}

fn messages(mistakes: Mistakes) -> Vec<String> {
    let tokens = mistakes.errors.into_tokens().to_string();
    let parts = tokens.split("compile_error ! {").skip(1);
    parts
        .map(|part| {
            part.trim()
                .trim_end_matches([':', ' ', '}'])
                .trim_matches('"')
                .to_string()
        })
        .collect()
}

/// The edges of a graph without errors, in the order of the model.
fn edges(graph: &str) -> Vec<String> {
    let (model, messages) = parse(graph);
    assert_eq!(messages, [""; 0], "{graph}");
    all_edges(&model)
}

fn all_edges(model: &Model) -> Vec<String> {
    let name = |node: NodeIdx| model.nodes[node.index()].name.clone();
    let edges = model.edges.iter().map(|edge| {
        let from = match edge.from {
            Source::Start => "START".into(),
            Source::Node(node) => name(node),
            Source::Join(join) => format!("&{}", join.index()),
        };
        let to = match edge.to {
            Target::Node(node) => name(node),
            Target::Join(join) => format!("&{}", join.index()),
            Target::End => "END".into(),
        };
        match &edge.via {
            Via::Plain => format!("{from} -> {to}"),
            Via::Each => format!("{from} -> each {to}"),
            Via::Route(route) => format!("{from} -> {route} => {to}"),
            Via::RouteEach(route) => format!("{from} -> {route} => each {to}"),
            Via::Catch => format!("catch {from} -> {to}"),
        }
    });
    edges.collect()
}

/// The errors of a graph: the codes, or the messages of those without a code.
fn codes(graph: &str) -> Vec<String> {
    let code = |message: &String| {
        message
            .split_once(": ")
            .map_or(message.clone(), |(code, _)| code.to_string())
    };
    parse(graph).1.iter().map(code).collect()
}

#[test]
fn a_chain_has_an_edge_per_arrow() {
    assert_eq!(
        edges("START -> a -> b -> END;"),
        ["START -> a", "a -> b", "b -> END"]
    );
    assert_eq!(
        edges("START -> nodes::a -> self::b"),
        ["START -> a", "a -> b", "b -> END"]
    );
}

#[test]
fn start_and_end_can_be_left_out() {
    assert_eq!(edges("a"), ["START -> a", "a -> END"]);
    assert_eq!(
        edges("a -> match { true => a, false => END }"),
        ["a -> true => a", "a -> false => END", "START -> a"]
    );
    assert_eq!(codes("a -> c; b -> c"), ["PF001"]);
    assert_eq!(
        codes("a -> b; b -> match { Again => a, Done => END }"),
        ["PF001"]
    );
}

#[test]
fn a_fork_is_an_edge_to_each_and_a_join_waits_for_all() {
    let expected = [
        "START -> a",
        "a -> b",
        "a -> c",
        "b -> &0",
        "c -> &0",
        "&0 -> d",
        "d -> END",
    ];
    assert_eq!(edges("START -> a -> b & c -> d"), expected);
    assert_eq!(edges("START -> a -> (b & c) -> d"), expected);
    assert_eq!(
        edges("START -> a & b & c; (a & b) & c -> d"),
        [
            "START -> a",
            "START -> b",
            "START -> c",
            "a -> &0",
            "b -> &0",
            "c -> &0",
            "&0 -> d",
            "d -> END"
        ]
    );
}

#[test]
fn an_or_before_an_arrow_is_plain_edges_and_after_it_routes() {
    assert_eq!(
        edges("START -> a -> write_up | r#loop -> d"),
        [
            "START -> a",
            "a -> WriteUp => write_up",
            "a -> Loop => loop",
            "write_up -> d",
            "loop -> d",
            "d -> END"
        ]
    );
    assert_eq!(
        edges("START -> a -> b | END"),
        ["START -> a", "a -> B => b", "a -> End => END", "b -> END"]
    );
    assert_eq!(
        edges("START -> a & b & c; (a & b) | c -> d"),
        [
            "START -> a",
            "START -> b",
            "START -> c",
            "a -> &0",
            "b -> &0",
            "&0 -> d",
            "c -> d",
            "d -> END"
        ]
    );
}

#[test]
fn each_is_allowed_for_edges_and_routes() {
    assert_eq!(
        edges("plan -> each research & audit -> gather"),
        [
            "plan -> each research",
            "plan -> audit",
            "research -> &0",
            "audit -> &0",
            "&0 -> gather",
            "START -> plan",
            "gather -> END"
        ]
    );
    assert_eq!(
        edges("plan -> match { Found => each dig & log, Nothing | Unsure => END }"),
        [
            "plan -> Found => each dig",
            "plan -> Found => log",
            "plan -> Nothing => END",
            "plan -> Unsure => END",
            "START -> plan",
            "dig -> END",
            "log -> END"
        ]
    );
    assert_eq!(
        edges("a -> each (b & c)"),
        [
            "a -> each b",
            "a -> each c",
            "START -> a",
            "b -> END",
            "c -> END"
        ]
    );
    // A node may be called `each`.
    assert_eq!(edges("a -> each -> b")[..2], ["a -> each", "each -> b"]);
}

#[test]
fn statements_may_name_later_nodes() {
    let (model, messages) = parse(
        "defer report; with report { retry: 3 }; a -> again -> report; node again = a; catch a -> report;",
    );
    assert_eq!(messages, [""; 0]);
    assert_eq!(
        model
            .nodes
            .iter()
            .map(|node| &*node.name)
            .collect::<Vec<_>>(),
        ["a", "again", "report"]
    );
    assert!(model.nodes[2].deferred && model.nodes[2].options.len() == 1);
    assert!(all_edges(&model).contains(&"catch a -> report".to_string()));
}

#[test]
fn keywords_are_keywords_only_before_a_name() {
    assert_eq!(
        edges("node -> with -> defer -> catch -> interrupt")[..2],
        ["node -> with", "with -> defer"]
    );
    assert_eq!(
        edges("START -> node; with node { retry: 2 }; defer node"),
        ["START -> node", "node -> END"]
    );
}

#[test]
fn each_rule_of_the_graph_is_reported_once() {
    for (graph, expected) in [
        ("", &["PF001"][..]),
        ("a -> b; defer c", &["PF002"]),
        ("a -> b; catch c -> d", &["PF002"]),
        ("a -> b; interrupt before c", &["PF002"]),
        (
            "a; interrupt before a; interrupt before a if || true; interrupt after a",
            &["PF024"],
        ),
        (
            "START -> x; node x = a; node x = b",
            &["PF003", "first declared here"],
        ),
        ("a -> m::a", &["PF003"]),
        ("m::a -> a", &["PF003"]),
        ("a -> b; a -> b", &["PF004", "first written here"]),
        ("a -> b & b", &["PF004", "first written here"]),
        ("START -> a; a & a -> b", &["PF004", "first written here"]),
        (
            "START -> a; a -> match { X => a, X => END }",
            &["PF004", "first written here"],
        ),
        ("a -> START", &["PF005"]),
        ("a -> END -> b", &["PF006"]),
        ("a -> b & c | d", &["PF007"]),
        ("START -> a; node x = b", &["PF008"]),
        ("START -> a; b -> a", &["PF009"]),
        ("START -> a -> b -> a", &["PF010"]),
        (
            "START -> a & c; c -> match { Y => b, N => END }; a & b -> d",
            &["PF011"],
        ),
        (
            "START -> a; a -> match { Y => b, N => END }; a -> c",
            &["PF014"],
        ),
        ("START -> a -> (b | c) & d", &["PF014"]),
        ("START -> a & b -> c | d", &["PF015"]),
        ("START -> a | b", &["PF015"]),
        (
            "a; with a { retries: 1, retry: 1, retry: 2, timeout: 5 }",
            &["PF024", "PF024", "PF024"],
        ),
        ("a -> b; with a { id: \"b\" }", &["PF003"]),
        (
            "a -> b; with a { id: \"\" }; with b { id: c, keep: thread }",
            &["PF024", "PF024", "PF024"],
        ),
        ("a; catch a -> a", &["PF026"]),
        (
            "a; catch a -> b; catch a -> c",
            &["PF026", "first caught here"],
        ),
        ("a; catch a -> END", &["PF026"]),
    ] {
        assert_eq!(codes(graph), expected, "{graph}");
    }
}

#[test]
fn mixed_operators_are_shown_with_both_meanings() {
    for (graph, first, second) in [
        (
            "a -> b & c & d | e",
            "`match { BCD => b & c & d, E => e }`",
            "`match { D => b & c & d, E => b & c & e }`",
        ),
        (
            "a -> b | each c & d",
            "`match { B => b, CD => each c & d }`",
            "`match { B => b & d, C => each c & d }`",
        ),
        (
            "a & b | c -> d",
            "`(a & b) | c`",
            "lead `b | c` into another node and join that node with `&`",
        ),
        (
            "a | b & c | d -> e",
            "`a | (b & c) | d`",
            "lead each of `a | b` and `c | d` into another node and join that node with `&`",
        ),
    ] {
        let (_, messages) = parse(graph);
        let text = format!("write {first}, or {second}");
        assert!(messages[0].ends_with(&text), "{messages:?}");
    }
    let (_, messages) = parse("a -> b & (c | d) | e");
    assert!(
        messages.len() == 1 && messages[0].contains("write every route with its name"),
        "{messages:?}"
    );
    let (_, messages) = parse("a -> match { X => b & c | d }");
    assert!(
        messages[0].ends_with("write `b & c & d`, or lead the route to a node that chooses"),
        "{messages:?}"
    );
}

#[test]
fn suggestions_for_mixed_operators_can_be_parsed() {
    for (before, mixed, after) in [
        ("START -> a -> ", "b & c & d | e", ""),
        ("START -> a -> ", "b | each c & d", ""),
        ("START -> a; a -> match { X => a, Y => ", "b & c | d", " }"),
        ("START -> x -> a & b & c; ", "a & b | c", " -> d"),
        ("START -> x -> a & b & c & d; ", "a | b & c | d", " -> e"),
    ] {
        let (_, messages) = parse(&format!("{before}{mixed}{after}"));
        let offered = messages[0].split('`').skip(1).step_by(2).skip(2);
        for offer in offered.filter(|offer| offer.len() > 1) {
            assert_eq!(
                codes(&format!("{before}{offer}{after}")),
                [""; 0],
                "{offer}"
            );
        }
    }
}

#[test]
fn complete_statements_are_kept() {
    for (graph, kept) in [
        ("START -> a -> ; b -> c", ["START -> a", "b -> c"]),
        ("START -> a, x; b -> c", ["START -> a", "b -> c"]),
        (
            "START -> a -> match { X -> b, Y => c }; b",
            ["START -> a", "a -> Y => c"],
        ),
        ("START -> a -> b() -> d; b -> c", ["START -> a", "b -> c"]),
        ("START -> a -> b<u8> -> d; b -> c", ["START -> a", "b -> c"]),
        ("START -> a -> m::b::<u8>; b -> c", ["START -> a", "b -> c"]),
        (
            "START -> a -> b { x: 1 } -> d; b -> c",
            ["START -> a", "b -> c"],
        ),
    ] {
        let (model, messages) = parse(graph);
        assert_eq!(messages.len(), 1, "{graph}: {messages:?}");
        let edges = all_edges(&model);
        assert!(
            kept.iter()
                .all(|edge| edges.iter().any(|kept| kept == edge)),
            "{graph}: {edges:?}"
        );
    }
}

#[test]
fn interrupts_have_the_index_of_their_statement() {
    let (model, messages) = parse(
        "interrupt after b if |draft: &str, note: Option<&str>| -> Result<bool> { Ok(draft.len() > 400) };
         a -> b; interrupt before b; interrupt before a if || true",
    );
    assert_eq!(messages, [""; 0]);
    let interrupt_points = model
        .interrupt_points
        .iter()
        .map(|point| {
            let params = point.guard.as_ref().map(|guard| guard.params.len());
            (&*model.nodes[point.node.index()].name, point.side(), params)
        })
        .collect::<Vec<_>>();
    assert_eq!(
        interrupt_points,
        [
            ("b", "after", Some(2)),
            ("b", "before", None),
            ("a", "before", Some(0))
        ]
    );
    let graph = model.graph();
    assert_eq!(
        (graph.nodes[1].before, graph.nodes[1].after),
        (When::Always, When::Guarded)
    );
}

#[test]
fn a_broken_interrupt_is_one_error_and_loses_no_edge() {
    for (interrupt, word) in [
        ("interrupt befor a", "did you mean `before`?"),
        ("interrupt a", "expected `before` or `after`"),
        ("interrupt before", "expected the node"),
        ("interrupt before if |x: &str| true", "expected the node"),
        ("interrupt before a, b", "a statement for each"),
        ("interrupt after a & b", "a statement for each"),
        ("interrupt after a when", "expected `if"),
        ("interrupt after a if", "expected the guard"),
        ("interrupt after a if x > 1", "a guard must be a closure"),
        ("interrupt after a if async || true", "not async"),
        (
            "interrupt after a if |x| true",
            "a parameter needs its type",
        ),
        (
            "interrupt after a if |x: String| true",
            "a guard reads keys",
        ),
        (
            "interrupt after a if |#[item] x: &u8| true",
            "cannot take the item",
        ),
    ] {
        let (model, messages) = parse(&format!("a -> b; {interrupt}; b -> c"));
        assert!(
            messages.len() == 1 && messages[0].contains(word),
            "{interrupt}: {messages:?}"
        );
        assert!(all_edges(&model).contains(&"b -> c".to_string()));
    }
}

#[test]
fn a_subflow_with_keep_retains_its_state() {
    let keeps = |option: &str| {
        let (model, messages) = parse(&format!(
            "r; node r: R {{ in: |x: &str| x, out: |r: S| r{option} }}"
        ));
        let keep = match &model.nodes[0].kind {
            Kind::Subflow(subflow) => Some(subflow.keep),
            _ => None,
        };
        (keep, messages.len())
    };
    assert_eq!(keeps(""), (Some(false), 0));
    assert_eq!(keeps(", keep: thread"), (Some(true), 0));
    assert_eq!(keeps(", keep: thread, keep: thread"), (Some(true), 1));
    for wrong in [", keep", ", keep: true", ", keep: || thread"] {
        assert_eq!(keeps(wrong), (Some(false), 1), "{wrong}");
    }
}

#[test]
fn a_subflow_takes_values_in_a_closure_with_its_builder() {
    let sets = |option: &str| {
        let (model, messages) = parse(&format!(
            "r; node r: R {{ in: |x: &str| x, out: |r: S| r{option} }}"
        ));
        let sets = match &model.nodes[0].kind {
            Kind::Subflow(subflow) => Some(subflow.values.is_some()),
            _ => None,
        };
        (sets, messages.len())
    };
    assert_eq!(sets(""), (Some(false), 0));
    assert_eq!(sets(", values: |flow| flow.model(1)"), (Some(true), 0));
    for wrong in [
        ", values: || 1",
        ", values: |a, b| a",
        ", values: 1",
        ", values",
        ", values: { model: 1 }",
        ", values: |flow| { flow.model(1); }",
    ] {
        assert_eq!(sets(wrong), (None, 1), "{wrong}");
    }
}

#[test]
fn a_node_may_be_stored_under_another_name() {
    let (model, messages) = parse("a -> b; with b { id: \"old\", retry: 2 }");
    assert_eq!(messages, [""; 0]);
    assert_eq!(model.graph().nodes[1].stored_name(), "old");
    assert_eq!(model.graph().nodes[0].stored_name(), "a");
}

#[test]
fn a_node_may_be_cached_for_a_time() {
    let (_, messages) = parse("a; with a { cache: 1h }");
    assert_eq!(messages, [""; 0]);
    assert_eq!(codes("a; with a { cache: 5 }"), ["PF024"]);
}

#[test]
fn a_route_is_named_like_its_target() {
    for (name, route) in [
        ("write", "Write"),
        ("write_essay", "WriteEssay"),
        ("__a__b2", "AB2"),
        ("END", "End"),
        ("éa", "Éa"),
    ] {
        assert_eq!(route_named_like(name), route);
    }
}

#[test]
fn a_flow_with_an_error_has_its_type() {
    let expand = |flow: &str| {
        super::expand(
            format!("[petalflow] {flow}")
                .parse::<TokenStream>()
                .unwrap(),
        )
        .to_string()
    };
    let code = expand("pub Flow(State) { START -> a -> ; b -> }");
    assert!(
        code.contains("pub struct Flow ;") && code.matches("compile_error").count() == 2,
        "{code}"
    );
    let code = expand("Flow { a }");
    assert!(code.starts_with(":: core :: compile_error"), "{code}");
}

/// The methods of the builder are those that `flow!` writes and those that the runtime forwards to a launch.
#[test]
fn the_names_of_the_builder_methods_are_all_reserved() {
    let sources = [
        include_str!("expand/builder.rs"),
        include_str!("../../../petalflow/src/__private/flow/builder.rs"),
    ];
    for source in sources {
        for method in source.split("pub fn ").skip(1) {
            let end = method.find(|c: char| !c.is_alphanumeric() && c != '_');
            let method = &method[..end.unwrap_or(method.len())];
            if !method.is_empty() && method != "graph" {
                let name = proc_macro2::Ident::new(method, proc_macro2::Span::call_site());
                assert!(check::is_method(&name), "`{method}` is missing in the list");
            }
        }
    }
}
