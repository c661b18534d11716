//! Questions of tools: in a form, and in the text of prompts.

use std::path::Path;

use agent_client_protocol::v1::schema::{NewSessionRequest, StopReason};
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow_acp::AcpServer;
use petalflow_agent::Agent;
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::json;

use crate::editor::{Answer, Editor, text};

#[derive(serde::Serialize, Ask)]
#[ask(answer = u32)]
struct HowMany {
    flower: String,
}

/// Plants flowers.
#[tool]
async fn plant(flower: String, cx: Context) -> petalflow::Result<String> {
    let count = cx
        .ask(HowMany {
            flower: flower.clone(),
        })
        .await?;
    Ok(format!("planted {count} of {flower}"))
}

fn server() -> AcpServer {
    let call = Reply::call("plant", json!({ "flower": "rose" }));
    let model = ScriptedModel::new([call, "Planted.".into()]);
    let agent = Agent::new(model).tool(plant {});
    AcpServer::new(&InMemoryStore::new(), move |_| Ok(agent.clone().into())).question::<HowMany>()
}

#[tokio::test]
async fn f44_a_question_ends_the_turn_and_the_next_prompt_answers_it() {
    let editor = Editor::default();
    let seen = editor.clone();
    editor
        .with(server(), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let asked = editor.prompt(&session, "Plant roses.").await;
            assert_eq!(asked.unwrap(), StopReason::EndTurn);
            assert_eq!(text(&seen.updates()), "HowMany\n- flower: rose");
            let wrong = editor.prompt(&session, "some").await;
            assert_eq!(wrong.unwrap(), StopReason::EndTurn);
            let text_of_wrong = text(&seen.updates());
            assert!(
                text_of_wrong.starts_with("That is no answer ("),
                "{text_of_wrong}"
            );
            assert!(
                text_of_wrong.ends_with("\n\nHowMany\n- flower: rose"),
                "{text_of_wrong}"
            );
            let ended = editor.prompt(&session, " 7 ").await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            let updates = seen.updates();
            assert_eq!(text(&updates), "Planted.");
            let result = updates
                .iter()
                .find(|it| it["status"] == "completed")
                .unwrap();
            assert_eq!(result["rawOutput"], "planted 7 of rose");
        })
        .await;
}

#[tokio::test]
async fn f44_an_editor_with_forms_shows_one() {
    let editor = Editor::answering([Answer::Form(Some(json!({ "answer": 3 })))]);
    editor
        .with(server(), async |editor| {
            editor.initialize(true).await;
            let request = NewSessionRequest::new("/");
            let created = editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap();
            let ended = editor.prompt(&created.session_id, "Plant roses.").await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
        })
        .await;
    let asked = editor.asked();
    assert_eq!(asked[0]["mode"], "form");
    assert_eq!(asked[0]["message"], "HowMany\n- flower: rose");
    assert_eq!(
        asked[0]["requestedSchema"]["properties"]["answer"]["type"],
        "integer"
    );
    let updates = editor.updates();
    assert_eq!(text(&updates), "Planted.");
    assert!(
        updates
            .iter()
            .any(|it| it["rawOutput"] == "planted 3 of rose")
    );
}

#[tokio::test]
async fn f44_a_form_that_is_declined_is_answered_in_text() {
    let editor = Editor::answering([Answer::Form(None)]);
    let seen = editor.clone();
    editor
        .with(server(), async |editor| {
            editor.initialize(true).await;
            let request = NewSessionRequest::new("/");
            let created = editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap();
            editor
                .prompt(&created.session_id, "Plant roses.")
                .await
                .unwrap();
            assert_eq!(text(&seen.updates()), "HowMany\n- flower: rose");
            editor.prompt(&created.session_id, "2").await.unwrap();
            assert_eq!(text(&seen.updates()), "Planted.");
        })
        .await;
}

#[tokio::test]
async fn f44_a_question_that_is_cancelled_is_given_up() {
    let editor = Editor::default();
    let seen = editor.clone();
    editor
        .with(server(), async |editor| {
            let session = editor.session(Path::new("/")).await;
            editor.prompt(&session, "Plant roses.").await.unwrap();
            editor.cancel(&session);
            seen.updates();
            let ended = editor.prompt(&session, "No roses.").await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            // The next reply of the model.
            assert_eq!(text(&seen.updates()), "Planted.");
        })
        .await;
}
