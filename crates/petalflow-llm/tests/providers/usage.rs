//! What requests use, and what it costs.

use petalflow_llm::usage::{Price, Prices};
use petalflow_llm::{LlmClient, LlmRequest, ProviderModel, TokenUsage};
use petalflow_llm_test_support::server::{Server, answer};
use serde_json::{Value, json};

async fn usage_of(name: &str, body: Value, prices: Prices) -> TokenUsage {
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let model = ProviderModel::new(name).unwrap().with_prices(prices);
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    model
        .complete(&LlmRequest::prompt("hi"))
        .await
        .unwrap()
        .usage
}

fn prices(model: &str) -> Prices {
    let price = Price {
        input: 1.0,
        cached: 0.1,
        output: 10.0,
        cache_write: Some(2.0),
        cache_write_1h: Some(3.0),
        input_audio: Some(4.0),
        reasoning: Some(5.0),
        output_audio: Some(20.0),
    };
    Prices::new().with(model, price)
}

fn assert_cost(usage: &TokenUsage, millionths: f64) {
    assert!(
        (usage.cost * 1e6 - millionths).abs() < 1e-6,
        "{} is not {millionths}",
        usage.cost * 1e6
    );
}

#[tokio::test]
async fn writes_and_reads_of_the_cache_of_anthropic_have_their_prices() {
    let body = json!({
        "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 100, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 20, "output_tokens": 10,
            "output_tokens_details": {"thinking_tokens": 4},
        },
    });
    let usage = usage_of("claude-sonnet-4-6", body, prices("claude")).await;
    assert_eq!(
        (usage.input, usage.cached, usage.cache_writes),
        (150, 20, 30)
    );
    assert_cost(
        &usage,
        100.0 + 20.0 * 0.1 + 30.0 * 2.0 + 6.0 * 10.0 + 4.0 * 5.0,
    );
}

#[tokio::test]
async fn writes_to_the_cache_of_an_hour_have_their_own_price() {
    let body = json!({
        "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 100, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 0, "output_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        },
    });
    let usage = usage_of("claude-sonnet-4-6", body, prices("claude")).await;
    assert_eq!((usage.cache_writes, usage.cache_writes_1h), (30, 20));
    assert_cost(&usage, 100.0 + 10.0 * 2.0 + 20.0 * 3.0);
    let mut of_all = Price {
        cache_write_1h: None,
        ..prices("c").get("c").unwrap()
    };
    assert!(
        (of_all.cost(&usage) * 1e6 - 160.0).abs() < 1e-6,
        "the price of other writes"
    );
    of_all.cache_write_1h = Some(30.0);
    assert!((of_all.highest_input() - 30.0).abs() < 1e-9);
}

#[tokio::test]
async fn audio_and_reasoning_have_their_prices() {
    let chat = json!({
        "choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150,
            "prompt_tokens_details": {"cached_tokens": 10, "audio_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 20, "audio_tokens": 5},
        },
    });
    let usage = usage_of("openai::gpt-4o-audio-preview", chat, prices("gpt")).await;
    assert_eq!(
        (usage.input_audio, usage.output_audio, usage.reasoning),
        (40, 5, 20)
    );
    let input = 10.0 * 0.1 + 40.0 * 4.0 + 50.0;
    assert_cost(&usage, input + 20.0 * 5.0 + 5.0 * 20.0 + 25.0 * 10.0);
    let gemini = json!({
        "candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": 100, "candidatesTokenCount": 50, "thoughtsTokenCount": 20, "totalTokenCount": 170,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 60}, {"modality": "AUDIO", "tokenCount": 40}],
        },
    });
    let usage = usage_of("gemini-2.5-flash", gemini, prices("gemini")).await;
    assert_eq!(
        (usage.input_audio, usage.reasoning, usage.output),
        (40, 20, 70)
    );
    assert_cost(&usage, 60.0 + 40.0 * 4.0 + 50.0 * 10.0 + 20.0 * 5.0);
}

#[tokio::test]
async fn the_cost_that_a_gateway_sends_counts() {
    let body = |usage: Value| json!({"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": usage});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 50, "cost": 0.0042});
    let usage = usage_of("open_router::x/y", body(usage), prices("x/y")).await;
    assert_cost(&usage, 4_200.0);
    let usage =
        json!({"prompt_tokens": 100, "completion_tokens": 50, "cost": {"total_cost": 0.005}});
    let usage = usage_of("perplexity::sonar", body(usage), Prices::new()).await;
    assert_cost(&usage, 5_000.0);
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 50, "cost": 0});
    let usage = usage_of("open_router::x/y", body(usage), prices("x/y")).await;
    assert_cost(&usage, 100.0 + 500.0);
}
