//! Tools that providers run themselves: what is sent, what is refused, and what a program reads.

mod anthropic;
mod bedrock;
mod computer;
mod computer_gemini;
mod gemini;
mod openai;
mod xai;

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::native::{
    CodeExecution, CodeMemory, ComputerUse, FileSearch, ImageBackground, ImageGeneration,
    ImageQuality, NativeTool, SearchContext, UserLocation, WebSearch,
};
use petalflow_llm::{LlmClient, LlmErrorKind, LlmRequest, LlmResponse, Part, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step, answer, end, event, events};
use serde_json::{Value, json};

/// Sends a request for `complete` or `stream`. Returns what was sent, and what was read of these answers.
async fn asked(
    name: &str,
    request: &LlmRequest,
    answers: Vec<Vec<Step>>,
    is_streamed: bool,
) -> (Vec<Value>, LlmResponse) {
    let server =
        Server::start(move |number, _| answers[number.min(answers.len() - 1)].clone()).await;
    let model = ProviderModel::new(name).unwrap().without_retry();
    let model = model.with_base_url(server.url("/v1")).with_key("k");
    let response = if is_streamed {
        model.stream(request).await.unwrap().into_response().await
    } else {
        model.complete(request).await
    };
    let bodies = server.requests().into_iter().map(|sent| sent.body);
    (bodies.collect(), response.unwrap())
}

fn whole(body: &Value) -> Vec<Step> {
    answer("200 OK", "application/json", &body.to_string())
}

fn streamed(parts: &[Value]) -> Vec<Step> {
    let mut steps = vec![events()];
    steps.extend(parts.iter().map(event));
    steps.push(end());
    steps
}

/// The request that follows an answer.
fn next(request: &LlmRequest, response: &LlmResponse) -> LlmRequest {
    LlmRequest {
        messages: Arc::new(request.messages_with(response)),
        input_text: Some("And now?".into()),
        ..request.clone()
    }
}

fn with<T: Into<NativeTool>>(tools: impl IntoIterator<Item = T>) -> LlmRequest {
    LlmRequest::prompt("hi").with_native_tools(tools)
}

/// The kinds of the parts.
fn kinds(response: &LlmResponse) -> Vec<String> {
    let parts = &response.message.as_ref().unwrap().parts;
    let kind = |part: &Part| {
        let value = serde_json::to_value(part).unwrap();
        value.as_object().unwrap().keys().next().unwrap().clone()
    };
    parts.iter().map(kind).collect()
}

fn location() -> UserLocation {
    UserLocation::new().city("Kyoto").country("JP")
}

/// The body of the request for these tools.
async fn sent(name: &'static str, request: LlmRequest) -> Value {
    let text = match name.split_once("::") {
        Some(_) => {
            json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]})
        }
        None if name.starts_with("claude") => {
            json!({"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"})
        }
        None => {
            json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}]})
        }
    };
    asked(name, &request, vec![whole(&text)], false)
        .await
        .0
        .remove(0)
}

#[tokio::test]
async fn f44_5_openai_gets_the_tools_in_its_own_form() {
    let search = WebSearch::new()
        .allowed_domains(["docs.rs"])
        .user_location(location())
        .context_size(SearchContext::Low);
    let code = CodeExecution::new()
        .files(["file-1"])
        .memory(CodeMemory::Gib4);
    let files = FileSearch::new(["vs_1"])
        .max_results(5)
        .min_score(0.5)
        .filter(json!({"type": "eq", "key": "year", "value": 2026}));
    let image = ImageGeneration::new()
        .size("1024x1024")
        .quality(ImageQuality::Low)
        .background(ImageBackground::Transparent)
        .format("webp")
        .model("gpt-image-2");
    let tools: [NativeTool; 4] = [search.into(), code.into(), files.into(), image.into()];
    let body = sent("openai_resp::gpt-5.4", with(tools)).await;
    assert_eq!(
        body["tools"],
        json!([
            {"type": "web_search", "filters": {"allowed_domains": ["docs.rs"]}, "search_context_size": "low",
             "user_location": {"type": "approximate", "city": "Kyoto", "country": "JP"}},
            {"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["file-1"], "memory_limit": "4g"}},
            {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 5,
             "ranking_options": {"score_threshold": 0.5}, "filters": {"type": "eq", "key": "year", "value": 2026}},
            {"type": "image_generation", "size": "1024x1024", "quality": "low", "background": "transparent",
             "output_format": "webp", "model": "gpt-image-2"},
        ])
    );
    assert_eq!(
        body["include"],
        json!([
            "reasoning.encrypted_content",
            "web_search_call.action.sources",
            "code_interpreter_call.outputs",
            "file_search_call.results"
        ])
    );
    // A model that does not reason has no such list without tools.
    let body = sent("openai_resp::gpt-4o", with([WebSearch::new()])).await;
    assert_eq!(body["include"], json!(["web_search_call.action.sources"]));
}

#[tokio::test]
async fn f44_5_anthropic_gets_the_tools_in_its_own_form() {
    let search = WebSearch::new()
        .max_uses(3)
        .blocked_domains(["example.com"])
        .user_location(location());
    let tools: [NativeTool; 2] = [search.into(), CodeExecution::new().into()];
    let look = Arc::new(ToolSpec::new("look", "Looks.", json!({"type": "object"})));
    let body = sent("claude-sonnet-4-6", with(tools).with_tools([look])).await;
    let tools = body["tools"].as_array().unwrap();
    assert_eq!(
        tools[..2],
        [
            json!({"type": "web_search_20250305", "name": "web_search", "max_uses": 3, "blocked_domains": ["example.com"],
                "user_location": {"type": "approximate", "city": "Kyoto", "country": "JP"}}),
            json!({"type": "code_execution_20250825", "name": "code_execution"}),
        ]
    );
    assert_eq!((tools.len(), &tools[2]["name"]), (3, &json!("look")));
}

#[tokio::test]
async fn f44_5_gemini_gets_the_tools_in_its_own_form() {
    let files = FileSearch::new(["fileSearchStores/a"])
        .max_results(5)
        .filter("author = \"Ann\"");
    let tools: [NativeTool; 3] = [
        WebSearch::new().into(),
        CodeExecution::new().into(),
        files.into(),
    ];
    let look = Arc::new(ToolSpec::new("look", "Looks.", json!({"type": "object"})));
    let request = with(tools).with_tools([look]);
    let body = sent("gemini-3-pro", request.clone()).await;
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "look");
    assert_eq!(
        body["tools"].as_array().unwrap()[1..],
        [
            json!({"googleSearch": {}}),
            json!({"codeExecution": {}}),
            json!({"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/a"], "topK": 5, "metadataFilter": "author = \"Ann\""}}),
        ]
    );
    assert_eq!(
        body["toolConfig"],
        json!({"includeServerSideToolInvocations": true})
    );
    let older = sent("gemini-2.5-pro", request).await;
    assert_eq!(older.get("toolConfig"), None);

    let image = ImageGeneration::new().size("2K").aspect_ratio("16:9");
    let body = sent("gemini-3-pro-image", with([image])).await;
    assert_eq!(body.get("tools"), None);
    assert_eq!(
        body["generationConfig"],
        json!({"responseModalities": ["TEXT", "IMAGE"], "imageConfig": {"imageSize": "2K", "aspectRatio": "16:9"}})
    );
}

#[tokio::test]
async fn f44_5_what_a_provider_does_not_have_is_refused_before_anything_is_sent() {
    let both = WebSearch::new()
        .allowed_domains(["a.com"])
        .blocked_domains(["b.com"]);
    let cases: [(&str, NativeTool, &str); 14] = [
        (
            "claude-3-haiku-20240307",
            ComputerUse::new().into(),
            "provider `anthropic` has no computer use for model `claude-3-haiku-20240307`: Claude 3.7 and later models have \
             one",
        ),
        (
            "gemini-3-pro",
            ComputerUse::new().into(),
            "the model must know the size of the screenshots: give it with `ComputerUse::display`, or with `Computer::display` of an agent",
        ),
        (
            "openai_resp::gpt-5.4",
            WebSearch::new().max_uses(3).into(),
            "the web search of provider `openai` has no setting `max_uses`: remove it, or use a model of a provider \
             that has it",
        ),
        (
            "openai_resp::gpt-5.4",
            WebSearch::new().blocked_domains(["a.com"]).into(),
            "the web search of provider `openai` has no setting `blocked_domains`: remove it, or use a model of a \
             provider that has it",
        ),
        (
            "gemini-3-pro",
            WebSearch::new().allowed_domains(["a.com"]).into(),
            "the web search of provider `gemini` has no setting `allowed_domains`: remove it, or use a model of a provider \
             that has it",
        ),
        (
            "claude-sonnet-4-6",
            both.into(),
            "the web search has both `allowed_domains` and `blocked_domains`: remove one of them",
        ),
        (
            "claude-sonnet-4-6",
            CodeExecution::new().memory(CodeMemory::Gib1).into(),
            "the code execution of provider `anthropic` has no setting `memory`: remove it, or use a model of a provider \
             that has it",
        ),
        (
            "claude-sonnet-4-6",
            FileSearch::new(["a"]).into(),
            "provider `anthropic` has no file search for model `claude-sonnet-4-6`: use a model of a provider that has it, or a tool of your \
             own",
        ),
        (
            "claude-sonnet-4-6",
            ImageGeneration::new().into(),
            "provider `anthropic` has no image generation for model `claude-sonnet-4-6`: use a model of a provider that has it, or a tool of \
             your own",
        ),
        (
            "openai::gpt-5.4",
            WebSearch::new().into(),
            "provider `openai` has no web search for model `gpt-5.4`: OpenAI has its tools over the Responses interface: name the \
             model `openai_resp::gpt-5.4`",
        ),
        (
            "deepseek-chat",
            CodeExecution::new().into(),
            "provider `deepseek` has no code execution for model `deepseek-chat`: use a model of a provider that has it, or a tool of \
             your own",
        ),
        (
            "openai_resp::gpt-5.4",
            FileSearch::new(Vec::<String>::new()).into(),
            "the file search has no `stores`: name those that it searches in",
        ),
        (
            "openai_resp::gpt-5.4",
            FileSearch::new(["vs_1"]).filter("a = 1").into(),
            "the `filter` of a file search of OpenAI is an object with `type`, `key` and `value`",
        ),
        (
            "gemini-3-pro",
            ImageGeneration::new().quality(ImageQuality::High).into(),
            "the image generation of provider `gemini` has no setting `quality`: remove it, or use a model of a provider \
             that has it",
        ),
    ];
    let server = Server::always(Vec::new()).await;
    for (name, tool, words) in cases {
        let model = ProviderModel::new(name).unwrap();
        let model = model.with_base_url(server.url("/v1")).with_key("k");
        let request = with([tool]);
        for error in [
            model.complete(&request).await.unwrap_err(),
            model.stream(&request).await.map(|_| ()).unwrap_err(),
        ] {
            assert_eq!(error.kind, LlmErrorKind::Request, "{name}");
            assert_eq!(error.to_string(), words, "{name}");
        }
    }
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn f44_5_requests_keep_their_form_in_recordings_without_native_tools() {
    let value = serde_json::to_value(LlmRequest::prompt("hi")).unwrap();
    assert_eq!(value.get("native_tools"), None);
    let request = with([WebSearch::new().max_uses(3)]);
    let value = serde_json::to_value(&request).unwrap();
    assert_eq!(
        value["native_tools"],
        json!([{"web_search": {"max_uses": 3}}])
    );
    assert_eq!(
        serde_json::from_value::<LlmRequest>(value).unwrap(),
        request
    );
}
