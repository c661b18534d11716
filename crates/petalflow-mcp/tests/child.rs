//! A server in another process: this test binary again, controlled by an environment variable.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use petalflow::prelude::*;
use petalflow::tool::ToolContext;
use petalflow_mcp::{self as mcp, McpClient};
use petalflow_test_support::{Need, assert_starts_with, skip};
use serde_json::{Value, json};

use super::{add, all_tools, call, sum_of};

const CHILD: &str = "PETALFLOW_TEST_MCP_CHILD";

/// The number of this process.
#[tool]
fn number() -> u32 {
    std::process::id()
}

/// Dies before it answers.
#[tool]
fn die() -> &'static str {
    std::process::abort()
}

/// The names of the variables of this process.
#[tool]
fn variables() -> Value {
    let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    json!({ "names": names.collect::<Vec<_>>() })
}

/// Not a test of its own: the server.
#[test]
fn the_child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime
        .block_on(mcp::serve(tools![add, number, die, variables]).stdio())
        .expect("the client speaks MCP");
    // The test harness must not print more to standard output.
    std::process::exit(0);
}

/// The child is a test program. Its test harness prints lines before the server starts. They are not JSON, so they are skipped.
fn child() -> McpClient {
    let path = module_path!();
    let (_, path) = path
        .split_once("::")
        .expect("the binary's name comes first");
    let test = format!("{path}::the_child");
    McpClient::command("child", move || {
        let mut command = Command::new(std::env::current_exe().expect("it is known"));
        command
            .args(["--exact", &test, "--nocapture"])
            .env(CHILD, "1")
            .stderr(std::process::Stdio::null());
        command
    })
    .timeout(Duration::from_secs(30))
}

async fn process_number(server: &McpClient) -> u32 {
    let number = call(server, "number", json!({})).await.unwrap();
    number["output"].as_str().unwrap().parse().unwrap()
}

fn is_alive(process: u32) -> bool {
    // A process that has ended and was not waited for is a zombie: `Z` in its status.
    let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

/// Waits until a process has ended. It must within ten seconds.
async fn wait_until_ended(process: u32) {
    for _ in 0..1_000 {
        if !is_alive(process) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("process {process} does not end");
}

#[tokio::test]
async fn a_program_is_started_and_its_tools_are_called() {
    let server = child();
    assert_eq!(
        call(&server, "add", json!({ "a": 1, "b": 2 }))
            .await
            .unwrap(),
        sum_of(3)
    );
    assert_ne!(process_number(&server).await, std::process::id());
}

#[tokio::test]
async fn a_program_gets_the_variables_that_are_safe_or_named() {
    let inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
    // Cargo sets these.
    let (named, other) = ("CARGO_PKG_NAME", "CARGO_MANIFEST_DIR");
    let names = names_of(&child()).await;
    for (name, _) in std::env::vars() {
        let passed = inherited.contains(&name.as_str());
        assert_eq!(names.contains(&name), passed, "{name}");
    }
    assert!(names.iter().any(|name| name == CHILD));
    let names = names_of(&child().inherit_env([named])).await;
    assert!(names.iter().any(|name| name == named));
    assert!(!names.iter().any(|name| name == other));
}

async fn names_of(server: &McpClient) -> Vec<String> {
    let output = call(server, "variables", json!({})).await.unwrap();
    let names = output["output"]["names"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap().into()).collect()
}

#[tokio::test]
async fn a_program_that_dies_in_a_call_is_started_again_for_the_next() {
    let server = child();
    let tools = server.tools().await.unwrap();
    let first = process_number(&server).await;
    let die = tools.get("die").unwrap();
    let error = die
        .call(json!({}), &ToolContext::new("1"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the connection to MCP server `child` was lost during `die`: the server closed the connection; it is not known whether the request was processed"
    );
    let second = process_number(&server).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_program_that_is_killed_from_outside_is_started_again() {
    let server = child();
    let first = process_number(&server).await;
    let killed = Command::new("kill")
        .args(["-9", &first.to_string()])
        .status();
    assert!(killed.unwrap().success());
    if Path::new("/proc/self/stat").exists() {
        wait_until_ended(first).await;
    }
    // The client may not have noticed yet: then one call fails.
    let mut again = call(&server, "number", json!({})).await;
    if again.is_err() {
        again = call(&server, "number", json!({})).await;
    }
    assert_ne!(
        again.unwrap()["output"].as_str().unwrap(),
        first.to_string()
    );
}

#[tokio::test]
async fn a_program_ends_when_its_client_is_closed_or_dropped() {
    if !Path::new("/proc/self/stat").exists() {
        return skip(Need::Optional, "there is no /proc: run the tests on Linux");
    }
    let server = child();
    let first = process_number(&server).await;
    assert!(is_alive(first));
    server.close().await;
    assert!(!is_alive(first));
    let second = process_number(&server).await;
    assert!(is_alive(second));
    drop(server);
    wait_until_ended(second).await;
}

#[tokio::test]
async fn a_missing_program_is_an_error() {
    let server = McpClient::stdio("no-such-program", ["--serve"]).attempts(1);
    let error = server.tools().await.unwrap_err().to_string();
    assert_starts_with(
        &error,
        "cannot connect to MCP server `no-such-program`: No such file",
    );
    // One that ends at once.
    let server = McpClient::stdio("true", [] as [&str; 0]).attempts(1);
    let error = server.tools().await.unwrap_err().to_string();
    assert_starts_with(&error, "cannot connect to MCP server `true`: ");
    assert!(!all_tools().is_empty());
}
