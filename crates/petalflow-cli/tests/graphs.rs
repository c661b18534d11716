//! `petalflow graph` and `petalflow convert`.

use serde_json::Value;

use crate::program::{document, folder, path, petalflow, run_program, run_with_input, test_data};

#[test]
fn p209_documents_are_drawn_in_three_languages() {
    let ran = petalflow!("graph review.graph.yaml").code(0);
    assert!(
        ran.out.starts_with("graph TD\n") && ran.out.contains("sign --> review"),
        "{}",
        ran.out
    );
    let ran = petalflow!("graph review.graph.yaml --format dot").code(0);
    assert!(
        ran.out.starts_with("digraph") && ran.out.contains("\"sign\" -> \"review\""),
        "{}",
        ran.out
    );
    let ran = petalflow!("graph review.graph.yaml --format svg").code(0);
    assert!(
        ran.out.starts_with("<svg") && ran.out.trim_end().ends_with("</svg>"),
        "{}",
        ran.out
    );
}

#[test]
fn p209_the_ending_of_the_file_chooses_the_language() {
    let folder = folder();
    for (name, start) in [
        ("a.svg", "<svg"),
        ("a.dot", "digraph"),
        ("a.md", "graph TD"),
    ] {
        let output = path(&folder, name);
        assert_eq!(
            petalflow!("graph research.agent.yaml -o {output}")
                .code(0)
                .out,
            ""
        );
        let drawn = std::fs::read_to_string(&output).expect("the drawing");
        assert!(drawn.starts_with(start), "{drawn}");
    }
}

#[test]
fn p209_conversations_are_drawn_with_their_functions() {
    let ran = petalflow!("graph food_order.json").code(0);
    for part in [
        "START --> start",
        "check_order",
        "ok",
        "sold_out",
        "--> END",
    ] {
        assert!(ran.out.contains(part), "{part} in {}", ran.out);
    }
    let ran = petalflow!("graph food_order.json --format dot").code(0);
    assert!(ran.out.starts_with("digraph"), "{}", ran.out);
    let ran = petalflow!("graph food_order.json --format svg").code(0);
    assert!(ran.out.starts_with("<svg"), "{}", ran.out);
}

#[test]
fn p209_a_drawing_needs_no_model_and_no_tool() {
    petalflow!("graph lookup.graph.yaml").code(0);
    petalflow!("graph research.agent.yaml").code(0);
    let webhook = r#"{ "id": "g", "version": "1", "nodes": [
        { "id": "a", "type": "webhook_call", "config": { "url": "https://example.com" } }, { "id": "b", "type": "noop" }],
        "edges": [{ "source": "a", "target": "b" }] }"#;
    let ran = run_with_input(webhook, ["graph", "-"]).code(0);
    assert!(ran.out.contains("a --> b"), "{}", ran.out);
    let ran = petalflow!("graph wrong.graph.json").code(1);
    assert!(ran.err.contains("GR-003"), "{}", ran.err);
}

#[test]
fn p209_conversations_are_converted() {
    let folder = folder();
    let editor = path(&folder, "order.json");
    petalflow!("convert old_order.json --to editor-json -o {editor}").code(0);
    petalflow!("validate {editor}").code(0);
    let written: Value =
        serde_json::from_str(&std::fs::read_to_string(&editor).expect("the document"))
            .expect("JSON");
    assert!(written["nodes"].is_array());
    let mut own = written;
    own["zoom"] = 2.into();
    own["nodes"][0]["position"]["x"] = 7.into();
    std::fs::write(&editor, own.to_string()).expect("the document");
    let ran = petalflow!("convert {editor} --to editor-json --strict").code(0);
    assert_eq!((ran.json(), ran.err.as_str()), (own, ""));
    let ran = petalflow!("convert {editor} --to config").code(0);
    assert_eq!(ran.json()["initial_node"], "start");
    assert!(ran.err.contains("dropped:"), "{}", ran.err);
    let ran = petalflow!("convert {editor} --to config --strict").code(1);
    assert_eq!(ran.out, "");
    petalflow!("convert greeting.graph.json --to editor-json").code(6);
}

/// The editor opens and saves the declarative form since September 2026.
#[test]
fn f45_the_document_of_the_editor_is_the_declarative_one() {
    let editor = petalflow!("convert old_order.json --to editor")
        .code(0)
        .json();
    let config = petalflow!("convert old_order.json --to config")
        .code(0)
        .json();
    assert_eq!(editor, config);
    assert_eq!(editor["initial_node"], "start");
    assert!(
        editor["nodes"]["start"]["task_messages"].is_array(),
        "{editor}"
    );
    let names: Vec<&String> = editor.as_object().expect("an object").keys().collect();
    assert!(
        names
            .iter()
            .all(|name| ["global_functions", "initial_node", "nodes"].contains(&name.as_str())),
        "{names:?}"
    );
}

#[test]
fn documents_are_written_as_yaml_to_files_of_yaml() {
    let folder = folder();
    let editor = path(&folder, "order.yaml");
    run_program([
        "convert",
        &document("old_order.json"),
        "--to",
        "editor-json",
        "-o",
        &editor,
    ])
    .code(0);
    let text = std::fs::read_to_string(&editor).expect("the document");
    assert!(!text.starts_with('{'), "{text}");
    run_program(["validate", "--strict", &editor]).code(0);
    let config = |file: &str| {
        run_program(["convert", file, "--to", "config"])
            .code(0)
            .json()
    };
    let json = path(&folder, "order.json");
    run_program(["convert", &editor, "--to", "editor-json", "-o", &json]).code(0);
    assert_eq!(config(&editor), config(&json));

    let graph = path(&folder, "research.yml");
    let agents = document("research.agent.yaml");
    run_program(["compile", &agents, "-o", &graph]).code(0);
    let text = std::fs::read_to_string(&graph).expect("the graph");
    assert!(!text.starts_with('{'), "{text}");
    run_program(["validate", &graph]).code(0);
    let drawn = |file: &str| run_program(["graph", file]).code(0).out;
    assert_eq!(drawn(&graph), drawn(&agents));
}

#[test]
fn p209_conversations_of_the_test_data_are_converted_and_drawn() {
    for name in [
        "editor/food_ordering.json",
        "declarative/insurance_quote.flow.yaml",
        "static-legacy/examples_food_ordering.json",
    ] {
        let Some(file) = test_data(&format!("pipecat/{name}")) else {
            continue;
        };
        let file = file.display().to_string();
        for to in ["config", "editor", "editor-json"] {
            let ran = petalflow!("convert {file} --to {to}").code(0);
            run_with_input(&ran.out, ["validate", "-"]).code(0);
        }
        let ran = petalflow!("graph {file}").code(0);
        assert!(ran.out.contains("START --> "), "{}", ran.out);
    }
}
