//! Native tools of OpenAI.

use petalflow_llm::message::MediaSource;
use petalflow_llm::native::{
    CodeExecution, FileSearch, ImageGeneration, NativeAction, NativeOutcome, NativeTool, Source,
    WebSearch,
};
use serde_json::{Value, json};

use super::{asked, kinds, next, streamed, whole, with};

const MODEL: &str = "openai_resp::gpt-5.4";

fn items() -> Value {
    json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "oldest tree", "queries": ["oldest tree", "old pine"],
            "sources": [{"type": "url", "url": "https://trees.example/old"}, {"type": "api", "name": "oai-weather"}]}},
        {"type": "web_search_call", "id": "ws_2", "status": "completed", "action": {"type": "find_in_page", "url": "https://trees.example/old", "pattern": "4857"}},
        {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "cntr_1", "code": "print(1)",
            "outputs": [{"type": "logs", "logs": "1\n"}, {"type": "image", "url": "data:image/png;base64,aGk="}]},
        {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["trees"],
            "results": [{"file_id": "file_1", "filename": "trees.txt", "score": 0.75, "text": "Methuselah: 4857 years", "attributes": {}}]},
        {"type": "image_generation_call", "id": "ig_1", "status": "completed", "revised_prompt": "an old tree", "output_format": "webp", "result": "aGk="},
        {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [
            {"type": "output_text", "text": "Über 4,857 years old [1].", "logprobs": [], "annotations": [
                {"type": "url_citation", "url": "https://trees.example/old", "title": "Old trees", "start_index": 5, "end_index": 20},
                {"type": "file_citation", "file_id": "file_1", "filename": "trees.txt", "index": 25}]},
            {"type": "output_text", "text": "A chart is in a.png.", "logprobs": [], "annotations": [
                {"type": "container_file_citation", "container_id": "cntr_1", "file_id": "cfile_1", "filename": "a.png", "start_index": 14, "end_index": 19}]},
        ]},
    ])
}

/// The events of these items.
fn stream_of(items: &Value) -> Vec<Value> {
    let mut sent = Vec::new();
    for (index, item) in items.as_array().unwrap().iter().enumerate() {
        let start = json!({"type": item["type"], "id": item["id"], "status": "in_progress"});
        sent.push(
            json!({"type": "response.output_item.added", "output_index": index, "item": start}),
        );
        if item["type"] == "web_search_call" {
            sent.push(json!({"type": "response.web_search_call.searching", "output_index": index, "item_id": item["id"]}));
        }
        for (part, content) in item["content"].as_array().into_iter().flatten().enumerate() {
            let (first, second) = content["text"].as_str().unwrap().split_at(3);
            for piece in [first, second] {
                sent.push(json!({"type": "response.output_text.delta", "output_index": index, "content_index": part, "item_id": item["id"], "delta": piece}));
            }
            for annotation in content["annotations"].as_array().unwrap() {
                sent.push(json!({"type": "response.output_text.annotation.added", "output_index": index, "content_index": part, "annotation": annotation}));
            }
            sent.push(json!({"type": "response.content_part.done", "output_index": index, "content_index": part, "item_id": item["id"], "part": content}));
        }
        sent.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    sent.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}}));
    sent
}

fn tools() -> [NativeTool; 4] {
    [
        WebSearch::new().into(),
        CodeExecution::new().into(),
        FileSearch::new(["vs_1"]).into(),
        ImageGeneration::new().into(),
    ]
}

#[tokio::test]
async fn f44_5_all_tools_and_citations_of_openai_are_read_and_go_back() {
    let body = json!({"id": "r", "status": "completed", "output": items()});
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&stream_of(&items()))
        } else {
            whole(&body)
        };
        let request = with(tools());
        let (_, response) = asked(MODEL, &request, vec![answered], is_streamed).await;
        assert_eq!(
            kinds(&response),
            [
                "thought", "provider", "provider", "provider", "provider", "provider", "text",
                "citation", "citation", "text", "citation"
            ],
            "streamed: {is_streamed}"
        );
        let message = response.message.clone().unwrap();
        let cited: Vec<_> = message
            .citations()
            .map(|(passage, citation)| (passage, citation.source.title()))
            .collect();
        assert_eq!(
            cited,
            [
                ("4,857 years old", "Old trees"),
                ("Über 4,857 years old [1].", "trees.txt"),
                ("a.png", "a.png"),
            ]
        );

        let used = message.native_uses();
        let ids: Vec<&str> = used.iter().map(|used| &*used.id).collect();
        assert_eq!(ids, ["ws_1", "ws_2", "ci_1", "fs_1", "ig_1"]);
        let queries = vec!["oldest tree".to_string(), "old pine".to_string()];
        assert_eq!(used[0].action, NativeAction::SearchWeb { queries });
        let found = NativeOutcome::Sources(vec![Source::Web {
            url: "https://trees.example/old".into(),
            title: None,
        }]);
        assert_eq!(used[0].outcome, Some(found));
        assert_eq!(
            used[1].action,
            NativeAction::FindInPage {
                url: "https://trees.example/old".into(),
                pattern: "4857".into()
            }
        );
        let Some(NativeOutcome::Code(output)) = &used[2].outcome else {
            panic!("{:?}", used[2])
        };
        assert_eq!(output.stdout, "1\n");
        assert_eq!(output.images[0].media_type, "image/png");
        assert_eq!(output.images[0].source, MediaSource::Base64("aGk=".into()));
        let Some(NativeOutcome::Files(found)) = &used[3].outcome else {
            panic!("{:?}", used[3])
        };
        assert_eq!(
            (found[0].name.as_deref(), &*found[0].text, found[0].score),
            (Some("trees.txt"), "Methuselah: 4857 years", Some(0.75))
        );
        let prompt = Some("an old tree".to_string());
        assert_eq!(used[4].action, NativeAction::DrawImage { prompt });
        let Some(NativeOutcome::Image(image)) = &used[4].outcome else {
            panic!("{:?}", used[4])
        };
        assert_eq!(image.media_type, "image/webp");
        assert_eq!(image.source, MediaSource::Base64("aGk=".into()));

        let (sent, _) = asked(MODEL, &next(&request, &response), vec![whole(&body)], false).await;
        let input = sent[0]["input"].as_array().unwrap();
        let expected = items();
        let expected = expected.as_array().unwrap();
        assert_eq!(
            input[..expected.len()],
            expected[..],
            "streamed: {is_streamed}"
        );
    }
}

#[tokio::test]
async fn f44_5_a_search_that_failed_says_so() {
    let items = json!([
        {"type": "web_search_call", "id": "ws_1", "status": "failed", "action": {"type": "open_page", "url": "https://gone.example"}},
        {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "It is gone.", "annotations": []}]},
    ]);
    let body = json!({"id": "r", "status": "completed", "output": items});
    let (_, response) = asked(MODEL, &with(tools()), vec![whole(&body)], false).await;
    let used = response.message.unwrap().native_uses();
    let url = "https://gone.example".to_string();
    assert_eq!(used[0].action, NativeAction::OpenPage { url });
    assert_eq!(
        used[0].outcome,
        Some(NativeOutcome::Failed("failed".into()))
    );
}

#[tokio::test]
async fn f44_5_the_annotations_of_other_servers_are_citations() {
    let annotation = json!({"type": "url_citation", "url_citation": {"url": "https://trees.example", "title": "Trees", "content": "old", "start_index": 0, "end_index": 4}});
    let whole_body = json!({"choices": [{"message": {"role": "assistant", "content": "4,857 years", "annotations": [annotation]}, "finish_reason": "stop"}]});
    let pieces = [
        json!({"choices": [{"delta": {"role": "assistant", "content": "4,857 "}}]}),
        json!({"choices": [{"delta": {"content": "years", "annotations": [annotation]}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    ];
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&pieces)
        } else {
            whole(&whole_body)
        };
        let request = petalflow_llm::LlmRequest::prompt("How old?");
        let (_, response) = asked(
            "open_router::openai/gpt-5",
            &request,
            vec![answered],
            is_streamed,
        )
        .await;
        let message = response.message.unwrap();
        let cited: Vec<_> = message.citations().collect();
        assert_eq!(cited.len(), 1, "streamed: {is_streamed}");
        assert_eq!(cited[0].0, "4,857 years");
        assert_eq!(cited[0].1.source.url(), Some("https://trees.example"));
        assert_eq!(cited[0].1.quote.as_deref(), Some("old"));
    }
}
