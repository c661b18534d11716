//! Schemathesis sends requests that are made from the OpenAPI document, also wrong ones, and compares the responses with it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow_test_support::{Need, skip};
use serde_json::json;
use tokio::process::Command;

use crate::served::{Served, TOKEN, builder};

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,\
                      unsupported_method,missing_required_header,ignored_auth";
/// Far more than it takes: what is longer is a request without an end.
const LONGEST: Duration = Duration::from_mins(5);

/// Threads in several states, whose ids the requests have: others get 404 only.
async fn settings(served: &Served) -> String {
    let mut threads = Vec::new();
    for (flow, body) in [
        (
            "refunds",
            json!({ "input": { "cents": 9, "reason": "late", "card": "4242" } }),
        ),
        ("steps", json!({ "input": { "total": 2 } })),
        ("librarian", json!({ "input": "a book" })),
        ("letters", json!({ "input": { "vars": { "name": "Ann" } } })),
    ] {
        let thread = served.thread(flow, body).await;
        served.settled(&thread).await;
        threads.push(thread);
    }
    let refund = served.get(&format!("/threads/{}", threads[0])).await;
    let question = &refund["questions"][0]["id"];
    let flows = json!(["refunds", "steps", "librarian", "letters", "research"]);
    let threads = json!(threads);
    // Without deletions, so that the other requests find the threads.
    format!(
        "[parameters]\n\"path.flow\" = {flows}\n\"path.thread\" = {threads}\n\"path.question\" = {question}\n\
         \"path.schedule\" = \"morning\"\n\"path.checkpoint\" = [1, 2]\n\
         [[operations]]\ninclude-method = \"DELETE\"\nenabled = false\n"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_to_generated_requests_are_as_described() {
    let Some(program) = std::env::var_os("PETALFLOW_TEST_SCHEMATHESIS") else {
        let why = "schemathesis is missing: install the Python package `schemathesis`, and set PETALFLOW_TEST_SCHEMATHESIS to its \
                   program";
        return skip(Need::Installed, why);
    };
    let served = Served::start(builder(&InMemoryStore::new())).await;
    let folder = tempfile::tempdir().expect("a folder");
    let settings = settings(&served).await;
    std::fs::write(folder.path().join("schemathesis.toml"), settings).expect("it is written");
    let output = run(Path::new(&program), &served, folder.path()).await;
    served.stop().await;
    assert!(
        output.contains("No issues found") || output.contains("passed"),
        "{output}"
    );
}

/// Runs it to its end, and returns what it has printed. Fails if it finds something.
async fn run(program: &Path, served: &Served, folder: &Path) -> String {
    let server = format!("http://{}", served.address);
    let mut command = Command::new(program);
    command
        .args(["run", &format!("{server}/openapi.json"), "--url", &server])
        .args(["--header", &format!("X-PetalFlow-Token: {TOKEN}")])
        .args([
            "--phases",
            "coverage,fuzzing",
            "--max-examples",
            "20",
            "--seed",
            "1",
        ])
        .args([
            "--checks",
            CHECKS,
            "--request-timeout",
            "20",
            "--continue-on-failure",
            "--no-shrink",
        ])
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = tokio::time::timeout(LONGEST, command.output()).await;
    let output = output
        .expect("each request ends")
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}
