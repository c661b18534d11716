//! Refusals of the model and blocked prompts, in the words of each provider.

use petalflow_llm::response::FinishReason;
use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, chunk, end, events};
use serde_json::{Value, json};

/// What a provider answers, whole and streamed.
struct Answered {
    model: &'static str,
    whole: Value,
    streamed: Vec<Value>,
}

async fn outcome(steps: Vec<Step>, model: &str, streams: bool) -> Result<LlmResponse, LlmError> {
    let server = Server::always(steps).await;
    let model = ProviderModel::new(model).unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let request = LlmRequest::prompt("How is it made?");
    if streams {
        model.stream(&request).await?.into_response().await
    } else {
        model.complete(&request).await
    }
}

/// The outcomes of the answer as a whole, and as a stream.
async fn outcomes(answered: &Answered) -> [Result<LlmResponse, LlmError>; 2] {
    let Answered {
        model,
        whole,
        streamed,
    } = answered;
    let whole = answer("200 OK", "application/json", &whole.to_string());
    let mut steps = vec![events()];
    steps.extend(streamed.iter().map(|event| {
        let kind = event["type"].as_str().unwrap_or("message");
        chunk(&format!("event: {kind}\ndata: {event}\n\n"))
    }));
    steps.push(end());
    [
        outcome(whole, model, false).await,
        outcome(steps, model, true).await,
    ]
}

#[tokio::test]
async fn a_refusal_is_a_reason_of_its_own_with_the_words_of_the_provider() {
    let piece = |refusal: &str| json!({"choices": [{"index": 0, "delta": {"refusal": refusal}}]});
    let chat = Answered {
        model: "openai::gpt-4o",
        whole: json!({"choices": [{
            "message": {"role": "assistant", "content": null, "refusal": "I cannot help."},
            "finish_reason": "stop",
        }]}),
        streamed: vec![
            piece("I cannot "),
            piece("help."),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        ],
    };
    let item = json!({
        "type": "message", "id": "m", "role": "assistant",
        "content": [{"type": "refusal", "refusal": "I cannot help."}],
    });
    let whole = json!({"id": "r", "status": "completed", "output": [item]});
    let delta =
        |text: &str| json!({"type": "response.refusal.delta", "output_index": 0, "delta": text});
    let responses = Answered {
        model: "gpt-5-mini",
        streamed: vec![
            delta("I cannot "),
            delta("help."),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": whole}),
        ],
        whole,
    };
    for answered in [chat, responses] {
        for response in outcomes(&answered).await {
            let response = response.unwrap();
            assert_eq!(response.finish, Some(FinishReason::Refusal));
            assert_eq!(response.finish_message.as_deref(), Some("I cannot help."));
            assert_eq!(
                response.text(),
                "I cannot help.",
                "the words are the answer too"
            );
        }
    }

    let details =
        json!({"type": "refusal", "category": "cyber", "explanation": "It could do harm."});
    let anthropic = Answered {
        model: "claude-sonnet-4-6",
        whole: json!({
            "type": "message", "role": "assistant", "content": [], "stop_reason": "refusal", "stop_details": details,
            "usage": {"input_tokens": 9, "output_tokens": 1},
        }),
        streamed: vec![
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 9}}}),
            json!({
                "type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details},
                "usage": {"output_tokens": 1},
            }),
            json!({"type": "message_stop"}),
        ],
    };
    for response in outcomes(&anthropic).await {
        let response = response.unwrap();
        assert_eq!(response.finish, Some(FinishReason::Refusal));
        let reason = response.finish_message.as_deref();
        assert_eq!(reason, Some("cyber: It could do harm."));
        assert_eq!((response.message, response.usage.input), (None, 9));
    }
}

#[tokio::test]
async fn an_answer_that_was_filtered_says_what_the_filter_found() {
    let filtered = json!({"hate": {"filtered": true}, "violence": {"filtered": false}});
    let choice = json!({
        "message": {"content": "Well"}, "delta": {"content": "Well"}, "finish_reason": "content_filter",
        "content_filter_results": filtered,
    });
    let mut piece = choice.clone();
    piece.as_object_mut().unwrap().remove("message");
    let chat = Answered {
        model: "openai::gpt-4o",
        whole: json!({"choices": [choice]}),
        streamed: vec![json!({"choices": [piece]})],
    };
    let candidate = json!({
        "content": {"parts": [{"text": "Well"}]}, "finishReason": "RECITATION", "finishMessage": "It repeats a song.",
    });
    let gemini = Answered {
        model: "gemini-2.5-flash",
        whole: json!({"candidates": [candidate]}),
        streamed: vec![json!({"candidates": [candidate]})],
    };
    for (answered, reason) in [(chat, "hate"), (gemini, "It repeats a song.")] {
        for response in outcomes(&answered).await {
            let response = response.unwrap();
            assert_eq!(
                response.finish,
                Some(FinishReason::ContentFilter),
                "{reason}"
            );
            assert_eq!(response.finish_message.as_deref(), Some(reason));
            assert_eq!(response.text(), "Well");
        }
    }
}

/// The message and the response of the error for a blocked prompt.
fn blocked(outcome: Result<LlmResponse, LlmError>) -> (String, LlmResponse) {
    let error = outcome.unwrap_err();
    assert!(!error.is_transient(), "{error}");
    let text = error.to_string();
    match error.kind {
        LlmErrorKind::Blocked { response } => (text, *response),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_blocked_prompt_is_an_error_of_its_own_with_the_reason_and_the_usage() {
    let feedback = json!({"blockReason": "SAFETY", "blockReasonMessage": "Not for children."});
    let body = json!({"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 7}});
    let gemini = Answered {
        model: "gemini-2.5-flash",
        whole: body.clone(),
        streamed: vec![body],
    };
    for outcome in outcomes(&gemini).await {
        let (error, response) = blocked(outcome);
        let expected = "provider `gemini` blocked the prompt: SAFETY: Not for children.";
        assert_eq!(error, expected);
        assert_eq!(response.finish, Some(FinishReason::Blocked));
        let reason = response.finish_message.as_deref();
        assert_eq!(reason, Some("SAFETY: Not for children."));
        assert_eq!((response.message, response.usage.input), (None, 7));
    }

    let flagged = json!({"error": {
        "message": "Your prompt was flagged.", "type": "invalid_request_error", "code": "invalid_prompt",
    }});
    let failed = json!({"type": "response.failed", "response": {
        "status": "failed", "error": {"code": "invalid_prompt", "message": "Your prompt was flagged."},
    }});
    let started = vec![events(), chunk(&format!("data: {failed}\n\n")), end()];
    let status = || answer("400 Bad Request", "application/json", &flagged.to_string());
    for (steps, streams) in [(status(), false), (status(), true), (started, true)] {
        let (error, response) = blocked(outcome(steps, "gpt-5-mini", streams).await);
        assert_eq!(
            error,
            "provider `openai_resp` blocked the prompt: Your prompt was flagged."
        );
        assert_eq!(response.provider, "openai_resp");
    }
}
