//! A process that is killed while the model writes, and while its tool works.

use std::path::Path;

use petalflow::BoxError;
use petalflow::thread::{OnBusy, Thread};
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::stream::{AgentEventKind, AgentEvents};
use petalflow_agent::{Agent, AgentFlow};
use petalflow_sqlite::SqliteStore;
use petalflow_test_servers::{OtherProcess, server_of_first_process};
use serde_json::{Value, json};

use super::{MAX_TOKENS_OF_CALL, local_model, model_at, one_call};

const CHILD: &str = "local_model::killed::the_child";

/// Where a process prints a line and waits to be killed.
const PLACES: [&str; 2] = ["the model writes", "the tool works"];

fn agent(url: &str, place: String) -> Agent {
    let schema = json!({
        "type": "object", "properties": { "zone": { "enum": ["utc", "cet"] } }, "required": ["zone"],
    });
    let clock = ToolSpec::new("clock", "Tells the time.", schema);
    let clock = FuncTool::untyped(clock, move |arguments, _| {
        let is_killed_here = place == PLACES[1];
        async move {
            if is_killed_here {
                println!("{}", PLACES[1]);
                std::future::pending::<()>().await;
            }
            Ok::<Value, BoxError>(arguments["zone"].clone())
        }
    });
    let agent = Agent::new(model_at(url)).request(one_call);
    agent.output_function(clock).streaming()
}

async fn thread(url: &str, folder: &Path, place: &str) -> Thread<AgentFlow> {
    let store = SqliteStore::open(folder.join("talk.db")).await.unwrap();
    let threads = agent(url, place.into()).store(&store);
    threads.on_busy(OnBusy::Queue).thread("ann")
}

#[tokio::test]
async fn f44_10_a_killed_turn_goes_on_and_ends_once() {
    let Some(local) = local_model().await else {
        return;
    };
    let url = &local.server.url;
    let folder = tempfile::tempdir().unwrap();
    let start = |place: &str| {
        OtherProcess::start(
            CHILD,
            &format!("{url}\n{}\n{place}", folder.path().display()),
        )
    };
    for place in PLACES {
        let mut child = start(place);
        child.wait_for(place);
        child.kill();
        // What the killed process asked for is given up.
        local.tokens_when_idle(MAX_TOKENS_OF_CALL).await;
    }
    start("the end").finish();
    let known = thread(url, folder.path(), "").await.snapshot().await;
    let known = known.unwrap().expect("the thread is stored");
    assert!(known.is_finished());
    let talk = known.state;
    let asked = talk.events.iter().filter(|event| event.is_from_user());
    assert_eq!(asked.count(), 1, "{:?}", talk.events);
    let answers = talk.events.iter().filter(|event| event.output.is_some());
    assert_eq!(answers.count(), 1, "{:?}", talk.events);
    let zone: String = talk.output().unwrap();
    assert!(["utc", "cet"].contains(&&*zone), "{zone}");
    // The model was not asked again after the tool had begun.
    assert_eq!((talk.usage().requests, talk.usage().tool_calls), (1, 1));
}

/// Not a test of its own: the process that is killed.
#[tokio::test]
async fn the_child() {
    let Some(given) = server_of_first_process() else {
        return;
    };
    let parts: Vec<&str> = given.split('\n').collect();
    let [url, folder, place] = parts[..] else {
        panic!("{given}");
    };
    let thread = thread(url, Path::new(folder), place).await;
    let known = thread.snapshot().await.unwrap();
    let run = match known {
        Some(_) => thread.resume(()),
        None => thread.run("What is the time?"),
    };
    let mut events = AgentEvents::new(run.events());
    while let Some(item) = events.next().await {
        match item.kind {
            AgentEventKind::Partial(_) if place == PLACES[0] => {
                println!("{place}");
                std::future::pending::<()>().await;
            }
            AgentEventKind::Failed(error) => panic!("{error:?}"),
            _ => {}
        }
    }
}
