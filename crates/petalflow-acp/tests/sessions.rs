//! Sessions in a store: those that are loaded again, listed, closed and deleted.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use agent_client_protocol::v1::schema::{
    CloseSessionRequest, DeleteSessionRequest, ListSessionsRequest, LoadSessionRequest,
    ResumeSessionRequest, SessionId, StopReason,
};
use petalflow::tool::FuncTool;
use petalflow_acp::{AcpServer, SessionAgent};
use petalflow_agent::Agent;
use petalflow_agent::deep::{DeepAgent, Workspace};
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::editor::{Answer, Connection, Editor, of, soon, text};

async fn load(editor: &Connection, session: &SessionId, folder: &Path) {
    editor.initialize(false).await;
    let request = LoadSessionRequest::new(session.clone(), folder);
    editor
        .agent
        .send_request(request)
        .block_task()
        .await
        .unwrap();
}

#[tokio::test]
async fn f44_a_session_is_loaded_with_its_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let model = ScriptedModel::new([
        Reply::call(
            "write_plan",
            json!({ "items": [{ "text": "write", "state": "done" }] }),
        ),
        Reply::call("write_file", json!({ "path": "a.md", "text": "text" })),
        "Written.".into(),
        "You are welcome.".into(),
    ]);
    let server = || {
        let model = model.clone();
        AcpServer::new(&store, move |session| {
            let files = Workspace::folder(session.folder())?;
            let agent = DeepAgent::new(model.clone())
                .workspace(files.clone())
                .build();
            Ok(SessionAgent::from(agent).files(files))
        })
    };
    let first = Editor::default();
    let session = first
        .with(server(), async |editor| {
            let session = editor.session(dir.path()).await;
            editor.prompt(&session, "Write a file.").await.unwrap();
            session
        })
        .await;
    let seen = first.updates();

    let second = Editor::default();
    let replayed = second.clone();
    second
        .with(server(), async |editor| {
            load(&editor, &session, dir.path()).await;
            let updates = replayed.updates();
            let kinds: Vec<&str> = updates
                .iter()
                .map(|it| it["sessionUpdate"].as_str().unwrap())
                .collect();
            assert_eq!(
                kinds,
                [
                    "user_message_chunk",
                    "tool_call",
                    "tool_call_update",
                    "tool_call",
                    "tool_call_update",
                    "tool_call_update",
                    "agent_message_chunk",
                    "plan",
                ]
            );
            assert_eq!(updates[0]["content"]["text"], "Write a file.");
            assert_eq!(
                of(&updates, "tool_call"),
                of(&seen, "tool_call"),
                "with the same ids"
            );
            let diff =
                json!([{ "type": "diff", "path": dir.path().join("a.md"), "newText": "text" }]);
            assert_eq!(updates[4]["content"], diff);
            assert_eq!(updates[5]["status"], "completed");
            assert_eq!(text(&updates), "Written.");
            assert_eq!(of(&updates, "plan"), of(&seen, "plan"));
            let ended = editor.prompt(&session, "Thank you.").await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            assert_eq!(text(&replayed.updates()), "You are welcome.");

            // Without its conversation.
            let request = ResumeSessionRequest::new(session.clone(), dir.path());
            editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap();
            assert!(replayed.updates().is_empty());
        })
        .await;
}

#[tokio::test]
async fn f44_a_turn_that_a_crash_interrupts_is_finished_before_the_next_prompt() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let begun = Arc::new(Notify::new());
    let count = Arc::new(AtomicU32::new(0));
    let (begins, calls) = (Arc::clone(&begun), Arc::clone(&count));
    // The first call never ends.
    let build = FuncTool::new("build", "Builds.", move |_: Value| {
        let (begins, call) = (Arc::clone(&begins), calls.fetch_add(1, Ordering::SeqCst));
        async move {
            if call == 0 {
                begins.notify_one();
                std::future::pending::<()>().await;
            }
            petalflow::Result::Ok("built")
        }
    });
    let model = ScriptedModel::new([
        Reply::call("build", json!({})),
        "It is built.".into(),
        "Bye.".into(),
    ]);
    let agent = Agent::new(model.clone()).tool(build);
    let server = || {
        let agent = agent.clone();
        AcpServer::new(&store, move |_| Ok(agent.clone().into()))
    };
    let editor = Editor::default();
    let session = editor
        .with(server(), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let prompt = editor.prompt(&session, "Build.");
            tokio::select! {
                ended = prompt => panic!("it ended: {ended:?}"),
                () = soon(begun.notified()) => {}
            }
            session
        })
        .await;

    let editor = Editor::default();
    let seen = editor.clone();
    editor
        .with(server(), async |editor| {
            load(&editor, &session, Path::new("/")).await;
            let replayed = seen.updates();
            assert_eq!(of(&replayed, "tool_call")[0]["status"], "in_progress");
            let ended = soon(editor.prompt(&session, "Good bye.")).await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            let updates = seen.updates();
            assert_eq!(text(&updates), "It is built.Bye.");
            let results = of(&updates, "tool_call_update");
            assert_eq!(results[0]["rawOutput"], "built");
            assert_eq!(
                results[0]["toolCallId"],
                of(&replayed, "tool_call")[0]["toolCallId"]
            );
        })
        .await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(model.remaining(), 0, "no call of the model was repeated");
}

#[tokio::test]
async fn f44_a_call_that_waited_when_the_process_ended_is_asked_about_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let delete = FuncTool::new("delete", "Deletes.", |_: Value| async {
        petalflow::Result::Ok("deleted")
    });
    let delete = delete.confirm_if(|_| Some("Really?".into()));
    let model = ScriptedModel::new([Reply::call("delete", json!({})), "Deleted.".into()]);
    let agent = Agent::new(model.clone()).tool(delete);
    let server = || {
        let agent = agent.clone();
        AcpServer::new(&store, move |_| Ok(agent.clone().into()))
    };
    let editor = Editor::answering([Answer::Nothing]);
    let waits = Arc::clone(&editor.waits);
    let session = editor
        .with(server(), async |editor| {
            let session = editor.session(Path::new("/")).await;
            let prompt = editor.prompt(&session, "Delete it.");
            tokio::select! {
                ended = prompt => panic!("it ended: {ended:?}"),
                () = soon(waits.notified()) => {}
            }
            session
        })
        .await;
    let editor = Editor::answering([Answer::Allow]);
    let seen = editor.clone();
    editor
        .with(server(), async |editor| {
            load(&editor, &session, Path::new("/")).await;
            let replayed = seen.updates();
            let ended = soon(editor.prompt(&session, "Go on.")).await;
            assert_eq!(ended.unwrap(), StopReason::EndTurn);
            let updates = seen.updates();
            assert_eq!(text(&updates), "Deleted.");
            let asked = seen.asked();
            let call = &of(&replayed, "tool_call")[0]["toolCallId"];
            assert_eq!(&asked[0]["toolCall"]["toolCallId"], call);
            let results = of(&updates, "tool_call_update");
            assert_eq!(results.last().unwrap()["rawOutput"], "deleted");
            assert_eq!(&results.last().unwrap()["toolCallId"], call);
        })
        .await;
}

#[tokio::test]
async fn f44_sessions_are_listed_closed_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let agent = Agent::new(ScriptedModel::from_fn(|_| "Yes."));
    let server = AcpServer::new(&store, move |_| Ok(agent.clone().into()));
    let editor = Editor::default();
    editor
        .with(server, async |editor| {
            let list = async |cwd: Option<&str>| {
                let request = ListSessionsRequest::new().cwd(cwd.map(Into::into));
                let listed = editor
                    .agent
                    .send_request(request)
                    .block_task()
                    .await
                    .unwrap();
                assert_eq!(listed.next_cursor, None);
                serde_json::to_value(listed.sessions).unwrap()
            };
            let silent = editor.session(Path::new("/a")).await;
            let first = editor.session(Path::new("/a")).await;
            let second = editor.session(Path::new("/b")).await;
            editor
                .prompt(&first, "  Is it so?\nTell me.")
                .await
                .unwrap();
            editor.prompt(&second, "And this?").await.unwrap();
            let all = list(None).await;
            let ids: Vec<&Value> = all
                .as_array()
                .unwrap()
                .iter()
                .map(|it| &it["sessionId"])
                .collect();
            assert_eq!(
                ids,
                [&json!(second), &json!(first)],
                "without {silent}, in which nothing was said"
            );
            let of_a = list(Some("/a")).await;
            assert_eq!(of_a[0]["title"], "Is it so?");
            assert_eq!(of_a[0]["cwd"], "/a");
            let time = of_a[0]["updatedAt"].as_str().unwrap();
            assert!(time.starts_with("20") && time.ends_with('Z'), "{time}");
            assert_eq!(of_a.as_array().unwrap().len(), 1);

            let close = CloseSessionRequest::new(first.clone());
            editor.agent.send_request(close).block_task().await.unwrap();
            let closed = editor.prompt(&first, "And now?").await.unwrap_err();
            assert!(closed.message.contains("is not open"), "{closed:?}");
            load(&editor, &first, Path::new("/a")).await;
            editor.prompt(&first, "And now?").await.unwrap();

            let delete = DeleteSessionRequest::new(first.clone());
            editor
                .agent
                .send_request(delete)
                .block_task()
                .await
                .unwrap();
            assert_eq!(list(Some("/a")).await, json!([]));
            let other = DeleteSessionRequest::new("other-thread".to_string());
            let other = editor
                .agent
                .send_request(other)
                .block_task()
                .await
                .unwrap_err();
            assert_eq!(
                other.message,
                "there is no session `other-thread`: begin one with `session/new`"
            );
            let request = LoadSessionRequest::new(first, "/a");
            let gone = editor
                .agent
                .send_request(request)
                .block_task()
                .await
                .unwrap_err();
            assert_eq!(i32::from(gone.code), -32002);
        })
        .await;
}

#[tokio::test]
async fn f44_a_loaded_session_shows_the_calls_of_called_agents() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let model = ScriptedModel::new([
        Reply::call("worker", json!({ "request": "Look at the roses." })),
        Reply::call("write_file", json!({ "path": "roses.md", "text": "red" })),
        Reply::call("ls", json!({})),
        "They are red.".into(),
        "Red.".into(),
        // The same request again, in another turn.
        Reply::call("worker", json!({ "request": "Look at the roses." })),
        Reply::call("read_file", json!({ "path": "roses.md" })),
        "Still red.".into(),
        "Still.".into(),
    ]);
    let server = || {
        let model = model.clone();
        AcpServer::new(&store, move |session| {
            let files = Workspace::folder(session.folder())?;
            let agent = DeepAgent::new(model.clone())
                .workspace(files.clone())
                .build();
            Ok(SessionAgent::from(agent).files(files))
        })
    };
    // What is shown of calls, in its order: the ids, the titles and the last states.
    let calls = |updates: &[Value]| -> Vec<(Value, Value, Value)> {
        let shown = of(updates, "tool_call").into_iter();
        let shown = shown.map(|call| {
            let id = &call["toolCallId"];
            let states = of(updates, "tool_call_update").into_iter();
            let mut state = states.filter(|it| it["toolCallId"] == *id && it["status"].is_string());
            let state = state.next_back().map(|it| it["status"].clone());
            (id.clone(), call["title"].clone(), state.unwrap_or_default())
        });
        shown.collect()
    };
    let first = Editor::default();
    let session = first
        .with(server(), async |editor| {
            let session = editor.session(dir.path()).await;
            editor
                .prompt(&session, "Describe the roses.")
                .await
                .unwrap();
            editor.prompt(&session, "And now?").await.unwrap();
            session
        })
        .await;
    let seen = first.updates();
    let titles: Vec<Value> = calls(&seen)
        .into_iter()
        .map(|(_, title, _)| title)
        .collect();
    assert_eq!(
        titles,
        [
            "worker",
            "write_file `roses.md`",
            "ls",
            "worker",
            "read_file `roses.md`"
        ]
    );
    let second = Editor::default();
    second
        .with(server(), async |editor| {
            load(&editor, &session, dir.path()).await;
        })
        .await;
    let loaded = second.updates();
    assert_eq!(calls(&loaded), calls(&seen), "{loaded:#?}");
    assert!(
        calls(&loaded)
            .iter()
            .all(|(_, _, state)| state == "completed"),
        "{loaded:#?}"
    );
    // The worker does not speak.
    assert_eq!(text(&loaded), "Red.Still.");
    let has_diff = |updates: &[Value]| updates.iter().any(|it| it["content"][0]["type"] == "diff");
    assert!(has_diff(&seen) && has_diff(&loaded), "{loaded:#?}");
}

#[tokio::test]
async fn f44_a_loaded_session_shows_the_calls_of_an_agent_that_has_not_answered() {
    let dir = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(dir.path().join("acp.db")).await.unwrap();
    let reached = Arc::new(Notify::new());
    let server = || {
        let reached = Arc::clone(&reached);
        let model = ScriptedModel::new([
            Reply::call("worker", json!({ "request": "Look at the roses." })),
            Reply::call("write_file", json!({ "path": "roses.md", "text": "red" })),
            Reply::call("hold", json!({})),
        ]);
        AcpServer::new(&store, move |session| {
            let files = Workspace::folder(session.folder())?;
            let reached = Arc::clone(&reached);
            let hold = FuncTool::new("hold", "Waits.", move |_: Value| {
                reached.notify_one();
                std::future::pending::<petalflow::Result<Value>>()
            });
            let hold = Arc::new(hold) as Arc<dyn petalflow::tool::Tool>;
            let agent = DeepAgent::new(model.clone())
                .workspace(files.clone())
                .tools([hold]);
            Ok(SessionAgent::from(agent.build()).files(files))
        })
    };
    let first = Editor::default();
    let session = first
        .with(server(), async |editor| {
            let session = editor.session(dir.path()).await;
            let prompt = editor.prompt(&session, "Describe the roses.");
            let cancel = async {
                soon(reached.notified()).await;
                editor.cancel(&session);
            };
            let (ended, ()) = tokio::join!(soon(prompt), cancel);
            assert_eq!(ended.unwrap(), StopReason::Cancelled);
            session
        })
        .await;
    let titles = |updates: &[Value]| -> Vec<(Value, Value)> {
        let shown = of(updates, "tool_call").into_iter();
        shown
            .map(|call| (call["toolCallId"].clone(), call["title"].clone()))
            .collect()
    };
    let seen = titles(&first.updates());
    assert_eq!(seen.len(), 3, "{seen:?}");
    let second = Editor::default();
    second
        .with(server(), async |editor| {
            load(&editor, &session, dir.path()).await;
        })
        .await;
    let loaded = second.updates();
    assert_eq!(titles(&loaded), seen, "{loaded:#?}");
    assert_eq!(text(&loaded), "");
}
