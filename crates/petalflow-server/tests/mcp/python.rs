//! The SDK of MCP for Python. `PETALFLOW_TEST_PYTHON` is a Python with the package `mcp`.

use std::time::Duration;

use petalflow_test_support::{Need, skip};
use serde_json::{Value, json};
use tokio::process::Command;

use super::kit::{Served, Slow, builder};

const SCRIPT: &str = include_str!("client.py");

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_sdk_for_python() {
    let Ok(python) = std::env::var("PETALFLOW_TEST_PYTHON") else {
        return skip(
            Need::Optional,
            "no SDK of MCP for Python: set PETALFLOW_TEST_PYTHON to a Python with the package `mcp`",
        );
    };
    let served = Served::start(builder(&Slow::default())).await;
    let mut program = Command::new(python);
    program.args(["-c", SCRIPT, &format!("{}/mcp", served.url), "secret"]);
    let output = program.kill_on_drop(true).output();
    let output = tokio::time::timeout(Duration::from_mins(2), output).await;
    let output = output.expect("in time").expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let seen: Value = serde_json::from_slice(&output.stdout).expect("it prints JSON");
    let seen_by_each = json!({
        "tools": ["DoWork", "answer", "helper", "refunds"],
        "paid": ["finished", true],
        "failed": true,
        "said": "You said hello.",
        "waiting": "waiting",
        "answered": "finished",
    });
    assert_eq!(
        seen,
        json!({ "auto": seen_by_each, "legacy": seen_by_each })
    );
}
