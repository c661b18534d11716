//! Placeholders in instructions.

use petalflow::BoxError;
use petalflow::async_trait;
use petalflow_agent::extension::Artifacts;
use petalflow_agent::{Agent, ConversationInput};
use serde_json::json;

use crate::kit::{failure, scripted_agent};

struct Files;

#[async_trait]
impl Artifacts for Files {
    async fn text(&self, name: &str) -> Result<Option<String>, BoxError> {
        Ok((name == "my_file.txt").then(|| "of the file".into()))
    }
}

fn input() -> ConversationInput {
    ConversationInput::from("go")
        .with_state("city", "Kyoto")
        .with_state("app:theme", "dark")
        .with_state("user:name", "Ann")
        .with_state("count", 3)
        .with_state("list", json!([1, "a"]))
        .with_state("nothing", json!(null))
}

async fn system_prompt(instructions: &str) -> String {
    let (agent, model) = scripted_agent(["ok"]);
    agent
        .artifacts(Files)
        .instructions(instructions)
        .run(input())
        .await
        .unwrap();
    model.requests()[0].system.clone().unwrap_or_default()
}

#[tokio::test]
async fn a063_placeholders_are_replaced_by_the_state_of_the_conversation() {
    for (instructions, words) in [
        ("You are in {city}.", "You are in Kyoto."),
        ("{ city }, {city}", "Kyoto, Kyoto"),
        ("{app:theme} for {user:name}", "dark for Ann"),
        ("{count} of {list}", r#"3 of [1,"a"]"#),
        ("[{nothing}]", "[]"),
        ("[{missing?}]", "[]"),
        ("[{temp:missing?}]", "[]"),
        (
            "The words {artifact.my_file.txt}.",
            "The words of the file.",
        ),
        ("[{artifact.other?}]", "[]"),
        ("no placeholders", "no placeholders"),
    ] {
        assert_eq!(system_prompt(instructions).await, words, "{instructions}");
    }
}

#[tokio::test]
async fn a063_a_placeholder_without_a_valid_name_is_unchanged() {
    for text in [
        "{not-a-name}",
        "{1st}",
        "{}",
        "{\"a\": 1}",
        "{bad:city}",
        "{app:}",
        "a { b",
        "} {",
        "{city is nice}",
    ] {
        assert_eq!(system_prompt(text).await, text);
    }
}

#[tokio::test]
async fn a063_a_missing_required_value_is_an_error() {
    let (agent, _) = scripted_agent(["ok"]);
    let needs = |text: &str| agent.clone().instructions(text);
    assert_eq!(
        failure(&needs("{missing}"), input()).await,
        "the instructions need `{missing}`, but the conversation's state has no such key: set it, or write `{missing?}`"
    );
    assert_eq!(
        failure(&needs("{artifact.x}").artifacts(Files), input()).await,
        "the instructions need `{artifact.x}`, but there is no such artifact: save it, or write `{artifact.x?}`"
    );
    assert_eq!(
        failure(&needs("{artifact.x}"), input()).await,
        "the instructions of agent `agent` need the artifact `x`, but it has no artifacts: give it some with `.artifacts(..)`, or manage an `ArtifactFolder` in the launch"
    );
}

#[tokio::test]
async fn a063_keys_of_the_turn_are_gone_with_it_and_written_instructions_are_taken_as_they_are() {
    let (agent, model) = scripted_agent([
        petalflow_llm::Reply::call("note", json!({})),
        "noted".into(),
        "gone".into(),
    ]);
    let note = crate::kit::tool("note", |_, cx| {
        cx.set_state("temp:note", "buy milk");
        cx.set_state("kept", 1);
        Ok(json!(null))
    });
    let agent: Agent = agent
        .tool(note)
        .instructions("[{temp:note?}]")
        .instructions_with(|call| Ok(format!("{{city}} {}", call.agent())));
    let talk = agent.run("note it").await.unwrap();
    let talk = agent
        .run(talk.next_input("what did I note?"))
        .await
        .unwrap();
    let systems: Vec<_> = model
        .requests()
        .into_iter()
        .map(|request| request.system.unwrap())
        .collect();
    assert_eq!(
        systems,
        [
            "[]\n\n{city} agent",
            "[buy milk]\n\n{city} agent",
            "[]\n\n{city} agent"
        ]
    );
    assert_eq!(json!(talk.state), json!({"kept": 1}));
}
