//! Reasoning that a model writes into the text of its answer.

use petalflow_llm::{
    ChatMessage, LlmClient, LlmRequest, LlmResponse, Part, ProviderModel, ThinkTags,
};
use petalflow_llm_test_support::server::{Server, answer, chunk, end, events};
use serde_json::json;

/// The response of this model to an answer with this text, in one piece or in pieces of three letters.
async fn answered(model: ProviderModel, text: &str, streamed: bool) -> (LlmResponse, Server) {
    let steps = if streamed {
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(3).map(|piece| {
            let piece: String = piece.iter().collect();
            json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] })
        });
        let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
        let pieces = pieces
            .chain([last])
            .map(|piece| chunk(&format!("data: {piece}\n\n")));
        [events()]
            .into_iter()
            .chain(pieces)
            .chain([end()])
            .collect()
    } else {
        let message = json!({ "role": "assistant", "content": text });
        let body =
            json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] });
        answer("200 OK", "application/json", &body.to_string())
    };
    let server = Server::always(steps).await;
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let request = LlmRequest::new(vec![ChatMessage::user("2 + 3?")]);
    let response = if streamed {
        model
            .stream(&request)
            .await
            .unwrap()
            .into_response()
            .await
            .unwrap()
    } else {
        model.complete(&request).await.unwrap()
    };
    let next = LlmRequest::new(request.messages_with(&response));
    let _ = model.complete(&next).await;
    (response, server)
}

#[tokio::test]
async fn f44_reasoning_in_the_text_is_a_thought() {
    let model = |name: &str| ProviderModel::new(name).unwrap();
    let mut able = model("vllm::deepseek-r1").capabilities();
    able.think_tags = ThinkTags::OpenedByPrompt;
    let opened = || model("vllm::deepseek-r1").with_capabilities_of("deepseek-r1", able);
    let whole = "<think>\n2 and 3.\n</think>\n\nIt is 5.";
    for streamed in [false, true] {
        for (model, text) in [
            (model("vllm::qwen3"), whole),
            (opened(), "2 and 3.\n</think>\nIt is 5."),
        ] {
            let (response, server) = answered(model, text, streamed).await;
            let message = response.message.clone().unwrap();
            assert_eq!(response.text(), "It is 5.", "{text} {streamed}");
            let Some(Part::Thought(thought)) = message.parts.first() else {
                panic!("{message:?}");
            };
            assert_eq!(thought.text, "2 and 3.\n");
            // The tags do not come back as text.
            let sent = &server.requests()[1].body["messages"][1];
            assert_eq!(sent["content"], "It is 5.");
        }
        let (response, _) = answered(model("openai::gpt-4o"), whole, streamed).await;
        assert_eq!(response.text(), whole);
    }
}
