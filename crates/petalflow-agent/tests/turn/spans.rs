//! The spans of a turn.

use opentelemetry_sdk::trace::SpanData;
use petalflow_agent::{Agent, ConversationInput, Mode};
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_llm_test_support::spans::RecordedSpans;
use petalflow_tracing::{Spans, TraceLaunch};
use serde_json::json;

use crate::kit::{constant_tool, scripted_agent, tool};

/// The spans of one turn, in the order in which they ended.
async fn spans(replies: impl IntoIterator<Item = Reply>) -> Vec<SpanData> {
    let recorded = RecordedSpans::start();
    let (agent, _) = scripted_agent(replies);
    let agent = agent.name("guide").tool(constant_tool("look", json!(1)));
    agent.run("go").await.unwrap();
    recorded.finished()
}

fn names(spans: &[SpanData]) -> Vec<&str> {
    spans.iter().map(|span| &*span.name).collect()
}

#[tokio::test]
async fn a065_one_span_per_call_of_a_model_or_a_tool_within_that_of_the_agent() {
    let one = spans([Reply::call("look", json!({})), "done".into()]).await;
    assert_eq!(
        names(&one),
        ["chat", "execute_tool look", "chat", "invoke_agent guide"]
    );
    let agent = one.last().unwrap().span_context.span_id();
    assert!(one[..3].iter().all(|span| span.parent_span_id == agent));
}

#[tokio::test]
async fn a065_the_results_of_several_calls_have_a_span_of_their_own() {
    let both = Reply::call("look", json!({})).and_call("look", json!({}));
    let two = spans([both, "done".into()]).await;
    assert_eq!(
        names(&two),
        [
            "chat",
            "execute_tool look",
            "execute_tool look",
            "execute_tool (merged)",
            "chat",
            "invoke_agent guide"
        ]
    );
}

fn text(span: &SpanData, name: &str) -> Option<String> {
    let mut attributes = span.attributes.iter();
    let found = attributes.find(|attribute| attribute.key.as_str() == name);
    found.map(|attribute| attribute.value.to_string())
}

#[tokio::test]
async fn the_spans_of_an_agent_have_its_content() {
    let seen = RecordedSpans::start();
    let model = ScriptedModel::new([Reply::call("double", json!({"n": 2})), "4".into()]);
    let agent = Agent::new(model).tool(tool("double", |arguments, _| {
        Ok(json!({ "doubled": arguments["n"].as_i64().unwrap_or_default() * 2 }))
    }));
    let launch = agent.launch().traced(Spans::new().with_content());
    launch.run(ConversationInput::from("2 * 2?")).await.unwrap();
    let call = seen.span("execute_tool double");
    assert_eq!(
        text(&call, "gen_ai.tool.call.arguments").unwrap(),
        r#"{"n":2}"#
    );
    assert_eq!(
        text(&call, "gen_ai.tool.call.result").unwrap(),
        r#"{"doubled":4}"#
    );
    let all = seen.finished();
    let first = all.iter().find(|span| span.name == "chat").unwrap();
    assert!(
        text(first, "gen_ai.input.messages")
            .unwrap()
            .contains("2 * 2?")
    );
    assert!(
        text(first, "gen_ai.tool.definitions")
            .unwrap()
            .contains("A tool of a test.")
    );
}

/// The name of the span's parent.
fn parent<'a>(spans: &'a [SpanData], name: &str) -> &'a str {
    let span = spans.iter().find(|span| span.name == name).unwrap();
    let mut all = spans.iter();
    let parent = all.find(|other| other.span_context.span_id() == span.parent_span_id);
    parent.map_or("", |parent| &parent.name)
}

#[tokio::test]
async fn every_agent_of_a_turn_has_a_span() {
    let seen = RecordedSpans::start();
    let transfer = |agent: &str| Reply::call("transfer_to_agent", json!({ "agent_name": agent }));
    let model = ScriptedModel::new([
        transfer("helper"),
        Reply::call("look", json!({})),
        transfer("clerk"),
        Reply::call("adviser", json!({ "request": "which?" })),
        "the red one".into(),
        "done".into(),
        "again".into(),
    ]);
    let helper = Agent::named("helper").tool(constant_tool("look", json!(1)));
    let adviser = Agent::named("adviser").mode(Mode::SingleTurn);
    let clerk = Agent::named("clerk").sub_agent(adviser);
    let guide = Agent::new(model)
        .name("guide")
        .sub_agent(helper)
        .sub_agent(clerk);
    let talk = guide.run("go").await.unwrap();
    let spans = seen.finished();
    assert_eq!(
        names(&spans),
        [
            "chat",
            "chat",
            "execute_tool look",
            "chat",
            "invoke_agent helper",
            "chat",
            "chat",
            "invoke_agent adviser",
            "chat",
            "invoke_agent clerk",
            "invoke_agent guide",
        ]
    );
    assert_eq!(parent(&spans, "invoke_agent helper"), "invoke_agent guide");
    assert_eq!(parent(&spans, "invoke_agent clerk"), "invoke_agent guide");
    assert_eq!(parent(&spans, "invoke_agent adviser"), "invoke_agent clerk");
    assert_eq!(parent(&spans, "execute_tool look"), "invoke_agent helper");

    // The next turn begins with the agent that has the conversation.
    guide.run(talk.next_input("again")).await.unwrap();
    let next = &seen.finished()[spans.len()..];
    assert_eq!(
        names(next),
        ["chat", "invoke_agent clerk", "invoke_agent guide"]
    );
    assert_eq!(parent(next, "chat"), "invoke_agent clerk");
}
