//! OpenAI's interface: chats and responses.

use serde_json::{Value, json};

use super::guide::{Guide, Http, Tools};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn chat(text: &str) -> Value {
    json!({ "model": "guide", "messages": [{ "role": "user", "content": text }] })
}

async fn respond(http: &Http, text: &str, previous: Option<&Value>) -> Value {
    let mut body = json!({ "model": "guide", "input": text });
    if let Some(previous) = previous {
        body["previous_response_id"] = previous["id"].clone();
    }
    http.post(RESPONSES, body).await
}

fn text(response: &Value) -> &str {
    let message = response["output"].as_array().into_iter().flatten();
    let mut message = message.filter(|item| item["type"] == "message");
    let message = message.next();
    let message = message.unwrap_or_else(|| panic!("no message: {response}"));
    message["content"][0]["text"].as_str().expect("a text")
}

/// The pieces of a streamed chat.
fn pieces(chunks: &[Value]) -> Vec<&str> {
    let deltas = chunks.iter().map(|chunk| &chunk["choices"][0]["delta"]);
    let texts = deltas.filter_map(|delta| delta["content"].as_str());
    texts.filter(|text| !text.is_empty()).collect()
}

async fn chats_and_responses(tools: Tools) {
    let Some(guide) = Guide::start(tools).await else {
        return;
    };
    let http = &guide.http;
    assert_eq!(http.get("/v1/models").await["data"][0]["id"], "guide");

    // A chat, whole and in pieces, with a tool of the agent.
    let whole = http.post(CHAT, chat("look")).await;
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], "I got a river.", "{whole}");
    let mut streamed = chat("slow");
    streamed["stream"] = true.into();
    let chunks = http.events(CHAT, streamed).await;
    assert_eq!(pieces(&chunks), ["a ", "b ", "c ", "d ", "e "]);
    let last = chunks.last().expect("it has an end");
    assert_eq!(last["choices"][0]["finish_reason"], "stop");

    // A response, what follows it, and both as another process reads them.
    let first = respond(http, "both", None).await;
    assert_eq!(
        (&first["status"], text(&first)),
        (&json!("completed"), "I got a river and a river.")
    );
    let second = respond(http, "count", Some(&first)).await;
    assert_eq!(
        text(&second),
        "5",
        "the question, the calls, the results, the answer, the new one"
    );
    // The first response, continued once more, is another conversation.
    let branch = respond(http, "count", Some(&first)).await;
    assert_eq!(text(&branch), "5");
    let other = Http::start(&guide.restate, &guide.flow).await;
    for response in [&first, &second] {
        let path = format!("{RESPONSES}/{}", response["id"].as_str().expect("an id"));
        let again = other.get(&path).await;
        assert_eq!(again["output"], response["output"]);
        assert_eq!(
            again["previous_response_id"],
            response["previous_response_id"]
        );
    }
    let path = format!("{RESPONSES}/{}", second["id"].as_str().expect("an id"));
    let (status, _) = other.send("DELETE", &path, &Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(other.send("GET", &path, &Value::Null).await.0, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_and_responses_with_tools_in_the_driver() {
    chats_and_responses(Tools::Inline).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chat_and_responses_with_tools_on_a_node_host() {
    chats_and_responses(Tools::Placed).await;
}

async fn people(tools: Tools) {
    let Some(guide) = Guide::start(tools).await else {
        return;
    };
    let http = &guide.http;
    let asked = respond(http, "wipe", None).await;
    let request = asked["output"].as_array().and_then(|output| output.last());
    let request = request.expect("it asks");
    assert_eq!(request["type"], "mcp_approval_request", "{asked}");
    let approval = json!({ "type": "mcp_approval_response", "approval_request_id": request["id"], "approve": true });
    let body =
        json!({ "model": "guide", "previous_response_id": asked["id"], "input": [approval] });
    let done = http.post(RESPONSES, body).await;
    assert_eq!(text(&done), "I got gone.");

    // The question of a tool.
    let asked = http.post(CHAT, chat("order")).await;
    let choice = &asked["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls", "{asked}");
    let call = &choice["message"]["tool_calls"][0];
    let mut answered = chat("order");
    let messages = answered["messages"].as_array_mut().expect("a list");
    messages.push(choice["message"].clone());
    messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "true" }));
    let done = http.post(CHAT, answered).await;
    assert_eq!(
        done["choices"][0]["message"]["content"], "I got true.",
        "{done}"
    );

    let body = json!({ "model": "guide", "input": "dig", "background": true });
    let begun = http.post(RESPONSES, body).await;
    assert_eq!(begun["status"], "in_progress");
    let path = format!(
        "{RESPONSES}/{}/cancel",
        begun["id"].as_str().expect("an id")
    );
    // Another process than that which began it.
    let other = Http::start(&guide.restate, &guide.flow).await;
    let cancelled = other.post(&path, Value::Null).await;
    assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_confirms_answers_and_cancels_with_tools_in_the_driver() {
    people(Tools::Inline).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_confirms_answers_and_cancels_with_tools_on_a_node_host() {
    people(Tools::Placed).await;
}
