//! Schemathesis sends requests that are made from the document, also wrong ones, to a server with all protocols.

use std::time::Duration;

use petalflow_server::Limits;
use petalflow_test_support::{Need, skip};
use serde_json::json;
use tokio::process::Command;

use super::{builder, document, printed, run, write};
use crate::mcp::kit::{Served, call};

const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,\
                      unsupported_method,missing_required_header,ignored_auth";

#[tokio::test(flavor = "multi_thread")]
async fn f43_responses_of_all_protocols_are_as_described() {
    let Ok(program) = std::env::var("PETALFLOW_TEST_SCHEMATHESIS") else {
        let why = "schemathesis is missing: install the Python package `schemathesis`, and set PETALFLOW_TEST_SCHEMATHESIS to its \
                   program";
        return skip(Need::Optional, why);
    };
    let limits = Limits {
        max_thread_wait: Duration::from_millis(50),
        ..Limits::default()
    };
    let served = Served::start(builder().limits(limits)).await;
    let waiting = call(&served.client(), "refunds", json!({ "cents": 7 })).await;
    let (thread, question) = (&waiting["thread"], &waiting["waits"][0]["id"]);
    // Without deletions, so that the other requests find the thread.
    let settings = format!(
        "[parameters]\n\"path.flow\" = [\"refunds\", \"helper\"]\n\"path.thread\" = {thread}\n\"path.question\" = {question}\n\
         \"path.schedule\" = \"morning\"\n\"path.checkpoint\" = [1, 2]\n\"path.agent\" = \"helper\"\n\"path.model\" = \"helper\"\n\
         [[operations]]\ninclude-method = \"DELETE\"\nenabled = false\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write(folder, "schemathesis.toml", &settings);
    write(folder, "openapi.json", &document(&served).await.to_string());
    let mut requests = Command::new(program);
    requests
        .args(["run", "openapi.json", "--url", &served.url])
        .args([
            "--header",
            "X-Token: secret",
            "--phases",
            "coverage,fuzzing",
        ])
        .args(["--max-examples", "8", "--seed", "1", "--checks", CHECKS])
        .args([
            "--request-timeout",
            "20",
            "--continue-on-failure",
            "--no-shrink",
        ])
        .current_dir(folder);
    let output = printed(&run(&mut requests).await);
    assert!(output.contains("Test cases:"), "{output}");
}
