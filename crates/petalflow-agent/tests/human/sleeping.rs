//! Agents that wait for a time.

use std::time::Duration;

use petalflow::checkpoint::{InMemoryStore, Store as _, ThreadStatus};
use petalflow_agent::human::{EndSleep, sleep_tool};
use petalflow_agent::{Agent, Conversation};
use petalflow_llm::Reply;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::kit::scripted_agent;

const DAY: Duration = Duration::from_hours(24);

fn waits(seconds: u64) -> Reply {
    Reply::call(
        "sleep",
        json!({ "seconds": seconds, "reason": "the train is late" }),
    )
}

fn agent(replies: impl IntoIterator<Item = Reply>) -> Agent {
    scripted_agent(replies).0.tool(sleep_tool(7 * DAY))
}

/// What the model reads of the calls.
fn results(talk: &Conversation) -> Vec<Value> {
    let messages = talk
        .events
        .iter()
        .filter_map(|event| event.message.as_ref());
    let results = messages.flat_map(petalflow_llm::ChatMessage::tool_results);
    results.map(|result| result.content.clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn f43_an_agent_sleeps_and_any_process_continues_it() {
    let store = InMemoryStore::new();
    let agents = agent([waits(86_400), "Here it is.".into()]).store(&store);
    let thread = agents.thread("ann");
    let begun_ms = store.now_ms().await.unwrap();
    let paused = thread.run("a train").await.unwrap();
    let open = paused.interrupts();
    assert_eq!(open.len(), 1, "{open:?}");
    let info = thread.info().await.unwrap().unwrap();
    let due_ms = begun_ms + 86_400_000;
    assert_eq!(
        (info.status, info.due_ms),
        (ThreadStatus::Waiting, Some(due_ms))
    );
    tokio::spawn(agents.wake().run());
    sleep(DAY + Duration::from_secs(1)).await;
    let talk = thread.snapshot().await.unwrap().unwrap().state;
    assert_eq!(results(&talk), [json!({ "slept": true })]);
    assert_eq!(talk.answer(), "Here it is.");
}

#[tokio::test(start_paused = true)]
async fn f43_a_person_ends_the_sleep_of_an_agent_early() {
    let agents = agent([waits(86_400), "Here it is.".into()]).store(&InMemoryStore::new());
    let thread = agents.thread("ann");
    let _waits = thread.run("a train").await.unwrap();
    sleep(Duration::from_mins(1)).await;
    let answer = thread.answer::<EndSleep>(Some("it has arrived".into()));
    let talk = answer.await.unwrap().into_finished().unwrap();
    let expected = json!({ "slept": false, "ended_early": "it has arrived" });
    assert_eq!(results(&talk), [expected]);
    assert_eq!(thread.info().await.unwrap().unwrap().due_ms, None);
}

#[tokio::test(start_paused = true)]
async fn f43_an_agent_sleeps_twice_at_once_for_different_times() {
    let twice = waits(60).and_call("sleep", json!({ "seconds": 86_400, "reason": "b" }));
    let agents = agent([twice, "Here it is.".into()]).store(&InMemoryStore::new());
    let thread = agents.thread("ann");
    let paused = thread.run("a train").await.unwrap();
    assert_eq!(paused.interrupts().len(), 2);
    tokio::spawn(agents.wake().run());
    sleep(Duration::from_secs(70)).await;
    assert_eq!(
        thread.info().await.unwrap().unwrap().status,
        ThreadStatus::Waiting,
        "one sleep is left"
    );
    let talk = thread.answer::<EndSleep>(Some("enough".into())).await;
    let talk = talk.unwrap().into_finished().unwrap();
    let expected = [
        json!({ "slept": true }),
        json!({ "slept": false, "ended_early": "enough" }),
    ];
    assert_eq!(results(&talk), expected);
}

#[tokio::test(start_paused = true)]
async fn f43_without_a_store_the_sleep_of_an_agent_is_a_timer() {
    let begun = Instant::now();
    let talk = agent([waits(86_400), "Here it is.".into()])
        .run("a train")
        .await;
    assert_eq!(results(&talk.unwrap()), [json!({ "slept": true })]);
    assert_eq!(begun.elapsed().as_secs(), 86_400);
}

#[tokio::test(start_paused = true)]
async fn f43_a_sleep_that_is_too_long_or_none_is_an_error_for_the_model() {
    let replies = [
        waits(0),
        waits(604_801),
        waits(604_800),
        "Here it is.".into(),
    ];
    let begun = Instant::now();
    let talk = agent(replies).run("a train").await.unwrap();
    let results = results(&talk);
    for (result, seconds) in results.iter().zip([0, 604_801]) {
        let text = format!("`seconds` is {seconds}: give a number from 1 to 604800");
        assert!(result.to_string().contains(&text), "{result}");
    }
    assert_eq!(results[2], json!({ "slept": true }));
    assert_eq!(begun.elapsed().as_secs(), 604_800);
}
