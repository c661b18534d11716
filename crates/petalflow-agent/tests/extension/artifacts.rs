//! Artifacts in tools, callbacks and instructions.

use petalflow::checkpoint::InMemoryStore;
use petalflow::node::ManagedValues;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::Agent;
use petalflow_agent::artifacts::{ArtifactFolder, Artifacts};
use petalflow_llm::{LlmRequest, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

fn agent() -> Agent {
    let spec = ToolSpec::new("save", "Saves.", json!({"type": "object"}));
    let save = FuncTool::untyped(spec, |arguments, cx| async move {
        let files = cx
            .scope()
            .and_then(|scope| scope.managed())
            .and_then(ManagedValues::get::<ArtifactFolder>);
        let text = arguments["text"].as_str().unwrap_or_default();
        let version = files
            .ok_or("no files")?
            .write("note", "text/plain", text.as_bytes())
            .await?;
        Ok(Value::from(version))
    });
    let model = ScriptedModel::from_fn(|request: &LlmRequest| {
        match request.messages.last().unwrap().role {
            Role::Tool => Reply::text(request.system.clone().unwrap_or_default()),
            _ => Reply::call(
                "save",
                json!({"text": request.messages.last().unwrap().text()}),
            ),
        }
    });
    Agent::new(model)
        .tool(save)
        .instructions("The note is: {artifact.note?}")
}

#[tokio::test]
async fn a_tool_writes_what_instructions_and_callbacks_read() {
    let artifacts = Artifacts::in_memory();
    let agent = agent().after_tool(|step, _| {
        let files = step.artifacts().expect("the run manages them");
        step.set_state("owner", format!("{:?}", files.owner()));
        Ok(None)
    });
    let agent = agent.before_model(|call| {
        assert!(call.artifacts().is_some());
        Ok(None)
    });
    let threads = agent
        .launch()
        .manage_with(artifacts.for_threads())
        .store(&InMemoryStore::new());
    for (thread, text) in [("ann", "tulips"), ("bob", "roses")] {
        let talk = threads
            .thread(thread)
            .run(text)
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        assert_eq!(talk.answer(), format!("The note is: {text}"));
        assert_eq!(talk.state["owner"], format!("Thread(\"{thread}\")"));
    }
    let files = artifacts.thread("bob").unwrap();
    assert_eq!(
        files.read("note").await.unwrap().unwrap().text().unwrap(),
        "roses"
    );
}

#[tokio::test]
async fn a_folder_is_a_source_of_artifacts() {
    let files = Artifacts::in_memory().user("ann").unwrap();
    files.write("style", "text/plain", b"short").await.unwrap();
    let model =
        ScriptedModel::from_fn(|request: &LlmRequest| request.system.clone().unwrap_or_default());
    let agent = Agent::new(model)
        .instructions("Be {artifact.style}.")
        .artifacts(files);
    assert_eq!(agent.run("?").await.unwrap().answer(), "Be short.");
}
