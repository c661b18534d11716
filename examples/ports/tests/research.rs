//! The agent for research.

use std::sync::Arc;

use petalflow::async_trait;
use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow_llm::{ChatMessage, LlmRequest, Reply, Role, ScriptedModel};
use petalflow_port_examples::research::{Hit, Research, Topic, Web, research};
use serde_json::json;

use crate::killed;

/// A web with one page for each query, whose last one cannot be read.
struct Pages;

#[async_trait]
impl Web for Pages {
    async fn search(&self, query: &str, most: usize, _: Topic) -> petalflow::Result<Vec<Hit>> {
        let url = format!("https://{}.example", query.replace(' ', "-"));
        let hit = Hit {
            url,
            title: query.into(),
        };
        Ok(vec![hit; most])
    }

    async fn page(&self, url: &str) -> petalflow::Result<String> {
        if url.contains("thorns") {
            return Err("404".into());
        }
        // A long page goes into a file.
        Ok(format!("All about {url}.\n").repeat(800))
    }
}

fn plan(states: [&str; 2]) -> Reply {
    let texts = ["research both", "write the report"];
    let items = texts.iter().zip(states);
    let items = items.map(|(text, state)| json!({ "text": text, "state": state }));
    Reply::call("write_plan", json!({ "items": items.collect::<Vec<_>>() }))
}

fn write(path: &str, text: &str) -> Reply {
    Reply::call("write_file", json!({ "path": path, "text": text }))
}

/// What a researcher answers about its topic.
fn findings(request: &LlmRequest, topic: &str, step: usize) -> Reply {
    let system = request.system.as_deref().unwrap_or_default();
    assert!(system.contains("Today is 2026-01-31"), "{system}");
    let last = request.messages.last().map(|message| {
        let results = message
            .tool_results()
            .map(|result| result.content.to_string());
        results.collect::<String>()
    });
    let last = last.unwrap_or_default();
    match step {
        0 => Reply::call("tavily_search", json!({ "query": topic })),
        1 => {
            assert!(
                last.contains(&format!("All about https://{topic}.example")),
                "{last}"
            );
            assert!(last.len() < 5_000, "a long page is in a file");
            Reply::call("think_tool", json!({ "reflection": "what about thorns?" }))
        }
        2 => Reply::call(
            "tavily_search",
            json!({ "query": format!("{topic} thorns") }),
        ),
        3 => {
            assert!(last.contains("cannot be read: 404"), "{last}");
            Reply::text(format!(
                "{topic} are red [1].\n\n### Sources\n[1] {topic}: https://{topic}.example"
            ))
        }
        _ => panic!("the topic is done"),
    }
}

fn script(request: &LlmRequest) -> Reply {
    let answers = request.messages.iter();
    let step = answers
        .filter(|message| message.role == Role::Assistant)
        .count();
    let asked = request.messages[0].text();
    for topic in ["roses", "tulips"] {
        if asked.contains(&format!("Research {topic}")) {
            return findings(request, topic, step);
        }
    }
    match step {
        0 => plan(["active", "pending"]),
        1 => write("research_request.md", &asked),
        2 => Reply::call("research-agent", json!({ "request": "Research roses" }))
            .and_call("research-agent", json!({ "request": "Research tulips" })),
        3 => {
            let results = request.messages.iter().flat_map(ChatMessage::tool_results);
            let found: String = results.map(|result| result.content.to_string()).collect();
            assert!(
                found.contains("roses are red") && found.contains("tulips are red"),
                "{found}"
            );
            // It reads the findings, and not the pages behind them.
            let texts: String = request.messages.iter().map(ChatMessage::text).collect();
            assert!(
                !texts.contains("All about") && !found.contains("All about"),
                "{texts}"
            );
            plan(["done", "active"])
        }
        4 => write("final_report.md", "Both are red [1][2]."),
        5 => Reply::call("read_file", json!({ "path": "research_request.md" })),
        6 => plan(["done", "done"]),
        _ => Reply::text("See final_report.md."),
    }
}

const QUESTION: &str = "Compare roses and tulips.";

async fn answer(store: impl Store + Clone) -> Research {
    let model = Arc::new(ScriptedModel::from_fn(script));
    let found = research(
        model,
        Arc::new(Pages),
        &store,
        "flowers",
        QUESTION,
        "2026-01-31",
    );
    found.await.expect("it works")
}

#[tokio::test]
async fn f44_the_research_agent_compares_two_topics() {
    let found = answer(InMemoryStore::new()).await;
    assert_eq!(found.answer, "See final_report.md.");
    assert_eq!(found.report.as_deref(), Some("Both are red [1][2]."));
    assert_eq!(found.plan, "[x] research both\n[x] write the report");
}

#[tokio::test]
async fn f44_a_research_agent_that_is_killed_at_each_write_gives_the_same_report() {
    let kills = killed::everywhere(async |store, _| answer(store).await).await;
    println!("the research agent was killed {kills} times");
}
