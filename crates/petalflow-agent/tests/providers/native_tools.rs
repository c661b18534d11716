//! Agents with tools that the provider runs itself.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::Agent;
use petalflow_llm::native::{NativeAction, NativeOutcome, WebSearch, uses};
use petalflow_llm::{ChatMessage, Part, ProviderModel};
use petalflow_llm_test_support::server::{Server, answer};
use serde_json::{Value, json};

fn blocks() -> [Value; 3] {
    [
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "oldest tree"}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
            {"type": "web_search_result", "url": "https://trees.example", "title": "Old trees", "encrypted_content": "ZW5j"}]}),
        json!({"type": "text", "text": "It is 4,857 years old.", "citations": [
            {"type": "web_search_result_location", "url": "https://trees.example", "title": "Old trees", "encrypted_index": "aW4=", "cited_text": "4857 years"}]}),
    ]
}

fn body(blocks: &[Value], reason: &str) -> Value {
    json!({"id": "m", "content": blocks, "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}})
}

async fn server() -> Server {
    let blocks = blocks();
    let answers = [
        // The pause is between a search and its result.
        body(&blocks[..1], "pause_turn"),
        body(&blocks[1..], "end_turn"),
        body(&[json!({"type": "text", "text": "Yes."})], "end_turn"),
    ];
    Server::start(move |number, _| {
        let body = answers[number.min(2)].to_string();
        answer("200 OK", "application/json", &body)
    })
    .await
}

fn agent(name: &str, server: &Server) -> Agent {
    let model = ProviderModel::new(name).unwrap().without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    Agent::new(Arc::new(model)).native_tool(WebSearch::new().max_uses(3))
}

#[tokio::test]
async fn f44_5_a_search_that_was_paused_is_stored_and_read_by_the_next_process() {
    let server = server().await;
    let store = InMemoryStore::new();
    let first = agent("claude-sonnet-4-6", &server).store(&store);
    let talk = first.thread("t").run("How old?").await.unwrap();
    assert_eq!(
        talk.into_finished().unwrap().answer(),
        "It is 4,857 years old."
    );

    // Another process with the same store.
    let second = agent("claude-sonnet-4-6", &server).store(&store);
    let talk = second.thread("t").run("Sure?").await.unwrap();
    let talk = talk.into_finished().unwrap();
    assert_eq!(talk.answer(), "Yes.");
    let messages: Vec<&ChatMessage> = talk
        .events
        .iter()
        .filter_map(|event| event.message.as_ref())
        .collect();
    let used = uses(messages.iter().flat_map(|message| &message.parts));
    assert_eq!(used.len(), 1);
    let queries = vec!["oldest tree".to_string()];
    assert_eq!(used[0].action, NativeAction::SearchWeb { queries });
    assert!(
        matches!(&used[0].outcome, Some(NativeOutcome::Sources(found)) if found[0].title() == "Old trees")
    );
    let cited: Vec<_> = messages
        .iter()
        .flat_map(|message| message.citations())
        .collect();
    assert_eq!(cited.len(), 1);
    assert_eq!(cited[0].0, "It is 4,857 years old.");
    assert_eq!(cited[0].1.source.url(), Some("https://trees.example"));

    let sent: Vec<Value> = server
        .requests()
        .into_iter()
        .map(|sent| sent.body)
        .collect();
    assert_eq!(sent.len(), 3);
    let tool = json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3});
    for body in &sent {
        assert_eq!(body["tools"], json!([tool]));
    }
    // The continuation, and the next turn after the restart.
    assert_eq!(sent[1]["messages"][1]["content"], json!(blocks()[..1]));
    assert_eq!(sent[2]["messages"][1]["content"], json!(blocks()));
    assert_eq!(sent[2]["messages"][2]["content"], "Sure?");
}

#[tokio::test]
async fn f44_5_a_turn_with_a_tool_that_the_provider_lacks_fails_before_a_request() {
    let server = server().await;
    let error = agent("gemini-3-pro", &server)
        .run("How old?")
        .await
        .unwrap_err();
    let error = error.to_string();
    let words = "the web search of provider `gemini` has no setting `max_uses`: remove it, or use a model of a provider that \
                 has it";
    assert!(error.contains(words), "{error}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn f44_5_messages_that_were_stored_before_are_read() {
    let stored = json!({"role": "assistant", "parts": [
        {"provider": {"provider": "anthropic", "value": blocks()[0]}},
        {"provider": {"provider": "anthropic", "value": blocks()[1]}},
        {"text": {"text": "It is old.", "origin": {"provider": "anthropic", "citations": blocks()[2]["citations"]}}},
    ]});
    let message: ChatMessage = serde_json::from_value(stored).unwrap();
    assert_eq!(message.native_uses().len(), 1);
    assert_eq!(message.citations().count(), 0);
    assert!(matches!(message.parts[2], Part::Text(_)));
}
