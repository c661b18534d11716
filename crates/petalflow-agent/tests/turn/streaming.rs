//! The streamed events of a run, and when they are emitted.

use std::sync::Arc;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::Ask;
use petalflow::policy::Retry;
use petalflow::tool::{FuncTool, ToolSpec};
use petalflow_agent::prebuilt::{AskExpert, Team};
use petalflow_agent::stream::{AgentEventKind, AgentEvents};
use petalflow_agent::{Agent, Mode};
use petalflow_llm::nodes::Model;
use petalflow_llm::stream::Delta;
use petalflow_llm::{
    ChatMessage, LlmError, LlmErrorKind, LlmResponse, Part, Reply, Role, ScriptedModel, TokenUsage,
};
use serde_json::json;
use tokio::time::{Duration, Instant, sleep};

use crate::kit::{collect_stream, constant_tool, events, results, scripted_agent, shape, tool};

#[tokio::test]
async fn a019_deltas_are_sent_only_when_streaming_is_enabled() {
    let (agent, _) = scripted_agent([Reply::chunks(["hel", "lo"])]);
    let (pieces, events, _) = collect_stream(agent.events("hi")).await;
    assert!(pieces.is_empty());
    assert_eq!(shape(&events), ["hello"]);

    let (agent, _) = scripted_agent([Reply::chunks(["hel", "lo"])]);
    let (pieces, events, _) = collect_stream(agent.streaming().events("hi")).await;
    assert_eq!(shape(&pieces), ["hel", "lo"]);
    assert!(
        pieces
            .iter()
            .all(|piece| piece.partial && piece.author == "agent")
    );
    assert_eq!(shape(&events), ["hello"]);
    assert!(!events[0].partial);
}

#[tokio::test]
async fn a017_callbacks_see_every_delta_and_the_response_and_may_replace_each() {
    let (agent, _) = scripted_agent([Reply::chunks(["hel", "lo"])]);
    let agent = agent
        .streaming()
        .after_model(|call, response| {
            let loud = response.text().to_uppercase();
            let mark = if call.is_partial() { "~" } else { "!" };
            Ok(Some(LlmResponse::text_only(loud + mark)))
        })
        .after_model(|_, _| panic!("the first has decided"));
    let (pieces, events, _) = collect_stream(agent.events("hi")).await;
    assert_eq!(shape(&pieces), ["HEL~", "LO~"]);
    assert_eq!(shape(&events), ["HELLO!"]);
}

#[tokio::test]
async fn a021_streamed_calls_are_emitted_but_made_only_when_complete() {
    let piece = |name: Option<&str>, arguments: &str| Delta::Call {
        index: 0,
        id: Some("1".into()),
        name: name.map(Into::into),
        arguments: arguments.into(),
    };
    let reply = Reply::chunks([piece(Some("echo"), "{\"say\":"), piece(None, "\"hi\"}")]);
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let agent = agent
        .streaming()
        .tool(tool("echo", |arguments, _| Ok(arguments["say"].clone())));
    let (pieces, events, talk) = collect_stream(agent.events("go")).await;
    assert_eq!(pieces.len(), 2, "the call's begin, and the last words");
    assert_eq!(results(&talk), ["hi"], "once");
    assert_eq!(events.len(), 3);
    assert!(
        talk.events.iter().all(|event| !event.partial),
        "pieces are not kept"
    );
}

#[tokio::test]
async fn a064_the_response_has_the_parts_in_order_with_signatures_and_usage() {
    let usage = TokenUsage {
        input: 3,
        output: 4,
        total: 7,
        ..TokenUsage::default()
    };
    let argument = |path: &str, value| Delta::Argument {
        index: 0,
        path: path.into(),
        value,
    };
    let reply = Reply::chunks([
        Delta::Thought("hm".into()),
        Delta::Signature("c2ln".into()),
        Delta::Text("let me ".into()),
        Delta::Text("see".into()),
        Delta::Call {
            index: 0,
            id: Some("1".into()),
            name: Some("echo".into()),
            arguments: String::new(),
        },
        argument("$.say", json!("h")),
        argument("$.say", json!("i")),
        argument("$.to.name", json!("Ann")),
    ])
    .with_usage(usage);
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let agent = agent.streaming().tool(constant_tool("echo", json!(1)));
    let (pieces, events, talk) = collect_stream(agent.events("go")).await;
    assert!(pieces.iter().all(|piece| piece.partial));
    assert_eq!(
        shape(&events)[0],
        r#"(hm) & let me see & echo{"say":"hi","to":{"name":"Ann"}}"#
    );
    let message = events[0].message.as_ref().unwrap();
    assert!(
        matches!(&message.parts[0], Part::Thought(text) if text.signature.as_deref() == Some("c2ln"))
    );
    assert_eq!(events[0].usage, Some(usage));
    assert_eq!(talk.usage().tokens.total, 7);
}

#[tokio::test(start_paused = true)]
async fn the_deltas_of_each_attempt_are_distinguishable() {
    let cut = LlmError::new(LlmErrorKind::Connection, "cut");
    let (agent, _) = scripted_agent([
        Reply::chunks(["wro"]).broken(cut),
        Reply::chunks(["ri", "ght"]),
    ]);
    let mut stream = agent.streaming().retry(Retry::attempts(2)).events("go");
    let mut heard: Vec<String> = Vec::new();
    while let Some(progress) = stream.next().await {
        let attempt = progress.task.as_ref().map_or(0, |task| task.attempt);
        match progress.kind {
            AgentEventKind::Partial(piece) => heard.push(format!("{attempt} {}", piece.text())),
            AgentEventKind::Retry { .. } => heard.push(format!("{attempt} is void")),
            AgentEventKind::Event(event) => heard.push(format!("{attempt} {}!", event.text())),
            _ => {}
        }
    }
    assert_eq!(heard, ["1 wro", "1 is void", "2 ri", "2 ght", "2 right!"]);
}

#[tokio::test]
async fn the_progress_of_a_tool_is_in_the_same_stream() {
    let slow = tool("slow", |_, cx| {
        cx.emit(json!({"percent": 50}));
        Ok(json!("done"))
    });
    let (agent, _) = scripted_agent([Reply::call("slow", json!({})), "ok".into()]);
    let mut stream = agent.tool(slow).events("go");
    let mut order = Vec::new();
    while let Some(progress) = stream.next().await {
        let node = progress
            .task
            .as_ref()
            .map_or("", |task| &task.node)
            .to_string();
        match progress.kind {
            AgentEventKind::Event(_) => order.push(node),
            AgentEventKind::Custom(value) => order.push(format!("{node} {value}")),
            AgentEventKind::Finished(talk) => order.push(talk.answer()),
            _ => {}
        }
    }
    assert_eq!(
        order,
        ["ask", r#"call {"percent":50}"#, "gather", "ask", "ok"]
    );
}

#[tokio::test]
async fn a_failed_run_ends_its_stream_with_the_error() {
    let agent = Agent::new(Arc::new(ScriptedModel::new(Vec::<Reply>::new())));
    let mut stream = agent.events("go");
    let mut last = None;
    while let Some(progress) = stream.next().await {
        last = Some(progress.kind);
    }
    assert!(matches!(last, Some(AgentEventKind::Failed(_))));
    let (agent, _) = scripted_agent(["fine"]);
    assert_eq!(shape(&events(&agent, "go").await.0), ["fine"]);
}

/// The pieces with their authors.
async fn streamed_texts(events: AgentEvents) -> Vec<String> {
    let (pieces, _, _) = collect_stream(events).await;
    let pieces = pieces.iter().filter(|piece| !piece.text().is_empty());
    pieces
        .map(|piece| format!("{}: {}", piece.author, piece.text()))
        .collect()
}

/// A model that makes this call, and then says something.
fn model_with_call(call: Reply) -> ScriptedModel {
    ScriptedModel::new([call, Reply::chunks(["t", "wo"])])
}

fn sub_agent(mode: Mode) -> Agent {
    let model = ScriptedModel::new([Reply::chunks(["o", "ne"])]);
    Agent::named("below").model(model).mode(mode)
}

#[tokio::test]
async fn the_agents_below_stream_as_well() {
    let transfer = || Reply::call("transfer_to_agent", json!({"agent_name": "below"}));
    let ask = || Reply::call("below", json!({"request": "go"}));
    let agent = |call, mode| {
        Agent::new(model_with_call(call))
            .name("above")
            .sub_agent(sub_agent(mode))
    };

    let silent = agent(ask(), Mode::SingleTurn);
    assert!(streamed_texts(silent.events("go")).await.is_empty());
    let asks = agent(ask(), Mode::SingleTurn).streaming();
    let expected = ["below: o", "below: ne", "above: t", "above: wo"];
    assert_eq!(streamed_texts(asks.events("go")).await, expected);
    let transfers = agent(transfer(), Mode::Chat).streaming();
    assert_eq!(streamed_texts(transfers.events("go")).await, expected[..2]);

    // An agent below may stream alone.
    let alone =
        Agent::new(model_with_call(ask())).sub_agent(sub_agent(Mode::SingleTurn).streaming());
    assert_eq!(streamed_texts(alone.events("go")).await, expected[..2]);
}

#[tokio::test]
async fn agents_and_prebuilt_flows_that_tools_run_stream_as_well() {
    let spec = ToolSpec::new("help", "Helps.", json!({"type": "object"}));
    let help = || {
        FuncTool::untyped(spec.clone(), |_, cx| async move {
            let cx = cx.context().ok_or("it is called in a run")?;
            sub_agent(Mode::Chat).run_in(&cx, "go").await?;
            let inquiry = AskExpert::new().run_in(&cx, "inquiry", "go".to_string());
            Ok(json!(inquiry.await?.answer))
        })
    };
    for streams in [true, false] {
        let mut agent = Agent::new(model_with_call(Reply::call("help", json!({}))))
            .name("above")
            .tool(help());
        if streams {
            agent = agent.streaming();
        }
        let choice = ScriptedModel::new([r#"{"name": "expert", "reason": "?"}"#]);
        let expert = Agent::new(ScriptedModel::new([Reply::chunks(["thr", "ee"])]));
        let launch = agent
            .launch()
            .manage(Model::new(choice))
            .manage(Team::new().member("expert", "knows", expert));
        let heard = streamed_texts(AgentEvents::new(launch.run("go").events())).await;
        let expected = [
            "below: o",
            "below: ne",
            "expert: thr",
            "expert: ee",
            "above: t",
            "above: wo",
        ];
        assert_eq!(heard, if streams { &expected[..] } else { &[] });
    }
}

/// A tool that runs an agent in the run that calls it.
fn runs(name: &str, agent: Agent) -> FuncTool {
    let spec = ToolSpec::new(name, "Helps.", json!({"type": "object"}));
    FuncTool::untyped(spec, move |_, cx| {
        let agent = agent.clone();
        async move {
            let cx = cx.context().ok_or("it is called in a run")?;
            Ok(json!(agent.run_in(&cx, "go").await?.answer()))
        }
    })
}

#[tokio::test]
async fn an_agent_that_streams_inside_of_a_run_streams_the_agents_that_its_tools_run() {
    let inner = |streams: bool| {
        let call = Reply::call("help", json!({}));
        let agent = Agent::new(model_with_call(call)).name("inner");
        let agent = agent.tool(runs("help", sub_agent(Mode::Chat)));
        if streams { agent.streaming() } else { agent }
    };
    let outer = |inner: Agent| {
        let call = Reply::call("ask", json!({}));
        Agent::new(model_with_call(call))
            .name("outer")
            .tool(runs("ask", inner))
    };
    let expected = ["below: o", "below: ne", "inner: t", "inner: wo"];
    assert_eq!(
        streamed_texts(outer(inner(true)).events("go")).await,
        expected
    );
    assert!(
        streamed_texts(outer(inner(false)).events("go"))
            .await
            .is_empty()
    );

    // A called agent that streams alone.
    let call = Reply::call("inner", json!({"request": "go"}));
    let called = inner(true).mode(Mode::SingleTurn);
    let above = Agent::new(model_with_call(call))
        .name("above")
        .sub_agent(called);
    assert_eq!(streamed_texts(above.events("go")).await, expected);
}

#[tokio::test]
async fn an_agent_that_got_the_conversation_streams_the_agents_that_its_tools_run() {
    let transfer = |name: &str| Reply::call("transfer_to_agent", json!({"agent_name": name}));
    let help = || Reply::call("help", json!({}));
    let team = |inner_streams: bool| {
        let inner = ScriptedModel::new([help(), transfer("outer")]);
        let inner = Agent::new(inner)
            .name("inner")
            .tool(runs("help", sub_agent(Mode::Chat)));
        let inner = if inner_streams {
            inner.streaming()
        } else {
            inner
        };
        // The conversation comes back, and then nothing is streamed any more.
        let replies = [transfer("inner"), help(), Reply::chunks(["t", "wo"])];
        Agent::new(ScriptedModel::new(replies))
            .name("outer")
            .tool(runs("help", sub_agent(Mode::Chat)))
            .sub_agent(inner)
    };
    let expected = ["below: o", "below: ne"];
    assert_eq!(streamed_texts(team(true).events("go")).await, expected);
    assert!(streamed_texts(team(false).events("go")).await.is_empty());

    // Within another run.
    let above = |inner: Agent| {
        let replies = [Reply::call("ask", json!({})), "done".into()];
        Agent::new(ScriptedModel::new(replies)).tool(runs("ask", inner))
    };
    assert_eq!(
        streamed_texts(above(team(true)).events("go")).await,
        expected
    );
    let all = streamed_texts(above(team(true)).streaming().events("go")).await;
    assert!(all.contains(&"outer: wo".to_string()), "{all:?}");
}

#[tokio::test]
async fn what_only_a_provider_understands_is_shown_and_goes_back() {
    let search = Part::Provider {
        provider: "anthropic".into(),
        value: json!({ "type": "server_tool_use", "id": "srv_1", "name": "web_search" }),
    };
    let parts = vec![search.clone(), Part::text("Five petals.")];
    let reply = LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, parts)),
        ..LlmResponse::default()
    };
    let (agent, model) = scripted_agent([Reply::from(reply), "Yes.".into()]);
    let (_, events, talk) = collect_stream(agent.events("How many?")).await;
    let message = events[0].message.as_ref().unwrap();
    assert_eq!(message.parts[0], search);
    assert!(events[0].is_final(), "it is no call of the program");
    agent.run(talk.next_input("Sure?")).await.unwrap();
    let sent = model.last_request().unwrap();
    assert!(
        sent.messages
            .iter()
            .any(|message| message.parts.contains(&search))
    );
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = String)]
struct Which;

#[tokio::test(start_paused = true)]
async fn f42_what_a_tool_asks_is_told_and_answered_while_other_calls_run() {
    let spec = |name| ToolSpec::new(name, "A tool of a test.", json!({ "type": "object" }));
    let asks = FuncTool::untyped(spec("asks"), |_, cx| async move {
        let cx = cx.context().ok_or("only within a run")?;
        Ok(json!(cx.ask(Which).await?))
    });
    let slow = FuncTool::untyped(spec("slow"), |_, _| async {
        sleep(Duration::from_secs(10)).await;
        Ok(json!("slow"))
    });
    let reply = Reply::call("asks", json!({})).and_call("slow", json!({}));
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let threads = agent.tool(asks).tool(slow).store(&InMemoryStore::new());
    let thread = threads.thread("t");
    let begun = Instant::now();
    let mut stream = AgentEvents::new(thread.run("go").events());
    let (mut told, mut answered, mut end) = (Vec::new(), None, None);
    while let Some(progress) = stream.next().await {
        match progress.kind {
            AgentEventKind::Asked(open) => {
                told.push((begun.elapsed().as_secs(), open.len()));
                let thread = thread.clone();
                let answer = async move { thread.answer::<Which>("blue".into()).await };
                answered = Some(tokio::spawn(answer));
            }
            AgentEventKind::Finished(talk) => end = Some(talk),
            AgentEventKind::Interrupted(open) => panic!("it waits for {open:?}"),
            _ => {}
        }
    }
    assert_eq!((told, begun.elapsed().as_secs()), (vec![(0, 1)], 10));
    let talk = end.unwrap();
    assert_eq!(talk.answer(), "done");
    assert_eq!(results(&talk), ["blue", "slow"]);
    let again = answered.unwrap().await.unwrap().unwrap();
    assert_eq!(again.into_finished().unwrap().answer(), "done");
}
