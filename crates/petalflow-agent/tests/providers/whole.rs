//! Turns of an agent over what providers send in pieces: calls that are not whole, tools of the provider, pauses.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::checkpoint::InMemoryStore;
use petalflow_agent::compaction::{CompactionContext, Compactor, ContextSize};
use petalflow_agent::limits::{LimitExceeded, LimitKind};
use petalflow_agent::{Agent, AgentError, Conversation, Limits};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::{self, Server, Step, end, event, events};
use serde_json::{Value, json};

use crate::kit::{results, tool};

fn whole(body: &Value) -> Vec<Step> {
    server::answer("200 OK", "application/json", &body.to_string())
}

fn sse(sent: &[Value]) -> Vec<Step> {
    let pieces = sent.iter().map(event);
    [events()]
        .into_iter()
        .chain(pieces)
        .chain([end()])
        .collect()
}

/// A provider that answers with these in turn, and then with the last again and again.
async fn provider(name: &str, answers: Vec<Vec<Step>>) -> (Server, Arc<ProviderModel>) {
    let last = answers.len() - 1;
    let server = Server::start(move |number, _| answers[number.min(last)].clone()).await;
    let model = ProviderModel::new(name).unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    (server, Arc::new(model.without_retry()))
}

/// The agent, and the arguments with which its tool `weather` was called.
fn agent(model: Arc<ProviderModel>) -> (Agent, Arc<std::sync::Mutex<Vec<Value>>>) {
    let called = Arc::<std::sync::Mutex<Vec<Value>>>::default();
    let record = Arc::clone(&called);
    let agent = Agent::new(model).tool(tool("weather", move |arguments, _| {
        record.lock().unwrap().push(arguments.clone());
        Ok(json!("sunny"))
    }));
    (agent, called)
}

fn chunk(delta: Value, reason: Option<&str>) -> Value {
    json!({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

#[tokio::test]
async fn f42_a_tool_gets_the_arguments_that_came_under_another_index() {
    let piece = |call: Value| chunk(json!({"tool_calls": [call]}), None);
    let first = sse(&[
        chunk(
            json!({"role": "assistant", "content": "Let me look. "}),
            None,
        ),
        piece(
            json!({"index": 1, "id": "tooluse_1", "type": "function", "function": {"name": "weather", "arguments": ""}}),
        ),
        piece(json!({"index": 0, "function": {"arguments": "{\"city\":"}})),
        piece(json!({"index": 0, "function": {"arguments": "\"Madrid\"}"}})),
        chunk(json!({}), Some("tool_calls")),
    ]);
    let second = sse(&[
        chunk(json!({"content": "done"}), None),
        chunk(json!({}), Some("stop")),
    ]);
    let (_server, model) = provider("openai::gpt-4o", vec![first, second]).await;
    let (agent, called) = agent(model);
    let talk = agent.streaming().run("How is Madrid?").await.unwrap();
    assert_eq!(talk.answer(), "done");
    assert_eq!(*called.lock().unwrap(), [json!({"city": "Madrid"})]);
}

#[tokio::test]
async fn f42_a_call_in_a_refusal_is_not_made_and_ends_the_turn() {
    let refused = json!({"id": "m", "stop_reason": "refusal", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
        {"type": "text", "text": "I would"}, {"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Madrid"}}]});
    let done = text("Then not.", "end_turn");
    for streaming in [false, true] {
        let answers = vec![whole(&refused), whole(&done)];
        let (server, model) = provider("claude-sonnet-4-6", answers).await;
        let (agent, called) = agent(model);
        let agent = if streaming { agent.streaming() } else { agent };
        let talk = agent.run("How is Madrid?").await.unwrap();
        assert_eq!(talk.answer(), "I would", "streaming: {streaming}");
        assert_eq!(server.requests().len(), 1, "streaming: {streaming}");
        assert!(called.lock().unwrap().is_empty(), "streaming: {streaming}");
        assert_eq!(
            talk.events.last().unwrap().finish,
            Some(FinishReason::Refusal)
        );

        // The next turn has the call with its result.
        let talk = agent.run(talk.next_input("And now?")).await.unwrap();
        assert_eq!(talk.answer(), "Then not.");
        let sent = server.requests().pop().unwrap();
        assert_eq!(sent.text.matches("\"c1\"").count(), 2, "{}", sent.text);
        assert!(sent.text.contains("ended with a refusal"), "{}", sent.text);
        assert!(called.lock().unwrap().is_empty(), "streaming: {streaming}");
    }
}

fn text(words: &str, reason: &str) -> Value {
    json!({"id": "m", "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [{"type": "text", "text": words}]})
}

#[tokio::test]
async fn f42_the_use_of_a_tool_whose_result_never_came_does_not_end_a_thread() {
    let orphan = json!({"id": "m", "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
        {"type": "text", "text": "I try"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "x"}}]});
    let answers = vec![whole(&orphan), whole(&text("done", "end_turn"))];
    let (server, model) = provider("claude-sonnet-4-6", answers).await;
    let store = InMemoryStore::new();
    let agent = Agent::new(model).store(&store);
    let first = agent.thread("t").run("fetch it").await.unwrap();
    assert_eq!(first.into_finished().unwrap().answer(), "I try");
    let talk = agent.thread("t").run("and now?").await.unwrap();
    assert_eq!(talk.into_finished().unwrap().answer(), "done");
    let sent = server.requests().remove(1).text;
    assert!(
        sent.contains("I try") && !sent.contains("srvtoolu_1"),
        "{sent}"
    );
}

fn paused(id: &str) -> Value {
    json!({"id": "m", "stop_reason": "pause_turn", "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [
        {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": id, "content": []}]})
}

#[tokio::test]
async fn f42_a_paused_answer_continues_with_requests_of_the_turn() {
    for streaming in [false, true] {
        let answers = vec![
            whole(&paused("srvtoolu_1")),
            whole(&paused("srvtoolu_2")),
            whole(&text("done", "end_turn")),
        ];
        let (server, model) = provider("claude-sonnet-4-6", answers).await;
        let agent = Agent::new(model);
        let agent = if streaming { agent.streaming() } else { agent };
        let talk = agent.run("search").await.unwrap();
        assert_eq!(talk.answer(), "done", "streaming: {streaming}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "streaming: {streaming}");
        let messages = &requests[2].body["messages"];
        let content = messages[1]["content"].as_array().unwrap();
        assert_eq!(content.len(), 4, "{messages}");
        assert_eq!(
            (&content[0]["id"], &content[2]["id"]),
            (&json!("srvtoolu_1"), &json!("srvtoolu_2"))
        );
        assert_eq!(messages.as_array().unwrap().len(), 2, "{messages}");
        let usage = talk.turn_usage();
        assert_eq!(
            (usage.requests, usage.tokens.output),
            (3, 3),
            "streaming: {streaming}"
        );
        // Each part is an event.
        let finishes: Vec<_> = talk
            .events
            .iter()
            .map(|event| event.finish.clone())
            .collect();
        let expected = [
            None,
            Some(FinishReason::Paused),
            Some(FinishReason::Paused),
            Some(FinishReason::Stop),
        ];
        assert_eq!(finishes, expected, "streaming: {streaming}");
    }
}

fn limit_exceeded(error: &petalflow::RunError) -> &LimitExceeded {
    let error = error.get_ref().expect("a node failed");
    match error.downcast_ref() {
        Some(AgentError::Limit(limit)) => limit,
        _ => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn f42_pauses_for_ever_end_at_the_limit_and_are_stored() {
    for streaming in [false, true] {
        let (server, model) =
            provider("claude-sonnet-4-6", vec![whole(&paused("srvtoolu_1"))]).await;
        let store = InMemoryStore::new();
        let agent = |limit: u64| {
            let agent = Agent::new(Arc::clone(&model)).turn_limits(Limits::new().requests(limit));
            if streaming { agent.streaming() } else { agent }
        };
        let error = agent(3)
            .store(&store)
            .thread("t")
            .run("search")
            .await
            .unwrap_err();
        let limit = limit_exceeded(&error);
        assert_eq!((limit.kind, limit.used), (LimitKind::Requests, 3.0));
        assert_eq!(server.requests().len(), 3, "streaming: {streaming}");

        // What was written is stored: with a higher limit the turn goes on from there.
        let error = agent(4)
            .store(&store)
            .thread("t")
            .resume(())
            .await
            .unwrap_err();
        let limit = limit_exceeded(&error);
        assert_eq!((limit.kind, limit.used), (LimitKind::Requests, 4.0));
        let requests = server.requests();
        assert_eq!(requests.len(), 4, "streaming: {streaming}");
        let content = requests[3].body["messages"][1]["content"]
            .as_array()
            .unwrap();
        assert_eq!(content.len(), 6, "{content:?}");
    }
}

#[tokio::test]
async fn f42_pauses_for_ever_end_at_the_maximum_of_model_calls() {
    let (server, model) = provider("claude-sonnet-4-6", vec![whole(&paused("srvtoolu_1"))]).await;
    let error = Agent::new(model)
        .max_model_calls(5)
        .run("search")
        .await
        .unwrap_err();
    let error = error.get_ref().unwrap();
    let Some(AgentError::TooManyModelCalls { calls, .. }) = error.downcast_ref() else {
        panic!("{error:?}");
    };
    assert_eq!((*calls, server.requests().len()), (5, 5));
}

#[tokio::test]
async fn f42_a_call_in_a_paused_answer_is_not_made() {
    let mut body = paused("srvtoolu_1");
    let call =
        json!({"type": "tool_use", "id": "c1", "name": "weather", "input": {"city": "Madrid"}});
    body["content"].as_array_mut().unwrap().push(call);
    let answers = vec![whole(&body), whole(&text("done", "end_turn"))];
    let (server, model) = provider("claude-sonnet-4-6", answers).await;
    let (agent, called) = agent(model);
    let talk = agent.run("search").await.unwrap();
    assert_eq!(talk.answer(), "done");
    assert!(called.lock().unwrap().is_empty());
    let error = results(&talk)[0]["error"].as_str().unwrap().to_string();
    assert!(error.contains("the provider paused the answer"), "{error}");
    assert_eq!(server.requests().len(), 2);
}

/// A policy that asks the model once.
struct Asking(Arc<ProviderModel>, AtomicUsize);

#[petalflow::async_trait]
impl Compactor for Asking {
    fn is_due(&self, context: ContextSize) -> bool {
        context.messages > 1
    }

    fn messages_to_keep(&self, _: &[ChatMessage]) -> usize {
        1
    }

    async fn replace(
        &self,
        _: &[ChatMessage],
        context: &CompactionContext<'_>,
    ) -> Result<Vec<ChatMessage>, petalflow::BoxError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let client: Arc<dyn petalflow_llm::LlmClient> = self.0.clone();
        let answer = context
            .ask(&client, LlmRequest::prompt("sum it up"))
            .await?;
        Ok(vec![ChatMessage::user(answer.text())])
    }
}

#[tokio::test]
async fn f42_pauses_of_a_summary_are_counted() {
    let (server, model) = provider("claude-sonnet-4-6", vec![whole(&paused("srvtoolu_1"))]).await;
    let (_talks, talking) =
        provider("claude-sonnet-4-6", vec![whole(&text("hello", "end_turn"))]).await;
    let talk: Conversation = Agent::new(Arc::clone(&talking)).run("hi").await.unwrap();
    let agent = Agent::new(talking)
        .compaction(Asking(model, AtomicUsize::new(0)))
        .turn_limits(Limits::new().requests(3));
    let error = agent.run(talk.next_input("and?")).await.unwrap_err();
    let text = petalflow::error::message_with_sources(&error);
    assert!(text.contains("its limit of 3 requests"), "{text}");
    assert_eq!(server.requests().len(), 3);
}
