//! The tools of xAI, over its responses.
//!
//! Requests and answers have the forms of the schemas in the package `@ai-sdk/xai` (`XaiResponsesTool`, `outputItemSchema`).

use petalflow_llm::native::{
    CodeExecution, ComputerUse, FileSearch, ImageGeneration, NativeAction, NativeOutcome,
    NativeTool, Source, WebSearch, XSearch,
};
use petalflow_llm::{LlmClient as _, LlmRequest, ProviderModel};
use petalflow_llm_test_support::server::Server;
use serde_json::{Value, json};

use super::{asked, next, sent, streamed, whole, with};

const GROK: &str = "xai_resp::grok-4-fast";

#[tokio::test]
async fn f44_5_xai_gets_the_tools_in_its_own_form() {
    let web = WebSearch::new().allowed_domains(["docs.rs"]);
    let posts = XSearch::new()
        .blocked_handles(["spam"])
        .from_date("2026-01-01")
        .to_date("2026-02-01");
    let files = FileSearch::new(["vs_1"]).max_results(5);
    let tools: [NativeTool; 4] = [
        web.into(),
        posts.into(),
        CodeExecution::new().into(),
        files.into(),
    ];
    let body = sent(GROK, with(tools)).await;
    assert_eq!(
        body["tools"],
        json!([
            {"type": "web_search", "allowed_domains": ["docs.rs"]},
            {"type": "x_search", "excluded_x_handles": ["spam"], "from_date": "2026-01-01", "to_date": "2026-02-01"},
            {"type": "code_interpreter"},
            {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 5},
        ])
    );
    assert_eq!(body["model"], "grok-4-fast");
    assert_eq!(body["store"], false);
    assert_eq!(
        body["include"],
        json!(["reasoning.encrypted_content", "file_search_call.results"])
    );
    assert_eq!(body.get("reasoning"), None);
    let others: [NativeTool; 2] = [
        WebSearch::new().blocked_domains(["a.com"]).into(),
        XSearch::new().allowed_handles(["rustlang"]).into(),
    ];
    let body = sent(GROK, with(others)).await;
    assert_eq!(
        body["tools"],
        json!([{"type": "web_search", "excluded_domains": ["a.com"]}, {"type": "x_search", "allowed_x_handles": ["rustlang"]}])
    );
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
}

#[tokio::test]
async fn f44_5_what_xai_does_not_have_is_refused() {
    let server = Server::always(whole(&json!({"status": "completed", "output": []}))).await;
    let both = XSearch::new().allowed_handles(["a"]).blocked_handles(["b"]);
    let cases: [(&str, NativeTool, &str); 7] = [
        (
            GROK,
            WebSearch::new().max_uses(1).into(),
            "the web search of provider `xai` has no setting `max_uses`",
        ),
        (
            GROK,
            CodeExecution::new().files(["f"]).into(),
            "the code execution of provider `xai` has no setting `files`",
        ),
        (
            GROK,
            ComputerUse::new().into(),
            "provider `xai` has no computer use for model `grok-4-fast`",
        ),
        (
            GROK,
            ImageGeneration::new().into(),
            "provider `xai` has no image generation for model `grok-4-fast`",
        ),
        (
            GROK,
            both.into(),
            "the search of X has both `allowed_handles` and `blocked_handles`: remove one of them",
        ),
        (
            "grok-4",
            WebSearch::new().into(),
            "xAI has its tools over the Responses interface: name the model `xai_resp::grok-4`",
        ),
        (
            "openai_resp::gpt-5.4",
            XSearch::new().into(),
            "provider `openai` has no x search for model `gpt-5.4`",
        ),
    ];
    for (name, tool, words) in cases {
        let model = ProviderModel::new(name).unwrap().without_retry();
        let model = model.with_base_url(server.url("/v1")).with_key("k");
        let error = model.complete(&with([tool])).await.unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
    for name in ["claude-sonnet-4-6", "gemini-3-pro", "gpt-4o"] {
        let model = ProviderModel::new(name).unwrap().without_retry();
        let model = model.with_base_url(server.url("/v1")).with_key("k");
        let error = model.complete(&with([XSearch::new()])).await.unwrap_err();
        assert!(error.to_string().contains("has no x search"), "{error}");
    }
    assert!(server.requests().is_empty(), "nothing was sent");
}

#[tokio::test]
async fn f44_5_uses_and_sources_of_xai_are_read_and_sent_back() {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "status": "completed", "summary": [], "encrypted_content": "c2ln"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "tokio", "sources": [{"type": "url", "url": "https://tokio.rs"}]}},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "xs_1", "status": "completed", "name": "x_keyword_search", "input": "{\"query\":\"from:tokio_rs\"}"},
        {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "name": "code_execution", "arguments": "{\"code\":\"print(1)\"}"},
        {"type": "custom_tool_call", "id": "ctc_2", "call_id": "xs_2", "status": "completed", "name": "x_thread_fetch", "input": "{\"post_id\":\"7\"}"},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Tokio is at 1.5.",
            "annotations": [{"type": "url_citation", "url": "https://tokio.rs", "title": "1"}]}]},
    ]);
    let body = json!({"id": "r", "object": "response", "status": "completed", "output": items});
    let mut sse: Vec<Value> = Vec::new();
    for (index, item) in items.as_array().unwrap().iter().enumerate() {
        let mut start = json!({"type": item["type"], "id": item["id"], "status": "in_progress"});
        if item["type"] == "message" {
            start["role"] = "assistant".into();
            start["content"] = json!([]);
        }
        sse.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": start}),
        );
        if item["type"] == "message" {
            let text = &item["content"][0]["text"];
            sse.push(json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": index, "content_index": 0, "delta": text}));
        }
        sse.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    sse.push(json!({"type": "response.completed", "response": body}));
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&sse)
        } else {
            whole(&body)
        };
        let request = LlmRequest::prompt("hi").with_native_tools([XSearch::new()]);
        let (_, response) = asked(GROK, &request, vec![answered], is_streamed).await;
        let message = response.message.as_ref().unwrap();
        assert_eq!(message.calls().count(), 0, "xAI has made them");
        let cited: Vec<_> = message
            .citations()
            .map(|(text, it)| (text, it.source.url()))
            .collect();
        assert_eq!(
            cited,
            [("Tokio is at 1.5.", Some("https://tokio.rs"))],
            "streamed: {is_streamed}"
        );
        let uses = message.native_uses();
        let actions: Vec<&NativeAction> = uses.iter().map(|used| &used.action).collect();
        let words = |text: &str| vec![text.to_string()];
        assert_eq!(
            actions,
            [
                &NativeAction::SearchWeb {
                    queries: words("tokio")
                },
                &NativeAction::SearchPosts {
                    queries: words("from:tokio_rs")
                },
                &NativeAction::RunCode {
                    language: "python".into(),
                    code: "print(1)".into()
                },
                &NativeAction::Other {
                    name: "x_thread_fetch".into(),
                    input: json!({"post_id": "7"})
                },
            ],
            "streamed: {is_streamed}"
        );
        let page = Source::Web {
            url: "https://tokio.rs".into(),
            title: None,
        };
        assert_eq!(uses[0].outcome, Some(NativeOutcome::Sources(vec![page])));
        let (sent, _) = asked(GROK, &next(&request, &response), vec![whole(&body)], false).await;
        let input = sent[0]["input"].as_array().unwrap();
        let kinds: Vec<&str> = input
            .iter()
            .filter_map(|item| item["type"].as_str())
            .collect();
        assert!(
            kinds.contains(&"web_search_call") && kinds.contains(&"message"),
            "{kinds:?}"
        );
        let reasoning = input
            .iter()
            .find(|item| item["type"] == "reasoning")
            .unwrap();
        assert_eq!(reasoning["encrypted_content"], "c2ln");
    }
}
