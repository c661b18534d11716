//! From definitions to flows, rows P206 and P207.

use std::sync::Arc;

use petalflow::tool::FuncTool;
use petalflow_documents::document::{Catalog, Source};
use petalflow_documents::kinds::{AutoHandler, FuncNode};
use petalflow_documents::{Changes, Period};
use petalflow_documents::{Services, load, load_source};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

use super::{definition, load_flow, problems, run, run_to_end, step};

fn services() -> Services {
    let echo = FuncTool::new(
        "echo",
        "Returns its arguments.",
        |arguments: Value| async move { Ok(arguments) },
    );
    let count =
        FuncNode::new(
            |envelope| async move { Ok(Changes::new().var("count", envelope.vars.len())) },
        );
    Services::new()
        .model(
            "openai",
            ScriptedModel::new(["one", "two", "three", "four"]),
        )
        .tool(echo)
        .human(AutoHandler::approve())
        .function("f", count)
}

#[tokio::test]
async fn p206_all_node_types_load_from_their_settings() {
    let nested = json!({ "type": "transform", "config": { "transform": "template", "template": "{{.item}}!", "output_var": "x" } });
    let types = [
        (
            "llm_prompt",
            json!({ "provider": "openai", "prompt_template": "Say {{.n}}.", "max_tokens": 5.0, "timeout": "30s" }),
        ),
        (
            "llm_router",
            json!({ "provider": "openai", "allowed_targets": { "yes": "next" } }),
        ),
        (
            "rule_router",
            json!({ "rules": [{ "target": "next", "conditions": [{ "var_path": "n", "op": "gt", "value": 1 }] }] }),
        ),
        (
            "filter",
            json!({ "target": "var", "input_var": "list", "filters": [{ "type": "top_n", "n": 1 }] }),
        ),
        (
            "transform",
            json!({ "transform": "template", "template": "{{.n}}", "output_var": "x" }),
        ),
        ("merge", json!({})),
        (
            "tool",
            json!({ "tool_name": "echo", "args_template": { "value": "n" } }),
        ),
        ("gate", json!({ "condition_var": "n" })),
        ("guardian", json!({})),
        ("human", json!({ "mode": "approval" })),
        (
            "map",
            json!({ "input_var": "list", "mapper_binding": nested }),
        ),
        (
            "cache",
            json!({ "wrapped_binding": { "type": "noop" }, "ttl": 30 }),
        ),
        ("noop", json!({})),
        ("func", json!({})),
        (
            "conditional",
            json!({ "conditions": [{ "name": "next", "expression": "input.n > 0.5" }], "default": "_skip" }),
        ),
        (
            "webhook_call",
            json!({ "url": "https://example.com/hook", "template": "{\"n\":{{ json .vars.n }}}" }),
        ),
        ("webhook_trigger", json!({ "methods": ["POST"] })),
    ];
    assert_eq!(types.len(), 17);
    let none = Services::new();
    for (kind, settings) in &types {
        let graph = definition(
            json!([["f", kind, settings], ["next", "noop"]]),
            json!([["f", "next"]]),
        );
        assert!(
            !graph.check(&Catalog::default()).has_errors(),
            "{}",
            graph.check(&Catalog::default())
        );
        let flow = load_flow(&graph, &services());
        let needs = graph.needs();
        let is_free = needs == petalflow_documents::document::Needs::default();
        assert_eq!(problems(&graph, &none).is_empty(), is_free, "{kind}");
        if !matches!(*kind, "webhook_call" | "webhook_trigger" | "llm_router") {
            let envelope = run_to_end(&flow, json!({ "n": 2, "list": [1, 2] })).await;
            assert_eq!(envelope.vars["n"], 2, "{kind}");
        }
    }
}

#[test]
fn p206_a_missing_service_is_an_error_that_names_the_node() {
    let graph = definition(
        json!([
            ["a", "llm_prompt", { "provider": "anthropic" }],
            ["b", "llm_prompt", {}],
            ["c", "tool", { "tool_name": "s3", "action_name": "list" }],
            ["d", "human", {}],
            ["e", "magic", {}],
            ["f", "func", {}],
            ["g", "llm_prompt", { "provider": "anthropic", "tools": ["search"] }],
            ["h", "map", { "input_var": "l", "mapper_binding": { "type": "tool", "config": { "tool_name": "x" } } }],
            ["i", "guardian", { "on_fail": "redirect" }]
        ]),
        json!([]),
    );
    assert_eq!(
        problems(&graph, &Services::new()),
        [
            "node `a`: there is no model for provider `anthropic`: add one with `Services::model`",
            "node `b`: it has no `provider`, and there is no model for all: add one with `Services::any_model`",
            "node `c`: there is no tool `s3.list`: add it with `Services::tool`",
            "node `d`: nobody can be asked: add a handler with `Services::human`, such as `ThreadHandler`, with which a run on a thread waits for the answer",
            "node `e`: there is no tool `magic`: add it with `Services::tool`",
            "node `f`: there is no function for it: add one with `Services::function`",
            "node `g`: there is no tool `search`: add it with `Services::tool`",
            "node `h`: `mapper_binding`: there is no tool `x`: add it with `Services::tool`",
            "node `i`: `redirect_node_id`: `on_fail: redirect` needs the node to continue at",
        ]
    );
}

#[tokio::test]
async fn p206_a_model_calls_the_tools_of_its_node() {
    let graph = definition(
        json!([["a", "llm_prompt", { "prompt_template": "Hi.", "tools": ["echo", "echo"], "output_key": "x" }]]),
        json!([]),
    );
    let needs = graph.needs();
    assert!(needs.any_model && needs.tools.contains("echo"));
    let replies: [Reply; 2] = [Reply::call("echo", json!({ "n": 7 })), "seven".into()];
    let model = Arc::new(ScriptedModel::new(replies));
    let with_model = services().any_model(Arc::clone(&model));
    let vars = run(&graph, &with_model, json!({})).await.unwrap();
    assert_eq!(vars["x"], "seven");
    assert_eq!(model.requests()[0].tools.len(), 1);
    let asked = serde_json::to_string(&model.requests()[1].messages).unwrap();
    assert!(asked.contains("\"n\":7"), "{asked}");

    // For each item of a list, in one task of the run.
    let inner = json!({ "type": "llm_prompt", "config": { "prompt_template": "{{.item}}", "tools": ["echo"] } });
    let graph = definition(
        json!([["m", "map", { "input_var": "list", "output_var": "y", "mapper_binding": inner }]]),
        json!([]),
    );
    assert!(graph.needs().tools.contains("echo"));
    let replies = [1, 2].map(|n| [Reply::call("echo", json!({ "n": n })), "done".into()]);
    let model = Arc::new(ScriptedModel::new(replies.into_iter().flatten()));
    let flow = load_flow(&graph, &services().any_model(Arc::clone(&model)));
    let store = petalflow::checkpoint::InMemoryStore::new();
    let thread = flow.launch().store(&store).thread("t");
    let outcome = thread
        .run(crate::support::vars(json!({ "list": ["a", "b"] })))
        .await
        .unwrap();
    let envelope = outcome.into_finished().unwrap();
    assert_eq!(envelope.vars["y"].as_array().map(Vec::len), Some(2));
    assert_eq!(model.requests().len(), 4);
}

#[test]
fn p206_two_tools_with_one_name_are_an_error() {
    let echo = || {
        FuncTool::new("echo", "Echoes.", |arguments: Value| async move {
            Ok(arguments)
        })
    };
    let graph = definition(
        json!([["a", "llm_prompt", { "prompt_template": "Hi.", "tools": ["a.echo", "b.echo"] }]]),
        json!([]),
    );
    let services = Services::new()
        .any_model(ScriptedModel::new(["x"]))
        .tool_as("a.echo", echo())
        .tool_as("b.echo", echo());
    assert_eq!(
        problems(&graph, &services),
        [
            "node `a`: its tools `a.echo` and `b.echo` have one name for the model, `echo`; give one of them another name"
        ]
    );
}

#[tokio::test]
async fn p207_durations_are_texts_or_seconds_and_integers_come_from_numbers() {
    let prompt = |timeout: Value| {
        definition(
            json!([["a", "llm_prompt", { "provider": "openai", "timeout": timeout, "max_tokens": 8.0 }]]),
            json!([]),
        )
    };
    for timeout in [json!("30s"), json!("1m30s"), json!(30), json!(0.5)] {
        assert_eq!(
            problems(&prompt(timeout.clone()), &services()),
            [] as [&str; 0],
            "{timeout}"
        );
    }
    for timeout in [json!("soon"), json!(-1)] {
        assert_eq!(
            problems(&prompt(timeout.clone()), &services()).len(),
            1,
            "{timeout}"
        );
    }
    let fraction = definition(
        json!([["a", "llm_prompt", { "provider": "openai", "max_tokens": 8.5 }]]),
        json!([]),
    );
    assert!(fraction.check(&Catalog::default()).has_errors());
}

#[tokio::test]
async fn choices_lead_along_the_edges_with_their_names_or_to_the_nodes_with_their_names()
-> petalflow::Result<()> {
    let graph = definition(
        json!([
            ["size", "conditional", { "default": "_skip", "conditions": [
                { "name": "large", "expression": "n >= 10" }, { "name": "small", "expression": "n >= 0" }
            ] }],
            step("big"), step("small")
        ]),
        json!([["size", "large", "big"], ["size", "small"]]),
    );
    assert_eq!(
        run(&graph, &Services::new(), json!({ "n": 12 })).await?["path"],
        "big"
    );
    assert_eq!(
        run(&graph, &Services::new(), json!({ "n": 1 })).await?["path"],
        "small"
    );
    // The default is the name of no node: the path ends.
    assert_eq!(
        run(&graph, &Services::new(), json!({ "n": -1 }))
            .await?
            .get("path"),
        None
    );
    Ok(())
}

/// Upstream, the redirection of a guardian has no effect, and after a gate that passes the other node runs too.
#[tokio::test]
async fn redirections_lead_to_their_node_only() -> petalflow::Result<()> {
    for (kind, settings) in [
        (
            "gate",
            json!({ "condition_var": "ok", "on_fail": "redirect", "redirect_node_id": "no" }),
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "required", "field": "ok" }], "on_fail": "redirect", "redirect_node_id": "no" }),
        ),
    ] {
        let graph = definition(
            json!([["g", kind, settings], step("yes"), step("no")]),
            json!([["g", "yes"], ["g", "no"]]),
        );
        assert_eq!(
            run(&graph, &Services::new(), json!({ "ok": true })).await?["path"],
            "yes",
            "{kind}"
        );
        assert_eq!(
            run(&graph, &Services::new(), json!({})).await?["path"],
            "no",
            "{kind}"
        );
    }
    Ok(())
}

/// Upstream runs such a node once for each edge.
#[tokio::test]
async fn a_node_with_several_edges_to_it_runs_once_after_all_of_them() -> petalflow::Result<()> {
    let graph = definition(
        json!([step("a"), step("b"), step("c"), step("d")]),
        json!([["a", "b"], ["b", "c"], ["a", "d"], ["c", "d"]]),
    );
    assert_eq!(
        run(&graph, &Services::new(), json!({})).await?["path"],
        "abcd"
    );
    Ok(())
}

#[tokio::test]
async fn branches_do_not_see_each_other_and_a_merge_waits_for_what_comes() -> petalflow::Result<()>
{
    let graph = definition(
        json!([
            ["pick", "conditional", { "default": "_skip", "evaluation_order": "all", "conditions": [
                { "name": "l", "expression": "left" }, { "name": "r", "expression": "right" }
            ] }],
            step("l"), step("l2"), step("r"),
            ["both", "merge", { "strategy": "all", "collect_vars": ["path"] }]
        ]),
        json!([
            ["pick", "l"],
            ["pick", "r"],
            ["l", "l2"],
            ["l2", "both"],
            ["r", "both"]
        ]),
    );
    let both = run(
        &graph,
        &Services::new(),
        json!({ "left": true, "right": true }),
    )
    .await?;
    assert_eq!(
        both["all_inputs"],
        json!([{ "path": "ll2" }, { "path": "r" }])
    );
    let one = run(&graph, &Services::new(), json!({ "left": true })).await?;
    assert_eq!(one["path"], "ll2");
    Ok(())
}

#[tokio::test]
async fn nodes_in_nodes_and_tools_as_types_run() -> petalflow::Result<()> {
    let item = json!({ "transform": "template", "template": "{{.item}}!", "output_var": "out" });
    let graph = definition(
        json!([
            ["all", "map", { "input_var": "list", "output_var": "mapped", "mapper_binding": { "type": "transform", "config": item } }],
            ["say", "echo", { "args_template": { "value": "n" } }]
        ]),
        json!([["all", "say"]]),
    );
    let vars = run(&graph, &services(), json!({ "list": ["a", "b"], "n": 7 })).await?;
    assert_eq!(vars["mapped"][1]["out"], "b!");
    assert_eq!(vars["say_output"], json!({ "value": 7 }));
    Ok(())
}

#[test]
fn a_thousand_nodes_load() {
    let nodes: Vec<Value> = (0..1000).map(|n| step(&format!("n{n}"))).collect();
    let edges: Vec<Value> = (1..1000)
        .map(|n| json!([format!("n{}", n - 1), format!("n{n}")]))
        .collect();
    let graph = definition(json!(nodes), json!(edges));
    let source = Source::new("g.json", serde_json::to_string(&graph).expect("it is JSON"));
    let start = std::time::Instant::now();
    load_source(&source, &Services::new()).unwrap_or_else(|error| panic!("{error}"));
    // The limit of 50 ms is that of an optimized build on a quiet machine: see the benchmark.
    assert!(
        start.elapsed() < std::time::Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}

/// The settings of a read graph are used as they are: others than those of the definition show that nothing is read again.
#[tokio::test]
async fn settings_that_were_read_are_not_read_again() {
    let text = r#"{ "id": "g", "version": "1", "kind": "graph", "edges": [], "nodes": [
        { "id": "a", "type": "transform", "config": { "transform": "template", "template": "document", "output_var": "x" } }
    ] }"#;
    let source = Source::new("g.json", text);
    let mut read = source
        .read_graph(&Catalog::default())
        .expect("the document is right");
    read.settings[0].insert("template".into(), json!("read"));
    let flow = load(read, &Services::new()).expect("it has all that it needs");
    let envelope = run_to_end(&flow, json!({})).await;
    assert_eq!(envelope.get_var_string("x"), "read");
}

/// The check of a document knows durations without the parser of the loader. It must refuse nothing that the loader reads.
#[test]
fn p207_all_durations_that_the_loader_reads_are_right() {
    let units = [
        "h", "hrs", "hour", "m", "mins", "minutes", "s", "sec", "seconds", "ms", "millis", "us",
        "µs", "micros", "ns", "nanos",
    ];
    let mut texts: Vec<String> = units
        .iter()
        .flat_map(|unit| {
            [
                format!("3{unit}"),
                format!("1.5 {unit}"),
                format!("2H4{unit}"),
            ]
        })
        .collect();
    texts.extend(
        [
            "PT1H30M",
            "pt5s",
            "1h, 30m",
            "1:30:00",
            "1h 30m 5s",
            "+5s",
            "0s",
            "-0s",
            "P1D",
            "1 day",
            "5",
            "",
            "PT",
            "2 weeks",
            "5s ago",
        ]
        .map(String::from),
    );
    let mut read = 0;
    for text in texts {
        let graph = definition(
            json!([["a", "cache", { "ttl": text, "wrapped_binding": { "type": "noop" } }]]),
            json!([]),
        );
        if serde_json::from_value::<Period>(json!(text)).is_ok() {
            read += 1;
            let found = graph.check(&Catalog::default());
            assert!(!found.has_errors(), "{text}: {found}");
        }
    }
    assert!(read > 30, "{read}");
}

#[tokio::test]
async fn a_cache_in_a_map_has_one_entry_for_equal_items() {
    let cached = json!({ "type": "cache", "config": {
        "cache_key": "{{.item}}", "output_var": "cache",
        "wrapped_binding": { "type": "transform", "config": { "transform": "template", "template": "{{.item}}!", "output_var": "loud" } },
    } });
    let graph = definition(
        json!([["m", "map", { "input_var": "list", "output_var": "y", "index_var": "i", "mapper_binding": cached }]]),
        json!([]),
    );
    let vars = run(&graph, &services(), json!({ "list": ["a", "b", "a"] }))
        .await
        .unwrap();
    let items = vars["y"].as_array().unwrap();
    let hits: Vec<&Value> = items.iter().map(|item| &item["cache"]["hit"]).collect();
    assert_eq!(hits, [false, false, true]);
    assert_eq!(items[2]["loud"], "a!");
    assert_eq!(items[2]["cache"]["key"], "m-item-:a");
}

/// Settings that the loader refuses: the kind of the node, its settings, and the place.
fn refused_settings() -> Vec<(&'static str, Value, &'static str)> {
    let text = |extra: Value| {
        let mut config = json!({ "input_var": "x", "output_var": "y" });
        config
            .as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        config
    };
    vec![
        (
            "transform",
            text(json!({ "transform": "pick", "fields": [] })),
            "fields",
        ),
        (
            "transform",
            text(json!({ "transform": "omit", "fields": [] })),
            "fields",
        ),
        (
            "transform",
            text(json!({ "transform": "rename", "mapping": {} })),
            "mapping",
        ),
        (
            "transform",
            text(json!({ "transform": "rename", "mapping": { "a": "c", "b": "c" } })),
            "mapping/b",
        ),
        (
            "transform",
            json!({ "transform": "merge", "input_vars": [], "output_var": "y" }),
            "input_vars",
        ),
        (
            "transform",
            json!({ "transform": "parse", "input_var": "x", "output_var": "" }),
            "output_var",
        ),
        (
            "transform",
            text(
                json!({ "transform": "map", "item_transform": { "transform": "pick", "input_var": "x", "fields": [], "output_var": "z" } }),
            ),
            "item_transform/fields",
        ),
        ("filter", json!({ "target": "var" }), "input_var"),
        (
            "filter",
            json!({ "filters": [{ "type": "dedupe", "field": "" }] }),
            "filters/0/field",
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "max_length" }] }),
            "checks/0/max_length",
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "enum", "allowed_values": [] }] }),
            "checks/0/allowed_values",
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "pattern", "pattern": "" }] }),
            "checks/0/pattern",
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "type" }] }),
            "checks/0/expected_type",
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "schema" }] }),
            "checks/0/schema",
        ),
        (
            "llm_router",
            json!({ "allowed_targets": { " ": "b" } }),
            "allowed_targets",
        ),
        ("webhook_trigger", json!({ "body_var": "" }), "body_var"),
    ]
}

/// `flow_from!` reports what [`load`] would refuse.
#[test]
fn what_the_loader_refuses_in_settings_the_check_reports() {
    for (kind, config, setting) in refused_settings() {
        let edges = if kind == "llm_router" {
            json!([["a", "b"]])
        } else {
            json!([])
        };
        let nodes = json!([["a", kind, config], ["b", "noop", {}]]);
        let graph = definition(nodes, edges);
        let found = graph.check(&Catalog::default());
        let pointers: Vec<&str> = found.errors().map(|it| it.pointer.as_str()).collect();
        assert_eq!(
            pointers,
            [format!("/nodes/0/config/{setting}")],
            "{kind}: {found}"
        );
        assert!(
            load(&graph, &services()).is_err(),
            "{kind} {config}: it is loaded"
        );
    }
}
