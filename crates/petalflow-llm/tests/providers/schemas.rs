//! Types of parameters and answers, and the schemas that providers are sent for them. What each provider accepts is
//! written down here, from its documentation.

mod rules;
mod types;

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::{Capabilities, LlmClient, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::{Server, answer};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};

use types::{Type, types};

const MODELS: [&str; 4] = ["gpt-4o", "gpt-5", "claude-sonnet-4-6", "gemini-2.5-flash"];

fn request(neutral: &Value) -> LlmRequest {
    let tool = ToolSpec::new("save", "Saves it", neutral.clone());
    LlmRequest::prompt("hi")
        .with_schema(neutral.clone())
        .with_tools([Arc::new(tool)])
}

/// What a model is sent: for the tool and for the answer, the schema and whether it is strict.
struct Sent {
    tool: (Value, bool),
    answer: (Value, bool),
}

fn sent_schemas(model: &str, body: &Value) -> Sent {
    let at = |path: &str| body.pointer(path).cloned().unwrap_or_default();
    let (tool, strict, answer, answer_strict) = match model {
        "gpt-4o" => (
            "/tools/0/function/parameters",
            "/tools/0/function/strict",
            "/response_format/json_schema/schema",
            "/response_format/json_schema/strict",
        ),
        "gpt-5" => (
            "/tools/0/parameters",
            "/tools/0/strict",
            "/text/format/schema",
            "/text/format/strict",
        ),
        "claude-sonnet-4-6" => (
            "/tools/0/input_schema",
            "/tools/0/strict",
            "/output_config/format/schema",
            "/output_config/format",
        ),
        _ => (
            "/tools/0/functionDeclarations/0/parametersJsonSchema",
            "",
            "/generationConfig/responseJsonSchema",
            "",
        ),
    };
    let is_on = |path: &str| match at(path) {
        Value::Bool(on) => on,
        // Anthropic's format of an answer is always strict.
        Value::Object(_) => !path.is_empty(),
        _ => false,
    };
    Sent {
        tool: (at(tool), is_on(strict)),
        answer: (at(answer), is_on(answer_strict)),
    }
}

#[tokio::test]
async fn each_type_has_the_schema_that_each_provider_accepts() {
    let server = Server::always(answer("500 Oops", "text/plain", "")).await;
    let types = types();
    assert!(types.len() >= 43, "{} types", types.len());
    for Type {
        name,
        neutral,
        example,
        strict,
    } in types
    {
        for model in MODELS {
            let client = ProviderModel::new(model).unwrap().without_retry();
            let client = client.with_base_url(server.url("/v1")).with_key("k");
            let request = request(&neutral);
            client.complete(&request).await.unwrap_err();
            let body = server.requests().pop().unwrap().body;
            let sent = sent_schemas(model, &body);
            let place = format!("{name} for {model}");
            if model.starts_with("gemini") {
                for (schema, _) in [&sent.tool, &sent.answer] {
                    rules::gemini(&place, schema);
                    rules::accepts(&place, schema, schema, &example);
                }
                assert!(client.not_strict(&request).is_empty(), "{place}");
                continue;
            }
            // What is not enforced says so.
            let not_strict = client.not_strict(&request);
            assert_eq!(sent.tool.1, strict, "{place}: the tool: {not_strict:?}");
            assert_eq!(sent.answer.1, strict, "{place}: the answer: {not_strict:?}");
            assert_eq!(
                not_strict.len(),
                if strict { 0 } else { 2 },
                "{place}: {not_strict:?}"
            );
            rules::tool(&place, &sent.tool.0);
            rules::accepts(&place, &sent.tool.0, &sent.tool.0, &example);
            if strict {
                for (schema, _) in [&sent.tool, &sent.answer] {
                    rules::strict(&place, schema);
                    rules::accepts(&place, schema, schema, &example);
                }
            } else if model.starts_with("claude") {
                assert_contains(&body["system"], "It must conform to this JSON Schema");
            }
        }
    }
}

#[tokio::test]
async fn an_answer_says_which_schemas_were_not_enforced() {
    let whole = json!({"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"});
    let server = Server::always(answer("200 OK", "application/json", &whole.to_string())).await;
    let model = ProviderModel::new("claude-sonnet-4-6").unwrap();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let reason = "the schema cannot be strict: it accepts properties with any name";
    let expected = json!({"save": reason, "answer": reason});
    let whole = model.complete(&request(&map)).await.unwrap();
    assert_eq!(whole.meta["not_strict"], expected);
    let stream = model.stream(&request(&map)).await.unwrap();
    assert_eq!(
        stream.into_response().await.unwrap().meta["not_strict"],
        expected
    );
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let enforced = model.complete(&request(&closed)).await.unwrap();
    assert_eq!(enforced.meta.get("not_strict"), None);
    // A provider that enforces no schema has nothing to say.
    let model = model.with_capabilities(Capabilities::default());
    assert!(model.not_strict(&request(&map)).is_empty());
}

/// Anthropic enforces at most 16 properties with several types in one request, and 20 tools.
#[tokio::test]
async fn a_schema_beyond_the_limits_of_a_request_is_not_strict() {
    let optional = |count: usize| {
        let properties = (0..count).map(|n| (format!("p{n}"), json!({"type": "string"})));
        json!({"type": "object", "properties": properties.collect::<serde_json::Map<_, _>>()})
    };
    let tool = |n: usize, schema: &Value| {
        Arc::new(ToolSpec::new(format!("t{n}"), "A tool", schema.clone()))
    };
    let ten = optional(10);
    let request = LlmRequest::prompt("hi").with_tools((0..3).map(|n| tool(n, &ten)));
    let claude = ProviderModel::new("claude-sonnet-4-6").unwrap();
    let reason = "the provider enforces at most 16 properties with several types in one request";
    let expected = json!({"t1": reason, "t2": reason});
    assert_eq!(Value::Object(claude.not_strict(&request)), expected);
    let openai = ProviderModel::new("gpt-5").unwrap();
    assert!(openai.not_strict(&request).is_empty());
    let empty = optional(0);
    let request = LlmRequest::prompt("hi").with_tools((0..21).map(|n| tool(n, &empty)));
    assert_eq!(claude.not_strict(&request).len(), 21);
    // OpenAI has limits of one schema.
    let request = LlmRequest::prompt("hi").with_schema(optional(5_001));
    assert_eq!(openai.not_strict(&request).len(), 1);
    let values: Vec<_> = (0..1_001).map(|n| n.to_string()).collect();
    let many = json!({"type": "object", "properties": {"a": {"type": "string", "enum": values}}});
    let request = LlmRequest::prompt("hi").with_schema(many);
    assert_eq!(openai.not_strict(&request).len(), 1);
}
