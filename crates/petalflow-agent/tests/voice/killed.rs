//! A process that is killed while its model speaks, and another one that goes on.
//!
//! The killed process is this test binary again, controlled by environment variables.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use petalflow::thread::OnBusy;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_llm::ProviderModel;
use petalflow_llm::voice::{VoiceModel, VoiceSession, VoiceSettings};
use petalflow_llm_test_support::voice::{VoiceServer, call};
use petalflow_sqlite::SqliteStore;
use serde_json::{Value, json};

use super::{play, words};

const FOLDER: &str = "PETALFLOW_TEST_KILLED_VOICE";
const URL: &str = "PETALFLOW_TEST_KILLED_VOICE_URL";
const CHILD: &str = "voice::killed::the_child";

/// An agent with a tool that writes a line for each call.
fn agent(model: VoiceModel, folder: PathBuf) -> Agent {
    let refund = FuncTool::new("refund", "Pays an order back.", move |arguments: Value| {
        let file = folder.join("paid");
        async move {
            let paid = std::fs::read_to_string(&file).unwrap_or_default();
            std::fs::write(file, format!("{paid}{}\n", arguments["order"]))?;
            Ok("paid")
        }
    });
    Agent::new(model).tool(refund)
}

fn open(url: &str) -> VoiceSession {
    let model = ProviderModel::openai_compatible(url, "gpt-realtime");
    VoiceSession::open(model, VoiceSettings::new()).expect("it has voices")
}

#[tokio::test]
async fn f44_voice_a_killed_call_goes_on_in_another_process() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut server = VoiceServer::start().await;
    let mut child = Command::new(std::env::current_exe().expect("it is known"))
        .args(["--exact", CHILD, "--nocapture"])
        .env(FOLDER, folder.path())
        .env(URL, server.url())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut provider = server.connection().await;
    provider.says("u1", "Pay order 7 back.").await;
    provider.next_of("response.create").await;
    provider.response("resp_1").await;
    let output = vec![call("call_1", "refund", &json!({ "order": 7 }))];
    provider.done("resp_1", "completed", output).await;
    // The result of the call is sent, and the answer is spoken.
    provider.next_of("response.create").await;
    provider.response("resp_2").await;
    provider.speaks("resp_2", "msg_2", "It is ", 900).await;
    child.kill().expect("it runs");
    child.wait().expect("it has ended");

    let store = SqliteStore::open(folder.path().join("calls.db"))
        .await
        .expect("it opens");
    let session = open(server.url());
    let mut provider = server.connection().await;
    let agent = agent(session.model.clone(), folder.path().to_path_buf());
    let thread = agent.store(&store).on_busy(OnBusy::Queue).thread("call");
    let played = play(session.loudspeaker);
    let (talk, _) = tokio::join!(
        thread.resume(()).into_future(),
        provider.answers(3, "It is paid.", 100)
    );
    let talk = talk.expect("it goes on").into_finished().expect("it ends");
    assert_eq!(talk.answer(), "It is paid.");
    assert_eq!(
        provider.texts(),
        [
            "user Pay order 7 back.",
            r#"call "refund" "{\"order\":7}""#,
            r#"output "paid""#,
            "assistant It is paid.",
        ],
        "the session of the killed process is not needed"
    );
    let paid = std::fs::read_to_string(folder.path().join("paid")).expect("it was paid");
    assert_eq!(paid, "7\n", "the call is made once");
    played.abort();
}

/// Not a test of its own: the process that is killed.
#[test]
fn the_child() {
    let (Some(folder), Ok(url)) = (std::env::var_os(FOLDER), std::env::var(URL)) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be built");
    runtime.block_on(async {
        let store = SqliteStore::open(folder.join("calls.db"))
            .await
            .expect("it opens");
        let mut session = open(&url);
        let agent = agent(session.model.clone(), folder);
        let said = words(&mut session.utterances).await;
        let thread = agent.store(&store).thread("call");
        // Nobody takes the audio, so that the turn does not end.
        let _ = thread.run(said).await;
    });
}
