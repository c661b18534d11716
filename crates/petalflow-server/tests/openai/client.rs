//! The official client of OpenAI for Python. `PETALFLOW_TEST_PYTHON` is a Python with the package `openai`.

use petalflow_documents::kinds::TriggerAuth;
use petalflow_test_support::{Need, skip};
use tokio::net::TcpListener;
use tokio::process::Command;

use super::agents::{builder, guide};

const SCRIPT: &str = include_str!("client.py");

#[tokio::test(flavor = "multi_thread")]
async fn the_client_for_python() {
    let Ok(python) = std::env::var("PETALFLOW_TEST_PYTHON") else {
        return skip(
            Need::Optional,
            "no client of OpenAI for Python: set PETALFLOW_TEST_PYTHON to a Python with the package `openai`",
        );
    };
    let auth = TriggerAuth::HeaderToken {
        header: "X-Token".into(),
        token: "secret".into(),
    };
    let server = builder(&guide().0).threads(auth).openai().build();
    let server = server.expect("the settings are right");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it has one");
    let serving = tokio::spawn(server.serve(listener, std::future::pending()));
    let output = Command::new(python)
        .args(["-c", SCRIPT, &format!("http://{address}"), "secret"])
        .output();
    let output = output.await.expect("it starts");
    serving.abort();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "after {out}: {err}");
    assert_eq!(out.lines().count(), 13, "{out}");
}
