//! Conditional nodes: texts in conditions, and the edges of choices.

use super::support::{codes, edge, graph, inspect};

#[test]
fn a_condition_in_which_a_text_decides_nothing_is_a_warning() {
    let ask = |schema: &str| {
        format!(r#"{{"id":"ask","type":"llm_prompt","config":{{"prompt_template":"?"{schema}}}}}"#)
    };
    let check = |ask: &str, expression: &str| {
        let choose = format!(
            r#"{{"id":"choose","type":"conditional","config":{{"conditions":[{{"name":"yes","expression":"{expression}"}}],"default":"no"}}}}"#
        );
        let ends = r#"{"id":"yes","type":"noop"},{"id":"no","type":"noop"}"#;
        let edges = [
            edge("ask", "choose"),
            edge("choose", "yes"),
            edge("choose", "no"),
        ];
        let text = graph(&format!("{ask},{choose},{ends}"), &edges.join(","));
        let (_, diagnostics) = inspect("g.json", &text);
        diagnostics
            .iter()
            .map(|it| format!("{} {}", it.code.as_str(), it.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        check(&ask(""), "ask_output.score > 3"),
        [
            "CN-007 conditional node `choose`: condition `yes` reads `score` of `ask_output`, which is a text: the text changes \
          nothing; give node `ask` a `json_schema`"
        ]
    );
    assert_eq!(check(&ask(""), "ask_output >= 3").len(), 1);
    let with_schema = ask(r#","json_schema":{"type":"object"}"#);
    assert!(check(&with_schema, "ask_output.score > 3").is_empty());
    assert!(
        check(
            &ask(""),
            r#"ask_output contains \"yes\" && ask_output.length > 3 && n > 3"#
        )
        .is_empty()
    );
}

#[test]
fn an_edge_of_a_conditional_node_has_the_name_of_a_choice() {
    let choose = r#"{"id":"choose","type":"conditional","config":{"conditions":[{"name":"large","expression":"n > 9"}],"default":"small"}},{"id":"a","type":"noop"}"#;
    for (handle, expected) in [
        ("large", vec![]),
        ("small", vec!["CN-001"]),
        ("huge", vec!["CN-001", "GR-006"]),
    ] {
        let edges = format!(r#"{{"source":"choose","sourceHandle":"{handle}","target":"a"}}"#);
        assert_eq!(
            codes("g.json", &graph(choose, &edges)),
            expected,
            "{handle}"
        );
    }
}
