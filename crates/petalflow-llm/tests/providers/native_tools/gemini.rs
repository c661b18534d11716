//! Native tools of Gemini.

use petalflow_llm::native::{
    CodeExecution, FileSearch, NativeAction, NativeOutcome, NativeTool, Source, WebSearch,
};
use serde_json::{Value, json};

use super::{asked, kinds, next, streamed, whole, with};

const MODEL: &str = "gemini-2.5-pro";

fn grounding() -> Value {
    json!({
        "webSearchQueries": ["oldest tree"],
        "searchEntryPoint": {"renderedContent": "<style></style>"},
        "groundingChunks": [{"web": {"uri": "https://google.example/1", "title": "trees.example"}}, {"web": {"uri": "https://google.example/2", "title": "pines.example"}}],
        "groundingSupports": [
            {"segment": {"startIndex": 6, "endIndex": 21, "text": "4,857 years old"}, "groundingChunkIndices": [0, 1]},
            // Its numbers are wrong: the passage counts.
            {"segment": {"startIndex": 900, "endIndex": 906, "text": "a pine"}, "groundingChunkIndices": [1, 7]},
        ],
    })
}

#[tokio::test]
async fn f44_5_searches_code_and_citations_of_gemini_are_read() {
    let parts = json!([
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        {"text": "Über 4,857 years old: a pine."},
    ]);
    let candidate =
        |parts: &Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let mut body = candidate(&parts);
    body["candidates"][0]["finishReason"] = "STOP".into();
    body["candidates"][0]["groundingMetadata"] = grounding();
    let mut last = candidate(&json!([{"text": " years old: a pine."}]));
    last["candidates"][0]["finishReason"] = "STOP".into();
    last["candidates"][0]["groundingMetadata"] = grounding();
    let pieces = [
        candidate(&json!([parts[0], parts[1]])),
        candidate(&json!([{"text": "Über 4,857"}])),
        last,
    ];
    for is_streamed in [false, true] {
        let answered = if is_streamed {
            streamed(&pieces)
        } else {
            whole(&body)
        };
        let tools: [NativeTool; 2] = [WebSearch::new().into(), CodeExecution::new().into()];
        let request = with(tools);
        let (_, response) = asked(MODEL, &request, vec![answered], is_streamed).await;
        assert_eq!(
            kinds(&response),
            [
                "code",
                "code_result",
                "text",
                "citation",
                "citation",
                "citation",
                "provider"
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
                ("4,857 years old", "trees.example"),
                ("4,857 years old", "pines.example"),
                ("a pine", "pines.example"),
            ]
        );
        let used = message.native_uses();
        assert_eq!(used.len(), 2);
        assert_eq!(
            used[0].action,
            NativeAction::RunCode {
                language: "python".into(),
                code: "print(1)".into()
            }
        );
        assert!(
            matches!(&used[0].outcome, Some(NativeOutcome::Code(output)) if output.stdout == "1\n")
        );
        let queries = vec!["oldest tree".to_string()];
        assert_eq!(used[1].action, NativeAction::SearchWeb { queries });
        let Some(NativeOutcome::Sources(found)) = &used[1].outcome else {
            panic!("{:?}", used[1])
        };
        let urls: Vec<_> = found.iter().filter_map(Source::url).collect();
        assert_eq!(
            urls,
            ["https://google.example/1", "https://google.example/2"]
        );
        // Google's box of suggestions is in the data of the response, for programs that must show it.
        assert_eq!(
            response.meta["groundingMetadata"]["searchEntryPoint"],
            grounding()["searchEntryPoint"]
        );

        // Gemini takes the parts back, and knows no part with sources.
        let (sent, _) = asked(MODEL, &next(&request, &response), vec![whole(&body)], false).await;
        assert_eq!(
            sent[0]["contents"][0],
            json!({"role": "model", "parts": parts})
        );
    }
}

#[tokio::test]
async fn f44_5_a_file_search_of_a_newer_gemini_is_one_use() {
    let parts = json!([
        {"toolCall": {"id": "t1", "toolType": "FILE_SEARCH", "args": {"queries": ["trees"]}}, "thoughtSignature": "c2ln"},
        {"toolResponse": {"id": "t1", "toolType": "FILE_SEARCH"}, "thoughtSignature": "c2lo"},
        {"text": "It is old.", "thoughtSignature": "c2lp"},
    ]);
    let body = json!({"candidates": [{"finishReason": "STOP", "content": {"parts": parts}, "groundingMetadata": {
        "groundingChunks": [{"retrievedContext": {"fileSearchStore": "fileSearchStores/a", "title": "trees.txt", "text": "Methuselah is old."}}],
        "groundingSupports": [{"segment": {"endIndex": 10, "text": "It is old."}, "groundingChunkIndices": [0]}],
    }}]});
    let request = with([FileSearch::new(["fileSearchStores/a"])]);
    let model = "gemini-3-pro";
    let (_, response) = asked(model, &request, vec![whole(&body)], false).await;
    let message = response.message.clone().unwrap();
    let used = message.native_uses();
    assert_eq!(used.len(), 1);
    assert_eq!(used[0].id, "t1");
    let queries = vec!["trees".to_string()];
    assert_eq!(used[0].action, NativeAction::SearchFiles { queries });
    let Some(NativeOutcome::Files(found)) = &used[0].outcome else {
        panic!("{:?}", used[0])
    };
    assert_eq!(
        (found[0].name.as_deref(), &*found[0].text),
        (Some("trees.txt"), "Methuselah is old.")
    );
    let (passage, citation) = message.citations().next().unwrap();
    assert_eq!(
        (passage, citation.source.title()),
        ("It is old.", "trees.txt")
    );
    assert_eq!(citation.quote.as_deref(), Some("Methuselah is old."));

    let (sent, _) = asked(model, &next(&request, &response), vec![whole(&body)], false).await;
    assert_eq!(sent[0]["contents"][0]["parts"], parts);
}
