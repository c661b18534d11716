//! The process that runs the tools of an agent is killed: a node host, or the driver.

use std::ffi::OsStr;
use std::path::Path;

use petalflow_restate::Endpoint;
use serde_json::{Value, json};

use super::guide::{self, Guide, Tools};
use crate::support::{PATIENCE, Process, free_ports, until};

/// What a process of this test serves: `driver` or `host`, and its address.
const ROLE: &str = "PETALFLOW_RESTATE_TEST_TOOLS_ROLE";
const ADDRESS: &str = "PETALFLOW_RESTATE_TEST_TOOLS_ADDRESS";
const REDIS: &str = "PETALFLOW_RESTATE_TEST_TOOLS_REDIS";
const PREFIX: &str = "PETALFLOW_RESTATE_TEST_TOOLS_PREFIX";
/// The file to which each start of what is killed adds a byte.
const STARTS: &str = "PETALFLOW_RESTATE_TEST_TOOLS_STARTS";

/// The events of the node that runs tools have this.
const TOOL: &str = r#""call""#;

/// Counts a start of what is killed, in a process of this test. Returns how many there were, or `None` in another process.
pub(super) fn count_start() -> Option<u64> {
    use std::io::Write as _;
    let path = std::env::var(STARTS).ok()?;
    let file = std::fs::File::options()
        .append(true)
        .create(true)
        .open(&path);
    let written = file.and_then(|mut file| file.write_all(b"."));
    written.expect("it is written");
    Some(starts(Path::new(&path)))
}

fn starts(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

/// Runs as another process of the test. Does nothing in a usual run of the tests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_of_the_tools_test() {
    let variable = |name| std::env::var(name).ok();
    let (Some(role), Some(address), Some(redis), Some(prefix)) = (
        variable(ROLE),
        variable(ADDRESS),
        variable(REDIS),
        variable(PREFIX),
    ) else {
        return;
    };
    let endpoint = if role == "driver" {
        Endpoint::new().threads(&guide::flow(Tools::Inline, &redis, &prefix).await)
    } else {
        Endpoint::new().nodes(&guide::flow(Tools::Placed, &redis, &prefix).await, "tools")
    };
    let bound = endpoint.expect("its name is good").bind(&address).await;
    bound.expect("the port is free").serve().await;
}

/// Starts the process that runs tools.
fn start(tools: Tools, guide: &Guide, port: u16, starts: &Path) -> Process {
    let role = match tools {
        Tools::Inline => "driver",
        Tools::Placed => "host",
    };
    let address = format!("127.0.0.1:{port}");
    let variables: [(&str, &OsStr); 5] = [
        (ROLE, role.as_ref()),
        (ADDRESS, address.as_ref()),
        (REDIS, guide.redis.as_ref()),
        (PREFIX, guide.prefix.as_ref()),
        (STARTS, starts.as_ref()),
    ];
    Process::of_test("agents::processes::process_of_the_tools_test", &variables)
}

/// Waits until an event of the only thread has this in its value.
async fn until_published(guide: &Guide, part: &str) {
    let listed = guide.http.get("/threads").await;
    let thread = listed["threads"][0]["id"].as_str().expect("there is one");
    let published = guide.http.until_event(thread, part);
    let published = tokio::time::timeout(PATIENCE, published).await;
    published.expect("it is published");
}

/// Sends this text, and kills the process that runs tools when what the text asks for has started, and an event with this part is
/// published. Returns the events of the response, and of its thread.
async fn killed(tools: Tools, text: &str, part: &str) -> Option<(Vec<Value>, String)> {
    let guide = Guide::without_tools(tools).await?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let starts = folder.path().join("starts");
    let [port] = free_ports();
    let process = start(tools, &guide, port, &starts);
    guide.restate.register([port]).await;
    let body = json!({ "model": "guide", "input": text, "stream": true });
    let file = &starts;
    let killed = async {
        until("it starts", async || self::starts(file) == 1).await;
        until_published(&guide, part).await;
        drop(process);
        let process = start(tools, &guide, port, file);
        until("it starts again", async || self::starts(file) == 2).await;
        process
    };
    let (events, _process) = tokio::join!(guide.http.events("/v1/responses", body), killed);
    let listed = guide.http.get("/threads").await;
    let thread = listed["threads"][0]["id"].as_str().expect("there is one");
    let path = format!("/threads/{thread}/events");
    let (_, of_thread) = guide.http.send("GET", &path, &Value::Null).await;
    Some((events, of_thread))
}

/// The text of a streamed response, which must be complete and have one item.
fn answer(events: &[Value]) -> String {
    let last = events.last().expect("it ends");
    assert_eq!(last["type"], "response.completed", "{last}");
    let output = last["response"]["output"].as_array();
    assert_eq!(output.map(Vec::len), Some(1), "{last}");
    let deltas = events
        .iter()
        .filter(|event| event["type"] == "response.output_text.delta");
    deltas.filter_map(|event| event["delta"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_whose_host_is_killed_runs_again_and_the_answer_comes_once() {
    let killed = killed(Tools::Placed, "dig", TOOL);
    let Some((events, of_thread)) = killed.await else {
        return;
    };
    assert_eq!(answer(&events), "I got a coin.");
    let restarts = of_thread.matches(r#""restarts":true"#).count();
    assert_eq!(restarts, 1, "{of_thread}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_whose_driver_is_killed_runs_again_and_the_answer_comes_once() {
    let killed = killed(Tools::Inline, "dig", TOOL);
    let Some((events, _)) = killed.await else {
        return;
    };
    assert_eq!(answer(&events), "I got a coin.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pieces_of_a_killed_driver_are_not_said_again() {
    let killed = killed(Tools::Inline, "slow", r#""a ""#);
    let Some((events, of_thread)) = killed.await else {
        return;
    };
    assert_eq!(answer(&events), "a b c d e ");
    assert!(of_thread.contains(r#""restarts":true"#), "{of_thread}");
}
