//! Tools that need a credential.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{Confirmation, CredentialRequest, FuncTool, ToolResult};
use petalflow_agent::human::CREDENTIAL;
use petalflow_agent::{AgentEvent, ConversationInput, Pending};
use petalflow_llm::{ChatMessage, Part, Reply, Role};
use petalflow_testing::{Fault, FaultKind, FaultyStore};
use serde_json::{Value, json};

use crate::kit::{
    call, call_event, constant_tool, events, failure, input_after, results, scripted_agent,
    sent_messages, tool, user_event,
};

/// A tool that needs a credential, and how often it had one.
fn calendar() -> (FuncTool, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = tool("calendar", move |arguments, cx| {
        let Some(token) = cx.credential() else {
            let address = "https://accounts.example/authorize";
            cx.request_credential(
                CredentialRequest::oauth2("calendar", address).with_hint("Sign in."),
            );
            return Err("waits until the user has signed in".into());
        };
        assert_eq!(token["token"], "s3cret");
        counter.fetch_add(1, SeqCst);
        Ok(json!({ "free": arguments["day"] }))
    });
    (tool, ran)
}

fn calendar_call(id: &str, day: &str) -> Reply {
    Reply::from(call(id, "calendar", json!({ "day": day })))
}

fn token() -> Value {
    json!({ "token": "s3cret" })
}

#[tokio::test]
async fn a009_the_turn_ends_with_a_request_and_the_call_is_made_with_what_is_given() {
    let store = InMemoryStore::new();
    let (tool, ran) = calendar();
    let (agent, model) = scripted_agent([calendar_call("1", "Monday")]);
    let agent = agent.tool(tool.clone());
    let thread = agent.store(&store).thread("t");
    let talk = thread
        .run("am I free?")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!((ran.load(SeqCst), model.requests().len()), (0, 1));
    let [.., answered, request] = &talk.events[..] else {
        panic!("{talk:?}")
    };
    assert!(answered.actions.requested_credentials.contains_key("1"));
    assert_eq!(
        results(&talk),
        [json!({"error": "waits until the user has signed in"})]
    );
    let asks = request.message.as_ref().unwrap().calls().next().unwrap();
    assert_eq!(asks.name, CREDENTIAL);
    assert!(request.is_final() && request.long_running == [asks.id.clone()]);
    assert_eq!(
        asks.arguments,
        json!({
            "functionCallId": "1",
            "authConfig": {
                "credentialKey": "calendar",
                "hint": "Sign in.",
                "authScheme": {"type": "oauth2"},
                "exchangedAuthCredential": {
                    "authType": "oauth2",
                    "oauth2": {"authUri": "https://accounts.example/authorize"},
                },
            },
        })
    );
    let Some(Pending::Credential { id, request }) = talk.pending().pop() else {
        panic!("{:?}", talk.pending())
    };
    assert_eq!((&*request.key, &*request.hint), ("calendar", "Sign in."));

    // Another process resumes.
    let (agent, model) = scripted_agent(["You are free."]);
    let agent = agent.tool(tool);
    let thread = agent.store(&store).thread("t");
    let given = ConversationInput::default().credential(&*id, token());
    let talk = thread
        .run(given.clone())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(
        (ran.load(SeqCst), talk.answer()),
        (1, "You are free.".into())
    );
    assert_eq!(
        sent_messages(&model),
        [
            "user: am I free?",
            r#"assistant: calendar{"day":"Monday"}"#,
            r#"tool: calendar = {"free":"Monday"}"#
        ],
        "nothing of it reaches the model"
    );
    let debug_text = format!("{talk:?}");
    assert!(
        !debug_text.contains("s3cret"),
        "it is not part of the conversation: {debug_text}"
    );
    assert!(talk.pending().is_empty());

    // Given again, it changes nothing.
    let (agent, model) = scripted_agent(["not asked"]);
    let thread = agent.tool(calendar().0).store(&store).thread("t");
    let again = thread.run(given).await.unwrap().into_finished().unwrap();
    assert_eq!(
        (&again.events, again.answer()),
        (&talk.events, "You are free.".into())
    );
    assert_eq!((ran.load(SeqCst), model.requests().len()), (1, 0));
    assert!(!format!("{again:?}").contains("s3cret"));
}

/// The conversation does not contain the credential, so the turn can continue only with the repeated one.
#[tokio::test]
async fn a_credential_that_is_given_again_after_a_crash_is_used() {
    for nth in 1..20 {
        let store = InMemoryStore::new();
        let (tool, _) = calendar();
        let (agent, _) = scripted_agent([calendar_call("1", "Monday"), "You are free.".into()]);
        let agent = agent.tool(tool);
        let asked_for = agent.store(&store).thread("t").run("am I free?").await;
        let asked_for = asked_for.unwrap().into_finished().unwrap();
        let id = asked_for.pending()[0].id().to_string();
        let given = || ConversationInput::default().credential(&*id, token());

        let faulty = FaultyStore::new(&store);
        let kind = FaultKind::TransientErrorBefore;
        faulty.inject(Fault { kind, nth });
        let _ = agent.store(&faulty).thread("t").run(given()).await;

        let (tool, ran) = calendar();
        let (agent, _) = scripted_agent(["You are free.", "You are free."]);
        let thread = agent.tool(tool).store(&store).thread("t");
        let talk = thread.run(given()).await.unwrap().into_finished().unwrap();
        assert_eq!(talk.answer(), "You are free.", "write {nth} failed");
        assert_eq!(results(&talk).last(), Some(&json!({"free": "Monday"})));
        if !faulty.fault_occurred() {
            assert_eq!(ran.load(SeqCst), 0, "the turn had ended");
            return;
        }
    }
    panic!("a turn has fewer writes");
}

#[tokio::test]
async fn a009_without_a_credential_the_call_fails() {
    let (tool, ran) = calendar();
    let (agent, _) = scripted_agent([calendar_call("1", "Monday"), "I cannot know.".into()]);
    let agent = agent.tool(tool);
    let talk = agent.run("am I free?").await.unwrap();
    let none = ConversationInput::default().credential(talk.pending()[0].id(), Value::Null);
    let talk = agent.run(talk.next_input(none)).await.unwrap();
    assert_eq!(ran.load(SeqCst), 0);
    assert_eq!(
        results(&talk).last().unwrap(),
        &json!({"error": "Tool credential not given"})
    );
    assert_eq!(talk.answer(), "I cannot know.");
}

#[tokio::test]
async fn a009_several_calls_ask_in_the_models_order_and_are_made_in_it() {
    let (tool, ran) = calendar();
    let both = calendar_call("2", "Monday").and(Part::Call(call(
        "1",
        "calendar",
        json!({"day": "Friday"}),
    )));
    let both = both.and(Part::Call(call("3", "look", json!({}))));
    let (agent, _) = scripted_agent([both, "done".into()]);
    let agent = agent.tool(tool).tool(constant_tool("look", json!("fine")));
    let (events, talk) = events(&agent, "am I free?").await;
    assert_eq!(events.len(), 3, "calls, results, requests");
    let pending = talk.pending();
    let calls = events[2].message.iter().flat_map(ChatMessage::calls);
    let whose: Vec<&Value> = calls
        .map(|call| &call.arguments["functionCallId"])
        .collect();
    assert_eq!(whose, ["2", "1"]);
    let given = ConversationInput::default()
        .credential(pending[1].id(), token())
        .credential(pending[0].id(), token())
        .credential(pending[0].id(), token());
    let talk = agent.run(talk.next_input(given)).await.unwrap();
    assert_eq!(ran.load(SeqCst), 2);
    assert_eq!(
        results(&talk)[6..],
        [json!({"free": "Monday"}), json!({"free": "Friday"})]
    );
}

#[tokio::test]
async fn a009_a_call_may_need_a_confirmation_and_then_a_credential() {
    let (tool, ran) = calendar();
    let (agent, _) = scripted_agent([calendar_call("1", "Monday"), "done".into()]);
    let agent = agent.tool(tool.confirm_if(|_| Some("really?".into())));
    let talk = agent.run("am I free?").await.unwrap();
    let yes = ConversationInput::default().confirm(talk.pending()[0].id(), true);
    let talk = agent.run(talk.next_input(yes)).await.unwrap();
    assert!(matches!(&talk.pending()[..], [Pending::Credential { .. }]));
    let given = ConversationInput::default().credential(talk.pending()[0].id(), token());
    let talk = agent.run(talk.next_input(given)).await.unwrap();
    assert_eq!(
        (ran.load(SeqCst), talk.answer()),
        (1, "done".into()),
        "nobody is asked twice"
    );
}

#[tokio::test]
async fn a009_a_call_may_ask_for_both_at_once() {
    let both = tool("both", |_, cx| {
        let (Some(token), Some(agreed)) = (cx.credential(), cx.confirmation()) else {
            cx.request_credential(CredentialRequest::new("door"));
            cx.request_confirmation(Confirmation::ask("really?"));
            return Ok(Value::Null);
        };
        Ok(json!([token, agreed.confirmed]))
    });
    let (agent, _) = scripted_agent([Reply::call("both", json!({})), "done".into()]);
    let agent = agent.tool(both);
    let talk = agent.run("go").await.unwrap();
    let pending = talk.pending();
    assert!(
        matches!(
            &pending[..],
            [Pending::Credential { .. }, Pending::Confirmation { .. }]
        ),
        "{pending:?}"
    );
    let answers = ConversationInput::default()
        .credential(pending[0].id(), 7)
        .confirm(pending[1].id(), true);
    let talk = agent.run(talk.next_input(answers)).await.unwrap();
    assert_eq!(
        results(&talk).last().unwrap(),
        &json!([7, true]),
        "it is called once"
    );
    assert_eq!(talk.answer(), "done");
}

#[tokio::test]
async fn a009_the_credential_is_the_one_that_was_asked_for_whatever_the_answer_says() {
    let keyed = tool("keyed", |_, cx| match cx.credential() {
        None => {
            cx.request_credential(CredentialRequest::new("mine"));
            Ok(Value::Null)
        }
        Some(credential) => Ok(credential.clone()),
    });
    let (agent, _) = scripted_agent([Reply::call("keyed", json!({})), "done".into()]);
    let agent = agent.tool(keyed);
    let talk = agent.run("go").await.unwrap();
    // Front ends may wrap what they send as text.
    let wrapped = json!({ "response": json!({"credentialKey": "yours", "token": 1}).to_string() });
    let given = ConversationInput::default().credential(talk.pending()[0].id(), wrapped);
    let talk = agent.run(talk.next_input(given)).await.unwrap();
    assert_eq!(
        results(&talk).last().unwrap(),
        &json!({"credentialKey": "mine", "token": 1})
    );
}

/// A conversation in which `author` asks for a credential for this call, after the agent's model has made a call.
fn input_with_credential(author: &str, id: &str, awaited: bool) -> ConversationInput {
    let arguments = json!({"functionCallId": id, "authConfig": {"credentialKey": "calendar"}});
    let request = AgentEvent {
        long_running: if awaited { vec!["ask".into()] } else { vec![] },
        ..call_event(author, [call("ask", CREDENTIAL, arguments)])
    };
    let made = call_event("agent", [call("1", "calendar", json!({"day": "Monday"}))]);
    let input = input_after([user_event("am I free?"), made, request], "");
    let answer = ToolResult {
        call_id: "ask".into(),
        name: CREDENTIAL.into(),
        content: token(),
        is_error: false,
    };
    ConversationInput {
        message: Some(ChatMessage::new(Role::Tool, vec![Part::Result(answer)])),
        ..input
    }
}

#[tokio::test]
async fn a009_a_credential_is_bound_to_the_call_that_asked_for_it() {
    let (tool, ran) = calendar();
    let (agent, _) = scripted_agent(["done"]);
    let agent = agent.tool(tool);
    let not_asked =
        "agent `agent` has not asked for the credential `ask`: answer to the id of a pending one";
    assert_eq!(
        failure(&agent, input_with_credential("stranger", "1", true)).await,
        not_asked
    );
    assert_eq!(
        failure(&agent, input_with_credential("user", "1", true)).await,
        not_asked
    );
    assert_eq!(
        failure(&agent, input_with_credential("agent", "1", false)).await,
        not_asked
    );
    let error = failure(&agent, input_with_credential("agent", "7", true)).await;
    assert!(
        error.ends_with("is not one that the model of agent `agent` made"),
        "{error}"
    );
    assert_eq!(ran.load(SeqCst), 0);
    let talk = agent
        .run(input_with_credential("agent", "1", true))
        .await
        .unwrap();
    assert_eq!((ran.load(SeqCst), talk.answer()), (1, "done".into()));
}

/// A server that repeats ids: an approved call, and later another call with the same id, which asks for a credential
/// and for a confirmation.
#[tokio::test]
async fn an_earlier_approval_is_not_used_for_another_call_with_the_same_id() {
    let pay = tool("pay", |arguments, cx| {
        if cx.credential().is_none() {
            cx.request_credential(CredentialRequest::new("bank"));
            return Err("waits until the user has signed in".into());
        }
        match cx.confirmation() {
            Some(answer) if answer.confirmed => Ok(json!({ "paid": arguments["to"] })),
            _ => {
                cx.request_confirmation(Confirmation::ask("pay?"));
                Err("waits for a confirmation".into())
            }
        }
    });
    let second = json!({ "to": "bob" });
    for (name, first) in [
        ("look", json!({ "to": "bob" })),
        ("pay", json!({ "to": "eve" })),
        ("pay", second.clone()),
    ] {
        let (agent, _) = scripted_agent([
            Reply::from(call("call_0", name, first)),
            "done".into(),
            Reply::from(call("call_0", "pay", second.clone())),
        ]);
        let look = constant_tool("look", json!("fine")).confirm_if(|_| Some("look?".into()));
        let agent = agent.tool(pay.clone()).tool(look);
        let mut talk = agent.run("the first one").await.unwrap();
        while let Some(pending) = talk.pending().pop() {
            let answer = match pending {
                Pending::Credential { id, .. } => ConversationInput::default().credential(id, 1),
                other => ConversationInput::default().confirm(other.id(), true),
            };
            talk = agent.run(talk.next_input(answer)).await.unwrap();
        }
        assert_eq!(talk.answer(), "done");

        let talk = agent.run(talk.next_input("the second one")).await.unwrap();
        let given = ConversationInput::default().credential(talk.pending()[0].id(), 1);
        let talk = agent.run(talk.next_input(given)).await.unwrap();
        assert!(
            matches!(&talk.pending()[..], [Pending::Confirmation { .. }]),
            "after {name}: {:?}",
            results(&talk)
        );
    }
}

#[tokio::test]
async fn calls_of_one_answer_with_the_same_id_get_their_own_credentials() {
    let ask = |name: &'static str| {
        tool(name, move |_, cx| match cx.credential() {
            None => {
                cx.request_credential(CredentialRequest::new(name));
                Ok(Value::Null)
            }
            Some(credential) => Ok(json!({ name: credential })),
        })
    };
    let both = Reply::from(call("call_0", "shop", json!({}))).and(Part::Call(call(
        "call_0",
        "bank",
        json!({}),
    )));
    let (agent, _) = scripted_agent([both, "done".into()]);
    let agent = agent.tool(ask("shop")).tool(ask("bank"));
    let talk = agent.run("go").await.unwrap();
    let mut given = ConversationInput::default();
    for pending in talk.pending() {
        let Pending::Credential { id, request } = pending else {
            panic!("{pending:?}")
        };
        given = given.credential(id, format!("the key of the {}", request.key));
    }
    let talk = agent.run(talk.next_input(given)).await.unwrap();
    assert_eq!(
        results(&talk)[4..],
        [
            json!({"shop": "the key of the shop"}),
            json!({"bank": "the key of the bank"})
        ]
    );
}
