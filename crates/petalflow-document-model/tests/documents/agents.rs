//! Agent workflows, rows P204 and P205.

use petalflow_document_model::documents::{Catalog, Code, Source, ToolMode};
use serde_json::{Value, json};

use super::support::{codes, inspect};

/// A workflow with two agents and two tasks.
fn workflow() -> Value {
    let agent = json!({ "role": "R", "goal": "G", "provider": "openai", "model": "m" });
    let task = json!({ "description": "D", "agent": "one", "expected_output": "E" });
    json!({
        "version": "1", "kind": "agent_workflow", "id": "w", "name": "W",
        "agents": { "one": agent, "two": agent },
        "tasks": { "first": task, "last": task },
        "execution": { "strategy": "sequential", "task_order": ["first", "last"] },
    })
}

fn workflow_with(pointer: &str, value: Value) -> Value {
    let mut workflow = workflow();
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    workflow.pointer_mut(parent).expect("the parent exists")[name] = value;
    workflow
}

fn workflow_codes(workflow: &Value) -> Vec<&'static str> {
    codes("w.json", &workflow.to_string())
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn p205_each_rule_of_workflows_has_its_code() {
    assert!(workflow_codes(&workflow()).is_empty());
    let custom = |tasks: Value| {
        workflow_with(
            "/execution",
            json!({ "strategy": "custom", "tasks": tasks }),
        )
    };
    for (expected, workflow) in [
        (
            vec!["AT-001"],
            workflow_with("/tasks/first/agent", json!("three")),
        ),
        (
            vec!["AT-002"],
            workflow_with("/agents/one/provider", json!("opnai")),
        ),
        (
            vec!["AT-004"],
            workflow_with("/agents/one/tools", json!(["a.b.c"])),
        ),
        (
            vec!["AT-004"],
            workflow_with("/agents/one/tool_config", json!({ "search": { "x": 1 } })),
        ),
        (
            vec![],
            workflow_with(
                "/agents/one/call_limits",
                json!({ "requests": 3, "total_tokens": 50_000, "cost": 0.5 }),
            ),
        ),
        (
            vec!["DC-007", "DC-007", "DC-007"],
            workflow_with(
                "/agents/one/call_limits",
                json!({ "requests": 0, "output_tokens": 0, "cost": -0.5 }),
            ),
        ),
        (
            vec!["DC-007"],
            workflow_with("/tasks/first/review", json!("humans")),
        ),
        (
            vec!["AT-005"],
            workflow_with("/execution/strategy", json!("random")),
        ),
        (
            vec!["AT-006"],
            workflow_with("/execution", json!({ "strategy": "sequential" })),
        ),
        (
            vec!["AT-006"],
            workflow_with("/execution/task_order", json!(["first"])),
        ),
        (
            vec!["AT-006"],
            workflow_with("/execution/task_order", json!(["first", "last", "other"])),
        ),
        (
            vec!["AT-006"],
            workflow_with("/tasks/first/description", json!("{{tasks.last.output}}")),
        ),
        (
            vec!["AT-006"],
            workflow_with("/tasks/last/description", json!("{{tasks.last.output}}")),
        ),
        (
            vec!["AT-007"],
            custom(
                json!({ "first": { "depends_on": ["last"] }, "last": { "depends_on": ["first"] } }),
            ),
        ),
        (
            vec!["AT-008"],
            workflow_with(
                "/tasks/last/inputs",
                json!({ "x": "{{tasks.frist.output}}" }),
            ),
        ),
        (
            vec!["AT-008"],
            workflow_with("/tasks/last/context", json!(["frist"])),
        ),
        (
            vec!["AT-008"],
            workflow_with("/tasks/last/description", json!("{{tasks.frist.output}}")),
        ),
        (
            vec!["AT-008"],
            custom(json!({ "first": { "depends_on": [] }, "last": { "depends_on": ["x"] } })),
        ),
        (
            vec!["AT-009"],
            custom(json!({ "first": { "depends_on": [] } })),
        ),
        (vec!["AT-010"], workflow_with("/agents/one/role", json!(""))),
        (
            vec!["AT-010"],
            workflow_with(
                "/agents/one",
                json!({ "role": "R", "goal": "G", "provider": "openai" }),
            ),
        ),
        (
            vec!["AT-010"],
            workflow_with("/execution", json!({ "task_order": ["first", "last"] })),
        ),
        (
            vec!["AT-010"],
            workflow_with("/execution", json!({ "strategy": "hierarchical" })),
        ),
        (
            vec!["AT-001"],
            workflow_with(
                "/execution",
                json!({ "strategy": "hierarchical", "manager_agent": "x" }),
            ),
        ),
        (
            vec!["AT-013"],
            custom(
                json!({ "first": { "depends_on": [] }, "last": { "depends_on": ["first"], "condition": "tasks.first.output ==" } }),
            ),
        ),
        (
            vec!["AT-014"],
            workflow_with("/schema_version", json!("3.0.0")),
        ),
        (vec!["AT-014"], workflow_with("/kind", json!("agents"))),
        (
            vec!["DC-005"],
            workflow_with("/tasks/first/prompt", json!("x")),
        ),
    ] {
        assert_eq!(workflow_codes(&workflow), expected, "{workflow}");
    }
}

#[test]
fn p205_names_have_a_form() {
    for (name, is_right) in [
        ("a", true),
        ("a_1", true),
        ("A", false),
        ("1a", false),
        ("_a", false),
        ("a-b", false),
        ("", false),
        (&*"a".repeat(64), true),
        (&*"a".repeat(65), false),
    ] {
        let mut workflow = workflow();
        workflow["agents"][name] = workflow["agents"]["one"].clone();
        assert_eq!(workflow_codes(&workflow).is_empty(), is_right, "{name}");
        assert!(
            is_right || workflow_codes(&workflow) == ["AT-012"],
            "{name}"
        );
    }
}

#[test]
fn p205_tools_are_checked_if_the_catalog_has_tools() {
    let workflow = workflow_with(
        "/agents/one/tools",
        json!(["search", "s3.list", "s3.fly", "s4"]),
    );
    assert!(
        workflow_codes(&workflow).is_empty(),
        "who runs the document supplies the tools"
    );
    let catalog = Catalog::default()
        .tool("search", ToolMode::FunctionCall)
        .tool("s3.list", ToolMode::Standalone);
    let errors = Source::new("w.json", workflow.to_string())
        .check(&catalog)
        .expect_err("two tools are unknown");
    let messages: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "agent `one`: tool `s3` has no action `fly`",
            "agent `one`: there is no tool `s4`"
        ]
    );
    assert!(errors.iter().all(|it| it.code == Code::UnknownTool));
}

#[test]
fn p204_nodes_are_named_after_tasks_and_agents() {
    let mut workflow = workflow_with("/tasks/first/review", json!("human"));
    workflow["tasks"]["last"]["description"] = json!("{{input.topic}}: {{tasks.first.output}}");
    workflow["tasks"]["last"]["agent"] = json!("two");
    workflow["execution"] = json!({
        "strategy": "custom",
        "tasks": {
            "first": { "depends_on": [] },
            "last": { "depends_on": ["first"], "condition": "tasks.first.output.score > 1" },
        },
    });
    let document = Source::new("w.json", workflow.to_string())
        .check(&Catalog::default())
        .expect("it is right");
    let graph = document.graph(&Catalog::default());
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(
        names,
        [
            "first__one",
            "first__one__hitl",
            "last__two",
            "first__cond__last"
        ]
    );
    let config = |id: &str| &graph.node(id).expect("it is a node").config;
    assert_eq!(
        config("last__two")["prompt_template"],
        "{{.topic}}: {{.first__one__hitl_output}}"
    );
    assert_eq!(
        config("first__cond__last")["conditions"],
        json!([{ "name": "last__two", "expression": "first__one__hitl_output.score > 1" }])
    );
    assert_eq!(graph.entry, "first__one");
}

/// Upstream leaves a reference to a task whose name comes later as it is, and the template then fails.
#[test]
fn p204_references_to_tasks_with_later_names_are_resolved_too() {
    let mut workflow = workflow_with("/tasks/first/description", json!("{{tasks.last.output}}"));
    workflow["execution"]["task_order"] = json!(["last", "first"]);
    let document = Source::new("w.json", workflow.to_string())
        .check(&Catalog::default())
        .expect("it is right");
    let graph = document.graph(&Catalog::default());
    assert_eq!(
        graph.nodes[0].config["prompt_template"],
        "{{.last__one_output}}"
    );
}

#[test]
fn many_mistakes_are_reported_at_once_in_the_order_of_the_text() {
    let text = "\
version: 1
kind: agent_workflow
id: w
name: W
agents:
  One: { role: R, goal: G, provider: opnai, model: m }
tasks:
  first: { description: D, agent: two, expected_output: E }
execution:
  strategy: sequential
  task_order: [first, second]
";
    let (_, diagnostics) = inspect("w.yaml", text);
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "w.yaml:1:10: error[DC-007]: expected a text, not the number 1: put it in quotes",
            "w.yaml:6:3: error[AT-012]: agent `One`: a name begins with a lower-case letter, has lower-case letters, digits and `_`, and at most 64 characters",
            "w.yaml:6:38: error[AT-002]: agent `One`: provider `opnai` is unknown; did you mean `openai`?",
            "w.yaml:8:35: error[AT-001]: task `first`: there is no agent `two`",
            "w.yaml:11:23: error[AT-006]: `task_order` has `second`, which is not a task",
        ]
    );
}

#[test]
fn p205_a_description_uses_results_of_tasks_that_run_before_only() {
    let with = |strategy: Value, context: Value| {
        let mut workflow = workflow();
        workflow["tasks"]["last"]["description"] = json!("Sum up {{tasks.first.output}}");
        workflow["tasks"]["last"]["context"] = context;
        workflow["execution"] = strategy;
        workflow_codes(&workflow)
    };
    let custom = |before: Value| {
        json!({ "strategy": "custom",
            "tasks": { "first": { "depends_on": [] }, "last": { "depends_on": before } } })
    };
    let parallel = json!({ "strategy": "parallel", "merge_strategy": "concat" });
    let order = |order: [&str; 2]| json!({ "strategy": "sequential", "task_order": order });
    for (strategy, context) in [
        (order(["first", "last"]), json!([])),
        (custom(json!(["first"])), json!([])),
        (custom(json!([])), json!(["first"])),
        (parallel.clone(), json!(["first"])),
    ] {
        assert_eq!(with(strategy.clone(), context), [""; 0], "{strategy}");
    }
    for strategy in [order(["last", "first"]), custom(json!([])), parallel] {
        assert_eq!(with(strategy.clone(), json!([])), ["AT-006"], "{strategy}");
    }
    let (_, diagnostics) = inspect("w.json", &{
        let mut workflow = workflow();
        workflow["tasks"]["first"]["description"] = json!("{{tasks.last.output}}");
        workflow.to_string()
    });
    let [only] = &diagnostics.iter().collect::<Vec<_>>()[..] else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(
        only.message,
        "task `first` uses the result of task `last` in its description, but `last` does not run before it; put `last` before it in `task_order`"
    );
}

#[test]
fn a_condition_on_a_part_of_the_text_of_a_task_is_a_warning() {
    let text = |config: &str| {
        format!(
            "version: '1.0'
kind: agent_workflow
id: w
name: W
agents:
  a: {{ role: r, goal: g, provider: openai, model: m{config} }}
tasks:
  rate: {{ description: Rate., agent: a, expected_output: A score }}
  send: {{ description: Send., agent: a, expected_output: A letter }}
execution:
  strategy: custom
  tasks:
    send: {{ depends_on: [rate], condition: tasks.rate.output.score > 3 }}
"
        )
    };
    let warnings = |config: &str| {
        let (_, diagnostics) = inspect("w.yaml", &text(config));
        diagnostics
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        warnings(""),
        [
            "w.yaml:13:44: warning[CN-007]: task `send`: its condition reads `score` of `rate_output`, which is a text: the text \
          changes nothing; give agent `a` a `json_schema` in its `config`"
        ]
    );
    assert!(warnings(", config: { json_schema: { type: object } }").is_empty());
}

#[test]
fn f44_3_a_limit_of_nothing_and_a_misspelt_one_are_reported_where_they_are() {
    for (limits, expected) in [
        (
            json!({ "cost": 0 }),
            "agent `two`: `cost` of `call_limits` must be more than 0; leave it out for no limit",
        ),
        (
            json!({ "total_tokens": 0 }),
            "expected a number of at least 1",
        ),
    ] {
        let nothing = workflow_with("/agents/two/call_limits", limits);
        let (_, found) = inspect("w.json", &nothing.to_string());
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(expected), "{found:?}");
    }
    for wrong in [json!({ "tokens": 5 }), json!({ "requests": -1 }), json!(5)] {
        let workflow = workflow_with("/agents/two/call_limits", wrong.clone());
        let codes = workflow_codes(&workflow);
        assert_eq!(codes.len(), 1, "{wrong}: {codes:?}");
    }
}
