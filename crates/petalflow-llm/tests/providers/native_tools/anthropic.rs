//! Native tools of Anthropic.

use petalflow_llm::native::{
    CodeExecution, DocumentPlace, NativeAction, NativeOutcome, NativeTool, Source, WebSearch, uses,
};
use petalflow_llm::{LlmRequest, Part};
use serde_json::{Value, json};

use super::{asked, kinds, next, streamed, whole, with};

const MODEL: &str = "claude-sonnet-4-6";

fn blocks() -> Value {
    json!([
        {"type": "text", "text": "I search. "},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "oldest tree"}, "caller": {"type": "direct"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
            {"type": "web_search_result", "url": "https://trees.example/old", "title": "Old trees", "page_age": "2 days ago", "encrypted_content": "ZW5j"},
            {"type": "web_search_result", "url": "https://pines.example", "title": "Pines", "page_age": null, "encrypted_content": "ZW5k"},
        ]},
        {"type": "text", "text": "Methuselah is 4,857 years old", "citations": [
            {"type": "web_search_result_location", "url": "https://trees.example/old", "title": "Old trees", "encrypted_index": "aW4=", "cited_text": "Methuselah: 4857 years"},
            {"type": "page_location", "document_index": 0, "document_title": "Trees", "start_page_number": 2, "end_page_number": 3, "cited_text": "It is old."},
        ]},
        {"type": "text", "text": "."},
        {"type": "server_tool_use", "id": "srvtoolu_2", "name": "bash_code_execution", "input": {"command": "expr 2026 - 4857"}},
        {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_2", "content": {
            "type": "bash_code_execution_result", "stdout": "-2831\n", "stderr": "", "return_code": 0, "content": [{"type": "bash_code_execution_output", "file_id": "file_1"}]}},
        {"type": "server_tool_use", "id": "srvtoolu_3", "name": "text_editor_code_execution", "input": {"command": "create", "path": "a.txt", "file_text": "x"}},
        {"type": "text_editor_code_execution_tool_result", "tool_use_id": "srvtoolu_3", "content": {
            "type": "text_editor_code_execution_tool_result_error", "error_code": "unavailable"}},
        {"type": "text", "text": " It grew before the pyramids."},
    ])
}

/// The events of these blocks.
fn stream_of(blocks: &Value) -> Vec<Value> {
    let mut sent = vec![
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}),
    ];
    for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
        let mut start = block.clone();
        let mut pieces = Vec::new();
        if let Some(text) = block["text"].as_str() {
            start["text"] = "".into();
            if block["citations"].is_array() {
                start["citations"] = json!([]);
            }
            for citation in block["citations"].as_array().into_iter().flatten() {
                pieces.push(json!({"type": "citations_delta", "citation": citation}));
            }
            let (first, second) = text.split_at(1);
            pieces.extend([first, second].map(|text| json!({"type": "text_delta", "text": text})));
        }
        if block["input"].is_object() {
            start["input"] = json!({});
            let text = block["input"].to_string();
            let (first, second) = text.split_at(3);
            pieces.extend(
                [first, second]
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece})),
            );
        }
        sent.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        sent.extend(
            pieces.into_iter().map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ),
        );
        sent.push(json!({"type": "content_block_stop", "index": index}));
    }
    sent.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}));
    sent.push(json!({"type": "message_stop"}));
    sent
}

fn tools() -> [NativeTool; 2] {
    [WebSearch::new().into(), CodeExecution::new().into()]
}

#[tokio::test]
async fn f44_5_searches_code_and_citations_of_anthropic_are_read_and_go_back() {
    let body = json!({"id": "m", "content": blocks(), "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 5}});
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&stream_of(&blocks()))
        } else {
            whole(&body)
        };
        let request = with(tools());
        let (_, response) = asked(MODEL, &request, vec![answered], is_streamed).await;
        assert_eq!(
            kinds(&response),
            [
                "text", "provider", "provider", "text", "citation", "citation", "text", "provider",
                "provider", "provider", "provider", "text"
            ],
            "streamed: {is_streamed}"
        );
        let message = response.message.clone().unwrap();
        assert_eq!(
            message.text(),
            "I search. Methuselah is 4,857 years old. It grew before the pyramids."
        );
        let cited: Vec<_> = message.citations().collect();
        assert_eq!(cited.len(), 2);
        assert!(
            cited
                .iter()
                .all(|(passage, _)| *passage == "Methuselah is 4,857 years old")
        );
        assert_eq!(cited[0].1.source.url(), Some("https://trees.example/old"));
        assert_eq!(cited[0].1.quote.as_deref(), Some("Methuselah: 4857 years"));
        assert_eq!(
            cited[1].1.source,
            Source::Document {
                index: 0,
                title: Some("Trees".into()),
                place: Some(DocumentPlace::Pages(2..3))
            }
        );

        let used = message.native_uses();
        let ids: Vec<&str> = used.iter().map(|used| &*used.id).collect();
        assert_eq!(ids, ["srvtoolu_1", "srvtoolu_2", "srvtoolu_3"]);
        assert_eq!(
            used[0].action,
            NativeAction::SearchWeb {
                queries: vec!["oldest tree".into()]
            }
        );
        let Some(NativeOutcome::Sources(found)) = &used[0].outcome else {
            panic!("{:?}", used[0])
        };
        let titles: Vec<&str> = found.iter().map(Source::title).collect();
        assert_eq!(titles, ["Old trees", "Pines"]);
        assert_eq!(
            used[1].action,
            NativeAction::RunCode {
                language: "bash".into(),
                code: "expr 2026 - 4857".into()
            }
        );
        let Some(NativeOutcome::Code(output)) = &used[1].outcome else {
            panic!("{:?}", used[1])
        };
        assert_eq!((&*output.stdout, output.return_code), ("-2831\n", Some(0)));
        assert_eq!(output.files, ["file_1"]);
        assert_eq!(
            used[2].action,
            NativeAction::EditFile {
                command: "create".into(),
                path: "a.txt".into()
            }
        );
        assert_eq!(
            used[2].outcome,
            Some(NativeOutcome::Failed("unavailable".into()))
        );

        let (sent, _) = asked(MODEL, &next(&request, &response), vec![whole(&body)], false).await;
        assert_eq!(
            sent[0]["messages"][0]["content"],
            blocks(),
            "streamed: {is_streamed}"
        );
    }
}

#[tokio::test]
async fn f44_5_an_answer_that_was_paused_has_the_uses_of_all_its_parts() {
    let all = blocks();
    let all = all.as_array().unwrap();
    let part = |blocks: &[Value], reason: &str| json!({"id": "m", "content": blocks, "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}});
    // The pause is between a call and its result.
    let parts = [part(&all[..2], "pause_turn"), part(&all[2..], "end_turn")];
    let answers = parts.iter().map(whole).collect();
    let (sent, response) = asked(MODEL, &with(tools()), answers, false).await;
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[1]["messages"][1]["content"], json!(all[..2]));
    assert_eq!(sent[1]["tools"], sent[0]["tools"]);
    let used = response.message.unwrap().native_uses();
    assert_eq!(used.len(), 3);
    assert!(matches!(&used[0].outcome, Some(NativeOutcome::Sources(found)) if found.len() == 2));

    // An agent stores the parts as messages of their own.
    let parts = |blocks: &[Value]| -> Vec<Part> {
        let part = |value: &Value| Part::Provider {
            provider: "anthropic".into(),
            value: value.clone(),
        };
        blocks.iter().map(part).collect()
    };
    let messages = [parts(&all[1..2]), parts(&all[2..3])];
    let used = uses(messages.iter().flatten());
    assert!(matches!(&used[0].outcome, Some(NativeOutcome::Sources(found)) if found.len() == 2));
}

#[tokio::test]
async fn f44_5_another_provider_gets_the_text_without_the_citations() {
    let body = json!({"id": "m", "content": blocks(), "stop_reason": "end_turn"});
    let request = with(tools());
    let (_, response) = asked(MODEL, &request, vec![whole(&body)], false).await;
    let next = LlmRequest {
        native_tools: Vec::new().into(),
        ..next(&request, &response)
    };
    let cases = [
        (
            "gemini-3-pro",
            json!({"candidates": [{"content": {"parts": [{"text": "ok"}]}}]}),
        ),
        (
            "openai_resp::gpt-5.4",
            json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "ok"}]}]}),
        ),
        (
            "openai::gpt-5.4",
            json!({"choices": [{"message": {"content": "ok"}}]}),
        ),
    ];
    for (name, answer) in cases {
        let (sent, _) = asked(name, &next, vec![whole(&answer)], false).await;
        let sent = sent[0].to_string();
        assert!(
            sent.contains("Methuselah is 4,857 years old"),
            "{name}: {sent}"
        );
        assert!(!sent.contains("trees.example"), "{name}: {sent}");
    }
}
