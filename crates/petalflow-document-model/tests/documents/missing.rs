//! Variables that may be missing when a template is filled.

use crate::documents::support::{edge, graph, inspect};

fn node(id: &str, template: &str) -> String {
    format!(
        r#"{{"id":"{id}","type":"transform","config":{{"transform":"template","template":"{template}","output_var":"{id}_text"}}}}"#
    )
}

/// A conditional node with the choices `long` and `short`.
const CHOICE: &str = r#"{"id":"choose","type":"conditional","config":{"conditions":[{"name":"long","expression":"n > 10"}],"default":"short"}}"#;

fn when(choice: &str, target: &str) -> String {
    format!(
        r#"{{"source":"choose","sourceHandle":"{choice}","target":"{target}","targetHandle":"input"}}"#
    )
}

fn found(nodes: &[String], edges: &[String]) -> Vec<String> {
    let (_, found) = inspect("g.json", &graph(&nodes.join(","), &edges.join(",")));
    let lines = found
        .iter()
        .map(|it| format!("{} {} {}", it.code, it.pointer, it.message));
    lines.collect()
}

fn warning(index: usize, node: &str, name: &str, writer: &str) -> String {
    format!(
        "DC-010 /nodes/{index}/config/template node `{node}`: `{name}` may be missing here, because node `{writer}`, which writes it, \
         does not run on each way to it; write `{{{{.{name} | default \"..\"}}}}`, or give the node `missing: empty`"
    )
}

#[test]
fn f45_a_variable_that_only_one_choice_writes_may_be_missing() {
    let nodes = |template: &str| {
        [
            CHOICE.to_owned(),
            node("cut", "{{.text}}"),
            node("keep", "all"),
            node("send", template),
        ]
    };
    let edges = [
        when("long", "cut"),
        when("short", "keep"),
        edge("cut", "send"),
        edge("keep", "send"),
    ];
    let expected = warning(3, "send", "cut_text", "cut");
    assert_eq!(
        found(&nodes("{{.cut_text}}"), &edges),
        std::slice::from_ref(&expected)
    );
    assert_eq!(found(&nodes("{{$.cut_text | upper}}"), &edges), [expected]);
    // What asks for the value before it uses it, and what only the input can have.
    for template in [
        "{{if .cut_text}}{{.cut_text}}{{end}}",
        "{{if and .cut_text .other}}{{.cut_text}}{{end}}",
        "{{with .cut_text}}{{.}}{{end}}",
        "{{.cut_text | default 1}}",
        "{{coalesce .cut_text .keep_text}}",
        "{{range .cut_text}}{{.cut_text}}{{end}}",
        "{{.question}}",
        "no action",
    ] {
        assert_eq!(found(&nodes(template), &edges), [""; 0], "{template}");
    }
    // `missing: empty` is a choice for an empty text. `no_value` is what PetalFlow does, and is often not meant.
    for (missing, warnings) in [("empty", 0), ("no_value", 1), ("error", 1)] {
        let mut nodes = nodes("{{.cut_text}}");
        nodes[3] = nodes[3].replace(
            "\"output_var\"",
            &format!("\"missing\":\"{missing}\",\"output_var\""),
        );
        assert_eq!(found(&nodes, &edges).len(), warnings, "{missing}");
    }
}

#[test]
fn f45_a_variable_that_each_way_writes_is_there() {
    // Both choices write it.
    let same = |id: &str| node(id, "x").replace(&format!("{id}_text"), "text");
    let nodes = [
        CHOICE.to_owned(),
        same("a"),
        same("b"),
        node("send", "{{.text}}"),
    ];
    let edges = [
        when("long", "a"),
        when("short", "b"),
        edge("a", "send"),
        edge("b", "send"),
    ];
    assert_eq!(found(&nodes, &edges), [""; 0]);
    // Branches that are not chosen all run.
    let nodes = [
        node("first", "x"),
        node("a", "x"),
        node("b", "x"),
        node("send", "{{.a_text}} {{.b_text}}"),
    ];
    let edges = [
        edge("first", "a"),
        edge("first", "b"),
        edge("a", "send"),
        edge("b", "send"),
    ];
    assert_eq!(found(&nodes, &edges), [""; 0]);
    // The reader needs the same choice as the writer.
    let nodes = [
        CHOICE.to_owned(),
        node("a", "x"),
        node("b", "{{.a_text}}"),
        node("c", "{{.b_text}}"),
    ];
    let edges = [when("long", "a"), when("short", "c"), edge("a", "b")];
    assert_eq!(found(&nodes, &edges), [""; 0]);
    // Written before the choice.
    let nodes = [
        node("first", "x"),
        CHOICE.to_owned(),
        node("a", "{{.first_text}}"),
        node("b", "{{.first_text}}"),
    ];
    let edges = [
        edge("first", "choose"),
        when("long", "a"),
        when("short", "b"),
    ];
    assert_eq!(found(&nodes, &edges), [""; 0]);
}

#[test]
fn f45_a_way_around_a_writer_is_found() {
    // The choice `short` leads past the writer.
    let nodes = [
        CHOICE.to_owned(),
        node("cut", "x"),
        node("send", "{{.cut_text}}"),
    ];
    let edges = [
        when("long", "cut"),
        when("short", "send"),
        edge("cut", "send"),
    ];
    assert_eq!(
        found(&nodes, &edges),
        [warning(2, "send", "cut_text", "cut")]
    );
}
