//! Recordings of agents that say much, through the real provider's code: in pieces, in one, and cut short by a callback.

use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, AgentEvent};
use petalflow_llm::request::Effort;
use petalflow_llm::response::Status;
use petalflow_llm::{LlmResponse, Part};
use serde_json::json;

use crate::kit::{collect_stream, events, results, shape, tool};
use petalflow_llm_test_support::httprr;
use petalflow_llm_test_support::replay::Replay;

const FLASH: &str = "gemini-2.5-flash";

/// All words, or all thoughts, of a recorded stream, straight from the recording.
fn recorded_text(path: &str, thoughts: bool) -> String {
    let pairs = httprr::read(&petalflow_test_support::recording(path).unwrap());
    let lines = pairs[0].response.body.lines();
    let chunks = lines.filter_map(|line| line.strip_prefix("data: "));
    chunks
        .flat_map(|chunk| {
            let chunk: serde_json::Value = serde_json::from_str(chunk).unwrap();
            let parts = chunk.pointer("/candidates/0/content/parts").cloned();
            parts
                .and_then(|parts| parts.as_array().cloned())
                .unwrap_or_default()
        })
        .filter(|part| (part["thought"] == true) == thoughts)
        .filter_map(|part| part["text"].as_str().map(str::to_string))
        .collect()
}

#[tokio::test]
async fn a001_a_recorded_agent_rolls_the_dice() {
    let path = "adk/agent/llmagent/testdata/TestLLMAgent_healthy_backend.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let agent = Agent::new(replay.model(FLASH))
        .name("hello_world_agent")
        .description("hello world agent")
        .global_instructions("Answer as precisely as possible.")
        .instructions("Roll the dice and report only the result.");
    let (events, talk) = events(
        &agent,
        "Handle the requests as specified in the System Instruction.",
    )
    .await;
    assert_eq!(
        (shape(&events), talk.usage().tokens.total),
        (vec!["4".to_string()], 307)
    );
    let pairs = httprr::read(&petalflow_test_support::recording(path).unwrap());
    let system = "/systemInstruction/parts/0/text";
    let asked = &replay.server.requests()[0].body;
    assert_eq!(
        asked.pointer(system),
        pairs[0].request.body.pointer(system),
        "to the word"
    );
}

#[tokio::test]
async fn a019_a064_a_recorded_agent_streams_thoughts_and_text() {
    let path = "adk/agent/llmagent/testdata/TestLLMAgentStreamingModeSSE.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let agent = Agent::new(replay.model(FLASH))
        .name("calculator")
        .description("calculating agent")
        .instructions("Think deep. Always double check the answer before making the conclusion.")
        .request(|request| request.effort = Some(Effort::Medium))
        .streaming();
    let question = "What is the sum of the first 50 prime numbers?";
    let (pieces, events, talk) = collect_stream(agent.events(question)).await;
    let (words, thoughts) = (recorded_text(path, false), recorded_text(path, true));
    let heard: String = pieces.iter().map(AgentEvent::text).collect();
    assert_eq!((&heard, &talk.answer()), (&words, &words));
    assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.partial));
    let [whole] = &events[..] else {
        panic!("{:?}", shape(&events))
    };
    let parts = &whole.message.as_ref().unwrap().parts;
    assert!(
        matches!(&parts[..], [Part::Thought(thought), Part::Text(_)] if thought.text == thoughts)
    );
    assert!(!words.is_empty() && !thoughts.is_empty() && whole.is_final());
    assert_eq!(replay.remaining(), 0);
}

#[tokio::test]
async fn a057_a_recorded_agent_searches_and_reports() {
    let path =
        "adk/agent/workflowagents/parallelagent/testdata/TestParallelAgentWithTools_agent1.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    let agent = Agent::new(replay.model(FLASH))
        .name("agent1")
        .description("Test agent agent1 that searches for information")
        .instructions("Use the search tool to find information, then provide a brief response.")
        .tool(tool("search_tool_agent1", |arguments, _| {
            let query = arguments["Query"].as_str().ok_or("a query")?;
            Ok(json!({ "result": format!("search result for '{query}' from agent1") }))
        }));
    let (events, talk) = events(&agent, "Search for AI news").await;
    let found = "search result for 'AI news' from agent1";
    assert_eq!(events.len(), 3);
    assert_eq!(results(&talk), [json!({ "result": found })]);
    assert_eq!(
        talk.answer(),
        format!("Here is the search result for AI news: {found}.")
    );
    assert_eq!(replay.remaining(), 0);
}

#[tokio::test]
async fn a027_recorded_calls_reach_their_tool() {
    let path = "adk/tool/functiontool/testdata/TestFunctionTool_Simple.httprr";
    let Some(replay) = Replay::of(path).await else {
        return;
    };
    for (question, city) in [
        (
            "Report the current weather of the capital city of U.K.",
            "London",
        ),
        ("How is the weather of Paris now?", "Paris"),
        ("Tell me about the current weather in New York", "New York"),
    ] {
        // The result is the answer: nothing more is recorded.
        let report = tool("get_weather_report", |arguments, cx| {
            cx.actions().skip_summarization = true;
            Ok(json!({ "report": arguments["city"], "status": "success" }))
        });
        let agent = Agent::new(replay.model(FLASH)).tool(report);
        let (events, talk) = events(&agent, question).await;
        assert_eq!(events.len(), 2);
        assert_eq!(
            results(&talk),
            [json!({ "report": city, "status": "success" })]
        );
    }
    assert_eq!(replay.remaining(), 0);
}

/// The agents of the recordings that are spoken to over a wire.
async fn remote(name: &str) -> Option<(Replay, Agent, String)> {
    let path = format!("adk/agent/remoteagent/v2/testdata/{name}.httprr");
    let replay = Replay::of(&path).await?;
    let agent = Agent::new(replay.model(FLASH))
        .name("model-agent")
        .instructions("You are a helpful assistant.")
        .streaming();
    Some((replay, agent, recorded_text(&path, false)))
}

#[tokio::test]
async fn a064_recorded_streams_are_joined() {
    for name in [
        "TestA2ARemoteAgentStreamingGeminiSuccess",
        "TestA2ARemoteAgentStreamingGeminiError",
    ] {
        let Some((replay, agent, words)) = remote(name).await else {
            return;
        };
        let (pieces, _, talk) =
            collect_stream(agent.events("tell me about the capital of Poland")).await;
        assert!(pieces.len() > 2);
        assert_eq!(talk.answer(), words, "{name}");
        assert_eq!(replay.remaining(), 0);
    }
}

#[tokio::test]
async fn a017_a_callback_stops_a_recorded_stream() {
    let Some((_replay, agent, _)) =
        remote("TestA2ASingleHopFinalResponse_llm_mid-response_error").await
    else {
        return;
    };
    let agent = agent.after_model(|call, _| match call.so_far() {
        "" => Ok(None),
        _ => Err("the second piece is too much".into()),
    });
    let mut stream = agent.events("Tell me about the current weather");
    let (mut pieces, mut failed) = (0, false);
    while let Some(progress) = stream.next().await {
        match progress.kind {
            AgentEventKind::Partial(_) => pieces += 1,
            AgentEventKind::Failed(_) => failed = true,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((pieces, failed), (1, true));
}

#[tokio::test]
async fn a017_a_recorded_answer_is_replaced_by_a_failure() {
    let name = "TestA2ASingleHopFinalResponse_llm_mid-response_error_response";
    let Some((_replay, agent, _)) = remote(name).await else {
        return;
    };
    let agent = agent.after_model(|call, _| {
        let failed = LlmResponse {
            status: Status::Failed,
            ..LlmResponse::default()
        };
        Ok((!call.is_partial()).then_some(failed))
    });
    let (pieces, events, talk) =
        collect_stream(agent.events("Tell me about the current weather")).await;
    assert!(!pieces.is_empty());
    assert_eq!(
        (events.len(), talk.error()),
        (1, Some("the provider failed"))
    );
    assert_eq!(talk.answer(), "");
}
