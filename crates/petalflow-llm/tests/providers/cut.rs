//! Answers that were cut at the maximum number of tokens, in the words of each family.

use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};
use serde_json::{Value, json};

/// An answer of a family with two calls, the last of which was cut, whole and streamed.
struct Family {
    model: &'static str,
    whole: Value,
    streamed: Vec<Value>,
}

fn families(arguments: &str) -> [Family; 4] {
    let parsed: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    [
        chat(arguments),
        responses(arguments),
        anthropic(arguments, &parsed),
        gemini(&parsed),
    ]
}

fn chat(arguments: &str) -> Family {
    let call = |index: usize, name: &str, arguments: &str| json!({"index": index, "id": format!("c{index}"), "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls = [
        call(0, "list", "{\"path\": \"/\"}"),
        call(1, "wipe", arguments),
    ];
    let piece = |call: &Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 20, "total_tokens": 25});
    Family {
        model: "openai::gpt-4o",
        whole: json!({
            "choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": calls}, "finish_reason": "length"}],
            "usage": usage,
        }),
        streamed: vec![
            piece(&calls[0]),
            piece(&calls[1]),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}], "usage": usage}),
        ],
    }
}

fn responses(arguments: &str) -> Family {
    let call = |index: usize, name: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{index}"), "call_id": format!("c{index}"), "name": name, "arguments": arguments});
    let calls = [
        call(0, "list", "{\"path\": \"/\"}"),
        call(1, "wipe", arguments),
    ];
    let whole = json!({
        "id": "resp_1", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": calls,
        "usage": {"input_tokens": 5, "output_tokens": 20, "total_tokens": 25},
    });
    let item = |index: usize| json!({"type": "response.output_item.done", "output_index": index, "item": calls[index]});
    Family {
        model: "gpt-5-mini",
        streamed: vec![
            item(0),
            item(1),
            json!({"type": "response.incomplete", "response": whole}),
        ],
        whole,
    }
}

fn anthropic(arguments: &str, parsed: &Value) -> Family {
    let call = |index: usize, name: &str, input: &Value| json!({"type": "tool_use", "id": format!("c{index}"), "name": name, "input": input});
    let first = json!({"path": "/"});
    let mut streamed = vec![
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 5}}}),
    ];
    for (index, (name, text)) in [("list", "{\"path\": \"/\"}"), ("wipe", arguments)]
        .into_iter()
        .enumerate()
    {
        let delta = json!({"type": "input_json_delta", "partial_json": text});
        streamed.push(json!({"type": "content_block_start", "index": index, "content_block": call(index, name, &json!({}))}));
        streamed.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        streamed.push(json!({"type": "content_block_stop", "index": index}));
    }
    let usage = json!({"output_tokens": 20});
    streamed.push(
        json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": usage}),
    );
    streamed.push(json!({"type": "message_stop"}));
    Family {
        model: "claude-sonnet-4-6",
        whole: json!({
            "id": "m", "type": "message", "stop_reason": "max_tokens",
            "content": [call(0, "list", &first), call(1, "wipe", parsed)],
            "usage": {"input_tokens": 5, "output_tokens": 20},
        }),
        streamed,
    }
}

fn gemini(parsed: &Value) -> Family {
    let part = |name: &str, args: &Value| json!({"functionCall": {"name": name, "args": args}});
    let parts = json!([part("list", &json!({"path": "/"})), part("wipe", parsed)]);
    let whole = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "MAX_TOKENS"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 20, "totalTokenCount": 25},
    });
    Family {
        model: "gemini-2.5-flash",
        streamed: vec![whole.clone()],
        whole,
    }
}

fn steps(family: &Family, streamed: bool) -> Vec<Step> {
    if !streamed {
        return answer("200 OK", "application/json", &family.whole.to_string());
    }
    let pieces = family.streamed.iter();
    let pieces = pieces.map(|event| chunk(&format!("data: {event}\n\n")));
    [events()]
        .into_iter()
        .chain(pieces)
        .chain([end()])
        .collect()
}

/// The answer in the error of a request.
async fn cut_answer(family: &Family, streamed: bool) -> (String, LlmResponse) {
    let server = Server::always(steps(family, streamed)).await;
    let model = ProviderModel::new(family.model).unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let request = LlmRequest::prompt("Delete the temporary files");
    let outcome = if streamed {
        model.stream(&request).await.unwrap().into_response().await
    } else {
        model.complete(&request).await
    };
    let error = outcome.expect_err(family.model);
    let text = error.to_string();
    let LlmErrorKind::Arguments { response } = error.kind else {
        panic!("{}: {text}", family.model);
    };
    (text, *response)
}

#[tokio::test]
async fn no_call_of_a_cut_answer_may_be_made_in_any_family() {
    // Arguments that are cut, that can be parsed, and that are missing.
    for arguments in ["{\"prefix\": \"tm", "{\"prefix\": \"tmp\"}", "{}", ""] {
        for family in families(arguments) {
            for streamed in [false, true] {
                let (text, response) = cut_answer(&family, streamed).await;
                let place = format!("{}, streamed: {streamed}, {arguments:?}", family.model);
                assert!(
                    text.contains("the answer was cut at 20 tokens"),
                    "{place}: {text}"
                );
                assert_eq!(response.finish, Some(FinishReason::Length), "{place}");
                let calls: Vec<_> = response.calls().collect();
                assert_eq!(calls.len(), 2, "{place}");
                let first = calls[0].error.as_deref().unwrap_or_default();
                assert!(
                    first.contains("so none of its calls was made"),
                    "{place}: {first}"
                );
                let error = calls[1].error.as_deref().unwrap_or_default();
                assert!(
                    error.contains("the answer was cut at 20 tokens"),
                    "{place}: {error}"
                );
                for call in calls {
                    let left = call.arguments.as_str().unwrap();
                    assert!(
                        serde_json::from_str::<Value>(left).is_err(),
                        "{place}: {left}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn no_call_before_a_filter_may_be_made() {
    let mut family = chat("{}");
    family.whole["choices"][0]["finish_reason"] = "content_filter".into();
    let (text, response) = cut_answer(&family, false).await;
    assert!(
        text.contains("the answer was cut by the content filter"),
        "{text}"
    );
    assert_eq!(
        response.calls().filter(|call| call.error.is_some()).count(),
        2
    );
}
