//! Threads of agents that are exported and replayed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::thread::{Retention, ThreadFile};
use petalflow_llm::Reply;
use petalflow_testing::Replay;
use serde_json::json;

use crate::kit::{scripted_agent, tool};

#[tokio::test]
async fn f44_an_agent_replays_without_a_model_and_without_a_tool() {
    let calls = Arc::new(AtomicUsize::new(0));
    for words in 1..=5 {
        let counted = Arc::clone(&calls);
        let weather = || {
            let counted = Arc::clone(&counted);
            tool("weather", move |_, _| {
                Ok(json!(counted.fetch_add(1, SeqCst)))
            })
        };
        let both = Reply::call("weather", json!({"n": 1})).and_call("weather", json!({"n": 2}));
        let replies = vec![
            both,
            "it rains ".repeat(words).into(),
            "you are welcome".into(),
        ];
        let (agent, model) = scripted_agent(replies);
        let agent = agent.tool(weather());
        let threads = agent
            .store(&InMemoryStore::new())
            .retention(Retention::ALL.with_results());
        let thread = threads.thread("ann");
        for line in ["how is the weather?", "thanks"] {
            thread.run(line).await.unwrap().into_finished().unwrap();
        }
        let text = thread.export().await.unwrap().to_string();
        let asked = (calls.load(SeqCst), model.requests().len());
        assert_eq!(asked, (2 * words, 3));

        // The program of today has no reply left: a call of its model would fail.
        let (today, silent) = scripted_agent(Vec::<Reply>::new());
        let today = today.tool(weather());
        let file: ThreadFile = text.parse().unwrap();
        let report = Replay::of_file(file).flow(today.launch()).report().await;
        assert!(report.is_same(), "{report}");
        assert!(report.replayed.supersteps >= 5, "{report}");
        assert_eq!(
            (calls.load(SeqCst), silent.requests().len()),
            (2 * words, 0)
        );
    }
}
