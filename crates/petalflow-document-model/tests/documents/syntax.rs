//! JSON and YAML, row P202.

use petalflow_document_model::documents::{Definition, Position};

use super::support::{codes, definition, inspect};

#[test]
fn p202_yaml_and_json_of_the_same_workflow_are_the_same_definition() {
    let yaml = r"
version: '1.0'
kind: agent_workflow
id: w
name: W
agents:
  a: &agent { role: R, goal: G, provider: openai, model: m, config: { temperature: 0.5, max_tokens: 0x10 } }
  b:
    <<: *agent
    role: S
tasks:
  t:
    description: >
      Two
      lines.
    agent: a
    expected_output: |
      E
execution: { strategy: parallel }
";
    let json = r#"{
  "version": "1.0", "kind": "agent_workflow", "id": "w", "name": "W",
  "agents": {
    "a": { "role": "R", "goal": "G", "provider": "openai", "model": "m", "config": { "temperature": 0.5, "max_tokens": 16 } },
    "b": { "role": "S", "goal": "G", "provider": "openai", "model": "m", "config": { "temperature": 0.5, "max_tokens": 16 } }
  },
  "tasks": { "t": { "description": "Two lines.\n", "agent": "a", "expected_output": "E\n" } },
  "execution": { "strategy": "parallel" }
}"#;
    let definition_of = |name: &str, text: &str| match definition(name, text) {
        Definition::Agents(workflow) => workflow,
        Definition::Graph(_) => panic!("it is a workflow"),
    };
    assert_eq!(definition_of("w.yaml", yaml), definition_of("w.json", json));
    assert_eq!(definition_of("w.YML", yaml), definition_of("w", json));
}

#[test]
fn wrong_syntax_says_where() {
    for (name, text, line, column) in [
        ("g.json", "{\n  \"id\": }", 2, 9),
        ("g.json", "{\"id\": \"a\",}", 1, 12),
        ("g.json", "{\"id\": 'a'}", 1, 8),
        ("g.json", "{} {}", 1, 4),
        ("g.json", "// no\n{}", 1, 1),
        ("g.json", "", 1, 1),
        ("g.yaml", "", 1, 1),
        ("g.yaml", "a: [1, 2", 1, 4),
        ("g.yaml", "a: *b", 1, 4),
        ("g.yaml", "a: 1\n---\nb: 2", 2, 1),
        ("g.yaml", "a: !thing 1", 1, 11),
    ] {
        let (none, diagnostics) = inspect(name, text);
        assert!(none.is_none(), "{text}");
        let diagnostic = diagnostics.iter().next().expect("it is wrong");
        assert_eq!(diagnostic.code.as_str(), "DC-001", "{text}: {diagnostic}");
        let position = diagnostic.position.expect("it has a place");
        assert_eq!(position.line, line, "{text}: {diagnostic}");
        assert!(
            position.column.abs_diff(column) <= 2,
            "{text}: {diagnostic}"
        );
    }
}

#[test]
fn places_count_characters_and_names_with_slashes_are_found() {
    let text = "{\"id\": \"ü\", \"version\": \"1\", \"é/~\": 1, \"nodes\": [], \"edges\": []}";
    let (_, diagnostics) = inspect("g.json", text);
    let diagnostic = diagnostics.iter().next().expect("a field is unknown");
    assert_eq!(
        diagnostic.position,
        Some(Position {
            line: 1,
            column: 29
        })
    );
    assert_eq!(diagnostic.pointer, "/é~1~0");
}

#[test]
fn scalars_of_yaml_follow_its_core_schema() {
    let graph = |value: &str| format!("id: g\nversion: {value}\nnodes: []\nedges: []\n");
    for text in [
        "'1.0'",
        "1.0.0",
        "yes",
        "2024-01-01",
        "!!str 1",
        "0x",
        "1e",
        ".",
        "nan",
    ] {
        assert!(codes("g.yaml", &graph(text)).is_empty(), "{text}");
    }
    for number in ["1", "1.0", "0x1f", "0o17", "+.5", "1e3", "true", "-12."] {
        assert_eq!(codes("g.yaml", &graph(number)), ["DC-007"], "{number}");
    }
}
