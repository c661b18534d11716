//! Servers that ask back while they work: people, and a model.

use std::sync::{Arc, Mutex};

use petalflow_llm::{LlmError, LlmErrorKind, Reply, Role, ScriptedModel};
use petalflow_mcp::{Elicited, McpClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use super::{call, output};

/// A server whose tool `act` asks `question` (a method and its parameters), and returns the answer or the error as it came. It
/// keeps what the client says it can do.
async fn speak(wire: DuplexStream, question: (&'static str, Value), can: Arc<Mutex<Value>>) {
    let (read, mut write) = tokio::io::split(wire);
    let mut lines = BufReader::new(read).lines();
    let mut open = Value::Null;
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).expect("our client writes JSON");
        let (id, result) = match message["method"].as_str() {
            Some("initialize") => {
                *can.lock().unwrap() = message["params"]["capabilities"].clone();
                let hello = json!({
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "asks", "version": "0" },
                });
                (message["id"].clone(), hello)
            }
            Some("tools/list") => {
                let tools = json!([{ "name": "act", "inputSchema": { "type": "object" } }]);
                (message["id"].clone(), json!({ "tools": tools }))
            }
            Some("tools/call") => {
                open = message["id"].clone();
                let (method, params) = &question;
                let ask =
                    json!({ "jsonrpc": "2.0", "id": "q1", "method": method, "params": params });
                write
                    .write_all(format!("{ask}\n").as_bytes())
                    .await
                    .unwrap();
                continue;
            }
            None if message["id"] == "q1" => {
                let answer = message.get("result").or(message.get("error")).unwrap();
                let text = json!([{ "type": "text", "text": answer.to_string() }]);
                (open.take(), json!({ "content": text }))
            }
            _ => continue,
        };
        let reply = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        write
            .write_all(format!("{reply}\n").as_bytes())
            .await
            .unwrap();
    }
}

fn asking(method: &'static str, params: Value) -> (McpClient, Arc<Mutex<Value>>) {
    let can = Arc::new(Mutex::new(Value::Null));
    let shared = Arc::clone(&can);
    let server = McpClient::over("asks", move || {
        let (question, can) = ((method, params.clone()), Arc::clone(&shared));
        async move {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            tokio::spawn(speak(theirs, question, can));
            Ok(ours)
        }
    });
    (server, can)
}

/// The response that the server got.
async fn server_response(server: &McpClient) -> Value {
    let result = call(server, "act", json!({})).await.unwrap();
    serde_json::from_str(result["output"].as_str().unwrap()).unwrap()
}

fn form() -> Value {
    json!({
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": { "name": { "type": "string" } },
            "required": ["name"],
        },
    })
}

#[tokio::test]
async fn a_person_is_asked_and_the_answer_arrives() {
    let (server, can) = asking("elicitation/create", form());
    let server = server.elicit(|question| async move {
        assert_eq!(
            (question.server.as_str(), question.message.as_str()),
            ("asks", "What is your name?")
        );
        assert_eq!(
            question.schema.unwrap()["properties"]["name"]["type"],
            "string"
        );
        Elicited::Accept(json!({ "name": "Ada" }))
    });
    assert_eq!(
        server_response(&server).await,
        json!({ "action": "accept", "content": { "name": "Ada" } })
    );
    assert_eq!(
        can.lock().unwrap()["elicitation"],
        json!({ "form": {}, "url": {} })
    );
}

#[tokio::test]
async fn a_person_may_decline_cancel_or_answer_at_a_url() {
    let (server, _) = asking("elicitation/create", form());
    let refuse = server.clone().elicit(|_| async { Elicited::Decline });
    assert_eq!(
        server_response(&refuse).await,
        json!({ "action": "decline" })
    );
    let close = server.elicit(|_| async { Elicited::Cancel });
    assert_eq!(server_response(&close).await, json!({ "action": "cancel" }));

    let elsewhere = json!({ "mode": "url", "message": "Sign in.", "url": "https://example.com/in", "elicitationId": "7" });
    let (server, _) = asking("elicitation/create", elsewhere);
    let server = server.elicit(|question| async move {
        assert_eq!(
            (question.schema, question.url.as_deref()),
            (None, Some("https://example.com/in"))
        );
        Elicited::Accept(Value::Null)
    });
    assert_eq!(
        server_response(&server).await,
        json!({ "action": "accept" })
    );
}

#[tokio::test]
async fn without_a_handler_the_server_gets_an_error() {
    let (server, can) = asking("elicitation/create", form());
    let error = server_response(&server).await;
    assert_eq!(
        error["message"],
        "the client has no handler for elicitation"
    );
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    assert_eq!(*can.lock().unwrap(), json!({ "extensions": tasks }));
    let sample = json!({ "messages": [], "maxTokens": 5 });
    let (server, _) = asking("sampling/createMessage", sample);
    let error = server_response(&server).await;
    assert_eq!(error["message"], "the client has no model for sampling");
}

#[tokio::test]
async fn the_server_gets_a_response_after_a_panic_or_an_invalid_answer() {
    let (server, _) = asking("elicitation/create", form());
    let wrong = server
        .clone()
        .elicit(|_| async { Elicited::Accept(json!("Ada")) });
    assert_eq!(
        server_response(&wrong).await["message"],
        "the answer is not an object"
    );
    let broken = server.elicit(|_| async { panic!("out of order") });
    let message = server_response(&broken).await["message"].clone();
    assert!(
        message.as_str().unwrap().contains("out of order"),
        "{message}"
    );
}

#[tokio::test]
async fn a_sampling_request_reaches_the_model() {
    let params = json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "Is it long?" } },
            { "role": "assistant", "content": [{ "type": "text", "text": "Yes." }] },
            { "role": "user", "content": [{ "type": "image", "data": "aGk=", "mimeType": "image/png" }] },
        ],
        "systemPrompt": "Sum up.",
        "maxTokens": 64,
        "temperature": 0.5,
        "stopSequences": ["END"],
    });
    let (server, can) = asking("sampling/createMessage", params);
    let model = Arc::new(ScriptedModel::new(["In short: yes."]));
    let server = server.sample(Arc::clone(&model));
    let answer = server_response(&server).await;
    assert_eq!(
        (
            &answer["role"],
            &answer["content"]["text"],
            &answer["stopReason"]
        ),
        (
            &json!("assistant"),
            &json!("In short: yes."),
            &json!("endTurn")
        )
    );
    assert_eq!(can.lock().unwrap()["sampling"], json!({}));
    let asked = &model.requests()[0];
    assert_eq!(
        (asked.system.as_deref(), asked.max_tokens),
        (Some("Sum up."), Some(64))
    );
    assert_eq!(
        (asked.temperature, asked.stop.as_slice()),
        (Some(0.5), ["END".to_string()].as_slice())
    );
    let roles: Vec<_> = asked.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::User]);
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_of_the_server() {
    let params = json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "Hm?" } }], "maxTokens": 5 });
    let (server, _) = asking("sampling/createMessage", params);
    let broken = LlmError::new(LlmErrorKind::Connection, "the cable is out");
    let server = server.sample(ScriptedModel::new([Reply::from(broken)]));
    assert_eq!(
        server_response(&server).await["message"],
        "the cable is out"
    );
}

/// In the newest version of the protocol, the question is the result of the call, which is repeated with the answer.
#[tokio::test]
async fn a_question_in_place_of_a_result_is_answered_with_the_next_call() {
    let server = McpClient::over("asks", || async {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let (read, mut write) = tokio::io::split(theirs);
            let mut lines = BufReader::new(read).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let message: Value = serde_json::from_str(&line).unwrap();
                let params = &message["params"];
                let result = match message["method"].as_str() {
                    Some("initialize") => json!({
                        "protocolVersion": params["protocolVersion"],
                        "capabilities": { "tools": {} },
                        "serverInfo": { "name": "asks", "version": "0" },
                    }),
                    Some("tools/list") => {
                        json!({ "tools": [{ "name": "act", "inputSchema": { "type": "object" } }] })
                    }
                    Some("tools/call") if params["inputResponses"].is_object() => {
                        let text = format!(
                            "{} {}",
                            params["requestState"],
                            params["inputResponses"]["who"]["content"]["name"]
                        );
                        json!({ "content": [{ "type": "text", "text": text }] })
                    }
                    Some("tools/call") => json!({
                        "resultType": "input_required",
                        "requestState": "s1",
                        "inputRequests": { "who": { "method": "elicitation/create", "params": form() } },
                    }),
                    _ => continue,
                };
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
                write
                    .write_all(format!("{reply}\n").as_bytes())
                    .await
                    .unwrap();
            }
        });
        Ok(ours)
    });
    let error = call(&server, "act", json!({})).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "MCP server `asks` refused `act`: it needs an answer, and the client has no handler for elicitation"
    );
    let server = server.elicit(|_| async { Elicited::Accept(json!({ "name": "Ada" })) });
    let result = call(&server, "act", json!({})).await.unwrap();
    assert_eq!(result, output("\"s1\" \"Ada\""));
}
