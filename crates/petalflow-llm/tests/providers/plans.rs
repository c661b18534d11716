//! What a model does not take is changed or left out, and the response says so.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::request::{Effort, ToolChoice};
use petalflow_llm::{Allowed, Capabilities, LlmClient, LlmErrorKind, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::{Server, answer};
use serde_json::{Value, json};

/// The body that a model is sent, and what its response says is not.
async fn sent_to(model: ProviderModel, request: &LlmRequest) -> (Value, Value) {
    let body = json!({
        "choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}],
        "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
        "candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}],
    });
    let server = Server::always(answer("200 OK", "application/json", &body.to_string())).await;
    let model = model.with_base_url(server.url("/v1")).with_key("the-key");
    let response = model.complete(request).await.unwrap();
    let not_sent = response
        .meta
        .get("not_sent")
        .cloned()
        .unwrap_or(Value::Null);
    (server.requests().remove(0).body, not_sent)
}

async fn sent(name: &str, request: &LlmRequest) -> (Value, Value) {
    sent_to(ProviderModel::new(name).unwrap(), request).await
}

fn with_effort(effort: Effort) -> LlmRequest {
    LlmRequest {
        effort: Some(effort),
        ..LlmRequest::prompt("hi")
    }
}

fn with_tool(choice: ToolChoice) -> LlmRequest {
    let tool = ToolSpec::new("find", "Finds", json!({"type": "object", "properties": {}}));
    LlmRequest {
        tool_choice: choice,
        ..LlmRequest::prompt("hi").with_tools([Arc::new(tool)])
    }
}

#[tokio::test]
async fn an_effort_is_one_that_the_model_has() {
    use Effort::{Budget, Low, Medium, Minimal, None as Off, XHigh};
    let openai = "/reasoning/effort";
    let chat = "/reasoning_effort";
    let claude = "/output_config/effort";
    let budget = "/thinking/budget_tokens";
    let gemini = "/generationConfig/thinkingConfig/thinkingLevel";
    let tokens = "/generationConfig/thinkingConfig/thinkingBudget";
    for (model, effort, path, expected) in [
        ("gpt-5-mini", Minimal, openai, json!("minimal")),
        ("gpt-5-mini", Off, openai, json!("minimal")),
        ("gpt-5-mini", XHigh, openai, json!("high")),
        ("gpt-5.1", Off, openai, json!("none")),
        ("gpt-5.1", Minimal, openai, json!("low")),
        ("gpt-5.2", XHigh, openai, json!("xhigh")),
        ("gpt-5-pro", Low, openai, json!("high")),
        ("gpt-5.2", Budget(4_000), openai, json!("medium")),
        ("o3-mini", Minimal, chat, json!("low")),
        ("ollama::qwen3", Off, chat, json!("none")),
        ("groq::openai/gpt-oss-20b", XHigh, chat, json!("high")),
        ("xai::grok-3-mini", Medium, chat, json!("high")),
        ("claude-sonnet-4-6", Minimal, claude, json!("low")),
        ("claude-sonnet-4-6", XHigh, claude, json!("high")),
        ("claude-opus-4-7", XHigh, claude, json!("xhigh")),
        ("claude-opus-4-7", Off, "/thinking", Value::Null),
        ("claude-sonnet-4-5", Off, "/thinking", Value::Null),
        ("claude-sonnet-4-5", Budget(2_000), budget, json!(2_000)),
        ("gemini-3-pro", Medium, gemini, json!("HIGH")),
        ("gemini-3-flash", Off, gemini, json!("MINIMAL")),
        ("gemini-3-flash", Budget(512), tokens, json!(512)),
        ("gemini-2.5-flash", Off, tokens, json!(0)),
        ("gemini-2.5-pro", Off, tokens, json!(128)),
    ] {
        let (body, not_sent) = sent(model, &with_effort(effort)).await;
        let found = body.pointer(path).unwrap_or(&Value::Null);
        assert_eq!(
            (found, &not_sent),
            (&expected, &Value::Null),
            "{model} {effort:?}"
        );
    }
    let (body, _) = sent("deepseek-chat", &with_effort(Off)).await;
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    assert_eq!(body.get("reasoning_effort"), None);

    // A model that does not reason does as it is told.
    let (body, _) = sent("gpt-4o", &with_effort(Off)).await;
    assert_eq!(body.get("reasoning_effort"), None);
    let error = ProviderModel::new("gemini-2.0-flash").unwrap();
    let error = error.complete(&with_effort(Low)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Request);
}

#[tokio::test]
async fn a_temperature_is_left_out_where_the_model_takes_none() {
    let warm = LlmRequest {
        temperature: Some(0.5),
        top_p: Some(0.25),
        ..LlmRequest::prompt("hi")
    };
    let thinking = LlmRequest {
        effort: Some(Effort::High),
        ..warm.clone()
    };
    let reasons = "the model takes none while it reasons";
    for (model, request, why) in [
        ("claude-sonnet-4-6", &warm, None),
        ("claude-sonnet-4-6", &thinking, Some(reasons)),
        ("claude-sonnet-4-5", &thinking, Some(reasons)),
        ("claude-opus-4-7", &warm, Some("the model takes none")),
        ("o3-mini", &warm, Some("the model takes none")),
        ("gpt-5-mini", &warm, Some("the model takes none")),
        ("gpt-5.1", &warm, None),
        ("gpt-5.1", &thinking, Some(reasons)),
        ("gpt-4o", &warm, None),
        ("ollama::qwen3", &thinking, None),
    ] {
        let (body, not_sent) = sent(model, request).await;
        let expected = why.map(|why| json!({"temperature": why, "top_p": why}));
        assert_eq!(not_sent, expected.unwrap_or_default(), "{model}");
        let temperature = why.is_none().then(|| json!(0.5));
        assert_eq!(body.get("temperature"), temperature.as_ref(), "{model}");
        let mass = why.is_none().then(|| json!(0.25));
        assert_eq!(body.get("top_p"), mass.as_ref(), "{model}");
    }
}

#[tokio::test]
async fn a_model_that_cannot_be_forced_while_it_reasons_does_not_reason() {
    let request = LlmRequest {
        effort: Some(Effort::High),
        ..with_tool(ToolChoice::Tool("find".into()))
    };
    let why = "the model cannot be made to call a tool while it reasons";
    for model in ["claude-sonnet-4-6", "claude-sonnet-4-5"] {
        let (body, not_sent) = sent(model, &request).await;
        assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "find"}));
        assert_eq!(
            (body.get("thinking"), body.get("output_config")),
            (None, None)
        );
        assert_eq!(not_sent, json!({"effort": why}));
    }
    // Its own choice goes with reasoning, as does that of other models.
    let free = LlmRequest {
        effort: Some(Effort::High),
        ..with_tool(ToolChoice::Auto)
    };
    let (body, not_sent) = sent("claude-sonnet-4-5", &free).await;
    assert_eq!(
        (&body["thinking"]["type"], not_sent),
        (&json!("enabled"), Value::Null)
    );
    let (body, not_sent) = sent("gpt-5-mini", &request).await;
    assert_eq!(body["tool_choice"]["name"], "find");
    assert_eq!(
        (&body["reasoning"]["effort"], not_sent),
        (&json!("high"), Value::Null)
    );
}

#[tokio::test]
async fn a_model_that_can_never_be_forced_is_asked_without() {
    let request = with_tool(ToolChoice::Required);
    for model in [
        "kimi::kimi-k2",
        "zai::glm-4.6",
        "deepseek-reasoner",
        "ollama::qwen3",
    ] {
        let (body, not_sent) = sent(model, &request).await;
        assert_eq!(body.get("tool_choice"), None, "{model}");
        assert_eq!(
            not_sent,
            json!({"tool_choice": "the model cannot be made to call a tool"})
        );
    }
    let (body, not_sent) = sent("vllm::qwen3", &request).await;
    assert_eq!(
        (&body["tool_choice"], not_sent),
        (&json!("required"), Value::Null)
    );
}

#[tokio::test]
async fn f44_10_a_server_that_cannot_be_told_which_tool_gets_that_tool_alone() {
    let tool = |name: &str| Arc::new(ToolSpec::new(name, "Works", json!({"type": "object"})));
    let request = |choice| LlmRequest {
        tool_choice: choice,
        ..LlmRequest::prompt("hi").with_tools([tool("find"), tool("wipe")])
    };
    let names = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().unwrap().iter();
        let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_string();
        tools.map(name).collect()
    };
    let named = request(ToolChoice::Tool("wipe".into()));
    let why =
        "the server cannot be told which tool the model must call, so the others are not sent";
    for model in ["llama_cpp::qwen3", "lm_studio::qwen3"] {
        let (body, not_sent) = sent(model, &named).await;
        assert_eq!(
            (&body["tool_choice"], names(&body)),
            (&json!("required"), vec!["wipe".into()])
        );
        assert_eq!(not_sent, json!({"tools": why}));
        let (body, not_sent) = sent(model, &request(ToolChoice::Required)).await;
        assert_eq!(
            (&body["tool_choice"], names(&body).len()),
            (&json!("required"), 2)
        );
        assert_eq!(not_sent, Value::Null);
        let (body, not_sent) = sent(model, &with_tool(ToolChoice::Tool("find".into()))).await;
        assert_eq!(
            (&body["tool_choice"], not_sent),
            (&json!("required"), Value::Null)
        );
    }
    // A server of one's own, by its capabilities.
    let mut capabilities = Capabilities::default();
    capabilities.named_tools = false;
    let own = ProviderModel::openai_compatible("http://own/v1", "qwen3");
    let (body, _) = sent_to(own.with_capabilities(capabilities), &named).await;
    assert_eq!(names(&body), ["wipe"]);
    let (body, not_sent) = sent("vllm::qwen3", &named).await;
    assert_eq!((names(&body).len(), not_sent), (2, Value::Null));
    assert_eq!(body["tool_choice"]["function"]["name"], "wipe");
}

#[tokio::test]
async fn a_budget_for_reasoning_is_below_the_limit_of_the_answer() {
    let with_limit = |limit| LlmRequest {
        max_tokens: Some(limit),
        ..with_effort(Effort::High)
    };
    for (limit, budget) in [
        (2_000, Some(1_999)),
        (1_025, Some(1_024)),
        (1_024, None),
        (10, None),
    ] {
        let (body, not_sent) = sent("claude-sonnet-4-5", &with_limit(limit)).await;
        assert_eq!(
            body["thinking"]["budget_tokens"].as_u64(),
            budget,
            "{limit}"
        );
        assert_eq!(body["max_tokens"], limit);
        assert_eq!(
            not_sent.get("effort").is_some(),
            budget.is_none(),
            "{limit}"
        );
    }
    let (body, not_sent) = sent("claude-sonnet-4-6", &with_limit(10)).await;
    assert_eq!(
        (&body["thinking"]["type"], not_sent),
        (&json!("adaptive"), Value::Null)
    );
}

#[tokio::test]
async fn entries_of_the_program_come_first_and_the_longest_start_counts() {
    let mut text_only = Capabilities::default();
    text_only.images = false;
    let mut cold = text_only;
    cold.sampling = Allowed::Never;
    let model = || {
        ProviderModel::new("gpt-4o")
            .unwrap()
            .with_capabilities_of("gpt-4", text_only)
            .with_capabilities_of("gpt-4o-mini", text_only)
            .with_capabilities_of("gpt-4o-mini", cold)
    };
    assert_eq!(model().capabilities(), text_only);
    let request = LlmRequest {
        model: Some("gpt-4o-mini-2024".into()),
        temperature: Some(0.5),
        ..LlmRequest::prompt("hi")
    };
    let (body, not_sent) = sent_to(model(), &request).await;
    assert_eq!(body.get("temperature"), None);
    assert_eq!(not_sent, json!({"temperature": "the model takes none"}));
    // The others are as the table says.
    let request = LlmRequest {
        model: Some("o3".into()),
        ..with_effort(Effort::XHigh)
    };
    assert_eq!(
        sent_to(model(), &request).await.0["reasoning_effort"],
        "high"
    );
    let all = model().with_capabilities(Capabilities::default());
    assert_eq!(all.capabilities(), Capabilities::default());
}
