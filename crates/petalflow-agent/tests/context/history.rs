//! What of a conversation a model reads, and in what order.

use petalflow_agent::{AgentEvent, ConversationInput, History};
use petalflow_llm::{ChatMessage, Part, Reply, Role};
use serde_json::json;

use crate::kit::{
    agent_event, call, call_event, constant_tool, failure, input_after, result_event,
    scripted_agent, sent_messages, user_event,
};

/// The messages that the model of the agent `agent` gets for this history and the input `now`.
async fn model_messages(past: impl IntoIterator<Item = AgentEvent>) -> Vec<String> {
    let (agent, model) = scripted_agent(["ok"]);
    agent.run(input_after(past, "now")).await.unwrap();
    let mut read = sent_messages(&model);
    assert_eq!(read.pop().unwrap(), "user: now");
    read
}

fn a_call(id: &str) -> AgentEvent {
    call_event("agent", [call(id, &format!("t{id}"), json!({}))])
}

fn a_result(id: &str, content: &str) -> AgentEvent {
    result_event("agent", id, &format!("t{id}"), json!(content))
}

#[tokio::test]
async fn a058_an_ordered_history_is_unchanged() {
    assert_eq!(model_messages([]).await, Vec::<String>::new());
    assert_eq!(
        model_messages([user_event("hi"), agent_event("agent", "hello")]).await,
        ["user: hi", "assistant: hello"]
    );
    assert_eq!(
        model_messages([
            user_event("hi"),
            a_call("1"),
            a_result("1", "one"),
            agent_event("agent", "so")
        ])
        .await,
        [
            "user: hi",
            "assistant: t1{}",
            "tool: t1 = \"one\"",
            "assistant: so"
        ]
    );
}

#[tokio::test]
async fn a058_a_late_result_is_moved_behind_its_call() {
    assert_eq!(
        model_messages([
            a_call("1"),
            agent_event("agent", "wait"),
            user_event("and?"),
            a_result("1", "one")
        ])
        .await,
        [
            "assistant: t1{}",
            "tool: t1 = \"one\"",
            "assistant: wait",
            "user: and?"
        ]
    );
    // Two calls in one message, whose results come apart and the other way round.
    let both = call_event(
        "agent",
        [call("1", "t1", json!({})), call("2", "t2", json!({}))],
    );
    assert_eq!(
        model_messages([
            both,
            a_result("2", "two"),
            user_event("and?"),
            a_result("1", "one")
        ])
        .await,
        [
            "assistant: t1{} & t2{}",
            "tool: t1 = \"one\" & t2 = \"two\"",
            "user: and?"
        ]
    );
}

#[tokio::test]
async fn a058_other_calls_in_between_remain() {
    assert_eq!(
        model_messages([
            a_call("1"),
            a_call("2"),
            a_result("2", "two"),
            a_result("1", "one")
        ])
        .await,
        [
            "assistant: t1{}",
            "tool: t1 = \"one\"",
            "assistant: t2{}",
            "tool: t2 = \"two\""
        ]
    );
}

#[tokio::test]
async fn a058_a_result_without_a_call_is_an_error() {
    let (agent, _) = scripted_agent(["ok"]);
    assert_eq!(
        failure(
            &agent,
            input_after([user_event("hi"), a_result("9", "nine")], "now")
        )
        .await,
        "no call `9` comes before its result in the conversation: give results the id of their call"
    );
    assert!(
        failure(
            &agent,
            input_after([a_result("1", "one"), a_call("1")], "now")
        )
        .await
        .contains("no call `1`")
    );
}

#[tokio::test]
async fn a_waiting_call_gets_a_placeholder_result_because_providers_require_one() {
    assert_eq!(
        model_messages([user_event("hi"), a_call("1"), agent_event("agent", "wait")]).await,
        [
            "user: hi",
            "assistant: t1{}",
            r#"tool: t1 = {"status":"pending"}"#,
            "assistant: wait"
        ]
    );
}

#[tokio::test]
async fn a059_of_several_results_of_one_call_the_last_counts() {
    let past = [
        user_event("hi"),
        a_call("1"),
        a_result("1", "begun"),
        agent_event("agent", "wait"),
        a_result("1", "half"),
        agent_event("agent", "go on"),
        a_result("1", "done"),
    ];
    assert_eq!(
        model_messages(past).await,
        [
            "user: hi",
            "assistant: t1{}",
            "tool: t1 = \"done\"",
            "assistant: wait",
            "assistant: go on"
        ]
    );
}

#[tokio::test]
async fn a060_events_of_other_branches_are_not_visible() {
    let within = |branch: &str, text: &str| AgentEvent {
        branch: Some(branch.into()),
        ..agent_event("agent", text)
    };
    let past = [
        agent_event("agent", "everywhere"),
        within("root", "above"),
        within("root.agent_0", "here"),
        within("root.agent_00", "alike"),
        within("root.agent_0.child", "below"),
        within("root.agent_1", "beside"),
        within("roo", "shorter"),
    ];
    let (agent, model) = scripted_agent(["ok"]);
    let input = ConversationInput {
        branch: Some("root.agent_0".into()),
        ..input_after(past, "now")
    };
    agent.run(input).await.unwrap();
    assert_eq!(
        sent_messages(&model),
        [
            "assistant: everywhere",
            "assistant: above",
            "assistant: here",
            "user: now"
        ]
    );
}

#[tokio::test]
async fn a061_events_of_other_agents_are_sent_as_user_messages() {
    let thoughtful = AgentEvent::new(
        "other",
        ChatMessage::new(
            Role::Assistant,
            vec![
                Part::Thought("hm".into()),
                Part::text("hello"),
                Part::Call(call("1", "search", json!({"for": "x"}))),
            ],
        ),
    );
    let past = [
        thoughtful,
        result_event("other", "1", "search", json!({"found": 1})),
        AgentEvent::new(
            "other",
            ChatMessage::new(Role::Assistant, vec![Part::Thought("mm".into())]),
        ),
        agent_event("agent", "mine"),
    ];
    assert_eq!(
        model_messages(past).await,
        [
            r#"user: For context: & [other] said: hello & [other] called tool `search` with parameters: {"for":"x"}"#,
            r#"user: For context: & [other] `search` tool returned result: {"found":1}"#,
            "assistant: mine",
        ]
    );
}

#[tokio::test]
async fn a062_without_history_only_the_current_turn_is_read() {
    let past = [
        user_event("hi"),
        agent_event("agent", "hello"),
        user_event("before"),
        a_call("1"),
        a_result("1", "one"),
        agent_event("agent", "so"),
    ];
    let (agent, model) = scripted_agent(["ok"]);
    agent
        .history(History::Turn)
        .run(input_after(past, "now"))
        .await
        .unwrap();
    assert_eq!(sent_messages(&model), ["user: now"]);

    // The turn begins with the last message of another agent.
    let past = [user_event("hi"), agent_event("other", "over to you")];
    let (agent, model) = scripted_agent(["ok"]);
    let input = ConversationInput {
        message: None,
        ..input_after(past, "")
    };
    agent.history(History::Turn).run(input).await.unwrap();
    assert_eq!(
        sent_messages(&model),
        ["user: For context: & [other] said: over to you"]
    );
}

#[tokio::test]
async fn a062_the_current_turn_has_the_calls_of_the_turn_in_it() {
    let reply = Reply::from(call("1", "t1", json!({})));
    let (agent, model) = scripted_agent([reply, "ok".into()]);
    let agent = agent
        .history(History::Turn)
        .tool(constant_tool("t1", json!("one")));
    agent
        .run(input_after(
            [user_event("hi"), agent_event("agent", "hello")],
            "now",
        ))
        .await
        .unwrap();
    assert_eq!(
        sent_messages(&model),
        ["user: now", "assistant: t1{}", "tool: t1 = \"one\""]
    );
}

#[tokio::test]
async fn events_without_content_are_not_read() {
    let empty = AgentEvent {
        message: None,
        ..agent_event("agent", "")
    };
    assert_eq!(
        model_messages([user_event("hi"), empty, agent_event("agent", "")]).await,
        ["user: hi"]
    );
}

#[tokio::test]
async fn a_picture_in_the_result_of_another_agents_tool_is_a_picture() {
    let picture = json!({"type": "image", "media_type": "image/png", "data": "iVBORw0="});
    let past = [
        user_event("draw"),
        call_event("painter", [call("1", "draw", json!({}))]),
        result_event("painter", "1", "draw", json!({"output": [picture]})),
    ];
    let (agent, model) = scripted_agent(["a dot"]);
    agent.run(input_after(past, "what is it?")).await.unwrap();
    let requests = model.requests();
    let parts: Vec<&Part> = requests[0]
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .collect();
    let pictures = parts.iter().filter(|part| matches!(part, Part::Media(_)));
    assert_eq!(pictures.count(), 1);
    let asked = sent_messages(&model);
    assert!(asked[2].contains(r#""note":"attached""#), "{asked:?}");
    assert!(
        !asked[2].contains("iVBORw0="),
        "the data is not text: {asked:?}"
    );
}

#[tokio::test]
async fn results_of_a_loaded_thread_follow_their_calls_though_the_server_repeats_ids() {
    let calls = |path: &str| call_event("agent", [call("call_0", "list", json!({ "path": path }))]);
    let result = |found: &str| result_event("agent", "call_0", "list", json!(found));
    assert_eq!(
        model_messages([
            user_event("look"),
            calls("/a"),
            result("in a"),
            calls("/b"),
            result("in b"),
            agent_event("agent", "two files"),
            user_event("again"),
            calls("/c"),
        ])
        .await,
        [
            "user: look",
            r#"assistant: list{"path":"/a"}"#,
            r#"tool: list = "in a""#,
            r#"assistant: list{"path":"/b"}"#,
            r#"tool: list = "in b""#,
            "assistant: two files",
            "user: again",
            r#"assistant: list{"path":"/c"}"#,
            r#"tool: list = {"status":"pending"}"#,
        ]
    );
}

#[tokio::test]
async fn a_late_result_belongs_to_the_open_call_with_its_name_though_ids_are_repeated() {
    assert_eq!(
        model_messages([
            call_event("agent", [call("call_0", "build", json!({}))]),
            call_event("agent", [call("call_0", "list", json!({}))]),
            result_event("agent", "call_0", "list", json!("files")),
            user_event("and?"),
            result_event("agent", "call_0", "build", json!("built")),
        ])
        .await,
        [
            "assistant: build{}",
            r#"tool: build = "built""#,
            "assistant: list{}",
            r#"tool: list = "files""#,
            "user: and?",
        ]
    );
}

#[tokio::test]
async fn calls_of_one_conversation_have_different_ids_though_the_server_repeats_them() {
    let again = || Reply::from(call("call_0", "look", json!({})));
    let (agent, model) = scripted_agent([again(), again(), "done".into()]);
    let talk = agent
        .tool(constant_tool("look", json!(1)))
        .run("look twice")
        .await
        .unwrap();
    let messages = talk.events.iter().flat_map(|event| &event.message);
    let calls: Vec<_> = messages.flat_map(ChatMessage::calls).collect();
    assert_eq!(calls[0].id, "call_0");
    assert_ne!(calls[0].id, calls[1].id);
    let sent = model.last_request().unwrap();
    let results: Vec<_> = sent
        .messages
        .iter()
        .flat_map(ChatMessage::tool_results)
        .collect();
    assert_eq!(
        (&results[0].call_id, &results[1].call_id),
        (&calls[0].id, &calls[1].id)
    );
}

#[tokio::test]
async fn a_result_of_another_call_with_the_same_id_leaves_a_call_pending() {
    let mut waiting = call_event("agent", [call("call_0", "build", json!({}))]);
    waiting.long_running.push("call_0".into());
    let past = [
        waiting,
        call_event("agent", [call("call_0", "list", json!({}))]),
        result_event("agent", "call_0", "list", json!("files")),
    ];
    let (agent, _) = scripted_agent(["ok"]);
    let talk = agent.run(input_after(past, "and?")).await.unwrap();
    assert_eq!(talk.pending().len(), 1);
}
