//! Documents that try to use up time or memory.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::program::{file, folder, petalflow, run_program};

/// Far more than any of them takes, on a machine that does other things too.
const LONGEST: Duration = Duration::from_mins(1);

/// Hostile texts, each with its name and the code of the expected error.
fn texts() -> Vec<(&'static str, String, &'static str)> {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (name, before) in ('b'..='j').zip('a'..='i') {
        let _ = writeln!(
            bomb,
            "{name}: &{name} [{}]",
            vec![format!("*{before}"); 10].join(", ")
        );
    }
    vec![
        (
            "deep.json",
            format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
            "DC-003",
        ),
        (
            "deep.yaml",
            format!("nodes: {}", "[".repeat(50_000)),
            "DC-00",
        ),
        (
            "huge.json",
            format!("{{\"id\": \"{}\"}}", "x".repeat(5 << 20)),
            "DC-003",
        ),
        // The limit is within a character.
        ("wide.json", "é".repeat(5 << 20), "DC-003"),
        ("bomb.yaml", bomb, "DC-003"),
        ("self.yaml", "a: &a [*a]\n".into(), "DC-00"),
        (
            "numbers.json",
            r#"{"id": "g", "nodes": 1e999999999999, "edges": []}"#.into(),
            "DC-00",
        ),
        ("bytes.json", "\u{0}\u{0}\u{0}".into(), "DC-001"),
        ("empty.json", String::new(), "DC-001"),
        (
            "unknown.json",
            r#"{"id": "g", "version": "1", "nodes": [], "edges": [], "colour": {"a": [1]}}"#.into(),
            "DC-005",
        ),
        (
            "expression.yaml",
            format!(
                "id: g\nversion: '1'\nnodes:\n  - {{ id: a, type: conditional, config: {{ conditions: [{{ name: x, expression: '{}x' }}] }} }}\nedges: []\n",
                "(".repeat(20_000)
            ),
            "CN-004",
        ),
    ]
}

#[test]
fn p209_hostile_documents_are_refused_in_bounded_time() {
    let folder = folder();
    for (name, text, code) in texts() {
        let path = file(&folder, name, &text);
        for command in [&["validate"][..], &["run"], &["graph"]] {
            let start = Instant::now();
            let ran = run_program(command.iter().copied().chain([path.as_str()])).code(1);
            assert!(
                start.elapsed() < LONGEST,
                "{command:?} of {name} took {:?}",
                start.elapsed()
            );
            let output = format!("{}{}", ran.out, ran.err);
            assert!(
                output.contains(code) && output.len() < 200_000,
                "{command:?} of {name}: {output:.2000}"
            );
        }
    }
}

#[test]
fn p209_hostile_conversations_are_refused_in_bounded_time() {
    let folder = folder();
    let functions: Vec<String> = (0..2_000)
        .map(|n| format!(r#"{{"name": "f{n}", "transition_to": "n{n}"}}"#))
        .collect();
    let text = format!(
        r#"{{"initial_node": "a", "nodes": {{"a": {{"task_messages": [], "functions": [{}]}}}}}}"#,
        functions.join(",")
    );
    let path = file(&folder, "many.json", &text);
    let start = Instant::now();
    let ran = petalflow!("validate {path}").code(1);
    assert!(
        start.elapsed() < LONGEST && ran.out.lines().count() == 2_000,
        "{:?}",
        start.elapsed()
    );
    let start = Instant::now();
    petalflow!("chat {path}").code(1);
    assert!(start.elapsed() < LONGEST);
}

/// The work of the checks is limited, so the command ends.
#[test]
fn p209_a_graph_of_250_nodes_with_all_forward_edges_is_checked() {
    let folder = folder();
    let nodes: Vec<String> = (0..250)
        .map(|n| format!(r#"{{"id": "n{n}", "type": "noop"}}"#))
        .collect();
    let edges: Vec<String> = (0..250)
        .flat_map(|from| (from + 1..250).map(move |to| (from, to)))
        .map(|(from, to)| format!(r#"{{"source": "n{from}", "target": "n{to}"}}"#))
        .collect();
    let text = format!(
        r#"{{"id": "dense", "version": "1", "kind": "graph", "nodes": [{}], "edges": [{}]}}"#,
        nodes.join(","),
        edges.join(",")
    );
    assert!(text.len() > 1_000_000, "{}", text.len());
    let path = file(&folder, "dense.graph.json", &text);
    petalflow!("validate {path}").code(0);
}

#[test]
fn p209_a_large_graph_is_checked_drawn_and_run() {
    let folder = folder();
    let nodes: Vec<String> = (0..500)
        .map(|n| format!(r#"{{"id": "n{n}", "type": "noop"}}"#))
        .collect();
    let edges: Vec<String> = (1..500)
        .map(|n| format!(r#"{{"source": "n{}", "target": "n{n}"}}"#, n - 1))
        .collect();
    let text = format!(
        r#"{{"id": "g", "version": "1", "nodes": [{}], "edges": [{}]}}"#,
        nodes.join(","),
        edges.join(",")
    );
    let path = file(&folder, "large.json", &text);
    for command in ["validate", "graph", "run"] {
        let start = Instant::now();
        petalflow!("{command} {path}").code(0);
        assert!(
            start.elapsed() < LONGEST,
            "{command} took {:?}",
            start.elapsed()
        );
    }
}

#[test]
fn p209_hostile_input_and_scripts_are_refused() {
    let folder = folder();
    let graph = crate::program::document("greeting.graph.json");
    let deep = file(&folder, "deep.json", &"[".repeat(100_000));
    petalflow!("run {graph} -f {deep}").code(4);
    petalflow!("run {graph} --envelope {deep}").code(4);
    run_program([
        "run",
        &graph,
        "-i",
        &format!("{{\"a\": {}", "[".repeat(100_000)),
    ])
    .code(4);
    run_program([
        "chat",
        &crate::program::document("food_order.json"),
        "--script",
        &deep,
    ])
    .code(4);
    petalflow!("run /dev/null").code(1);
    petalflow!("run /").code(3);
}

#[test]
fn p209_a_file_that_is_not_utf_8_is_named_with_a_hint() {
    let folder = folder();
    let path = crate::program::path(&folder, "utf16.json");
    let text: Vec<u8> = "\u{feff}{}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    std::fs::write(&path, text).expect("the folder can be written");
    let ran = petalflow!("run {path}").code(3);
    assert!(
        ran.err.contains("cannot be read") && ran.err.contains("UTF-8: save the file"),
        "{}",
        ran.err
    );
}

#[test]
fn p209_json_on_stdin_may_begin_with_a_mark_of_its_byte_order() {
    let graph = "\u{feff}{\n\t\"id\": \"g\", \"version\": \"1\", \"nodes\": [{ \"id\": \"a\", \"type\": \"noop\" }], \"edges\": []}";
    crate::program::run_with_input(graph, ["validate", "-"]).code(0);
}
