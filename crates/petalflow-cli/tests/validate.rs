//! `petalflow validate`.

use serde_json::json;

use crate::program::{Ran, document, petalflow, program, run_program, run_with_input, test_data};

#[test]
fn p209_all_diagnostics_are_reported_with_their_places() {
    let ran = petalflow!("validate wrong.graph.json").code(1);
    let lines: Vec<&str> = ran
        .out
        .lines()
        .map(|line| {
            line.strip_prefix("wrong.graph.json")
                .expect("the file comes first")
        })
        .collect();
    let starts: Vec<&str> = lines
        .iter()
        .map(|line| line.split(']').next().expect("a code"))
        .collect();
    assert_eq!(
        starts,
        [
            ":5:26: error[GR-003",
            ":6:5: warning[GR-002",
            ":6:112: warning[GR-020",
            ":7:5: warning[GR-002",
            ":7:13: error[GR-005",
            ":9:40: error[GR-001",
        ],
        "{}",
        ran.out
    );
    assert!(ran.err.contains("3 errors, "), "{}", ran.err);
}

#[test]
fn p209_diagnostics_are_json_for_programs() {
    let ran = petalflow!("validate --json wrong.graph.json").code(1);
    let found = ran.json();
    let first = &found[0];
    assert_eq!(
        (&first["code"], &first["severity"], &first["line"]),
        (&json!("GR-003"), &json!("error"), &json!(5))
    );
    assert!(
        first["column"].is_u64()
            && first["pointer"] == "/nodes/0/type"
            && first["file"].is_string()
    );
    assert_eq!(
        petalflow!("validate --json greeting.graph.json")
            .code(0)
            .json(),
        json!([])
    );
}

#[test]
fn p209_warnings_fail_only_if_strict() {
    let ran = petalflow!("validate warning.graph.json").code(0);
    assert!(ran.out.contains("warning[GR-020]"), "{}", ran.out);
    petalflow!("validate --strict warning.graph.json").code(1);
}

#[test]
fn p209_several_documents_of_all_kinds_are_checked_together() {
    let documents = [
        "greeting.graph.json",
        "research.agent.yaml",
        "food_order.json",
        "old_order.json",
        "review.graph.yaml",
    ];
    let documents: Vec<String> = documents.iter().map(|name| document(name)).collect();
    let arguments = |verb: &'static str| std::iter::once(verb.to_owned()).chain(documents.clone());
    assert_eq!(run_program(arguments("validate")).code(0).err, "valid\n");
    run_program(arguments("check")).code(0);
    let ran = run_program(arguments("validate").chain([document("wrong.graph.json")])).code(1);
    assert!(!ran.out.contains("greeting"), "{}", ran.out);
    let ran = run_program(arguments("validate").chain(["missing.json".to_owned()])).code(3);
    assert!(
        ran.out.contains("error[CL-002]"),
        "the other documents are checked too: {}",
        ran.out
    );
}

#[test]
fn p209_conversations_have_their_own_codes() {
    let text = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [], "functions": [{ "name": "go", "transition_to": "b" }] } } }"#;
    let ran = run_with_input(text, ["validate", "--json", "-"]).code(1);
    assert_eq!(
        (&ran.json()[0]["code"], &ran.json()[0]["file"]),
        (&json!("CV-002"), &json!("<stdin>"))
    );
}

#[test]
fn p209_problems_that_only_the_loader_finds_are_reported() {
    let text = "id: g\nversion: '1'\nentry: a\nnodes:\n  - { id: a, type: guardian, config: { checks: [{ type: schema, field: x, schema: { type: strin } }] } }\nedges: []\n";
    let ran = run_with_input(text, ["validate", "-"]).code(1);
    assert!(
        ran.out.starts_with("<stdin>:5:")
            && ran
                .out
                .contains("error[CL-001]: node `a`: `checks[0].schema`"),
        "the setting has a place: {}",
        ran.out
    );
}

#[test]
fn a_document_with_a_kind_is_no_conversation() {
    let text = "id: g\nversion: '1'\nkind: graf\nnodes:\n  a: { type: noop }\nedges: []\n";
    let ran = run_with_input(text, ["validate", "-"]).code(1);
    assert!(!ran.out.contains("CV-"), "{}", ran.out);
}

#[test]
fn p209_colors_are_only_for_terminals() {
    let plain = petalflow!("validate wrong.graph.json");
    assert!(!plain.out.contains('\u{1b}'));
    let forced = |no_color: bool| {
        let mut command = program();
        command
            .args(["validate", &document("wrong.graph.json")])
            .env("CLICOLOR_FORCE", "1");
        if no_color {
            command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
        }
        Ran::from_output(&command.output().expect("the program starts"))
    };
    assert!(forced(false).out.contains('\u{1b}'));
    assert!(!forced(true).out.contains('\u{1b}'));
}

#[test]
fn p209_all_documents_of_the_test_data_are_read() {
    let expected = [
        ("petalflow/examples/06_cli_workflow/greeting.graph.json", 0),
        ("petalflow/examples/06_cli_workflow/research.agent.yaml", 0),
        ("petalflow/examples/08_webhooks/webhook_call.graph.json", 0),
        (
            "petalflow/examples/08_webhooks/webhook_trigger.graph.json",
            0,
        ),
        ("petalflow/loader/testdata/graph.yaml", 0),
        ("petalflow/loader/testdata/agent.json", 0),
        ("petalflow/loader/testdata/invalid.json", 1),
        ("pipecat/editor/food_ordering.json", 0),
        ("pipecat/editor/minimal.json", 0),
        ("pipecat/declarative/insurance_quote.flow.yaml", 0),
        ("pipecat/static-legacy/examples_food_ordering.json", 0),
    ];
    for (path, code) in expected {
        if let Some(path) = test_data(path) {
            run_program(["validate", &path.display().to_string()]).code(code);
        }
    }
}
