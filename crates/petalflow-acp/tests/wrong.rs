//! Requests that are wrong.

use std::path::Path;

use agent_client_protocol::UntypedMessage;
use agent_client_protocol::v1::schema::{
    ImageContent, LoadSessionRequest, NewSessionRequest, PromptRequest,
};
use petalflow::checkpoint::InMemoryStore;
use petalflow_acp::AcpServer;
use petalflow_agent::Agent;
use petalflow_agent::deep::Workspace;
use petalflow_llm::ScriptedModel;
use serde_json::json;

use crate::editor::Editor;
use crate::server;

#[tokio::test]
async fn f44_wrong_requests_get_clear_errors() {
    let agent = Agent::new(ScriptedModel::from_fn(|_| "Yes."));
    Editor::default()
        .with(server(agent), async |editor| {
            let capabilities = editor.initialize(false).await;
            let capabilities = serde_json::to_value(capabilities).unwrap();
            assert_eq!(capabilities["protocolVersion"], 1);
            assert_eq!(capabilities["agentInfo"]["name"], "petalflow");
            let can = &capabilities["agentCapabilities"];
            assert_eq!(can["loadSession"], true);
            assert_eq!(can["promptCapabilities"]["image"], false);
            assert_eq!(can["promptCapabilities"]["embeddedContext"], true);
            for session in ["list", "resume", "close", "delete"] {
                assert!(can["sessionCapabilities"][session].is_object(), "{session}");
            }

            let unknown = editor.prompt(&"acp-7".to_string().into(), "Hello.").await.unwrap_err();
            assert_eq!(i32::from(unknown.code), -32002);
            assert_eq!(
                unknown.message,
                "the session `acp-7` is not open: begin one with `session/new`, or load it with `session/load`"
            );
            let load = LoadSessionRequest::new("acp-7".to_string(), "/");
            let unknown = editor.agent.send_request(load).block_task().await.unwrap_err();
            assert_eq!(i32::from(unknown.code), -32002);
            assert_eq!(unknown.message, "there is no session `acp-7`: begin one with `session/new`");

            let relative = NewSessionRequest::new("here");
            let relative = editor.agent.send_request(relative).block_task().await.unwrap_err();
            assert_eq!(i32::from(relative.code), -32602);
            assert_eq!(relative.message, "`cwd` is not an absolute path");

            let method = UntypedMessage::new("session/sing", json!({ "song": 1 })).unwrap();
            let method = editor.agent.send_request(method).block_task().await.unwrap_err();
            assert_eq!(i32::from(method.code), -32601);
            assert_eq!(method.data, Some("session/sing".into()));
            let params = UntypedMessage::new("session/prompt", json!({ "prompt": 1 })).unwrap();
            let params = editor.agent.send_request(params).block_task().await.unwrap_err();
            assert_eq!(i32::from(params.code), -32602);

            let session = editor.session(Path::new("/")).await;
            let image = ImageContent::new("AAAA", "image/png");
            let image = agent_client_protocol::v1::schema::ContentBlock::Image(image);
            let image = PromptRequest::new(session.clone(), vec![image]);
            let image = editor.agent.send_request(image).block_task().await.unwrap_err();
            assert_eq!(image.message, "the model of this agent reads no images: send a text");
            editor.prompt(&session, "Is it well?").await.unwrap();
        })
        .await;
}

#[tokio::test]
async fn f44_an_agent_that_cannot_be_made_is_an_error_of_its_session() {
    let server = AcpServer::new(&InMemoryStore::new(), |session| {
        Workspace::folder(session.folder().join("missing"))?;
        unreachable!("there is no such folder")
    });
    let dir = tempfile::tempdir().unwrap();
    Editor::default()
        .with(server, async |editor| {
            editor.initialize(false).await;
            let request = NewSessionRequest::new(dir.path());
            let failed = editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap_err();
            assert!(failed.message.contains("missing"), "{failed:?}");
        })
        .await;
}
