//! Recordings of agents that give work to others: the events that must come out stand beside them.

use std::collections::BTreeMap;

use petalflow::tool::FuncTool;
use petalflow::tool::schemars::{self, JsonSchema};
use petalflow_agent::human::CONFIRMATION;
use petalflow_agent::{Agent, AgentEvent, Conversation, ConversationInput, History, Mode};
use petalflow_llm::{Part, Role};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::kit::tool;
use petalflow_llm_test_support::httprr::{self, Pair};
use petalflow_llm_test_support::replay::Replay;

const FLASH: &str = "gemini-3.5-flash";

/// A recording with its agents and its events.
struct Delegation {
    replay: Replay,
    pairs: Vec<Pair>,
    events: Vec<Value>,
}

impl Delegation {
    async fn of(name: &str) -> Option<Self> {
        let path = |kind: &str| format!("adk/agent/llmagent/testdata/TestDelegation_{name}.{kind}");
        let events = petalflow_test_support::recording(&path("events.yaml"))?;
        let recording = petalflow_test_support::recording(&path("httprr"))?;
        let text = std::fs::read_to_string(events).unwrap();
        Some(Delegation {
            replay: Replay::of(&path("httprr")).await?,
            pairs: httprr::read(&recording),
            events: serde_saphyr::from_str(&text).unwrap(),
        })
    }

    fn agent(&self, name: &str) -> Agent {
        agent(&self.pairs, name)
    }

    /// Says these one after the other, and compares what happened with what was recorded.
    async fn replay(
        self,
        root: Agent,
        inputs: Vec<Box<dyn Fn(&Conversation) -> ConversationInput>>,
    ) {
        let root = root.model(self.replay.model(FLASH));
        let mut talk = root
            .run(inputs[0](&empty_conversation().await))
            .await
            .unwrap();
        for input in &inputs[1..] {
            let next = input(&talk);
            talk = root.run(talk.next_input(next)).await.unwrap();
        }
        let expected: Vec<Value> = self.events.iter().map(recorded_event).collect();
        let mut ids = BTreeMap::new();
        let happened: Vec<Value> = talk
            .events
            .iter()
            .map(|event| event_value(event, &mut ids))
            .collect();
        for (happened, expected) in happened.iter().zip(&expected) {
            assert_eq!(happened, expected);
        }
        assert_eq!(happened.len(), expected.len());
        assert_eq!(self.replay.remaining(), 0);
    }
}

/// The agent of this name, with the instructions and the description that the recorded one had.
fn agent(pairs: &[Pair], name: &str) -> Agent {
    let introduced = format!("You are an agent. Your internal name is \"{name}\".");
    let systems = pairs
        .iter()
        .filter_map(|pair| pair.request.body["systemInstruction"]["parts"][0]["text"].as_str());
    let mut own = systems.filter_map(|system| system.split_once(&introduced));
    let (before, after) = own.next().unwrap_or_default();
    let described = after.strip_prefix(" The description about you is \"");
    let described = described.and_then(|rest| rest.split_once("\"."));
    Agent::named(name)
        .history(History::WithCalled)
        .instructions(before.trim())
        .description(described.map(|(words, _)| words).unwrap_or_default())
}

async fn empty_conversation() -> Conversation {
    Agent::new(petalflow_llm::ScriptedModel::new([""]))
        .run("")
        .await
        .unwrap()
}

fn message(text: &'static str) -> Box<dyn Fn(&Conversation) -> ConversationInput> {
    Box::new(move |_| text.into())
}

/// The author, branch and exact contents of a recorded event.
fn recorded_event(event: &Value) -> Value {
    let mut shown = Map::new();
    for key in [
        "author",
        "role",
        "isolation_scope",
        "branch",
        "output",
        "long_running_tool_ids",
    ] {
        if let Some(value) = event.get(key) {
            shown.insert(key.into(), value.clone());
        }
    }
    let parts = event["parts"].as_array().cloned().unwrap_or_default();
    shown.insert("parts".into(), parts.iter().map(recorded_part).collect());
    if let Some(agent) = event["actions"].get("transfer_to_agent") {
        shown.insert("transfer".into(), agent.clone());
    }
    if let Some(asked) = event["actions"].get("requested_tool_confirmations") {
        let asked = asked.as_object().unwrap().iter();
        let asked: Map<String, Value> = asked
            .map(|(id, asked)| (id.clone(), confirmation(asked)))
            .collect();
        shown.insert("asked".into(), asked.into());
        shown.insert(
            "skip".into(),
            event["actions"]["skip_summarization"].clone(),
        );
    }
    Value::Object(shown)
}

fn recorded_part(part: &Value) -> Value {
    if let Some(call) = part.get("function_call") {
        let arguments = call.get("args").cloned().unwrap_or_else(|| json!({}));
        return json!({ "call": call["name"], "id": call["id"], "args": original(arguments) });
    }
    if let Some(response) = part.get("function_response") {
        let content = response.get("response").cloned().unwrap_or_default();
        return json!({ "result": response["name"], "id": response["id"], "content": content });
    }
    part.clone()
}

/// Of the call that a confirmation is about, what Go's own form of it adds is left out.
fn original(mut arguments: Value) -> Value {
    if let Some(call) = arguments.get_mut("originalFunctionCall") {
        *call = json!({ "id": call["id"], "name": call["name"], "args": call["args"] });
    }
    if let Some(asked) = arguments.get_mut("toolConfirmation") {
        *asked = confirmation(asked);
    }
    arguments
}

/// Nothing to look at is not written here, and `null` there.
fn confirmation(asked: &Value) -> Value {
    let payload = asked.get("payload").cloned().unwrap_or_default();
    json!({ "hint": asked["hint"], "confirmed": asked["confirmed"], "payload": payload })
}

/// The same of an event of ours. The ids of confirmations are numbered as they come.
fn event_value(event: &AgentEvent, ids: &mut BTreeMap<String, String>) -> Value {
    let message = event.message.as_ref().unwrap();
    let role = match message.role {
        Role::Assistant => "model",
        _ => "user",
    };
    let mut named = |id: &str, name: &str| {
        if name != CONFIRMATION {
            return id.to_string();
        }
        let next = format!("adk-id-{}", ids.len() + 1);
        ids.entry(id.to_string()).or_insert(next).clone()
    };
    let parts: Vec<Value> = message
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => json!({ "text": text.text }),
            Part::Call(call) => {
                let id = named(&call.id, &call.name);
                json!({ "call": call.name, "id": id, "args": original(call.arguments.clone()) })
            }
            Part::Result(result) => {
                let id = named(&result.call_id, &result.name);
                json!({ "result": result.name, "id": id, "content": result.content })
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let mut shown = json!({ "author": event.author, "role": role, "parts": parts });
    let optional = [
        ("isolation_scope", event.scope.clone().map(Value::from)),
        ("branch", event.branch.clone().map(Value::from)),
        ("output", event.output.clone()),
        (
            "transfer",
            event.actions.transfer_to_agent.clone().map(Value::from),
        ),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            shown[key] = value;
        }
    }
    if !event.long_running.is_empty() {
        let ids: Vec<&String> = event.long_running.iter().map(|id| &ids[id]).collect();
        shown["long_running_tool_ids"] = json!(ids);
    }
    let asked = &event.actions.requested_confirmations;
    if !asked.is_empty() {
        let asked = asked
            .iter()
            .map(|(id, asked)| (id.clone(), confirmation(&json!(asked))));
        shown["asked"] = Value::Object(asked.collect());
        shown["skip"] = event.actions.skip_summarization.into();
    }
    shown
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Items {
    items: Vec<String>,
}

fn list_tool(name: &str, of: fn(&[Value]) -> Value) -> FuncTool {
    tool(name, move |arguments, _| {
        Ok(of(arguments["items"].as_array().ok_or("a list")?))
    })
}

#[tokio::test]
async fn a069_a_task_then_a_tool() {
    let Some(delegation) = Delegation::of("01_ChatToTaskToTool").await else {
        return;
    };
    let fetcher = delegation
        .agent("data_fetcher")
        .mode(Mode::Task)
        .output::<Items>();
    let root = delegation
        .agent("coordinator")
        .sub_agent(fetcher)
        .tool(list_tool(
            "store_report",
            |items| json!({ "stored": items.len() }),
        ));
    let inputs = vec![
        message("Fetch and store the following items: apple, banana, cherry."),
        message("What items did I just ask you to store?"),
    ];
    delegation.replay(root, inputs).await;
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Order {
    item: String,
    quantity: u32,
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Payment {
    credit_card_number: String,
    cvv: String,
}

#[tokio::test]
async fn a069_one_task_after_another() {
    let Some(delegation) = Delegation::of("02_ChatToTwoTaskSequential").await else {
        return;
    };
    let order = delegation
        .agent("order_collector")
        .mode(Mode::Task)
        .output::<Order>();
    let payment = delegation
        .agent("payment_collector")
        .mode(Mode::Task)
        .output::<Payment>();
    let root = delegation
        .agent("coordinator")
        .sub_agent(order)
        .sub_agent(payment);
    let inputs = vec![
        message("Order 2 pizzas. Pay with card 4111111111111111, cvv 123."),
        message("What did I order, and how am I paying?"),
    ];
    delegation.replay(root, inputs).await;
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Translation {
    translation: String,
}

#[tokio::test]
async fn a069_a_single_turn_agent() {
    let Some(delegation) = Delegation::of("03_ChatToSingleTurn").await else {
        return;
    };
    let translator = Agent::named("translator")
        .description("Translates a single phrase to a target language.")
        .instructions_with(|_| Ok("You translate one phrase. Read the request, then output ONLY\na JSON object of the form {\"translation\":\"...\"}. Output nothing else.".into()))
        .mode(Mode::SingleTurn)
        .output::<Translation>();
    let root = delegation.agent("coordinator").sub_agent(translator);
    let inputs = vec![
        message("Translate 'hello' to Spanish."),
        message("Now translate the same word to French."),
    ];
    delegation.replay(root, inputs).await;
}

#[tokio::test]
async fn a069_two_single_turn_agents_in_parallel() {
    // No events stand beside this one.
    let path = "adk/agent/llmagent/testdata/TestDelegation_04_ChatToTwoSingleTurnParallel.httprr";
    let (Some(replay), Some(file)) = (
        Replay::of(path).await,
        petalflow_test_support::recording(path),
    ) else {
        return;
    };
    let pairs = httprr::read(&file);
    let asked = &pairs[0].request.body["contents"][0]["parts"][0]["text"];
    let translator = |name: &str, language: &str| {
        Agent::named(name)
            .instructions(format!("Translate the given English phrase into {language}. Reply\nwith ONLY the translation."))
            .mode(Mode::SingleTurn)
    };
    let root = agent(&pairs, "coordinator")
        .model(replay.model(FLASH))
        .sub_agent(translator("translator_es", "Spanish"))
        .sub_agent(translator("translator_fr", "French"));
    let talk = root.run(asked.as_str().unwrap()).await.unwrap();
    assert_eq!(
        replay.remaining(),
        0,
        "{:?}",
        crate::kit::shape(&talk.events)
    );
    let authors: Vec<&str> = talk.events.iter().map(|event| &*event.author).collect();
    assert_eq!(
        authors,
        [
            "user",
            "coordinator",
            "translator_es",
            "translator_fr",
            "coordinator",
            "coordinator"
        ]
    );
    let answers: Vec<String> = talk.events[2..4].iter().map(AgentEvent::text).collect();
    let results = crate::kit::results(&talk);
    assert_eq!(
        results,
        [
            json!({ "result": answers[0] }),
            json!({ "result": answers[1] })
        ]
    );
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Edited {
    edited: String,
}

#[tokio::test]
async fn a069_a_transfer_then_a_task() {
    let Some(delegation) = Delegation::of("05_ChatChainedThroughChatToTask").await else {
        return;
    };
    let editor = delegation
        .agent("editor")
        .mode(Mode::Task)
        .output::<Edited>();
    let writer = delegation.agent("writer").sub_agent(editor);
    let root = delegation.agent("root").sub_agent(writer);
    let inputs = vec![
        message("Please edit this draft: 'me and him goes to the store yesterdy'."),
        message("Now polish this draft: 'they was eatin lunch quick'."),
    ];
    delegation.replay(root, inputs).await;
}

#[expect(dead_code, reason = "only its schema is of interest")]
#[derive(Deserialize, JsonSchema)]
struct Done {
    done: bool,
}

#[tokio::test]
async fn a069_a_task_that_needs_a_person() {
    let Some(delegation) = Delegation::of("06_ChatToTaskHITLResume").await else {
        return;
    };
    let confirm = tool("confirm", |_, _| {
        Ok(json!({ "result": "Approved. Proceeding." }))
    });
    let hint = "Please approve or reject the tool call confirm() by responding with a FunctionResponse with an expected \
        ToolConfirmation payload.";
    let executor = delegation
        .agent("executor")
        .mode(Mode::Task)
        .output::<Done>()
        .tool(confirm.confirm_if(|_| Some(hint.into())));
    let root = delegation.agent("coordinator").sub_agent(executor);
    let confirmed =
        |talk: &Conversation| ConversationInput::default().confirm(talk.pending()[0].id(), true);
    let inputs = vec![
        message("Please perform the irreversible action."),
        Box::new(confirmed),
        message("Did the action complete successfully?"),
    ];
    delegation.replay(root, inputs).await;
}

#[tokio::test]
async fn a069_a_task_beside_a_tool() {
    let Some(delegation) = Delegation::of("08_ChatToTaskPlusFunctionTool").await else {
        return;
    };
    let extractor = delegation
        .agent("extractor")
        .mode(Mode::Task)
        .output::<Items>();
    let summarize = list_tool("summarize", |items| {
        let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        json!({ "summary": format!("items: {}", items.join(", ")) })
    });
    let root = delegation
        .agent("coordinator")
        .sub_agent(extractor)
        .tool(summarize);
    let inputs = vec![
        message("Extract and summarise: apples, bread, eggs."),
        message("How many items did I ask you to summarise?"),
    ];
    delegation.replay(root, inputs).await;
}
