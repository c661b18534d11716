//! Computers that models use.

use std::sync::{Arc, Mutex};

use petalflow::{BoxError, async_trait};
use petalflow_agent::computer::{Computer, ComputerAction};
use petalflow_agent::{Agent, ConversationInput};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::native::{ComputerUse, NativeTool};
use petalflow_llm::{Reply, ScriptedModel};
use serde_json::{Value, json};

use crate::kit::results;

/// A computer that records what is done.
#[derive(Clone, Default)]
struct Recorded(Arc<Mutex<Vec<String>>>);

impl Recorded {
    fn done(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl Computer for Recorded {
    async fn act(&self, action: ComputerAction) -> Result<(), BoxError> {
        let words = match action {
            ComputerAction::Type { text } => format!("types {text}"),
            ComputerAction::Click { at, .. } => format!("clicks {at:?}"),
            ComputerAction::Wait { .. } => return Err("the clock is broken".into()),
            _ => "does something else".to_string(),
        };
        self.0.lock().unwrap().push(words);
        Ok(())
    }

    async fn screenshot(&self) -> Result<Media, BoxError> {
        self.0.lock().unwrap().push("shows the screen".into());
        Ok(Media {
            media_type: "image/gif".into(),
            source: MediaSource::Base64("R0lGODlhAQABAAAAACw=".into()),
            origin: None,
        })
    }

    fn display(&self) -> Option<(u32, u32)> {
        Some((1280, 800))
    }
}

fn actions(actions: Value) -> Reply {
    Reply::call("computer", json!({ "actions": actions }))
}

#[tokio::test]
async fn f44_5_actions_are_done_in_order_and_the_model_sees_the_screen() {
    let computer = Recorded::default();
    let typed = json!([{"type": "click", "x": 1, "y": 2}, {"type": "type", "text": "hi"}]);
    let broken = json!([{"type": "wait"}, {"type": "type", "text": "never"}]);
    let of_anthropic = Reply::call("computer", json!({"type": {"text": "there"}}));
    let older = json!({"action": "left_click_drag", "coordinate": [3, 4]});
    let older = Reply::call("computer", older);
    let replies = [
        actions(typed),
        actions(broken),
        of_anthropic,
        older,
        "done".into(),
    ];
    let model = ScriptedModel::new(replies);
    let agent = Agent::new(model.clone()).computer(computer.clone());
    let talk = agent.run("Write.").await.unwrap();
    assert_eq!(talk.answer(), "done");
    assert_eq!(
        computer.done(),
        [
            "clicks Some(Point { x: 1, y: 2 })",
            "types hi",
            "shows the screen",
            "types there",
            "does something else",
            "does something else",
            "does something else",
            "shows the screen"
        ]
    );
    let results = results(&talk);
    assert!(
        results[0].to_string().contains(r#""type":"image""#),
        "{}",
        results[0]
    );
    let failed = results[1].to_string();
    assert!(failed.contains("the clock is broken"), "{failed}");
    assert!(results[2].to_string().contains("done"), "{}", results[2]);
    let sent = model.last_request().unwrap();
    assert_eq!(
        *sent.native_tools,
        [NativeTool::from(ComputerUse::new().display(1280, 800))]
    );
    assert_eq!(sent.parallel_calls, Some(false));
}

#[tokio::test]
async fn f44_5_what_the_provider_warns_of_is_done_after_a_person_has_confirmed_it() {
    for is_confirmed in [true, false] {
        let computer = Recorded::default();
        let checks = json!([{"id": "c", "code": "malicious_instructions", "message": "The screen asks for a transfer."}]);
        let arguments =
            json!({"actions": [{"type": "type", "text": "yes"}], "pending_safety_checks": checks});
        let model = ScriptedModel::new([Reply::call("computer", arguments), "done".into()]);
        let agent = Agent::new(model).computer(computer.clone());
        let talk = agent.run("Go.").await.unwrap();
        assert!(computer.done().is_empty());
        let question = talk.to_string();
        assert!(
            question.contains("The screen asks for a transfer."),
            "{question}"
        );
        let id = talk.pending()[0].id().to_string();
        let answer = ConversationInput::default().confirm(id, is_confirmed);
        let talk = agent.run(talk.next_input(answer)).await.unwrap();
        assert_eq!(talk.answer(), "done");
        let expected: &[&str] = if is_confirmed {
            &["types yes", "shows the screen"]
        } else {
            &[]
        };
        assert_eq!(computer.done(), expected);
    }
}
