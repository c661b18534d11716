//! Runs of flows, one of them with an open question.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_server::ServedFlow;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Process, server};
use crate::kit::{call, wait_until_settled};

const RUNS: usize = 200;
const STEPS: u64 = 25;
/// How many processes are killed.
const KILLS: u64 = 4;

#[derive(Serialize, Ask)]
#[ask(answer = String, name = "title")]
struct AskTitle {}

#[state]
pub(super) struct Steps {
    #[key(input)]
    number: u64,
    #[key(sum)]
    done: u64,
    #[key(append)]
    log: Vec<String>,
    title: String,
}

#[node(Steps)]
async fn work(number: &u64, done: &u64) -> (StepsDone, StepsLog, bool) {
    tokio::time::sleep(Duration::from_millis(5)).await;
    let line = format!("step {done} of {number}");
    (StepsDone(1), StepsLog(vec![line]), done + 1 < STEPS)
}

#[node(Steps)]
async fn end() -> StepsLog {
    StepsLog(vec!["ended".into()])
}

#[node(Steps)]
async fn ask(cx: Context) -> petalflow::Result<StepsTitle> {
    Ok(StepsTitle(cx.ask(AskTitle {}).await?))
}

flow! {
    pub(super) RunSteps(Steps) {
        START -> work;
        work -> match { true => work, false => end };
    }
}

flow! {
    pub(super) RunAsking(Steps) {
        START -> work;
        work -> match { true => work, false => ask };
        ask -> end;
    }
}

pub(super) fn steps() -> ServedFlow<RunSteps> {
    ServedFlow::new(RunSteps::new()).named("steps")
}

pub(super) fn asking() -> ServedFlow<RunAsking> {
    let served = ServedFlow::new(RunAsking::new()).named("asking");
    served.question::<AskTitle>()
}

/// The state of a run that nothing interrupts.
async fn unbroken(number: usize) -> Value {
    let router = server(&InMemoryStore::new()).router();
    let body = json!({ "id": "a", "input": { "number": number } });
    let started = call(&router, "POST", "/flows/steps/threads", body).await;
    let view = wait_until_settled(&router, &started.thread()).await;
    assert_eq!(view["status"], "finished", "{view}");
    view["state"].clone()
}

#[test]
fn runs_of_flows_go_on_with_the_same_state_although_servers_are_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = Process::start(folder.path());
    let asks = json!({ "id": "a", "input": { "number": 0 } });
    first.call("POST", "/flows/asking/threads", &asks);
    for number in 0..RUNS {
        let id = format!("{number:03}");
        let body = json!({ "id": id, "input": { "number": number } });
        first.call("POST", "/flows/steps/threads", &body);
    }
    drop(first);
    for round in 1..KILLS {
        let process = Process::start(folder.path());
        std::thread::sleep(Duration::from_millis(100 * round));
        drop(process);
    }

    let last = Process::start(folder.path());
    let view = last.wait_for("asking:a", "waiting");
    let question = view["questions"][0]["id"].as_str().expect("it is open");
    let question = question.to_owned();
    // The question is as open in the next process.
    drop(last);
    let last = Process::start(folder.path());
    let path = format!("/threads/asking:a/answers/{question}");
    last.call("POST", &path, &json!({ "answer": "A Title" }));
    let view = last.wait_for("asking:a", "finished");
    assert_eq!(view["state"]["title"], "A Title");
    assert_eq!(view["state"]["done"], STEPS);

    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let expected = runtime.block_on(unbroken(7));
    for number in 0..RUNS {
        let view = last.wait_for(&format!("steps:{number:03}"), "finished");
        let text = expected
            .to_string()
            .replace("of 7", &format!("of {number}"));
        let mut expected: Value = serde_json::from_str(&text).expect("JSON");
        expected["number"] = number.into();
        assert_eq!(view["state"], expected);
    }
}
