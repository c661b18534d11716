//! Computers that models use.

use std::sync::{Arc, Mutex};

use petalflow::{BoxError, async_trait};
use petalflow_agent::computer::{Computer, ComputerAction, MouseButton, Point};
use petalflow_agent::extension::{Approval, Approvals, ToolStep};
use petalflow_agent::{Agent, ConversationInput, Pending};
use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::native::{ComputerEnvironment, ComputerUse, NativeTool};
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

/// A browser that records what is done, and cannot go back.
#[derive(Clone, Default)]
struct Browser(Arc<Mutex<Vec<ComputerAction>>>);

#[async_trait]
impl Computer for Browser {
    async fn act(&self, action: ComputerAction) -> Result<(), BoxError> {
        if action == ComputerAction::GoBack {
            return Err("there is no page before".into());
        }
        self.0.lock().unwrap().push(action);
        Ok(())
    }

    async fn screenshot(&self) -> Result<Media, BoxError> {
        Ok(Media {
            media_type: "image/png".into(),
            source: MediaSource::Base64("aGk=".into()),
            origin: None,
        })
    }

    async fn url(&self) -> Result<Option<String>, BoxError> {
        let done = self.0.lock().unwrap();
        let opened = done.iter().rev().find_map(|action| match action {
            ComputerAction::Navigate { url } => Some(url.clone()),
            _ => None,
        });
        Ok(opened)
    }

    fn display(&self) -> Option<(u32, u32)> {
        Some((1000, 500))
    }

    fn settings(&self) -> ComputerUse {
        ComputerUse::new().environment(ComputerEnvironment::Browser)
    }
}

fn calls(calls: Value) -> Reply {
    Reply::call("computer", json!({ "calls": calls }))
}

#[tokio::test]
async fn f44_5_actions_of_gemini_are_done_in_order_until_one_fails() {
    let browser = Browser::default();
    let open = json!([
        {"name": "navigate", "args": {"url": "a.example"}},
        {"name": "click_at", "args": {"x": 500, "y": 500}},
    ]);
    let fails = json!([
        {"name": "go_back", "args": {}},
        {"name": "type", "args": {"text": "never"}, "id": "2"},
    ]);
    let model = ScriptedModel::new([calls(open), calls(fails), "done".into()]);
    let agent = Agent::new(model.clone()).computer(browser.clone());
    let talk = agent.run("Go.").await.unwrap();
    assert_eq!(talk.answer(), "done");
    let at = Some(Point { x: 500, y: 250 });
    let (button, times, keys) = (MouseButton::Left, 1, Vec::new());
    assert_eq!(
        *browser.0.lock().unwrap(),
        [
            ComputerAction::Navigate {
                url: "https://a.example".into()
            },
            ComputerAction::Click {
                at,
                button,
                times,
                keys
            },
        ]
    );
    let picture = json!({"type": "image", "media_type": "image/png", "data": "aGk="});
    let seen = json!({"url": "https://a.example", "screenshot": picture});
    let mut failed = seen.clone();
    failed["error"] = "there is no page before".into();
    let not_done = json!({"error": "not done, because an action before it failed"});
    let results = results(&talk);
    assert_eq!(results[0], json!({"results": [seen, seen]}));
    assert_eq!(results[1], json!({"results": [failed, not_done]}));
    let sent = model.last_request().unwrap();
    let declared = ComputerUse::new().environment(ComputerEnvironment::Browser);
    assert_eq!(
        *sent.native_tools,
        [NativeTool::from(declared.display(1000, 500))]
    );
}

/// Allows every call, as "always allow" of an editor does.
struct AllowAll;

impl Approvals for AllowAll {
    fn decide(&self, _: &ToolStep<'_>) -> Option<Approval> {
        Some(Approval::Allow)
    }
}

/// Asks about every call.
struct AskAll;

impl Approvals for AskAll {
    fn decide(&self, _: &ToolStep<'_>) -> Option<Approval> {
        Some(Approval::Ask("May it?".into()))
    }
}

#[tokio::test]
async fn f44_5_no_approval_of_the_program_replaces_what_a_provider_wants_confirmed() {
    let decision =
        json!({"decision": "require_confirmation", "explanation": "This clicks a CAPTCHA."});
    let click = json!({"x": 1, "y": 2, "safety_decision": decision});
    let gemini = json!({"calls": [{"name": "navigate", "args": {"url": "a.example"}}, {"name": "click_at", "args": click}]});
    let unknown = json!({"calls": [{"name": "go_forward", "args": {"safety_decision": {"decision": "new"}}}]});
    let checks =
        json!([{"id": "c", "code": "malicious_instructions", "message": "This clicks a CAPTCHA."}]);
    let openai =
        json!({"actions": [{"type": "type", "text": "yes"}], "pending_safety_checks": checks});
    let question = "The provider of the model warns of this action: This clicks a CAPTCHA.. Do it?";
    let without_words =
        "The provider of the model warns of this action: a safety decision without words. Do it?";
    for (arguments, question, done) in [
        (gemini, question, 2),
        (unknown, without_words, 1),
        (openai, question, 1),
    ] {
        for (is_confirmed, asks) in [(true, false), (false, false), (true, true)] {
            let browser = Browser::default();
            let model =
                ScriptedModel::new([Reply::call("computer", arguments.clone()), "done".into()]);
            let agent = Agent::new(model).computer(browser.clone());
            let agent = if asks {
                agent.approvals(AskAll)
            } else {
                agent.approvals(AllowAll)
            };
            // A callback that changes the arguments does not hide what the provider wants to know.
            let agent = agent.before_tool(|step| {
                if let Some(call) = step.arguments.pointer_mut("/calls/1/args") {
                    *call = json!({"x": 1, "y": 2});
                }
                Ok(None)
            });
            let talk = agent.run("Go.").await.unwrap();
            assert!(browser.0.lock().unwrap().is_empty());
            let [Pending::Confirmation { id, hint, .. }] = &talk.pending()[..] else {
                panic!("{talk}")
            };
            let asked = if asks {
                format!("May it? {question}")
            } else {
                question.to_string()
            };
            assert_eq!(hint, &asked);
            let answer = ConversationInput::default().confirm(id, is_confirmed);
            let talk = agent.run(talk.next_input(answer)).await.unwrap();
            assert_eq!(talk.answer(), "done");
            let expected = if is_confirmed { done } else { 0 };
            assert_eq!(browser.0.lock().unwrap().len(), expected, "{arguments}");
        }
    }
    // What the provider allows is done at once.
    let allowed = json!({"calls": [{"name": "go_forward", "args": {"safety_decision": {"decision": "regular"}}}]});
    let browser = Browser::default();
    let model = ScriptedModel::new([Reply::call("computer", allowed), "done".into()]);
    let talk = Agent::new(model)
        .computer(browser.clone())
        .run("Go.")
        .await
        .unwrap();
    assert_eq!(
        (talk.answer(), browser.0.lock().unwrap().len()),
        ("done".into(), 1)
    );
}
