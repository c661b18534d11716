//! Templates are compared with Go's own `text/template`.
//!
//! `go/recorded.json` has cases with Go's results, which every run checks. With `UPDATE_EXPECT=1` and Go, they are recorded
//! anew. Where Go is installed, more cases are generated and compared.

mod random;

use std::io::Write;
use std::process::{Command, Stdio};

use petalflow_document_model::documents::template::{MissingValue, Template, Variables};
use petalflow_test_support::{Need, skip};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use random::Random;

/// A template, its variables, and what Go makes of them.
#[derive(Deserialize, Serialize)]
struct Case {
    template: String,
    vars: Map<String, Value>,
    #[serde(flatten)]
    result: Outcome,
}

#[derive(Clone, Default, Deserialize, Serialize)]
struct Outcome {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// What Go refuses and petalflow accepts, by design. `crates/petalflow-document-model/src/documents/template/mod.rs` lists it.
const ACCEPTED: [&str; 6] = [
    // A missing value is false in a condition.
    "map has no entry for key",
    "nil data; no entry for key",
    // A field of `null` is missing.
    "nil pointer evaluating",
    // JSON has one type of numbers.
    "incompatible types for comparison",
    // `upper` and `lower` take any value.
    "wrong type for value; expected string",
    "expected string; found",
];

fn cases(seed: u64, count: usize) -> Vec<Case> {
    let mut random = Random::new(seed);
    let case = |_| {
        let (template, vars) = random.template();
        let result = Outcome::default();
        Case {
            template,
            vars,
            result,
        }
    };
    (0..count).map(case).collect()
}

/// Fills in what Go makes of the cases. `None` without Go.
fn ask_go(mut cases: Vec<Case>) -> Option<Vec<Case>> {
    let installed = Command::new("go").arg("version").output();
    if !installed.is_ok_and(|output| output.status.success()) {
        skip(
            Need::Optional,
            "no Go: install it (Debian: golang-go) to compare templates with Go's own",
        );
        return None;
    }
    let cache = tempfile::tempdir().expect("a temporary folder");
    let mut go = Command::new("go")
        .args([
            "run",
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/documents/go/main.go"),
        ])
        .env("GOCACHE", cache.path())
        .env("GO111MODULE", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Go starts");
    let input = serde_json::to_vec(&cases).expect("cases are JSON");
    let mut stdin = go.stdin.take().expect("it is piped");
    stdin.write_all(&input).expect("Go reads the cases");
    drop(stdin);
    let output = go.wait_with_output().expect("Go ends");
    assert!(output.status.success(), "the Go program fails");
    let results: Vec<Outcome> = serde_json::from_slice(&output.stdout).expect("results are JSON");
    assert_eq!(results.len(), cases.len());
    for (case, result) in cases.iter_mut().zip(results) {
        case.result = result;
    }
    Some(cases)
}

/// The differences from Go.
fn differences(cases: &[Case]) -> Vec<String> {
    let difference = |case: &Case| {
        let ours = filled(case);
        let expected = &case.result;
        let is_right = match (&ours, &expected.output, &expected.error) {
            (Ok(ours), Some(output), _) => *ours == as_json(output),
            (Err(_), None, Some(_)) => true,
            (Ok(_), None, Some(error)) => ACCEPTED.iter().any(|it| error.contains(it)),
            _ => false,
        };
        let (template, vars) = (&case.template, Value::Object(case.vars.clone()));
        (!is_right).then(|| {
            let go = expected.output.as_deref().or(expected.error.as_deref());
            format!("{template}\n  with {vars}\n  Go:   {go:?}\n  ours: {ours:?}")
        })
    };
    cases.iter().filter_map(difference).collect()
}

/// Go writes `<no value>` or `<nil>` for `null`.
fn as_json(output: &str) -> String {
    output
        .replace("<no value>", "null")
        .replace("<nil>", "null")
}

fn filled(case: &Case) -> Result<String, String> {
    let template = Template::parse(&case.template).map_err(|error| error.to_string())?;
    let vars = Variables::new(&case.vars);
    let filled = template.render(&vars, MissingValue::Error);
    filled.map_err(|error| error.to_string())
}

fn assert_as_go(cases: &[Case]) {
    let filled = cases.iter().filter(|case| case.result.output.is_some());
    assert!(
        filled.count() * 2 > cases.len(),
        "Go refuses most of the generated templates"
    );
    let wrong = differences(cases);
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        cases.len(),
        wrong[..wrong.len().min(10)].join("\n")
    );
}

#[test]
fn recorded_templates_are_filled_as_by_go() {
    const PATH: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/documents/go/recorded.json"
    );
    if std::env::var_os("UPDATE_EXPECT").is_some()
        && let Some(cases) = ask_go(cases(1, 300))
    {
        let lines: Vec<String> = cases
            .iter()
            .map(|case| serde_json::to_string(case).expect("a case is JSON"))
            .collect();
        std::fs::write(PATH, format!("[\n{}\n]\n", lines.join(",\n")))
            .expect("the file is written");
    }
    let text = std::fs::read_to_string(PATH).expect("the cases are recorded");
    let cases: Vec<Case> = serde_json::from_str(&text).expect("cases are JSON");
    assert!(cases.len() >= 300);
    assert_as_go(&cases);
}

#[test]
fn seeds_give_different_templates() {
    let templates = |seed| {
        cases(seed, 3)
            .into_iter()
            .map(|case| case.template)
            .collect::<Vec<_>>()
    };
    assert_ne!(templates(1), templates(2));
}

#[test]
fn differential_generated_templates_are_filled_as_by_go() {
    let seed = std::env::var("PROPTEST_RNG_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(2);
    if let Some(cases) = ask_go(cases(seed, 3_000)) {
        assert_as_go(&cases);
    }
}
