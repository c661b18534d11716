//! Models of clouds by their names: in documents, and with `--model`.

use std::process::Command;

use petalflow_llm_test_support::server::{ReceivedRequest, Server, answer};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{Ran, program};

/// A node of each cloud, and one of each publisher at Vertex AI.
const GRAPH: &str = r#"
id: clouds
version: "1.0"
kind: graph
nodes:
  - { id: chat, type: llm_prompt, config: { provider: azure, model: our-gpt, prompt_template: "hi", output_key: chat } }
  - { id: think, type: llm_prompt, config: { provider: azure_resp, model: our-o3, prompt_template: "hi", output_key: think } }
  - { id: gemini, type: llm_prompt, config: { provider: vertex, model: gemini-2.5-flash, prompt_template: "hi", output_key: gemini } }
  - { id: claude, type: llm_prompt, config: { provider: vertex, model: claude-sonnet-4-6, prompt_template: "hi", output_key: claude } }
  - { id: nova, type: llm_prompt, config: { provider: bedrock, model: "amazon.nova-micro-v1:0", prompt_template: "hi", output_key: nova } }
edges:
  - { source: chat, target: think }
  - { source: think, target: gemini }
  - { source: gemini, target: claude }
  - { source: claude, target: nova }
"#;

/// An answer in the format of the path. Nodes ask for streams, and the clients take a whole answer too. That of Bedrock would have
/// to be in its own format, so it refuses.
fn reply(request: &ReceivedRequest) -> Option<Value> {
    let path = &*request.path;
    Some(if path.ends_with("/chat/completions") {
        json!({ "choices": [{ "message": { "content": "azure" }, "finish_reason": "stop" }] })
    } else if path.ends_with("/responses") {
        let content = json!([{ "type": "output_text", "text": "azure" }]);
        let message = json!({ "type": "message", "role": "assistant", "content": content });
        json!({ "status": "completed", "output": [message] })
    } else if path.ends_with(":streamGenerateContent") {
        json!({ "candidates": [{ "content": { "parts": [{ "text": "gemini" }] }, "finishReason": "STOP" }] })
    } else if path.ends_with(":streamRawPredict") {
        json!({ "content": [{ "type": "text", "text": "claude" }], "stop_reason": "end_turn" })
    } else {
        return None;
    })
}

async fn server() -> Server {
    Server::start(|_, request| match reply(request) {
        Some(reply) => answer("200 OK", "application/json", &reply.to_string()),
        None => answer(
            "400 Bad Request",
            "application/json",
            r#"{"message": "not today"}"#,
        ),
    })
    .await
}

/// The program, with what says where the clouds are.
fn with_places(server: &Server) -> Command {
    let mut command = program();
    command
        .env("AZURE_OPENAI_ENDPOINT", server.url(""))
        .env("AZURE_OPENAI_API_KEY", "key-of-azure")
        .env_remove("OPENAI_API_VERSION")
        .env("GOOGLE_CLOUD_PROJECT", "ours")
        .env("GOOGLE_CLOUD_LOCATION", "europe-west4")
        .env("GOOGLE_VERTEX_BASE_URL", server.url(""))
        .env("CLOUDSDK_AUTH_ACCESS_TOKEN", "token-of-google")
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url(""))
        .env("AWS_BEARER_TOKEN_BEDROCK", "key-of-bedrock");
    command
}

fn run(command: &mut Command) -> Ran {
    Ran::from_output(&command.output().expect("the program starts"))
}

fn graph() -> (TempDir, String) {
    let folder = TempDir::new().expect("a folder can be made");
    let file = folder.path().join("clouds.graph.yaml");
    std::fs::write(&file, GRAPH).expect("a file can be written");
    let name = file.display().to_string();
    (folder, name)
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_name_models_of_clouds() {
    let (_folder, file) = graph();
    let server = server().await;
    let ran = run(with_places(&server).args(["run", &file])).code(2);
    assert!(
        ran.err.contains("`bedrock`") && ran.err.contains("not today"),
        "{}",
        ran.err
    );
    let google = "/v1/projects/ours/locations/europe-west4/publishers";
    let expected = [
        (
            "/openai/v1/chat/completions",
            "\r\napi-key: key-of-azure\r\n",
        ),
        ("/openai/v1/responses", "\r\napi-key: key-of-azure\r\n"),
        (
            &format!("{google}/google/models/gemini-2.5-flash:streamgeneratecontent"),
            "\r\nauthorization: bearer token-of-google\r\n",
        ),
        (
            &format!("{google}/anthropic/models/claude-sonnet-4-6:streamrawpredict"),
            "\r\nauthorization: bearer token-of-google\r\n",
        ),
        (
            "/model/amazon.nova-micro-v1%3a0/converse-stream",
            "\r\nauthorization: bearer key-of-bedrock\r\n",
        ),
    ];
    let requests = server.requests();
    assert_eq!(requests.len(), expected.len());
    for (request, (path, access)) in requests.iter().zip(expected) {
        let head = &request.head;
        // A query may follow.
        assert!(head.starts_with(&format!("post {path}")), "{head}");
        assert!(head.contains(access), "{head}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_program_prints_the_tokens_of_clouds_and_of_no_others() {
    let (_folder, file) = graph();
    let server = server().await;
    let mut command = with_places(&server);
    let token = ["--token-command", "printf 'token of %s\\n' ours"];
    run(command.args(["run", &file]).args(token)).code(2);
    for request in server.requests() {
        let is_bedrock = request.path.starts_with("/model/");
        let has_token = request
            .head
            .contains("\r\nauthorization: bearer token of ours\r\n");
        assert_eq!(has_token, !is_bedrock, "{}", request.head);
    }
    let mut command = with_places(&server);
    let ran = run(command.args(["run", &file, "--token-command", "false"])).code(2);
    assert!(
        ran.err.contains("the program `false` ended with"),
        "{}",
        ran.err
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_has_a_model_of_a_cloud() {
    let server = server().await;
    let mut command = with_places(&server);
    let model = ["--model", "azure::our-gpt"];
    command
        .args(["chat", "food_order.json", "--input", "guest=Ann"])
        .args(model);
    // At the end of its input, the program ends: the model has spoken first.
    run(&mut command);
    let requests = server.requests();
    assert!(
        requests[0]
            .head
            .starts_with("post /openai/v1/chat/completions ")
    );
    assert_eq!(requests[0].body["model"], "our-gpt");
}

#[test]
fn a_place_that_is_missing_is_named() {
    let (_folder, file) = graph();
    let mut command = program();
    command.env_remove("AZURE_OPENAI_ENDPOINT");
    let ran = run(command.args(["run", &file])).code(5);
    assert!(
        ran.err
            .contains("set the environment variable `AZURE_OPENAI_ENDPOINT`"),
        "{}",
        ran.err
    );
    let mut command = program();
    command
        .env_remove("AWS_REGION")
        .env_remove("AWS_DEFAULT_REGION");
    let model = [
        "chat",
        "food_order.json",
        "--model",
        "bedrock::amazon.nova-micro-v1:0",
    ];
    let ran = run(command.args(model)).code(5);
    assert!(ran.err.contains("`AWS_REGION`"), "{}", ran.err);
}
