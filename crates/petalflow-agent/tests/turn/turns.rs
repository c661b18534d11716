//! The steps of a turn, from the message of the user to the answer.

use petalflow::tool::Actions;
use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, AgentEvent, ConversationInput, Mode};
use petalflow_llm::message::Text;
use petalflow_llm::{
    ChatMessage, LlmError, LlmErrorKind, LlmRequest, LlmResponse, Part, Reply, Role, ScriptedModel,
};
use petalflow_test_support::{assert_contains, assert_starts_with};
use serde_json::json;

use crate::kit::{
    agent_event, call, call_event, constant_tool, events, failing_tool, failure, result_event,
    results, scripted_agent, shape, tool,
};

fn sum() -> petalflow::tool::FuncTool {
    tool("sum", |arguments, _| {
        let number = |key: &str| arguments[key].as_i64().ok_or("numbers only");
        Ok(json!({ "sum": number("a")? + number("b")? }))
    })
}

#[tokio::test]
async fn a001_a027_a057_the_loop_goes_from_model_to_tools_until_the_last_event_is_final() {
    let (agent, _) = scripted_agent([Reply::call("sum", json!({"a": 1, "b": 2})), "3".into()]);
    let (events, talk) = events(&agent.tool(sum()), "what is the sum of 1 + 2?").await;
    assert_eq!(
        shape(&events),
        [r#"sum{"a":1,"b":2}"#, r#"sum = {"sum":3}"#, "3"]
    );
    assert_eq!(talk.answer(), "3");
    assert_eq!(talk.events[1..], events);
    assert_eq!(talk.events[0].text(), "what is the sum of 1 + 2?");
}

#[tokio::test]
async fn a001_each_event_is_emitted_before_the_next_step() {
    let (agent, model) = scripted_agent([Reply::call("sum", json!({"a": 1, "b": 2})), "3".into()]);
    let mut stream = agent.tool(sum()).events("1 + 2?");
    let first = stream.next().await.unwrap();
    assert!(
        matches!(first.kind, AgentEventKind::Event(ref event) if event.message.as_ref().unwrap().calls().count() == 1)
    );
    assert_eq!(model.requests().len(), 1);
    assert_eq!(first.task.unwrap().attempt, 1);
}

#[tokio::test]
async fn a002_dropping_the_events_ends_the_run() {
    let (agent, model) = scripted_agent([Reply::call("sum", json!({"a": 1, "b": 2})), "3".into()]);
    let mut stream = agent.tool(sum()).events("1 + 2?");
    stream.next().await.unwrap();
    drop(stream);
    tokio::task::yield_now().await;
    assert_eq!(model.requests().len(), 1, "the model is not asked again");
}

#[tokio::test]
async fn a003_a020_an_answer_without_content_is_not_an_event_and_ends_the_turn() {
    let (agent, model) = scripted_agent([LlmResponse::default()]);
    let (events, talk) = events(&agent, "hello?").await;
    assert!(events.is_empty());
    assert_eq!(talk.answer(), "");
    assert_eq!(model.requests().len(), 1);

    let interrupted = LlmResponse {
        interrupted: true,
        ..LlmResponse::default()
    };
    let (agent, _) = scripted_agent([interrupted]);
    let (events, _) = crate::kit::events(&agent, "hello?").await;
    assert!(events[0].interrupted, "the user's interruption is an event");
}

#[tokio::test]
async fn a004_c105_a_turn_of_thoughts_alone_does_not_end_the_loop() {
    let thought = Reply::from(LlmResponse::default()).and(Part::Thought("hm".into()));
    let (agent, model) = scripted_agent([thought, "yes".into()]);
    let (events, _) = events(&agent, "well?").await;
    assert_eq!(shape(&events), ["(hm)", "yes"]);
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn c105_only_a_whole_message_of_thoughts_is_thought_only() {
    let thought = || Part::Thought("hm".into());
    let event =
        |parts: Vec<Part>| AgentEvent::new("guide", ChatMessage::new(Role::Assistant, parts));
    let signed = Part::Text(Text {
        text: String::new(),
        signature: Some("c2ln".into()),
        origin: None,
    });
    let a_call = || Part::Call(call("1", "search", json!({})));
    assert!(event(vec![thought()]).is_thought_only());
    for parts in [
        vec![thought(), Part::text("yes")],
        vec![Part::text("yes")],
        vec![a_call()],
        vec![thought(), a_call()],
        vec![thought(), signed],
        vec![],
    ] {
        assert!(!event(parts.clone()).is_thought_only(), "{parts:?}");
    }
    let partial = AgentEvent {
        partial: true,
        ..event(vec![thought()])
    };
    assert!(!partial.is_thought_only());
    assert!(!AgentEvent::default().is_thought_only());
}

#[tokio::test]
async fn a005_a_model_that_only_emits_thoughts_is_stopped() {
    // Upstream asks it for ever.
    let model = ScriptedModel::from_fn(|_| {
        Reply::from(LlmResponse::default()).and(Part::Thought("hm".into()))
    });
    let agent = Agent::new(model).max_thoughts(2);
    assert_eq!(
        failure(&agent, "well?").await,
        "agent `agent` gave 3 answers in a row that contain only thoughts: raise it with `.max_thoughts(..)`"
    );
}

#[tokio::test]
async fn a_model_that_always_calls_is_stopped() {
    let model = ScriptedModel::from_fn(|_| Reply::call("ping", json!({})));
    let agent = Agent::new(model)
        .tool(constant_tool("ping", json!("pong")))
        .max_model_calls(4);
    assert_eq!(
        failure(&agent, "go").await,
        "agent `agent` called its model 4 times in one turn: raise it with `.max_model_calls(..)`"
    );
}

/// Two calls of a digger, which always wants to dig again, and the answer of its caller: the problems that it reads, and its number
/// of results of `ping`.
async fn digs(most: Option<u32>, most_of_digger: Option<u32>) -> (String, u64) {
    let model = ScriptedModel::from_fn(|request: &LlmRequest| {
        if request.tools.iter().any(|tool| tool.name == "ping") {
            return Reply::call("ping", json!({}));
        }
        let results = request.messages.iter();
        let results = results.flat_map(ChatMessage::tool_results);
        let texts: Vec<_> = results
            .map(|result| result.content["error"].to_string())
            .collect();
        match texts.len() {
            0 | 1 => Reply::call("digger", json!({ "request": "dig" })),
            _ => Reply::text(texts.join(" ")),
        }
    });
    let with = |agent: Agent, most: Option<u32>| match most {
        Some(most) => agent.max_model_calls(most),
        None => agent,
    };
    let digger = Agent::named("digger").mode(Mode::SingleTurn);
    let digger = digger.tool(constant_tool("ping", json!("pong")));
    let agent = Agent::new(model).sub_agent(with(digger, most_of_digger));
    let talk = with(agent, most)
        .run("go")
        .await
        .expect("the caller answers");
    (talk.answer(), talk.usage().requests)
}

#[tokio::test]
async fn f44_each_call_of_an_agent_for_one_answer_has_a_maximum_of_its_own() {
    for (most, most_of_digger, each) in [
        (Some(10), Some(4), 4),
        (Some(4), Some(10), 10),
        (Some(4), None, 4),
        (None, Some(4), 4),
        (None, None, 50),
    ] {
        let (problems, requests) = digs(most, most_of_digger).await;
        let problem = format!("agent `digger` called its model {each} times in one turn");
        assert_eq!(problems.matches(&problem).count(), 2, "{problems}");
        assert_eq!(requests, 3 + 2 * each);
    }
}

#[tokio::test]
async fn a006_a_stream_that_ends_early_is_an_error() {
    let cut = LlmError::new(LlmErrorKind::Connection, "the connection broke");
    let (agent, _) = scripted_agent([Reply::chunks(["Once upon"]).broken(cut)]);
    assert_eq!(
        failure(&agent.streaming(), "a story").await,
        "the connection broke"
    );
}

#[test]
fn a007_a_final_answer_ends_a_turn() {
    assert!(agent_event("guide", "hello").is_final());
    assert!(!call_event("guide", [call("1", "search", json!({}))]).is_final());
    assert!(!result_event("guide", "1", "search", json!({})).is_final());
    let partial = AgentEvent {
        partial: true,
        ..agent_event("guide", "hel")
    };
    assert!(!partial.is_final());
    let skips = AgentEvent {
        actions: Actions {
            skip_summarization: true,
            ..Actions::default()
        },
        ..result_event("guide", "1", "search", json!({}))
    };
    assert!(skips.is_final());
    let later = AgentEvent {
        long_running: vec!["1".into()],
        ..call_event("guide", [call("1", "search", json!({}))])
    };
    assert!(later.is_final());
    let code = Part::CodeResult {
        outcome: "ok".into(),
        output: "4".into(),
        origin: None,
    };
    let parts = |parts| AgentEvent::new("guide", ChatMessage::new(Role::Assistant, parts));
    assert!(!parts(vec![Part::text("2 + 2"), code.clone()]).is_final());
    assert!(parts(vec![code, Part::text("4")]).is_final());
}

#[tokio::test]
async fn a008_an_agent_without_a_model_is_named() {
    assert_eq!(
        failure(&Agent::named("guide"), "hello").await,
        "agent `guide` has no model: give it one with `.model(..)`, or to an agent above it"
    );
}

#[tokio::test]
async fn a022_calls_without_an_id_get_one_and_others_keep_theirs() {
    let reply = Reply::call("ping", json!({})).and(Part::Call(call("mine", "ping", json!({}))));
    let (agent, model) = scripted_agent([reply, "done".into()]);
    let (events, _) = events(&agent.tool(constant_tool("ping", json!("pong"))), "go").await;
    let ids = |event: &AgentEvent| -> Vec<String> {
        let message = event.message.as_ref().unwrap();
        let calls = message.calls().map(|call| call.id.clone());
        calls
            .chain(message.tool_results().map(|result| result.call_id.clone()))
            .collect()
    };
    let [first, second] = &ids(&events[0])[..] else {
        panic!("two calls")
    };
    assert_starts_with(&first, "petalflow-call-");
    assert_eq!(second, "mine");
    assert_eq!(ids(&events[1]), [first.clone(), second.clone()]);
    let messages = &model.requests()[1].messages;
    assert_eq!(
        messages
            .last()
            .unwrap()
            .tool_results()
            .next()
            .unwrap()
            .call_id,
        *first
    );
}

#[tokio::test]
async fn a023_events_name_their_author_and_branch() {
    let reply =
        Reply::from(call("1", "later", json!({}))).and(Part::Call(call("2", "now", json!({}))));
    let (agent, _) = scripted_agent([reply, "done".into()]);
    let agent = agent
        .name("guide")
        .tool(constant_tool("later", json!(null)).long_running())
        .tool(constant_tool("now", json!(1)));
    let input = ConversationInput {
        branch: Some("root.guide".into()),
        ..ConversationInput::from("go")
    };
    let (events, talk) = events(&agent, input).await;
    for event in &events {
        assert_eq!(event.author, "guide");
        assert_eq!(event.branch.as_deref(), Some("root.guide"));
        assert_eq!(event.invocation, talk.events[0].invocation);
        assert!(!event.id.is_empty() && !event.invocation.is_empty());
    }
    assert_eq!(events[0].long_running, ["1"]);
    let mut ids: Vec<&str> = talk.events.iter().map(|event| &*event.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), talk.events.len(), "ids differ");
}

#[tokio::test]
async fn a025_an_unknown_tool_is_reported_to_the_model_and_the_loop_continues() {
    let (agent, _) = scripted_agent([Reply::call("serch", json!({})), "sorry".into()]);
    let agent = agent
        .tool(constant_tool("search", json!(1)))
        .tool(constant_tool("sum", json!(1)));
    let (events, talk) = events(&agent, "go").await;
    let error = results(&talk)[0]["error"].as_str().unwrap().to_string();
    assert_starts_with(
        &error,
        "tool 'serch' not found.\nAvailable tools: search, sum\n",
    );
    assert_eq!(events.last().unwrap().text(), "sorry");
}

#[tokio::test]
async fn a028_the_error_of_a_tool_is_reported_to_the_model() {
    let (agent, _) = scripted_agent([Reply::call("search", json!({})), "sorry".into()]);
    let (_, talk) = events(&agent.tool(failing_tool("search", "tool error")), "go").await;
    assert_eq!(results(&talk), [json!({ "error": "tool error" })]);
    assert_eq!(talk.answer(), "sorry");
}

#[tokio::test]
async fn wrong_arguments_are_reported_to_the_model() {
    for arguments in [
        json!("{\"a\": 1"),
        json!(7),
        json!([1, 2]),
        json!({"a": "one", "b": 2}),
        json!({}),
    ] {
        let (agent, _) = scripted_agent([Reply::call("sum", arguments.clone()), "sorry".into()]);
        let (_, talk) = events(&agent.tool(sum()), "go").await;
        let error = results(&talk)[0]["error"].clone();
        assert!(error.is_string(), "{arguments}: {error}");
        assert_eq!(talk.answer(), "sorry");
    }
    // The refusal of a client is reported unchanged.
    let response = Box::new(LlmResponse {
        message: Some(ChatMessage::new(
            Role::Assistant,
            vec![Part::Call(call("1", "sum", json!("{\"a\":")))],
        )),
        ..LlmResponse::default()
    });
    let refused = LlmError::new(LlmErrorKind::Arguments { response }, "not JSON");
    let (agent, _) = scripted_agent([Reply::from(refused), "sorry".into()]);
    let (_, talk) = events(&agent.tool(sum()), "go").await;
    let error = results(&talk)[0]["error"].to_string();
    assert_contains(&error, "tool `sum` are not a JSON object");
}

#[tokio::test]
async fn a_tool_that_panics_does_not_end_the_conversation() {
    crate::kit::panics_are_expected();
    let broken = tool("broken", |_, _| panic!("oh no"));
    let (agent, _) = scripted_agent([Reply::call("broken", json!({})), "sorry".into()]);
    let (_, talk) = events(&agent.tool(broken), "go").await;
    assert_eq!(
        results(&talk),
        [json!({ "error": "tool `broken` panicked: oh no" })]
    );
}

#[tokio::test]
async fn a_conversation_without_anything_in_it_is_refused() {
    let (agent, _) = scripted_agent(["hello"]);
    assert_eq!(
        failure(&agent, ConversationInput::default()).await,
        "there is nothing to answer: the input has no message, and the conversation is empty"
    );
}

#[tokio::test]
async fn two_tools_or_agents_of_one_name_are_refused() {
    let (agent, _) = scripted_agent(["hello"]);
    let twice = agent.clone().tool(sum()).tool(sum());
    assert_eq!(
        failure(&twice, "hello").await,
        "agent `agent` has two tools `sum`: give one of them another name"
    );
    let twice = agent
        .sub_agent(Agent::named("writer"))
        .sub_agent(Agent::named("writer"));
    assert_eq!(
        failure(&twice, "hello").await,
        "two agents are called `writer`: give one of them another name with `.name(..)`"
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_stopped() {
    let spec = petalflow::tool::ToolSpec::new("slow", "Is slow.", json!({"type": "object"}));
    let slow = petalflow::tool::FuncTool::untyped(spec, |_, _| std::future::pending());
    let (agent, _) = scripted_agent([Reply::call("slow", json!({})), "sorry".into()]);
    let agent = agent
        .tool(slow)
        .tool_timeout(std::time::Duration::from_secs(5));
    let (_, talk) = events(&agent, "go").await;
    assert_eq!(
        results(&talk),
        [json!({ "error": "tool `slow` timed out after 5s" })]
    );
}
