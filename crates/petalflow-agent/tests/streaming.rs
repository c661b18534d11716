//! The streamed events of a run, and when they are emitted.

use std::sync::Arc;

use petalflow::policy::Retry;
use petalflow_agent::Agent;
use petalflow_agent::stream::AgentEventKind;
use petalflow_llm::stream::Delta;
use petalflow_llm::{LlmError, LlmErrorKind, LlmResponse, Reply, ScriptedModel, TokenUsage};
use serde_json::json;

use super::kit::{all, events, results, returns, scripted, shape, tool};

#[tokio::test]
async fn a019_deltas_are_sent_only_when_streaming_is_enabled() {
    let (agent, _) = scripted([Reply::chunks(["hel", "lo"])]);
    let (pieces, events, _) = all(agent.events("hi")).await;
    assert!(pieces.is_empty());
    assert_eq!(shape(&events), ["hello"]);

    let (agent, _) = scripted([Reply::chunks(["hel", "lo"])]);
    let (pieces, events, _) = all(agent.streaming().events("hi")).await;
    assert_eq!(shape(&pieces), ["hel", "lo"]);
    assert!(
        pieces
            .iter()
            .all(|piece| piece.partial && piece.author == "agent")
    );
    assert_eq!(shape(&events), ["hello"]);
    assert!(!events[0].partial);
}

#[tokio::test]
async fn a017_callbacks_see_every_delta_and_the_response_and_may_replace_each() {
    let (agent, _) = scripted([Reply::chunks(["hel", "lo"])]);
    let agent = agent
        .streaming()
        .after_model(|call, response| {
            let loud = response.text().to_uppercase();
            let mark = if call.is_partial() { "~" } else { "!" };
            Ok(Some(LlmResponse::text_only(loud + mark)))
        })
        .after_model(|_, _| panic!("the first has decided"));
    let (pieces, events, _) = all(agent.events("hi")).await;
    assert_eq!(shape(&pieces), ["HEL~", "LO~"]);
    assert_eq!(shape(&events), ["HELLO!"]);
}

#[tokio::test]
async fn a021_streamed_calls_are_emitted_but_made_only_when_complete() {
    let piece = |name: Option<&str>, arguments: &str| Delta::Call {
        index: 0,
        id: Some("1".into()),
        name: name.map(Into::into),
        arguments: arguments.into(),
    };
    let reply = Reply::chunks([piece(Some("echo"), "{\"say\":"), piece(None, "\"hi\"}")]);
    let (agent, _) = scripted([reply, "done".into()]);
    let agent = agent
        .streaming()
        .tool(tool("echo", |arguments, _| Ok(arguments["say"].clone())));
    let (pieces, events, talk) = all(agent.events("go")).await;
    assert_eq!(pieces.len(), 2, "the call's begin, and the last words");
    assert_eq!(results(&talk), ["hi"], "once");
    assert_eq!(events.len(), 3);
    assert!(
        talk.events.iter().all(|event| !event.partial),
        "pieces are not kept"
    );
}

#[tokio::test]
async fn a064_the_response_has_the_parts_in_order_with_signatures_and_usage() {
    let usage = TokenUsage {
        input: 3,
        output: 4,
        total: 7,
        ..TokenUsage::default()
    };
    let argument = |path: &str, value| Delta::Argument {
        index: 0,
        path: path.into(),
        value,
    };
    let reply = Reply::chunks([
        Delta::Thought("hm".into()),
        Delta::Signature("c2ln".into()),
        Delta::Text("let me ".into()),
        Delta::Text("see".into()),
        Delta::Call {
            index: 0,
            id: Some("1".into()),
            name: Some("echo".into()),
            arguments: String::new(),
        },
        argument("$.say", json!("h")),
        argument("$.say", json!("i")),
        argument("$.to.name", json!("Ann")),
    ])
    .with_usage(usage);
    let (agent, _) = scripted([reply, "done".into()]);
    let agent = agent.streaming().tool(returns("echo", json!(1)));
    let (pieces, events, talk) = all(agent.events("go")).await;
    assert!(pieces.iter().all(|piece| piece.partial));
    assert_eq!(
        shape(&events)[0],
        r#"(hm) & let me see & echo{"say":"hi","to":{"name":"Ann"}}"#
    );
    let message = events[0].message.as_ref().unwrap();
    assert!(
        matches!(&message.parts[0], petalflow_llm::Part::Thought(text) if text.signature.as_deref() == Some("c2ln"))
    );
    assert_eq!(events[0].usage, Some(usage));
    assert_eq!(talk.usage().tokens.total, 7);
}

#[tokio::test(start_paused = true)]
async fn the_deltas_of_each_attempt_are_distinguishable() {
    let cut = LlmError::new(LlmErrorKind::Connection, "cut");
    let (agent, _) = scripted([
        Reply::chunks(["wro"]).broken(cut),
        Reply::chunks(["ri", "ght"]),
    ]);
    let mut stream = agent.streaming().retry(Retry::times(2)).events("go");
    let mut heard: Vec<String> = Vec::new();
    while let Some(progress) = stream.next().await {
        let attempt = progress.task.as_ref().map_or(0, |task| task.attempt);
        match progress.kind {
            AgentEventKind::Partial(piece) => heard.push(format!("{attempt} {}", piece.text())),
            AgentEventKind::Retry { .. } => heard.push(format!("{attempt} is void")),
            AgentEventKind::Event(event) => heard.push(format!("{attempt} {}!", event.text())),
            _ => {}
        }
    }
    assert_eq!(heard, ["1 wro", "1 is void", "2 ri", "2 ght", "2 right!"]);
}

#[tokio::test]
async fn the_progress_of_a_tool_is_in_the_same_stream() {
    let slow = tool("slow", |_, cx| {
        cx.emit(json!({"percent": 50}));
        Ok(json!("done"))
    });
    let (agent, _) = scripted([Reply::call("slow", json!({})), "ok".into()]);
    let mut stream = agent.tool(slow).events("go");
    let mut order = Vec::new();
    while let Some(progress) = stream.next().await {
        let node = progress
            .task
            .as_ref()
            .map_or("", |task| &task.node)
            .to_string();
        match progress.kind {
            AgentEventKind::Event(_) => order.push(node),
            AgentEventKind::Custom(value) => order.push(format!("{node} {value}")),
            AgentEventKind::Finished(talk) => order.push(talk.answer()),
            _ => {}
        }
    }
    assert_eq!(
        order,
        ["ask", r#"call {"percent":50}"#, "gather", "ask", "ok"]
    );
}

#[tokio::test]
async fn a_failed_run_says_so_in_its_stream() {
    let agent = Agent::new(Arc::new(ScriptedModel::new(Vec::<Reply>::new())));
    let mut stream = agent.events("go");
    let mut last = None;
    while let Some(progress) = stream.next().await {
        last = Some(progress.kind);
    }
    assert!(matches!(last, Some(AgentEventKind::Failed(_))));
    let (agent, _) = scripted(["fine"]);
    assert_eq!(shape(&events(&agent, "go").await.0), ["fine"]);
}
