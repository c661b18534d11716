//! A recorded model that calls a tool of an MCP server.

use petalflow::prelude::*;
use petalflow::tool::ToolContext;
use petalflow::tool::ToolResult;
use petalflow_llm::{ChatMessage, LlmClient, LlmRequest};
use serde_json::{Value, json};

use super::server;
use petalflow_llm_test_support::replay::Replay;

/// returns weather in the given city
#[tool]
pub(super) fn get_weather(
    /// city name
    city: String,
) -> Value {
    json!({ "weather_summary": format!("Today in \"{city}\" is sunny") })
}

#[tokio::test]
async fn a_recorded_model_gets_the_recorded_tool_result() {
    let path = "adk/tool/mcptoolset/testdata/TestMCPToolSet.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let model = replay.model("gemini-2.5-flash");
    let tools = server(tools![get_weather]).tools().await.unwrap();
    let mut request = LlmRequest {
        tools: tools.specs(),
        ..LlmRequest::new(vec![ChatMessage::user("what is the weather in london?")])
    };
    let reply = model.complete(&request).await.unwrap();
    let call = reply.calls().next().expect("it calls the tool");
    let tool = tools.get(&call.name).expect("the tool is there");
    let cx = ToolContext::new(call.id.clone());
    let content = tool.call(call.arguments.clone(), &cx).await.unwrap();
    let result = ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error: false,
    };
    let mut messages = request.messages_with(&reply);
    messages.push(ChatMessage::results([result]));
    request.messages = messages.into();
    let reply = model.complete(&request).await.unwrap();
    assert_eq!(reply.text(), "The weather in London is sunny.");
    assert_eq!(replay.remaining(), 0);
    let asked = replay.server.requests();
    let response = &asked[1].body["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(response["name"], "get_weather");
    assert_eq!(
        response["response"],
        json!({ "output": { "weather_summary": "Today in \"london\" is sunny" } })
    );
    let declared = &asked[0].body["tools"][0]["functionDeclarations"][0];
    assert_eq!(declared["description"], "returns weather in the given city");
    assert_eq!(
        declared["parametersJsonSchema"],
        json!({
            "type": "object",
            "properties": { "city": { "type": "string", "description": "city name" } },
            "required": ["city"],
            "additionalProperties": false,
        })
    );
}
