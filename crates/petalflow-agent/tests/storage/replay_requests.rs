//! The requests of agents are compared with those that were made when the thread was stored.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::{Retention, ThreadFile};
use petalflow_agent::{Agent, Mode};
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_testing::{Replay, ReplayReport};
use serde_json::json;

use crate::kit::{scripted_agent, tool};

/// An agent with a tool, and how often the tool was called.
fn weather_agent(replies: Vec<Reply>) -> (Agent, Arc<ScriptedModel>, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (agent, model) = scripted_agent(replies);
    let weather = tool("weather", move |_, _| {
        Ok(json!(counted.fetch_add(1, SeqCst)))
    });
    let agent = agent.instructions("You tell the weather.").tool(weather);
    (agent, model, calls)
}

async fn stored(agent: &Agent, lines: &[&str], retention: Retention) -> ThreadFile {
    let threads = agent.store(&InMemoryStore::new()).retention(retention);
    let thread = threads.thread("ann");
    for line in lines {
        thread.run(*line).await.unwrap().into_finished().unwrap();
    }
    let text = thread.export().await.unwrap().to_string();
    text.parse().unwrap()
}

async fn report(file: &ThreadFile, agent: &Agent) -> ReplayReport {
    let replay = Replay::of_file(file.clone()).flow(agent.launch());
    replay.requests().report().await
}

fn rows(report: &ReplayReport) -> Vec<String> {
    let rows = report.replayed.differences.iter().map(|row| {
        let (turn, superstep) = row.superstep.unwrap_or_default();
        let node = row.node.as_deref().unwrap_or("-");
        let flow = &row.flow;
        format!(
            "{flow} {turn}.{superstep} {node} {} {}: {} => {}",
            row.kind, row.name, row.expected, row.found
        )
    });
    rows.collect()
}

fn replies() -> Vec<Reply> {
    vec![
        Reply::call("weather", json!({"n": 1})),
        "it rains".into(),
        "you are welcome".into(),
    ]
}

#[tokio::test]
async fn f44_the_requests_of_the_same_agent_are_equal_and_nothing_is_called() {
    let (agent, _, _) = weather_agent(replies());
    let file = stored(
        &agent,
        &["how is it?", "thanks"],
        Retention::ALL.with_results(),
    )
    .await;
    let (today, silent, calls) = weather_agent(Vec::new());
    let report = report(&file, &today).await;
    assert!(report.is_same(), "{report}");
    assert_eq!(report.replayed.requests, 3, "{report}");
    assert_eq!(report.replayed.requests_left, 0, "{report}");
    assert_eq!((calls.load(SeqCst), silent.requests().len()), (0, 0));
    assert_eq!(report.replayed.ran, 0);

    // Without being asked to, it compares none, and says so.
    let replay = Replay::of_file(file).flow(today.launch()).report().await;
    assert!(replay.is_same(), "{replay}");
    assert_eq!(
        (replay.replayed.requests, replay.replayed.requests_left),
        (0, 3)
    );
    assert!(
        replay
            .to_string()
            .contains("3 recorded requests to models were not compared")
    );
}

#[tokio::test]
async fn f44_each_changed_part_of_a_request_is_shown() {
    let (agent, _, _) = weather_agent(replies());
    let file = stored(
        &agent,
        &["how is it?", "thanks"],
        Retention::ALL.with_results(),
    )
    .await;
    let instructed = || {
        let (agent, _) = scripted_agent(Vec::<Reply>::new());
        agent.instructions("You tell the weather, in French.")
    };
    let weather = || tool("weather", |_, _| Ok(json!(1)));
    let changed = report(&file, &instructed().tool(weather())).await;
    let asks = ["1.2", "1.5", "2.2"];
    let expected = asks.map(|at| {
        format!(
            " {at} ask request system: \"You tell the weather.\" => \"You tell the weather, in French.\""
        )
    });
    assert_eq!(rows(&changed), expected);

    let (agent, _, _) = weather_agent(Vec::new());
    let cooler = report(
        &file,
        &agent.request(|request| request.temperature = Some(0.5)),
    )
    .await;
    let expected = asks.map(|at| format!(" {at} ask request temperature: - => 0.5"));
    assert_eq!(rows(&cooler), expected);

    let (agent, _) = scripted_agent(Vec::<Reply>::new());
    let agent = agent.instructions("You tell the weather.");
    let more = agent
        .tool(weather())
        .tool(tool("tides", |_, _| Ok(json!(1))));
    let more = rows(&report(&file, &more).await);
    assert_eq!(more.len(), 6, "{more:#?}");
    for (at, rows) in asks.iter().zip(more.chunks(2)) {
        assert!(rows[0].starts_with(&format!(" {at} ask request tool tides description: - => ")));
        assert!(rows[1].starts_with(&format!(" {at} ask request tool tides schema: - => ")));
    }
}

#[tokio::test]
async fn f44_a_thread_without_requests_is_not_equal() {
    let (agent, _, _) = weather_agent(replies());
    let file = stored(
        &agent,
        &["how is it?", "thanks"],
        Retention::ALL.with_results(),
    )
    .await;
    // As an older program has stored it.
    let mut json = file.json().clone();
    let mut first = true;
    let mut kept = 0;
    for checkpoint in json["flows"][""]["checkpoints"].as_array_mut().unwrap() {
        if let Some(records) = checkpoint.get_mut("records") {
            records.as_array_mut().unwrap().retain(|record| {
                let is_request = record["name"].as_str().unwrap().starts_with("request/");
                let keeps = !is_request || std::mem::take(&mut first);
                kept += usize::from(is_request && keeps);
                keeps
            });
        }
    }
    assert_eq!(kept, 1);
    let older: ThreadFile = json.to_string().parse().unwrap();
    let (today, silent, calls) = weather_agent(Vec::new());
    let report_of_some = report(&older, &today).await;
    let expected =
        ["1.5", "2.2"].map(|at| format!(" {at} ask request : not recorded => a request"));
    assert_eq!(rows(&report_of_some), expected);

    for checkpoint in json["flows"][""]["checkpoints"].as_array_mut().unwrap() {
        if let Some(records) = checkpoint.get_mut("records") {
            let is_request = |record: &serde_json::Value| {
                record["name"].as_str().unwrap().starts_with("request/")
            };
            records
                .as_array_mut()
                .unwrap()
                .retain(|record| !is_request(record));
        }
    }
    let oldest: ThreadFile = json.to_string().parse().unwrap();
    let none = report(&oldest, &today).await;
    assert_eq!(rows(&none), [" 0.0 - request all: not recorded => -"]);
    assert!(!none.is_same());
    assert_eq!((calls.load(SeqCst), silent.requests().len()), (0, 0));
}

#[tokio::test]
async fn f44_a_thread_that_retains_no_results_records_no_request() {
    let (agent, _, _) = weather_agent(replies());
    let file = stored(&agent, &["how is it?", "thanks"], Retention::ALL).await;
    assert!(!file.to_string().contains("request/"), "{file}");
}

#[tokio::test]
async fn f44_the_requests_of_a_called_agent_are_compared() {
    let program = |instructions: &str, replies: Vec<Reply>, inner: Vec<Reply>| {
        let (expert, inner) = scripted_agent(inner);
        let expert = expert.name("expert").instructions(instructions);
        let (agent, outer) = scripted_agent(replies);
        let agent = agent.name("desk").sub_agent(expert.mode(Mode::SingleTurn));
        (agent, outer, inner)
    };
    let replies = vec![
        Reply::call("expert", json!({"request": "rain?"})),
        "it rains".into(),
    ];
    let (agent, ..) = program("You know rain.", replies, vec!["yes".into()]);
    let file = stored(&agent, &["how is it?"], Retention::ALL.with_results()).await;
    let (same, outer, inner) = program("You know rain.", Vec::new(), Vec::new());
    let same = report(&file, &same).await;
    assert!(same.is_same(), "{same}");
    assert_eq!(
        (same.replayed.requests, same.replayed.requests_left),
        (3, 0),
        "{same}"
    );
    assert_eq!((outer.requests().len(), inner.requests().len()), (0, 0));

    let (changed, outer, inner) = program("You know snow.", Vec::new(), Vec::new());
    let changed = rows(&report(&file, &changed).await);
    assert_eq!(changed.len(), 1, "{changed:#?}");
    assert!(
        changed[0].starts_with("call[0]/expert 1.2 ask request system: "),
        "{changed:#?}"
    );
    assert!(
        changed[0].contains("rain") && changed[0].contains("snow"),
        "{changed:#?}"
    );
    assert_eq!((outer.requests().len(), inner.requests().len()), (0, 0));
}
