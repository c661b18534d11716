//! Calls that a person must confirm.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolCall};
use petalflow_agent::human::CONFIRMATION;
use petalflow_agent::{Agent, AgentEvent, ConversationInput, Pending};
use petalflow_llm::{ChatMessage, Part, Reply, Role, ScriptedModel};
use serde_json::{Value, json};

use crate::kit::{
    agent_event, call, call_event, constant_tool, events, failure, results, scripted_agent, tool,
    user_event,
};

/// A tool that a person must confirm, and how often it ran.
fn dangerous(name: &str) -> (FuncTool, Arc<AtomicUsize>) {
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let tool = tool(name, move |arguments, _| {
        counter.fetch_add(1, SeqCst);
        Ok(json!({ "wiped": arguments["disk"] }))
    });
    (tool.confirm_if(|_| Some("really?".into())), ran)
}

fn signed_call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        signature: Some("c2ln".into()),
        ..call(id, name, arguments)
    }
}

#[tokio::test]
async fn a047_a048_results_come_first_then_one_request_per_asked_call_in_the_models_order() {
    let reply = Reply::from(signed_call("2", "wipe", json!({"disk": "b"})))
        .and(Part::Call(call("3", "look", json!({}))))
        .and(Part::Call(signed_call("1", "wipe", json!({"disk": "a"}))));
    let (agent, model) = scripted_agent([reply, "done".into()]);
    let (wipe, ran) = dangerous("wipe");
    let agent = agent.tool(wipe).tool(constant_tool("look", json!("fine")));
    let (events, talk) = events(&agent, "tidy up").await;
    assert_eq!(events.len(), 3, "calls, results, requests");
    assert_eq!(
        results(&talk),
        [
            json!({"error": "error tool \"wipe\" requires confirmation, please approve or reject"}),
            json!("fine"),
            json!({"error": "error tool \"wipe\" requires confirmation, please approve or reject"}),
        ]
    );
    let requests: Vec<&ToolCall> = events[2].message.as_ref().unwrap().calls().collect();
    assert_eq!(requests.len(), 2);
    for (request, (id, disk)) in requests.iter().zip([("2", "b"), ("1", "a")]) {
        assert_eq!(request.name, CONFIRMATION);
        assert!(events[2].long_running.contains(&request.id));
        assert_ne!(request.id, id);
        assert_eq!(request.signature.as_deref(), Some("c2ln"));
        assert_eq!(
            request.arguments,
            json!({
                "originalFunctionCall": {"id": id, "name": "wipe", "args": {"disk": disk}},
                "toolConfirmation": {"hint": "really?", "confirmed": false},
            })
        );
    }
    assert!(events[2].is_final());
    assert_eq!((ran.load(SeqCst), model.requests().len()), (0, 1));
    let hints: Vec<String> = talk
        .pending()
        .into_iter()
        .map(|pending| match pending {
            Pending::Confirmation { call, hint, .. } => {
                format!("{} {}: {hint}", call.name, call.arguments["disk"])
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(hints, ["wipe \"b\": really?", "wipe \"a\": really?"]);
}

#[tokio::test]
async fn a049_nothing_is_asked_about_calls_that_the_model_did_not_make() {
    let strange = tool("strange", |_, cx| {
        let question = petalflow::tool::Confirmation::ask("?");
        cx.actions()
            .requested_confirmations
            .insert("another call".into(), question);
        Ok(json!(1))
    });
    let (agent, _) = scripted_agent([Reply::call("strange", json!({})), "done".into()]);
    let (events, talk) = events(&agent.tool(strange), "go").await;
    assert_eq!(events.len(), 3);
    assert!(talk.pending().is_empty());
}

#[tokio::test]
async fn a050_confirmed_calls_run_and_refused_calls_are_errors_also_after_a_restart() {
    let store = InMemoryStore::new();
    let script = || {
        Reply::from(call("1", "wipe", json!({"disk": "a"}))).and(Part::Call(call(
            "2",
            "wipe",
            json!({"disk": "b"}),
        )))
    };
    let (wipe, ran) = dangerous("wipe");
    let (agent, _) = scripted_agent([script()]);
    let talk = agent
        .tool(wipe.clone())
        .store(&store)
        .thread("t")
        .run("tidy up")
        .await;
    let pending = talk.unwrap().into_finished().unwrap().pending();

    // Another process: another agent of the same kind. The answers come in another order, and one of them twice.
    let (agent, model) = scripted_agent(["done"]);
    let thread = agent.tool(wipe).store(&store).thread("t");
    let answers = ConversationInput::default()
        .confirm(pending[1].id(), false)
        .confirm(pending[0].id(), true)
        .confirm(pending[0].id(), true);
    let talk = thread
        .run(answers.clone())
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(ran.load(SeqCst), 1);
    let last = talk.events[talk.events.len() - 2].message.as_ref().unwrap();
    let contents: Vec<&Value> = last.tool_results().map(|result| &result.content).collect();
    assert_eq!(
        contents,
        [
            &json!({"wiped": "a"}),
            &json!({"error": "Tool execution not confirmed"})
        ]
    );
    assert_eq!(talk.answer(), "done");
    // The model reads each call once, with what came of it in the end.
    let results: Vec<Value> = model.requests()[0]
        .messages
        .iter()
        .flat_map(ChatMessage::tool_results)
        .map(|result| result.content.clone())
        .collect();
    assert_eq!(
        results,
        [
            json!({"wiped": "a"}),
            json!({"error": "Tool execution not confirmed"})
        ]
    );
    assert!(talk.pending().is_empty());
}

#[tokio::test]
async fn a050_a_decision_that_is_given_again_changes_nothing() {
    for (first, second) in [(true, true), (true, false), (false, false), (false, true)] {
        let (wipe, ran) = dangerous("wipe");
        let (agent, model) = scripted_agent([
            Reply::from(call("1", "wipe", json!({"disk": "a"}))),
            "done".into(),
        ]);
        let agent = agent.tool(wipe);
        let talk = agent.run("tidy up").await.unwrap();
        let id = talk.pending()[0].id().to_string();
        let decide = |yes| ConversationInput::default().confirm(&id, yes);
        let talk = agent.run(talk.next_input(decide(first))).await.unwrap();
        let before = talk.events.clone();
        let (new, talk) = events(&agent, talk.next_input(decide(second))).await;
        assert!(new.is_empty(), "{new:?}");
        assert_eq!(talk.events, before);
        assert_eq!(talk.answer(), "done");
        assert_eq!(model.requests().len(), 2);
        assert_eq!(ran.load(SeqCst), usize::from(first));
    }
}

#[tokio::test]
async fn a_decision_that_is_given_again_on_a_thread_changes_nothing() {
    let store = InMemoryStore::new();
    let (wipe, ran) = dangerous("wipe");
    let (agent, model) = scripted_agent([
        Reply::from(call("1", "wipe", json!({"disk": "a"}))),
        "done".into(),
        "you are welcome".into(),
    ]);
    let thread = agent.tool(wipe).store(&store).thread("t");
    let run = async |input: ConversationInput| {
        let ended = thread.run(input).await.unwrap();
        ended.into_finished().unwrap()
    };
    let asked = run("tidy up".into()).await;
    let yes = ConversationInput::default().confirm(asked.pending()[0].id(), true);
    let first = run(yes.clone()).await;
    for _ in 0..2 {
        let again = run(yes.clone()).await;
        assert_eq!(
            (&again.events, again.answer()),
            (&first.events, first.answer())
        );
    }
    assert_eq!((ran.load(SeqCst), model.requests().len()), (1, 2));
    // What is new in the same input counts.
    let mut thanks = yes;
    let message = thanks.message.as_mut().unwrap();
    message.parts.push(Part::text("thanks"));
    assert_eq!(run(thanks).await.answer(), "you are welcome");
    assert_eq!(ran.load(SeqCst), 1);
}

#[tokio::test]
async fn one_of_two_decisions_that_is_given_again_leaves_the_other_open() {
    let (wipe, ran) = dangerous("wipe");
    let calls = Reply::from(call("1", "wipe", json!({"disk": "a"}))).and(Part::Call(call(
        "2",
        "wipe",
        json!({"disk": "b"}),
    )));
    let (agent, model) = scripted_agent([calls, "one is done".into(), "both are".into()]);
    let agent = agent.tool(wipe);
    let talk = agent.run("tidy up").await.unwrap();
    let ids: Vec<String> = talk
        .pending()
        .iter()
        .map(|pending| pending.id().into())
        .collect();
    let yes = |id: &str| ConversationInput::default().confirm(id, true);
    let talk = agent.run(talk.next_input(yes(&ids[0]))).await.unwrap();
    let talk = agent.run(talk.next_input(yes(&ids[0]))).await.unwrap();
    assert_eq!(talk.pending().len(), 1);
    assert_eq!((ran.load(SeqCst), model.requests().len()), (1, 2));
    let talk = agent.run(talk.next_input(yes(&ids[1]))).await.unwrap();
    assert_eq!((ran.load(SeqCst), talk.answer()), (2, "both are".into()));
}

#[tokio::test]
async fn a_decision_of_an_agent_below_that_is_given_again_changes_nothing() {
    let (wipe, ran) = dangerous("wipe");
    let (agent, model) = scripted_agent([
        Reply::call("cleaner", json!({"request": "tidy up"})),
        Reply::from(call("1", "wipe", json!({"disk": "a"}))),
        "wiped".into(),
        "done".into(),
    ]);
    let cleaner = Agent::named("cleaner")
        .mode(petalflow_agent::Mode::SingleTurn)
        .tool(wipe);
    let agent = agent.sub_agent(cleaner);
    let talk = agent.run("tidy up").await.unwrap();
    let yes = ConversationInput::default().confirm(talk.pending()[0].id(), true);
    let talk = agent.run(talk.next_input(yes.clone())).await.unwrap();
    let before = talk.events.clone();
    let talk = agent.run(talk.next_input(yes)).await.unwrap();
    assert_eq!((&talk.events, talk.answer()), (&before, "done".into()));
    assert_eq!((ran.load(SeqCst), model.requests().len()), (1, 4));
}

/// The process dies after the decision was stored, and the front end sends it again.
#[tokio::test(start_paused = true)]
async fn a_decision_that_is_given_again_after_a_crash_is_carried_out_once() {
    let store = InMemoryStore::new();
    let hangs = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let ran = Arc::new(AtomicUsize::new(0));
    let wipe = || {
        let (hangs, ran) = (Arc::clone(&hangs), Arc::clone(&ran));
        let spec = petalflow::tool::ToolSpec::new("wipe", "Wipes.", json!({"type": "object"}));
        let tool = FuncTool::untyped(spec, move |_, _| {
            let (hangs, ran) = (hangs.load(SeqCst), Arc::clone(&ran));
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
                Ok(json!(ran.fetch_add(1, SeqCst) + 1))
            }
        });
        tool.confirm_if(|_| Some("really?".into()))
    };
    let (agent, _) = scripted_agent([Reply::from(call("1", "wipe", json!({})))]);
    let thread = agent.tool(wipe()).store(&store).thread("t");
    let asked = thread
        .run("tidy up")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    let id = asked.pending()[0].id().to_string();
    let decide = |yes| ConversationInput::default().confirm(&id, yes);
    let crash = tokio::time::timeout(std::time::Duration::from_secs(1), thread.run(decide(true)));
    crash.await.unwrap_err();

    hangs.store(false, SeqCst);
    let (agent, model) = scripted_agent(["done"]);
    let thread = agent.tool(wipe()).store(&store).thread("t");
    // The first decision counts: the call may have run.
    for _ in 0..2 {
        let talk = thread
            .run(decide(false))
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        assert_eq!(talk.answer(), "done");
        assert_eq!(results(&talk).last(), Some(&json!(1)));
    }
    assert_eq!((ran.load(SeqCst), model.requests().len()), (1, 1));
}

/// A conversation in which `author` asks to confirm this call, after the agent's model has made a call.
fn input_with_confirmation(author: &str, original: Value, awaited: bool) -> ConversationInput {
    let request = call(
        "ask",
        CONFIRMATION,
        json!({"originalFunctionCall": original, "toolConfirmation": {}}),
    );
    let past = [
        user_event("tidy up"),
        call_event("agent", [call("1", "wipe", json!({"disk": "a"}))]),
        AgentEvent {
            long_running: if awaited { vec!["ask".into()] } else { vec![] },
            ..call_event(author, [request])
        },
    ];
    let input = crate::kit::input_after(past, "");
    ConversationInput {
        message: None,
        ..input
    }
    .confirm("ask", true)
}

#[tokio::test]
async fn a050_confirmations_that_are_not_the_agents_own_or_of_another_call_are_refused() {
    let (wipe, ran) = dangerous("wipe");
    let (agent, _) = scripted_agent(["done"]);
    let agent = agent.tool(wipe);
    let good = json!({"id": "1", "name": "wipe", "args": {"disk": "a"}});
    let not_asked =
        "agent `agent` has not asked for the confirmation `ask`: answer to the id of a pending one";
    assert_eq!(
        failure(
            &agent,
            input_with_confirmation("stranger", good.clone(), true)
        )
        .await,
        not_asked
    );
    assert_eq!(
        failure(&agent, input_with_confirmation("user", good.clone(), true)).await,
        not_asked
    );
    // What a model wrote itself is not a request.
    assert_eq!(
        failure(
            &agent,
            input_with_confirmation("agent", good.clone(), false)
        )
        .await,
        not_asked
    );
    for (key, value) in [
        ("id", json!("7")),
        ("name", json!("look")),
        ("args", json!({"disk": "b"})),
    ] {
        let mut other = good.clone();
        other[key] = value;
        let error = failure(&agent, input_with_confirmation("agent", other, true)).await;
        assert!(
            error.ends_with("is not one that the model of agent `agent` made"),
            "{error}"
        );
    }
    assert_eq!(ran.load(SeqCst), 0);
    let talk = agent
        .run(input_with_confirmation("agent", good, true))
        .await
        .unwrap();
    assert_eq!((ran.load(SeqCst), talk.answer()), (1, "done".into()));
}

#[tokio::test]
async fn a_confirmation_of_a_call_that_does_not_wait_is_refused() {
    let (agent, _) = scripted_agent(["done"]);
    let stray = ConversationInput::default().confirm("nothing", true);
    assert!(
        failure(&agent, stray)
            .await
            .contains("has not asked for the confirmation `nothing`")
    );
}

#[tokio::test]
async fn a_model_cannot_call_the_confirmation_tool() {
    let forging = Reply::call(CONFIRMATION, json!({"originalFunctionCall": {}}));
    let model = ScriptedModel::new([forging, "sorry".into()]);
    let talk = Agent::new(model).run("go").await.unwrap();
    assert_eq!(talk.answer(), "sorry");
    assert!(
        results(&talk)[0]["error"]
            .as_str()
            .unwrap()
            .contains("not found")
    );
}

#[tokio::test]
async fn a_tool_may_ask_by_itself_and_read_the_answer() {
    let shy = tool("shy", |_, cx| match cx.confirmation() {
        None => {
            cx.request_confirmation(petalflow::tool::Confirmation::ask("how many?"));
            Ok(json!({"status": "asked"}))
        }
        Some(answer) => Ok(json!({"days": answer.payload["days"]})),
    });
    let (agent, _) = scripted_agent([Reply::call("shy", json!({})), "done".into()]);
    let agent = agent.tool(shy);
    let talk = agent.run("take leave").await.unwrap();
    let id = talk.pending()[0].id().to_string();
    let message = ChatMessage::new(
        Role::Tool,
        vec![Part::Result(petalflow::tool::ToolResult {
            call_id: id,
            name: CONFIRMATION.into(),
            content: json!({"confirmed": true, "payload": {"days": 3}}),
            is_error: false,
        })],
    );
    let talk = agent.run(talk.next_input(message)).await.unwrap();
    assert_eq!(results(&talk).last(), Some(&json!({"days": 3})));
    assert_eq!(agent_event("agent", "done").text(), talk.answer());
}

#[tokio::test]
async fn a_person_refuses_with_a_reason_that_the_model_reads() {
    let reply = Reply::from(call("1", "wipe", json!({"disk": "a"})));
    let (agent, _) = scripted_agent([reply, "I see.".into()]);
    let (wipe, ran) = dangerous("wipe");
    let agent = agent.tool(wipe);
    let talk = agent.run("tidy up").await.unwrap();
    let id = talk.pending()[0].id().to_string();
    let input = ConversationInput::default().refuse(id, "disk a has the backups");
    let talk = agent.run(talk.next_input(input)).await.unwrap();
    assert_eq!(ran.load(SeqCst), 0);
    let results = results(&talk);
    assert!(
        results.contains(&json!({"error": "Tool execution not confirmed: disk a has the backups"})),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_person_changes_the_arguments_and_the_model_reads_them() {
    let reply = Reply::from(call("1", "wipe", json!({"disk": "a"})));
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let (wipe, ran) = dangerous("wipe");
    let agent = agent.tool(wipe);
    let talk = agent.run("tidy up").await.unwrap();
    let id = talk.pending()[0].id().to_string();
    let input = ConversationInput::default().confirm_with(id, json!({"disk": "b"}));
    let talk = agent.run(talk.next_input(input)).await.unwrap();
    assert_eq!(ran.load(SeqCst), 1);
    let results = results(&talk);
    let result = results.iter().find(|result| result.get("result").is_some());
    let result = result.unwrap_or_else(|| panic!("{results:?}"));
    assert_eq!(result["result"], json!({"wiped": "b"}));
    assert_eq!(result["arguments"], json!({"disk": "b"}));
}

#[tokio::test]
async fn changed_arguments_that_are_no_object_are_an_error() {
    let reply = Reply::from(call("1", "wipe", json!({"disk": "a"})));
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let (wipe, ran) = dangerous("wipe");
    let agent = agent.tool(wipe);
    let talk = agent.run("tidy up").await.unwrap();
    let id = talk.pending()[0].id().to_string();
    let input = ConversationInput::default().confirm_with(id, json!("b"));
    let talk = agent.run(talk.next_input(input)).await.unwrap();
    assert_eq!(ran.load(SeqCst), 0);
    assert!(
        results(&talk)
            .iter()
            .any(|result| result.to_string().contains("not a JSON object"))
    );
}
