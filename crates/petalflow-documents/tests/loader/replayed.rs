//! Threads of documents, exported and replayed with the same document and with changed ones: every change is found, and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Answer;
use petalflow::thread::{Retention, ThreadFile};
use petalflow::tool::FuncTool;
use petalflow_documents::document::GraphDefinition;
use petalflow_documents::kinds::{FuncNode, HumanQuestion, HumanResponse, ThreadHandler};
use petalflow_documents::{Changes, Services};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use petalflow_testing::{Replay, ReplayReport};
use serde_json::{Value, json};

use super::load_flow;

/// A graph of most kinds: routes of three kinds, a question to a person, a `map` whose items ask a model, two branches and their merge,
/// checks, a cache, and a model with a tool.
fn graph() -> Value {
    let template = |text: &str, output: &str| json!({ "transform": "template", "template": text, "output_var": output });
    let model = |prompt: &str, output: &str| json!({ "provider": "openai", "prompt_template": prompt, "output_key": output });
    let mapper = json!({ "type": "llm_prompt", "config": model("Greet {{.name}}.", "line") });
    let cached =
        json!({ "type": "transform", "config": template("{{.right_output}} for {{.n}}", "kept") });
    let nodes = [
        (
            "route",
            "rule_router",
            json!({ "rules": [{ "target": "person", "conditions": [{ "var_path": "n", "op": "gt", "value": 1 }] }], "default_target": "small" }),
        ),
        ("small", "noop", json!({})),
        (
            "person",
            "human",
            json!({ "mode": "approval", "prompt_template": "Send {{.n}}?", "output_var": "sent" }),
        ),
        (
            "each",
            "map",
            json!({ "input_var": "names", "item_var": "name", "output_var": "lines", "mapper_binding": mapper }),
        ),
        ("left", "transform", template("left", "left_output")),
        (
            "right",
            "tool",
            json!({ "tool_name": "weather", "args_template": { "city": "city" }, "output_key": "right_output" }),
        ),
        (
            "both",
            "merge",
            json!({ "strategy": "concat", "separator": ", ", "output_key": "merged" }),
        ),
        (
            "best",
            "filter",
            json!({ "target": "var", "input_var": "books", "filters": [{ "type": "top_n", "n": 1, "score_field": "stars" }] }),
        ),
        (
            "check",
            "guardian",
            json!({ "checks": [{ "type": "range", "field": "n", "min": 1, "max": 20 }] }),
        ),
        ("open", "gate", json!({ "condition_var": "sent_approved" })),
        (
            "choose",
            "conditional",
            json!({ "conditions": [{ "name": "large", "expression": "n >= 10" }], "default": "little" }),
        ),
        ("large", "func", json!({})),
        ("little", "transform", template("little", "size")),
        (
            "keep",
            "cache",
            json!({ "cache_key": "{{.n}}", "wrapped_binding": cached }),
        ),
        (
            "way",
            "llm_router",
            json!({ "provider": "openai", "input_vars": ["kept"], "allowed_targets": { "say": "ask", "stop": "end" } }),
        ),
        (
            "ask",
            "llm_prompt",
            json!({ "provider": "openai", "prompt_template": "Sum up {{.kept}}.", "system_prompt": "Be brief.", "tools": ["weather"], "output_key": "summary" }),
        ),
        ("end", "noop", json!({})),
    ];
    let edges = [
        ("route", Some("decision"), "person"),
        ("route", Some("decision"), "small"),
        ("person", None, "each"),
        ("each", None, "left"),
        ("each", None, "right"),
        ("left", None, "both"),
        ("right", None, "both"),
        ("both", None, "best"),
        ("best", None, "check"),
        ("check", None, "open"),
        ("open", None, "choose"),
        ("choose", Some("large"), "large"),
        ("choose", Some("little"), "little"),
        ("large", None, "keep"),
        ("little", None, "keep"),
        ("keep", None, "way"),
        ("way", Some("decision"), "ask"),
        ("way", Some("decision"), "end"),
    ];
    let nodes = nodes.map(|(id, kind, config)| json!({ "id": id, "type": kind, "config": config }));
    let edges = edges.map(|(source, handle, target)| match handle {
        Some(handle) => json!({ "source": source, "sourceHandle": handle, "target": target }),
        None => json!({ "source": source, "target": target }),
    });
    json!({ "id": "report", "version": "1", "nodes": nodes, "edges": edges, "entry": "route" })
}

/// The models and tools, and how often they were called.
#[derive(Clone, Default)]
struct World(Arc<AtomicUsize>);

impl World {
    fn services(&self, function: &'static str) -> Services {
        let (asked, called) = (Arc::clone(&self.0), Arc::clone(&self.0));
        let model = ScriptedModel::from_fn(move |request: &LlmRequest| {
            asked.fetch_add(1, SeqCst);
            reply(request)
        });
        let weather = FuncTool::new("weather", "Knows the weather.", move |arguments: Value| {
            called.fetch_add(1, SeqCst);
            async move { Ok(json!({ "rain": arguments["city"] })) }
        });
        let large = FuncNode::new(move |_| async move { Ok(Changes::new().var("size", function)) });
        Services::new()
            .human(ThreadHandler)
            .model("openai", model)
            .tool(weather)
            .function("large", large)
    }
}

fn reply(request: &LlmRequest) -> Reply {
    let text = request.input_text.clone().unwrap_or_default();
    let answered = request
        .messages
        .iter()
        .any(|message| message.role == Role::Tool);
    if text.starts_with("Greet") {
        Reply::text(format!("<{text}>"))
    } else if answered {
        Reply::text("It rains.")
    } else if request.messages.is_empty() {
        Reply::text(json!({ "choice": "say" }).to_string())
    } else {
        Reply::call("weather", json!({ "city": "Kyoto" }))
    }
}

fn definition(graph: &Value) -> GraphDefinition {
    serde_json::from_value(graph.clone()).expect("it is a definition")
}

/// Runs the graph on a thread, with an answer, and exports it.
async fn exported() -> ThreadFile {
    let world = World::default();
    let flow = load_flow(&definition(&graph()), &world.services("large"));
    let threads = flow.launch().store(&InMemoryStore::new());
    let thread = threads
        .retention(Retention::ALL.with_results())
        .thread("report-1");
    let vars = json!({ "n": 12, "names": ["Ann", "Bo"], "others": ["Ann", "Bo", "Cid"], "city": "Kyoto", "books": [{ "stars": 2 }, { "stars": 5 }] });
    let paused = thread.run(crate::support::vars(vars)).await.unwrap();
    let response = HumanResponse {
        approved: true,
        ..HumanResponse::default()
    };
    let id = paused.interrupts()[0].id;
    let answer = Answer::new::<HumanQuestion>(id, &Some(response)).expect("it fits");
    let ended = thread
        .resume(answer)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(ended.vars["summary"], "It rains.");
    // Five requests, and two calls of the tool.
    assert_eq!(world.0.load(SeqCst), 7);
    thread.export().await.unwrap().to_string().parse().unwrap()
}

/// The rows of a report: superstep, node, what, name, expected, found.
fn rows_of(report: &ReplayReport) -> Vec<String> {
    let rows = report.replayed.differences.iter().map(|row| {
        let superstep = row
            .superstep
            .map_or("program".into(), |(_, superstep)| superstep.to_string());
        let node = row.node.as_deref().unwrap_or("-");
        let (what, name, expected, found) = (row.kind, &row.name, &row.expected, &row.found);
        format!("{superstep} {node} {what} {name}: {expected} => {found}")
    });
    rows.collect()
}

/// A change of the graph, the nodes that run, how often they call a model or a tool, and what must differ.
struct Planted {
    what: &'static str,
    change: fn(&mut Value),
    runs: &'static [&'static str],
    calls: usize,
    rows: &'static [&'static str],
}

/// A change that is found although nothing runs.
const fn planted(
    what: &'static str,
    change: fn(&mut Value),
    rows: &'static [&'static str],
) -> Planted {
    ran(what, change, &[], 0, rows)
}

/// A change that is found where nodes run.
const fn ran(
    what: &'static str,
    change: fn(&mut Value),
    runs: &'static [&'static str],
    calls: usize,
    rows: &'static [&'static str],
) -> Planted {
    Planted {
        what,
        change,
        runs,
        calls,
        rows,
    }
}

fn node<'a>(graph: &'a mut Value, id: &str) -> &'a mut Value {
    let nodes = graph["nodes"].as_array_mut().expect("a list");
    let node = nodes.iter_mut().find(|node| node["id"] == id);
    node.expect("it has the node")
}

/// Sets a setting of a node, by its pointer.
fn set(graph: &mut Value, id: &str, pointer: &str, value: Value) {
    let config = &mut node(graph, id)["config"];
    match config.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => config[pointer.trim_start_matches('/')] = value,
    }
}

fn edges(graph: &mut Value) -> &mut Vec<Value> {
    graph["edges"].as_array_mut().expect("a list")
}

/// Renames the ends of edges.
fn redirect(graph: &mut Value, end: &str, from: &str, to: &str) {
    for edge in edges(graph) {
        if edge[end] == from {
            edge[end] = json!(to);
        }
    }
}

/// Those without a run first, and then those in which nodes run. A row that ends with `..` may go on.
const PLANTED: &[Planted] = &[
    planted("nothing", |_| {}, &[]),
    planted(
        "a node at the end",
        |graph| {
            let late = json!({ "id": "late", "type": "noop", "config": {} });
            graph["nodes"].as_array_mut().expect("a list").push(late);
            edges(graph).push(json!({ "source": "ask", "target": "late" }));
        },
        &["program late node : - => node late"],
    ),
    planted(
        "a node fewer",
        |graph| {
            let nodes = graph["nodes"].as_array_mut().expect("a list");
            nodes.retain(|node| node["id"] != "best");
            edges(graph).retain(|edge| edge["target"] != "best");
            redirect(graph, "source", "best", "both");
        },
        &[
            "program best node : node best => -",
            "5 both next : best => check",
            "6 best resume checkpoint 6: resumes => it resumes at node `best`, which does not exist any more..",
        ],
    ),
    planted(
        "a node with another name",
        |graph| {
            node(graph, "left")["id"] = json!("west");
            redirect(graph, "source", "left", "west");
            redirect(graph, "target", "left", "west");
        },
        &[
            "program left node : node left => -",
            "program west node : - => node west",
            "4 left, right resume checkpoint 4: resumes => it resumes at node `left`, which does not exist any more..",
        ],
    ),
    planted(
        "an edge past the merge",
        |graph| {
            let edges = edges(graph).iter_mut();
            edges
                .filter(|edge| edge["source"] == "left")
                .for_each(|edge| edge["target"] = json!("best"));
        },
        &[
            "program both edge : best => -",
            "program right edge : - => both",
            "program - join : - => both & left -> best",
            "program - join : left & right -> both => -",
            "4 left, right next : both => both, both & left -> best waits with left",
        ],
    ),
    planted(
        "a branch that leads elsewhere",
        |graph| {
            let edges = edges(graph).iter_mut();
            edges
                .filter(|edge| edge["sourceHandle"] == "large")
                .for_each(|edge| edge["target"] = json!("keep"));
        },
        &[
            "program large node : node large => -",
            "program - join : - => choose [large] & little -> keep",
            "9 choose next : large => keep",
            "10 large resume checkpoint 10: resumes => it resumes at node `large`, which does not exist any more..",
        ],
    ),
    planted(
        "the prompt of a map",
        |graph| {
            let pointer = "/mapper_binding/config/prompt_template";
            set(graph, "each", pointer, json!("Praise {{.name}}."));
        },
        &[
            r#"3 each request input text of request 1 (each-item-0): another one: only its digest is in the file => "Praise Ann.""#,
            r#"3 each request input text of request 2 (each-item-1): another one: only its digest is in the file => "Praise Bo.""#,
        ],
    ),
    planted(
        "the concurrency of a map, which changes no result",
        |graph| set(graph, "each", "/concurrency", json!(2)),
        &[],
    ),
    planted(
        "the instructions",
        |graph| set(graph, "ask", "/system_prompt", json!("Be long.")),
        &[
            r#"13 ask request system of request 1 (ask answer 1, ask): "Be brief." => "Be long.""#,
            r#"13 ask request system of request 2 (ask answer 2, ask): "Be brief." => "Be long.""#,
        ],
    ),
    planted(
        "a setting of a model",
        |graph| set(graph, "ask", "/temperature", json!(0.5)),
        &[
            "13 ask request temperature of request 1 (ask answer 1, ask): - => 0.5",
            "13 ask request temperature of request 2 (ask answer 2, ask): - => 0.5",
        ],
    ),
    planted(
        "a schema",
        |graph| set(graph, "ask", "/json_schema", json!({ "type": "object" })),
        &[
            r#"13 ask request output schema of request 1 (ask answer 1, ask): - => {"type":"object"}"#,
            r#"13 ask request output schema of request 2 (ask answer 2, ask): - => {"type":"object"}"#,
        ],
    ),
    planted(
        "no tool",
        |graph| set(graph, "ask", "/tools", json!([])),
        &["13 ask request request 1 (ask): no such request => a request"],
    ),
    planted(
        "the labels of a router",
        |graph| {
            let targets = json!({ "say": "ask", "end": "end" });
            set(graph, "way", "/allowed_targets", targets);
        },
        &[
            r#"12 way request system: "You are a classifier.."#,
            "12 way request output schema: another one: only its digest is in the file => ..",
        ],
    ),
    planted(
        "the input of a router",
        |graph| set(graph, "way", "/input_vars", json!(["kept", "n"])),
        &["12 way request input text: another one: only its digest is in the file => .."],
    ),
    ran("all nodes, unchanged", |_| {}, ALL, 4, &[]),
    ran(
        "a rule",
        |graph| set(graph, "route", "/rules/0/conditions/0/value", json!(100)),
        &["route"],
        0,
        &[
            r#"1 route output vars/route_decision: {"reason":"","targets":["person"]} => {"reason":"default route","targets":["small"]}"#,
            r#"1 route output routes/0: "person" => "small""#,
        ],
    ),
    ran(
        "a condition",
        |graph| {
            set(
                graph,
                "choose",
                "/conditions/0/expression",
                json!("n >= 100"),
            );
        },
        &["choose"],
        0,
        &[
            r#"9 choose output vars/choose_decision: {"reason":"large","targets":["large"]} => {"reason":"default branch","targets":["little"]}"#,
            r#"9 choose output routes/0: "large" => "little""#,
        ],
    ),
    ran(
        "the mode of a question",
        |graph| set(graph, "person", "/mode", json!("review")),
        &["person"],
        0,
        &["2 person output vars/sent_approved: true => -"],
    ),
    ran(
        "a person who is not asked",
        |graph| {
            let quiet = json!({ "id": "person", "type": "noop", "config": {} });
            *node(graph, "person") = quiet;
        },
        &["person"],
        0,
        &[r#"2 person output vars: {"sent":{"approved":true,.."#],
    ),
    ran(
        "a longer list of a map",
        |graph| set(graph, "each", "/input_var", json!("others")),
        &["each"],
        3,
        &[
            "3 each output vars/lines/2: - => ..",
            "3 each request request 3 (each-item-2): no such request => a request",
        ],
    ),
    ran(
        "the variable of a map",
        |graph| set(graph, "each", "/output_var", json!("greetings")),
        &["each"],
        2,
        &[r#"3 each output vars: {"lines":.."#],
    ),
    ran(
        "a template",
        |graph| set(graph, "left", "/template", json!("west")),
        &["left"],
        0,
        &[r#"4 left output branches/paths/0/1/vars/left_output: "left" => "west""#],
    ),
    ran(
        "an argument of a tool",
        |graph| set(graph, "right", "/args_template/city", json!("n")),
        &["right"],
        1,
        &[r#"4 right output branches/paths/0/1/vars/right_output/rain: "Kyoto" => 12"#],
    ),
    ran(
        "the variable of a tool",
        |graph| set(graph, "right", "/output_key", json!("sky")),
        &["right"],
        1,
        &[
            r#"4 right output branches/paths/0/1/vars: {"right_output":{"rain":"Kyoto"}} => {"sky":{"rain":"Kyoto"}}"#,
        ],
    ),
    ran(
        "a separator",
        |graph| set(graph, "both", "/separator", json!(" and ")),
        &["both"],
        0,
        &["5 both output vars/merged: .."],
    ),
    ran(
        "a filter",
        |graph| set(graph, "best", "/filters/0/n", json!(2)),
        &["best"],
        0,
        &[r#"6 best output vars/books: [{"stars":5}] => [{"stars":2},{"stars":5}]"#],
    ),
    ran(
        "a check that fails",
        |graph| set(graph, "check", "/checks/0/max", json!(11)),
        &["check"],
        0,
        &[
            "7 check failure : a result => node `check` failed in superstep 7: guardian node `check`: validation failed: value 12 exceeds maximum 11",
        ],
    ),
    ran(
        "a gate that is closed",
        |graph| set(graph, "open", "/condition_var", json!("missing")),
        &["open"],
        0,
        &[
            "8 open failure : a result => node `open` failed in superstep 8: gate node `open`: gate condition failed",
        ],
    ),
    ran(
        "a node of another kind",
        |graph| *node(graph, "large") = json!({ "id": "large", "type": "noop", "config": {} }),
        &["large"],
        0,
        &[r#"10 large output vars: {"size":"large"} => -"#],
    ),
    ran(
        "what a cache has",
        |graph| {
            set(
                graph,
                "keep",
                "/wrapped_binding/config/template",
                json!("{{.n}}"),
            );
        },
        &["keep"],
        0,
        &[r#"11 keep output vars/kept: "{\"rain\":\"Kyoto\"} for 12" => "12""#],
    ),
];

const ALL: &[&str] = &[
    "route", "person", "each", "left", "right", "both", "best", "check", "open", "choose", "large",
    "keep", "way", "ask",
];

fn is_row(row: &str, expected: &str) -> bool {
    match expected.strip_suffix("..") {
        Some(start) => row.starts_with(start),
        None => row == expected,
    }
}

#[tokio::test]
async fn f44_each_planted_change_of_a_document_is_found_and_nothing_else() {
    let file = exported().await;
    for planted in PLANTED {
        let Planted { what, rows, .. } = planted;
        let mut today = graph();
        (planted.change)(&mut today);
        let world = World::default();
        let flow = load_flow(&definition(&today), &world.services("large"));
        let replay = Replay::of_file(file.clone()).flow(flow.launch()).requests();
        let runs = planted.runs.iter();
        let report = runs.fold(replay, |replay, node| replay.run(*node));
        let report = report.report().await;
        let found = rows_of(&report);
        let same = found.len() == rows.len()
            && found
                .iter()
                .zip(*rows)
                .all(|(row, expected)| is_row(row, expected));
        assert!(same, "{what}: {found:#?} and not {rows:#?}");
        assert_eq!(world.0.load(SeqCst), planted.calls, "{what}");
        assert_eq!(report.is_same(), rows.is_empty(), "{what}");
    }
}

/// A function of the program is not in the document. The replay finds that it has changed if its node runs.
#[tokio::test]
async fn f44_a_changed_function_of_a_document_is_found() {
    let file = exported().await;
    let flow = load_flow(&definition(&graph()), &World::default().services("huge"));
    let replay = || Replay::of_file(file.clone()).flow(flow.launch()).requests();
    assert!(replay().report().await.is_same());
    let report = replay().run("large").report().await;
    let expected = r#"10 large output vars/size: "large" => "huge""#;
    assert_eq!(rows_of(&report), [expected]);
}
