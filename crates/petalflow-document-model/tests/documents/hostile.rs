//! Documents that try to use much time or memory.

use std::fmt::Write as _;

use petalflow_document_model::documents::template::{MissingValue, Template, Variables};
use petalflow_document_model::documents::{Catalog, Source};
use proptest::prelude::*;
use serde_json::json;

use super::support::{edge, graph, inspect};

/// The codes of what is wrong. What the document makes is in proportion to it: there is a limit on the number of
/// diagnostics, and on the bytes of each.
fn codes_within_limits(name: &str, text: &str) -> Vec<&'static str> {
    let (_, diagnostics) = inspect(name, text);
    let mut codes = Vec::new();
    for it in &diagnostics {
        assert!(
            it.message.len() <= 1_000,
            "{} bytes: {:.100}",
            it.message.len(),
            it.message
        );
        assert!(
            it.pointer.len() <= 10_000,
            "{} bytes: {:.100}",
            it.pointer.len(),
            it.pointer
        );
        codes.push(it.code.as_str());
    }
    assert!(codes.len() <= 20_001, "{} diagnostics", codes.len());
    codes
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [65, 1_000, 500_000] {
        assert_eq!(
            codes_within_limits("g.json", &"[".repeat(depth)),
            ["DC-003"]
        );
        assert_eq!(
            codes_within_limits("g.json", &"{\"a\":".repeat(depth.min(300_000))),
            ["DC-003"]
        );
    }
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(10_000),
        "- ".repeat(100_000),
    ] {
        let found = codes_within_limits("g.yaml", &text);
        assert!(found == ["DC-003"] || found == ["DC-001"], "{found:?}");
    }
    let mut indented = String::new();
    for level in 0..100 {
        let _ = writeln!(indented, "{}a:", " ".repeat(level));
    }
    assert_eq!(codes_within_limits("g.yaml", &indented), ["DC-003"]);
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
    assert_eq!(codes_within_limits("g.yaml", &text), ["DC-003"]);
    // Deep rather than wide.
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..200 {
        let _ = writeln!(text, "a{level}: &a{level} [*a{}]", level - 1);
    }
    assert_eq!(codes_within_limits("g.yaml", &text), ["DC-003"]);
    // Through merge keys.
    let mut text = String::from("a0: &a0 {k: v}\n");
    for level in 1..60 {
        let _ = writeln!(
            text,
            "a{level}: &a{level} {{<<: [*a{0}, *a{0}], k{level}: v}}",
            level - 1
        );
    }
    assert!(!codes_within_limits("g.yaml", &text).is_empty());
    assert_eq!(codes_within_limits("g.yaml", "a: &a [*a]"), ["DC-001"]);
    assert_eq!(codes_within_limits("g.yaml", "&a a: {<<: *a}"), ["DC-001"]);
}

#[test]
fn huge_numbers_and_documents_are_refused() {
    for number in ["1e999", "-1e999", "123456789012345678901234567890"] {
        assert_eq!(
            codes_within_limits("g.json", &format!("{{\"id\": {number}}}")),
            ["DC-007"]
        );
        assert_eq!(
            codes_within_limits("g.yaml", &format!("id: {number}")),
            ["DC-007"]
        );
    }
    assert_eq!(
        codes_within_limits("g.json", &format!("{{\"id\": {}}}", "9".repeat(1_000_000))),
        ["DC-007"]
    );
    assert_eq!(
        codes_within_limits("g.json", &" ".repeat(3 << 20)),
        ["DC-003"]
    );
    assert_eq!(
        codes_within_limits("g.json", &format!("[{}0]", "0,".repeat(500_000))),
        ["DC-003"]
    );
}

#[test]
fn names_that_occur_twice_are_errors() {
    let text = r#"{"id": "g", "version": "1", "nodes": [], "edges": [], "id": "h"}"#;
    assert_eq!(codes_within_limits("g.json", text), ["DC-002"]);
    assert_eq!(
        codes_within_limits(
            "g.yaml",
            "id: g\nversion: '1'\nnodes: []\nedges: []\nid: h\n"
        ),
        ["DC-002"]
    );
    let nested = graph(
        r#"{"id":"a","type":"noop","config":{"x":{"y":1,"y":2}}}"#,
        "",
    );
    assert!(codes_within_limits("g.json", &nested).contains(&"DC-002"));
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
        codes_within_limits("g.json", &condition("a matches \"(a{1000}){1000}\"")),
        ["CN-004"]
    );
    assert_eq!(
        codes_within_limits("g.json", &condition(&"(".repeat(100_000))),
        ["CN-004"]
    );
    assert_eq!(
        codes_within_limits("g.json", &condition(&"!".repeat(100_000))),
        ["CN-004"]
    );
    // Matching takes time in proportion to the text, whatever the pattern.
    assert!(codes_within_limits("g.json", &condition("a matches \"^(a+)+$\"")).is_empty());
    let template = "{{if .a}}".repeat(20_000);
    let node = format!(
        r#"{{"id":"a","type":"transform","config":{{"transform":"template","template":"{template}","output_var":"x"}}}}"#
    );
    assert_eq!(codes_within_limits("g.json", &graph(&node, "")), ["DC-008"]);
    let mut nested = String::from(r#"{"type":"noop"}"#);
    for _ in 0..15 {
        nested =
            format!(r#"{{"type":"map","config":{{"input_var":"l","mapper_binding":{nested}}}}}"#);
    }
    let node = nested.replacen('{', "{\"id\":\"a\",", 1);
    assert!(codes_within_limits("g.json", &graph(&node, "")).contains(&"DC-007"));
}

#[test]
fn texts_that_aliases_repeat_are_counted_in_bytes() {
    // 250,000 values would be allowed, but each has half a megabyte.
    let text = format!(
        "a: &a \"{}\"\nb: [{}]\n",
        "x".repeat(500_000),
        "*a, ".repeat(200_000)
    );
    let (_, diagnostics) = inspect("g.yaml", &text);
    let found: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "g.yaml:2:61: error[DC-003]: the texts of the document have more than 8388608 bytes, counting those that aliases repeat"
        ]
    );
    // An alias can be a key, and an anchor can contain an alias. Each use copies the value.
    let text = format!(
        "a: &a \"{}\"\nb:\n{}",
        "x".repeat(500_000),
        "- ? *a\n  : 1\n".repeat(200)
    );
    assert_eq!(codes_within_limits("g.yaml", &text), ["DC-003"]);
    let mut text = format!("a0: &a0 [\"{}\"]\n", "x".repeat(500_000));
    for level in 1..50 {
        let _ = writeln!(text, "a{level}: &a{level} [*a{}]", level - 1);
    }
    assert_eq!(codes_within_limits("g.yaml", &text), ["DC-003"]);
}

#[test]
fn long_paths_are_refused() {
    // Each of the findings would have the path, and each of the values.
    let names: Vec<String> = (0..50_000).map(|n| format!("\"n{n}\":0")).collect();
    let text = format!("{{\"{}\":{{{}}}}}", "x".repeat(1_000_000), names.join(","));
    assert_eq!(codes_within_limits("g.json", &text), ["DC-003"]);
    let mut text = names.join(",");
    for _ in 0..60 {
        text = format!("\"{}\":{{{text}}}", "x".repeat(1_000));
    }
    assert_eq!(
        codes_within_limits("g.json", &format!("{{{text}}}")),
        ["DC-003"]
    );
}

#[test]
fn many_mistakes_are_listed_up_to_a_limit() {
    let fields: Vec<String> = (0..100_000).map(|n| format!("\"unknown{n}\":0")).collect();
    let codes = codes_within_limits(
        "g.json",
        &graph("", "").replacen('{', &format!("{{{},", fields.join(",")), 1),
    );
    assert_eq!(codes.len(), 10_001);
    assert!(
        codes.contains(&"DC-003"),
        "the last one says that there are more"
    );
    let twice = "\"a\":0,".repeat(100_000);
    let codes = codes_within_limits("g.json", &format!("{{{twice}\"b\":0}}"));
    assert_eq!(
        codes.iter().filter(|code| **code == "DC-002").count(),
        10_000
    );
    // Warnings alone cannot hide an error.
    let nodes: Vec<String> = (0..12_000)
        .map(|n| format!(r#"{{"id":"n{n}","type":"noop","config":{{"x":1}}}}"#))
        .collect();
    let text = graph(&nodes.join(","), &edge("n0", "nowhere"));
    assert!(inspect("g.json", &text).1.has_errors());
}

#[test]
fn all_patterns_of_a_document_have_a_limit_together() {
    let conditions: Vec<String> = (0..200)
        .map(|n| format!(r#"{{"name":"y{n}","expression":"a{n} matches \"\\w{{20}}\""}}"#))
        .collect();
    let node = format!(
        r#"{{"id":"c","type":"conditional","config":{{"default":"y","conditions":[{}]}}}}"#,
        conditions.join(",")
    );
    let text = graph(&node, "");
    let (_, diagnostics) = inspect("g.json", &text);
    let refused = diagnostics.iter().filter(|it| {
        let message =
            "the regular expressions of the document need more than 33554432 bytes together";
        it.message.contains(message)
    });
    let refused = refused.count();
    assert!((1..200).contains(&refused), "{refused}");
}

#[test]
fn references_in_a_circle_are_refused() {
    let ring = graph(
        r#"{"id":"a","type":"noop"},{"id":"b","type":"noop"}"#,
        &format!("{},{}", edge("a", "b"), edge("b", "a")),
    );
    assert_eq!(codes_within_limits("g.json", &ring), ["GR-004"]);
    let own = graph(r#"{"id":"a","type":"noop"}"#, &edge("a", "a"));
    assert_eq!(codes_within_limits("g.json", &own), ["GR-004"]);
    let task =
        |n: usize| format!(r#""t{n}":{{"description":"D","agent":"a","expected_output":"E"}}"#);
    let next = |n: usize| format!(r#""t{n}":{{"depends_on":["t{}"]}}"#, (n + 1) % 3_000);
    let tasks: Vec<String> = (0..3_000).map(task).collect();
    let order: Vec<String> = (0..3_000).map(next).collect();
    let workflow = format!(
        r#"{{"id":"w","version":"1","kind":"agent_workflow","name":"W",
            "agents":{{"a":{{"role":"R","goal":"G","provider":"openai","model":"m"}}}},
            "tasks":{{{}}},"execution":{{"strategy":"custom","tasks":{{{}}}}}}}"#,
        tasks.join(","),
        order.join(",")
    );
    assert_eq!(codes_within_limits("w.json", &workflow), ["AT-007"]);
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
        codes_within_limits("g.json", &graph(&nodes.join(","), &ring.join(","))),
        ["GR-004"]
    );
    let lost: Vec<String> = (0..10_000)
        .map(|n| edge(&format!("n{n}"), &format!("m{n}")))
        .collect();
    assert_eq!(
        codes_within_limits("g.json", &graph(&nodes.join(","), &lost.join(","))).len(),
        10_000
    );
}

proptest! {
    #[test]
    fn random_text_is_read_or_refused(text in ".{0,200}", yaml in any::<bool>()) {
        let name = if yaml { "d.yaml" } else { "d.json" };
        let (_, diagnostics) = Source::new(name, text.clone()).inspect(&Catalog::default());
        for it in &diagnostics {
            let position = it.position.expect("a text has places");
            prop_assert!(position.line >= 1 && position.line <= text.len() + 1);
        }
    }

    #[test]
    fn random_templates_are_parsed_or_refused(parts in prop::collection::vec(
        prop::sample::select(vec![
            "{{", "}}", "{{-", "-}}", "{%", "{#", "if", "else", "else if", "end", "range", "with", "print", "eq", "index",
            ".a", ".a.b", "$", "$x", ":=", "|", "(", ")", "\"t\"", "\"", "`", "1", "-", "/*", "*/", " ", "\n", "ü",
        ]),
        0..40,
    )) {
        let text = parts.concat();
        match Template::parse(&text) {
            Ok(template) => {
                let vars = json!({ "a": { "b": [1] }, "x": "t" });
                let vars = Variables::new(vars.as_object().expect("an object"));
                drop(template.render(&vars, MissingValue::Empty));
            }
            Err(error) => prop_assert!(error.position <= text.len(), "{error}"),
        }
    }

    #[test]
    fn random_change_of_a_document_is_read_or_refused(cut in 0_usize..600, byte in any::<char>()) {
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
