//! Agents inside other flows, and inside tools.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow::prelude::*;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::{Agent, AgentEvent, AgentNode, Conversation, ConversationEvents};
use petalflow_llm::{LlmError, LlmErrorKind, LlmRequest, Reply, Role, ScriptedModel};
use serde_json::json;

use crate::kit::{constant_tool, results, scripted_agent};

#[state]
#[derive(Debug)]
struct Essay {
    #[key(input)]
    topic: String,
    outline: String,
    text: String,
}

fn echo() -> Agent {
    let last_message =
        |request: &LlmRequest| format!("<{}>", request.messages.last().unwrap().text());
    Agent::new(ScriptedModel::from_fn(last_message))
}

flow! {
    Write(Essay) {
        node plan: AgentNode<EssayTopic, EssayOutline> = echo().node();
        node write: AgentNode<EssayOutline, EssayText>;
        START -> plan -> write;
    }
}

#[tokio::test]
async fn an_agent_is_a_node_that_reads_one_key_and_writes_another() {
    let (agent, model) = scripted_agent(["the text"]);
    let essay = Write::new()
        .write(agent.node())
        .run("petals".to_string())
        .await
        .unwrap();
    assert_eq!((&*essay.outline, &*essay.text), ("<petals>", "the text"));
    assert_eq!(crate::kit::sent_messages(&model), ["user: <petals>"]);
}

#[tokio::test]
async fn the_events_of_an_agent_are_among_those_of_the_flow() {
    let (agent, _) = scripted_agent([Reply::chunks(["the ", "text"])]);
    let launch = Write::new().write(agent.streaming().node());
    let mut events = launch.run("petals".to_string()).events();
    let mut heard = Vec::new();
    while let Some(event) = events.next().await {
        if let Some(inner) = event.nested::<Conversation>() {
            match &inner.kind {
                EventKind::Custom(custom) => heard.push(format!(
                    "{}: {}",
                    event.namespace,
                    custom.downcast_ref::<AgentEvent>().unwrap().text()
                )),
                EventKind::NodeFinished { update, .. } => heard.extend(
                    update
                        .of::<ConversationEvents>()
                        .iter()
                        .flat_map(state::Write::value)
                        .map(AgentEvent::text),
                ),
                _ => {}
            }
        }
    }
    assert_eq!(
        heard,
        [
            "petals",
            "plan/agent: <petals>",
            "<petals>",
            "<petals>",
            "write/agent: the ",
            "write/agent: text",
            "write/agent: the text",
            "the text"
        ]
    );
}

#[state]
#[derive(Debug)]
struct Panel {
    #[key(input)]
    question: String,
    #[key(append)]
    answers: Vec<String>,
}

#[node(Panel)]
async fn experts(question: &str) -> Each<String> {
    Each(vec![format!("{question} (a)"), format!("{question} (b)")])
}

#[node(Panel)]
async fn consult(
    #[item] question: &str,
    agent: Managed<Agent>,
    cx: Context,
) -> petalflow::Result<PanelAnswers> {
    let talk = agent.run_in(&cx, question).await?;
    Ok(PanelAnswers(vec![talk.answer()]))
}

flow!(Ask(Panel) { experts -> each consult });

#[tokio::test]
async fn a_node_may_run_an_agent() {
    let panel = Ask::new()
        .manage(echo())
        .run("why".to_string())
        .await
        .unwrap();
    assert_eq!(panel.answers, ["<why (a)>", "<why (b)>"]);
}

#[node(Panel)]
async fn consult_one(
    question: &str,
    agent: Managed<Agent>,
    cx: Context,
) -> petalflow::Result<PanelAnswers> {
    let talk = agent.run_in(&cx, question).await?;
    Ok(PanelAnswers(vec![talk.answer()]))
}

flow!(AskOne(Panel) { consult_one });

#[tokio::test]
async fn the_turn_of_an_agent_in_a_node_resumes_where_it_stopped() {
    let count = Arc::new(AtomicUsize::new(0));
    let down = Arc::new(AtomicBool::new(true));
    let counter = Arc::clone(&count);
    let counting = crate::kit::tool("count", move |_, _| {
        Ok(json!(counter.fetch_add(1, SeqCst) + 1))
    });
    let is_down = Arc::clone(&down);
    let model = ScriptedModel::from_fn(move |request| {
        let answered = request.messages.last().unwrap().role == Role::Tool;
        match answered {
            false => Reply::call("count", json!({})),
            true if is_down.load(SeqCst) => LlmError::new(LlmErrorKind::Connection, "down").into(),
            true => "counted".into(),
        }
    });
    let agent = Agent::new(model).tool(counting);
    let store = InMemoryStore::new();
    let thread = AskOne::new().manage(agent).store(&store).thread("p");
    thread.run("why".to_string()).await.unwrap_err();
    down.store(false, SeqCst);
    let panel = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((&*panel.answers[0], count.load(SeqCst)), ("counted", 1));
}

#[tokio::test]
async fn an_agent_may_be_a_tool_of_another() {
    let inner = echo();
    let spec = ToolSpec::new("ask_expert", "Asks an expert.", json!({"type": "object"}));
    let expert = FuncTool::untyped(spec, move |arguments, cx| {
        let inner = inner.clone();
        async move {
            let cx = cx.context().ok_or("only within a run")?;
            let talk = inner
                .run_in(&cx, arguments["question"].as_str().unwrap_or_default())
                .await?;
            Ok(json!(talk.answer()))
        }
    });
    let reply = Reply::call("ask_expert", json!({"question": "a"}))
        .and_call("ask_expert", json!({"question": "b"}));
    let again = Reply::call("ask_expert", json!({"question": "c"}));
    let (agent, _) = scripted_agent([reply, again, "done".into()]);
    let agent = agent.tool(expert).tool(constant_tool("other", json!(1)));
    let talk = agent
        .store(&InMemoryStore::new())
        .thread("t")
        .run("go")
        .await
        .unwrap()
        .into_finished()
        .unwrap();
    assert_eq!(results(&talk), ["<a>", "<b>", "<c>"]);
}

#[tokio::test]
async fn events_of_nested_agents_have_unique_ids_with_and_without_a_store() {
    let once = echo()
        .name("expert")
        .mode(petalflow_agent::Mode::SingleTurn);
    let ask = || Reply::call("expert", json!({"request": "?"}));
    for stored in [false, true] {
        let (agent, _) = scripted_agent([
            ask().and_call("expert", json!({"request": "?"})),
            ask(),
            "done".into(),
        ]);
        let agent = agent.sub_agent(once.clone());
        let talk = if stored {
            let thread = agent.store(&InMemoryStore::new()).thread("t");
            thread.run("go").await.unwrap().into_finished().unwrap()
        } else {
            agent.run("go").await.unwrap()
        };
        let mut ids: Vec<&str> = talk.events.iter().map(|event| &*event.id).collect();
        assert_eq!(ids.len(), 9);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 9, "stored: {stored}");
    }
}
