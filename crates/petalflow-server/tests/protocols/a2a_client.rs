//! The SDK of A2A for Python. `PETALFLOW_TEST_PYTHON` is a Python with the package `a2a-sdk`.

use petalflow_server::A2a;
use petalflow_test_support::{Need, skip};
use tokio::process::Command;

use super::guide::{guide, lines, with_client};

const SCRIPT: &str = include_str!("a2a_client.py");

#[tokio::test(flavor = "multi_thread")]
async fn the_sdk_for_python() {
    let Ok(python) = std::env::var("PETALFLOW_TEST_PYTHON") else {
        return skip(
            Need::Optional,
            "no SDK of A2A for Python: set PETALFLOW_TEST_PYTHON to a Python with the package `a2a-sdk`",
        );
    };
    let mut program = Command::new(python);
    program.args(["-c", SCRIPT]);
    let output = with_client(&guide(), |builder, url| builder.a2a(A2a::new(url)), program).await;
    let expected = [
        "sent: You said hello.",
        "streamed: You said hi.",
        "asked: Delete all files?",
        "confirmed: I got gone.",
        "subscribed: One moment.",
        "cancelled: TASK_STATE_CANCELED",
        "given up: TASK_STATE_CANCELED",
        "failed: TASK_STATE_FAILED",
        "unknown: TaskNotFoundError",
        "listed: 7",
    ];
    let both: Vec<String> = ["JSONRPC", "HTTP+JSON"]
        .iter()
        .flat_map(|binding| expected.map(|line| format!("{binding} {line}")))
        .map(|line| line.replace("HTTP+JSON listed: 7", "HTTP+JSON listed: 14"))
        .collect();
    assert_eq!(lines(&output), both);
}
