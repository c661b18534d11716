//! Recorded agents whose tool is one of an MCP server, which a person may have to confirm: the real provider's code at one end,
//! a real server of tools at the other.

use petalflow::prelude::*;
use petalflow_agent::human::CONFIRMATION;
use petalflow_agent::stream::AgentEventKind;
use petalflow_agent::{Agent, AgentEvent, Conversation, ConversationInput, Pending};
use petalflow_llm::{ChatMessage, Part};
use petalflow_mcp::McpClient;
use serde_json::{Value, json};

use super::recorded::get_weather;
use super::server;
use petalflow_llm_test_support::httprr;
use petalflow_llm_test_support::replay::Replay;

/// An agent of a recording.
struct Recorded {
    replay: Replay,
    path: String,
    agent: Agent,
}

impl Recorded {
    async fn of(name: &str, tools: impl FnOnce(McpClient) -> McpClient) -> Option<Self> {
        let path = format!("adk/tool/mcptoolset/testdata/{name}.httprr");
        let replay = Replay::of(&path).await?;
        let agent = Agent::new(replay.model("gemini-2.5-flash"))
            .name("weather_time_agent")
            .description("Agent to answer questions about the time and weather in a city.")
            .instructions("I can answer your questions about the time and weather in a city.")
            .tool_source(tools(server(tools![get_weather])));
        Some(Recorded {
            replay,
            path,
            agent,
        })
    }

    /// Nothing that was recorded is left, and what was asked is what was recorded.
    fn ends(&self) {
        assert_eq!(self.replay.remaining(), 0);
        let recorded = httprr::read(&petalflow_test_support::recording(&self.path).unwrap());
        let asked = self.replay.server.requests();
        assert_eq!(asked.len(), recorded.len());
        for (asked, pair) in asked.iter().zip(recorded) {
            let system = "/systemInstruction/parts/0/text";
            let recorded = &pair.request.body;
            assert_eq!(asked.body.pointer(system), recorded.pointer(system));
            assert_eq!(turns(&asked.body), turns(recorded));
            let declared = "/tools/0/functionDeclarations/0";
            for key in ["name", "description", "parametersJsonSchema"] {
                let at = format!("{declared}/{key}");
                assert_eq!(asked.body.pointer(&at), recorded.pointer(&at), "{key}");
            }
        }
    }
}

/// The role and the parts of each turn of a conversation.
fn turns(body: &Value) -> Vec<Value> {
    let contents = body["contents"].as_array().unwrap();
    let turns = contents.iter().map(|turn| {
        let parts = turn["parts"].as_array().unwrap().iter().map(|part| {
            let mut part = part.clone();
            for kind in ["functionCall", "functionResponse"] {
                if let Some(part) = part.get_mut(kind).and_then(Value::as_object_mut) {
                    part.remove("id");
                }
            }
            part
        });
        json!({ "role": turn["role"], "parts": parts.collect::<Vec<_>>() })
    });
    turns.collect()
}

/// What the events say, without ids and signatures.
fn without_ids(events: &[AgentEvent]) -> Vec<Value> {
    let parts = events.iter().map(|event| {
        assert_eq!(event.author, "weather_time_agent");
        let [part] = &event.message.as_ref().unwrap().parts[..] else {
            panic!("one part each: {event:?}")
        };
        match part {
            Part::Text(text) => json!({ "model": text.text }),
            Part::Call(call) if call.name == CONFIRMATION => {
                let mut arguments = call.arguments.clone();
                let original = arguments["originalFunctionCall"].as_object_mut().unwrap();
                original.remove("id");
                json!({ "model": call.name, "args": arguments })
            }
            Part::Call(call) => json!({ "model": call.name, "args": call.arguments }),
            Part::Result(result) => json!({ "user": result.name, "response": result.content }),
            other => panic!("{other:?}"),
        }
    });
    parts.collect()
}

async fn ask_weather(agent: &Agent, city: &str) -> (Vec<AgentEvent>, Conversation) {
    let question = format!("what is the weather in {city}?");
    run(agent, question).await
}

/// Runs the agent. Returns its events, without the deltas of a stream, and the conversation.
async fn run(
    agent: &Agent,
    input: impl Into<ConversationInput>,
) -> (Vec<AgentEvent>, Conversation) {
    let mut stream = agent.events(input);
    let mut events = Vec::new();
    while let Some(progress) = stream.next().await {
        match progress.kind {
            AgentEventKind::Event(event) => events.push(event),
            AgentEventKind::Finished(conversation) => return (events, *conversation),
            AgentEventKind::Failed(error) => panic!("{error}"),
            _ => {}
        }
    }
    panic!("the stream ended before the run")
}

fn calls(city: &str) -> Value {
    json!({ "model": "get_weather", "args": { "city": city } })
}

fn sunny(city: &str) -> Value {
    let summary = format!("Today in \"{city}\" is sunny");
    json!({ "user": "get_weather", "response": { "output": { "weather_summary": summary } } })
}

fn answers(city: &str) -> Value {
    json!({ "model": format!("Today in \"{city}\" is sunny") })
}

const HINT: &str = "Please approve or reject the tool call get_weather() by responding with a FunctionResponse with an \
    expected ToolConfirmation payload.";

/// The events of a call that needs a confirmation.
fn confirmation_events() -> Vec<Value> {
    let error = "error tool \"get_weather\" requires confirmation, please approve or reject";
    vec![
        calls("Lisbon"),
        json!({ "user": "get_weather", "response": { "error": error } }),
        json!({
            "model": CONFIRMATION,
            "args": {
                "originalFunctionCall": { "name": "get_weather", "args": { "city": "Lisbon" } },
                "toolConfirmation": { "hint": HINT, "confirmed": false },
            },
        }),
    ]
}

fn hint(asks: bool) -> Option<String> {
    asks.then(|| HINT.to_string())
}

#[tokio::test]
async fn a066_a_recorded_agent_calls_the_tool_of_a_server() {
    let Some(recorded) = Recorded::of("TestMCPToolSet", |tools| tools).await else {
        return;
    };
    let (events, _) = ask_weather(&recorded.agent, "london").await;
    let answer = json!({ "model": "The weather in London is sunny." });
    assert_eq!(
        without_ids(&events),
        [calls("london"), sunny("london"), answer]
    );
    recorded.ends();
}

#[tokio::test]
async fn a048_calls_without_a_confirmation_are_made() {
    type Tools = fn(McpClient) -> McpClient;
    let cases: [(&str, &str, Tools); 3] = [
        ("No_Confirmation_Required", "Lisbon", |tools| tools),
        ("Conditional_Confirmation_Not_Required", "Porto", |tools| {
            tools.confirm(|_, arguments| hint(arguments["city"] == "Lisbon"))
        }),
        (
            "Conditional_Confirmation_Not_Required_For_This_Tool",
            "Lisbon",
            |tools| tools.confirm(|tool, _| hint(tool != "get_weather")),
        ),
    ];
    for (name, city, tools) in cases {
        let name = format!("TestMCPToolSetConfirmation_{name}");
        let Some(recorded) = Recorded::of(&name, tools).await else {
            return;
        };
        let (events, talk) = ask_weather(&recorded.agent, city).await;
        assert_eq!(
            without_ids(&events),
            [calls(city), sunny(city), answers(city)],
            "{name}"
        );
        assert_eq!(talk.events[1..], events);
        recorded.ends();
    }
}

#[tokio::test]
async fn a047_a048_a050_calls_are_made_after_their_confirmation() {
    type Tools = fn(McpClient) -> McpClient;
    let cases: [(&str, bool, Tools); 5] = [
        ("Confirmation_Required", false, |tools| {
            tools.confirm(|_, _| hint(true))
        }),
        ("Confirmation_Required_and_is_confirmed", true, |tools| {
            tools.confirm(|_, _| hint(true))
        }),
        (
            "Conditional_Confirmation_Required_For_This_Tool",
            false,
            |tools| tools.confirm(|tool, _| hint(tool == "get_weather")),
        ),
        ("Conditional_Confirmation_Required", false, |tools| {
            tools.confirm(|_, arguments| hint(arguments["city"] == "Lisbon"))
        }),
        (
            "Conditional_Confirmation_Required_and_is_confirmed",
            true,
            |tools| tools.confirm(|_, arguments| hint(arguments["city"] == "Lisbon")),
        ),
    ];
    for (name, confirmed, tools) in cases {
        let name = format!("TestMCPToolSetConfirmation_{name}");
        let Some(recorded) = Recorded::of(&name, tools).await else {
            return;
        };
        let (events, talk) = ask_weather(&recorded.agent, "Lisbon").await;
        assert_eq!(without_ids(&events), confirmation_events(), "{name}");
        let [Pending::Confirmation { id, .. }] = &talk.pending()[..] else {
            panic!("{:?}", talk.pending())
        };
        if confirmed {
            let yes = ConversationInput::default().confirm(id, true);
            let next = run(&recorded.agent, talk.next_input(yes)).await;
            assert_eq!(
                without_ids(&next.0),
                [sunny("Lisbon"), answers("Lisbon")],
                "{name}"
            );
        }
        recorded.ends();
    }
}

/// There is no recording of it: the model's last words are ours.
#[tokio::test]
async fn a050_a_rejection_is_reported_to_the_model() {
    let name = "TestMCPToolSetConfirmation_Confirmation_Required";
    let tools = |tools: McpClient| tools.confirm(|_, _| hint(true));
    let Some(recorded) = Recorded::of(name, tools).await else {
        return;
    };
    let (_, talk) = ask_weather(&recorded.agent, "Lisbon").await;
    let no = ConversationInput::default().confirm(talk.pending()[0].id(), false);
    let model = petalflow_llm::ScriptedModel::from_fn(|request| {
        let results = request.messages.iter().flat_map(ChatMessage::tool_results);
        results
            .last()
            .map_or_else(String::new, |result| result.content.to_string())
    });
    let agent = recorded.agent.clone().model(model);
    let (events, _) = run(&agent, talk.next_input(no)).await;
    // ADK's tool answers `call is rejected`; the row requires the message of its processor.
    let refused = json!({ "error": "Tool execution not confirmed" });
    assert_eq!(
        without_ids(&events),
        [
            json!({ "user": "get_weather", "response": refused }),
            json!({ "model": refused.to_string() })
        ]
    );
    recorded.ends();
}
