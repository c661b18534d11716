//! The system tools of Amazon Nova.
//!
//! Requests and answers have the shapes of the service model of `bedrock-runtime` (`SystemTool`, `ToolUseBlock`, `ToolResultBlock`,
//! `CitationsContentBlock`, `WebLocation`). The names of the tools, and what the code interpreter returns, are those of the guide
//! of Amazon Nova 2.

use std::sync::Arc;

use petalflow::tool::ToolSpec;
use petalflow_llm::native::{
    Citation, CodeExecution, ComputerUse, NativeAction, NativeOutcome, NativeTool, Source,
    WebSearch,
};
use petalflow_llm::request::ToolChoice;
use petalflow_llm::{LlmClient as _, LlmRequest, LlmResponse, ProviderModel};
use petalflow_llm_test_support::server::{Server, Step};
use serde_json::{Value, json};

use super::{next, whole, with};
use crate::providers::bedrock_events;

const NOVA: &str = "us.amazon.nova-2-lite-v1:0";

fn model(name: &str, server: &Server) -> ProviderModel {
    let model = ProviderModel::bedrock("us-east-1", name).with_base_url(server.url(""));
    model.with_key("k").without_retry()
}

/// What was sent for the request, and what was read of the answer.
async fn asked(request: &LlmRequest, steps: Vec<Step>, is_streamed: bool) -> (Value, LlmResponse) {
    let server = Server::always(steps).await;
    let model = model(NOVA, &server);
    let response = if is_streamed {
        model.stream(request).await.unwrap().into_response().await
    } else {
        model.complete(request).await
    };
    (server.requests().remove(0).body, response.unwrap())
}

fn both() -> [NativeTool; 2] {
    [WebSearch::new().into(), CodeExecution::new().into()]
}

fn answer(blocks: &[Value]) -> Value {
    json!({"output": {"message": {"role": "assistant", "content": blocks}}, "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}})
}

fn streamed(blocks: &[Value]) -> Vec<Step> {
    let mut frames = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        frames.extend(bedrock_events::block(index, block));
    }
    frames.push(bedrock_events::message_stop("end_turn"));
    bedrock_events::steps(&frames)
}

/// A search, and code whose result is a text of JSON, as the guide shows it.
fn blocks() -> Vec<Value> {
    let printed = json!({"stdOut": "101.0", "stdErr": "", "exitCode": 0, "isError": false});
    vec![
        json!({"toolUse": {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use", "input": {"query": "tokio"}}}),
        json!({"toolResult": {"toolUseId": "t1", "type": "nova_grounding_result", "status": "success", "content": [{"text": "found"}]}}),
        json!({"citationsContent": {"content": [{"text": "Tokio is at 1.5."}], "citations": [
            {"title": "Tokio", "location": {"web": {"url": "https://tokio.rs/", "domain": "tokio.rs"}}, "sourceContent": [{"text": "1.5 is "}, {"text": "out"}]},
            {"location": {"web": {"url": "https://docs.rs/", "domain": "docs.rs"}}},
        ]}}),
        json!({"toolUse": {"toolUseId": "t2", "name": "nova_code_interpreter", "type": "server_tool_use", "input": {"snippet": "print(101.0)"}}}),
        json!({"toolResult": {"toolUseId": "t2", "type": "nova_code_interpreter_result", "status": "success", "content": [{"text": printed.to_string()}]}}),
        json!({"text": "It is 101."}),
    ]
}

#[tokio::test]
async fn f44_5_bedrock_gets_system_tools() {
    let ok = || whole(&answer(&[json!({"text": "ok"})]));
    let (sent, _) = asked(&with(both()), ok(), false).await;
    let system = [
        json!({"systemTool": {"name": "nova_grounding"}}),
        json!({"systemTool": {"name": "nova_code_interpreter"}}),
    ];
    assert_eq!(sent["toolConfig"], json!({ "tools": system }));
    // With functions, which may be forced.
    let look = Arc::new(ToolSpec::new("look", "Looks.", json!({"type": "object"})));
    let mut request = with(both()).with_tools([look]);
    request.tool_choice = ToolChoice::Tool("look".into());
    let (sent, _) = asked(&request, ok(), false).await;
    let tools = sent["toolConfig"]["tools"].as_array().unwrap();
    assert_eq!(tools[0]["toolSpec"]["name"], "look");
    assert_eq!(tools[1..], system);
    assert_eq!(
        sent["toolConfig"]["toolChoice"],
        json!({"tool": {"name": "look"}})
    );
    let mut request = with(both());
    request.tool_choice = ToolChoice::None;
    let (sent, _) = asked(&request, ok(), false).await;
    assert_eq!(sent.get("toolConfig"), None);
}

#[tokio::test]
async fn f44_5_what_bedrock_does_not_have_is_refused() {
    let server = Server::always(whole(&answer(&[json!({"text": "ok"})]))).await;
    for (name, tool, words) in [
        (
            "us.anthropic.claude-sonnet-4-6",
            NativeTool::from(WebSearch::new()),
            "provider `bedrock` has no web search for model",
        ),
        (
            "amazon.nova-lite-v1:0",
            WebSearch::new().into(),
            "provider `bedrock` has no web search for model",
        ),
        (
            "us.amazon.nova-premier-v1:0",
            CodeExecution::new().into(),
            "provider `bedrock` has no code execution for model",
        ),
        (
            NOVA,
            ComputerUse::new().into(),
            "provider `bedrock` has no computer use for model",
        ),
        (
            NOVA,
            WebSearch::new().max_uses(1).into(),
            "the web search of provider `bedrock` has no setting `max_uses`",
        ),
        (
            NOVA,
            CodeExecution::new().files(["f"]).into(),
            "the code execution of provider `bedrock` has no setting `files`",
        ),
    ] {
        let error = model(name, &server)
            .complete(&with([tool]))
            .await
            .unwrap_err();
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
    assert!(server.requests().is_empty(), "nothing was sent");
    let premier = model("us.amazon.nova-premier-v1:0", &server);
    premier.complete(&with([WebSearch::new()])).await.unwrap();
}

#[tokio::test]
async fn f44_5_sources_and_uses_of_bedrock_are_read_and_sent_back() {
    let blocks = blocks();
    for is_streamed in [false, true] {
        let steps = if is_streamed {
            streamed(&blocks)
        } else {
            whole(&answer(&blocks))
        };
        let (_, response) = asked(&with(both()), steps, is_streamed).await;
        let message = response.message.as_ref().unwrap();
        assert_eq!(message.calls().count(), 0, "the provider has made them");
        assert_eq!(message.text(), "Tokio is at 1.5.It is 101.");
        let web = |url: &str, title: &str| Source::Web {
            url: url.into(),
            title: Some(title.into()),
        };
        let first = Citation {
            quote: Some("1.5 is out".into()),
            ..Citation::of(web("https://tokio.rs/", "Tokio"))
        };
        let second = Citation::of(web("https://docs.rs/", "docs.rs"));
        let cited: Vec<_> = message.citations().collect();
        let text = "Tokio is at 1.5.";
        assert_eq!(
            cited,
            [(text, &first), (text, &second)],
            "streamed: {is_streamed}"
        );
        let uses = message.native_uses();
        assert_eq!(uses.len(), 2, "streamed: {is_streamed}: {uses:?}");
        assert_eq!(
            uses[0].action,
            NativeAction::SearchWeb {
                queries: vec!["tokio".into()]
            }
        );
        let run = NativeAction::RunCode {
            language: "python".into(),
            code: "print(101.0)".into(),
        };
        assert_eq!((&*uses[1].id, &uses[1].action), ("t2", &run));
        let Some(NativeOutcome::Code(output)) = &uses[1].outcome else {
            panic!("{uses:?}")
        };
        assert_eq!((&*output.stdout, output.return_code), ("101.0", Some(0)));

        let ok = whole(&answer(&[json!({"text": "ok"})]));
        let (sent, _) = asked(&next(&with(both()), &response), ok, false).await;
        let back = sent["messages"].as_array().unwrap();
        let back = back
            .iter()
            .find(|message| message["role"] == "assistant")
            .unwrap();
        assert_eq!(back["content"], json!(blocks), "streamed: {is_streamed}");
    }
}

#[tokio::test]
async fn f44_5_outcomes_of_bedrock_are_read_in_each_form() {
    let call = json!({"toolUse": {"toolUseId": "t", "name": "nova_code_interpreter", "type": "server_tool_use", "input": {"snippet": "x"}}});
    let result = |status: &str, content: Value| json!({"toolResult": {"toolUseId": "t", "status": status, "content": content, "type": "nova_code_interpreter_result"}});
    let outcome = async |block: Value, is_streamed| {
        let blocks = [call.clone(), block];
        let steps = if is_streamed {
            streamed(&blocks)
        } else {
            whole(&answer(&blocks))
        };
        let (_, response) = asked(&with(both()), steps, is_streamed).await;
        response
            .message
            .unwrap()
            .native_uses()
            .remove(0)
            .outcome
            .unwrap()
    };
    let printed = json!({"stdOut": "", "stdErr": "no x", "exitCode": 1, "isError": true});
    for is_streamed in [false, true] {
        let read = outcome(result("success", json!([{"json": printed}])), is_streamed).await;
        let NativeOutcome::Code(output) = read else {
            panic!("{read:?}")
        };
        assert_eq!((&*output.stderr, output.return_code), ("no x", Some(1)));
        // A text in pieces.
        let text = printed.to_string();
        let pieces = json!([{"text": text[..9]}, {"text": text[9..]}]);
        let read = outcome(result("success", pieces), is_streamed).await;
        assert!(matches!(read, NativeOutcome::Code(_)), "{read:?}");
        let read = outcome(
            result("error", json!([{"text": "time is over"}])),
            is_streamed,
        )
        .await;
        assert_eq!(read, NativeOutcome::Failed("time is over".into()));
        let read = outcome(result("success", json!([{"text": "[1"}])), is_streamed).await;
        assert_eq!(read, NativeOutcome::Other(json!([{"text": "[1"}])));
    }
}

/// Sources in a block without a text of their own are those of the text before it.
#[tokio::test]
async fn f44_5_sources_without_a_text_follow_the_text() {
    let blocks = [
        json!({"text": "Tokio is at 1.5."}),
        json!({"citationsContent": {"citations": [{"location": {"web": {"url": "https://tokio.rs/", "domain": "tokio.rs"}}}]}}),
    ];
    let (_, response) = asked(&with(both()), whole(&answer(&blocks)), false).await;
    let message = response.message.unwrap();
    let cited: Vec<_> = message
        .citations()
        .map(|(text, it)| (text, it.source.title()))
        .collect();
    assert_eq!(cited, [("Tokio is at 1.5.", "tokio.rs")]);
}
