//! Documents that try to use much time or memory.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use petalflow_documents::{Catalog, Source};
use proptest::prelude::*;

use super::kit::{codes, edge, graph};

/// The codes, and an error if it takes long. The machine of the test may be busy.
fn quick(name: &str, text: &str) -> Vec<&'static str> {
    let start = Instant::now();
    let codes = codes(name, text);
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{} bytes took {:?}",
        text.len(),
        start.elapsed()
    );
    codes
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [65, 1_000, 500_000] {
        assert_eq!(quick("g.json", &"[".repeat(depth)), ["DC-003"]);
        assert_eq!(
            quick("g.json", &"{\"a\":".repeat(depth.min(300_000))),
            ["DC-003"]
        );
    }
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(10_000),
        "- ".repeat(100_000),
    ] {
        let found = quick("g.yaml", &text);
        assert!(found == ["DC-003"] || found == ["DC-001"], "{found:?}");
    }
    let mut indented = String::new();
    for level in 0..100 {
        let _ = writeln!(indented, "{}a:", " ".repeat(level));
    }
    assert_eq!(quick("g.yaml", &indented), ["DC-003"]);
}

#[test]
fn bombs_of_aliases_are_refused() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let previous = format!("*a{}, ", level - 1).repeat(10);
        let _ = writeln!(
            text,
            "a{level}: &a{level} [{}]",
            previous.trim_end_matches(", ")
        );
    }
    assert_eq!(quick("g.yaml", &text), ["DC-003"]);
    // Deep rather than wide.
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..200 {
        let _ = writeln!(text, "a{level}: &a{level} [*a{}]", level - 1);
    }
    assert_eq!(quick("g.yaml", &text), ["DC-003"]);
    // Through merge keys.
    let mut text = String::from("a0: &a0 {k: v}\n");
    for level in 1..60 {
        let _ = writeln!(
            text,
            "a{level}: &a{level} {{<<: [*a{0}, *a{0}], k{level}: v}}",
            level - 1
        );
    }
    assert!(!quick("g.yaml", &text).is_empty());
    assert_eq!(quick("g.yaml", "a: &a [*a]"), ["DC-001"]);
    assert_eq!(quick("g.yaml", "&a a: {<<: *a}"), ["DC-001"]);
}

#[test]
fn huge_numbers_and_documents_are_refused() {
    for number in ["1e999", "-1e999", "123456789012345678901234567890"] {
        assert_eq!(
            quick("g.json", &format!("{{\"id\": {number}}}")),
            ["DC-007"]
        );
        assert_eq!(quick("g.yaml", &format!("id: {number}")), ["DC-007"]);
    }
    assert_eq!(
        quick("g.json", &format!("{{\"id\": {}}}", "9".repeat(1_000_000))),
        ["DC-007"]
    );
    assert_eq!(quick("g.json", &" ".repeat(3 << 20)), ["DC-003"]);
    assert_eq!(
        quick("g.json", &format!("[{}0]", "0,".repeat(500_000))),
        ["DC-003"]
    );
}

#[test]
fn names_that_occur_twice_are_errors() {
    let text = r#"{"id": "g", "version": "1", "nodes": [], "edges": [], "id": "h"}"#;
    assert_eq!(quick("g.json", text), ["DC-002"]);
    assert_eq!(
        quick(
            "g.yaml",
            "id: g\nversion: '1'\nnodes: []\nedges: []\nid: h\n"
        ),
        ["DC-002"]
    );
    let nested = graph(
        r#"{"id":"a","type":"noop","config":{"x":{"y":1,"y":2}}}"#,
        "",
    );
    assert!(quick("g.json", &nested).contains(&"DC-002"));
}

#[test]
fn patterns_expressions_and_templates_are_limited() {
    let condition = |expression: &str| {
        let expression = serde_json::Value::from(expression);
        let node = format!(
            r#"{{"id":"c","type":"conditional","config":{{"default":"y","conditions":[{{"name":"y","expression":{expression}}}]}}}},{{"id":"y","type":"noop"}}"#
        );
        graph(&node, &edge("c", "y"))
    };
    assert_eq!(
        quick("g.json", &condition("a matches \"(a{1000}){1000}\"")),
        ["CN-004"]
    );
    assert_eq!(
        quick("g.json", &condition(&"(".repeat(100_000))),
        ["CN-004"]
    );
    assert_eq!(
        quick("g.json", &condition(&"!".repeat(100_000))),
        ["CN-004"]
    );
    // Matching takes time in proportion to the text, whatever the pattern.
    assert!(quick("g.json", &condition("a matches \"^(a+)+$\"")).is_empty());
    let template = "{{if .a}}".repeat(20_000);
    let node = format!(
        r#"{{"id":"a","type":"transform","config":{{"transform":"template","template":"{template}","output_var":"x"}}}}"#
    );
    assert_eq!(quick("g.json", &graph(&node, "")), ["DC-008"]);
    let mut nested = String::from(r#"{"type":"noop"}"#);
    for _ in 0..15 {
        nested =
            format!(r#"{{"type":"map","config":{{"input_var":"l","mapper_binding":{nested}}}}}"#);
    }
    let node = nested.replacen('{', "{\"id\":\"a\",", 1);
    assert!(quick("g.json", &graph(&node, "")).contains(&"DC-007"));
}

#[test]
fn large_graphs_with_many_mistakes_take_little_time() {
    let nodes: Vec<String> = (0..10_000)
        .map(|n| format!(r#"{{"id":"n{n}","type":"noop"}}"#))
        .collect();
    let ring: Vec<String> = (0..10_000)
        .map(|n| edge(&format!("n{n}"), &format!("n{}", (n + 1) % 10_000)))
        .collect();
    assert_eq!(
        quick("g.json", &graph(&nodes.join(","), &ring.join(","))),
        ["GR-004"]
    );
    let lost: Vec<String> = (0..10_000)
        .map(|n| edge(&format!("n{n}"), &format!("m{n}")))
        .collect();
    assert_eq!(
        quick("g.json", &graph(&nodes.join(","), &lost.join(","))).len(),
        10_000
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}", yaml in any::<bool>()) {
        let name = if yaml { "d.yaml" } else { "d.json" };
        let (_, diagnostics) = Source::new(name, text.clone()).inspect(&Catalog::default());
        for it in &diagnostics {
            let position = it.position.expect("a text has places");
            prop_assert!(position.line >= 1 && position.line <= text.len() + 1);
        }
    }

    #[test]
    fn any_change_of_a_document_is_read_or_refused(cut in 0_usize..600, byte in any::<char>()) {
        let text = include_str!("golden/review.yaml");
        let at = text.char_indices().map(|(index, _)| index).nth(cut % text.len()).unwrap_or(0);
        let changed = format!("{}{byte}{}", &text[..at], text[at..].chars().skip(1).collect::<String>());
        let (definition, diagnostics) = Source::new("d.yaml", changed).inspect(&Catalog::default());
        if !diagnostics.has_errors() {
            let graph = definition.expect("there is no error").graph(&Catalog::default());
            prop_assert!(graph.check(&Catalog::default()).errors().all(|it| it.code.as_str().starts_with("GR")));
        }
    }
}
