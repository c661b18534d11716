//! Answers that were cut in the middle of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::async_trait;
use petalflow_agent::Agent;
use petalflow_llm::response::FinishReason;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse, Part, Reply, Role, ScriptedModel,
    TokenUsage,
};
use serde_json::{Value, json};

use crate::kit::{call, results, tool};

/// An answer that was cut after this call.
fn cut_after(arguments: Value) -> LlmResponse {
    let parts = vec![
        Part::Call(call("a", "list", json!({"path": "/"}))),
        Part::Call(call("b", "wipe", arguments)),
    ];
    LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, parts)),
        finish: Some(FinishReason::Length),
        usage: TokenUsage {
            output: 20,
            ..TokenUsage::default()
        },
        ..LlmResponse::default()
    }
}

/// The agent, and how often its tools `list` and `wipe` ran.
fn agent(model: impl LlmClient) -> (Agent, [Arc<AtomicUsize>; 2]) {
    let counted = [Arc::<AtomicUsize>::default(), Arc::default()];
    let [list, wipe] = counted.clone();
    let agent = Agent::new(model)
        .tool(tool("list", move |_, _| {
            list.fetch_add(1, Ordering::Relaxed);
            Ok(json!(["tmp"]))
        }))
        .tool(tool("wipe", move |_, _| {
            wipe.fetch_add(1, Ordering::Relaxed);
            Ok(json!("wiped"))
        }));
    (agent, counted)
}

async fn check(agent: &Agent, counted: [Arc<AtomicUsize>; 2]) {
    let talk = agent.run("clean up").await.unwrap();
    assert_eq!(talk.answer(), "done");
    let [listed, wiped] = counted.map(|count| count.load(Ordering::Relaxed));
    assert_eq!(
        (listed, wiped),
        (0, 0),
        "no call of an answer that was cut is made"
    );
    let results = results(&talk);
    for result in &results {
        let error = result["error"].as_str().unwrap();
        assert!(error.contains("the answer was cut at 20 tokens"), "{error}");
    }
}

#[tokio::test]
async fn no_call_of_a_cut_answer_is_made_and_the_model_reads_why() {
    for arguments in [
        json!({}),
        json!({"prefix": "tmp"}),
        Value::Null,
        json!("{\"prefix\": \"tm"),
    ] {
        for streaming in [false, true] {
            let model =
                ScriptedModel::new([Reply::from(cut_after(arguments.clone())), "done".into()]);
            let (agent, counted) = agent(model);
            let agent = if streaming { agent.streaming() } else { agent };
            check(&agent, counted).await;
        }
    }
}

/// A client that does not check its answers.
struct Unchecked(ScriptedModel);

#[async_trait]
impl LlmClient for Unchecked {
    fn name(&self) -> &'static str {
        "unchecked"
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        if request.messages.len() > 1 {
            return self.0.complete(request).await;
        }
        Ok(cut_after(json!({})))
    }
}

#[tokio::test]
async fn no_call_of_a_cut_answer_is_made_for_a_client_without_checks() {
    let (agent, counted) = agent(Unchecked(ScriptedModel::new(["done"])));
    check(&agent, counted).await;
}
