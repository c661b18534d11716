//! The computer use of Gemini, in the forms of the types `ComputerUse`, `FunctionCall` and `FunctionResponse` of Google's SDK.

use std::sync::Arc;

use petalflow::tool::{ToolResult, ToolSpec};
use petalflow_llm::native::{ComputerEnvironment, ComputerUse, NativeTool, WebSearch};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmClient as _, LlmRequest, LlmResponse, ProviderModel};
use serde_json::{Value, json};

use super::{asked, sent, streamed, whole, with};

const MODEL: &str = "gemini-3.5-flash";

fn tool(name: &str) -> Arc<ToolSpec> {
    Arc::new(ToolSpec::new(name, "Does it.", json!({"type": "object"})))
}

fn request(computer: ComputerUse) -> LlmRequest {
    with([computer.display(1280, 800)]).with_tools([tool(ComputerUse::NAME), tool("look")])
}

/// The request with these results of the calls of an answer.
fn with_results(
    request: &LlmRequest,
    response: &LlmResponse,
    results: &[(Value, bool)],
) -> LlmRequest {
    let mut messages = request.messages_with(response);
    let results = response.calls().zip(results);
    let results = results.map(|(call, (content, is_error))| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: content.clone(),
        is_error: *is_error,
    });
    messages.push(ChatMessage::results(results));
    LlmRequest {
        messages: Arc::new(messages),
        input_text: None,
        ..request.clone()
    }
}

fn shown(url: &str) -> Value {
    json!({"url": url, "screenshot": {"type": "image", "media_type": "image/png", "data": "aGk="}})
}

fn answer(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
}

#[tokio::test]
async fn f44_5_gemini_gets_the_computer_in_its_own_form() {
    let body = sent(MODEL, request(ComputerUse::new())).await;
    let browser = json!({"computerUse": {"environment": "ENVIRONMENT_BROWSER"}});
    let functions = &body["tools"][0]["functionDeclarations"];
    assert_eq!(functions.as_array().unwrap().len(), 1, "{body}");
    assert_eq!(functions[0]["name"], "look");
    assert_eq!(body["tools"][1], browser);
    assert_eq!(body["tools"].as_array().unwrap().len(), 2);
    // Nothing runs at the provider.
    assert_eq!(body.get("toolConfig"), None);

    let computer = ComputerUse::new()
        .environment(ComputerEnvironment::Desktop)
        .excluded_actions(["drag_and_drop", "move"])
        .injection_detection();
    let with_search: [NativeTool; 2] = [
        computer.clone().display(1, 2).into(),
        WebSearch::new().into(),
    ];
    let both = with(with_search).with_tools([tool("look")]);
    let body = sent(MODEL, both).await;
    let desktop = json!({"computerUse": {"environment": "ENVIRONMENT_DESKTOP", "enablePromptInjectionDetection": true,
        "excludedPredefinedFunctions": ["drag_and_drop", "move"]}});
    assert_eq!(body["tools"][1], desktop);
    assert_eq!(body["toolConfig"]["includeServerSideToolInvocations"], true);

    // A computer answers with a picture, and not with a list of apps.
    let phone = ComputerUse::new().environment(ComputerEnvironment::Mobile);
    let body = sent("gemini-3.5-flash", request(phone)).await;
    let phone = json!({"computerUse": {"environment": "ENVIRONMENT_MOBILE", "excludedPredefinedFunctions": ["list_apps"]}});
    assert_eq!(body["tools"][1], phone);
}

#[tokio::test]
async fn f44_5_the_actions_of_an_answer_of_gemini_are_one_call() {
    let parts = json!([
        {"text": "I type, and look."},
        {"functionCall": {"id": "c1", "name": "click", "args": {"x": 500, "y": 250, "intent": "Focus"}}, "thoughtSignature": "s1"},
        {"functionCall": {"id": "c2", "name": "look", "args": {}}},
        {"functionCall": {"id": "c3", "name": "type", "args": {"text": "hi", "intent": "Search", "press_enter": true}}},
    ]);
    let chunks: Vec<Value> = parts
        .as_array()
        .unwrap()
        .iter()
        .map(|part| answer(&json!([part])))
        .collect();
    let request = request(ComputerUse::new());
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&chunks)
        } else {
            whole(&answer(&parts))
        };
        let (_, response) = asked(MODEL, &request, vec![answered], is_streamed).await;
        assert_eq!(response.finish, Some(FinishReason::Stop));
        let calls: Vec<_> = response.calls().collect();
        assert_eq!(calls.len(), 2, "streamed: {is_streamed}");
        assert_eq!((&*calls[0].id, &*calls[0].name), ("c1", "computer"));
        assert_eq!(
            calls[0].arguments,
            json!({"calls": [
                {"name": "click", "args": {"x": 500, "y": 250, "intent": "Focus"}},
                {"name": "type", "args": {"text": "hi", "intent": "Search", "press_enter": true}, "id": "c3"},
            ]})
        );
        assert_eq!((&*calls[1].id, &*calls[1].name), ("c2", "look"));

        let seen = json!({"results": [shown("https://a.example/"), shown("https://b.example/")]});
        let next = with_results(
            &request,
            &response,
            &[(seen, false), (json!("a garden"), false)],
        );
        let (sent, _) = asked(MODEL, &next, vec![whole(&answer(&parts))], false).await;
        let contents = sent[0]["contents"].as_array().unwrap();
        assert_eq!(contents[0]["role"], "model");
        // Actions follow each other: their order is the same.
        let all = &parts;
        assert_eq!(
            contents[0]["parts"],
            json!([all[0], all[1], all[3], all[2]])
        );
        let picture = json!([{"inlineData": {"mimeType": "image/png", "data": "aGk="}}]);
        assert_eq!(
            contents[1],
            json!({"role": "user", "parts": [
                {"functionResponse": {"id": "c1", "name": "click", "response": {"url": "https://a.example/"}, "parts": picture}},
                {"functionResponse": {"id": "c3", "name": "type", "response": {"url": "https://b.example/"}, "parts": picture}},
                {"functionResponse": {"id": "c2", "name": "look", "response": {"result": "a garden"}}},
            ]})
        );
    }
}

#[tokio::test]
async fn f44_5_arguments_of_an_action_may_come_by_path_and_without_an_id() {
    let chunks = [
        json!([{"functionCall": {"name": "navigate", "args": {"url": "https://a.example/"}}}]),
        json!([{"functionCall": {"name": "type_text_at", "willContinue": true}}]),
        json!([{"functionCall": {"partialArgs": [{"jsonPath": "$.text", "stringValue": "New "}], "willContinue": true}}]),
        json!([{"functionCall": {"partialArgs": [{"jsonPath": "$.text", "stringValue": "York"}, {"jsonPath": "$.x", "numberValue": 7}]}}]),
    ];
    let chunks: Vec<Value> = chunks.iter().map(answer).collect();
    let request = request(ComputerUse::new());
    let (_, response) = asked(
        "gemini-3-flash-preview",
        &request,
        vec![streamed(&chunks)],
        true,
    )
    .await;
    let calls: Vec<_> = response.calls().collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(
        calls[0].arguments,
        json!({"calls": [
            {"name": "navigate", "args": {"url": "https://a.example/"}},
            {"name": "type_text_at", "args": {"text": "New York", "x": 7}},
        ]})
    );
    let next = with_results(
        &request,
        &response,
        &[(json!({"results": [shown("a"), shown("b")]}), false)],
    );
    let (sent, _) = asked(
        "gemini-3-flash-preview",
        &next,
        vec![whole(&answer(&json!([{"text": "ok"}])))],
        false,
    )
    .await;
    let parts = &sent[0]["contents"][0]["parts"];
    assert_eq!(
        parts[0]["functionCall"],
        json!({"name": "navigate", "args": {"url": "https://a.example/"}})
    );
    // Models of the third generation need a signature at the first call.
    assert!(parts[0]["thoughtSignature"].is_string(), "{parts}");
    assert_eq!(
        parts[1],
        json!({"functionCall": {"name": "type_text_at", "args": {"text": "New York", "x": 7}}})
    );
    let responses = sent[0]["contents"][1]["parts"].as_array().unwrap();
    let names: Vec<&Value> = responses
        .iter()
        .map(|part| &part["functionResponse"]["name"])
        .collect();
    assert_eq!(names, ["navigate", "type_text_at"]);
    assert!(
        responses
            .iter()
            .all(|part| part["functionResponse"].get("id").is_none())
    );
}

#[tokio::test]
async fn f44_5_a_safety_decision_of_gemini_is_acknowledged_only_if_the_action_was_done() {
    let decision =
        json!({"decision": "require_confirmation", "explanation": "This clicks a CAPTCHA."});
    let first =
        json!([{"functionCall": {"id": "c0", "name": "navigate", "args": {"url": "a.example"}}}]);
    let asks = json!([
        {"functionCall": {"id": "c1", "name": "click_at", "args": {"x": 60, "y": 100, "safety_decision": decision}}},
        {"functionCall": {"id": "c2", "name": "go_back", "args": {}}},
    ]);
    let request = request(ComputerUse::new());
    let (_, opened) = asked(MODEL, &request, vec![whole(&answer(&first))], false).await;
    let page = (json!({"results": [shown("https://a.example/")]}), false);
    let request = with_results(&request, &opened, &[page]);
    let (_, response) = asked(MODEL, &request, vec![whole(&answer(&asks))], false).await;
    let arguments = &response.calls().next().unwrap().arguments;
    assert_eq!(ComputerUse::warnings(arguments), ["This clicks a CAPTCHA."]);

    let done =
        json!({"results": [shown("https://b.example/"), {"error": "there is no page before"}]});
    let changed = json!({"note": "the user has approved this call with other arguments", "arguments": {"calls": []}, "result": done});
    let refused = json!({"error": "Tool execution not confirmed"});
    for (content, is_error) in [(&done, false), (&changed, false), (&refused, true)] {
        let next = with_results(&request, &response, &[(content.clone(), is_error)]);
        let (sent, _) = asked(MODEL, &next, vec![whole(&answer(&first))], false).await;
        let contents = sent[0]["contents"].as_array().unwrap();
        let parts = contents.last().unwrap()["parts"].as_array().unwrap();
        let responses: Vec<&Value> = parts.iter().map(|part| &part["functionResponse"]).collect();
        assert_eq!(responses.len(), 2);
        if is_error {
            // The page is the last one that was seen: a response without one is refused.
            let expected =
                json!({"error": "Tool execution not confirmed", "url": "https://a.example/"});
            for (response, name) in responses.iter().zip(["click_at", "go_back"]) {
                assert_eq!(
                    (&response["name"], &response["response"]),
                    (&json!(name), &expected)
                );
            }
            continue;
        }
        let mut acknowledged =
            json!({"url": "https://b.example/", "safety_acknowledgement": "true"});
        if content == &changed {
            acknowledged["note"] = changed["note"].clone();
            acknowledged["arguments"] = changed["arguments"].clone();
        }
        assert_eq!(responses[0]["response"], acknowledged);
        assert!(responses[0]["parts"][0]["inlineData"].is_object());
        let failed = json!({"error": "there is no page before", "url": "https://b.example/"});
        assert_eq!(responses[1]["response"], failed);
        assert_eq!(responses[1].get("parts"), None);
    }
}

#[tokio::test]
async fn f44_5_what_would_make_calls_of_gemini_ambiguous_is_refused() {
    let refusal = async |request: &LlmRequest, model: &'static str| {
        let model = ProviderModel::new(model).unwrap().with_key("k");
        let error = model
            .with_base_url("http://127.0.0.1:9/v1")
            .complete(request)
            .await
            .unwrap_err();
        error.to_string()
    };
    let own = request(ComputerUse::new()).with_tools([tool("search")]);
    assert_eq!(
        refusal(&own, MODEL).await,
        "the tool `search` has the name of an action of Gemini's computer use: rename it, or name it in `ComputerUse::excluded_actions`"
    );
    let error = refusal(&with([ComputerUse::new()]), MODEL).await;
    assert!(
        error.contains(
            "give it with `ComputerUse::display`, or with `Computer::display` of an agent"
        ),
        "{error}"
    );
    let excluded = with([ComputerUse::new().display(1, 2).excluded_actions(["move"])]);
    let error = refusal(&excluded, "openai_resp::gpt-5.4").await;
    assert!(
        error.contains("the computer use of provider `openai` has no setting `excluded_actions`"),
        "{error}"
    );

    // A tool in place of an action is the program's, and without the computer nothing is an action.
    let part = json!([{"functionCall": {"id": "c", "name": "search", "args": {"q": "roses"}}}]);
    let excluded = with([ComputerUse::new()
        .display(1, 2)
        .excluded_actions(["search"])]);
    let alone = LlmRequest::prompt("hi").with_tools([tool("search")]);
    for request in [excluded.with_tools([tool("search")]), alone] {
        let (_, response) = asked(MODEL, &request, vec![whole(&answer(&part))], false).await;
        let call = response.calls().next().unwrap();
        assert_eq!(
            (&*call.name, &call.arguments),
            ("search", &json!({"q": "roses"}))
        );
    }
}
