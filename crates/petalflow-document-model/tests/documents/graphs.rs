//! Graph definitions, rows P195 to P201.

use petalflow_document_model::documents::{
    Catalog, Code, Definition, GraphDefinition, NodeDefinition, Severity, Source, ToolMode,
};
use serde_json::{Value, json};

use super::support::{codes, definition, edge, graph, inspect};

#[test]
fn p195_a_definition_survives_a_round_trip_and_leaves_out_what_is_empty() {
    let value = json!({
        "id": "g", "version": "1.0", "schema_version": "1.0.0", "kind": "graph",
        "metadata": { "author": "me" },
        "nodes": [{ "id": "a", "type": "noop" }, { "id": "b", "type": "human", "config": { "mode": "input" } }],
        "edges": [{ "source": "a", "sourceHandle": "output", "target": "b", "targetHandle": "input" }],
        "entry": "a",
    });
    let graph: GraphDefinition = serde_json::from_value(value.clone()).expect("it is a definition");
    assert_eq!(serde_json::to_value(&graph).expect("it is JSON"), value);
    let empty = serde_json::to_value(GraphDefinition::default()).expect("it is JSON");
    assert_eq!(
        empty,
        json!({ "id": "", "version": "", "nodes": [], "edges": [] })
    );
}

#[test]
fn p196_unknown_fields_are_errors_and_unknown_settings_warnings() {
    let text = r#"{
  "id": "g", "version": "1", "colour": "red",
  "nodes": [{ "id": "a", "type": "webhook_call", "label": "x", "config": { "url": "https://x.test", "timout": 5 } }],
  "edges": [{ "source": "a", "target": "a", "weight": 1 }]
}"#;
    let (_, diagnostics) = inspect("g.json", text);
    let lines: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "g.json:2:30: error[DC-005]: there is no field `colour`",
            "g.json:3:50: error[DC-005]: there is no field `label`",
            "g.json:3:101: warning[GR-020]: there is no setting `timout`; did you mean `timeout`?",
            "g.json:4:13: error[GR-004]: the edges form a cycle: `a` -> `a`",
            "g.json:4:45: error[DC-005]: there is no field `weight`",
        ]
    );
    let warned = Source::new(
        "g.json",
        graph(r#"{"id":"a","type":"noop","config":{"x":1}}"#, ""),
    );
    let document = warned
        .check(&Catalog::default())
        .expect("a warning is not an error");
    assert_eq!(
        document
            .warnings
            .iter()
            .map(|it| it.code)
            .collect::<Vec<_>>(),
        [Code::UnknownSetting]
    );
}

/// Upstream finds the codes of a registry only with a registry.
#[test]
fn p197_each_rule_of_graphs_has_its_code() {
    let noop = |id: &str| format!(r#"{{"id":"{id}","type":"noop"}}"#);
    let two = format!("{},{}", noop("a"), noop("b"));
    for (expected, nodes, edges) in [
        ("GR-001", noop("a"), edge("a", "x")),
        ("GR-001", noop("a"), edge("x", "a")),
        (
            "GR-003",
            r#"{"id":"a","type":"magic"}"#.to_owned(),
            String::new(),
        ),
        (
            "GR-004",
            two.clone(),
            format!("{},{}", edge("a", "b"), edge("b", "a")),
        ),
        (
            "GR-005",
            format!("{},{}", noop("a"), noop("a")),
            String::new(),
        ),
        (
            "GR-006",
            two.clone(),
            edge("a", "b").replace("output", "result"),
        ),
        (
            "GR-009",
            format!(r#"{},{{"id":"t","type":"webhook_trigger"}}"#, noop("a")),
            edge("a", "t"),
        ),
    ] {
        let found = codes("g.json", &graph(&nodes, &edges));
        assert!(found.contains(&expected), "{expected}: {found:?}");
    }
    let orphan = inspect("g.json", &graph(&two, "")).1;
    assert!(
        orphan
            .iter()
            .all(|it| it.code == Code::OrphanNode && it.severity == Severity::Warning)
    );
    assert_eq!(orphan.len(), 2);
    // One node alone is a graph.
    assert!(codes("g.json", &graph(&noop("a"), "")).is_empty());
    let entry = graph(&noop("a"), "").replace("\"edges\"", "\"entry\":\"b\",\"edges\"");
    assert_eq!(codes("g.json", &entry), ["GR-007"]);
    let catalog = Catalog::default()
        .tool("search", ToolMode::FunctionCall)
        .tool("fetch", ToolMode::Standalone);
    let tools = graph(
        r#"{"id":"a","type":"search"},{"id":"b","type":"fetch"}"#,
        &edge("a", "b"),
    );
    let errors = Source::new("g.json", tools)
        .check(&catalog)
        .expect_err("models call `search`");
    assert_eq!(
        errors.iter().map(|it| it.code).collect::<Vec<_>>(),
        [Code::ToolNotStandalone]
    );
}

#[test]
fn p197_the_kind_and_the_version_of_the_format_are_checked() {
    for (text, is_right) in [
        (r#""kind":"graph","schema_version":"1.2.3-beta.1+x""#, true),
        (r#""kind":"graph","schema_version":"2.0.0""#, false),
        (r#""kind":"graph","schema_version":"1.0""#, false),
        (r#""kind":"graph","schema_version":"v1.0.0""#, false),
        (r#""kind":"tree""#, false),
        (r#""kind":7"#, false),
    ] {
        let found = codes(
            "g.json",
            &format!(r#"{{"id":"g","version":"1",{text},"nodes":[],"edges":[]}}"#),
        );
        assert_eq!(
            found,
            if is_right { vec![] } else { vec!["GR-010"] },
            "{text}"
        );
    }
}

#[test]
fn p198_each_rule_of_conditional_nodes_has_its_code() {
    let node = |config: &str| {
        format!(
            r#"{{"id":"c","type":"conditional","config":{config}}},{{"id":"yes","type":"noop"}}"#
        )
    };
    let leads = edge("c", "yes").replace("\"output\"", "\"yes\"");
    for (expected, config) in [
        (
            vec![],
            r#"{"conditions":[{"name":"yes","expression":"a > 1"}],"default":"yes"}"#,
        ),
        (
            vec!["CN-001"],
            r#"{"conditions":[{"name":"no","expression":"a"}],"default":"yes"}"#,
        ),
        (
            vec!["CN-003"],
            r#"{"conditions":[{"name":"yes","expression":"a"}]}"#,
        ),
        (
            vec!["CN-004"],
            r#"{"conditions":[{"name":"yes","expression":"a >"}],"default":"yes"}"#,
        ),
        (
            vec!["CN-001", "CN-005"],
            r#"{"conditions":[{"name":"error","expression":"a"}],"default":"yes"}"#,
        ),
        (vec!["CN-006"], r#"{"conditions":[],"default":"yes"}"#),
        (vec!["CN-006"], r#"{"conditions":"a","default":"yes"}"#),
        (vec!["CN-006"], r#"{"default":"yes"}"#),
    ] {
        assert_eq!(
            codes("g.json", &graph(&node(config), &leads)),
            expected,
            "{config}"
        );
    }
}

/// A definition with a cycle is an error. A graph that a program builds may have cycles.
#[test]
fn p199_a_cycle_is_an_error_that_names_its_nodes() {
    let nodes: Vec<String> = ["a", "b", "c", "d"]
        .map(|id| format!(r#"{{"id":"{id}","type":"noop"}}"#))
        .into();
    let edges = [
        edge("a", "b"),
        edge("b", "c"),
        edge("c", "b"),
        edge("c", "d"),
    ]
    .join(",");
    let (_, diagnostics) = inspect("g.json", &graph(&nodes.join(","), &edges));
    let message = &diagnostics.iter().next().expect("there is a cycle").message;
    assert!(
        ["`b` -> `c` -> `b`", "`c` -> `b` -> `c`"]
            .iter()
            .any(|cycle| message.ends_with(cycle)),
        "{message}"
    );
}

#[test]
fn p200_the_entry_is_the_first_node_without_an_edge_to_it_or_the_first() {
    let entry = |nodes: &[&str], edges: &[(&str, &str)], entry: &str| {
        let nodes: Vec<Value> = nodes
            .iter()
            .map(|id| json!({ "id": id, "type": "noop" }))
            .collect();
        let edges: Vec<Value> = edges
            .iter()
            .map(|(a, b)| json!({ "source": a, "target": b }))
            .collect();
        let value = json!({ "id": "g", "nodes": nodes, "edges": edges, "entry": entry });
        let graph: GraphDefinition = serde_json::from_value(value).expect("it is a definition");
        graph.entry().map(str::to_owned)
    };
    assert_eq!(entry(&["b", "a"], &[("a", "b")], "").as_deref(), Some("a"));
    assert_eq!(
        entry(&["b", "a"], &[("a", "b"), ("b", "a")], "").as_deref(),
        Some("b")
    );
    assert_eq!(entry(&["b", "a"], &[("a", "b")], "b").as_deref(), Some("b"));
    assert_eq!(entry(&[], &[], ""), None);
}

#[test]
fn p201_documents_are_told_apart_by_kind_or_else_by_their_fields() {
    let agents = |text: &str| matches!(inspect("d.json", text).0, Some(Definition::Agents(_)));
    let graph = |text: &str| matches!(inspect("d.json", text).0, Some(Definition::Graph(_)));
    assert!(agents(r#"{"kind":"agent_workflow","nodes":[]}"#));
    assert!(agents(r#"{"kind":"agent-workflow"}"#));
    assert!(agents(r#"{"agents":{},"tasks":{}}"#));
    assert!(graph(r#"{"kind":"graph","agents":{}}"#));
    assert!(graph(r#"{"nodes":[],"edges":[]}"#));
    assert_eq!(codes("d.json", r#"{"foo":"bar"}"#), ["DC-004"]);
    assert_eq!(codes("d.json", "[]"), ["DC-004"]);
    // Without a version the document is one of before versions.
    let legacy = r#"{"id":"g","version":"1","nodes":[],"edges":[]}"#;
    assert!(matches!(definition("d.json", legacy), Definition::Graph(_)));
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn settings_are_checked_with_the_types_of_the_nodes() {
    let config = |kind: &str, config: &str| {
        let text = graph(
            &format!(r#"{{"id":"a","type":"{kind}","config":{config}}}"#),
            "",
        );
        let (_, diagnostics) = inspect("g.json", &text);
        diagnostics
            .iter()
            .map(|it| format!("{} {} {}", it.code, it.pointer, it.message))
            .collect::<Vec<_>>()
    };
    for (kind, settings, expected) in [
        (
            "transform",
            "{}",
            vec!["DC-006 /nodes/0/config/transform `transform` is missing"],
        ),
        (
            "transform",
            r#"{"transform":"pik"}"#,
            vec![
                "DC-007 /nodes/0/config/transform `pik` is not one of `pick`, `omit`, `rename`, `flatten`, `merge`, `template`, `stringify`, `parse`, `map`; did you mean `pick`?",
            ],
        ),
        (
            "transform",
            r#"{"transform":"template","template":7,"output_var":"x"}"#,
            vec![
                "DC-007 /nodes/0/config/template expected a text, not the number 7: put it in quotes",
            ],
        ),
        (
            "transform",
            r#"{"transform":"template","template":"{{name}}","output_var":"x"}"#,
            vec![
                "DC-008 /nodes/0/config/template node `a`: the template is wrong at position 2: there is no function `name`: a variable is written `{{.name}}`",
            ],
        ),
        (
            "human",
            r#"{"prompt":"Send it, {{.name}}?","prompt_template":"{{.name}}"}"#,
            vec![
                "DC-009 /nodes/0/config/prompt node `a`: `prompt` is not a template, so people see its `{{`; write `prompt_template` instead",
            ],
        ),
        (
            "llm_prompt",
            r#"{"max_tokens":-1,"temperature":"hot"}"#,
            vec![
                "DC-007 /nodes/0/config/max_tokens expected a number from 0 to 4294967295",
                "DC-007 /nodes/0/config/temperature expected a number, not `hot`",
            ],
        ),
        (
            "llm_prompt",
            r#"{"timeout":"30s","max_tokens":5.0,"retry":{"backoff":2}}"#,
            vec![],
        ),
        (
            "llm_prompt",
            r#"{"timeout":[1]}"#,
            vec!["DC-007 /nodes/0/config/timeout expected a number or a text, not a list"],
        ),
        ("merge", "{}", vec![]),
        ("merge", r#"{"strategy":"json"}"#, vec![]),
        (
            "guardian",
            r#"{"checks":[{"type":"required"},{"type":"requird"}]}"#,
            vec![
                "DC-007 /nodes/0/config/checks/1/type `requird` is not one of `required`, `max_length`, `min_length`, `pattern`, `enum`, `type`, `range`, `pii`, `schema`; did you mean `required`?",
            ],
        ),
        (
            "map",
            r#"{"input_var":"l"}"#,
            vec![
                "DC-006 /nodes/0/config/mapper_binding `mapper_binding` is missing: it is the node that `map` runs, `{\"type\": .., \"config\": ..}`",
            ],
        ),
        (
            "map",
            r#"{"input_var":"l","mapper_binding":{"type":"transform","config":{"transform":"pick"}}}"#,
            vec![
                "DC-006 /nodes/0/config/mapper_binding/config/input_var `input_var` is missing",
                "DC-006 /nodes/0/config/mapper_binding/config/fields `fields` is missing",
                "DC-006 /nodes/0/config/mapper_binding/config/output_var `output_var` is missing",
            ],
        ),
        (
            "cache",
            r#"{"wrapped_binding":{"type":"merge"}}"#,
            vec![
                "DC-007 /nodes/0/config/wrapped_binding/type `merge` is not a node type that `cache` can run",
            ],
        ),
    ] {
        let mut found = config(kind, settings);
        let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{kind} {settings}");
    }
}

#[test]
fn settings_that_a_check_has_read_are_those_of_the_node() {
    let text = r#"{ "id": "g", "version": "1", "kind": "graph",
      "nodes": [
        { "id": "a", "type": "transform", "config": { "transform": "template", "template": "{{.x}}", "output_var": "y" } },
        { "id": "b", "type": "merge" },
        { "id": "c", "type": "cache", "config": { "cache_key": "{{.y}}", "wrapped_binding": { "type": "noop" } } }
      ],
      "edges": [{ "source": "a", "target": "b" }, { "source": "b", "target": "c" }] }"#;
    let catalog = Catalog::default();
    let source = Source::new("g.json", text);
    let read = source.read_graph(&catalog).expect("it is right");
    let document = source.check(&catalog).expect("it is right");
    assert_eq!(read.definition, document.graph(&catalog));
    let nodes = read.definition.nodes.iter();
    let settings: Vec<_> = nodes.map(NodeDefinition::settings).collect();
    assert_eq!(read.settings, settings);
    assert_eq!(settings[0]["template"], "{{.x}}");
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of cases")]
fn p206_settings_of_a_wrong_form_are_reported_at_their_place() {
    for (kind, settings, place, message) in [
        (
            "llm_prompt",
            json!({ "timeout": "5x" }),
            "timeout",
            "a duration is",
        ),
        (
            "llm_prompt",
            json!({ "timeout": -5 }),
            "timeout",
            "a duration is",
        ),
        (
            "llm_prompt",
            json!({ "timeout": "30" }),
            "timeout",
            "a duration is",
        ),
        (
            "llm_prompt",
            json!({ "timeout": "-5s" }),
            "timeout",
            "a duration is",
        ),
        (
            "llm_prompt",
            json!({ "retry": { "backoff": "soon" } }),
            "retry/backoff",
            "a duration is",
        ),
        (
            "webhook_trigger",
            json!({ "methods": ["POST", "FOO BAR"] }),
            "methods/1",
            "`FOO BAR` is not an HTTP method",
        ),
        (
            "webhook_call",
            json!({ "url": "https://x.test", "method": "GE T" }),
            "method",
            "`GE T` is not an HTTP method",
        ),
        (
            "webhook_call",
            json!({ "url": "ftp://x.test" }),
            "url",
            "the address does not begin with `http://`",
        ),
        (
            "webhook_call",
            json!({ "url": " " }),
            "url",
            "`url` is empty",
        ),
        (
            "webhook_call",
            json!({ "url": "https://x.test", "headers": { "X-Ok": "1", "X Y": "1" } }),
            "headers/X Y",
            "`X Y` is not the name of an HTTP header",
        ),
        (
            "webhook_call",
            json!({ "url": "https://x.test", "headers": { "X-Y": "a\r\nb" } }),
            "headers/X-Y",
            "the value of a header",
        ),
        (
            "webhook_trigger",
            json!({ "methods": [] }),
            "methods",
            "`methods` is empty",
        ),
        (
            "webhook_trigger",
            json!({ "auth": { "type": "header_token", "header": "X Y", "token": "t" } }),
            "auth/header",
            "`X Y` is not the name of an HTTP header",
        ),
        (
            "webhook_trigger",
            json!({ "auth": { "type": "header_token", "token": " " } }),
            "auth/token",
            "the token is empty",
        ),
        (
            "webhook_trigger",
            json!({ "auth": { "type": "stripe_signature", "secret": "env:" } }),
            "auth/secret",
            "the secret is empty",
        ),
        (
            "human",
            json!({ "output_var": "r", "mode": "choice" }),
            "options",
            "a choice needs `options`",
        ),
        (
            "human",
            json!({ "output_var": "r", "options": [{ "id": "yes" }, { "id": "no" }, { "id": "yes" }] }),
            "options/2/id",
            "two options have the id `yes`",
        ),
        (
            "human",
            json!({ "output_var": "r", "mode": "choice", "options": [{ "id": "yes" }, { "id": "no" }],
                "default_option": "yess" }),
            "default_option",
            "`yess` is not one of the options; did you mean `yes`?",
        ),
        (
            "guardian",
            json!({ "checks": [{ "type": "pattern", "field": "x", "pattern": "(" }] }),
            "checks/0/pattern",
            "`(` is not a regular expression",
        ),
        (
            "filter",
            json!({ "filters": [{ "type": "match", "field": "x", "pattern": "[" }] }),
            "filters/0/pattern",
            "`[` is not a regular expression",
        ),
        (
            "cache",
            json!({ "wrapped_binding": { "type": "llm_prompt", "config": { "timeout": "1q" } } }),
            "wrapped_binding/config/timeout",
            "a duration is",
        ),
    ] {
        let node = json!({ "id": "a", "type": kind, "config": settings }).to_string();
        let (_, diagnostics) = inspect("g.json", &graph(&node, ""));
        let found: Vec<_> = diagnostics.errors().collect();
        assert_eq!(found.len(), 1, "{settings}: {diagnostics}");
        assert_eq!(found[0].code, Code::WrongValue);
        assert_eq!(found[0].pointer, format!("/nodes/0/config/{place}"));
        assert!(
            found[0].position.is_some() && found[0].message.starts_with(message),
            "{diagnostics}"
        );
    }
    // A check of another type does not use its pattern.
    let unused = r#"{"id":"a","type":"guardian","config":{"checks":[{"type":"required","field":"x","pattern":"("}]}}"#;
    assert!(codes("g.json", &graph(unused, "")).is_empty());
}
